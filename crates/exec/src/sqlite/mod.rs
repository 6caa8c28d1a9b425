//! SQLite: somebody's tables, read and never changed.
//!
//! A [`Database`] is a file opened so that nothing can happen to it. Its [`Schema`](xpr_lang::sql::Schema) is read from it, keys
//! that nobody declared included. A [`SqliteRunner`] runs queries on it: guesses of a model, which may be hostile.

mod column_profile;
mod database;
mod denotation;
mod error;
mod foreign_keys;
mod functions;
mod guard;
mod memory;
mod runner;
mod statement;
mod tables;
mod values;

pub use database::Database;
pub use denotation::same_answer;
pub use error::DatabaseError;
pub use runner::{Check, Checked, QueryLimits, SqliteRunner};
pub use tables::{ReadingProgress, Watch};
pub use values::{LONGEST_SPAN, MatchQuality, ValueCandidate, ValueIndex, ValueKind, ValueLimits};
