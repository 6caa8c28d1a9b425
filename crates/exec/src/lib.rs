//! Execution of programs on knowledge bases and databases, safely and within limits.
//!
//! The programs are guesses of a model: most are wrong and some are absurd. What matters is to tell them apart quickly
//! and safely. An [`Executor`] runs the text of a program and returns an [`Outcome`], which is graded: a value, an empty
//! answer, a type error, a run-time error, or a timeout if the run exceeds its [`Limits`]. Which outcomes count as
//! success is decided elsewhere.
//!
//! - [`KnowledgeBase`] is a set of triples, read from a file or built. [`Runner`] executes lambda-DCS programs on it
//!   exactly as SEMPRE's Overnight world does, including corner cases and printed forms.
//! - [`overnight`] builds the eight worlds of the Overnight benchmark from their rules.
//! - [`database`] reads databases: the schema, the values that a question may mention, and the answers of queries. An engine
//!   is a module of its own, such as [`sqlite`], [`postgres`] and [`duckdb`].
//! - [`CachingExecutor`] caches the outcomes of any executor.
//!
//! To run programs of your own language or on your own data, implement [`Executor`]; its documentation has an example.
//!
//! The key decision is that **knowledge bases and programs are compiled**. Values are numbers; types, degrees, sort order
//! and printed forms are tables indexed by them; a program is a list of stack instructions on lists of numbers. A run
//! takes about a microsecond and does not allocate.
//!
//! *Architecture invariant:* nothing here can change a database, every run ends within its limits, and there are no
//! tensors.
//!
//! ```
//! use xpr_exec::{Executor, Limits, Outcome, Runner, overnight};
//!
//! let calendar = overnight::world("calendar").expect("one of the eight");
//! let mut runner = Runner::new(&calendar, Limits::default());
//! let outcome = runner.execute("( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string date ) ) )");
//! assert_eq!(outcome.denotation(), Some("(list (date 2015 1 3))"));
//!
//! let outcome = runner.execute("( call SW.listValue ( call SW.getProperty en.person.alice ( string date ) ) )");
//! assert!(matches!(outcome, Outcome::TypeError(_)));
//! ```

mod caching;
pub mod database;
pub mod duckdb;
mod executor;
mod knowledge_base;
pub mod overnight;
pub mod postgres;
pub mod sqlite;
mod value;

pub use caching::CachingExecutor;
pub use executor::{Executor, Fault, Limits};
pub use knowledge_base::{
    AnswerKind, KnowledgeBase, KnowledgeBaseBuilder, KnowledgeBaseEnvironment, Plan, Property, Runner,
    SymbolPhrase, TripleError,
};
pub use value::KbValue;
pub use xpr_lang::Outcome;
