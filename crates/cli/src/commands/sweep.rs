//! `xpr sweep`: many experiments, as processes side by side.
//!
//! Every cell is an `xpr train` of its own, so one that fails takes no other with it, and memory is given back.

use super::write_json;
use crate::arguments::SweepArguments;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xpr_learn::sweep::{Cell, Progress, Sweep};

#[derive(Serialize)]
struct Row<'a> {
    cell: &'a str,
    settings: BTreeMap<&'a str, &'a str>,
    accuracy: Option<f64>,
}

pub(crate) fn run(arguments: &SweepArguments, out: &mut dyn Write) -> Result<()> {
    let sweep = Sweep::read(&arguments.sweep)?;
    let mut waiting: Vec<&Cell> =
        sweep.cells.iter().filter(|cell| cell.progress(&arguments.out) != Progress::Finished).collect();
    let (all, to_do) = (sweep.cells.len(), waiting.len());
    let _ = writeln!(io::stderr(), "{all} cells, {} of them finished", all - to_do);
    // The next cell is taken from the end.
    waiting.reverse();
    let start = Instant::now();
    let mut running: Vec<(&Cell, Child)> = Vec::new();
    let mut failed = Vec::new();
    let mut done = 0;
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < usize::from(arguments.jobs) {
            // A sweep that was killed may have left cells at work: they are waited for.
            let Some(next) = waiting.iter().rposition(|cell| !cell.is_in_use(&arguments.out)) else { break };
            let cell = waiting.remove(next);
            running.push((cell, begin(cell, arguments)?));
        }
        sleep(Duration::from_millis(200));
        let mut still = Vec::new();
        for (cell, mut child) in running {
            match child.try_wait().context("waiting for a cell")? {
                None => still.push((cell, child)),
                Some(status) => {
                    done += 1;
                    let accuracy = cell.accuracy(&arguments.out);
                    let told = match accuracy.filter(|_| status.success()) {
                        Some(accuracy) => format!("{:.1} %", 100.0 * accuracy),
                        None => {
                            failed.push(cell);
                            "failed".to_owned()
                        }
                    };
                    let left = start.elapsed().mul_f64((to_do - done) as f64 / f64::from(done as u32));
                    let left = Duration::from_secs(left.as_secs());
                    let _ = writeln!(io::stderr(), "{done}/{to_do}  {}  {told}  {left:?} left", cell.name);
                }
            }
        }
        running = still;
    }
    let rows: Vec<Row<'_>> = sweep
        .cells
        .iter()
        .map(|cell| Row {
            cell: &cell.name,
            settings: cell.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            accuracy: cell.accuracy(&arguments.out),
        })
        .collect();
    if arguments.json {
        write_json(out, &rows)?;
    } else {
        let widest = rows.iter().map(|row| row.cell.len()).max().unwrap_or(0);
        for row in &rows {
            let accuracy =
                row.accuracy.map_or_else(|| "     –".to_owned(), |share| format!("{:6.1}", 100.0 * share));
            writeln!(out, "{:widest$}  {accuracy}", row.cell)?;
        }
    }
    if let Some(cell) = failed.first() {
        let log = log_of(cell, arguments);
        bail!("{} of {to_do} cells failed; the first one's log is {}", failed.len(), log.display());
    }
    Ok(())
}

/// Starts a cell, or goes on with it. What it says goes to a file beside its folder.
fn begin(cell: &Cell, arguments: &SweepArguments) -> Result<Child> {
    let folder = cell.folder(&arguments.out);
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let log = log_of(cell, arguments);
    let log =
        File::options().create(true).append(true).open(&log).with_context(|| log.display().to_string())?;
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.arg("train").arg("--out").arg(&folder).args(["--threads", &arguments.threads.to_string()]);
    // Cells that differ only in what they do with unlabeled questions share their committees.
    command.arg("--members").arg(arguments.out.join("members"));
    match cell.progress(&arguments.out) {
        Progress::New => {
            command.arg(&cell.experiment);
            for setting in cell.arguments() {
                command.args(["--set", &setting]);
            }
        }
        Progress::Begun | Progress::Finished => {
            command.arg("--resume");
        }
    }
    for (flag, path) in [("--data", &arguments.data), ("--embeddings", &arguments.embeddings)] {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    let errors = log.try_clone().context("the log of a cell")?;
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    command.spawn().with_context(|| format!("starting {}", cell.name))
}

/// Where what a cell says is kept.
fn log_of(cell: &Cell, arguments: &SweepArguments) -> PathBuf {
    arguments.out.join(format!("{}.log", cell.name))
}
