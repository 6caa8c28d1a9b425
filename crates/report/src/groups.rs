//! Runs that differ only in split, fold and seed, taken together.

use crate::bootstrap::{self, Interval};
use crate::calibration::{Calibration, calibration};
use crate::curves::{TrainingCurves, curves};
use crate::errors::{ErrorAnalysis, analyse};
use crate::run::LoadedRun;
use crate::settings::{Conditions, differing, short_key};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use xpr_run::Prediction;

/// Runs that differ only in split, fold and seed.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The domain or the database.
    pub topic: String,
    /// Whether it is a domain of Overnight.
    pub is_overnight: bool,
    /// The share of the training examples that are labeled.
    pub fraction: f64,
    /// The number of held-out training examples the runs were evaluated on; 0 for the test examples.
    pub held_out: u64,
    /// The objective; `none` for labels only.
    pub objective: String,
    /// The other settings in which runs of this report differ, as keys and values.
    pub settings: Vec<(String, String)>,
    /// The names of the runs.
    pub runs: Vec<String>,
    /// The number of questions each run was evaluated on.
    pub questions: usize,
    /// The accuracy.
    pub accuracy: MeanAccuracy,
    /// The gain over training on the labels only.
    pub over_labels_only: Option<Gain>,
    /// How well the probability of an answer predicts whether it is correct.
    pub calibration: Option<Calibration>,
    /// The curves of training.
    pub curves: TrainingCurves,
    /// The analysis of errors.
    pub errors: Option<ErrorAnalysis>,
    /// The differences to labels only, question by question, in percentage points.
    #[serde(skip)]
    pub(crate) differences: Vec<f64>,
}

/// The mean accuracy over runs, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanAccuracy {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation, if there are several runs.
    pub deviation: Option<f64>,
    /// The number of runs.
    pub runs: usize,
}

/// The gain of a group over training on the labels only, in percentage points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The difference and its 95 % confidence interval, paired by question.
    #[serde(flatten)]
    pub interval: Interval,
    /// The number of questions that both were asked.
    pub questions: usize,
    /// The number of runs of each side that were compared: those with equal split and seed, if there are any.
    pub runs: (usize, usize),
    /// Whether the two sides also differ in settings other than the objective.
    pub other_settings: bool,
}

impl MeanAccuracy {
    /// Returns the mean of accuracies, which are shares from 0 to 1.
    pub(crate) fn of(shares: &[f64]) -> MeanAccuracy {
        let runs = shares.len();
        let mean = shares.iter().sum::<f64>() / runs.max(1) as f64;
        let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
        let deviation = (runs > 1).then(|| 100.0 * (squares / (runs - 1) as f64).sqrt());
        MeanAccuracy { mean: 100.0 * mean, deviation, runs }
    }
}

impl Group {
    /// Returns the name of the objective, or `labels only`.
    pub fn method(&self) -> &str {
        if self.objective == "none" { "labels only" } else { &self.objective }
    }

    /// Returns the settings that tell the group apart, such as `weight=0.1`; empty if none does.
    pub fn variant(&self) -> String {
        let settings = self.settings.iter().map(|(key, value)| format!("{}={value}", short_key(key)));
        settings.collect::<Vec<_>>().join(" ")
    }

    /// Returns the labeled share of the training examples as text.
    pub fn labels(&self) -> String {
        format!("{} %", (1e4 * self.fraction).round() / 100.0)
    }

    /// Returns whether two groups have the same data, share of labels and evaluation examples.
    pub fn is_comparable_with(&self, other: &Group) -> bool {
        (&self.topic, self.is_overnight, self.held_out) == (&other.topic, other.is_overnight, other.held_out)
            && self.fraction == other.fraction
    }
}

/// The number of wrong answers listed in a whole report, unless the caller chooses another.
const MOST_ERRORS: usize = 1000;

/// Groups the evaluated runs and analyses each group.
pub(crate) fn groups(runs: &[LoadedRun], most_errors: Option<usize>) -> Vec<Group> {
    let evaluated: Vec<&LoadedRun> = runs.iter().filter(|run| run.evaluation.is_some()).collect();
    let keys = differing(evaluated.iter().map(|run| &run.settings));
    let mut grouped: Vec<(GroupKey, Vec<&LoadedRun>)> = Vec::new();
    for run in evaluated {
        let key = GroupKey::of(run, &keys);
        match grouped.iter_mut().find(|(other, _)| *other == key) {
            Some((_, runs)) => runs.push(run),
            None => grouped.push((key, vec![run])),
        }
    }
    grouped.sort_by(|(left, _), (right, _)| left.order(right));
    let most_errors = most_errors.unwrap_or_else(|| (MOST_ERRORS / grouped.len().max(1)).max(10));
    let group = |(key, runs): &(GroupKey, Vec<&LoadedRun>)| {
        let (over_labels_only, differences) = match labels_only(key, &grouped) {
            Some((baseline, other_settings)) => compare(runs, baseline, other_settings),
            None => (None, vec![]),
        };
        let shares: Vec<f64> =
            runs.iter().filter_map(|run| run.evaluation).map(|evaluation| evaluation.accuracy).collect();
        Group {
            topic: key.conditions.name.clone(),
            is_overnight: key.conditions.is_overnight,
            fraction: key.conditions.fraction,
            held_out: key.conditions.held_out,
            objective: key.objective.clone(),
            settings: key.variant.clone(),
            runs: runs.iter().map(|run| run.name.clone()).collect(),
            questions: runs.first().and_then(|run| run.evaluation).map_or(0, |first| first.examples),
            accuracy: MeanAccuracy::of(&shares),
            over_labels_only,
            calibration: calibration(runs.iter().flat_map(|run| &run.predictions)),
            curves: curves(runs),
            errors: analyse(runs, most_errors),
            differences,
        }
    };
    grouped.iter().map(group).collect()
}

/// What the runs of a group have in common.
#[derive(Clone, Debug, PartialEq)]
struct GroupKey {
    conditions: Conditions,
    objective: String,
    variant: Vec<(String, String)>,
}

/// Objectives in the order of the paper's tables.
const OBJECTIVES: [&str; 7] =
    ["none", "self-training", "top-k", "repulsion", "gentle", "sparse", "reinforce"];

/// Returns the position of an objective in tables, which is also the number of its colour in figures.
pub(crate) fn objective_rank(objective: &str) -> usize {
    OBJECTIVES.iter().position(|known| *known == objective).unwrap_or(OBJECTIVES.len())
}

impl GroupKey {
    fn of(run: &LoadedRun, keys: &BTreeSet<String>) -> GroupKey {
        GroupKey {
            conditions: run.settings.conditions(),
            objective: run.settings.objective().to_owned(),
            variant: run.settings.variant(keys),
        }
    }

    /// Orders groups: test results before held-out ones, Overnight before databases, few labels before many, then the
    /// objectives as in the paper.
    fn order(&self, other: &GroupKey) -> Ordering {
        let rank = |key: &GroupKey| {
            (key.conditions.held_out > 0, !key.conditions.is_overnight, key.conditions.name.clone())
        };
        rank(self)
            .cmp(&rank(other))
            .then(self.conditions.fraction.total_cmp(&other.conditions.fraction))
            .then(self.conditions.held_out.cmp(&other.conditions.held_out))
            .then(objective_rank(&self.objective).cmp(&objective_rank(&other.objective)))
            .then_with(|| self.variant.cmp(&other.variant))
    }

    /// Returns the settings that also matter when training on the labels only.
    fn supervised_variant(&self) -> Vec<&(String, String)> {
        self.variant.iter().filter(|(key, _)| !key.starts_with("learn.")).collect()
    }
}

/// Returns the runs on labels only that a group is compared with, and whether they differ from it in other settings too.
/// These are the runs that differ only in the objective. If there are none, they are the only other group on labels only
/// under the same conditions.
fn labels_only<'a>(
    key: &GroupKey,
    grouped: &'a [(GroupKey, Vec<&'a LoadedRun>)],
) -> Option<(&'a [&'a LoadedRun], bool)> {
    if key.objective == "none" {
        return None;
    }
    let baselines: Vec<_> = grouped
        .iter()
        .filter(|(other, _)| other.objective == "none" && other.conditions == key.conditions)
        .collect();
    let same = baselines.iter().find(|(other, _)| other.supervised_variant() == key.supervised_variant());
    match (same, baselines.as_slice()) {
        (Some((_, runs)), _) => Some((runs, false)),
        (None, [(_, runs)]) => Some((runs, true)),
        _ => None,
    }
}

/// Compares runs with those of a baseline, question by question. Each run is compared with those of its split and seed, or
/// with all if no pair has the same. Also returns the differences.
fn compare(runs: &[&LoadedRun], baseline: &[&LoadedRun], other_settings: bool) -> (Option<Gain>, Vec<f64>) {
    let pairs = pair_up(runs, baseline);
    let mut sums: BTreeMap<QuestionId<'_>, (f64, f64)> = BTreeMap::new();
    for (run, base) in &pairs {
        let correct_in_base: BTreeMap<QuestionId<'_>, bool> = identified(&baseline[*base].predictions)
            .map(|(question, prediction)| (question, prediction.correct))
            .collect();
        for (question, prediction) in identified(&runs[*run].predictions) {
            if let Some(correct_in_base) = correct_in_base.get(&question) {
                let difference = f64::from(i8::from(prediction.correct) - i8::from(*correct_in_base));
                let sum = sums.entry(question).or_default();
                *sum = (sum.0 + difference, sum.1 + 1.0);
            }
        }
    }
    let differences: Vec<f64> = sums.into_values().map(|(sum, count)| 100.0 * sum / count).collect();
    // Parsers that were mostly asked different questions cannot be compared.
    let asked = runs.iter().map(|run| run.predictions.len()).max().unwrap_or(0);
    if 2 * differences.len() < asked {
        return (None, vec![]);
    }
    let count = |side: fn(&(usize, usize)) -> usize| pairs.iter().map(side).collect::<BTreeSet<_>>().len();
    let compared = (count(|pair| pair.0), count(|pair| pair.1));
    let gain = bootstrap::paired(std::slice::from_ref(&differences)).map(|interval| Gain {
        interval,
        questions: differences.len(),
        runs: compared,
        other_settings,
    });
    (gain, differences)
}

/// Returns the pairs of a run and a run of the baseline that are compared, as their indices.
fn pair_up(runs: &[&LoadedRun], baseline: &[&LoadedRun]) -> Vec<(usize, usize)> {
    let with_predictions = |runs: &[&LoadedRun]| -> Vec<((u64, u64), usize)> {
        let runs = runs.iter().enumerate().filter(|(_, run)| !run.predictions.is_empty());
        runs.map(|(index, run)| (run.settings.split_and_seed(), index)).collect()
    };
    let (runs, baseline) = (with_predictions(runs), with_predictions(baseline));
    let all = || runs.iter().flat_map(|run| baseline.iter().map(move |base| (run, base)));
    let some_match = all().any(|(run, base)| run.0 == base.0);
    all().filter(|(run, base)| !some_match || run.0 == base.0).map(|(run, base)| (run.1, base.1)).collect()
}

/// What identifies a question: its text, its label, and its number among equal ones.
pub(crate) type QuestionId<'a> = (&'a str, &'a str, usize);

/// Returns the predictions of a run with the identity of their questions.
pub(crate) fn identified(predictions: &[Prediction]) -> impl Iterator<Item = (QuestionId<'_>, &Prediction)> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    predictions.iter().map(move |prediction| {
        let times = seen.entry((&prediction.utterance, &prediction.gold)).or_default();
        *times += 1;
        ((prediction.utterance.as_str(), prediction.gold.as_str(), *times), prediction)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let accuracy = MeanAccuracy::of(&[0.6, 0.7, 0.8]);
        assert!((accuracy.mean - 70.0).abs() < 1e-9 && (accuracy.deviation.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(MeanAccuracy::of(&[0.5]), MeanAccuracy { mean: 50.0, deviation: None, runs: 1 });
    }
}
