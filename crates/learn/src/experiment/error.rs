//! Errors of an experiment.

use crate::objectives::UnknownObjective;
use crate::task::{FailedLabel, LeftOut, TaskError};
use crate::training::CheckpointError;
use std::path::PathBuf;
use thiserror::Error;
use xpr_data::DataError;
use xpr_run::{ConfigError, DifferingSetting, RunError};
use xpr_sentence::SentenceError;

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
    /// A setting cannot be changed after training.
    #[error("--set {0}: only settings of `eval` can be changed after training, such as eval.votes=false")]
    TrainedSetting(String),
    /// The program of a label fails.
    #[error("the labeled query fails: {0}")]
    FailedLabel(FailedLabel),
    /// The file of word vectors does not exist.
    #[error(
        "there is no file of word vectors {0}; name the folder that has it, or another file, with --embeddings, or train \
         without: --set data.embeddings=\"\""
    )]
    NoEmbeddings(PathBuf),
    /// The folder that `learn.encoder` names is not that of a sentence encoder.
    #[error("learn.encoder: {0}")]
    Encoder(#[from] SentenceError),
    /// The data and the world do not fit together.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The run folder has an error.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The data of a run changed since it was trained.
    #[error(
        "{folder}: its parser was trained on other data: {changed} changed since; restore them, or remove the folder to \
         train again"
    )]
    OtherData {
        /// The folder of the run.
        folder: PathBuf,
        /// What changed.
        changed: String,
    },
    /// A run has other settings than are asked for.
    #[error(
        "{folder} was trained with other settings than are asked for: {}; name another folder with --out, or remove this one to train again",
        differences(differing)
    )]
    OtherSettings {
        /// The folder of the run.
        folder: PathBuf,
        /// The settings, first as they are asked for and then as the run has them.
        differing: Vec<DifferingSetting>,
    },
    /// The settings of a run were edited since it was begun.
    #[error(
        "{folder}: its config.toml was changed since training began: {}; restore it, or remove the folder to train again",
        changes(differing)
    )]
    EditedSettings {
        /// The folder of the run.
        folder: PathBuf,
        /// The settings, first as they are now and then as training began.
        differing: Vec<DifferingSetting>,
    },
    /// The settings of an earlier run cannot be read.
    #[error("{folder}: {source}")]
    RecordedSettings {
        /// The folder of the run.
        folder: PathBuf,
        /// What is wrong.
        source: ConfigError,
    },
    /// Another process changed the current parser of a run since it was opened.
    #[error("{0}: another process changed the current parser meanwhile; try again")]
    ParserChanged(PathBuf),
    /// The ranks of a run do not train the same.
    #[error(
        "the ranks have different settings or data; start all of them with the same arguments, and files that all machines see"
    )]
    OtherRanks,
    /// Training was told to stop.
    #[error("stopped after step {step}, as it was told to; --resume goes on from there")]
    Stopped {
        /// The step, from 1.
        step: usize,
    },
    /// Training left the range of numbers.
    #[error(
        "training diverged: {what} of step {step} is not a finite number; {}; train again with a lower train.rate, such as \
         a tenth of it, or a lower train.clip",
        match checkpoint {
            0 => "there is no checkpoint before it".to_owned(),
            checkpoint => format!("the checkpoint is of step {checkpoint}, when all weights were finite"),
        }
    )]
    Diverged {
        /// What is not finite.
        what: &'static str,
        /// The step, from 1.
        step: usize,
        /// The step of the last checkpoint, or 0.
        checkpoint: usize,
    },
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

/// Writes settings in which a run differs from what is asked for.
fn differences(differing: &[DifferingSetting]) -> String {
    let text = |setting: &DifferingSetting| {
        format!("{} is {} in it, not {}", setting.key, setting.right, setting.left)
    };
    differing.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Writes settings that were changed.
fn changes(differing: &[DifferingSetting]) -> String {
    let text = |setting: &DifferingSetting| {
        format!("{} is {}, and was {}", setting.key, setting.left, setting.right)
    };
    differing.iter().map(text).collect::<Vec<_>>().join(", ")
}
