//! `xpr compare`: compares experiments on held-out training questions.

use super::cells::{WaitingCell, check_cells, check_trained, train_cells};
use super::{base_setting, read_settings, write_json, write_notes};
use crate::arguments::{CompareArguments, HeldOutFrom};
use crate::printer;
use anyhow::{Context, Result};
use std::io::Write;
use xpr_learn::experiment::comparison::{ComparisonOptions, ComparisonPlan, ExperimentVariant};
use xpr_learn::experiment::sweep::CellProgress;
use xpr_report::{ExperimentComparison, ExperimentRuns};
use xpr_run::{Config, HeldOut, ReadConfig};

pub(crate) fn run(arguments: &CompareArguments, out: &mut dyn Write) -> Result<()> {
    let plan = plan(arguments)?;
    if !plan.left_out.is_empty() {
        let names = plan.left_out.join(", ");
        write_notes([format!(
            "{} databases have too few questions and are left out: {names}",
            plan.left_out.len()
        )]);
    }
    let folder = &arguments.out;
    let check = || check_cells(plan.runs.iter().map(|run| (&run.cell, &run.config)), folder);
    check()?;
    let unfinished: Vec<WaitingCell<'_>> = plan
        .runs
        .iter()
        .map(|run| WaitingCell { cell: &run.cell, of_other_part: None })
        .filter(|waiting| waiting.cell.progress(folder) != CellProgress::Finished)
        .collect();
    let count = unfinished.len();
    let finished = plan.runs.len() - count;
    let _ = writeln!(printer::stderr(), "{} runs, {finished} of them finished", plan.runs.len());
    let trained = train_cells(unfinished, folder, &arguments.training, None)?;
    check_trained(&trained, count, folder)?;
    if count > 0 {
        // Experiments and data may have changed meanwhile, and other processes train in the folder too.
        check()?;
    }

    let names = plan.experiments.iter().cloned();
    let runs: Vec<ExperimentRuns> =
        names.zip(plan.folders(folder)).map(|(name, folders)| ExperimentRuns { name, folders }).collect();
    let comparison = ExperimentComparison::read(&plan.domains, &runs)?;
    if arguments.output.json {
        return write_json(out, &comparison);
    }
    Ok(write!(out, "{}", comparison.to_terminal())?)
}

/// Reads the settings of the experiments, and plans their runs.
fn plan(arguments: &CompareArguments) -> Result<ComparisonPlan> {
    let variants = ExperimentVariant::read_all(&arguments.experiments, &arguments.vary)?;
    let mut set = Vec::new();
    if let Some(base) = &arguments.base {
        set.push(base_setting(base)?);
    }
    set.extend(arguments.set.iter().cloned());
    let mut read: Vec<ReadConfig> = Vec::new();
    for variant in &variants {
        let settings = variant.arguments(&set);
        let experiment = read_settings(Some(&variant.file), &settings, &arguments.training.paths);
        read.push(experiment.with_context(|| variant.name.clone())?);
    }
    write_notes(notes(&read));
    let configs = read.into_iter().map(|read| read.config);
    let experiments: Vec<(ExperimentVariant, Config)> = variants.into_iter().zip(configs).collect();
    let options = ComparisonOptions {
        settings: &set,
        domains: &arguments.domains,
        databases: arguments.databases.as_deref(),
        seeds: usize::from(arguments.seeds),
        held_out: arguments.held_out.map(|held_out| held_out as usize),
        from: match arguments.from {
            HeldOutFrom::Labeled => HeldOut::Labeled,
            HeldOutFrom::Rest => HeldOut::Rest,
            HeldOutFrom::Transductive => HeldOut::Transductive,
        },
    };
    Ok(ComparisonPlan::new(&experiments, &options)?)
}

/// Returns the notes about the settings: old names, and settings that no experiment uses. It is no mistake if some experiments
/// ignore a setting of others.
fn notes(read: &[ReadConfig]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in read.iter().flat_map(|read| &read.renamed).map(ToString::to_string) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let first = read.first().map_or(&[][..], |first| &first.ignored);
    let ignored_by_all = first
        .iter()
        .filter(|setting| read.iter().all(|read| read.ignored.iter().any(|other| other.key == setting.key)));
    notes.extend(ignored_by_all.map(ToString::to_string));
    notes
}
