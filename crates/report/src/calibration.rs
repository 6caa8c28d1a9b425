//! Calibration: how well the probability of an answer predicts whether it is correct.
//!
//! Confidence is what the run recorded for an answer or, if it recorded nothing, the probability of the candidate that was chosen. A parser is calibrated if, of the answers it gives
//! with confidence p, a share p is correct. The expected calibration error is the mean of |confidence − accuracy| over
//! bins of confidence, weighted by their answers. A parser that abstains below some confidence answers fewer questions
//! (coverage) with a higher accuracy.

use crate::prediction::{chosen_candidate, probability};
use serde::Serialize;
use xpr_run::Prediction;

/// The calibration of answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// The number of answers.
    pub answers: usize,
    /// The bins of confidence that have answers; each is a tenth wide.
    pub bins: Vec<ConfidenceBin>,
    /// The expected calibration error.
    pub expected_error: f64,
    /// Points of coverage and the accuracy on it, from the most confident answers to all.
    pub abstaining: Vec<(f64, f64)>,
}

/// Answers with similar confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConfidenceBin {
    /// The mean confidence.
    pub confidence: f64,
    /// The share of correct answers.
    pub accuracy: f64,
    /// The number of answers.
    pub answers: usize,
}

/// The number of bins.
const BINS: usize = 10;
/// The most points of the curve over coverage.
const POINTS: usize = 100;

/// Returns the calibration of predictions, or nothing if there are none.
pub(crate) fn calibration<'a>(predictions: impl Iterator<Item = &'a Prediction>) -> Option<Calibration> {
    // Without a candidate, confidence is 0.
    let of_program = |prediction: &Prediction| chosen_candidate(prediction).map_or(0.0, probability);
    let answer = |prediction: &Prediction| {
        (prediction.confidence.unwrap_or_else(|| of_program(prediction)).clamp(0.0, 1.0), prediction.correct)
    };
    measure(predictions.map(answer).collect())
}

/// Returns the calibration of answers with a confidence, each correct or not.
fn measure(mut answers: Vec<(f64, bool)>) -> Option<Calibration> {
    if answers.is_empty() {
        return None;
    }
    let bins = bins(&answers);
    let expected_error =
        bins.iter().map(|bin| bin.answers as f64 * (bin.confidence - bin.accuracy).abs()).sum::<f64>()
            / answers.len() as f64;
    answers.sort_by(|left, right| right.0.total_cmp(&left.0));
    Some(Calibration { answers: answers.len(), bins, expected_error, abstaining: abstaining(&answers) })
}

fn bins(answers: &[(f64, bool)]) -> Vec<ConfidenceBin> {
    let mut sums = [(0.0, 0.0, 0usize); BINS];
    for &(confidence, correct) in answers {
        let bin = &mut sums[((confidence * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(correct)), bin.2 + 1);
    }
    let filled = sums.into_iter().filter(|(_, _, answers)| *answers > 0);
    filled
        .map(|(confidence, correct, answers)| ConfidenceBin {
            confidence: confidence / answers as f64,
            accuracy: correct / answers as f64,
            answers,
        })
        .collect()
}

/// Returns points of coverage and accuracy, for answers in descending order of confidence.
fn abstaining(answers: &[(f64, bool)]) -> Vec<(f64, f64)> {
    // Answers of equal confidence have no order, so each counts as their mean.
    let mut correct_up_to = vec![0.0];
    for equal in answers.chunk_by(|left, right| left.0 == right.0) {
        let share = equal.iter().filter(|(_, correct)| *correct).count() as f64 / equal.len() as f64;
        let before = correct_up_to[correct_up_to.len() - 1];
        correct_up_to.extend((1..=equal.len()).map(|count| before + share * count as f64));
    }
    let points = POINTS.min(answers.len());
    let point = |point: usize| {
        let answered = (point * answers.len()).div_ceil(points);
        (answered as f64 / answers.len() as f64, correct_up_to[answered] / answered as f64)
    };
    (1..=points).map(point).collect()
}

impl Calibration {
    /// Returns the accuracy if the parser answers only the questions on which it is most confident, a share `coverage` of
    /// all.
    pub fn accuracy_at(&self, coverage: f64) -> f64 {
        let reached = self.abstaining.iter().find(|(covered, _)| *covered >= coverage - 1e-9);
        reached.or(self.abstaining.last()).map_or(0.0, |(_, accuracy)| *accuracy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_computed_by_hand() {
        let calibration = measure(vec![(0.95, true), (0.95, false), (0.55, true), (0.05, false)]).unwrap();
        let bins: Vec<(f64, usize)> =
            calibration.bins.iter().map(|bin| (bin.accuracy, bin.answers)).collect();
        assert_eq!(bins, [(0.0, 1), (1.0, 1), (0.5, 2)]);
        // (1 × 0.05 + 1 × 0.45 + 2 × 0.45) / 4
        assert!((calibration.expected_error - 0.35).abs() < 1e-12);
        // The two most confident answers are equally confident: half correct, whichever comes first.
        assert_eq!(calibration.abstaining, [(0.25, 0.5), (0.5, 0.5), (0.75, 2.0 / 3.0), (1.0, 0.5)]);
        assert_eq!(calibration.accuracy_at(0.5), 0.5);
        assert_eq!(measure(vec![]), None);
        assert_eq!(measure(vec![(1.0, true); 300]).unwrap().expected_error, 0.0);
    }
}
