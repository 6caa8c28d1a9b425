//! Errors of an experiment.

use crate::objectives::UnknownObjective;
use crate::task::{LeftOut, TaskError};
use crate::training::CheckpointError;
use std::path::PathBuf;
use thiserror::Error;
use xpr_data::DataError;
use xpr_run::{ConfigError, RunError};

/// An error of an experiment.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// The settings have an error.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The settings name an objective that does not exist.
    #[error(transparent)]
    Objective(#[from] UnknownObjective),
    /// A file of the data has an error.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file of word vectors does not exist.
    #[error(
        "there is no file of word vectors {0}; name the folder that has it, or another file, with --embeddings, or train \
         without: --set data.embeddings=\"\""
    )]
    NoEmbeddings(PathBuf),
    /// The data and the world do not fit together.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The run folder has an error.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file of weights does not belong to the model.
    #[error("{path}: {source}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// The grammar cannot write a program of a benchmark.
    #[error(transparent)]
    LeftOut(LeftOut),
    /// The grammar cannot write any labeled program.
    #[error("none of the {examples} labeled examples can be learned from{}", first.as_ref().map_or_else(String::new, |first| format!("; {first}")))]
    AllLeftOut {
        /// The number of labeled examples.
        examples: usize,
        /// The first of them, and why the grammar cannot write its program.
        first: Option<LeftOut>,
    },
}
