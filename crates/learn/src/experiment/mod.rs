//! A whole experiment: load the data, train, evaluate, and record all of it in a run folder.

mod base;
mod card;
pub mod comparison;
mod data_record;
mod error;
mod load;
mod members;
mod observer;
mod pretraining;
mod progress;
mod record;
mod run;
pub mod sweep;
mod trained;
mod training_loop;
pub mod tuning;
mod zero_shot;

pub use card::binomial_interval;
pub use data_record::DataComparison;
pub use error::ExperimentError;
pub use load::Experiment;
pub use members::member_seed;
pub use observer::Observer;
pub use pretraining::Pretraining;
pub use trained::TrainedRun;
pub use zero_shot::{DatabaseRecord, ZeroShotEvaluation};
