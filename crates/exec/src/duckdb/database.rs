//! A DuckDB file, or a folder of files, opened for reading.

use super::catalog::Catalog;
use super::child;
use super::error::DuckDbError;
use super::folder::{self, Loaded};
use super::runner::DuckDbRunner;
use super::session::{CHILD, Session, Source};
use super::values::DuckDbValues;
use crate::Executor;
use crate::database::{Database, DatabaseError, ProgressCallback, QueryLimits, ReadSchema, ValueReader};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use xpr_lang::sql::Schema;

/// The bytes that reading the catalogue can use.
const MEMORY: usize = 256 << 20;
/// Where the header of a DuckDB file has its mark, and what the mark is.
const MARK: (usize, &[u8]) = (8, b"DUCK");

/// Whether this program starts child processes that know what they are for.
static IS_PREPARED: AtomicBool = AtomicBool::new(false);

/// See [`super::prepare_program`].
pub(super) fn prepare_program() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == CHILD) {
        child::serve();
        std::process::exit(0);
    }
    IS_PREPARED.store(true, Ordering::Relaxed);
}

/// A DuckDB file, or a folder of CSV and Parquet files.
#[derive(Clone)]
pub struct DuckDbDatabase {
    /// What users call it.
    path: PathBuf,
    /// The name of the file or the folder without an ending.
    name: String,
    source: Arc<Source>,
    catalog: Arc<Catalog>,
    /// The files that were loaded, in a private folder.
    loaded: Option<Arc<Loaded>>,
    /// A child that holds the file open, so that no other program can write to it meanwhile.
    _lock: Arc<Mutex<Session>>,
}

impl fmt::Debug for DuckDbDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuckDbDatabase").field("path", &self.path).finish_non_exhaustive()
    }
}

impl DuckDbDatabase {
    /// Opens a file of DuckDB, a CSV or Parquet file, or a folder of these, and reads what it declares.
    ///
    /// # Errors
    /// If it is none of these, cannot be read, or has no tables, or if the program has not called
    /// [`prepare_program`](super::prepare_program).
    pub fn open(path: impl AsRef<Path>) -> Result<DuckDbDatabase, DatabaseError> {
        if !IS_PREPARED.load(Ordering::Relaxed) {
            return Err(DuckDbError::NotPrepared.into());
        }
        let path = path.as_ref().to_owned();
        // What can be said about a file is said about the one that a link points to.
        let file = fs::canonicalize(&path).map_err(|error| unreadable(&path, error))?;
        let found = fs::metadata(&file).map_err(|error| unreadable(&path, error))?;
        let (source, loaded) = if found.is_dir() || folder::is_table_file(&file) {
            let loaded = folder::load(&path, &file)?;
            let source = Source::new(path.clone(), loaded.database(), loaded.read_in_place().to_vec());
            (source, Some(Arc::new(loaded)))
        } else {
            check_file(&path, &file, &found)?;
            (Source::new(path.clone(), file, vec![]), None)
        };
        let source = Arc::new(source.map_err(|error| unreadable(&path, error))?);
        let mut session = Session::open(&source, MEMORY)?;
        let mut catalog = Catalog::read(&mut session, &path)?;
        catalog.leave_out(loaded.as_ref().map_or(&[], |loaded| loaded.left_out()));
        let catalog = Arc::new(catalog);
        let is_folder = found.is_dir();
        let named = if is_folder { path.file_name() } else { path.file_stem() };
        let name = named.unwrap_or_default().to_string_lossy().into_owned();
        Ok(DuckDbDatabase { path, name, source, catalog, loaded, _lock: Arc::new(Mutex::new(session)) })
    }

    fn new_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Box<dyn Executor>, DatabaseError> {
        Ok(Box::new(DuckDbRunner::new(
            &self.source,
            (schema.clone(), self.catalog.rows(schema)),
            limits,
            is_checked,
        )?))
    }
}

/// Returns an error if a file cannot be one of DuckDB, without DuckDB having seen it.
fn check_file(path: &Path, file: &Path, found: &fs::Metadata) -> Result<(), DatabaseError> {
    if !found.is_file() {
        return Err(DatabaseError::NotAFile { path: path.to_owned() });
    }
    let (start, mark) = MARK;
    let mut header = Vec::new();
    let opened = File::open(file).map_err(|error| unreadable(path, error))?;
    let read = opened.take((start + mark.len()) as u64).read_to_end(&mut header);
    read.map_err(|error| unreadable(path, error))?;
    if header.get(start..) != Some(mark) {
        return Err(DuckDbError::NotADatabase { path: path.to_owned() }.into());
    }
    for ending in [".wal", ".wal.checkpoint", ".wal.recovery"] {
        let mut log = file.as_os_str().to_owned();
        log.push(ending);
        let log = PathBuf::from(log);
        if fs::symlink_metadata(&log).is_ok_and(|found| !found.is_file() || found.len() > 0) {
            return Err(DuckDbError::Unfinished { path: path.to_owned(), log }.into());
        }
    }
    Ok(())
}

/// Translates an error of the operating system.
fn unreadable(path: &Path, source: io::Error) -> DatabaseError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => DatabaseError::Missing { path },
        io::ErrorKind::PermissionDenied => DatabaseError::Permission { path },
        _ => DatabaseError::Io { path, source },
    }
}

impl Database for DuckDbDatabase {
    fn name(&self) -> &str {
        &self.name
    }

    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn scheme(&self) -> &'static str {
        "duckdb"
    }

    fn access(&self) -> String {
        match &self.loaded {
            Some(loaded) => loaded.to_string(),
            None => "in place, by processes that cannot write; other programs cannot write to it meanwhile"
                .to_owned(),
        }
    }

    fn check_unchanged(&self) -> Result<(), DatabaseError> {
        Ok(self.source.check_unchanged()?)
    }

    fn read_schema(&self, progress: &mut ProgressCallback<'_>) -> Result<ReadSchema, DatabaseError> {
        let mut values = DuckDbValues::new(&self.source, &self.catalog)?;
        self.catalog.declared.clone().with_inferred(&mut values, || self.label(), progress)
    }

    fn declared_schema(&self) -> Result<ReadSchema, DatabaseError> {
        Ok(self.catalog.declared.clone())
    }

    fn value_reader(&self, _: &Schema) -> Result<Box<dyn ValueReader>, DatabaseError> {
        Ok(Box::new(DuckDbValues::new(&self.source, &self.catalog)?))
    }

    fn runner(&self, schema: &Schema, limits: QueryLimits) -> Result<Box<dyn Executor>, DatabaseError> {
        self.new_runner(schema, limits, false)
    }

    fn checked_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
    ) -> Result<Box<dyn Executor>, DatabaseError> {
        self.new_runner(schema, limits, true)
    }
}
