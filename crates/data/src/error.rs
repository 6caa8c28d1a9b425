//! Errors that say where and what to do.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is wrong with a text, and in which line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct LineError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// What is wrong with a dataset.
#[derive(Debug, Error)]
pub enum DataError {
    /// The folder is not one of this dataset.
    #[error("{folder}: {message}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is missing, and where to get it.
        message: String,
    },
    /// A file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of a file is not as it should be.
    #[error("{path}, {source}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line and what is wrong.
        source: LineError,
    },
}

impl DataError {
    /// The error of a file whose content is wrong.
    pub(crate) fn in_file(path: &Path) -> impl FnOnce(LineError) -> DataError {
        move |source| DataError::Line { path: path.to_owned(), source }
    }
}
