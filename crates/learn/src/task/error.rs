//! Errors of data that cannot be learned from.

use std::error::Error as StdError;
use thiserror::Error;
use xpr_data::DataError;
use xpr_exec::overnight;
use xpr_exec::sqlite::DatabaseError;
use xpr_lang::{GrammarError, Outcome, ReadError};

/// An error of a task or its data.
#[derive(Debug, Error)]
pub enum TaskError {
    /// A file of the dataset has an error.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No program can be written about the environment.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// A world of another crate cannot be opened.
    #[error(transparent)]
    World(Box<dyn StdError + Send + Sync>),
    /// There is no such domain of Overnight.
    #[error("there is no domain `{0}`; there are {worlds}", worlds = overnight::WORLDS.join(", "))]
    Domain(String),
    /// The settings name no folder with data.
    #[error("no folder with data: name it with --data, XPR_DATA or the setting data.folder")]
    NoData,
    /// The settings name no database.
    #[error("no database: name it with the setting data.database, such as \"sqlite:music.db\"")]
    NoDatabase,
    /// There are too few examples for `data.held_out` and `data.fold`.
    #[error(
        "data.held_out is {held_out} with fold {fold}, but only {labeled} training examples are labeled and {rest} are not; \
         lower it, or change data.fraction"
    )]
    NothingHeldOut {
        /// The setting.
        held_out: usize,
        /// The number of the fold, from 0.
        fold: usize,
        /// The number of labeled examples.
        labeled: usize,
        /// The number of other training examples.
        rest: usize,
    },
    /// No example is labeled.
    #[error("there are no labeled examples: {fraction} of {examples} is less than one")]
    NoExamples {
        /// The labeled share.
        fraction: f64,
        /// The number of training examples.
        examples: usize,
    },
}

/// A labeled example whose program fails, so that the right answer to its question is unknown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{utterance}`: {}", outcome.text())]
pub struct FailedLabel {
    /// Its question.
    pub utterance: String,
    /// The outcome of its program.
    pub outcome: Outcome,
}

impl FailedLabel {
    /// Returns the failure of a labeled program with this outcome, if it failed.
    pub(super) fn find(utterance: &str, outcome: &Outcome) -> Option<Self> {
        (!outcome.executes())
            .then(|| FailedLabel { utterance: utterance.to_owned(), outcome: outcome.clone() })
    }
}

/// A labeled example whose program the grammar cannot write.
#[derive(Debug, Error)]
#[error("`{utterance}`: {reason}")]
pub struct LeftOut {
    /// Its question.
    pub utterance: String,
    /// Why the grammar cannot write its program.
    #[source]
    pub reason: ReadError,
}
