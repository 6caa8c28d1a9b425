//! `xpr eval`: evaluates a trained parser on its test questions.

use super::train::write_evaluation;
use super::training_progress::write_failed_labels;
use super::{find_data, open_run, use_threads, write_json, write_notes};
use crate::arguments::EvalArguments;
use crate::table;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use xpr_data::write_output;
use xpr_learn::experiment::{DatabaseRecord, RunEvaluation, ZeroShotEvaluation};
use xpr_run::{Evaluation, Prediction};

pub(crate) fn run(arguments: &EvalArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(0)?;
    if let Some(databases) = &arguments.databases {
        return evaluate_base(arguments, databases, out);
    }
    let mut run = open_run(&arguments.trained, &arguments.set)?;
    find_data(&mut run.config, arguments.data.as_deref());
    if let Some(beam) = arguments.beam {
        run.config.eval.beam = usize::from(beam);
    }
    let RunEvaluation { evaluation, failed, notes } = match &arguments.test {
        Some(file) => run.evaluate_on(file)?,
        // The run records what its own settings come to.
        None if arguments.set.is_empty() && arguments.beam.is_none() => run.evaluate()?,
        None => run.evaluate_unrecorded()?,
    };
    write_notes(notes);
    write_failed_labels(&failed);
    write_evaluation(out, &evaluation, arguments.output.json)
}

/// The output of `--databases` with `--json`.
#[derive(Serialize)]
struct DatabasesReport<'a> {
    #[serde(flatten)]
    evaluation: &'a Evaluation,
    databases: &'a [DatabaseRecord],
}

/// Evaluates a base on databases that it was not trained on.
fn evaluate_base(arguments: &EvalArguments, databases: &Path, out: &mut dyn Write) -> Result<()> {
    let mut settings = arguments.set.clone();
    settings.extend(arguments.beam.map(|beam| format!("eval.beam={beam}")));
    let zero_shot = ZeroShotEvaluation::of_base(&arguments.trained.run, databases, &settings)?;
    if let Some(path) = &arguments.predictions {
        write_predictions(path, &zero_shot)?;
    }
    let (evaluation, databases) = (&zero_shot.over_questions(), zero_shot.databases.as_slice());
    if arguments.output.json {
        return write_json(out, &DatabasesReport { evaluation, databases });
    }
    let row = |DatabaseRecord { name, questions, evaluation, .. }: &DatabaseRecord| {
        let accuracy = evaluation.as_ref().map(|evaluation| format!("{:.1} %", 100.0 * evaluation.accuracy));
        vec![name.clone(), questions.to_string(), accuracy.unwrap_or_default()]
    };
    let rows: Vec<Vec<String>> = databases.iter().map(row).collect();
    table::write(out, &["database", "questions", "correct"], &rows)?;
    writeln!(out)?;
    write_evaluation(out, evaluation, false)
}

/// A line of `--predictions`.
#[derive(Serialize)]
struct DatabasePrediction<'a> {
    database: &'a str,
    #[serde(flatten)]
    prediction: &'a Prediction,
}

/// Writes the answers to the questions of all databases, in the order of the databases.
fn write_predictions(path: &Path, zero_shot: &ZeroShotEvaluation) -> Result<()> {
    let names = zero_shot.databases.iter().flat_map(|database| {
        let answers = database.evaluation.as_ref().map_or(0, |evaluation| evaluation.examples);
        std::iter::repeat_n(database.name.as_str(), answers)
    });
    let mut lines = Vec::new();
    for (database, prediction) in names.zip(&zero_shot.predictions) {
        serde_json::to_writer(&mut lines, &DatabasePrediction { database, prediction })?;
        lines.push(b'\n');
    }
    write_output(path, &lines).with_context(|| path.display().to_string())
}
