//! Worlds that run programs, within limits, and say what came of it.
//!
//! Programs here are guesses of a model: most are wrong, some are absurd, and what matters is to
//! tell them apart quickly and safely. An [`Executor`] takes the text of a program and gives an
//! [`Outcome`], which is graded: a value, nothing, a type error, a run-time error, or no end within the
//! [`Limits`]. What counts as success is decided elsewhere.
//!
//! - [`KnowledgeBase`] is a set of triples, read from a file or built; [`Runner`] executes lambda-DCS on
//!   it exactly as SEMPRE's Overnight world does, down to its corners and its printed form.
//! - [`overnight`] builds the eight worlds of the benchmark from nothing but their rules.
//! - [`sqlite`] reads somebody's database: its tables, the values questions mean, and the answers to queries.
//! - [`Remembering`] keeps the outcomes of any of them.
//!
//! The key decision is that **a knowledge base is compiled, and so is a program**. Values are numbers;
//! types, degrees, sort order and printed forms are tables indexed by them; a program is a list of
//! stack operations on lists of numbers. Running one takes about a microsecond and allocates nothing.
//!
//! *Architecture invariant:* nothing here can change a database, every run ends within its
//! limits, and there are no tensors.
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

mod knowledge_base;
mod executor;
pub mod overnight;
mod remembering;
pub mod sqlite;
mod value;

pub use knowledge_base::{
    Builder, KnowledgeBase, KnowledgeBaseEnvironment, Phrase, Plan, Property, Runner, TripleError, Verdict,
};
pub use executor::{Executor, Fault, Limits};
pub use remembering::Remembering;
pub use value::Value;
pub use xpr_lang::Outcome;
