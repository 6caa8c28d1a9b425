//! Training, evaluation, and the folders runs live in.
//!
//! An experiment is one [`Config`]; a [`Task`] is the dataset and world it is about; a [`Trainer`] takes steps; a
//! [`RunFolder`] keeps what came of it. The key decision is that **a step depends on its number alone**: which examples it
//! sees and which elements are dropped are functions of seed and step. So a run that was killed goes on from its last
//! checkpoint to the same bits, and the number of threads does not matter.
//!
//! *Architecture invariant:* files appear under their final names whole or not at all.
//!
//! ```
//! use xpr_learn::objectives::{Candidates, Objective};
//!
//! // Three programs for a question; the second does not run.
//! let candidates = Candidates { log_probabilities: &[-0.5, -1.2, -2.3], rewarded: &[true, false, true] };
//! let sparse = Objective::Sparse.credit(candidates).expect("something is rewarded");
//! assert_eq!(sparse.q, [1.0, 0.0, 0.0]);
//! ```

mod card;
mod channel;
mod checkpoint;
mod committee;
mod config;
mod constants;
mod coverage;
mod dataset;
mod evaluation;
mod experiment;
mod explore;
mod judge;
pub mod objectives;
mod run_folder;
pub mod sweep;
mod task;
mod trained;
mod trainer;
pub mod tuning;
mod world;

pub use card::binomial_interval;
pub use channel::{Channel, Explaining};
pub use checkpoint::CheckpointError;
pub use committee::member_seed;
pub use config::{
    Config, ConfigError, DataConfig, Dataset, EvalConfig, Fallback, HeldOut, LearnConfig, TrainConfig,
};
pub use constants::{LearnedConstant, learned_constants};
pub use coverage::{ConstantAccount, Coverage, CoverageError, Failure, Stage, Surveyor, VocabularyAccount};
pub use evaluation::{Evaluation, Prediction, Ranked, Ranker, evaluate};
pub use experiment::{Experiment, ExperimentError, Observer};
pub use explore::{GoldReport, UnlabeledReport};
pub use judge::{Judge, Reward};
pub use run_folder::{RunError, RunFolder};
pub use task::{LabeledExample, LeftOut, Task, TaskError, TestExample, UnlabeledExample};
pub use trained::TrainedRun;
pub use trainer::{StepReport, StepTiming, Trainer};
