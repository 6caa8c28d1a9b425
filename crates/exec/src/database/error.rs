//! The reasons why a database cannot be used.

use super::read_schema::LeftOutTable;
use crate::duckdb::DuckDbError;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The reason why a database cannot be used. The message says what to do about it.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The address is that of no engine.
    #[error(
        "`{address}` is not the address of a database; expected sqlite: and a path, as in sqlite:music.db, duckdb: and \
         a path, as in duckdb:music.duckdb, or that of a PostgreSQL database, as in postgres://reader@host/music"
    )]
    Address {
        /// The address.
        address: String,
    },
    /// The address of a server is wrong.
    #[error("{address}: {message}")]
    ServerAddress {
        /// The address, without a password.
        address: String,
        /// What is wrong with it.
        message: String,
    },
    /// The address of a server has a password.
    #[error(
        "{address}: an address must not have a password, because others would see it; write it to ~/.pgpass as \
         host:port:database:role:password (and `chmod 600 ~/.pgpass`), or set PGPASSWORD"
    )]
    PasswordInAddress {
        /// The address, without the password.
        address: String,
    },
    /// The server cannot be reached, or failed at what every server can do.
    #[error(
        "{address}: {message}; is the server running, and are host and port right? `psql` with the same address says more"
    )]
    Connection {
        /// The address.
        address: String,
        /// The message of the server or of the operating system.
        message: String,
    },
    /// The connection cannot be encrypted.
    #[error(
        "{address}: the connection cannot be encrypted: {message}; name the certificate that signed the server's with \
         ?sslrootcert=FILE, or encrypt without knowing the server with ?sslmode=require"
    )]
    Encryption {
        /// The address.
        address: String,
        /// What is wrong.
        message: String,
    },
    /// The server encrypts no connections.
    #[error(
        "{address}: the server encrypts no connections; turn encryption on there (`ssl = on`), or let others read what is \
         sent with ?sslmode=disable"
    )]
    NoEncryption {
        /// The address.
        address: String,
    },
    /// The server does not accept the role or its password.
    #[error(
        "{address}: the server does not accept the role {user}: {message}; write its password to ~/.pgpass as \
         host:port:database:role:password (and `chmod 600 ~/.pgpass`), or set PGPASSWORD"
    )]
    Authentication {
        /// The address.
        address: String,
        /// The role.
        user: String,
        /// The message of the server.
        message: String,
    },
    /// The server has no such database.
    #[error("{address}: {message}; `psql -l` lists the databases of a server")]
    NoDatabase {
        /// The address.
        address: String,
        /// The message of the server.
        message: String,
    },
    /// The role could change something.
    #[error(
        "{address}: the role {user} {power}; use one that can only read:\n\n{script}\nTo use {user} all the same, \
         add ?allow_writer=yes to the address: queries run in read-only transactions that are rolled back"
    )]
    Writer {
        /// The address.
        address: String,
        /// The role.
        user: String,
        /// What the role could do.
        power: String,
        /// The statements that make another role.
        script: String,
    },
    /// The role can read no table.
    #[error("{address}: the role {user} can read no table; an owner of the tables can allow it:\n\n{script}")]
    NoReadableTables {
        /// The address.
        address: String,
        /// The role.
        user: String,
        /// The statements that allow it.
        script: String,
    },
    /// The server went away and did not come back.
    #[error(
        "{address}: the server went away and did not come back: {message}; run the command again when it is there, `xpr train` \
         with --resume, which goes on from the last checkpoint"
    )]
    Gone {
        /// The address.
        address: String,
        /// What the connection ended with.
        message: String,
    },
    /// A DuckDB database cannot be used.
    #[error(transparent)]
    DuckDb(#[from] DuckDbError),
    /// The file does not exist.
    #[error("{path}: there is no such file; check the path")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The path is that of a folder.
    #[error("{path}: this is a folder; name the database file in it")]
    Directory {
        /// The folder.
        path: PathBuf,
    },
    /// The path is that of a pipe, a device or a socket.
    #[error("{path}: this is not a regular file; copy the database into one")]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file that SQLite would read beside a database is none.
    #[error("{path}: this is not a regular file, and SQLite would read it with the database; remove it")]
    NotASidecar {
        /// The path.
        path: PathBuf,
    },
    /// There is no permission to read the file.
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
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file does not have the header of an SQLite database.
    #[error(
        "{path}: this is not an SQLite database, or it is encrypted; `file` says what it is, and an encrypted one has \
         to be decrypted into a copy first"
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a damaged database.
    #[error(
        "{path}: the database is damaged ({message}); `sqlite3 FILE .recover | sqlite3 NEW` saves what can be saved"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The message of SQLite.
        message: String,
    },
    /// Reading the schema takes too long.
    #[error(
        "{path}: reading its schema takes more than {} s; the file is damaged, or made to keep its readers busy; do not \
         use it unless you know where it is from", limit.as_secs()
    )]
    Endless {
        /// The file.
        path: PathBuf,
        /// The time after which reading was stopped.
        limit: Duration,
    },
    /// Reading the schema takes too much memory.
    #[error(
        "{path}: reading its schema takes more than {megabytes} MB of memory; the file is damaged, or made to keep its \
         readers busy; do not use it unless you know where it is from"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The memory that is allowed.
        megabytes: usize,
    },
    /// A journal beside the file holds what must be undone.
    #[error(
        "{path}: a program stopped in the middle of a change and left {sidecar}; let SQLite undo it with `sqlite3 FILE \
         'SELECT count(*) FROM sqlite_schema'`, or copy it with `sqlite3 FILE '.backup COPY'`"
    )]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The journal.
        sidecar: PathBuf,
    },
    /// Another program changed the database between two queries.
    #[error(
        "{path}: another program changed the database while it was read, so that the results do not fit together; run \
         the command again, or use a copy made with `sqlite3 FILE '.backup COPY'`"
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A copy of the database cannot be made.
    #[error(
        "{path}: other programs may be writing to it, so a copy in {folder} is read, which cannot be made: {source}; \
         make space, or set TMPDIR to a folder that has it"
    )]
    NoCopy {
        /// The file.
        path: PathBuf,
        /// The folder of temporary files.
        folder: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Another program holds a lock on the file.
    #[error(
        "{path}: another program is writing to it; try again, or use a copy made with `sqlite3 FILE '.backup COPY'`"
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The database has no tables.
    #[error("{path}: the database has no tables; is it the right file?")]
    NoTables {
        /// The file.
        path: PathBuf,
    },
    /// None of the tables can be read.
    #[error("{path}: no table of the database can be read{}", reasons(left_out))]
    AllLeftOut {
        /// The file.
        path: PathBuf,
        /// The tables, with the reasons.
        left_out: Vec<LeftOutTable>,
    },
    /// The progress callback stopped the reading.
    #[error("{database}: reading was stopped")]
    Cancelled {
        /// The database.
        database: String,
    },
    /// SQLite was used before its memory could be limited.
    #[error(
        "SQLite was started by another part of this program, so that the memory of queries cannot be limited; call \
         `prepare_engine` first"
    )]
    EngineInUse,
    /// SQLite reports another error.
    #[error("{path}: SQLite reports: {message}")]
    Engine {
        /// The file.
        path: PathBuf,
        /// The message of SQLite.
        message: String,
    },
}

/// The tables that a message names.
const SHOWN_TABLES: usize = 3;

/// Returns why tables are left out, as the end of a message.
fn reasons(left_out: &[LeftOutTable]) -> String {
    let mut text: String = left_out.iter().take(SHOWN_TABLES).map(|table| format!("; {table}")).collect();
    if left_out.len() > SHOWN_TABLES {
        text.push_str(&format!("; and {} more", left_out.len() - SHOWN_TABLES));
    }
    text
}
