//! Runs as they are kept on disk: their settings, their folder, and the records in it.
//!
//! A run is written by `xpr-learn` and read by whoever wants to know what came of it. This crate is what the two sides
//! agree on, and it needs neither a model nor a database: `xpr-report` depends on it and trains nothing.
//!
//! - [`Config`] holds every setting of an experiment, one section a module: [`DataConfig`], [`BaseConfig`],
//!   [`ModelConfig`], [`TrainConfig`], [`LearnConfig`], [`EvalConfig`]. [`PretrainConfig`] holds those of pretraining.
//! - [`RunFolder`] is the folder of a run, and [`RunFile`] names each of its files.
//! - [`ParserList`] names the current parser of a run that was improved, and [`AskedQuestion`] is a line of what it learned from.
//! - [`Claims`] says which process trains which cell of a sweep.
//! - [`StepReport`] is a line of `metrics.jsonl`, [`Prediction`] a line of `predictions.jsonl`, [`Evaluation`] the whole of
//!   `evaluation.json`.
//!
//! *Architecture invariant:* files appear under their final names whole or not at all.
//!
//! ```
//! use xpr_run::Config;
//!
//! let config = Config::read(None, &["train.steps=100".to_owned()])?.config;
//! assert_eq!((config.train.steps, config.train.batch), (100, 12));
//! # Ok::<(), xpr_run::ConfigError>(())
//! ```

mod asked;
mod calibration;
mod claims;
mod config;
mod fingerprint;
mod folder;
mod manifest;
mod metrics;
mod parsers;
mod prediction;

pub use asked::{AskedQuestion, Said, question_key};
pub use calibration::{Calibration, ConfidenceBin, ConfidenceFigures};
pub use claims::{CellCost, CellState, Claim, ClaimEnd, Claims, SweepPart, SweepProcess};
pub use config::{
    BUILT_IN, BaseConfig, Config, ConfigError, DataConfig, Dataset, DifferingSetting, EvalConfig, Fallback,
    HeldOut, IgnoredSetting, LearnConfig, OvernightGrammar, PretrainConfig, PretrainDataConfig, ReadConfig,
    RenamedSetting, Reward, SearchConfig, TrainConfig, TrainingSettings, rename_settings,
};
pub use fingerprint::{fingerprint, fingerprint_bytes};
pub use folder::{RunError, RunFile, RunFolder};
pub use manifest::Manifest;
pub use metrics::{GoldReport, Progress, StepReport, UnlabeledQuestions, UnlabeledReport};
pub use parsers::{
    LearnedQuestions, ParserComparison, ParserList, ParserOrigin, ParserRecord, seconds_since_1970,
};
pub use prediction::{Evaluation, ExecutedCandidate, Prediction};
pub use xpr_lang::Outcome;
pub use xpr_parser::ModelConfig;
