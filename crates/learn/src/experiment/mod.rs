//! A whole experiment: load the data, train, evaluate, and record all of it in a run folder.

mod answering;
mod asked;
mod base;
mod card;
pub mod comparison;
mod confidence;
mod data_record;
mod error;
mod load;
mod members;
mod observer;
mod packed_base;
mod pretraining;
mod progress;
mod question_uses;
mod record;
mod run;
pub mod sweep;
mod teaching;
mod trained;
mod training_loop;
pub mod tuning;
mod zero_shot;

pub use answering::{Alternative, AnsweredQuestion, Declined, QuestionAnswerer, json_cell, rows_of};
pub use card::binomial_interval;
pub use confidence::PlannedSteps;
pub use data_record::DataComparison;
pub use error::ExperimentError;
pub use load::Experiment;
pub use members::member_seed;
pub use observer::Observer;
pub use packed_base::PackedBase;
pub use pretraining::Pretraining;
pub use teaching::{ChangedAnswer, Taught};
pub use trained::{LabeledQuestions, RunEvaluation, TrainedRun};
pub use zero_shot::{DatabaseRecord, ZeroShotEvaluation};
