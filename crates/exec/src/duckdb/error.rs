//! The reasons why a DuckDB database cannot be used.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a DuckDB database cannot be used. The message says what to do about it.
#[derive(Debug, Error)]
pub enum DuckDbError {
    /// This program was built without DuckDB.
    #[error(
        "{address}: this program was built without DuckDB; build it with `cargo build --release --features duckdb`, as \
         docs/install.md says"
    )]
    NotBuilt {
        /// The address.
        address: String,
    },
    /// The program that uses this crate has not called the function that makes child processes.
    #[error(
        "queries of DuckDB run in a child process, which this program does not start; call `xpr_exec::duckdb::prepare_program` \
         first in `main`"
    )]
    NotPrepared,
    /// The child process cannot be started.
    #[error("the process that runs DuckDB cannot be started: {source}")]
    NoChild {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is none of DuckDB.
    #[error(
        "{path}: this is not a DuckDB database; `file` says what it is, and the address of an SQLite file begins with sqlite:"
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// A newer or an older DuckDB wrote the file.
    #[error(
        "{path}: another version of DuckDB wrote this file, which this program's version cannot read: {message}; write it with \
         `ATTACH … (STORAGE_VERSION 'v1.0.0')`, or use a copy made with `EXPORT DATABASE` and `IMPORT DATABASE`"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The message of DuckDB.
        message: String,
    },
    /// The file is encrypted.
    #[error(
        "{path}: the database is encrypted; use a copy that is not, made with `COPY FROM DATABASE … TO …`"
    )]
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// Another process may write to the file.
    #[error(
        "{path}: another program has the database open for writing; close it there, or use a copy made with \
         `COPY FROM DATABASE … TO …`"
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Changes are beside the file that were not written to it.
    #[error(
        "{path}: the changes in {log} are not in the database yet; close the program that writes to it, or let DuckDB write them \
         with `duckdb FILE CHECKPOINT`"
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The file with the changes.
        log: PathBuf,
    },
    /// Another program changed the files.
    #[error(
        "{path}: another program changed the database while it was read, so that the results do not fit together; run the \
         command again, or use a copy"
    )]
    Changed {
        /// The database.
        path: PathBuf,
    },
    /// A folder has nothing to read.
    #[error(
        "{path}: there is no file here that ends in .csv, .tsv or .parquet; {}",
        if *has_subfolders { "there are some in subfolders, which are not read: name a subfolder itself" } else { "is it the right folder?" }
    )]
    NoFiles {
        /// The folder.
        path: PathBuf,
        /// Whether its subfolders have such files.
        has_subfolders: bool,
    },
    /// Two files have the same name but for their endings.
    #[error("{first} and {second} would be the same table; rename one of them")]
    SameTable {
        /// A file.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// A file is not in UTF-8.
    #[error(
        "{path}: this file is not UTF-8 ({message}); convert it, such as with `iconv -f ENCODING -t UTF-8`, where ENCODING is often WINDOWS-1252 or UTF-16"
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The message of DuckDB.
        message: String,
    },
    /// There is no space for the copy of the files.
    #[error(
        "{path}: the copy of the files does not fit on the disk: {message}; make space, or set TMPDIR to a folder on a larger one"
    )]
    NoSpace {
        /// The file that was copied.
        path: PathBuf,
        /// The message of DuckDB.
        message: String,
    },
    /// A file cannot be read as a table.
    #[error("{path}: this file cannot be read as a table: {message}")]
    BadTable {
        /// The file.
        path: PathBuf,
        /// The message of DuckDB.
        message: String,
    },
    /// The file cannot be read for another reason, or is damaged.
    #[error("{path}: DuckDB cannot read it: {message}")]
    Engine {
        /// The file.
        path: PathBuf,
        /// The message of DuckDB.
        message: String,
    },
}

impl DuckDbError {
    /// Returns the error that DuckDB's message about a file to load means.
    #[cfg_attr(not(feature = "duckdb"), expect(dead_code, reason = "only DuckDB has messages"))]
    pub(super) fn of_file(path: PathBuf, message: String) -> DuckDbError {
        let has = |part: &str| message.contains(part);
        match () {
            () if has("not utf-8") => DuckDbError::NotUtf8 { path, message },
            () if has("No space left") || has("Could not write") || has("Disk quota") => {
                DuckDbError::NoSpace { path, message }
            }
            () => DuckDbError::BadTable { path, message },
        }
    }

    /// Returns the error that DuckDB's message about a file means.
    #[cfg_attr(not(feature = "duckdb"), expect(dead_code, reason = "only DuckDB has messages"))]
    pub(super) fn from_message(path: &Path, message: &str) -> DuckDbError {
        let path = path.to_owned();
        let has = |part: &str| message.contains(part);
        match () {
            () if has("Could not set lock") => DuckDbError::Busy { path },
            () if has("encrypted") || has("encryption") => DuckDbError::Encrypted { path },
            () if has("version number") || has("storage version") || has("serialization version") => {
                DuckDbError::Version { path, message: message.to_owned() }
            }
            () if has("not a valid DuckDB database file") => DuckDbError::NotADatabase { path },
            () => DuckDbError::Engine { path, message: message.to_owned() },
        }
    }
}

#[cfg(all(test, feature = "duckdb"))]
mod tests {
    use super::*;

    #[test]
    fn messages_of_duckdb_are_told_apart() {
        for (message, expected) in [
            (
                "IO Error: Trying to read a database file with version number 69, but we can only read versions between 64 and 68.",
                "another version of DuckDB wrote this file",
            ),
            (
                "IO Error: Could not set lock on file \"music.duckdb\": Conflicting lock is held in /usr/bin/duckdb (PID 7)",
                "another program has the database open for writing",
            ),
            (
                "Catalog Error: Cannot open encrypted database \"music\" without a key",
                "the database is encrypted",
            ),
            (
                "IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2 in block at location 0",
                "DuckDB cannot read it: IO Error: Corrupt database file",
            ),
        ] {
            let error = DuckDbError::from_message(Path::new("music.duckdb"), message).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
