//! Opening a database file so that nothing can change it.
//!
//! Reading must leave no trace: not a byte of the file changes, and no `-wal`, `-shm` or `-journal` file appears beside
//! it. Files are opened for reading only (`files.rs`), and all connections of a [`SqliteDatabase`] read the same state of it
//! (`snapshot.rs`).
//!
//! Everything that could reach beyond the tables is off: triggers, writes to the schema, functions in the schema that are
//! not known to be harmless, double-quoted strings, attached databases, extensions (which SQLite loads only on request),
//! and memory-mapped reading, where another program that truncates the file would crash this one.

use super::guard::{Allowance, Meter, Metered};
use super::memory;
use super::runner::SqliteRunner;
use super::snapshot::{self, Snapshot, SnapshotKind};
use super::values::SqliteValues;
use crate::Executor;
use crate::database::{Database, DatabaseError, ProgressCallback, QueryLimits, ReadSchema, ValueReader};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use xpr_lang::sql::Schema;

/// The limits of opening a database and reading its schema. A hostile schema can be as large as its file, and endless.
pub(super) const OPENING: Allowance =
    Allowance { steps: u64::MAX, time: Duration::from_secs(5), memory: 256 << 20 };
/// The size of a connection's page cache in KiB.
const PAGE_CACHE: i64 = 2048;
/// How long to wait for a program that is writing to the database.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// The maximum bytes of a cell or a row, and of any intermediate text. An operation on a text is a single step of
/// SQLite's machine, so this bounds how long a step can take.
pub(super) const LONGEST_TEXT: i32 = 1 << 18;

/// The maximum bytes of the text of a statement.
pub(super) const LONGEST_STATEMENT: i32 = 1 << 15;

/// The limits of a statement. They are set after the schema has been read, which may exceed them.
const STATEMENT_LIMITS: [(Limit, i32); 12] = [
    (Limit::SQLITE_LIMIT_LENGTH, LONGEST_TEXT),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_PARSER_DEPTH, 1000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (Limit::SQLITE_LIMIT_VDBE_OP, 50_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 16),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// An SQLite database file.
#[derive(Clone)]
pub struct SqliteDatabase {
    path: PathBuf,
    /// The file name without its extension.
    name: String,
    snapshot: Arc<Snapshot>,
}

impl fmt::Debug for SqliteDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteDatabase").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A connection together with what it reads, which must live longer.
pub(super) struct ReadConnection {
    // Dropped first.
    connection: Connection,
    meter: Arc<Meter>,
    snapshot: Arc<Snapshot>,
}

impl Deref for ReadConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for ReadConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl ReadConnection {
    /// Returns the meter of the connection's statements.
    pub(super) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Limits the time of statements that read the schema, until the returned value is dropped.
    pub(super) fn limit_time(&self) -> Metered<'_> {
        self.meter.start(OPENING)
    }

    /// Returns an error if another program changed the database since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), DatabaseError> {
        self.snapshot.check_unchanged()
    }
}

impl SqliteDatabase {
    /// Opens the file for reading. All that is read through this value and its clones is of one state of the database,
    /// whatever other programs write meanwhile.
    ///
    /// # Errors
    /// If it is not a database, or cannot be read without leaving a trace.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteDatabase, DatabaseError> {
        let path = path.as_ref().to_owned();
        if !memory::prepare_engine() {
            return Err(DatabaseError::EngineInUse);
        }
        let snapshot = {
            let _budget = memory::Budget::new(OPENING.memory);
            Arc::new(Snapshot::take(&path)?)
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let database = SqliteDatabase { path, name, snapshot };
        database.connect()?;
        Ok(database)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file name without its extension, such as `music` for `data/music.db`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how the database is read.
    pub fn snapshot_kind(&self) -> SnapshotKind {
        self.snapshot.kind()
    }

    /// Returns an error if another program changed the database since it was opened. Large databases are read in place, so
    /// that results from before and after the change do not fit together.
    ///
    /// # Errors
    /// If it changed.
    pub fn check_unchanged(&self) -> Result<(), DatabaseError> {
        self.snapshot.check_unchanged()
    }

    /// Returns a connection that has read the schema, and on which everything is off that reading does not need.
    pub(super) fn connect(&self) -> Result<ReadConnection, DatabaseError> {
        let _budget = memory::Budget::new(OPENING.memory);
        let connection = self.snapshot.connect().map_err(|error| self.explain(&error))?;
        let meter = Meter::of(&connection, &self.path);
        let connection = ReadConnection { connection, meter, snapshot: Arc::clone(&self.snapshot) };
        {
            let _metered = connection.limit_time();
            restrict(&connection).map_err(|error| self.explain(&error))?;
        }
        if connection.meter.is_out_of_time() {
            return Err(DatabaseError::Endless { path: self.path.clone(), limit: OPENING.time });
        }
        self.check_unchanged()?;
        Ok(connection)
    }

    /// Translates an error of SQLite to one that tells users what to do.
    pub(super) fn explain(&self, error: &rusqlite::Error) -> DatabaseError {
        snapshot::explain(&self.path, error)
    }
}

/// Turns off everything that reading does not need, and sets the limits of statements.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    for (option, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
    ] {
        connection.set_db_config(option, on)?;
    }
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // The first statement reads the schema.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    for (limit, most) in STATEMENT_LIMITS {
        connection.set_limit(limit, most)?;
    }
    Ok(())
}

impl Database for SqliteDatabase {
    fn name(&self) -> &str {
        &self.name
    }

    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn access(&self) -> String {
        self.snapshot_kind().to_string()
    }

    fn check_unchanged(&self) -> Result<(), DatabaseError> {
        self.snapshot.check_unchanged()
    }

    fn read_schema(&self, progress: &mut ProgressCallback<'_>) -> Result<ReadSchema, DatabaseError> {
        SqliteDatabase::read_schema(self, progress)
    }

    fn declared_schema(&self) -> Result<ReadSchema, DatabaseError> {
        SqliteDatabase::declared_schema(self)
    }

    fn value_reader(&self, schema: &Schema) -> Result<Box<dyn ValueReader>, DatabaseError> {
        Ok(Box::new(SqliteValues::new(self, schema)?))
    }

    fn runner(&self, schema: &Schema, limits: QueryLimits) -> Result<Box<dyn Executor>, DatabaseError> {
        Ok(Box::new(SqliteRunner::new(self, schema.clone(), limits)?))
    }

    fn checked_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
    ) -> Result<Box<dyn Executor>, DatabaseError> {
        Ok(Box::new(SqliteRunner::checked(self, schema.clone(), limits)?))
    }
}
