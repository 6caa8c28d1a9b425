//! Errors that say where something is wrong and what to do.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error in a line of a text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct LineError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// An error in a dataset or project.
#[derive(Debug, Error)]
pub enum DataError {
    /// The folder does not have the expected content.
    #[error("{folder}: {message}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong and what to do.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A line of a file is wrong.
    #[error("{path}, {source}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line and what is wrong.
        source: LineError,
    },
}

impl DataError {
    /// Returns a function that adds the path of the file to an error in one of its lines.
    pub(crate) fn in_file(path: &Path) -> impl FnOnce(LineError) -> DataError {
        move |source| DataError::Line { path: path.to_owned(), source }
    }
}
