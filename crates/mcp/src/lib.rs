//! A trained parser as tools of the Model Context Protocol (MCP), for programs that talk to language models.
//!
//! | tool | what it does |
//! |---|---|
//! | `ask` | answers a question: the SQL, the rows, and how sure the answer is |
//! | `schema` | lists tables, columns, keys and example values |
//! | `run` | runs a query, read-only and within limits |
//! | `confirm` | writes to the question log what a person said about an answer; offered only if feedback is allowed |
//!
//! The first three change no data, and say so in their hints. All have output schemas, and rows are capped. A tool that fails returns the
//! message as the result of the tool, so that a model can read it and try again.
//!
//! [`ParserTools`] is the handler. It asks a [`ServedRun`](xpr_serve::ServedRun), which answers, logs and changes to a promoted parser in
//! the same way for every client. [`serve_stdio`] serves the tools on standard input and output, and [`http_routes`] are the routes of a
//! server.

mod output;
mod tools;
mod transport;

pub use output::{Answer, ColumnInfo, Confirmation, DataSchema, OtherAnswer, QueryResult, Rows, TableInfo};
pub use tools::{AskParameters, ConfirmParameters, ParserTools, RunParameters, SaidVerdict};
pub use transport::{McpError, http_routes, serve_stdio};
