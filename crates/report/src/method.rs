//! The method of a run: the paper's or ours.
//!
//! By the paper's method a parser learns from the programs that its own search finds, and answers with its own ranking. By our
//! method an ensemble suggests the programs, a noisy channel or votes rank the candidates of an answer, or training starts from a
//! pretrained parser. Runs on labels only are the bounds of a method: those with nothing of this are the paper's.

use crate::settings::Settings;
use serde::Serialize;
use std::collections::BTreeSet;

/// How a run learns and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The parser learns from its own search and answers with its own ranking.
    Paper,
    /// The parser learns from an ensemble, starts from a pretrained parser, or a noisy channel re-ranks its answers.
    Ours,
}

impl Method {
    /// Returns the name in the column `method` of a table.
    pub fn name(self) -> &'static str {
        match self {
            Method::Paper => "paper's",
            Method::Ours => "ours",
        }
    }

    /// Returns the name in a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Method::Paper => "paper's method",
            Method::Ours => "our method",
        }
    }
}

/// The rule by which the runs of a report have their methods.
#[derive(Debug)]
pub(crate) struct Methods {
    /// The word vectors with which runs learn by the paper's method, and whether they are about Overnight.
    vectors: BTreeSet<(bool, String)>,
}

impl Methods {
    /// Returns the rule for a report about some runs.
    pub(crate) fn new<'a>(runs: impl Iterator<Item = &'a Settings>) -> Methods {
        let learning = runs.filter(|run| run.objective() != "none" && method_alone(run) == Method::Paper);
        Methods { vectors: learning.map(vectors_and_data).collect() }
    }

    /// Returns the method of a run. Labels only with other word vectors than all runs that learn by the paper's method are a
    /// bound of ours.
    pub(crate) fn of(&self, run: &Settings) -> Method {
        let (vectors, is_bound) = (vectors_and_data(run), run.objective() == "none");
        let has_data = self.vectors.iter().any(|(is_overnight, _)| *is_overnight == vectors.0);
        match method_alone(run) {
            Method::Paper if is_bound && has_data && !self.vectors.contains(&vectors) => Method::Ours,
            method => method,
        }
    }
}

fn vectors_and_data(run: &Settings) -> (bool, String) {
    (run.conditions().is_overnight, run.vectors().to_owned())
}

/// Returns the method of a run by its own settings.
fn method_alone(run: &Settings) -> Method {
    let learns_alone = (run.objective() == "none" || run.ensemble() == 0) && !run.starts_from_base();
    let answers_alone = run.noisy_channel() == 0.0 && !run.counts_votes();
    if learns_alone && answers_alone { Method::Paper } else { Method::Ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(objective: &str, ensemble: usize, noisy_channel: f64, vectors: &str) -> Settings {
        let text = format!(
            "[data]\nembeddings = \"some/where/{vectors}\"\n[learn]\nobjective = \"{objective}\"\n\
             ensemble = {ensemble}\n[eval]\nnoisy_channel = {noisy_channel:?}\n"
        );
        Settings::of(&text.parse().unwrap(), false)
    }

    #[test]
    fn a_method_follows_from_objective_ensemble_noisy_channel_and_vectors() {
        let search = settings("sparse", 0, 0.0, "a.txt");
        for (run, alone, beside_search) in [
            (search.clone(), Method::Paper, Method::Paper),
            (settings("sparse", 3, 0.0, "a.txt"), Method::Ours, Method::Ours),
            (settings("sparse", 0, 1.0, "a.txt"), Method::Ours, Method::Ours),
            // An ensemble that labels only do not use says nothing.
            (settings("none", 3, 0.0, "a.txt"), Method::Paper, Method::Paper),
            (settings("none", 0, 1.0, "a.txt"), Method::Ours, Method::Ours),
            // The vectors decide only if runs learn by the paper's method with others.
            (settings("none", 0, 0.0, "b.txt"), Method::Paper, Method::Ours),
        ] {
            assert_eq!(Methods::new([&run].into_iter()).of(&run), alone, "{run:?}");
            assert_eq!(Methods::new([&run, &search].into_iter()).of(&run), beside_search, "{run:?}");
        }
    }
}
