//! Predictions as a report uses them: every line of `predictions.jsonl`, completed and shortened.

use xpr_run::{ExecutedCandidate, Outcome, Prediction};

/// The most characters of an outcome's text that a report keeps: lists can be long, and a report holds thousands of them.
const LONGEST_TEXT: usize = 240;

/// Completes a prediction of an earlier version and shortens its outcomes.
pub(crate) fn prepare(mut prediction: Prediction) -> Prediction {
    prediction.right_at = prediction.right_at.or_else(|| infer_right_at(&prediction));
    shorten(&mut prediction.gold_outcome);
    for candidate in &mut prediction.candidates {
        shorten(&mut candidate.outcome);
    }
    prediction
}

/// Returns the first correct candidate of a prediction that does not name it: earlier versions did not record it. Outcomes
/// that print the same are taken as equal.
fn infer_right_at(prediction: &Prediction) -> Option<usize> {
    let gold = &prediction.gold_outcome;
    let equal = prediction.candidates.iter().position(|candidate| candidate.outcome == *gold);
    equal.filter(|_| gold.executes()).or(prediction.correct.then_some(prediction.chosen))
}

fn shorten(outcome: &mut Outcome) {
    match outcome {
        Outcome::Empty => {}
        Outcome::Value(text)
        | Outcome::TypeError(text)
        | Outcome::RuntimeError(text)
        | Outcome::Timeout(text) => {
            if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
                text.truncate(end);
                text.push_str(" …");
            }
        }
    }
}

/// Returns the candidate that was chosen, if there is any candidate.
pub(crate) fn chosen_candidate(prediction: &Prediction) -> Option<&ExecutedCandidate> {
    prediction.candidates.get(prediction.chosen)
}

/// Returns the labeled program as the grammar writes it, or as it was labeled if the grammar cannot write it.
pub(crate) fn gold_program(prediction: &Prediction) -> &str {
    prediction.gold_written.as_deref().unwrap_or(&prediction.gold)
}

/// Returns the probability of a candidate.
pub(crate) fn probability(candidate: &ExecutedCandidate) -> f64 {
    f64::from(candidate.log_probability).exp().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prediction without `right_at`, as earlier versions wrote it.
    fn earlier_prediction(correct: bool, gold: &str, outcomes: [&str; 2]) -> Prediction {
        let candidate =
            |outcome| serde_json::json!({"program": "p", "log_probability": -0.7, "outcome": outcome});
        let line = serde_json::json!({
            "utterance": "u", "gold": "g", "gold_outcome": gold, "correct": correct, "chosen": 0,
            "candidates": outcomes.map(candidate)
        });
        prepare(serde_json::from_value(line).unwrap())
    }

    #[test]
    fn the_first_correct_candidate_is_inferred_if_it_is_not_recorded() {
        for (correct, gold, outcomes, expected) in [
            (false, "value\t1", ["value\t2", "value\t1"], Some(1)),
            (false, "value\t1", ["value\t2", "value\t3"], None),
            // Two equal errors are not a correct answer.
            (false, "error\tx", ["error\tx", "error\tx"], None),
            // The same rows in another order.
            (true, "value\t(1) (2)", ["value\t(2) (1)", "value\t3"], Some(0)),
        ] {
            let prediction = earlier_prediction(correct, gold, outcomes);
            assert_eq!(prediction.right_at, expected, "{gold} {outcomes:?}");
        }
    }

    #[test]
    fn long_outcomes_are_shortened_after_they_are_compared() {
        let start = "é".repeat(LONGEST_TEXT);
        let [gold, other] = ["a", "b"].map(|end| format!("value\t{start}{end}"));
        let prediction = earlier_prediction(false, &gold, [&other, &gold]);
        assert_eq!(prediction.right_at, Some(1));
        let expected = Outcome::Value(format!("{start} …"));
        assert_eq!((&prediction.gold_outcome, &prediction.candidates[0].outcome), (&expected, &expected));
    }
}
