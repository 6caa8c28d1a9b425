//! Calibration: how well the probability of an answer predicts whether it is correct.
//!
//! Confidence is what the run recorded for an answer or, if it recorded nothing, the probability of the candidate that was chosen. A parser is calibrated if, of the answers it gives
//! with confidence p, a share p is correct. The expected calibration error is the mean of |confidence − accuracy| over
//! bins of confidence, weighted by their answers. A parser that abstains below some confidence answers fewer questions
//! (coverage) with a higher accuracy.

use serde::{Deserialize, Serialize};

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

/// The confidence from which on a wrong answer misleads.
const SURE: f64 = 0.8;
/// The number of bins.
const BINS: usize = 10;
/// The most points of the curve over coverage.
const POINTS: usize = 100;

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
    /// Returns the calibration of answers with a confidence, each correct or not; nothing if there are none.
    pub fn measure(mut answers: Vec<(f64, bool)>) -> Option<Calibration> {
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

    /// Returns the accuracy if the parser answers only the questions on which it is most confident, a share `coverage` of
    /// all.
    pub fn accuracy_at(&self, coverage: f64) -> f64 {
        let reached = self.abstaining.iter().find(|(covered, _)| *covered >= coverage - 1e-9);
        reached.or(self.abstaining.last()).map_or(0.0, |(_, accuracy)| *accuracy)
    }
}

/// How well the confidence of answers tells right from wrong. Every figure but the threshold is a share, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceFigures {
    /// The expected calibration error.
    pub expected_error: f64,
    /// The share of questions that are answered wrongly with a confidence of at least 0.8.
    pub sure_and_wrong: f64,
    /// The confidence below which an answer is not sure.
    pub threshold: f64,
    /// The share of questions whose answer is sure.
    pub coverage: f64,
    /// The share of sure answers that are right.
    pub accuracy: f64,
}

impl ConfidenceFigures {
    /// Returns the figures of answers with a confidence, each correct or not; nothing if there are none.
    pub fn measure(answers: Vec<(f64, bool)>, threshold: f64) -> Option<Self> {
        let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
        let wrong = answers.iter().filter(|(confidence, right)| *confidence >= SURE && !right).count();
        let given = answers.iter().filter(|(confidence, _)| *confidence >= threshold);
        let (given, right) = (given.clone().count(), given.filter(|(_, right)| *right).count());
        let all = answers.len();
        let Calibration { expected_error, .. } = Calibration::measure(answers)?;
        let (sure_and_wrong, coverage, accuracy) =
            (share(wrong, all), share(given, all), share(right, given));
        Some(ConfidenceFigures { expected_error, sure_and_wrong, threshold, coverage, accuracy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_measured_above_the_threshold() {
        let answers = vec![(0.9, true), (0.85, false), (0.6, true), (0.2, false)];
        let figures = ConfidenceFigures::measure(answers, 0.5).unwrap();
        assert_eq!((figures.sure_and_wrong, figures.coverage, figures.accuracy), (0.25, 0.75, 2.0 / 3.0));
        assert_eq!(ConfidenceFigures::measure(vec![], 0.5), None);
    }

    #[test]
    fn the_figures_are_those_computed_by_hand() {
        let calibration =
            Calibration::measure(vec![(0.95, true), (0.95, false), (0.55, true), (0.05, false)]).unwrap();
        let bins: Vec<(f64, usize)> =
            calibration.bins.iter().map(|bin| (bin.accuracy, bin.answers)).collect();
        assert_eq!(bins, [(0.0, 1), (1.0, 1), (0.5, 2)]);
        // (1 × 0.05 + 1 × 0.45 + 2 × 0.45) / 4
        assert!((calibration.expected_error - 0.35).abs() < 1e-12);
        // The two most confident answers are equally confident: half correct, whichever comes first.
        assert_eq!(calibration.abstaining, [(0.25, 0.5), (0.5, 0.5), (0.75, 2.0 / 3.0), (1.0, 0.5)]);
        assert_eq!(calibration.accuracy_at(0.5), 0.5);
        assert_eq!(Calibration::measure(vec![]), None);
        assert_eq!(Calibration::measure(vec![(1.0, true); 300]).unwrap().expected_error, 0.0);
    }
}
