//! SQLite databases, read and never changed.
//!
//! - A [`Database`] is a file opened for reading in such a way that nothing can change it. Its
//!   [`Schema`](xpr_lang::sql::Schema) has the types that columns really hold, whatever they are declared to hold, and
//!   also foreign keys that are not declared.
//! - A [`ValueIndex`] finds the values that the words of a question may mean.
//! - A [`SqliteRunner`] runs queries. They are guesses of a model and may be hostile: a query reads the tables of the
//!   schema or is refused, and it ends within its [`QueryLimits`]. Equal answers are equal texts; [`same_answer`] also
//!   knows when the order of rows matters.
//!
//! *Architecture invariant:* not a byte of the file changes and no file appears beside it, whatever the query and
//! whatever the content of the file.
//!
//! *Architecture invariant:* all that is read through one [`Database`] is of one state of the file.
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

mod authorizer;
mod column_profile;
mod database;
mod denotation;
mod error;
mod files;
mod foreign_keys;
mod functions;
mod guard;
mod memory;
mod patience;
mod private_folder;
mod runner;
mod snapshot;
mod statement;
mod tables;
mod values;
mod watchdog;

pub use database::Database;
pub use denotation::{AnswerCell, answer_cells, answer_rows, is_zero, same_answer};
pub use error::DatabaseError;
pub use memory::prepare_engine;
pub use runner::{QueryCheck, QueryFacts, QueryLimits, SqliteRunner};
pub use snapshot::SnapshotKind;
pub use tables::{LeftOutTable, ProgressCallback, ReadSchema, ReadingProgress};
pub use values::{CandidateKind, LONGEST_SPAN, MatchQuality, ValueCandidate, ValueIndex, ValueLimits};
pub use watchdog::on_unresponsive;
