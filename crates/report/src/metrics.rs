//! The lines of `metrics.jsonl`.
//!
//! [`StepReport`](xpr_run::StepReport) is what today's version writes. The types here also read the lines of earlier
//! versions, which recorded less.

use serde::Deserialize;

/// A line of `metrics.jsonl`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct StepMetrics {
    /// The number of the step.
    pub(crate) step: u64,
    /// The loss on labeled examples.
    pub(crate) loss: f64,
    /// The diagnostics of unlabeled questions, if the step learned from any.
    pub(crate) unlabeled: Option<UnlabeledMetrics>,
}

/// The diagnostics of a batch of unlabeled questions.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UnlabeledMetrics {
    /// The loss of the objective.
    pub(crate) loss: Option<f64>,
    /// The share of candidates that are rewarded.
    pub(crate) rewarded: Option<f64>,
    /// The probability of all candidates together.
    pub(crate) mass: Option<f64>,
    /// The length of rewarded programs divided by the length of their questions.
    pub(crate) length_ratio: Option<f64>,
    /// The share of questions whose labeled program is among the rewarded candidates.
    pub(crate) coverage: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_run::{GoldReport, StepReport, UnlabeledReport};

    #[test]
    fn lines_of_this_and_of_earlier_versions_are_read() {
        let gold = Some(GoldReport { coverage: 0.5, gold_rank: 1.0 });
        let unlabeled = Some(UnlabeledReport { mass: 0.25, gold, ..UnlabeledReport::default() });
        let step = StepReport { step: 10, loss: 2.0, rate: 0.1, gradient: 1.0, unlabeled };
        let line = serde_json::to_string(&step).unwrap();
        let metrics: StepMetrics = serde_json::from_str(&line).unwrap();
        assert_eq!((metrics.step, metrics.loss), (10, 2.0));
        let unlabeled = metrics.unlabeled.unwrap();
        assert_eq!((unlabeled.mass, unlabeled.coverage), (Some(0.25), Some(0.5)));

        let earlier = r#"{"step": 10, "loss": 1, "unlabeled": {"rewarded": 0.5}}"#;
        let unlabeled = serde_json::from_str::<StepMetrics>(earlier).unwrap().unlabeled.unwrap();
        assert_eq!((unlabeled.rewarded, unlabeled.mass), (Some(0.5), None));
    }
}
