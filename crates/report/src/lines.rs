//! One line a run, for other programs.

use crate::run::Run;
use crate::settings::differing;
use serde::Serialize;

/// A run in short.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The name of its folder.
    pub run: String,
    /// The domain or the database.
    pub about: String,
    /// The labeled share of the training examples.
    pub labels: f64,
    /// Held-out training examples it was evaluated on; 0 for the test examples.
    pub held_out: u64,
    /// The split of the training examples.
    pub split: u64,
    /// The seed.
    pub seed: u64,
    /// The objective; `none` for labels only.
    pub objective: String,
    /// The other settings in which runs of this report differ.
    pub settings: String,
    /// How many questions it was asked.
    pub questions: usize,
    /// The share that it answered right.
    pub accuracy: f64,
    /// The share with the right answer among the candidates.
    pub right_among_candidates: f64,
}

/// The evaluated runs, each in a line.
pub(crate) fn lines(runs: &[Run]) -> Vec<Line> {
    let evaluated = || runs.iter().filter_map(|run| run.evaluation.map(|evaluation| (run, evaluation)));
    let keys = differing(evaluated().map(|(run, _)| &run.settings).collect::<Vec<_>>().into_iter());
    let line = |(run, evaluation): (&Run, xpr_learn::Evaluation)| {
        let topic = run.settings.topic();
        let (split, seed) = run.settings.draw();
        let variant = run.settings.variant(&keys).into_iter().map(|(key, value)| format!("{key}={value}"));
        Line {
            run: run.name.clone(),
            about: topic.name,
            labels: topic.fraction,
            held_out: topic.held_out,
            split,
            seed,
            objective: run.settings.objective().to_owned(),
            settings: variant.collect::<Vec<_>>().join(" "),
            questions: evaluation.examples,
            accuracy: evaluation.accuracy,
            right_among_candidates: evaluation.in_beam,
        }
    };
    evaluated().map(line).collect()
}

/// As CSV with a header.
pub(crate) fn write(lines: &[Line]) -> String {
    let mut writer = csv::Writer::from_writer(vec![]);
    for line in lines {
        // Strings and numbers are always a line of CSV.
        let _ = writer.serialize(line);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}
