//! `xpr sweep --status`: where each cell of a sweep is.

use super::cell_config;
use crate::arguments::{DataPaths, SweepArguments};
use crate::commands::cell_display::progress_of;
use crate::commands::write_json;
use crate::table;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use xpr_learn::experiment::check_settings;
use xpr_learn::experiment::sweep::{Cell, CellProgress, Sweep};
use xpr_run::{CellState, ClaimEnd, Claims, RunFolder, SweepProcess};

/// Where a cell is.
#[derive(Serialize)]
struct CellStatus<'c> {
    cell: &'c str,
    /// One of [`STATES`].
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    /// The process that trains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
}

/// The states of a cell, in the order in which they are shown.
const STATES: [&str; 8] = [
    "finished",
    "in training",
    "waiting",
    "stopped",
    "left behind",
    "failed",
    "with other settings",
    "without data",
];

pub(super) fn write(
    sweep: &Sweep,
    folder: &Path,
    arguments: &SweepArguments,
    out: &mut dyn Write,
) -> Result<()> {
    let claims = Claims::watch(folder);
    let paths = &arguments.training.paths;
    let cells: Vec<CellStatus<'_>> =
        sweep.cells.iter().map(|cell| status(cell, folder, paths, &claims)).collect::<Result<_>>()?;
    if arguments.output.json {
        return write_json(out, &cells);
    }
    let counts = STATES.iter().filter_map(|state| {
        let count = cells.iter().filter(|cell| cell.state == *state).count();
        (count > 0).then(|| format!("{count} {state}"))
    });
    writeln!(out, "{} cells: {}", cells.len(), counts.collect::<Vec<_>>().join(", "))?;
    // What is finished or waits needs no line.
    let shown = cells.iter().filter(|cell| !matches!(cell.state, "finished" | "waiting" | "without data"));
    let rows: Vec<Vec<String>> = shown.map(row).collect();
    match rows.is_empty() {
        true => Ok(()),
        false => Ok(table::write(out, &["cell", "state", "step", "process"], &rows)?),
    }
}

fn row(cell: &CellStatus<'_>) -> Vec<String> {
    let step = cell.step.zip(cell.steps).map_or_else(String::new, |(step, steps)| format!("{step}/{steps}"));
    vec![cell.cell.to_owned(), cell.state.to_owned(), step, cell.process.clone().unwrap_or_default()]
}

fn status<'c>(cell: &'c Cell, folder: &Path, paths: &DataPaths, claims: &Claims) -> Result<CellStatus<'c>> {
    let (mut state, mut process) = ("waiting", None);
    if has_other_settings(cell, folder, paths)? {
        state = "with other settings";
    } else if cell.missing_folder().is_some() {
        state = "without data";
    } else if cell.progress(folder) == CellProgress::Finished {
        state = "finished";
    } else {
        match claims.state(&cell.name)? {
            CellState::Held(holder) => {
                state = "in training";
                process = holder.as_ref().map(process_name);
            }
            CellState::LeftBehind => state = "left behind",
            CellState::Ended(ClaimEnd::Stopped) => state = "stopped",
            CellState::Ended(ClaimEnd::Failed) => state = "failed",
            CellState::Unclaimed | CellState::Ended(ClaimEnd::Finished) => {}
        }
    }
    let progress = if state == "finished" { None } else { progress_of(&cell.folder(folder)) };
    Ok(CellStatus {
        cell: &cell.name,
        state,
        step: progress.as_ref().map(|progress| progress.step),
        steps: progress.map(|progress| progress.steps),
        process,
    })
}

/// Returns whether a cell was begun with other settings than it has now.
fn has_other_settings(cell: &Cell, folder: &Path, paths: &DataPaths) -> Result<bool> {
    let Ok(run) = RunFolder::open(&cell.folder(folder)) else { return Ok(false) };
    Ok(check_settings(&run, &cell_config(cell, paths)?, &[]).is_err())
}

/// Returns a process as people speak of it, such as `process 4711 on node7, part 2/8`.
fn process_name(process: &SweepProcess) -> String {
    let part = process.part.map_or_else(String::new, |part| format!(", part {}/{}", part.index, part.of));
    format!("process {} on {}{part}", process.pid, process.host)
}
