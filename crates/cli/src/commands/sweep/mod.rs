//! `xpr sweep`: trains a grid of experiments in parallel processes, here or on a scheduler.

mod kubernetes;
mod results;
mod slurm;
mod status;
mod tasks;

use super::cells::{WaitingCell, check_cells, check_trained, train_cells};
use super::{read_settings, write_json};
use crate::arguments::{DataPaths, SweepArguments};
use crate::printer;
use crate::shell::{quoted, quoted_path};
use anyhow::{Context, Result};
use results::{CellResult, write_table};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use xpr_learn::experiment::sweep::{Cell, CellProgress, MissingFolder, Sweep};
use xpr_run::{Config, SweepPart};

pub(crate) fn run(arguments: &SweepArguments, out: &mut dyn Write) -> Result<()> {
    let sweep = Sweep::read(&arguments.sweep)?;
    if arguments.list {
        return list(&sweep, out);
    }
    let folder = arguments.out.as_deref().context("no folder for the runs; name one with --out")?;
    if arguments.status {
        return status::write(&sweep, folder, arguments, out);
    }
    if arguments.slurm {
        check_cells(sweep.cells.iter().zip(&configs(&sweep, &arguments.training.paths)?), folder)?;
        return slurm::submit(&sweep, folder, arguments, out);
    }
    if arguments.k8s {
        check_cells(sweep.cells.iter().zip(&configs(&sweep, &arguments.training.paths)?), folder)?;
        return kubernetes::write_job(&sweep, folder, arguments, out);
    }
    train(&sweep, folder, arguments, out)
}

/// Trains the cells, or those of a part, and writes the results.
fn train(sweep: &Sweep, folder: &Path, arguments: &SweepArguments, out: &mut dyn Write) -> Result<()> {
    let part = arguments.shard;
    let configs = configs(sweep, &arguments.training.paths)?;
    let check = || check_cells(sweep.cells.iter().zip(&configs), folder);
    check()?;
    let cells = cells_to_train(sweep, folder, part);
    let count = cells.len();
    let trained = train_cells(cells, folder, &arguments.training, part)?;
    if count > 0 {
        // Experiments and data may have changed meanwhile, and other processes train in the folder too.
        check()?;
    }
    let result = |cell| Ok(CellResult::new(cell, cell.accuracy(folder)?));
    let results: Vec<CellResult<'_>> = sweep.cells.iter().map(result).collect::<Result<_>>()?;
    match (arguments.output.json, part) {
        (true, _) => write_json(out, &results)?,
        // The whole table is written by whoever waits for all parts.
        (false, Some(_)) => {
            let finished = results.iter().filter(|result| result.accuracy.is_some()).count();
            writeln!(out, "{finished} of {} cells are finished", results.len())?;
        }
        (false, None) => write_table(out, &sweep.cells, &results)?,
    }
    check_trained(&trained, count, folder)
}

/// Returns the settings of the cells, as the training of each reads them.
fn configs(sweep: &Sweep, paths: &DataPaths) -> Result<Vec<Config>> {
    sweep.cells.iter().map(|cell| cell_config(cell, paths)).collect()
}

/// Returns the settings of a cell, as its training reads them.
fn cell_config(cell: &Cell, paths: &DataPaths) -> Result<Config> {
    let settings: Vec<String> = cell.arguments().collect();
    let read = read_settings(Some(&cell.experiment), &settings, paths);
    Ok(read.with_context(|| format!("cell {}", cell.name))?.config)
}

/// Returns the cells that are to be trained, those of other parts last, and writes how many are finished or left out because their data is
/// missing.
fn cells_to_train<'s>(sweep: &'s Sweep, folder: &Path, part: Option<SweepPart>) -> Vec<WaitingCell<'s>> {
    let unfinished = unfinished_cells(sweep, folder);
    let cell = |index: usize| WaitingCell {
        cell: &sweep.cells[index],
        of_other_part: part
            .filter(|part| !part.has(index))
            .map(|part| SweepPart { index: index % part.of, ..part }),
    };
    let cells = unfinished.into_iter().map(cell);
    let (own, of_others): (Vec<_>, Vec<_>) = cells.partition(|cell| cell.of_other_part.is_none());
    if let Some(SweepPart { index, of }) = part {
        let _ = writeln!(printer::stderr(), "{} of the others are in part {index}/{of}", own.len());
    }
    own.into_iter().chain(of_others).collect()
}

/// Returns the indices of the cells that can be trained and are not, and writes how many are finished or left out because their data is missing.
fn unfinished_cells(sweep: &Sweep, folder: &Path) -> Vec<usize> {
    let mut missing: BTreeMap<MissingFolder, usize> = BTreeMap::new();
    let (mut unfinished, mut finished) = (Vec::new(), 0);
    for (index, cell) in sweep.cells.iter().enumerate() {
        match cell.missing_folder() {
            Some(folder) => *missing.entry(folder).or_default() += 1,
            None if cell.progress(folder) == CellProgress::Finished => finished += 1,
            None => unfinished.push(index),
        }
    }
    let _ = writeln!(printer::stderr(), "{} cells, {finished} of them finished", sweep.cells.len());
    for (folder, count) in missing {
        let (folder, commands) = match folder {
            MissingFolder::Project(folder) => (folder, "`xpr data import` or `xpr init`"),
            MissingFolder::Base(folder) => (folder, "`xpr pretrain`"),
        };
        let _ = writeln!(
            printer::stderr(),
            "{count} left out: there is no {}; create it with {commands}",
            folder.display()
        );
    }
    unfinished
}

/// Writes the `xpr train` command of each cell.
fn list(sweep: &Sweep, out: &mut dyn Write) -> Result<()> {
    for cell in &sweep.cells {
        write!(out, "xpr train {}", quoted_path(&cell.experiment))?;
        for setting in cell.arguments() {
            write!(out, " --set {}", quoted(&setting))?;
        }
        writeln!(out, " --out {}", quoted(&cell.name))?;
    }
    Ok(())
}

/// Returns the name of a sweep: that of its file without the ending.
fn sweep_name(file: &Path) -> &str {
    file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("sweep")
}
