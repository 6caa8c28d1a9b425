//! A committee: parsers that learned from the labels alone, each from a beginning of its own.
//!
//! A parser that teaches itself hears its own mistakes again, and with few labels it is as sure of them as of what is right:
//! nearly all probability is on one program. Others that began elsewhere make other mistakes, and the [channel](crate::channel), which
//! asks whether a program explains the words of its question, makes quite others. What they think together,
//!
//! ```text
//! p̄(y | x) ∝ p(x | y)^α · 1/M Σ_m p_m(y | x)^(1/T)/Z_m
//! ```
//!
//! is right more often, and not sure where they disagree. `T` flattens what members are too sure of. An objective says of `p̄` what to believe,
//! `q` (the E-step), and a new parser learns labels and `q` from the start (the M-step): `−t Σ_y q(y) log p(y | x)`, where `t`, the probability
//! of all that is rewarded, lets count less what the members are not sure of.

use crate::channel::Channel;
use crate::explore::{Explorer, Found};
use crate::{Config, Judge, LearnConfig, Task, UnlabeledExample};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use xpr_lang::Program;
use xpr_parser::{Candidate, Parser, Question};

/// What the members suggest for each unlabeled question, and what the objective makes of it. It does not change while a parser
/// learns from it.
#[derive(Debug)]
pub(crate) struct Committee {
    lessons: Vec<Found>,
}

/// Questions that are asked at a time.
const TOGETHER: usize = 48;

/// Programs that the committee thinks less likely than this, a thousandth, are not suggested.
const UNLIKELY: f32 = -6.907_755;

/// How much flatter a member's probabilities are taken than it gives them: with few labels its best program has 0.88 of the probability, and
/// is right for two questions in three.
const FLATTENED: f64 = 3.0;

impl Committee {
    /// Asks every member every question; the channel counts as much as `weight` says.
    pub(crate) fn ask(
        members: &[impl Parser],
        (mut channel, weight): (Channel, f64),
        examples: &[UnlabeledExample],
        explorer: Explorer,
        judge: &mut Judge<'_>,
    ) -> Self {
        let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
        let mut suggested: Vec<Vec<(Program, f64)>> = vec![vec![]; questions.len()];
        for member in members {
            let found = questions.chunks(TOGETHER).flat_map(|chunk| member.candidates(chunk, explorer.beam));
            for (own, all) in found.zip(&mut suggested) {
                all.extend(flattened(own, FLATTENED));
            }
        }
        let mut lesson = |(example, suggested): (&UnlabeledExample, Vec<(Program, f64)>)| {
            let mut together =
                weigh(sums(suggested), (&mut channel, weight), judge.task(), &example.question);
            let likely = together.partition_point(|candidate| candidate.log_probability >= UNLIKELY);
            together.truncate(likely.max(1));
            explorer.look(example, together, judge)
        };
        Committee { lessons: examples.iter().zip(suggested).map(&mut lesson).collect() }
    }

    /// What there is to learn from a question, by its place among those asked.
    pub(crate) fn lesson(&self, question: usize) -> &Found {
        &self.lessons[question]
    }
}

/// Programs for a question with what members gave each, as candidates that a channel was asked about too.
pub(crate) fn weigh(
    programs: Vec<(Program, f64)>,
    (channel, weight): (&mut Channel, f64),
    task: &Task,
    question: &Question,
) -> Vec<Candidate> {
    let explained = |(program, given): (Program, f64)| {
        let explained = match weight {
            0.0 => 0.0,
            weight => weight * channel.log_probability(task, question, &program),
        };
        (program, given.ln() + explained)
    };
    most_likely(programs.into_iter().map(explained).collect())
}

/// A parser's candidates with their probabilities among themselves, flattened.
pub(crate) fn flattened(candidates: Vec<Candidate>, by: f64) -> Vec<(Program, f64)> {
    let logs: Vec<f64> =
        candidates.iter().map(|candidate| f64::from(candidate.log_probability) / by).collect();
    candidates.into_iter().map(|candidate| candidate.program).zip(shares(&logs)).collect()
}

/// Programs with logarithms of what each counts, as candidates whose probabilities add up to 1, best first.
fn most_likely(mut programs: Vec<(Program, f64)>) -> Vec<Candidate> {
    programs.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    let logs: Vec<f64> = programs.iter().map(|(_, log)| *log).collect();
    let candidate = |((program, _), share): ((Program, f64), f64)| {
        let log_probability = share.max(f64::MIN_POSITIVE).ln() as f32;
        Candidate { program, log_probability }
    };
    let shares = shares(&logs);
    programs.into_iter().zip(shares).map(candidate).collect()
}

/// Numbers with these logarithms, divided by their sum.
fn shares(logs: &[f64]) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    logs.iter().map(|log| (log - most).exp() / sum).collect()
}

/// Each program once, with the sum of what members gave it. One that did not find it gave nothing.
pub(crate) fn sums<P: Clone + Eq + Hash>(found: impl IntoIterator<Item = (P, f64)>) -> Vec<(P, f64)> {
    let mut places: HashMap<P, usize> = HashMap::new();
    let mut all: Vec<(P, f64)> = Vec::new();
    for (program, probability) in found {
        let place = *places.entry(program).or_insert_with_key(|program| {
            all.push((program.clone(), 0.0));
            all.len() - 1
        });
        all[place].1 += probability;
    }
    all
}

/// The seed of a member, from 0, of the committee of a run with this seed.
pub fn member_seed(seed: u64, member: usize) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(1 + member as u64)
}

/// The settings by which a committee's student is trained: its own number of steps.
pub(crate) fn student(config: &Config) -> Config {
    let mut student = config.clone();
    student.train.steps = config.learn.steps;
    student
}

/// The settings of a member: the same data and sizes, labels alone, a seed of its own.
pub(crate) fn member(config: &Config, index: usize) -> Config {
    let mut member = on_labels_alone(config);
    member.train.seed = member_seed(config.train.seed, index);
    member
}

/// The same without what is only for unlabeled questions.
pub(crate) fn on_labels_alone(config: &Config) -> Config {
    let mut alone = config.clone();
    alone.data.answered = 0.0;
    alone.learn = LearnConfig::default();
    alone
}

/// Where such a member is kept: runs that differ only in what they do with unlabeled questions have the same members.
pub(crate) fn folder(members: &Path, member: &Config) -> PathBuf {
    // Without what it does not learn from, so that a new default there is not a new member.
    let mut hasher = DefaultHasher::new();
    [
        toml::to_string(&member.data).unwrap_or_default(),
        toml::to_string(&member.model).unwrap_or_default(),
        toml::to_string(&member.train).unwrap_or_default(),
    ]
    .hash(&mut hasher);
    members.join(format!("seed-{}-{:016x}", member.train.seed, hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::Objective;

    #[test]
    fn a_program_has_what_all_members_gave_it() {
        let all = sums([("a", 0.5), ("b", 0.25), ("b", 0.75), ("c", 0.125)]);
        assert_eq!(all, [("a", 0.5), ("b", 1.0), ("c", 0.125)]);
    }

    #[test]
    fn shares_add_up_to_one_however_small_the_numbers_are() {
        assert_eq!(shares(&[-1000.0, -1000.0]), [0.5, 0.5]);
        assert_eq!(shares(&[0.0, -5000.0]), [1.0, 0.0]);
        assert_eq!(shares(&[]), [0.0; 0]);
    }

    #[test]
    fn members_differ_in_their_seeds_and_not_in_what_the_student_does() {
        let mut config = Config::default();
        config.learn.objective = Some(Objective::Sparse);
        let folders = |config: &Config| [0, 1].map(|index| folder(Path::new("m"), &member(config, index)));
        let [first, second] = folders(&config);
        assert_ne!(first, second);
        config.learn.objective = Some(Objective::Gentle);
        config.learn.weight = 0.1;
        config.learn.steps += 1;
        assert_eq!(folders(&config)[0], first);
        config.train.seed += 1;
        assert_ne!(folders(&config)[0], first);
        assert_eq!(member(&config, 0).learn.objective, None);
    }
}
