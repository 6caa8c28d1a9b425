//! The errors of this crate.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error that prevents a report.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file or folder cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
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
    /// A folder is neither a run nor a sweep.
    #[error(
        "{0} is neither a run (it has no config.toml) nor a sweep (no folder in it has one); \
         name a folder that xpr train or xpr sweep wrote"
    )]
    NoRun(PathBuf),
    /// Two runs that are to be compared were evaluated on different questions.
    #[error(
        "{left} and {right} were evaluated on different questions; compare runs with the same data, labels and held-out questions"
    )]
    DifferentQuestions {
        /// The folder of a run.
        left: PathBuf,
        /// The folder of another.
        right: PathBuf,
    },
    /// No run is evaluated.
    #[error(
        "nothing to report: none of the {runs} runs is evaluated{first}; finish them with xpr train --resume"
    )]
    NothingEvaluated {
        /// The number of runs.
        runs: usize,
        /// What is wrong with the first, in parentheses, or nothing.
        first: String,
    },
}
