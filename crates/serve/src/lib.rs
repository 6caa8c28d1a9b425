//! A server that answers questions with trained parsers, and a page to ask them in a browser.
//!
//! - [`ServedRun`] is a run that is served: it answers questions, runs queries of people, keeps what they say, and changes to a parser that
//!   was promoted. It knows nothing of HTTP.
//! - [`Server`] serves runs over HTTP: an interface for programs below `/v1`, which `/v1/openapi.json` describes, and pages for people.
//!
//! *Architecture invariant:* answering is computation and never runs on the threads that serve connections. Every queue is bounded; what
//! does not fit is refused.
//!
//! *Architecture invariant:* an answer is sent after its question is in the log, and feedback is acknowledged after it is.
//!
//! *Architecture invariant:* questions, cells, names and queries are data. None of them reaches a page as markup, and no error names a file
//! of the server's machine.

mod access;
mod answer;
mod api;
mod assets;
mod connections;
mod guard;
mod listeners;
mod log_reads;
mod log_views;
mod page;
mod parser;
mod problem;
mod queue;
mod rate;
mod recorder;
mod schema;
mod served_run;
mod server;

pub use access::{AccessToken, SHORTEST_TOKEN, ShortToken};
pub use answer::{
    AnswerView, AskRequest, AskResponse, DeclinedView, FeedbackRequest, FeedbackResponse, RunRequest,
    RunResponse,
};
pub use connections::require_resources;
pub use problem::Problem;
pub use schema::{ColumnView, ExampleValue, SchemaView, TableView};
pub use served_run::{LogPlace, OpenError, RunOptions, ServedRun};
pub use server::{ServeError, Server, ServerOptions};
