//! What is recorded of a training step.

use serde::{Deserialize, Serialize};

/// How far the training of a run is: the content of `progress.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The parser that is being trained: the run's own, or a member of its ensemble such as `member 2 of 3`.
    pub parser: String,
    /// The number of steps taken.
    pub step: usize,
    /// The number of steps in all.
    pub steps: usize,
}

/// A line of `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The number of the step, from 1.
    pub step: usize,
    /// The mean negative log-probability of the labeled programs.
    pub loss: f64,
    /// The learning rate.
    pub rate: f64,
    /// The norm of the gradient before clipping; 0 where it is not clipped.
    pub gradient: f64,
    /// What was learned from unlabeled questions, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabeled: Option<UnlabeledReport>,
}

/// The diagnostics of a batch of unlabeled questions, as means over the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnlabeledReport {
    /// The loss of the objective.
    pub loss: f64,
    /// The share of candidates that are rewarded.
    pub rewarded: f64,
    /// The probability of all candidates together.
    pub mass: f64,
    /// The length of rewarded programs divided by the length of their questions, both as the paper counts them.
    pub length_ratio: f64,
    /// The total variation distance between the objective's posterior and that of top-k MML.
    pub gap: f64,
    /// Figures that need the labels of the questions, which training does not see.
    #[serde(flatten)]
    pub gold: Option<GoldReport>,
    /// The share of programs whose outcome was cached, if programs are run during training. It is not recorded, because it depends on where a run was
    /// interrupted and the metrics of a run do not.
    #[serde(skip)]
    pub cached: Option<f64>,
}

/// Where the right programs are, for questions whose label is known but not learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoldReport {
    /// The share of questions whose right program is among the rewarded candidates.
    pub coverage: f64,
    /// The mean rank of the right program, from 1, over the questions for which it is a candidate.
    pub gold_rank: f64,
}

/// Figures of the unlabeled questions of a run, which do not change during training: the content of `unlabeled.json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnlabeledQuestions {
    /// The number of questions.
    pub questions: usize,
    /// The number of questions whose right program is known. Training does not see it.
    pub with_program: usize,
    /// The gold ratio of the paper's section 5.3: the length of the right programs divided by that of their questions, both
    /// as the paper counts them. It is `null` if no right program is known.
    pub gold_ratio: Option<f64>,
}
