//! Errors of improving a run.

use std::path::PathBuf;
use thiserror::Error;
use xpr_learn::ExperimentError;
use xpr_learn::task::TaskError;
use xpr_log::LogError;
use xpr_run::{ConfigError, RunError};

/// An error of improving a run.
#[derive(Debug, Error)]
pub enum ImproveError {
    /// A parser cannot be opened or trained.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The data cannot be opened.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A file of the run has an error.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A setting has an error.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The question log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The experiment of a simulation has no questions whose programs could be hidden.
    #[error(
        "there are {questions} questions to click on, and {clicks} clicks; lower the number of clicks, or data.label_count"
    )]
    TooFewQuestions {
        /// The number of questions.
        questions: usize,
        /// The largest number of clicks.
        clicks: usize,
    },
    /// A folder holds a simulation with other settings.
    #[error("{0} holds a simulation with other settings; name another folder")]
    OtherSimulation(PathBuf),
}
