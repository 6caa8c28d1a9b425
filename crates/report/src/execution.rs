//! What executing candidates decides.
//!
//! Execution says most about a question where the most probable program fails. A parser that learns from executions has fewer such
//! questions. One that answers with the best program that executes gains from them without any training.

use serde::Serialize;
use xpr_run::Prediction;

/// For how many questions executing the candidates decides something. All figures are shares of the questions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ExecutionShares {
    /// Questions whose first candidate fails, or that have no candidate.
    pub first_fails: f64,
    /// Questions whose first candidate is correct.
    pub first_correct: f64,
    /// Questions whose chosen candidate is correct: the accuracy.
    pub chosen_correct: f64,
    /// Questions that have a correct candidate.
    pub any_correct: f64,
}

impl ExecutionShares {
    /// Returns the effect on predictions, or nothing if there are none.
    pub(crate) fn of<'a>(predictions: impl Iterator<Item = &'a Prediction>) -> Option<Self> {
        let predictions: Vec<&Prediction> = predictions.collect();
        let share = |holds: fn(&Prediction) -> bool| {
            let count = predictions.iter().filter(|prediction| holds(prediction)).count();
            count as f64 / predictions.len() as f64
        };
        (!predictions.is_empty()).then(|| ExecutionShares {
            first_fails: share(|prediction| {
                prediction.candidates.first().is_none_or(|first| !first.outcome.executes())
            }),
            first_correct: share(|prediction| prediction.right_at == Some(0)),
            chosen_correct: share(|prediction| prediction.correct),
            any_correct: share(|prediction| prediction.right_at.is_some()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_over_all_questions() {
        let prediction = |outcomes: &[&str], right_at: Option<usize>, chosen: usize| -> Prediction {
            let candidate = |outcome: &&str| serde_json::json!({"program": "p", "log_probability": -1.0, "outcome": outcome});
            serde_json::from_value(serde_json::json!({
                "utterance": "u", "gold": "g", "gold_outcome": "value\t1", "correct": right_at == Some(chosen),
                "right_at": right_at, "chosen": chosen, "candidates": outcomes.iter().map(candidate).collect::<Vec<_>>()
            }))
            .unwrap()
        };
        let predictions = [
            prediction(&["value\t1", "value\t2"], Some(0), 0),
            prediction(&["error\tx", "value\t1"], Some(1), 1),
            prediction(&["value\t2", "value\t1"], Some(1), 0),
            prediction(&[], None, 0),
        ];
        let effect = ExecutionShares::of(predictions.iter()).unwrap();
        let expected =
            ExecutionShares { first_fails: 0.5, first_correct: 0.25, chosen_correct: 0.5, any_correct: 0.75 };
        assert_eq!(effect, expected);
        assert_eq!(ExecutionShares::of([].iter()), None);
    }
}
