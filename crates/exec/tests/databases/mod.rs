//! Databases for tests, each in a folder of its own.
#![allow(dead_code, reason = "each test file uses some of it")]

use rusqlite::Connection;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use xpr_exec::sqlite::{Database, QueryLimits, SqliteRunner};

/// A database file in a folder that disappears with it.
pub(crate) struct TestDatabase {
    folder: tempfile::TempDir,
}

impl TestDatabase {
    /// A database made by this script.
    pub(crate) fn new(script: &str) -> TestDatabase {
        TestDatabase::with(|connection| connection.execute_batch(script).unwrap())
    }

    /// A database made by this code.
    pub(crate) fn with(make: impl FnOnce(&Connection)) -> TestDatabase {
        // SQLite's memory can be limited only before it is used for the first time.
        let _ = Database::open("");
        let test = TestDatabase { folder: tempfile::tempdir().unwrap() };
        let connection = Connection::open(test.path()).unwrap();
        make(&connection);
        connection.close().unwrap();
        test
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(self.path()).unwrap()
    }

    pub(crate) fn runner(&self, limits: QueryLimits) -> SqliteRunner {
        let database = self.open();
        let schema = database.schema().unwrap();
        SqliteRunner::new(&database, schema, limits).unwrap()
    }

    /// Names, sizes and contents of everything in the folder.
    pub(crate) fn fingerprint(&self) -> Vec<(String, u64)> {
        let mut files: Vec<(String, u64)> = std::fs::read_dir(self.folder())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let mut hasher = DefaultHasher::new();
                hasher.write(&std::fs::read(entry.path()).unwrap());
                (entry.file_name().into_string().unwrap(), hasher.finish())
            })
            .collect();
        files.sort();
        files
    }
}

/// The `geography` folder of the data, or none with a word that cannot be missed.
pub(crate) fn geography() -> Option<PathBuf> {
    match std::env::var_os("XPR_DATA") {
        // Tests run in their crate's folder, but a relative path means the workspace's.
        Some(folder) => {
            Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder).join("geography"))
        }
        None => {
            eprintln!("SKIPPED: XPR_DATA is not set, so nothing was read from the benchmark");
            None
        }
    }
}
