//! Trains the cells of a sweep or a comparison in parallel processes.
//!
//! Each cell is a process `xpr train`, so a cell that fails does not stop the others, and its memory is freed when it ends. Its standard input is a
//! pipe to this process. The pipe closes when this process ends, however it ends, and the cell ends then too; a line in it tells the cell to stop at a
//! checkpoint. Cells are claimed ([`Claims`]), so any number of processes, also of other machines, can train the cells of one folder.

use super::cell_display::{CellDisplay, RunningCell};
use crate::arguments::CellArguments;
use crate::stop;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xpr_learn::experiment::sweep::{Cell, CellProgress};
use xpr_learn::experiment::{DataComparison, check_settings};
use xpr_run::{CellCost, CellState, Claim, ClaimEnd, Claims, Config, RunFolder, SweepPart};

/// The time between checks whether a cell has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The time between looks whether a cell has become free that another process had.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// A cell that is to be trained.
pub(super) struct WaitingCell<'c> {
    pub(super) cell: &'c Cell,
    /// The part of the sweep that trains the cell, if it is not that of this process. This process trains it if the part died.
    pub(super) of_other_part: Option<SweepPart>,
}

/// What became of cells.
#[derive(Default)]
pub(super) struct TrainedCells<'c> {
    pub(super) failed: Vec<&'c Cell>,
    /// Whether this process was told to stop before all were trained.
    pub(super) is_stopped: bool,
}

/// Trains cells, several in parallel. Waits for those that other processes train, except with a part of a sweep, which leaves them.
pub(super) fn train_cells<'c>(
    cells: Vec<WaitingCell<'c>>,
    folder: &Path,
    arguments: &CellArguments,
    part: Option<SweepPart>,
) -> Result<TrainedCells<'c>> {
    if cells.is_empty() {
        return Ok(TrainedCells::default());
    }
    stop::on_signals()?;
    let own = cells.iter().filter(|cell| cell.of_other_part.is_none()).count();
    let training = CellTraining {
        claims: Claims::join(folder, part)?,
        part,
        folder,
        arguments,
        display: CellDisplay::new(own, usize::from(arguments.jobs)),
        waiting: cells,
        running: vec![],
        failed: vec![],
        nothing_free_since: None,
        is_waiting: false,
    };
    training.run()
}

/// Cells in training.
struct CellTraining<'c, 'a> {
    claims: Claims,
    part: Option<SweepPart>,
    folder: &'a Path,
    arguments: &'a CellArguments,
    display: CellDisplay,
    waiting: Vec<WaitingCell<'c>>,
    running: Vec<RunningCell<'c>>,
    failed: Vec<&'c Cell>,
    /// When it was last seen that other processes have all cells that wait.
    nothing_free_since: Option<Instant>,
    /// Whether it was said that this process waits for others.
    is_waiting: bool,
}

impl<'c> CellTraining<'c, '_> {
    fn run(mut self) -> Result<TrainedCells<'c>> {
        let mut is_stopping = false;
        loop {
            if self.claims.beat() {
                self.end_lost_cells()?;
            }
            if !is_stopping && stop::is_requested() {
                is_stopping = true;
                self.tell_to_stop();
            }
            if !is_stopping {
                self.start_cells()?;
            }
            if self.running.is_empty() && (is_stopping || self.waiting.is_empty()) {
                break;
            }
            sleep(POLL_INTERVAL);
            self.end_cells()?;
            self.display.refresh(&mut self.running);
        }
        self.display.finish();
        Ok(TrainedCells { failed: self.failed, is_stopped: is_stopping })
    }

    /// Starts as many cells as may be trained at a time.
    fn start_cells(&mut self) -> Result<()> {
        let is_early = self.nothing_free_since.is_some_and(|since| since.elapsed() < SCAN_INTERVAL);
        while !is_early && self.running.len() < usize::from(self.arguments.jobs) && !self.waiting.is_empty() {
            let Some((cell, claim)) = self.next_cell()? else {
                self.nothing_free_since = Some(Instant::now());
                self.wait_for_others();
                break;
            };
            self.nothing_free_since = None;
            let child = spawn(cell, self.folder, self.arguments)?;
            self.running.push(self.display.start(cell, claim, child, cell.folder(self.folder)));
        }
        Ok(())
    }

    /// Says that this process waits for others. A part of a sweep does not.
    fn wait_for_others(&mut self) {
        if !self.running.is_empty() || self.waiting.is_empty() {
            return;
        }
        if self.part.is_some() {
            self.waiting.clear();
        } else if !std::mem::replace(&mut self.is_waiting, true) {
            let line = format!("waiting for {} runs of other processes", self.waiting.len());
            self.display.write_line(&line);
        }
    }

    /// Claims the first cell that no other process has. Cells that are finished meanwhile wait no more.
    fn next_cell(&mut self) -> Result<Option<(&'c Cell, Claim)>> {
        let mut dead_parts: BTreeMap<usize, bool> = BTreeMap::new();
        let mut index = 0;
        while index < self.waiting.len() {
            let WaitingCell { cell, of_other_part } = self.waiting[index];
            let is_finished = || cell.progress(self.folder) == CellProgress::Finished;
            if is_finished() {
                self.remove_waiting(index);
                continue;
            }
            index += 1;
            if let Some(part) = of_other_part {
                let mut is_dead =
                    || *dead_parts.entry(part.index).or_insert_with(|| self.claims.is_dead(part));
                let is_left = match self.claims.state(&cell.name)? {
                    CellState::LeftBehind | CellState::Ended(ClaimEnd::Stopped) => true,
                    CellState::Unclaimed => is_dead(),
                    CellState::Held(_) | CellState::Ended(_) => false,
                };
                if !is_left {
                    continue;
                }
            }
            // The process of a killed sweep may be about to end.
            if cell.is_in_use(self.folder) {
                continue;
            }
            let Some(claim) = self.claims.take(&cell.name)? else { continue };
            if is_finished() {
                // It was finished between the look and the claim.
                self.claims.end(&claim, ClaimEnd::Finished, CellCost::default())?;
                continue;
            }
            self.waiting.remove(index - 1);
            if of_other_part.is_some() {
                self.display.add_cell();
            }
            return Ok(Some((cell, claim)));
        }
        Ok(None)
    }

    fn remove_waiting(&mut self, index: usize) {
        if self.waiting.remove(index).of_other_part.is_none() {
            self.display.remove_cell();
        }
    }

    /// Records the cells whose process ended.
    fn end_cells(&mut self) -> Result<()> {
        let mut index = 0;
        while index < self.running.len() {
            let running = &mut self.running[index];
            let Some(status) = running.child.try_wait().context("waiting for a cell")? else {
                running.measure_memory();
                index += 1;
                continue;
            };
            let ended = self.running.remove(index);
            let accuracy = ended.cell.accuracy(self.folder).ok().flatten().filter(|_| status.success());
            let (end, result) = match accuracy {
                Some(share) => (ClaimEnd::Finished, percent(share) + " %"),
                None if status.code() == Some(i32::from(stop::EXIT_CODE)) => {
                    (ClaimEnd::Stopped, "stopped".to_owned())
                }
                None => (ClaimEnd::Failed, "failed".to_owned()),
            };
            if end == ClaimEnd::Failed {
                self.failed.push(ended.cell);
            }
            self.claims.end(&ended.claim, end, ended.cost())?;
            self.display.end(&ended, &result, &self.running);
        }
        Ok(())
    }

    /// Ends the processes of cells that another process took over, because this one seemed to be dead.
    fn end_lost_cells(&mut self) -> Result<()> {
        let claims = &self.claims;
        for mut lost in self.running.extract_if(.., |running| claims.is_lost(&running.claim)) {
            lost.child.kill().context("ending a cell")?;
            lost.child.wait().context("ending a cell")?;
            self.display.end(&lost, "taken over by another process", &[]);
            self.waiting.push(WaitingCell { cell: lost.cell, of_other_part: None });
        }
        Ok(())
    }

    /// Tells the processes of all cells to stop at a checkpoint.
    fn tell_to_stop(&mut self) {
        self.display.write_line("told to stop; the runs stop at a checkpoint");
        for running in &mut self.running {
            if let Some(stdin) = &mut running.child.stdin {
                // A cell that just ended has no standard input.
                let _ = stdin.write_all(b"stop\n");
            }
        }
    }
}

/// Fails if a cell was begun with other settings or data than are asked for. Its result would not belong to them.
pub(super) fn check_cells<'c>(
    cells: impl IntoIterator<Item = (&'c Cell, &'c Config)>,
    folder: &Path,
) -> Result<()> {
    let mut comparison = DataComparison::default();
    for (cell, config) in cells {
        let Ok(run) = RunFolder::open(&cell.folder(folder)) else { continue };
        check_settings(&run, config, &[])?;
        comparison.check(&run, config)?;
    }
    Ok(())
}

/// Fails if cells failed, of `count` in all, or if this process was told to stop.
pub(super) fn check_trained(trained: &TrainedCells<'_>, count: usize, folder: &Path) -> Result<()> {
    if let Some(cell) = trained.failed.first() {
        let log = log_file(cell, folder);
        bail!("{} of {count} runs failed; the log of the first is {}", trained.failed.len(), log.display());
    }
    if trained.is_stopped {
        return Err(stop::Stopped("stopped, as it was told to; the same command goes on".to_owned()).into());
    }
    Ok(())
}

/// Starts or resumes the training of a cell. Its output is appended to its log file.
fn spawn(cell: &Cell, folder: &Path, arguments: &CellArguments) -> Result<Child> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = log_file(cell, folder);
    let in_path = || path.display().to_string();
    // A link would lead elsewhere, and a pipe would be waited for.
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        bail!(
            "{}: this is not a regular file; remove it, the log of the cell is written there",
            path.display()
        );
    }
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
