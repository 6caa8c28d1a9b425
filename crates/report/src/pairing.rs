//! Runs of two groups in pairs, and their differences question by question.

use crate::bootstrap::{Interval, Resampled};
use crate::run::LoadedRun;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use xpr_run::Prediction;

/// A difference between two groups in percentage points, paired by run and by question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference and its 95 % confidence interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// The number of questions that were compared.
    pub questions: usize,
    /// The number of runs of each side that were compared.
    pub runs: (usize, usize),
}

/// A difference with its samples, from which averages over domains are computed.
#[derive(Clone, Debug)]
pub(crate) struct PairedDifference {
    pub(crate) difference: Difference,
    pub(crate) resampled: Resampled,
}

impl PairedDifference {
    /// Compares the runs of a group with those of another group on the same domain. Returns nothing if no two runs can be
    /// compared.
    pub(crate) fn new(domain: &str, runs: &[&LoadedRun], others: &[&LoadedRun]) -> Option<PairedDifference> {
        let differences = differences(runs, others);
        let resampled = Resampled::new(domain, &differences.pairs)?;
        let difference = Difference {
            interval: resampled.interval(),
            questions: differences.questions,
            runs: (differences.pairs.len(), differences.others),
        };
        Some(PairedDifference { difference, resampled })
    }
}

/// The differences of paired runs.
#[derive(Debug, PartialEq)]
struct PairedRuns {
    /// For each run that has a counterpart, the difference on each question in percentage points, if it was asked.
    pairs: Vec<Vec<Option<f64>>>,
    questions: usize,
    /// The number of runs of the other group that are counterparts.
    others: usize,
}

/// Returns the differences of paired runs. The counterpart of a run is the run of the other group with its split and seed, or
/// the average of those with its split if none has its seed.
fn differences(runs: &[&LoadedRun], others: &[&LoadedRun]) -> PairedRuns {
    let mut used = BTreeSet::new();
    let mut pairs: Vec<BTreeMap<QuestionId<'_>, f64>> = Vec::new();
    for run in runs {
        let counterparts = counterparts(run, others);
        let expected = mean_correct(counterparts.iter().map(|index| others[*index]));
        let answers = identified(&run.predictions).filter_map(|(question, prediction)| {
            let difference = f64::from(u8::from(prediction.correct)) - expected.get(&question)?;
            Some((question, 100.0 * difference))
        });
        let pair: BTreeMap<QuestionId<'_>, f64> = answers.collect();
        // Parsers that were mostly asked different questions cannot be compared.
        if !pair.is_empty() && 2 * pair.len() >= run.predictions.len() {
            used.extend(counterparts);
            pairs.push(pair);
        }
    }
    let questions: BTreeSet<QuestionId<'_>> = pairs.iter().flat_map(|pair| pair.keys().copied()).collect();
    let in_order = |pair: &BTreeMap<QuestionId<'_>, f64>| {
        questions.iter().map(|question| pair.get(question).copied()).collect()
    };
    PairedRuns { pairs: pairs.iter().map(in_order).collect(), questions: questions.len(), others: used.len() }
}

/// Returns the indices of the runs with which a run is compared.
fn counterparts(run: &LoadedRun, others: &[&LoadedRun]) -> Vec<usize> {
    let (split, seed) = run.settings.split_and_seed();
    let with_split: Vec<(usize, u64)> = others
        .iter()
        .enumerate()
        .filter(|(_, other)| !other.predictions.is_empty())
        .map(|(index, other)| (index, other.settings.split_and_seed()))
        .filter(|(_, (other_split, _))| *other_split == split)
        .map(|(index, (_, other_seed))| (index, other_seed))
        .collect();
    let has_seed = with_split.iter().any(|(_, other)| *other == seed);
    with_split.into_iter().filter(|(_, other)| !has_seed || *other == seed).map(|(index, _)| index).collect()
}

/// Returns for each question the share of runs that answer it correctly, among those that were asked.
fn mean_correct<'a>(runs: impl Iterator<Item = &'a LoadedRun>) -> BTreeMap<QuestionId<'a>, f64> {
    let mut sums: BTreeMap<QuestionId<'a>, (f64, f64)> = BTreeMap::new();
    for (question, prediction) in runs.flat_map(|run| identified(&run.predictions)) {
        let sum = sums.entry(question).or_default();
        *sum = (sum.0 + f64::from(u8::from(prediction.correct)), sum.1 + 1.0);
    }
    sums.into_iter().map(|(question, (correct, asked))| (question, correct / asked)).collect()
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
    use crate::settings::Settings;

    /// A run of a split and a seed. `right` says which answers are correct, `1` or `0` each.
    fn run(split: u64, seed: u64, right: &str) -> LoadedRun {
        let settings = format!("[data]\nsplit = {split}\n[train]\nseed = {seed}\n");
        let prediction = |(index, right): (usize, char)| {
            let line = serde_json::json!({
                "utterance": format!("question {index}"), "gold": "g", "gold_outcome": "value\t1",
                "correct": right == '1', "chosen": 0, "candidates": []
            });
            serde_json::from_value(line).unwrap()
        };
        LoadedRun {
            name: format!("{split}-{seed}"),
            settings: Settings::of(&settings.parse().unwrap(), false),
            evaluation: None,
            predictions: right.chars().enumerate().map(prediction).collect(),
            steps: vec![],
            unlabeled: None,
            problems: vec![],
        }
    }

    /// The differences in percentage points.
    fn differences_of(runs: &[LoadedRun], others: &[LoadedRun]) -> PairedRuns {
        differences(&runs.iter().collect::<Vec<_>>(), &others.iter().collect::<Vec<_>>())
    }

    fn paired(pairs: &[&[f64]], questions: usize, others: usize) -> PairedRuns {
        let pairs = pairs.iter().map(|pair| pair.iter().map(|value| Some(*value)).collect());
        PairedRuns { pairs: pairs.collect(), questions, others }
    }

    #[test]
    fn a_run_is_paired_with_its_split_and_seed_or_with_the_mean_of_its_split() {
        let bounds = [run(0, 1, "1100"), run(0, 2, "1000"), run(1, 1, "0000")];
        // The same split and seed.
        assert_eq!(differences_of(&[run(0, 2, "1010")], &bounds), paired(&[&[0.0, 0.0, 100.0, 0.0]], 4, 1));
        // No run has seed 0: the mean of both runs of split 0.
        assert_eq!(differences_of(&[run(0, 0, "1010")], &bounds), paired(&[&[0.0, -50.0, 100.0, 0.0]], 4, 2));
        // Each run has its own counterpart, and split 2 has none.
        assert_eq!(
            differences_of(&[run(0, 1, "1111"), run(1, 5, "1000"), run(2, 1, "1111")], &bounds),
            paired(&[&[0.0, 0.0, 100.0, 100.0], &[100.0, 0.0, 0.0, 0.0]], 4, 2)
        );
    }

    #[test]
    fn runs_that_were_mostly_asked_other_questions_are_not_compared() {
        let bound = [run(0, 0, "11")];
        assert_eq!(differences_of(&[run(0, 0, "0111")], &bound), paired(&[&[-100.0, 0.0]], 2, 1));
        assert_eq!(differences_of(&[run(0, 0, "01111")], &bound), paired(&[], 0, 0));
        assert_eq!(differences_of(&[run(0, 0, "")], &bound), paired(&[], 0, 0));
        assert_eq!(differences_of(&[run(0, 0, "01")], &[run(0, 0, "")]), paired(&[], 0, 0));
    }

    #[test]
    fn a_difference_has_the_mean_and_the_interval_of_its_pairs() {
        let (runs, bounds) = ([run(0, 0, "1111"), run(1, 0, "0000")], [run(0, 0, "0000"), run(1, 0, "0000")]);
        let (runs, bounds): (Vec<_>, Vec<_>) = (runs.iter().collect(), bounds.iter().collect());
        let found = PairedDifference::new("calendar", &runs, &bounds).unwrap().difference;
        let interval = Interval { difference: 50.0, low: 0.0, high: 100.0 };
        assert_eq!(found, Difference { interval, questions: 4, runs: (2, 2) });
    }
}
