//! Training and evaluation.

mod evaluation;
mod task;
mod trainer;

pub use evaluation::{Evaluation, evaluate};
pub use task::{LabeledExample, Task, TaskError};
pub use trainer::{StepReport, TrainConfig, Trainer};
