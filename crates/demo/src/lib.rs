//! The data of `xpr demo`: a film database, and questions about it with their SQL.
//!
//! The key decision is that **everything is in the binary**: a fresh machine needs no file, no download and no network. [`write()`]
//! writes it as a project folder, like the one that `xpr init` writes for a user's database, so that every command works on it.
//!
//! The database ([`DATABASE`]) is invented. It is designed so that executing a query tells whether it is right: the keys of
//! different tables do not overlap, so a wrong join finds nothing; the years in which studios were founded, people were
//! born and films came out do not overlap either; and every name is in one column only. No question occurs twice,
//! and no test question ([`TEST`]) is a training question ([`TRAIN`]) with other names.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! xpr_demo::write(folder.path())?;
//! assert!(folder.path().join("film.db").is_file());
//! assert!(xpr_demo::is_demo(folder.path()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;
use xpr_data::{DataError, EXPERIMENT_FILE, Project};

/// The database, as the SQL that creates it.
pub const DATABASE: &str = include_str!("../data/film.sql");
/// The training questions and their SQL, as a file of pairs.
pub const TRAIN: &str = include_str!("../data/train.tsv");
/// The test questions and their SQL, as a file of pairs.
pub const TEST: &str = include_str!("../data/test.tsv");
/// The settings of the experiment, as the text of its file.
pub const SETTINGS: &str = include_str!("../data/xpr.toml");

/// The name of the database's file in the project folder.
pub const DATABASE_FILE: &str = "film.db";

/// Questions to ask the trained parser. None of them is a training or test question.
pub const QUESTIONS: [&str; 5] = [
    "who directed Fog over Trieste",
    "movies with Clara Voss",
    "what is the highest rated thriller",
    "which studio produced Sparrow Street",
    "comedies longer than 120 minutes",
];

/// An error from writing the demo's folder.
#[derive(Debug, Error)]
pub enum DemoError {
    /// A file cannot be written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database cannot be created.
    #[error("{path}: {source}")]
    Database {
        /// The file of the database.
        path: PathBuf,
        /// The reason.
        source: rusqlite::Error,
    },
    /// The folder has other files in it.
    #[error("{0} has files in it that are not the demo's; name another folder with --out")]
    NotTheDemo(PathBuf),
}

/// Returns whether a folder holds the demo, of this version or another: the first line of its settings tells.
pub fn is_demo(folder: &Path) -> bool {
    let first_line = |text: &str| text.lines().next().map(str::to_owned);
    xpr_data::read_utf8(&folder.join(EXPERIMENT_FILE))
        .is_ok_and(|text| first_line(&text) == first_line(SETTINGS))
}

/// Writes the demo's files into a project folder. Other files of an earlier demo in it, such as runs, are left alone.
///
/// Returns whether the folder already had the same database and questions, so that earlier runs in it are still valid.
///
/// # Errors
/// If a file cannot be written, or if the folder has files in it and is not the demo's.
pub fn write(folder: &Path) -> Result<bool, DemoError> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !is_demo(folder) && !xpr_data::is_unfinished(folder) {
        return Err(DemoError::NotTheDemo(folder.to_owned()));
    }
    let texts = [("film.sql", DATABASE), ("train.tsv", TRAIN), ("test.tsv", TEST)];
    let is_unchanged = texts
        .iter()
        .all(|(name, text)| xpr_data::read_utf8(&folder.join(name)).is_ok_and(|earlier| earlier == *text));

    let path = folder.join(DATABASE_FILE);
    let temporary =
        tempfile::NamedTempFile::new().map_err(|source| DataError::File { path: path.clone(), source })?;
    // This fails only if SQLite is already in use. Opening the database then reports it.
    xpr_exec::sqlite::prepare_engine();
    Connection::open(temporary.path())
        .and_then(|database| database.execute_batch(DATABASE))
        .map_err(|source| DemoError::Database { path, source })?;
    let mut project = Project::new(folder);
    project.add_copy(DATABASE_FILE, temporary.path());
    for (name, text) in texts {
        project.add(name, text.to_owned());
    }
    project.write_with(SETTINGS)?;
    Ok(is_unchanged)
}
