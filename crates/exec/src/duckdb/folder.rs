//! CSV and Parquet files as the tables of a database.
//!
//! A new database in a private folder has a table for each file. The rows of CSV files are loaded, so that they are parsed once and
//! queries see one state of them. A Parquet file becomes a view that reads it in place.

use super::child::text_literal;
use super::error::DuckDbError;
use super::session::{LoadError, Session};
use super::wire::{Loading, Opening};
use crate::database::{DatabaseError, LeftOutTable, PrivateFolder};
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

/// How many levels of subfolders are searched for files that are not read.
const SUBFOLDERS: usize = 3;
const IN_SUBFOLDER: &str = "files in subfolders are not read; name the subfolder itself, or make a DuckDB file with a view on `read_parquet('FOLDER/**/*.parquet')`";

/// A kind of file that is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableFile {
    Csv,
    Parquet,
}

impl TableFile {
    fn ending(self) -> &'static str {
        match self {
            TableFile::Csv => "csv",
            TableFile::Parquet => "parquet",
        }
    }

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
    parquet_links: Vec<PathBuf>,
    left_out: Vec<LeftOutTable>,
}

impl Loaded {
    /// Returns the path of the database.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.copy()
    }

    /// Returns links to the files that views read.
    pub(super) fn read_in_place(&self) -> &[PathBuf] {
        &self.parquet_links
    }

    /// Returns the subfolders with files that are not read.
    pub(super) fn left_out(&self) -> &[LeftOutTable] {
        &self.left_out
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (csv, parquet) = (self.csv_files, self.parquet_links.len());
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

/// The files that become tables, and what is left out.
#[derive(Default)]
struct Files {
    /// The files with their kinds, by the names of their tables in lower case.
    tables: BTreeMap<String, (PathBuf, TableFile)>,
    left_out: Vec<LeftOutTable>,
}

impl Files {
    fn add(&mut self, file: PathBuf) -> Result<(), DuckDbError> {
        let is_file = fs::metadata(&file).is_ok_and(|found| found.is_file());
        let (Some(kind), true) = (TableFile::of(&file), is_file) else { return Ok(()) };
        match self.tables.insert(table_name(&file).to_lowercase(), (file.clone(), kind)) {
            None => Ok(()),
            Some((first, _)) => Err(DuckDbError::SameTable { first, second: file }),
        }
    }

    /// Adds the files of a folder. Those of its subfolders are no tables: they may be parts of one, or of several.
    fn add_all(&mut self, folder: &Path) -> Result<(), DatabaseError> {
        let io_error = |source| DatabaseError::Io { path: folder.to_owned(), source };
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(io_error)?;
        entries.sort();
        for entry in entries {
            if entry.is_dir() && has_table_files(&entry, SUBFOLDERS) {
                let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
                self.left_out.push(LeftOutTable::whole(name, IN_SUBFOLDER.to_owned()));
            }
            self.add(entry)?;
        }
        Ok(())
    }
}

/// Returns whether there are files in a folder, or some levels below it, that could be tables.
fn has_table_files(folder: &Path, levels: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let mut entries = entries.flatten().map(|entry| entry.path());
    entries
        .any(|path| is_table_file(&path) || levels > 0 && path.is_dir() && has_table_files(&path, levels - 1))
}

/// Makes a database of a file or of those in a folder; `label` is what users call it.
pub(super) fn load(label: &Path, path: &Path) -> Result<Loaded, DatabaseError> {
    let io_error = |source| DatabaseError::Io { path: label.to_owned(), source };
    let mut files = Files::default();
    match path.is_dir() {
        true => files.add_all(path)?,
        false => files.add(path.to_owned())?,
    }
    let Files { tables, left_out } = files;
    if tables.is_empty() {
        let path = label.to_owned();
        return Err(DuckDbError::NoFiles { path, has_subfolders: !left_out.is_empty() }.into());
    }
    let folder = PrivateFolder::new().map_err(io_error)?;
    // DuckDB would take some characters of a name for a pattern, and reads no names that are not UTF-8.
    let mut links = Vec::new();
    for (index, (file, kind)) in tables.values().enumerate() {
        links.push(folder.link(&format!("{index}.{}", kind.ending()), file).map_err(io_error)?);
    }
    let kinds = || tables.values().map(|(_, kind)| *kind);
    let loaded = Loaded {
        csv_files: kinds().filter(|kind| *kind == TableFile::Csv).count(),
        parquet_links: links
            .iter()
            .zip(kinds())
            .filter(|(_, kind)| *kind == TableFile::Parquet)
            .map(|(link, _)| link.clone())
            .collect(),
        folder,
        left_out,
    };
    let opening = Opening {
        path: loaded.database().to_string_lossy().into_owned(),
        memory: MEMORY,
        readable: links.iter().map(|link| link.to_string_lossy().into_owned()).collect(),
        loading: tables.values().zip(&links).map(|((file, kind), link)| loading(file, link, *kind)).collect(),
    };
    let file = |index: u64| {
        let (file, _) = tables.values().nth(index as usize)?;
        let link = links.get(index as usize)?;
        let shown = if path.is_dir() { label.join(file.file_name()?) } else { label.to_owned() };
        Some((shown, link.to_string_lossy().into_owned()))
    };
    match Session::load(opening, LOADING_TIME) {
        Ok(()) => Ok(loaded),
        Err(LoadError::NoChild { source }) => Err(DuckDbError::NoChild { source }.into()),
        Err(LoadError::Failed((table, failure))) => Err(match table.and_then(file) {
            Some((path, link)) => {
                let message = failure.message.replace(&link, &path.to_string_lossy());
                DuckDbError::of_file(path, message).into()
            }
            None => DuckDbError::from_message(label, &failure.message).into(),
        }),
    }
}

/// Returns the name of a file's table: that of the file without its ending.
fn table_name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the statements that make the table of a file, which DuckDB reads by a link.
fn loading(file: &Path, link: &Path, kind: TableFile) -> Loading {
    let name = table_name(file).replace('"', "\"\"");
    let path = text_literal(&link.to_string_lossy());
    let table = format!("{DUCKDB_CATALOG}.main.\"{name}\"");
    match kind {
        TableFile::Csv => Loading {
            statement: format!("CREATE TABLE {table} AS SELECT * FROM read_csv({path})"),
            otherwise: format!("CREATE TABLE {table} AS SELECT * FROM read_csv({path}, sample_size = -1)"),
        },
        TableFile::Parquet => Loading {
            statement: format!("CREATE VIEW {table} AS SELECT * FROM read_parquet({path})"),
            otherwise: String::new(),
        },
    }
}
