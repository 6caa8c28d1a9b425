//! Runs that differ only in split, fold and seed, taken together.

use crate::calibration::calibration;
use crate::curves::{TrainingCurves, curves};
use crate::errors::{ErrorAnalysis, analyse};
use crate::execution::ExecutionShares;
use crate::method::{Method, Methods};
use crate::pairing::{Difference, PairedDifference};
use crate::run::LoadedRun;
use crate::settings::{Conditions, VECTORS, differing, is_supervised, short_key};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use xpr_run::Calibration;

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
    /// The method by which the runs learn and answer.
    pub method: Method,
    /// The file name of the word vectors; `none` for random vectors.
    pub vectors: String,
    /// The other settings in which comparable runs of this report differ, as keys and values.
    pub settings: Vec<(String, String)>,
    /// The names of the runs.
    pub runs: Vec<String>,
    /// The number of questions each run was evaluated on.
    pub questions: usize,
    /// The accuracy.
    pub accuracy: MeanAccuracy,
    /// The gain over the lower bound: training on the labels only, with the same settings otherwise.
    pub over_lower_bound: Option<Difference>,
    /// How well the probability of an answer predicts whether it is correct.
    pub calibration: Option<Calibration>,
    /// What executing the candidates decides.
    pub execution: Option<ExecutionShares>,
    /// The curves of training.
    pub curves: TrainingCurves,
    /// The analysis of errors.
    pub errors: Option<ErrorAnalysis>,
    /// The index of the group among the groups of the report.
    #[serde(skip)]
    pub(crate) index: usize,
    /// The index of the lower bound among the groups of the report.
    #[serde(skip)]
    pub(crate) lower_bound: Option<usize>,
    /// The gain over the lower bound, with its samples.
    #[serde(skip)]
    pub(crate) gain: Option<PairedDifference>,
    /// The values of all settings in which runs of this report differ and that matter for this group.
    #[serde(skip)]
    pub(crate) variant: Vec<(String, String)>,
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
    /// Returns whether the runs are trained on the labels only.
    pub fn is_labels_only(&self) -> bool {
        self.objective == "none"
    }

    /// Returns the name of the objective, or `labels only`.
    pub fn objective_name(&self) -> &str {
        if self.is_labels_only() { "labels only" } else { &self.objective }
    }

    /// Returns the settings that tell the group apart, such as `weight=0.1`; empty if none does.
    pub fn variant(&self) -> String {
        settings_text(&self.settings)
    }

    /// Returns the labeled share of the training examples as text.
    pub fn labels(&self) -> String {
        percent_of_labels(self.fraction)
    }

    /// Returns whether two groups have the same data, share of labels and evaluation examples.
    pub fn is_comparable_with(&self, other: &Group) -> bool {
        (&self.topic, self.is_overnight, self.held_out) == (&other.topic, other.is_overnight, other.held_out)
            && self.fraction == other.fraction
    }

    /// Returns the value of a setting in which runs of this report differ, if it matters for this group.
    pub(crate) fn setting(&self, key: &str) -> Option<&str> {
        self.variant.iter().find(|(other, _)| other == key).map(|(_, value)| value.as_str())
    }
}

/// Returns settings as text, such as `weight=0.1 beam=4`.
pub(crate) fn settings_text(settings: &[(String, String)]) -> String {
    let settings = settings.iter().map(|(key, value)| match key.as_str() {
        VECTORS => value.clone(),
        key => format!("{}={value}", short_key(key)),
    });
    settings.collect::<Vec<_>>().join(" ")
}

/// Returns a share of labels in percent.
pub(crate) fn percent_of_labels(fraction: f64) -> String {
    format!("{} %", (1e4 * fraction).round() / 100.0)
}

/// The runs of a group.
#[derive(Debug)]
pub(crate) struct GroupedRuns<'a> {
    key: GroupKey,
    pub(crate) runs: Vec<&'a LoadedRun>,
}

/// Groups the evaluated runs, in the order of a report.
pub(crate) fn grouped(runs: &[LoadedRun]) -> Vec<GroupedRuns<'_>> {
    let evaluated: Vec<&LoadedRun> = runs.iter().filter(|run| run.evaluation.is_some()).collect();
    let keys = differing(evaluated.iter().map(|run| &run.settings));
    let methods = Methods::new(evaluated.iter().map(|run| &run.settings));
    let mut grouped: Vec<GroupedRuns<'_>> = Vec::new();
    for run in evaluated {
        let key = GroupKey::of(run, &keys, &methods);
        match grouped.iter_mut().find(|group| group.key == key) {
            Some(group) => group.runs.push(run),
            None => grouped.push(GroupedRuns { key, runs: vec![run] }),
        }
    }
    grouped.sort_by(|left, right| left.key.order(&right.key));
    grouped
}

/// The number of wrong answers listed in a whole report, unless the caller chooses another.
const MOST_ERRORS: usize = 1000;

/// Analyses each group.
pub(crate) fn groups(grouped: &[GroupedRuns<'_>], most_errors: Option<usize>) -> Vec<Group> {
    let most_errors = most_errors.unwrap_or_else(|| (MOST_ERRORS / grouped.len().max(1)).max(10));
    let group = |(index, GroupedRuns { key, runs }): (usize, &GroupedRuns<'_>)| {
        let lower_bound = grouped.iter().position(|other| other.key.is_lower_bound_of(key));
        let gain = lower_bound
            .and_then(|bound| PairedDifference::new(&key.conditions.name, runs, &grouped[bound].runs));
        let shares: Vec<f64> =
            runs.iter().filter_map(|run| run.evaluation).map(|evaluation| evaluation.accuracy).collect();
        Group {
            topic: key.conditions.name.clone(),
            is_overnight: key.conditions.is_overnight,
            fraction: key.conditions.fraction,
            held_out: key.conditions.held_out,
            objective: key.objective.clone(),
            method: key.method,
            vectors: key.vectors.clone(),
            settings: key.told_apart_by(grouped),
            runs: runs.iter().map(|run| run.name.clone()).collect(),
            questions: runs.first().and_then(|run| run.evaluation).map_or(0, |first| first.examples),
            accuracy: MeanAccuracy::of(&shares),
            over_lower_bound: gain.as_ref().map(|gain| gain.difference),
            calibration: calibration(runs.iter().flat_map(|run| &run.predictions)),
            execution: ExecutionShares::of(runs.iter().flat_map(|run| &run.predictions)),
            curves: curves(runs),
            errors: analyse(runs, most_errors),
            index,
            lower_bound,
            gain,
            variant: key.variant.clone(),
        }
    };
    grouped.iter().enumerate().map(group).collect()
}

/// What the runs of a group have in common.
#[derive(Clone, Debug, PartialEq)]
struct GroupKey {
    conditions: Conditions,
    objective: String,
    method: Method,
    vectors: String,
    /// The values of all settings in which runs of the report differ and that matter for this group.
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
    fn of(run: &LoadedRun, keys: &BTreeSet<String>, methods: &Methods) -> GroupKey {
        GroupKey {
            conditions: run.settings.conditions(),
            objective: run.settings.objective().to_owned(),
            method: methods.of(&run.settings),
            vectors: run.settings.vectors().to_owned(),
            variant: run.settings.variant(keys),
        }
    }

    /// Orders groups: test results before held-out ones, Overnight before databases, few labels before many, the paper's method
    /// before ours, then the objectives as in the paper.
    fn order(&self, other: &GroupKey) -> Ordering {
        let rank = |key: &GroupKey| {
            (key.conditions.held_out > 0, !key.conditions.is_overnight, key.conditions.name.clone())
        };
        rank(self)
            .cmp(&rank(other))
            .then(self.conditions.fraction.total_cmp(&other.conditions.fraction))
            .then(self.conditions.held_out.cmp(&other.conditions.held_out))
            .then(self.method.cmp(&other.method))
            .then(objective_rank(&self.objective).cmp(&objective_rank(&other.objective)))
            .then_with(|| self.objective.cmp(&other.objective))
            .then_with(|| self.variant.cmp(&other.variant))
    }

    /// Returns whether runs are the lower bound of others: labels only, with the same data, word vectors, model, schedule and
    /// evaluation.
    fn is_lower_bound_of(&self, other: &GroupKey) -> bool {
        self.objective == "none"
            && other.objective != "none"
            && self.conditions == other.conditions
            && self.supervised_variant() == other.supervised_variant()
    }

    /// Returns the settings that also matter when training on the labels only.
    fn supervised_variant(&self) -> Vec<&(String, String)> {
        self.variant.iter().filter(|(key, _)| is_supervised(key)).collect()
    }

    /// Returns the settings in which the group differs from comparable ones. Word vectors always tell groups apart. Other
    /// settings do so among groups on the same kind of data, and those that decide about the method among groups of the same
    /// method: an ensemble is what our method is.
    fn told_apart_by(&self, grouped: &[GroupedRuns<'_>]) -> Vec<(String, String)> {
        let is_told_apart = |(key, value): &&(String, String)| {
            grouped.iter().map(|group| &group.key).any(|other| {
                let is_in_scope = key == VECTORS
                    || (self.has_data_like(other) && (self.method == other.method || !is_of_method(key)));
                is_in_scope && other.variant.iter().any(|(name, other)| name == key && other != value)
            })
        };
        self.variant.iter().filter(is_told_apart).cloned().collect()
    }

    /// Returns whether both are about domains of Overnight or about the same database.
    fn has_data_like(&self, other: &GroupKey) -> bool {
        match (self.conditions.is_overnight, other.conditions.is_overnight) {
            (true, true) => true,
            (false, false) => self.conditions.name == other.conditions.name,
            _ => false,
        }
    }
}

/// Returns whether a setting belongs to a method, so that the methods differ in it.
fn is_of_method(key: &str) -> bool {
    key.starts_with("learn.") || matches!(key, "eval.noisy_channel" | "eval.temperature" | "eval.votes")
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
