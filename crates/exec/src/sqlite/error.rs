//! Why a database cannot be used.

use std::path::PathBuf;
use thiserror::Error;

/// Why a database cannot be used, and what to do about it.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The address is not one of a database.
    #[error(
        "`{address}` is not the address of a database; expected sqlite: and a path, as in sqlite:music.db"
    )]
    Address {
        /// The address.
        address: String,
    },
    /// There is no such file.
    #[error("{path}: there is no such file; check the path")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{path}: this is a folder; name the database file in it")]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// A pipe, a device, a socket.
    #[error("{path}: this is not a regular file; a database is read from one")]
    NotAFile {
        /// What it is not.
        path: PathBuf,
    },
    /// The file may not be read.
    #[error("{path}: no permission to read it; run as a user who may, or `chmod +r` it")]
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read for another reason.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It does not begin as SQLite's files do.
    #[error(
        "{path}: this is not an SQLite database, or it is encrypted; `file` says what it is, and an encrypted one has \
         to be decrypted into a copy first"
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// It begins as a database and is damaged further on.
    #[error(
        "{path}: the database is damaged ({message}); `sqlite3 FILE .recover | sqlite3 NEW` saves what can be saved"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        message: String,
    },
    /// A write-ahead log or a journal beside it holds part of the data.
    #[error(
        "{path}: changes wait in {sidecar} beside it; close the programs that write to it, then run \
         `sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'`, or copy it with `sqlite3 FILE '.backup COPY'`"
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The file beside it.
        sidecar: PathBuf,
    },
    /// Somebody else holds a lock on it.
    #[error(
        "{path}: another program is writing to it; try again, or use a copy made with `sqlite3 FILE '.backup COPY'`"
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to ask about.
    #[error("{path}: the database has no tables; is it the right file?")]
    NoTables {
        /// The file.
        path: PathBuf,
    },
    /// Whoever watched the reading stopped it.
    #[error("{path}: reading was stopped")]
    Cancelled {
        /// The file.
        path: PathBuf,
    },
    /// SQLite was in use before its memory could be limited.
    #[error(
        "SQLite was started by another part of this program, so queries cannot be limited; open the database first"
    )]
    EngineInUse,
    /// SQLite refuses for another reason.
    #[error("{path}: SQLite says: {message}")]
    Engine {
        /// The file.
        path: PathBuf,
        /// What it says.
        message: String,
    },
}
