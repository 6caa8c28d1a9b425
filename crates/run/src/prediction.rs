//! What a parser predicted, and how often that is right.

use crate::calibration::ConfidenceFigures;
use crate::folder::{RunError, RunFile, RunFolder};
use crate::manifest::Manifest;
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

impl Evaluation {
    /// Reads the evaluation of a finished run.
    ///
    /// # Errors
    /// If the file cannot be read, is not the one that the manifest of the run lists, or cannot be right.
    pub fn read(folder: &RunFolder) -> Result<Self, RunError> {
        let file = RunFile::Evaluation;
        let evaluation: Evaluation = folder.read_checked_json(file, Manifest::read(folder)?.as_ref())?;
        match evaluation.has_possible_shares() {
            true => Ok(evaluation),
            false => Err(folder.content_error(
                file,
                "it has a share that is not from 0 to 1; restore it, or evaluate again",
            )),
        }
    }

    /// Returns whether the shares can be such: numbers from 0 to 1.
    pub fn has_possible_shares(&self) -> bool {
        let Evaluation { accuracy, accuracy_of_best, exact, in_beam, executable, .. } = self;
        [accuracy, accuracy_of_best, exact, in_beam, executable]
            .into_iter()
            .all(|share| (0.0..=1.0).contains(share))
    }
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
