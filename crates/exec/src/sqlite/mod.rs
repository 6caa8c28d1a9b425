//! SQLite: somebody's tables, read and never changed.
//!
//! - A [`Database`] is a file opened so that nothing can happen to it. Its [`Schema`](xpr_lang::sql::Schema) is read from it, with what
//!   columns hold whatever they are declared to hold, and the foreign keys that nobody declared.
//! - A [`ValueIndex`] finds the values that the words of a question mean.
//! - A [`SqliteRunner`] runs queries, which are guesses of a model and may be hostile: they read the tables of the schema or are
//!   refused, and end within their [`QueryLimits`]. Equal answers are equal texts; [`same_answer`] says when order counts.
//!
//! *Architecture invariant:* not a byte of the file changes and no file appears beside it, whatever the query and whatever is in
//! the file.
//!
//! ```no_run
//! use xpr_exec::Executor;
//! use xpr_exec::sqlite::{Database, QueryLimits, SqliteRunner};
//!
//! # fn main() -> Result<(), xpr_exec::sqlite::DatabaseError> {
//! let database = Database::open("music.db")?;
//! let mut runner = SqliteRunner::new(&database, database.schema()?, QueryLimits::default())?;
//! println!("{}", runner.execute("SELECT count(*) FROM album"));
//! # Ok(())
//! # }
//! ```

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
pub use denotation::{answer_rows, same_answer};
pub use error::DatabaseError;
pub use memory::prepare_engine;
pub use runner::{Check, Checked, QueryLimits, SqliteRunner};
pub use tables::{ReadingProgress, Watch};
pub use values::{LONGEST_SPAN, MatchQuality, ValueCandidate, ValueIndex, ValueKind, ValueLimits};
