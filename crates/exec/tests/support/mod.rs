//! What several test files use: temporary databases and the benchmark data.
#![allow(dead_code, reason = "each test file uses some of it")]

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

/// Expands `{{1000*text}}` to a thousand times `text`, and escapes such as `\n` and `\u{…}` to their characters.
pub(crate) fn expand(line: &str) -> String {
    let mut repeated = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let (count, after) = after.split_once('*').unwrap();
        let (text, after) = after.split_once("}}").unwrap();
        repeated.push_str(before);
        repeated.push_str(&text.repeat(count.parse().unwrap()));
        rest = after;
    }
    repeated.push_str(rest);
    let mut text = String::new();
    let mut characters = repeated.chars();
    while let Some(c) = characters.next() {
        match (c, c == '\\') {
            (_, false) => text.push(c),
            _ => match characters.next().unwrap() {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '0' => text.push('\0'),
                '\\' => text.push('\\'),
                'u' => {
                    let code: String = characters.by_ref().skip(1).take_while(|&c| c != '}').collect();
                    text.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
                }
                other => panic!("\\{other} in {line}"),
            },
        }
    }
    text
}

pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
