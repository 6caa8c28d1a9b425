//! The tables of a log, and their format.

use crate::LogError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;

/// The number in the header of the file that says what it is: `xprq`.
const APPLICATION: i64 = 0x7870_7271;
/// The version of the tables. It changes when an earlier program would misread them.
const FORMAT: i64 = 1;

const TABLES: &str = "
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

/// Creates the tables of a new file, or checks that a file is a log.
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), LogError> {
    let failed = |source| failure(path, source);
    // Whoever opens a new file first creates the tables; others wait for it.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    if tables == 0 {
        transaction.execute_batch(TABLES).map_err(failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        transaction.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    }
    transaction.commit().map_err(failed)?;
    check(connection, path)
}

/// Checks that a file is a log of this format.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), LogError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let failed = |source| failure(path, source);
    if number("application_id").map_err(failed)? != APPLICATION {
        return Err(LogError::NotALog(path.to_owned()));
    }
    match number("user_version").map_err(failed)? {
        FORMAT => Ok(()),
        found => Err(LogError::Format { path: path.to_owned(), found, known: FORMAT }),
    }
}

fn failure(path: &Path, source: rusqlite::Error) -> LogError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => LogError::NotALog(path.to_owned()),
        _ => LogError::Database { path: path.to_owned(), source },
    }
}
