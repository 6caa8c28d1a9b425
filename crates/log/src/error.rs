//! Errors of a log.

use crate::QuestionId;
use std::io;
use std::path::PathBuf;

/// The reason why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no such file.
    #[error("{}: there is no log; `xpr serve` writes one", .0.display())]
    Missing(PathBuf),
    /// The file cannot be created.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{}: this is not a log of questions; name another file", .0.display())]
    NotALog(PathBuf),
    /// A later version wrote the file.
    #[error("{}: the log has the format {found}, and this version of xpr reads format {known}; use the version that wrote it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The format of this version.
        known: i64,
    },
    /// SQLite cannot read or write the file.
    #[error("{}: {source}{}", path.display(), advice(source))]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// An entry is not one that this crate wrote.
    #[error("{}: question {id} is damaged: {message}; move the file away to begin a new log", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the question.
        id: QuestionId,
        /// What is wrong.
        message: String,
    },
    /// Feedback about a question that is not in the log.
    #[error("there is no question {0}; it may have been pruned")]
    NoQuestion(QuestionId),
    /// A question that was not answered was said to be answered right.
    #[error("question {0} was not answered, so there is nothing to confirm")]
    NothingConfirmed(QuestionId),
    /// A verdict with a program that it must not have, or without one that it needs.
    #[error("the verdict `{0}` {what} a program", what = if .0.has_program() { "needs" } else { "has no place for" })]
    Program(crate::Verdict),
}

/// Returns what to do about an error of SQLite. It cannot read a file that a killed process left without writing beside it.
fn advice(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly) => {
            "; the folder of a log must be writable, so copy the log to one that is, with the files beside it that have its name"
        }
        Some(rusqlite::ErrorCode::OperationInterrupted) => {
            "; reading took too long, because the log is damaged or made to keep its readers busy, or very large; move it away to begin a \
             new one, or make it smaller with --prune"
        }
        _ => "",
    }
}
