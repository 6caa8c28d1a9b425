//! A committee: parsers that learned from the labels alone, each from a beginning of its own.
//!
//! A parser that teaches itself hears its own mistakes again, and with few labels it is as sure of them as of what is right:
//! nearly all probability is on one program. Others that began elsewhere make other mistakes. What they think together,
//!
//! ```text
//! p̄(y | x) = 1/M Σ_m p_m(y | x)
//! ```
//!
//! is right more often, and not sure where they disagree. An objective says of `p̄` what to believe, `q` (the E-step), and a
//! new parser learns labels and `q` from the start (the M-step): `−t Σ_y q(y) log p(y | x)`, where `t`, the probability of all
//! that is rewarded, lets count less what the members are not sure of.

use crate::{Config, LearnConfig, UnlabeledExample};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use xpr_parser::{Candidate, Parser, Question};

/// What the members suggest for each unlabeled question: programs with the logarithms of `p̄`, best first.
#[derive(Debug)]
pub struct Committee {
    suggestions: Vec<Vec<Candidate>>,
}

/// Questions that are asked at a time.
const TOGETHER: usize = 48;

/// Programs that the members together think less likely than this are not suggested.
const UNLIKELY: f64 = 1e-3;

impl Committee {
    /// Asks every member every question.
    pub(crate) fn ask(members: &[impl Parser], examples: &[UnlabeledExample], beam: usize) -> Self {
        let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
        let mut suggestions: Vec<Vec<Candidate>> = vec![vec![]; questions.len()];
        for member in members {
            let found = questions.chunks(TOGETHER).flat_map(|chunk| member.candidates(chunk, beam, None));
            for (own, all) in found.zip(&mut suggestions) {
                all.extend(own);
            }
        }
        let together = |found: Vec<Candidate>| {
            let found =
                found.into_iter().map(|found| (found.program, f64::from(found.log_probability).exp()));
            mean(found, members.len())
                .into_iter()
                .enumerate()
                .filter(|(place, (_, mean))| *place == 0 || *mean >= UNLIKELY)
                .map(|(_, (program, mean))| Candidate { program, log_probability: mean.ln() as f32 })
                .collect()
        };
        Committee { suggestions: suggestions.into_iter().map(together).collect() }
    }

    /// The suggestions for a question, by its place among those asked.
    pub(crate) fn suggestions(&self, question: usize) -> &[Candidate] {
        &self.suggestions[question]
    }
}

/// Each program once with the mean of its probabilities, best first. A member that did not find it has none for it.
fn mean<P: Clone + Eq + Hash>(found: impl IntoIterator<Item = (P, f64)>, members: usize) -> Vec<(P, f64)> {
    let mut places: HashMap<P, usize> = HashMap::new();
    let mut all: Vec<(P, f64)> = Vec::new();
    for (program, probability) in found {
        let place = *places.entry(program).or_insert_with_key(|program| {
            all.push((program.clone(), 0.0));
            all.len() - 1
        });
        all[place].1 += probability / members as f64;
    }
    all.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    all
}

/// The settings of a member: the same data and sizes, labels alone, a seed of its own.
pub(crate) fn member(config: &Config, index: usize) -> Config {
    let mut member = on_labels_alone(config);
    member.train.seed = config.train.seed.wrapping_mul(1000).wrapping_add(1 + index as u64);
    member.train.steps = config.learn.start.max(1);
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
    fn the_mean_counts_those_who_did_not_find_a_program() {
        let all = mean([("a", 0.5), ("b", 0.25), ("b", 0.75), ("c", 0.125)], 2);
        assert_eq!(all, [("b", 0.5), ("a", 0.25), ("c", 0.0625)]);
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
        config.train.steps += 1;
        assert_eq!(folders(&config)[0], first);
        config.train.seed += 1;
        assert_ne!(folders(&config)[0], first);
        assert_eq!(member(&config, 0).learn.objective, None);
    }
}
