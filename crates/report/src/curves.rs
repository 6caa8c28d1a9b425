//! Training curves with as many points as a figure needs.
//!
//! A batch is a dozen questions, and single steps are mostly noise. Length ratio and coverage are cumulative means, as in the
//! figures of the paper's section 5.3: the value at a step is the mean over all recorded steps up to it. The other curves are
//! means over a sliding window.

use crate::metrics::{StepMetrics, UnlabeledMetrics};
use crate::run::LoadedRun;
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of a step and a value.
pub type Curve = Vec<(f64, f64)>;

/// The curves of training, as means over the runs of a group.
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
    /// The length of rewarded programs divided by the length of their questions, as a cumulative mean.
    pub length_ratio: Curve,
    /// The share of questions whose labeled program is among the rewarded candidates, as a cumulative mean.
    pub coverage: Curve,
    /// The gold ratio: the length ratio of the labeled programs. It is known if the runs recorded it.
    pub gold_ratio: Option<f64>,
    /// The number of steps in a window of the other curves.
    pub window: u64,
}

/// The most points of a curve.
const POINTS: usize = 80;

/// Returns the curves of a group.
pub(crate) fn curves(runs: &[&LoadedRun]) -> TrainingCurves {
    let unlabeled = |value: fn(&UnlabeledMetrics) -> Option<f64>| {
        move |step: &StepMetrics| step.unlabeled.as_ref().and_then(value)
    };
    let (loss, window) = smoothed_curve(runs, |step| Some(step.loss));
    let of_unlabeled = [
        smoothed_curve(runs, unlabeled(|metrics| metrics.loss)),
        smoothed_curve(runs, unlabeled(|metrics| metrics.rewarded)),
        smoothed_curve(runs, unlabeled(|metrics| metrics.mass)),
    ];
    let window = of_unlabeled.iter().map(|(_, window)| *window).chain([window]).max().unwrap_or(0);
    let [unlabeled_loss, rewarded, mass] = of_unlabeled.map(|(curve, _)| curve);
    let gold_ratios: Vec<f64> = runs.iter().filter_map(|run| run.unlabeled?.gold_ratio).collect();
    TrainingCurves {
        loss,
        unlabeled_loss,
        rewarded,
        mass,
        length_ratio: cumulative_curve(runs, unlabeled(|metrics| metrics.length_ratio)),
        coverage: cumulative_curve(runs, unlabeled(|metrics| metrics.coverage)),
        gold_ratio: (!gold_ratios.is_empty())
            .then(|| gold_ratios.iter().sum::<f64>() / gold_ratios.len() as f64),
        window,
    }
}

/// Returns a value over the steps, as a mean over the runs that have it, smoothed; and the number of steps in a window.
fn smoothed_curve(runs: &[&LoadedRun], value: impl Fn(&StepMetrics) -> Option<f64>) -> (Curve, u64) {
    smoothed(&mean_over_runs(runs.iter().map(|run| recorded(run, &value))))
}

/// Returns a value over the steps, in each run as the mean over all steps so far, and as a mean over the runs.
fn cumulative_curve(runs: &[&LoadedRun], value: impl Fn(&StepMetrics) -> Option<f64>) -> Curve {
    thinned(&mean_over_runs(runs.iter().map(|run| cumulative(&recorded(run, &value)))))
}

/// Returns the steps of a run that have a value.
fn recorded(run: &LoadedRun, value: impl Fn(&StepMetrics) -> Option<f64>) -> Curve {
    let with_value = |step: &StepMetrics| Some((step.step as f64, value(step).filter(|v| v.is_finite())?));
    run.steps.iter().filter_map(with_value).collect()
}

/// Returns the mean of all values up to each point.
fn cumulative(points: &[(f64, f64)]) -> Curve {
    let mut sum = 0.0;
    let mean = |(index, (step, value)): (usize, &(f64, f64))| {
        sum += value;
        (*step, sum / (index + 1) as f64)
    };
    points.iter().enumerate().map(mean).collect()
}

/// Returns the mean over the curves that have a value at a step.
fn mean_over_runs(curves: impl Iterator<Item = Curve>) -> Curve {
    let mut by_step: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (step, value) in curves.flatten() {
        let sum = by_step.entry(step as u64).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    by_step.into_iter().map(|(step, (sum, count))| (step as f64, sum / count)).collect()
}

/// Returns the indices of at most [`POINTS`] points of a curve, with the first and the last.
fn kept(points: usize) -> impl Iterator<Item = usize> {
    let count = POINTS.min(points);
    (0..count).map(move |index| index * points.saturating_sub(1) / count.saturating_sub(1).max(1))
}

/// Returns at most [`POINTS`] of the points.
fn thinned(points: &[(f64, f64)]) -> Curve {
    kept(points.len()).map(|index| points[index]).collect()
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
    let curve = kept(points.len()).map(mean_around).collect();
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
    fn a_cumulative_mean_is_that_of_all_steps_so_far_and_runs_have_equal_weight() {
        let first = cumulative(&[(10.0, 1.0), (20.0, 2.0), (30.0, 6.0)]);
        assert_eq!(first, [(10.0, 1.0), (20.0, 1.5), (30.0, 3.0)]);
        // The second run has no value at step 10 and none at step 30.
        let second = cumulative(&[(20.0, 3.5)]);
        let mean = mean_over_runs([first, second].into_iter());
        assert_eq!(mean, [(10.0, 1.0), (20.0, 2.5), (30.0, 3.0)]);
        let long: Curve = (0..1000).map(|index| (f64::from(index), 1.0)).collect();
        let thin = thinned(&long);
        assert_eq!((thin.len(), thin[0], thin[POINTS - 1]), (POINTS, long[0], long[999]));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(smoothed(&[]), (vec![], 0));
        assert_eq!(smoothed(&[(10.0, 3.0)]), (vec![(10.0, 3.0)], 10));
        assert_eq!(smoothed(&[(10.0, 3.0), (20.0, 4.0)]).0, [(10.0, 3.0), (20.0, 4.0)]);
    }
}
