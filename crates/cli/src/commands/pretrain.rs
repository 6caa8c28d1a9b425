//! `xpr pretrain`: trains a parser on many databases, from which the parsers of other databases start.

use super::loading_bar::LoadingBar;
use super::train::write_evaluation;
use super::training_progress::TrainingProgress;
use super::{embeddings_in, use_threads};
use crate::arguments::PretrainArguments;
use crate::printer;
use crate::stop;
use anyhow::{Context, Result};
use std::io::Write;
use xpr_learn::experiment::{PlannedSteps, Pretraining};
use xpr_run::{Evaluation, PretrainConfig, RunFile, RunFolder};

pub(crate) fn run(arguments: &PretrainArguments, out: &mut dyn Write) -> Result<()> {
    stop::on_signals()?;
    stop::end_when_overdue()?;
    use_threads(arguments.pool.threads)?;
    let (folder, config) = if arguments.resume { resume(arguments)? } else { start(arguments)? };
    let evaluation = pretrain(config, &folder, arguments.resume)?;
    write_evaluation(out, &evaluation, arguments.output.json)
}

/// Trains in a folder with progress, from its last checkpoint if `resume`. Returns the evaluation on the databases that are held
/// out.
pub(super) fn pretrain(config: PretrainConfig, folder: &RunFolder, resume: bool) -> Result<Evaluation> {
    let mut bar = LoadingBar::new();
    let load = Pretraining::load(config, &mut |done, total| bar.show("questions prepared", done, total));
    bar.finish();
    let pretraining = load?;
    write_data(&pretraining);
    let steps = pretraining.config().train.steps;
    let plan = PlannedSteps { member: steps, student: 0, fold: 0, folds: 0 };
    let mut progress = TrainingProgress::with_plan(steps, plan);
    let evaluation = pretraining.run(folder, resume, &mut progress)?;
    progress.finish();
    Ok(evaluation)
}

/// Creates the folder, and returns the settings.
fn start(arguments: &PretrainArguments) -> Result<(RunFolder, PretrainConfig)> {
    let file = arguments.file.as_deref().context("name a file with the settings of pretraining")?;
    let mut config = PretrainConfig::read(file, &arguments.set, arguments.paths.data.as_deref())?;
    embeddings_in(&mut config.data.embeddings, arguments.paths.embeddings.as_deref())?;
    Ok((RunFolder::create(&arguments.out)?, config))
}

/// Opens the folder, and returns the settings stored in it.
fn resume(arguments: &PretrainArguments) -> Result<(RunFolder, PretrainConfig)> {
    let folder = RunFolder::open_locked(&arguments.out)?;
    let config = PretrainConfig::read(&folder.path(RunFile::Config), &[], None)?;
    Ok((folder, config))
}

/// Writes what the parser learns from.
fn write_data(pretraining: &Pretraining) {
    let databases = pretraining.databases();
    let left_out: usize = databases.iter().map(|database| database.left_out).sum();
    let _ = writeln!(
        printer::stderr(),
        "{} questions about {} databases, {left_out} more are left out; held out: {}",
        pretraining.train_examples().len(),
        databases.len(),
        match pretraining.held_out().collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => "none".to_owned(),
            names => names,
        }
    );
}
