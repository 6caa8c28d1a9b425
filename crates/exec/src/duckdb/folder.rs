//! CSV and Parquet files as the tables of a database.
//!
//! A new database in a private folder has a table for each file. The rows of CSV files are loaded, so that they are parsed once and
//! queries see one state of them. A Parquet file becomes a view that reads it in place.

use super::child::text_literal;
use super::error::DuckDbError;
use super::session::Session;
use super::wire::Opening;
use crate::database::{DatabaseError, PrivateFolder};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xpr_lang::sql::DUCKDB_CATALOG;

/// How long loading the files may take.
const LOADING_TIME: Duration = Duration::from_secs(600);
/// The bytes that loading can use.
const MEMORY: u64 = 1 << 30;

/// A kind of file that is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableFile {
    Csv,
    Parquet,
}

impl TableFile {
    fn of(path: &Path) -> Option<TableFile> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" | "tsv" => Some(TableFile::Csv),
            "parquet" => Some(TableFile::Parquet),
            _ => None,
        }
    }
}

/// Returns whether a file is a table.
pub(super) fn is_table_file(path: &Path) -> bool {
    TableFile::of(path).is_some()
}

/// A database made of files. It is deleted with this value.
pub(super) struct Loaded {
    folder: PrivateFolder,
    csv_files: usize,
    parquet_files: Vec<PathBuf>,
}

impl Loaded {
    /// Returns the path of the database.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.copy()
    }

    /// Returns the files that views read.
    pub(super) fn read_in_place(&self) -> &[PathBuf] {
        &self.parquet_files
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (csv, parquet) = (self.csv_files, self.parquet_files.len());
        let plural = |count| if count == 1 { "" } else { "s" };
        match (csv, parquet) {
            (_, 0) => write!(f, "from a private copy of {csv} CSV file{}", plural(csv)),
            (0, _) => write!(f, "from {parquet} Parquet file{} in place", plural(parquet)),
            _ => write!(
                f,
                "from a private copy of {csv} CSV file{}, and {parquet} Parquet file{} in place",
                plural(csv),
                plural(parquet)
            ),
        }
    }
}

/// Makes a database of a file or of those in a folder; `label` is what users call it.
pub(super) fn load(label: &Path, path: &Path) -> Result<Loaded, DatabaseError> {
    let io_error = |source| DatabaseError::Io { path: label.to_owned(), source };
    let mut files: BTreeMap<String, (PathBuf, TableFile)> = BTreeMap::new();
    let mut add = |file: PathBuf| {
        let is_file = fs::metadata(&file).is_ok_and(|found| found.is_file());
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let (Some(kind), Some(name), true) = (TableFile::of(&file), stem, is_file) else { return Ok(()) };
        match files.insert(name.to_lowercase(), (file.clone(), kind)) {
            None => Ok(()),
            Some((first, _)) => Err(DuckDbError::SameTable { first, second: file }),
        }
    };
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(io_error)?;
        entries.sort();
        entries.into_iter().try_for_each(&mut add)?;
    } else {
        add(path.to_owned())?;
    }
    if files.is_empty() {
        return Err(DuckDbError::NoFiles { path: label.to_owned() }.into());
    }
    let loaded = Loaded {
        folder: PrivateFolder::new().map_err(io_error)?,
        csv_files: files.values().filter(|(_, kind)| *kind == TableFile::Csv).count(),
        parquet_files: files
            .values()
            .filter(|(_, kind)| *kind == TableFile::Parquet)
            .map(|(file, _)| file.clone())
            .collect(),
    };
    let opening = Opening {
        path: loaded.database().to_string_lossy().into_owned(),
        memory: MEMORY,
        readable: files.values().map(|(file, _)| file.to_string_lossy().into_owned()).collect(),
        loading: files.values().map(|(file, kind)| statement(file, *kind)).collect(),
    };
    Session::load(label, opening, LOADING_TIME)?;
    Ok(loaded)
}

/// Returns the statement that makes the table of a file, whose name is that of the file without its ending.
fn statement(file: &Path, kind: TableFile) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().replace('"', "\"\"");
    let path = text_literal(&file.to_string_lossy());
    let table = format!("{DUCKDB_CATALOG}.main.\"{name}\"");
    match kind {
        TableFile::Csv => format!("CREATE TABLE {table} AS SELECT * FROM read_csv({path})"),
        TableFile::Parquet => format!("CREATE VIEW {table} AS SELECT * FROM read_parquet({path})"),
    }
}
