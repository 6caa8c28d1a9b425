//! A trained parser as tools of the Model Context Protocol (MCP), for programs that talk to language models.
//!
//! | tool | what it does |
//! |---|---|
//! | `ask` | answers a question: the SQL, the rows, and how sure the answer is |
//! | `schema` | lists tables, columns and keys |
//! | `run` | runs a query, read-only and within limits |
//! | `confirm` | writes to the question log what a person said about an answer; offered only if feedback is allowed |
//!
//! The first three write nothing, and say so in their hints. All have output schemas, and rows are capped. A tool that fails returns the
//! message as the result of the tool, so that a model can read it and try again.
//!
//! [`ParserTools`] is the handler, and [`serve_stdio`] serves it on standard input and output. A thread of its own has the parser
//! ([`Worker`]), because answering takes milliseconds of a core. It opens the run again between two requests when another parser became
//! the current one.

mod output;
mod tools;
mod worker;

pub use output::{Answer, ColumnInfo, Confirmation, DataSchema, OtherAnswer, QueryResult, Rows, TableInfo};
pub use tools::{AskParameters, ConfirmParameters, ParserTools, RunParameters, SaidVerdict, serve_stdio};
pub use worker::{McpError, Worker};
