//! Databases, read and never changed, whatever engine has them.
//!
//! - A [`Database`] is what a command reads. [`open`] returns the one at an address, such as `sqlite:music.db`, `duckdb:music.duckdb` or
//!   `postgres://reader@host/music`. Its [`Schema`] has the types that columns really hold, and also foreign keys that are
//!   not declared.
//! - A [`ValueIndex`] finds the values that the words of a question may mean.
//! - [`Database::runner`] runs queries. They are guesses of a model and may be hostile: a query reads the tables of the
//!   schema or is refused, and it ends within its [`QueryLimits`]. Equal answers are equal texts, whatever the engine;
//!   [`same_answer`] also knows when the order of rows matters.
//!
//! An engine is a folder with an implementation of [`Database`]: [`sqlite`](crate::sqlite),
//! [`postgres`](crate::postgres) and [`duckdb`]. What does not depend on the engine is here.
//!
//! ```no_run
//! use std::path::Path;
//! use xpr_exec::database::{self, QueryLimits};
//! use xpr_exec::Executor;
//!
//! # fn main() -> Result<(), xpr_exec::database::DatabaseError> {
//! let database = database::open("sqlite:music.db", Path::new("."))?;
//! let mut runner = database.runner(&database.schema()?, QueryLimits::default())?;
//! println!("{}", runner.execute("SELECT count(*) FROM album"));
//! # Ok(())
//! # }
//! ```

mod answer;
mod cell;
mod column_profile;
mod denotation;
mod error;
mod foreign_keys;
mod limits;
mod outline;
mod private_folder;
mod read_schema;
pub(crate) mod time_text;
mod values;

pub use cell::Cell;
pub use denotation::{
    AnswerCell, answer_cells, answer_rows, has_order, is_zero, may_be_abridged, same_answer,
};
pub use error::DatabaseError;
pub use limits::QueryLimits;
pub use read_schema::{LeftOutTable, ProgressCallback, ReadSchema, ReadingProgress};
pub use values::{
    CandidateKind, LONGEST_SPAN, MatchQuality, TableReading, ValueCandidate, ValueIndex, ValueLimits,
    ValueReader,
};

pub(crate) use answer::Answer;
pub(crate) use column_profile::ColumnProfile;
pub(crate) use denotation::Purpose;
pub(crate) use foreign_keys::TableProfile;
pub(crate) use outline::outline;
pub(crate) use private_folder::PrivateFolder;
pub(crate) use read_schema::TableSamples;
pub(crate) use values::failure;

use crate::Executor;
use crate::duckdb;
use crate::postgres::{PostgresDatabase, is_postgres};
use crate::sqlite::SqliteDatabase;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use xpr_lang::sql::Schema;

/// A database that is read and never changed.
///
/// *Architecture invariant:* nothing that is run through this interface can change the database or read anything else than
/// the tables of the schema.
pub trait Database: fmt::Debug + Send + Sync {
    /// Returns the name by which files of questions call the database, such as `music` for `data/music.db`.
    fn name(&self) -> &str;

    /// Returns what a message calls the database: its path, or its address without a password.
    fn label(&self) -> String;

    /// Returns the file or the folder of the database; `None` for one that a server has.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// Returns the word before the colon in the address of a database with a path.
    fn scheme(&self) -> &'static str {
        "sqlite"
    }

    /// Returns how the database is read, after the words "is read".
    fn access(&self) -> String;

    /// Returns an error if results that were read at different times do not fit together, or if the database can no longer be
    /// reached.
    fn check_unchanged(&self) -> Result<(), DatabaseError>;

    /// Reads the schema of the database, and calls `progress` before each table.
    ///
    /// # Errors
    /// If the database is damaged or has no tables, or if `progress` stops the reading.
    fn read_schema(&self, progress: &mut ProgressCallback<'_>) -> Result<ReadSchema, DatabaseError>;

    /// Returns what the database declares: the type of every column is
    /// [`ColumnType::Other`](xpr_lang::sql::ColumnType::Other), and no keys are inferred. That is fast, whatever the size of
    /// the tables.
    ///
    /// # Errors
    /// If the database is damaged or has no tables.
    fn declared_schema(&self) -> Result<ReadSchema, DatabaseError>;

    /// Returns a reader of the values of tables.
    ///
    /// # Errors
    /// If the database can no longer be opened.
    fn value_reader(&self, schema: &Schema) -> Result<Box<dyn ValueReader>, DatabaseError>;

    /// Returns an executor of queries on the tables of `schema`. Queries that read other tables are refused.
    ///
    /// # Errors
    /// If the database can no longer be opened.
    fn runner(&self, schema: &Schema, limits: QueryLimits) -> Result<Box<dyn Executor>, DatabaseError>;

    /// Returns an executor that first checks each query with [`sql::check`](xpr_lang::sql::check()). Certain mistakes are
    /// type errors, and unknown names are run-time errors. Queries that the check does not understand are run.
    ///
    /// # Errors
    /// If the database can no longer be opened.
    fn checked_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
    ) -> Result<Box<dyn Executor>, DatabaseError>;
}

impl dyn Database {
    /// Reads the schema of the database.
    ///
    /// # Errors
    /// If the database is damaged or has no tables.
    pub fn schema(&self) -> Result<Schema, DatabaseError> {
        Ok(self.read_schema(&mut |_| ControlFlow::Continue(()))?.schema)
    }
}

/// Opens the database at an address. A relative path starts in `folder`.
///
/// | address | database |
/// |---|---|
/// | `sqlite:music.db` | an SQLite file; a path that ends in `.db`, `.sqlite` or `.sqlite3` needs no `sqlite:` |
/// | `duckdb:music.duckdb` | a DuckDB file; a path that ends in `.duckdb` needs no `duckdb:` |
/// | `duckdb:folder/` | a folder of CSV and Parquet files, each of which is a table; also a single file |
/// | `postgres://role@host:port/name` | a database on a PostgreSQL server; what is left out comes from the environment |
///
/// # Errors
/// If the address is not one of these, or the database cannot be opened.
pub fn open(address: &str, folder: &Path) -> Result<Box<dyn Database>, DatabaseError> {
    let has_ending = [".db", ".sqlite", ".sqlite3"].iter().any(|ending| address.ends_with(ending));
    let path = address.strip_prefix("sqlite:").or(Some(address).filter(|_| has_ending));
    if is_postgres(address) {
        return Ok(Box::new(PostgresDatabase::open(address)?));
    }
    if let Some(path) = duckdb::path_of(address) {
        return duckdb::open(address, &folder.join(path));
    }
    match path.filter(|path| !path.is_empty()) {
        Some(path) => Ok(Box::new(SqliteDatabase::open(folder.join(path))?)),
        None => Err(DatabaseError::Address { address: address.to_owned() }),
    }
}
