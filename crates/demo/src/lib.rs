//! A film collection and questions about it: what `xpr demo` learns from.
//!
//! The key decision is that **everything is in the binary**: a fresh machine needs no file, no download and no network. [`write()`] makes a
//! project folder of it, like the one that `xpr init` makes of somebody's own database, so whatever works there works here.
//!
//! The database ([`DATABASE`], invented from the first to the last row) is built so that running a query says something about it. Keys of
//! different tables do not overlap, so a wrong join finds nothing; neither do the years in which studios were founded, people were
//! born and films came out; every name is in one column only. Each training question ([`TRAIN`]) is worded in its own way, and
//! no test question ([`TEST`]) is a training question with other names.
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
use xpr_data::{DataError, EXPERIMENT, Project};

/// The database, as the SQL that makes it.
pub const DATABASE: &str = include_str!("../data/film.sql");
/// Questions and SQL to learn from, as a file of pairs.
pub const TRAIN: &str = include_str!("../data/train.tsv");
/// Questions and SQL to test with, as a file of pairs.
pub const TEST: &str = include_str!("../data/test.tsv");
/// The experiment: which share of the labels is used, the sizes of the model, how long it is trained.
pub const SETTINGS: &str = include_str!("../data/xpr.toml");

/// The database's file in a project folder.
pub const DATABASE_FILE: &str = "film.db";

/// Questions to show what was learned; none of them is a training or a test question.
pub const QUESTIONS: [&str; 5] = [
    "who directed Fog over Trieste",
    "movies with Clara Voss",
    "what is the highest rated thriller",
    "which studio produced Sparrow Street",
    "comedies longer than 120 minutes",
];

/// Why the demo's folder cannot be written.
#[derive(Debug, Error)]
pub enum DemoError {
    /// A file cannot be written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database cannot be made.
    #[error("{path}: {source}")]
    Database {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// There is something else.
    #[error("{0} has files in it that are not the demo's; name another folder with --out")]
    NotTheDemo(PathBuf),
}

/// Whether a folder has the demo's experiment in it, of this version or another.
pub fn is_demo(folder: &Path) -> bool {
    let first_line = |text: &str| text.lines().next().map(str::to_owned);
    fs::read_to_string(folder.join(EXPERIMENT)).is_ok_and(|text| first_line(&text) == first_line(SETTINGS))
}

/// Makes the project folder, and says whether what is learned from is what was there before: then runs in it still count.
/// Its files are written anew, and everything else in it is left alone.
///
/// # Errors
/// If a file cannot be written, or there is something else in the folder.
pub fn write(folder: &Path) -> Result<bool, DemoError> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !is_demo(folder) {
        return Err(DemoError::NotTheDemo(folder.to_owned()));
    }
    let texts = [("film.sql", DATABASE), ("train.tsv", TRAIN), ("test.tsv", TEST)];
    let as_before = texts
        .iter()
        .all(|(name, text)| fs::read_to_string(folder.join(name)).is_ok_and(|before| before == *text));

    let path = folder.join(DATABASE_FILE);
    let aside =
        tempfile::NamedTempFile::new().map_err(|source| DataError::File { path: path.clone(), source })?;
    // Too late only if SQLite is in use already; then opening the database will say so.
    xpr_exec::sqlite::prepare_engine();
    Connection::open(aside.path())
        .and_then(|database| database.execute_batch(DATABASE))
        .map_err(|source| DemoError::Database { path, source })?;
    let mut project = Project::new(folder);
    project.add_copy(DATABASE_FILE, aside.path());
    for (name, text) in texts {
        project.add(name, text.to_owned());
    }
    project.write_with(SETTINGS)?;
    Ok(as_before)
}
