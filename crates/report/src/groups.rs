//! Runs that differ in split and seed only, taken together.

use crate::bootstrap::{self, Interval};
use crate::calibration::{Calibration, calibration};
use crate::curves::{Curves, curves};
use crate::errors::{Errors, errors};
use crate::run::{Answer, Run};
use crate::settings::{Topic, differing};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Runs that differ in split and seed only.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The domain or the database.
    pub topic: String,
    /// Whether it is one of Overnight's domains.
    pub is_overnight: bool,
    /// The labeled share of the training examples.
    pub fraction: f64,
    /// Evaluated on so many held-out training examples; 0 for the test examples.
    pub held_out: u64,
    /// The objective; `none` for labels only.
    pub objective: String,
    /// The other settings in which runs of this report differ.
    pub settings: Vec<(String, String)>,
    /// The names of its runs.
    pub runs: Vec<String>,
    /// How many questions each was asked.
    pub questions: usize,
    /// How often they are right.
    pub accuracy: Spread,
    /// How much better than labels only.
    pub over_labels_only: Option<Difference>,
    /// Whether it knows when it is wrong.
    pub calibration: Option<Calibration>,
    /// How training went.
    pub curves: Curves,
    /// Where it goes wrong.
    pub errors: Option<Errors>,
    /// The differences to labels only, question by question.
    #[serde(skip)]
    pub(crate) differences: Vec<f64>,
}

/// Mean and deviation over runs, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a sample; none of one run.
    pub deviation: Option<f64>,
    /// How many runs.
    pub runs: usize,
}

/// How much better a group is than labels only, in percent points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference and its 95 % interval, paired by question.
    #[serde(flatten)]
    pub interval: Interval,
    /// How many questions both were asked.
    pub questions: usize,
    /// How many runs of each were compared: those of the same splits and seeds, if there are any.
    pub runs: (usize, usize),
    /// Whether the two are told apart by more than the objective.
    pub other_settings: bool,
}

impl Spread {
    /// Of shares from 0 to 1.
    pub(crate) fn of(shares: &[f64]) -> Spread {
        let runs = shares.len();
        let mean = shares.iter().sum::<f64>() / runs.max(1) as f64;
        let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
        let deviation = (runs > 1).then(|| 100.0 * (squares / (runs - 1) as f64).sqrt());
        Spread { mean: 100.0 * mean, deviation, runs }
    }
}

impl Group {
    /// What is learned from: an objective's name, or labels only.
    pub fn method(&self) -> &str {
        if self.objective == "none" { "labels only" } else { &self.objective }
    }

    /// The settings that tell it apart, in short; empty if none does.
    pub fn variant(&self) -> String {
        let told = self.settings.iter().map(|(key, value)| format!("{}={value}", short_key(key)));
        told.collect::<Vec<_>>().join(" ")
    }

    /// The labeled share.
    pub fn labels(&self) -> String {
        format!("{} %", (1e4 * self.fraction).round() / 100.0)
    }

    /// Whether two groups are asked the same.
    pub fn is_beside(&self, other: &Group) -> bool {
        (&self.topic, self.is_overnight, self.held_out) == (&other.topic, other.is_overnight, other.held_out)
            && self.fraction == other.fraction
    }
}

/// The last part of a key, where that says enough.
fn short_key(key: &str) -> &str {
    match key.rsplit_once('.') {
        Some((_, last)) if !["batch", "beam"].contains(&last) => last,
        _ => key,
    }
}

/// Puts evaluated runs into groups, and says how each does.
pub(crate) fn groups(runs: &[Run], most_errors: Option<usize>) -> Vec<Group> {
    let evaluated: Vec<&Run> = runs.iter().filter(|run| run.evaluation.is_some()).collect();
    let keys = differing(evaluated.iter().map(|run| &run.settings));
    let mut together: Vec<(Key, Vec<&Run>)> = Vec::new();
    for run in evaluated {
        let key = Key::of(run, &keys);
        match together.iter_mut().find(|(other, _)| *other == key) {
            Some((_, runs)) => runs.push(run),
            None => together.push((key, vec![run])),
        }
    }
    together.sort_by(|(left, _), (right, _)| left.order(right));
    let most_errors = most_errors.unwrap_or_else(|| (MOST_ERRORS / together.len().max(1)).max(10));
    let each = together.iter().map(|(key, runs)| {
        let (over_labels_only, differences) = match labels_only(key, &together) {
            Some((base, other_settings)) => compare(runs, base, other_settings),
            None => (None, vec![]),
        };
        let shares: Vec<f64> =
            runs.iter().filter_map(|run| run.evaluation).map(|evaluation| evaluation.accuracy).collect();
        Group {
            topic: key.topic.name.clone(),
            is_overnight: key.topic.is_overnight,
            fraction: key.topic.fraction,
            held_out: key.topic.held_out,
            objective: key.objective.clone(),
            settings: key.variant.clone(),
            runs: runs.iter().map(|run| run.name.clone()).collect(),
            questions: runs.first().and_then(|run| run.evaluation).map_or(0, |found| found.examples),
            accuracy: Spread::of(&shares),
            over_labels_only,
            calibration: calibration(runs.iter().flat_map(|run| &run.answers)),
            curves: curves(runs),
            errors: errors(runs, most_errors),
            differences,
        }
    });
    each.collect()
}

/// Wrong answers shown in a whole report, unless asked otherwise.
const MOST_ERRORS: usize = 1000;

#[derive(Clone, Debug, PartialEq)]
struct Key {
    topic: Topic,
    objective: String,
    variant: Vec<(String, String)>,
}

/// Objectives in the order of the paper's tables.
const ORDER: [&str; 7] = ["none", "self-training", "top-k", "repulsion", "gentle", "sparse", "reinforce"];

/// The place of an objective in tables, and its colour in figures.
pub(crate) fn place_of(objective: &str) -> usize {
    ORDER.iter().position(|known| *known == objective).unwrap_or(ORDER.len())
}

impl Key {
    fn of(run: &Run, keys: &BTreeSet<String>) -> Key {
        Key {
            topic: run.settings.topic(),
            objective: run.settings.objective().to_owned(),
            variant: run.settings.variant(keys),
        }
    }

    /// Tests first, Overnight's domains first, few labels first, then the paper's order of objectives.
    fn order(&self, other: &Key) -> std::cmp::Ordering {
        let rank = |key: &Key| (key.topic.held_out > 0, !key.topic.is_overnight, key.topic.name.clone());
        rank(self)
            .cmp(&rank(other))
            .then(self.topic.fraction.total_cmp(&other.topic.fraction))
            .then(self.topic.held_out.cmp(&other.topic.held_out))
            .then(place_of(&self.objective).cmp(&place_of(&other.objective)))
            .then_with(|| self.variant.cmp(&other.variant))
    }

    /// The settings that also matter without an objective.
    fn apart_from_learn(&self) -> Vec<&(String, String)> {
        self.variant.iter().filter(|(key, _)| !key.starts_with("learn.")).collect()
    }
}

/// The runs with labels only that a group is compared with: those that differ in the objective alone or, if there are none
/// and the choice is clear, those of the same topic.
fn labels_only<'a>(key: &Key, all: &'a [(Key, Vec<&'a Run>)]) -> Option<(&'a [&'a Run], bool)> {
    if key.objective == "none" {
        return None;
    }
    let beside: Vec<_> =
        all.iter().filter(|(other, _)| other.objective == "none" && other.topic == key.topic).collect();
    let alike = beside.iter().find(|(other, _)| other.apart_from_learn() == key.apart_from_learn());
    match (alike, beside.as_slice()) {
        (Some((_, runs)), _) => Some((runs, false)),
        (None, [(_, runs)]) => Some((runs, true)),
        _ => None,
    }
}

/// Compares runs with others, question by question: each with those of its split and seed, or with all if none has them.
fn compare(runs: &[&Run], base: &[&Run], other_settings: bool) -> (Option<Difference>, Vec<f64>) {
    let answered = |runs: &[&Run]| -> Vec<((u64, u64), usize)> {
        let with_answers = runs.iter().enumerate().filter(|(_, run)| !run.answers.is_empty());
        with_answers.map(|(index, run)| (run.settings.draw(), index)).collect()
    };
    let (ours, theirs) = (answered(runs), answered(base));
    let all = || ours.iter().flat_map(|our| theirs.iter().map(move |their| (our, their)));
    let is_paired = all().any(|((our, _), (their, _))| our == their);
    let pairs: Vec<(usize, usize)> = all()
        .filter(|(our, their)| !is_paired || our.0 == their.0)
        .map(|(our, their)| (our.1, their.1))
        .collect();
    let mut sums: BTreeMap<Question<'_>, (f64, f64)> = BTreeMap::new();
    for (our, their) in &pairs {
        let right = by_question(&base[*their].answers);
        for (question, answer) in questions(&runs[*our].answers) {
            if let Some(right) = right.get(&question) {
                let sum = sums.entry(question).or_default();
                *sum = (sum.0 + f64::from(i8::from(answer.correct) - i8::from(*right)), sum.1 + 1.0);
            }
        }
    }
    let differences: Vec<f64> = sums.into_values().map(|(sum, count)| 100.0 * sum / count).collect();
    // Parsers that were asked different things cannot be compared.
    let asked = runs.iter().map(|run| run.answers.len()).max().unwrap_or(0);
    if 2 * differences.len() < asked {
        return (None, vec![]);
    }
    let count = |side: fn(&(usize, usize)) -> usize| pairs.iter().map(side).collect::<BTreeSet<_>>().len();
    let runs = (count(|pair| pair.0), count(|pair| pair.1));
    let interval = bootstrap::paired(std::slice::from_ref(&differences));
    let difference =
        interval.map(|interval| Difference { interval, questions: differences.len(), runs, other_settings });
    (difference, differences)
}

/// What tells questions apart: what was asked, what was meant, and the how-manieth of its kind it is.
pub(crate) type Question<'a> = (&'a str, &'a str, usize);

/// Numbers the questions of a run that are asked more than once.
pub(crate) fn questions(answers: &[Answer]) -> impl Iterator<Item = (Question<'_>, &Answer)> {
    let mut asked: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    answers.iter().map(move |answer| {
        let times = asked.entry((&answer.utterance, &answer.gold)).or_default();
        *times += 1;
        ((answer.utterance.as_str(), answer.gold.as_str(), *times), answer)
    })
}

fn by_question(answers: &[Answer]) -> BTreeMap<Question<'_>, bool> {
    questions(answers).map(|(question, answer)| (question, answer.correct)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_those_of_samples() {
        let spread = Spread::of(&[0.6, 0.7, 0.8]);
        assert!((spread.mean - 70.0).abs() < 1e-9 && (spread.deviation.unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(Spread::of(&[0.5]), Spread { mean: 50.0, deviation: None, runs: 1 });
    }
}
