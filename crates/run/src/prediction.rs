//! What a parser predicted, and how often that is right.

use crate::calibration::ConfidenceFigures;
use serde::{Deserialize, Serialize};
use xpr_lang::Outcome;

/// How often a parser is right: the content of `evaluation.json`. Every figure but the first two is a share of `examples`, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The number of questions whose right answer is known.
    pub examples: usize,
    /// The number of questions that are left out because their labeled program fails.
    #[serde(default)]
    pub failed_labels: usize,
    /// The chosen candidate has the right denotation.
    pub accuracy: f64,
    /// The most probable candidate has the right denotation, whether it was chosen or not.
    pub accuracy_of_best: f64,
    /// The chosen candidate is the labeled program.
    pub exact: f64,
    /// Some candidate has the right denotation.
    pub in_beam: f64,
    /// The most probable candidate executes.
    pub executable: f64,
    /// How well the confidence of answers tells right from wrong, if the run estimates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<ConfidenceFigures>,
}

/// What a parser predicted for a question: a line of `predictions.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The question.
    pub utterance: String,
    /// The labeled program.
    pub gold: String,
    /// The labeled program as the grammar writes it, if it can; candidates are written so.
    #[serde(default)]
    pub gold_written: Option<String>,
    /// The outcome of the labeled program.
    pub gold_outcome: Outcome,
    /// Whether the chosen candidate has the right denotation.
    pub correct: bool,
    /// The first candidate with the right denotation, chosen or not.
    #[serde(default)]
    pub right_at: Option<usize>,
    /// The index of the chosen candidate.
    pub chosen: usize,
    /// The confidence in the answer, if it is not that of the chosen program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// All candidates, the most probable first.
    pub candidates: Vec<ExecutedCandidate>,
}

/// A candidate and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutedCandidate {
    /// The text of the program.
    pub program: String,
    /// Its log-probability.
    pub log_probability: f32,
    /// Its outcome.
    pub outcome: Outcome,
}
