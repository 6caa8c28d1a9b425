//! The confidence of answers as a run estimates it.

use super::choose::Answer;
use super::confidence::ConfidenceModel;
use super::features::{AnswerFeatures, FeatureReader};
use super::ranked_beam::RankedBeam;
use super::scope::Scope;
use crate::hyperparameters::PENALTY_PRIOR;
use crate::task::Task;
use crate::teacher::NoisyChannel;
use serde::{Deserialize, Serialize};
use xpr_parser::{MentionPenalties, Question};
use xpr_run::EvalConfig;

/// What a run records to rank candidates and to estimate confidence: the content of `confidence.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceRecord {
    /// The fitted weights.
    pub model: ConfidenceModel,
    /// The words and questions that the parser was trained with.
    pub scope: Scope,
    /// What programs lose for values that they do not use and constants that nobody said.
    #[serde(default)]
    pub penalties: MentionPenalties,
}

impl ConfidenceRecord {
    /// Returns what is known from other databases, without words.
    pub fn of_other_databases() -> Self {
        let [unused_number, unused_text, unsaid] = PENALTY_PRIOR;
        let penalties = MentionPenalties { unused_number, unused_text, unsaid };
        ConfidenceRecord { penalties, ..ConfidenceRecord::default() }
    }

    /// Returns the penalties in search, unless the settings turn them off. Search compares the parser's own probabilities, which re-ranking
    /// flattens by a temperature before it adds the penalties.
    pub fn search_penalties(&self, config: &EvalConfig) -> Option<MentionPenalties> {
        let temperature = if config.noisy_channel > 0.0 { config.temperature as f32 } else { 1.0 };
        let MentionPenalties { unused_number, unused_text, unsaid } = self.penalties;
        config.penalties.then_some(MentionPenalties {
            unused_number: temperature * unused_number,
            unused_text: temperature * unused_text,
            unsaid: temperature * unsaid,
        })
    }
}

/// Estimates the confidence of answers.
#[derive(Debug)]
pub struct ConfidenceEstimator<'t> {
    reader: FeatureReader<'t>,
    model: &'t ConfidenceModel,
}

impl<'t> ConfidenceEstimator<'t> {
    /// Creates an estimator. `channel` is the noisy channel of the labels that the parser was trained on.
    pub fn new(task: &'t Task, record: &'t ConfidenceRecord, channel: NoisyChannel) -> Self {
        ConfidenceEstimator { reader: FeatureReader::new(task, &record.scope, channel), model: &record.model }
    }

    /// Returns the confidence below which an answer is not sure.
    pub fn threshold(&self) -> f64 {
        self.model.threshold
    }

    /// Returns the probability that an answer is right. It is 0 if there is no program, or the chosen one fails.
    pub fn confidence(&self, question: (&str, &Question), answer: &Answer, beam: &RankedBeam) -> f64 {
        let features = self.features(question, answer, beam);
        features.map_or(0.0, |features| self.model.probability(&features))
    }

    /// Returns the features of an answer, unless there is no program or the chosen one fails.
    pub fn features(
        &self,
        question: (&str, &Question),
        answer: &Answer,
        beam: &RankedBeam,
    ) -> Option<AnswerFeatures> {
        let program = &beam.candidates.get(answer.chosen)?.program;
        let executes = answer.candidates[answer.chosen].outcome.executes();
        executes.then(|| self.reader.features(question, answer, program, &beam.own))
    }
}
