//! Why there is no report.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A folder is neither a run nor a sweep.
    #[error(
        "{0} is neither a run (there is no config.toml in it) nor a sweep (nor in any folder in it); \
         name a folder that xpr train or xpr sweep wrote"
    )]
    NoRun(PathBuf),
    /// No run was evaluated.
    #[error(
        "nothing to report: none of the {runs} runs is evaluated{first}; finish them with xpr train --resume"
    )]
    NothingEvaluated {
        /// How many runs there are.
        runs: usize,
        /// What is wrong with the first.
        first: String,
    },
}
