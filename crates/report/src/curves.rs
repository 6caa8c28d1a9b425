//! How training went, in as few points as a figure needs. A batch is a dozen questions, so single steps are mostly noise.

use crate::run::{Run, Step, Unlabeled};
use serde::Serialize;
use std::collections::BTreeMap;

/// A value over steps.
pub type Curve = Vec<(f64, f64)>;

/// What is followed in training: means over the runs of a group, and over windows of steps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curves {
    /// The loss of labeled examples.
    pub loss: Curve,
    /// The objective's loss of unlabeled questions.
    pub unlabeled_loss: Curve,
    /// The share of candidates that are rewarded.
    pub rewarded: Curve,
    /// The probability of all candidates together.
    pub mass: Curve,
    /// The length of rewarded programs over that of their questions.
    pub length_ratio: Curve,
    /// The share of questions whose right program is among the rewarded candidates.
    pub coverage: Curve,
    /// How many steps a point is the mean of.
    pub window: u64,
}

/// The most points of a curve.
const POINTS: usize = 80;

pub(crate) fn curves(runs: &[&Run]) -> Curves {
    let unlabeled = |value: fn(&Unlabeled) -> Option<f64>| {
        curve(runs, move |step: &Step| step.unlabeled.as_ref().and_then(value))
    };
    let (loss, window) = curve(runs, |step| Some(step.loss));
    let followed = [
        unlabeled(|found| found.loss),
        unlabeled(|found| found.rewarded),
        unlabeled(|found| found.mass),
        unlabeled(|found| found.length_ratio),
        unlabeled(|found| found.coverage),
    ];
    let window = followed.iter().map(|(_, window)| *window).chain([window]).max().unwrap_or(0);
    let [unlabeled_loss, rewarded, mass, length_ratio, coverage] = followed.map(|(curve, _)| curve);
    Curves { loss, unlabeled_loss, rewarded, mass, length_ratio, coverage, window }
}

/// The mean over runs at each step, and the means of windows of such steps.
fn curve(runs: &[&Run], value: impl Fn(&Step) -> Option<f64>) -> (Curve, u64) {
    let mut by_step: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for step in runs.iter().flat_map(|run| &run.steps) {
        if let Some(value) = value(step).filter(|value| value.is_finite()) {
            let sum = by_step.entry(step.step).or_default();
            *sum = (sum.0 + value, sum.1 + 1.0);
        }
    }
    let points: Vec<(f64, f64)> =
        by_step.into_iter().map(|(step, (sum, count))| (step as f64, sum / count)).collect();
    smoothed(&points)
}

/// Means over a window that slides along, a tenth of the points wide; at the ends, as much of it as there is.
fn smoothed(points: &[(f64, f64)]) -> (Curve, u64) {
    let Some(last) = points.len().checked_sub(1) else { return (vec![], 0) };
    let half = points.len() / 20;
    let shown = POINTS.min(points.len());
    let window = |index: usize| {
        let around = &points[index.saturating_sub(half)..=(index + half).min(last)];
        let sum: f64 = around.iter().map(|point| point.1).sum();
        (points[index].0, sum / around.len() as f64)
    };
    let curve = (0..shown).map(|place| window(place * last / (shown - 1).max(1))).collect();
    let step = if last == 0 { points[0].0 } else { (points[last].0 - points[0].0) / last as f64 };
    (curve, (step * (2 * half + 1) as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_means() {
        // Noise around a straight line goes away, the line stays.
        let noisy = |index: usize| index as f64 + if index.is_multiple_of(2) { 5.0 } else { -5.0 };
        let points: Vec<(f64, f64)> = (0..=400).map(|index| (10.0 * index as f64, noisy(index))).collect();
        let (curve, window) = smoothed(&points);
        assert_eq!((curve.len(), window), (POINTS, 410));
        assert_eq!((curve[0].0, curve[POINTS - 1].0), (0.0, 4000.0));
        for (step, value) in &curve[4..POINTS - 4] {
            assert!((value - step / 10.0).abs() < 0.5, "{step} {value}");
        }
        assert_eq!(smoothed(&[]), (vec![], 0));
        assert_eq!(smoothed(&[(10.0, 3.0)]), (vec![(10.0, 3.0)], 10));
        assert_eq!(smoothed(&[(10.0, 3.0), (20.0, 4.0)]).0, [(10.0, 3.0), (20.0, 4.0)]);
    }
}
