//! The tables of a log, and their format.

use crate::LogError;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The number in the header of the file that says what it is: `xprq`.
const APPLICATION: i64 = 0x7870_7271;
/// The version of the tables. It changes when an earlier program would misread them.
const FORMAT: i64 = 2;
/// The version before, which had no table `asked_again`.
const FORMER: i64 = 1;
/// The bytes of the header of an SQLite file.
const HEADER: usize = 100;

const FORMER_TABLES: &str = "
CREATE TABLE question (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    parser TEXT NOT NULL,
    question TEXT NOT NULL,
    program TEXT,
    outcome TEXT,
    answer TEXT,
    confidence REAL,
    unsure INTEGER NOT NULL,
    declined TEXT,
    disagreement REAL,
    shown TEXT NOT NULL,
    micros INTEGER NOT NULL
) STRICT;
CREATE INDEX question_time ON question (time);
CREATE TABLE feedback (
    id INTEGER PRIMARY KEY,
    question INTEGER NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    time INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    program TEXT
) STRICT;
CREATE INDEX feedback_question ON feedback (question);
";

const ASKED_AGAIN: &str = "
CREATE TABLE asked_again (
    question INTEGER PRIMARY KEY REFERENCES question (id) ON DELETE CASCADE
) STRICT;
";

/// Creates the tables of a new file, adds those that a log of the version before does not have, or checks that a file is a log.
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), LogError> {
    let failed = |source| failure(path, source);
    // Whoever opens a new file first creates the tables; others wait for it.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let is_former = match check_format(&transaction, path, FORMER) {
        _ if tables == 0 => {
            transaction.execute_batch(FORMER_TABLES).map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
            true
        }
        Ok(()) => true,
        // It is of this version, or of a later one.
        Err(LogError::Format { .. }) => false,
        Err(error) => return Err(error),
    };
    if is_former {
        transaction.execute_batch(ASKED_AGAIN).map_err(failed)?;
        write_version(&transaction).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    check(connection, path)
}

/// Checks by its first bytes that a file is a log, before SQLite opens it: SQLite would finish what another process began to write,
/// whatever the file is. A new file is empty, or its first transaction was interrupted before the header was written and is undone by
/// its journal. SQLite would wait for a pipe beside the file.
pub(crate) fn check_header(path: &Path) -> Result<(), LogError> {
    let failed = |source| LogError::File { path: path.to_owned(), source };
    let is_no_file = |path: &Path| LogError::File {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"),
    };
    if !fs::symlink_metadata(path).map_err(failed)?.is_file() {
        return Err(is_no_file(path));
    }
    let [journal, log, index] = ["-journal", "-wal", "-shm"].map(|ending| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        PathBuf::from(beside)
    });
    for beside in [&journal, &log, &index] {
        if fs::symlink_metadata(beside).is_ok_and(|found| !found.is_file()) {
            return Err(is_no_file(beside));
        }
    }
    let mut header = Vec::with_capacity(HEADER);
    File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut header)).map_err(failed)?;
    let is_new = header.is_empty() || (header.iter().all(|byte| *byte == 0) && journal.exists());
    let application =
        header.get(68..72).map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)));
    let is_log = header.starts_with(b"SQLite format 3\0") && application == Some(APPLICATION);
    if is_new || is_log { Ok(()) } else { Err(LogError::NotALog(path.to_owned())) }
}

/// Bounds what SQLite reads of a hostile file's tables: a log needs no more.
pub(crate) fn limit(connection: &Connection) -> rusqlite::Result<()> {
    for (limit, most) in [(Limit::SQLITE_LIMIT_SQL_LENGTH, 10_000), (Limit::SQLITE_LIMIT_COLUMN, 64)] {
        connection.set_limit(limit, most)?;
    }
    Ok(())
}

/// Writes the version of the tables, which is there already.
pub(crate) fn write_version(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "user_version", FORMAT)
}

/// Checks that a file is a log, and adds what one of the version before does not have.
pub(crate) fn check_existing(connection: &mut Connection, path: &Path) -> Result<(), LogError> {
    match check(connection, path) {
        Err(LogError::Format { found: FORMER, .. }) => prepare(connection, path),
        checked => checked,
    }
}

/// Checks that a file is a log of this version.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), LogError> {
    check_format(connection, path, FORMAT)
}

/// Checks that a file is a log of a version.
fn check_format(connection: &Connection, path: &Path, format: i64) -> Result<(), LogError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let failed = |source| failure(path, source);
    if number("application_id").map_err(failed)? != APPLICATION {
        return Err(LogError::NotALog(path.to_owned()));
    }
    match number("user_version").map_err(failed)? {
        // A view instead of a table may have no end, and a trigger can delete what is logged.
        found if found != format => Err(LogError::Format { path: path.to_owned(), found, known: FORMAT }),
        _ if has_tables_of_a_log(connection, format).map_err(failed)? => Ok(()),
        _ => Err(LogError::NotALog(path.to_owned())),
    }
}

/// Returns whether a file has the tables and indices of a version of the log, and nothing else.
fn has_tables_of_a_log(connection: &Connection, format: i64) -> rusqlite::Result<bool> {
    static OF_A_LOG: OnceLock<[Vec<String>; 2]> = OnceLock::new();
    let [former, present] = match OF_A_LOG.get() {
        Some(expected) => expected,
        None => {
            let new = Connection::open_in_memory()?;
            new.execute_batch(FORMER_TABLES)?;
            let former = created(&new)?;
            new.execute_batch(ASKED_AGAIN)?;
            let present = created(&new)?;
            OF_A_LOG.get_or_init(|| [former, present])
        }
    };
    Ok(created(connection)? == *if format == FORMER { former } else { present })
}

/// Returns the statements that created what a file has.
fn created(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql =
        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1 LIMIT 100";
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn failure(path: &Path, source: rusqlite::Error) -> LogError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => LogError::NotALog(path.to_owned()),
        _ => LogError::Database { path: path.to_owned(), source },
    }
}
