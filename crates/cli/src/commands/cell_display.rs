//! The progress of the cells of a sweep or a comparison: bars on a terminal, lines elsewhere.

use super::peak_memory_mb;
use crate::duration::brief;
use crate::printer::{self, printable};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use xpr_learn::experiment::sweep::Cell;
use xpr_run::{CellCost, Claim, Progress, RunFile, RunFolder};

/// The time between lines if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// The time between reads of the cells' progress.
const READ_INTERVAL: Duration = Duration::from_secs(1);

/// A cell that is being trained.
pub(super) struct RunningCell<'c> {
    pub(super) cell: &'c Cell,
    pub(super) child: Child,
    start: Instant,
    folder: PathBuf,
    steps: Option<ObservedSteps>,
    bar: ProgressBar,
    /// The claim by which no other process trains the cell.
    pub(super) claim: Claim,
    memory_mb: f64,
}

/// The progress of a cell since it was first read.
#[derive(Clone, Copy)]
struct ObservedSteps {
    /// The step at the first read, and its time. Earlier steps may be those of an interrupted process.
    first: usize,
    since: Instant,
    last: usize,
    total: usize,
}

/// The time a cell has taken so far, and the time it will still take if that can be estimated.
#[derive(Clone, Copy)]
struct CellTime {
    elapsed: Duration,
    left: Option<Duration>,
}

impl RunningCell<'_> {
    /// Returns what the cell took so far.
    pub(super) fn cost(&self) -> CellCost {
        CellCost { seconds: self.start.elapsed().as_secs_f64(), memory_mb: self.memory_mb }
    }

    /// Measures the memory of the cell's process. Nothing is known of it after its end.
    pub(super) fn measure_memory(&mut self) {
        if let Some(memory) = peak_memory_mb(Some(self.child.id())) {
            self.memory_mb = self.memory_mb.max(memory);
        }
    }

    /// Reads the progress in the cell's run folder, and shows it.
    fn read_progress(&mut self) {
        let Some(Progress { step: last, steps: total, .. }) = progress_of(&self.folder) else { return };
        // The steps begin again at the first for each member of the ensemble and for the parser that learns from it.
        let same_parser = self.steps.filter(|steps| steps.last <= last);
        let (first, since) =
            same_parser.map_or_else(|| (last, Instant::now()), |steps| (steps.first, steps.since));
        if self.steps.is_none() {
            set_style(&self.bar, "  {bar:20} {pos}/{len} steps  {msg}");
        }
        self.steps = Some(ObservedSteps { first, since, last, total });
        self.bar.set_length(total as u64);
        self.bar.set_position(last as u64);
    }

    fn time(&self) -> CellTime {
        let left = self.steps.filter(|steps| steps.last > steps.first).map(|steps| {
            let ratio = steps.total.saturating_sub(steps.last) as f64 / (steps.last - steps.first) as f64;
            steps.since.elapsed().mul_f64(ratio)
        });
        CellTime { elapsed: self.start.elapsed(), left }
    }
}

/// Shows the progress of cells.
pub(super) struct CellDisplay {
    bars: MultiProgress,
    bar: ProgressBar,
    is_terminal: bool,
    /// The number of cells to train.
    cells: usize,
    /// The number of cells trained in parallel.
    jobs: usize,
    /// The times that ended cells took.
    ended: Vec<Duration>,
    last_line: Instant,
    last_read: Instant,
}

impl CellDisplay {
    pub(super) fn new(cells: usize, jobs: usize) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bars = MultiProgress::new();
        let bar = if is_terminal { bars.add(ProgressBar::new(cells as u64)) } else { ProgressBar::hidden() };
        set_style(&bar, "{bar:30} {pos}/{len} runs  {msg}");
        let now = Instant::now();
        CellDisplay { bars, bar, is_terminal, cells, jobs, ended: vec![], last_line: now, last_read: now }
    }

    /// Counts a cell that is to be trained although it was not at first.
    pub(super) fn add_cell(&mut self) {
        self.cells += 1;
        self.bar.set_length(self.cells as u64);
    }

    /// Counts a cell no more, because another process has it.
    pub(super) fn remove_cell(&mut self) {
        self.cells = self.cells.saturating_sub(1);
        self.bar.set_length(self.cells as u64);
    }

    /// Adds a cell whose process was started.
    pub(super) fn start<'c>(
        &self,
        cell: &'c Cell,
        claim: Claim,
        child: Child,
        folder: PathBuf,
    ) -> RunningCell<'c> {
        let bar = if self.is_terminal {
            self.bars.insert_before(&self.bar, ProgressBar::new(0))
        } else {
            ProgressBar::hidden()
        };
        set_style(&bar, "  {msg}: loading");
        bar.set_message(printable(&cell.name).into_owned());
        RunningCell { cell, child, start: Instant::now(), folder, steps: None, bar, claim, memory_mb: 0.0 }
    }

    /// Removes a cell that ended, and writes its result. `running` are the other cells.
    pub(super) fn end(&mut self, cell: &RunningCell<'_>, result: &str, running: &[RunningCell<'_>]) {
        cell.bar.finish_and_clear();
        self.bars.remove(&cell.bar);
        let elapsed = cell.start.elapsed();
        self.ended.push(elapsed);
        self.bar.set_position(self.ended.len() as u64);
        let line = format!(
            "{}/{}  {}  {result} in {}{}",
            self.ended.len(),
            self.cells,
            cell.cell.name,
            brief(elapsed),
            self.time_left(running)
        );
        self.write_line(&line);
    }

    /// Reads and shows the progress of the running cells, at most once in [`READ_INTERVAL`].
    pub(super) fn refresh(&mut self, running: &mut [RunningCell<'_>]) {
        if self.last_read.elapsed() < READ_INTERVAL {
            return;
        }
        self.last_read = Instant::now();
        running.iter_mut().for_each(RunningCell::read_progress);
        let left = self.time_left(running);
        self.bar.set_message(left.trim_start_matches(", ").to_owned());
        if !self.is_terminal && self.last_line.elapsed() >= LINE_INTERVAL {
            let cells: Vec<String> = running
                .iter()
                .map(|running| match running.steps {
                    Some(steps) => format!("{} step {}/{}", running.cell.name, steps.last, steps.total),
                    None => running.cell.name.clone(),
                })
                .collect();
            let line = format!("{}/{}  training: {}{left}", self.ended.len(), self.cells, cells.join("; "));
            self.write_line(&line);
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn write_line(&mut self, line: &str) {
        self.last_line = Instant::now();
        let _ = match self.is_terminal {
            true => self.bars.println(printable(line)),
            false => writeln!(printer::stderr(), "{line}"),
        };
    }

    /// Returns the end of a line: the time left, or nothing if it cannot be estimated.
    fn time_left(&self, running: &[RunningCell<'_>]) -> String {
        let waiting = self.cells.saturating_sub(self.ended.len() + running.len());
        let times: Vec<CellTime> = running.iter().map(RunningCell::time).collect();
        time_left(&self.ended, &times, waiting, self.jobs)
            .map_or_else(String::new, |left| format!(", about {} left", brief(left)))
    }
}

/// Returns the progress that a cell recorded in its run folder.
pub(super) fn progress_of(folder: &Path) -> Option<Progress> {
    RunFolder::open(folder).ok()?.read_json(RunFile::Progress).ok()
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// Estimates the time that the cells will still take, from the times of ended and running cells and the number of waiting ones. Returns
/// `None` if nothing is left, or no time of a cell is known.
fn time_left(ended: &[Duration], running: &[CellTime], waiting: usize, jobs: usize) -> Option<Duration> {
    if waiting + running.len() == 0 {
        return None;
    }
    // The time of a whole cell is the mean of the ended ones, or of the estimates for the running ones.
    let whole: Vec<Duration> = match ended.is_empty() {
        false => ended.to_vec(),
        true => running.iter().filter_map(|time| time.left.map(|left| time.elapsed + left)).collect(),
    };
    if whole.is_empty() {
        return None;
    }
    let mean = whole.iter().sum::<Duration>() / whole.len() as u32;
    let lefts = running.iter().map(|time| time.left.unwrap_or_else(|| mean.saturating_sub(time.elapsed)));
    let longest = lefts.clone().max().unwrap_or_default();
    let work = lefts.sum::<Duration>() + mean * waiting as u32;
    Some((work / jobs.max(1) as u32).max(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_estimated_from_the_times_of_cells() {
        let s = Duration::from_secs;
        let cell = |elapsed, left: Option<u64>| CellTime { elapsed: s(elapsed), left: left.map(s) };
        let left = |ended: &[Duration], running: &[CellTime], waiting, jobs| {
            time_left(ended, running, waiting, jobs).map(|left| left.as_secs())
        };
        assert_eq!(left(&[], &[cell(5, None)], 3, 2), None, "no time is known");
        assert_eq!(left(&[s(5)], &[], 0, 2), None, "nothing is left");
        // Two cells run for 10 s and need 30 s more, and four of 40 s wait: 220 s for two in parallel.
        assert_eq!(left(&[], &[cell(10, Some(30)), cell(10, Some(30))], 4, 2), Some(110));
        // The mean of ended cells is the time of a waiting one.
        assert_eq!(left(&[s(100), s(200)], &[], 4, 2), Some(300));
        // A cell without an estimate needs the rest of the mean.
        assert_eq!(left(&[s(100)], &[cell(60, None)], 0, 2), Some(40));
        assert_eq!(left(&[s(100)], &[cell(160, None)], 1, 1), Some(100));
        // The sweep does not end before its slowest running cell.
        assert_eq!(left(&[s(10)], &[cell(10, Some(90))], 1, 4), Some(90));
    }
}
