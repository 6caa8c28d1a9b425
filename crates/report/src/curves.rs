//! Training curves with as many points as a figure needs. They are smoothed, because a batch is a dozen questions and single
//! steps are mostly noise.

use crate::metrics::{StepMetrics, UnlabeledMetrics};
use crate::run::LoadedRun;
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of a step and a value.
pub type Curve = Vec<(f64, f64)>;

/// The curves of training: means over the runs of a group and over windows of steps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrainingCurves {
    /// The loss on labeled examples.
    pub loss: Curve,
    /// The loss of the objective on unlabeled questions.
    pub unlabeled_loss: Curve,
    /// The share of candidates that are rewarded.
    pub rewarded: Curve,
    /// The probability of all candidates together.
    pub mass: Curve,
    /// The length of rewarded programs divided by the length of their questions.
    pub length_ratio: Curve,
    /// The share of questions whose labeled program is among the rewarded candidates.
    pub coverage: Curve,
    /// The number of steps in a window.
    pub window: u64,
}

/// The most points of a curve.
const POINTS: usize = 80;

/// Returns the curves of a group.
pub(crate) fn curves(runs: &[&LoadedRun]) -> TrainingCurves {
    let unlabeled = |value: fn(&UnlabeledMetrics) -> Option<f64>| {
        curve(runs, move |step: &StepMetrics| step.unlabeled.as_ref().and_then(value))
    };
    let (loss, window) = curve(runs, |step| Some(step.loss));
    let of_unlabeled = [
        unlabeled(|metrics| metrics.loss),
        unlabeled(|metrics| metrics.rewarded),
        unlabeled(|metrics| metrics.mass),
        unlabeled(|metrics| metrics.length_ratio),
        unlabeled(|metrics| metrics.coverage),
    ];
    let window = of_unlabeled.iter().map(|(_, window)| *window).chain([window]).max().unwrap_or(0);
    let [unlabeled_loss, rewarded, mass, length_ratio, coverage] = of_unlabeled.map(|(curve, _)| curve);
    TrainingCurves { loss, unlabeled_loss, rewarded, mass, length_ratio, coverage, window }
}

/// Returns a value over the steps, as a mean over the runs that have it, smoothed; and the number of steps in a window.
fn curve(runs: &[&LoadedRun], value: impl Fn(&StepMetrics) -> Option<f64>) -> (Curve, u64) {
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

/// Returns at most [`POINTS`] means over a sliding window, and the number of steps in a window. The window holds a tenth of
/// the points; at the ends it is cut off.
fn smoothed(points: &[(f64, f64)]) -> (Curve, u64) {
    let Some(last) = points.len().checked_sub(1) else { return (vec![], 0) };
    let half = points.len() / 20;
    let mean_around = |index: usize| {
        let window = &points[index.saturating_sub(half)..=(index + half).min(last)];
        let sum: f64 = window.iter().map(|point| point.1).sum();
        (points[index].0, sum / window.len() as f64)
    };
    let count = POINTS.min(points.len());
    let curve = (0..count).map(|index| mean_around(index * last / (count - 1).max(1))).collect();
    let step = if last == 0 { points[0].0 } else { (points[last].0 - points[0].0) / last as f64 };
    (curve, (step * (2 * half + 1) as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_removes_noise_and_keeps_a_line() {
        let noisy = |index: usize| index as f64 + if index.is_multiple_of(2) { 5.0 } else { -5.0 };
        let points: Vec<(f64, f64)> = (0..=400).map(|index| (10.0 * index as f64, noisy(index))).collect();
        let (curve, window) = smoothed(&points);
        assert_eq!((curve.len(), window), (POINTS, 410));
        assert_eq!((curve[0].0, curve[POINTS - 1].0), (0.0, 4000.0));
        for (step, value) in &curve[4..POINTS - 4] {
            assert!((value - step / 10.0).abs() < 0.5, "{step} {value}");
        }
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(smoothed(&[]), (vec![], 0));
        assert_eq!(smoothed(&[(10.0, 3.0)]), (vec![(10.0, 3.0)], 10));
        assert_eq!(smoothed(&[(10.0, 3.0), (20.0, 4.0)]).0, [(10.0, 3.0), (20.0, 4.0)]);
    }
}
