//! Whether a parser knows when it is wrong.
//!
//! Confidence is the probability of the candidate that was chosen. A parser is calibrated if, of the answers it gives
//! with confidence p, a share p is right. If it may abstain below some confidence, it answers fewer questions
//! (coverage) and is right more often.

use crate::run::Answer;
use serde::Serialize;

/// What confidence is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// How many answers.
    pub answers: usize,
    /// Tenths of confidence that have answers.
    pub bins: Vec<Bin>,
    /// The mean distance of confidence and accuracy, over bins by their answers.
    pub expected_error: f64,
    /// The share of questions answered, and how many of them rightly, from the surest answer on.
    pub abstaining: Vec<(f64, f64)>,
}

/// Answers of like confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Their mean confidence.
    pub confidence: f64,
    /// The share of them that is right.
    pub accuracy: f64,
    /// How many they are.
    pub answers: usize,
}

const BINS: usize = 10;
/// Points of the curve over coverage.
const POINTS: usize = 100;

/// Measures the calibration of answers; nothing if there are none.
pub fn calibration<'a>(answers: impl Iterator<Item = &'a Answer>) -> Option<Calibration> {
    // A question without any candidate is answered with no confidence at all.
    measure(answers.map(|a| (a.guess().map_or(0.0, |guess| guess.probability), a.correct)).collect())
}

fn measure(mut all: Vec<(f64, bool)>) -> Option<Calibration> {
    if all.is_empty() {
        return None;
    }
    let total = all.len() as f64;
    let mut sums = [(0.0, 0.0, 0usize); BINS];
    for &(confidence, correct) in &all {
        let bin = &mut sums[((confidence * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + confidence, bin.1 + f64::from(u8::from(correct)), bin.2 + 1);
    }
    let bins: Vec<Bin> = sums
        .into_iter()
        .filter(|(_, _, answers)| *answers > 0)
        .map(|(confidence, right, answers)| Bin {
            confidence: confidence / answers as f64,
            accuracy: right / answers as f64,
            answers,
        })
        .collect();
    let expected_error =
        bins.iter().map(|bin| bin.answers as f64 * (bin.confidence - bin.accuracy).abs()).sum::<f64>()
            / total;

    all.sort_by(|left, right| right.0.total_cmp(&left.0));
    // Answers of equal confidence come in no order: each counts as their mean.
    let mut right_up_to = vec![0.0];
    for alike in all.chunk_by(|left, right| left.0 == right.0) {
        let share = alike.iter().filter(|(_, correct)| *correct).count() as f64 / alike.len() as f64;
        let before = right_up_to[right_up_to.len() - 1];
        right_up_to.extend((1..=alike.len()).map(|count| before + share * count as f64));
    }
    let points = POINTS.min(all.len());
    let abstaining = (1..=points)
        .map(|point| {
            let answered = (point * all.len()).div_ceil(points);
            (answered as f64 / total, right_up_to[answered] / answered as f64)
        })
        .collect();
    Some(Calibration { answers: all.len(), bins, expected_error, abstaining })
}

impl Calibration {
    /// How many answers are right if the surest share of the questions is answered.
    pub fn accuracy_at(&self, coverage: f64) -> f64 {
        let reached = self.abstaining.iter().find(|(covered, _)| *covered >= coverage - 1e-9);
        reached.or(self.abstaining.last()).map_or(0.0, |(_, accuracy)| *accuracy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_computed_by_hand() {
        let all = vec![(0.95, true), (0.95, false), (0.55, true), (0.05, false)];
        let measured = measure(all).unwrap();
        let bins: Vec<(f64, usize)> = measured.bins.iter().map(|bin| (bin.accuracy, bin.answers)).collect();
        assert_eq!(bins, [(0.0, 1), (1.0, 1), (0.5, 2)]);
        // (1 × 0.05 + 1 × 0.45 + 2 × 0.45) / 4
        assert!((measured.expected_error - 0.35).abs() < 1e-12);
        // The two surest are alike: one half right, whichever comes first.
        assert_eq!(measured.abstaining, [(0.25, 0.5), (0.5, 0.5), (0.75, 2.0 / 3.0), (1.0, 0.5)]);
        assert_eq!(measured.accuracy_at(0.5), 0.5);
        assert_eq!(measure(vec![]), None);
        assert_eq!(measure(vec![(1.0, true); 300]).unwrap().expected_error, 0.0);
    }
}
