//! What several test files use: temporary databases and the benchmark data.
#![allow(dead_code, reason = "each test file uses some of it")]

pub(crate) mod statements;

#[allow(unused_imports, reason = "each test file uses some of it")]
pub(crate) use statements::{expand, shortened};

use rusqlite::Connection;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use xpr_exec::database::QueryLimits;
use xpr_exec::sqlite::{SqliteDatabase, SqliteRunner};

/// A database file in a temporary folder of its own.
pub(crate) struct TestDatabase {
    folder: tempfile::TempDir,
}

impl TestDatabase {
    /// Makes a database with a script.
    pub(crate) fn new(script: &str) -> TestDatabase {
        TestDatabase::with(|connection| connection.execute_batch(script).unwrap())
    }

    /// Makes a database with a function.
    pub(crate) fn with(make: impl FnOnce(&Connection)) -> TestDatabase {
        assert!(xpr_exec::sqlite::prepare_engine());
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

    pub(crate) fn open(&self) -> SqliteDatabase {
        SqliteDatabase::open(self.path()).unwrap()
    }

    pub(crate) fn runner(&self, limits: QueryLimits) -> SqliteRunner {
        let database = self.open();
        let schema = database.schema().unwrap();
        SqliteRunner::new(&database, schema, limits).unwrap()
    }

    /// Returns the names of all files in the folder and hashes of their contents.
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

/// Returns a folder of the benchmark data. Panics if `XPR_DATA` is not set.
pub(crate) fn data_folder(name: &str) -> PathBuf {
    let data = std::env::var_os("XPR_DATA")
        .expect("set XPR_DATA to the folder of the benchmark data, see CONTRIBUTING.md");
    // Tests run in the folder of their crate, but a relative path is relative to the workspace.
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data).join(name)
}
