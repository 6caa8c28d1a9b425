//! Trains the cells of a sweep or a comparison in parallel processes.
//!
//! Each cell is a process `xpr train`, so a cell that fails does not stop the others, and its memory is freed when it ends. Its standard input is a
//! pipe to this process. The pipe closes when this process ends, however it ends, and the cell ends then too.

use super::cell_display::{CellDisplay, RunningCell};
use super::{find_data, find_embeddings};
use crate::arguments::CellArguments;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use xpr_learn::experiment::DataComparison;
use xpr_learn::experiment::sweep::{Cell, CellProgress};
use xpr_run::{Config, RunFile, RunFolder};

/// The time between checks whether a cell has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Trains cells, several in parallel, and returns those that failed.
pub(super) fn train_cells<'c>(
    cells: &[&'c Cell],
    folder: &Path,
    arguments: &CellArguments,
) -> Result<Vec<&'c Cell>> {
    let mut waiting = cells.to_vec();
    let jobs = usize::from(arguments.jobs);
    let mut display = CellDisplay::new(cells.len(), jobs);
    let mut running: Vec<RunningCell<'c>> = Vec::new();
    let mut failed = Vec::new();
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < jobs {
            // Another sweep, or processes of a killed one that are about to end, may still train some cells; those wait until they end.
            let Some(next) = waiting.iter().position(|cell| !cell.is_in_use(folder)) else { break };
            let cell = waiting.remove(next);
            let child = spawn(cell, folder, arguments)?;
            running.push(display.start(cell, child, cell.folder(folder)));
        }
        sleep(POLL_INTERVAL);
        let mut index = 0;
        while index < running.len() {
            let Some(status) = running[index].child.try_wait().context("waiting for a cell")? else {
                index += 1;
                continue;
            };
            let ended = running.remove(index);
            let accuracy = ended.cell.accuracy(folder).filter(|_| status.success());
            if accuracy.is_none() {
                failed.push(ended.cell);
            }
            let result = accuracy.map_or_else(|| "failed".to_owned(), |share| percent(share) + " %");
            display.end(&ended, &result, &running);
        }
        display.refresh(&mut running);
    }
    display.finish();
    Ok(failed)
}

/// Fails if the data of a cell changed since its training began. The result would not belong to the data.
pub(super) fn check_data<'c>(
    cells: impl IntoIterator<Item = &'c Cell>,
    folder: &Path,
    arguments: &CellArguments,
) -> Result<()> {
    let mut comparison = DataComparison::default();
    for cell in cells {
        let Ok(run) = RunFolder::open(&cell.folder(folder)) else { continue };
        // Settings that cannot be read are reported where they are used.
        let Ok(read) = Config::read(Some(&run.path(RunFile::Config)), &[]) else { continue };
        let mut config = read.config;
        find_data(&mut config, arguments.paths.data.as_deref());
        if find_embeddings(&mut config, arguments.paths.embeddings.as_deref()).is_ok() {
            comparison.check(&run, &config)?;
        }
    }
    Ok(())
}

/// Fails if cells failed, of `trained` in all.
pub(super) fn check_failed(failed: &[&Cell], trained: usize, folder: &Path) -> Result<()> {
    if let Some(cell) = failed.first() {
        let log = log_file(cell, folder);
        bail!("{} of {trained} runs failed; the log of the first is {}", failed.len(), log.display());
    }
    Ok(())
}

/// Starts or resumes the training of a cell. Its output is appended to its log file.
fn spawn(cell: &Cell, folder: &Path, arguments: &CellArguments) -> Result<Child> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = log_file(cell, folder);
    let in_path = || path.display().to_string();
    let log = File::options().create(true).append(true).open(&path).with_context(in_path)?;
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command
        .args(["train", "--until-stdin-closes"])
        .arg("--out")
        .arg(cell.folder(folder))
        .args(["--threads", &arguments.threads.to_string()]);
    // Cells that differ only in their use of unlabeled questions share an ensemble.
    command.arg("--members").arg(folder.join("members"));
    match cell.progress(folder) {
        CellProgress::New => {
            command.arg(&cell.experiment);
            for setting in cell.arguments() {
                command.args(["--set", &setting]);
            }
        }
        CellProgress::Begun | CellProgress::Finished => {
            command.arg("--resume");
        }
    }
    for (flag, path) in [("--data", &arguments.paths.data), ("--embeddings", &arguments.paths.embeddings)] {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    let errors = log.try_clone().context("the log of a cell")?;
    command.stdin(Stdio::piped()).stdout(log).stderr(errors);
    command.spawn().with_context(|| format!("starting {}", cell.name))
}

/// Returns the log file of a cell.
fn log_file(cell: &Cell, folder: &Path) -> PathBuf {
    folder.join(format!("{}.log", cell.name))
}

/// Returns a share from 0 to 1 in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
