//! What may be wrong with a comparison.

use crate::objectives::UnknownObjective;
use crate::task::TaskError;
use std::path::PathBuf;
use thiserror::Error;
use xpr_run::ConfigError;

/// An error in what is to be compared.
#[derive(Debug, Error)]
pub enum ComparisonError {
    /// A setting to vary has no values.
    #[error("--vary {0}: expected a key and values, such as learn.weight=0.1,0.3,1")]
    Vary(String),
    /// There are too many combinations of values.
    #[error("--vary gives too many experiments; give shorter lists")]
    TooMany,
    /// There is one experiment only.
    #[error(
        "there is nothing to compare {0} with; name a second experiment, or vary a setting, such as \
         --vary learn.objective=none,sparse"
    )]
    One(String),
    /// Two experiments, or two domains, have the same name.
    #[error("the run {0} is there twice; give the experiments' files different names, and each domain once")]
    Twice(String),
    /// A setting that the comparison itself chooses.
    #[error("the setting `{key}` is chosen by the comparison; leave it out, and use {flag}")]
    Reserved {
        /// The key.
        key: String,
        /// The flag that says what it is.
        flag: &'static str,
    },
    /// The settings of an experiment contradict each other.
    #[error("{experiment}: {source}")]
    Config {
        /// The name of the experiment.
        experiment: String,
        /// What is wrong.
        source: ConfigError,
    },
    /// The objective of an experiment does not exist.
    #[error("{experiment}: {source}")]
    Objective {
        /// The name of the experiment.
        experiment: String,
        /// What is wrong.
        source: UnknownObjective,
    },
    /// The examples of an experiment cannot be read.
    #[error("{experiment}: {source}")]
    Task {
        /// The name of the experiment.
        experiment: String,
        /// What is wrong.
        source: TaskError,
    },
    /// Domains are named, but an experiment is not about Overnight.
    #[error("--domains names domains of Overnight, but {0} is about a database; leave the flag out")]
    Domains(String),
    /// The databases of a folder cannot be read.
    #[error(transparent)]
    Databases(TaskError),
    /// The path of a database is not UTF-8.
    #[error("{0}: the path is not UTF-8; rename the folder")]
    Path(PathBuf),
    /// There are too few questions to hold out.
    #[error(
        "{domain}: {held_out} questions for each of {folds} folds cannot be held out of {questions} {kind}; {advice}"
    )]
    TooFew {
        /// The domain or database.
        domain: String,
        /// The number of held-out questions of a fold.
        held_out: usize,
        /// The number of folds.
        folds: usize,
        /// The number of questions they are held out of.
        questions: usize,
        /// What questions these are.
        kind: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Two experiments would be evaluated on different questions.
    #[error(
        "{domain}: {left} and {right} hold out different questions, so they cannot be compared; their data, data.fraction \
         and data.split must be the same"
    )]
    DifferentQuestions {
        /// The domain or database.
        domain: String,
        /// An experiment.
        left: String,
        /// Another.
        right: String,
    },
}
