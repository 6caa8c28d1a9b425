//! Training a parser from labeled and unlabeled questions, and asking it.
//!
//! ```text
//! labeled batch ─────────────────────────────┐
//! unlabeled batch ─► Teacher ─► Lessons ──────┤► weighted programs ─► gradient ─► optimiser
//! ```
//!
//! - [`objectives`]: the five objectives of the paper, one file each with its equation.
//! - [`reward`]: which programs count as a success.
//! - [`teacher`]: who says which programs an unlabeled question teaches: the parser's own search, or an ensemble.
//! - [`training`]: the [`Trainer`] and its step.
//! - [`task`]: a [`World`], its examples, and the words people use about it.
//! - [`synthesis`]: made-up questions with programs, for a database that nobody has asked about yet.
//! - [`inference`]: re-ranking, choosing an answer, evaluation.
//! - [`experiment`]: all of it in a run folder, sweeps, and runs that are opened again.
//!
//! The key decision is that **a step depends on its number only**: which examples it sees and which elements are dropped are functions
//! of seed and step. So an interrupted run resumes to the same bits, and the number of threads does not matter.
//!
//! Each module uses only those above it in this order: `objectives`, `task`, `synthesis`, `reward`, `teacher`, `training`, `inference`,
//! `experiment`. A test checks it.
//!
//! ```
//! use xpr_learn::objectives::{Candidates, Objective, Sparse};
//!
//! // Three programs for a question; the second does not run.
//! let candidates = Candidates { log_probabilities: &[-0.5, -1.2, -2.3], rewarded: &[true, false, true] };
//! let sparse = Sparse.credit(candidates).expect("a candidate is rewarded");
//! assert_eq!(sparse.q, [1.0, 0.0, 0.0]);
//! ```

pub mod experiment;
mod hyperparameters;
pub mod inference;
pub mod objectives;
pub mod reward;
pub mod synthesis;
pub mod task;
pub mod teacher;
pub mod training;

pub use experiment::{Experiment, ExperimentError, Observer, TrainedRun};
pub use task::{Task, World};
pub use teacher::Teacher;
pub use training::Trainer;
