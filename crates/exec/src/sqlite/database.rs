//! Opening a database file so that nothing can change it.
//!
//! Reading must leave no trace: not a byte of the file changes, and no `-wal`, `-shm` or `-journal` file appears beside
//! it. A database in rollback mode is opened with `mode=ro`. Its readers take ordinary locks, so it is read correctly
//! even while another program writes to it. In write-ahead mode even a reader would create `-wal` and `-shm`, so
//! `immutable=1` is added: SQLite then takes no locks and reads this file only. That is correct only while the log is
//! empty, so a log with content is an error that says what to do. The mode is in the file's header.
//!
//! Everything that could reach beyond the tables is off: triggers, writes to the schema, functions in the schema that are
//! not known to be harmless, double-quoted strings, attached databases, extensions (which SQLite loads only on request),
//! and memory-mapped reading, where another program that truncates the file would crash this one.

use super::error::DatabaseError;
use super::memory;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first bytes of every database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The position of the journal mode in the header.
const MODE: usize = 19;
/// The journal mode of databases with a write-ahead log.
const WRITE_AHEAD: u8 = 2;
/// Bytes of memory for opening a database and reading its schema. A hostile schema can be as large as its file.
const OPENING_MEMORY: usize = 256 << 20;
/// The size of a connection's page cache in KiB.
const PAGE_CACHE: i64 = 2048;
/// How long to wait for a program that is writing to the database.
const LOCK_TIMEOUT: Duration = Duration::from_millis(100);

/// The maximum bytes of a cell or a row, and of any intermediate text. An operation on a text is a single step of
/// SQLite's machine, so this bounds how long a step can take.
pub(super) const LONGEST_TEXT: i32 = 1 << 18;

/// The limits of a statement. They are set after the schema has been read, which may exceed them.
const STATEMENT_LIMITS: [(Limit, i32); 12] = [
    (Limit::SQLITE_LIMIT_LENGTH, LONGEST_TEXT),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 15),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_PARSER_DEPTH, 1000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (Limit::SQLITE_LIMIT_VDBE_OP, 50_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 16),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// An SQLite database file.
#[derive(Clone, Debug)]
pub struct Database {
    path: PathBuf,
    /// The file name without its extension.
    name: String,
    /// The address with which SQLite opens the file.
    uri: String,
}

impl Database {
    /// Opens the file for reading, to make sure that it is a database.
    ///
    /// # Errors
    /// If it is not a database, or cannot be read without leaving a trace.
    pub fn open(path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        let path = path.as_ref().to_owned();
        if !memory::prepare_engine() {
            return Err(DatabaseError::EngineInUse);
        }
        let write_ahead = read_header(&path)?[MODE] == WRITE_AHEAD;
        if write_ahead {
            let sidecar = sidecar(&path, "-wal");
            if std::fs::metadata(&sidecar).is_ok_and(|log| log.len() > 0) {
                return Err(DatabaseError::Unfinished { path, sidecar });
            }
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let uri = uri(&path, write_ahead);
        let database = Database { path, name, uri };
        database.connect()?;
        Ok(database)
    }

    /// Opens the database at an address such as `sqlite:music.db`. A relative path starts in `folder`. A path that ends in `.db`, `.sqlite` or
    /// `.sqlite3` needs no `sqlite:`.
    ///
    /// # Errors
    /// If the address is not one of these, and those of [`Database::open`].
    pub fn at(address: &str, folder: &Path) -> Result<Database, DatabaseError> {
        let has_ending = [".db", ".sqlite", ".sqlite3"].iter().any(|ending| address.ends_with(ending));
        let path = address.strip_prefix("sqlite:").or(Some(address).filter(|_| has_ending));
        match path.filter(|path| !path.is_empty()) {
            Some(path) => Database::open(folder.join(path)),
            None => Err(DatabaseError::Address { address: address.to_owned() }),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file name without its extension, such as `music` for `data/music.db`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a connection that has read the schema, and on which everything is off that reading does not need.
    pub(super) fn connect(&self) -> Result<Connection, DatabaseError> {
        let _budget = memory::Budget::new(OPENING_MEMORY);
        self.connect_within_budget().map_err(|error| self.explain(&error))
    }

    fn connect_within_budget(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(&self.uri, flags)?;
        for (option, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        ] {
            connection.set_db_config(option, on)?;
        }
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "mmap_size", 0)?;
        connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        // The first statement reads the schema.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        for (limit, most) in STATEMENT_LIMITS {
            connection.set_limit(limit, most)?;
        }
        Ok(connection)
    }

    /// Translates an error of SQLite to one that tells users what to do.
    pub(super) fn explain(&self, error: &rusqlite::Error) -> DatabaseError {
        let path = self.path.clone();
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => DatabaseError::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => DatabaseError::Corrupt { path, message },
            Some(ErrorCode::PermissionDenied) => DatabaseError::Permission { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseError::Busy { path },
            // A program that crashed left a journal. To roll it back would be a write.
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
                let sidecar = sidecar(&path, "-journal");
                if sidecar.exists() {
                    DatabaseError::Unfinished { path, sidecar }
                } else {
                    DatabaseError::Engine { path, message }
                }
            }
            _ => DatabaseError::Engine { path, message },
        }
    }
}

/// Returns the path of a file beside the database, whose name is the database's with an ending.
fn sidecar(path: &Path, ending: &str) -> PathBuf {
    let mut sidecar: OsString = path.into();
    sidecar.push(ending);
    sidecar.into()
}

/// Reads the header of a database.
fn read_header(path: &Path) -> Result<[u8; 100], DatabaseError> {
    let path_buf = || path.to_owned();
    let refused = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => DatabaseError::Missing { path: path_buf() },
        ErrorKind::PermissionDenied => DatabaseError::Permission { path: path_buf() },
        _ => DatabaseError::Io { path: path_buf(), source },
    };
    // Checked before opening the file, which would block on a pipe.
    let metadata = std::fs::metadata(path).map_err(refused)?;
    if metadata.is_dir() {
        return Err(DatabaseError::Directory { path: path_buf() });
    }
    if !metadata.is_file() {
        return Err(DatabaseError::NotAFile { path: path_buf() });
    }
    if metadata.len() == 0 {
        return Err(DatabaseError::NoTables { path: path_buf() });
    }
    let mut header = [0; 100];
    match File::open(path).map_err(refused)?.read_exact(&mut header) {
        Ok(()) if header.starts_with(MAGIC) => Ok(header),
        Ok(()) => Err(DatabaseError::NotADatabase { path: path_buf() }),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(DatabaseError::NotADatabase { path: path_buf() })
        }
        Err(error) => Err(refused(error)),
    }
}

/// Returns the `file:` URI with which SQLite opens a file. All bytes that could have a meaning in a URI are escaped.
fn uri(path: &Path, immutable: bool) -> String {
    // An absolute path needs an empty host before it, or its first folder could be taken for the host.
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?mode=ro");
    if immutable {
        uri.push_str("&immutable=1");
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_become_part_of_the_address() {
        assert_eq!(uri(Path::new("a b?mode=rwc#%.db"), false), "file:a%20b%3Fmode%3Drwc%23%25.db?mode=ro");
        assert_eq!(uri(Path::new("//host/x"), true), "file:////host/x?mode=ro&immutable=1");
    }
}
