//! Teachers: who says which programs an unlabeled question teaches.
//!
//! ```text
//! unlabeled batch ─► Teacher ─► lessons: programs with their weights in the loss
//!                    ├ OwnSearch   the paper: the parser's own beam, executed, and credited by the objective
//!                    ├ Ensemble    parsers trained on the labels: mixed, re-ranked, executed, and credited once
//!                    └ InSequence  one teacher until a step, then another
//! ```
//!
//! A trainer adds the lessons of a [`Teacher`] to the labeled programs and knows no more about them. Another source of
//! supervision, such as answers that people confirmed, is another implementation.

mod diagnostics;
mod ensemble;
pub(crate) mod exchange;
mod in_sequence;
pub(crate) mod mixture;
pub(crate) mod noisy_channel;
mod own_search;
mod paraphrases;
mod student;

pub use diagnostics::LessonDiagnostics;
pub(crate) use diagnostics::unlabeled_questions;
pub use ensemble::Ensemble;
pub use in_sequence::InSequence;
pub(crate) use noisy_channel::ChannelLearner;
pub use noisy_channel::NoisyChannel;
pub use own_search::{EStep, OwnSearch};
pub use paraphrases::Paraphrases;
pub use student::Student;

use crate::hyperparameters::NEGLIGIBLE_CREDIT;
use crate::task::{TaskError, UnlabeledExample};
use std::fmt;
use std::time::Duration;
use xpr_lang::Program;
use xpr_parser::Candidate;

/// What a teacher says about an unlabeled question.
#[derive(Clone, Debug, Default)]
pub struct Lesson {
    /// Programs, and for each the derivative of the question's loss by the program's log-probability: below zero for a program
    /// to learn, above zero for one to unlearn.
    pub programs: Vec<(Program, f64)>,
    /// The loss of the objective, if the candidates are the student's own. Otherwise the loss is the cross-entropy between the
    /// lesson and the student, which the trainer computes.
    pub loss: Option<f64>,
    /// Figures for the report of the step.
    pub diagnostics: LessonDiagnostics,
    /// The time it took to run programs during this step.
    pub execution: Duration,
}

/// A source of supervision for unlabeled questions.
pub trait Teacher: fmt::Debug {
    /// Returns the number of steps on the labels only before the first lessons.
    fn start(&self) -> usize {
        0
    }

    /// Returns the weight of the unlabeled loss at a step: λ of Eq. 1.
    fn weight(&self, step: usize) -> f64;

    /// Returns a lesson for each question of a batch. Each question comes with its index among all unlabeled questions; the
    /// student can search programs for the batch.
    fn lessons(&mut self, batch: &[(usize, &UnlabeledExample)], student: &mut Student<'_>) -> Vec<Lesson>;

    /// Returns the share of programs whose outcome was cached, if the teacher runs programs.
    fn cache_hit_rate(&self) -> Option<f64> {
        None
    }

    /// Checks that the data are still there by which programs are judged. Lessons since they went away are worth nothing.
    ///
    /// # Errors
    /// If another program changed them, or they can no longer be reached.
    fn check_data(&self) -> Result<(), TaskError> {
        Ok(())
    }
}

/// Pairs candidates with their weights, and drops those whose weight is negligible.
fn with_weights(candidates: Vec<Candidate>, weights: &[f64]) -> Vec<(Program, f64)> {
    let programs = candidates.into_iter().map(|candidate| candidate.program);
    programs.zip(weights.iter().copied()).filter(|(_, weight)| weight.abs() >= NEGLIGIBLE_CREDIT).collect()
}
