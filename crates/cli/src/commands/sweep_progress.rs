//! What is seen of a sweep at work: bars on a terminal, lines elsewhere.

use crate::duration::brief;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use xpr_learn::experiment::sweep::Cell;
use xpr_run::{Progress, RunFile, RunFolder};

/// How often a line says how far everything is, where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(60);
/// How often the progress of cells is read.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// How long a cell at work took so far, and is to take if that is known.
type AtWork = (Duration, Option<Duration>);

/// A cell at work.
pub(super) struct Running<'c> {
    pub(super) cell: &'c Cell,
    pub(super) child: Child,
    start: Instant,
    folder: PathBuf,
    steps: Option<Steps>,
    bar: ProgressBar,
}

/// What a cell told of its steps.
#[derive(Clone, Copy)]
struct Steps {
    /// The first step it told of, and when: what is before is reading, or was done by an earlier process.
    first: usize,
    since: Instant,
    last: usize,
    of: usize,
}

impl Running<'_> {
    fn look(&mut self) {
        if let Some(Progress { step: last, steps: of, .. }) = progress_of(&self.folder) {
            // A member of the ensemble is trained before the parser, which begins again at the first step.
            let same = self.steps.filter(|steps| steps.last <= last);
            let (first, since) =
                same.map_or_else(|| (last, Instant::now()), |steps| (steps.first, steps.since));
            if self.steps.is_none() {
                set_style(&self.bar, "  {bar:20} {pos}/{len} steps  {msg}");
            }
            self.steps = Some(Steps { first, since, last, of });
            self.bar.set_length(of as u64);
            self.bar.set_position(last as u64);
        }
    }

    fn expected(&self) -> AtWork {
        let so_far = self.start.elapsed();
        let left = self.steps.filter(|steps| steps.last > steps.first).map(|steps| {
            let share = steps.of.saturating_sub(steps.last) as f64 / (steps.last - steps.first) as f64;
            steps.since.elapsed().mul_f64(share)
        });
        (so_far, left)
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Who shows how far a sweep is.
pub(super) struct Display {
    bars: MultiProgress,
    bar: ProgressBar,
    is_terminal: bool,
    cells: usize,
    finished: Vec<Duration>,
    last_line: Instant,
    last_look: Instant,
}

impl Display {
    /// Of so many cells to train.
    pub(super) fn new(cells: usize) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bars = MultiProgress::new();
        let bar = if is_terminal { bars.add(ProgressBar::new(cells as u64)) } else { ProgressBar::hidden() };
        set_style(&bar, "{bar:30} {pos}/{len} cells  {msg}");
        let now = Instant::now();
        Display { bars, bar, is_terminal, cells, finished: vec![], last_line: now, last_look: now }
    }

    /// A cell begins.
    pub(super) fn begins<'c>(&self, cell: &'c Cell, child: Child, folder: PathBuf) -> Running<'c> {
        let bar = if self.is_terminal {
            self.bars.insert_before(&self.bar, ProgressBar::new(0))
        } else {
            ProgressBar::hidden()
        };
        set_style(&bar, "  {msg}: reading");
        bar.set_message(cell.name.clone());
        Running { cell, child, start: Instant::now(), folder, steps: None, bar }
    }

    /// A cell has ended, and this came of it.
    pub(super) fn ends(&mut self, running: &Running<'_>, came_to: &str, others: &[Running<'_>], jobs: usize) {
        running.bar.finish_and_clear();
        self.bars.remove(&running.bar);
        self.finished.push(running.elapsed());
        self.bar.set_position(self.finished.len() as u64);
        let line = format!(
            "{}/{}  {}  {came_to} in {}{}",
            self.finished.len(),
            self.cells,
            running.cell.name,
            brief(running.elapsed()),
            self.left(others, jobs)
        );
        self.say(&line);
    }

    /// Looks at the cells at work now and then, and shows how far they are.
    pub(super) fn refresh(&mut self, running: &mut [Running<'_>], jobs: usize) {
        if self.last_look.elapsed() < BETWEEN_LOOKS {
            return;
        }
        self.last_look = Instant::now();
        running.iter_mut().for_each(Running::look);
        let left = self.left(running, jobs);
        self.bar.set_message(left.trim_start_matches(", ").to_owned());
        if !self.is_terminal && self.last_line.elapsed() >= BETWEEN_LINES {
            let cells: Vec<String> = running
                .iter()
                .map(|running| match running.steps {
                    Some(steps) => format!("{} step {}/{}", running.cell.name, steps.last, steps.of),
                    None => running.cell.name.clone(),
                })
                .collect();
            let line = format!("{}/{}  at work: {}{left}", self.finished.len(), self.cells, cells.join("; "));
            self.say(&line);
        }
    }

    /// All is done.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&mut self, line: &str) {
        self.last_line = Instant::now();
        let _ = match self.is_terminal {
            true => self.bars.println(line),
            false => writeln!(io::stderr(), "{line}"),
        };
    }

    fn left(&self, running: &[Running<'_>], jobs: usize) -> String {
        let waiting = self.cells.saturating_sub(self.finished.len() + running.len());
        let expected: Vec<_> = running.iter().map(Running::expected).collect();
        time_left(&self.finished, &expected, waiting, jobs)
            .map_or_else(String::new, |left| format!(", about {} left", brief(left)))
    }
}

/// Returns the progress that a cell recorded in its run folder.
fn progress_of(folder: &Path) -> Option<Progress> {
    RunFolder::open(folder).ok()?.read_json(RunFile::Progress).ok()
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// How long a sweep will still take: what cells took, how long those at work did so far and are to take, how many wait, and how many
/// are trained side by side. None while there is nothing to go by.
fn time_left(finished: &[Duration], running: &[AtWork], waiting: usize, jobs: usize) -> Option<Duration> {
    if waiting + running.len() == 0 {
        return None;
    }
    // A whole cell, as those that are finished say; else as those at work let expect.
    let known: Vec<Duration> = match finished.is_empty() {
        false => finished.to_vec(),
        true => running.iter().filter_map(|(so_far, left)| left.map(|left| *so_far + left)).collect(),
    };
    if known.is_empty() {
        return None;
    }
    let each = known.iter().sum::<Duration>() / known.len() as u32;
    let lefts = running.iter().map(|(so_far, left)| left.unwrap_or_else(|| each.saturating_sub(*so_far)));
    let longest = lefts.clone().max().unwrap_or_default();
    let work = lefts.sum::<Duration>() + each * waiting as u32;
    Some((work / jobs.max(1) as u32).max(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_goes_by_what_cells_took() {
        let s = Duration::from_secs;
        let left = |finished: &[Duration], running: &[AtWork], waiting, jobs| {
            time_left(finished, running, waiting, jobs).map(|left| left.as_secs())
        };
        assert_eq!(left(&[], &[(s(5), None)], 3, 2), None, "nothing is known yet");
        assert_eq!(left(&[s(5)], &[], 0, 2), None, "nothing is left");
        // Two at work for 10 s, 30 s to go each, and four more of 40 s: 220 s for two at a time.
        assert_eq!(left(&[], &[(s(10), Some(s(30))), (s(10), Some(s(30)))], 4, 2), Some(110));
        // Finished ones say what a cell takes.
        assert_eq!(left(&[s(100), s(200)], &[], 4, 2), Some(300));
        // One that says nothing has the rest of it.
        assert_eq!(left(&[s(100)], &[(s(60), None)], 0, 2), Some(40));
        assert_eq!(left(&[s(100)], &[(s(160), None)], 1, 1), Some(100));
        // It cannot end before the slowest at work.
        assert_eq!(left(&[s(10)], &[(s(10), Some(s(90)))], 1, 4), Some(90));
    }
}
