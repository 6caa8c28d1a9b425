//! Training: batches, the joint step of Eq. 1, checkpoints.

mod batches;
pub(crate) mod checkpoint;
mod random_streams;
mod schedule;
mod step_report;
mod trainer;

pub use checkpoint::CheckpointError;
pub(crate) use random_streams::RandomStream;
pub use step_report::StepTiming;
pub use trainer::Trainer;
