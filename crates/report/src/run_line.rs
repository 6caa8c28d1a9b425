//! One line for each run, for other programs to read.

use crate::method::{Method, Methods};
use crate::run::LoadedRun;
use crate::settings::differing;
use serde::Serialize;
use xpr_run::Evaluation;

/// A run in one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// The name of the folder.
    pub run: String,
    /// The domain or the database.
    pub about: String,
    /// The share of the training examples that are labeled.
    pub labels: f64,
    /// The number of held-out training examples the run was evaluated on; 0 for the test examples.
    pub held_out: u64,
    /// The split of the training examples.
    pub split: u64,
    /// The seed.
    pub seed: u64,
    /// The objective; `none` for labels only.
    pub objective: String,
    /// The method: `paper` or `ours`.
    pub method: Method,
    /// The file name of the word vectors; `none` for random vectors.
    pub vectors: String,
    /// The other settings in which runs of this report differ.
    pub settings: String,
    /// The number of questions.
    pub questions: usize,
    /// The share of questions that are answered correctly.
    pub accuracy: f64,
    /// The share of questions with a correct candidate in the beam.
    pub right_among_candidates: f64,
}

/// Returns a line for each evaluated run.
pub(crate) fn run_lines(runs: &[LoadedRun]) -> Vec<RunLine> {
    let evaluated: Vec<(&LoadedRun, Evaluation)> =
        runs.iter().filter_map(|run| run.evaluation.map(|evaluation| (run, evaluation))).collect();
    let keys = differing(evaluated.iter().map(|(run, _)| &run.settings));
    let methods = Methods::new(evaluated.iter().map(|(run, _)| &run.settings));
    let line = |(run, evaluation): (&LoadedRun, Evaluation)| {
        let conditions = run.settings.conditions();
        let (split, seed) = run.settings.split_and_seed();
        let variant = run.settings.variant(&keys).into_iter().map(|(key, value)| format!("{key}={value}"));
        RunLine {
            run: run.name.clone(),
            about: conditions.name,
            labels: conditions.fraction,
            held_out: conditions.held_out,
            split,
            seed,
            objective: run.settings.objective().to_owned(),
            method: methods.of(&run.settings),
            vectors: run.settings.vectors().to_owned(),
            settings: variant.collect::<Vec<_>>().join(" "),
            questions: evaluation.examples,
            accuracy: evaluation.accuracy,
            right_among_candidates: evaluation.in_beam,
        }
    };
    evaluated.into_iter().map(line).collect()
}

/// Returns the lines as CSV with a header.
pub(crate) fn write_csv(lines: &[RunLine]) -> String {
    let mut writer = csv::Writer::from_writer(vec![]);
    for line in lines {
        writer.serialize(line).expect("texts and numbers can be written as CSV");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("the fields are UTF-8")
}
