//! How many tasks a scheduler gets for a sweep, and what it is asked for.

use crate::arguments::SweepArguments;
use crate::printer;
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use xpr_learn::experiment::sweep::{Cell, CellProgress, Sweep};
use xpr_run::{CellCost, Claims};

/// The least time that a task should last, in seconds. Starting one costs a scheduler and its queue more than a few seconds.
const LEAST_SECONDS: f64 = 600.0;
/// What a cell takes if nothing is known.
const UNKNOWN_COST: CellCost = CellCost { seconds: 1800.0, memory_mb: 2000.0 };
/// A task that runs out of time goes on later. A task that runs out of memory fails, so it asks for some more than others took.
const TIME_FACTOR: f64 = 1.5;
const MEMORY_FACTOR: f64 = 1.25;
/// Added to time and memory for what does not depend on cells.
const START_SECONDS: f64 = 300.0;
const OWN_MEMORY_MB: f64 = 256.0;

/// The tasks of a sweep, all with the same limits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tasks {
    /// The number of parts of the sweep.
    pub(super) parts: usize,
    /// The parts that have cells to train.
    pub(super) with_work: Vec<usize>,
    pub(super) cpus: usize,
    pub(super) memory_mb: u64,
    pub(super) minutes: u64,
}

impl Tasks {
    /// Plans the tasks for the cells that are not finished, from what the finished ones took.
    pub(super) fn plan(sweep: &Sweep, folder: &Path, arguments: &SweepArguments) -> Result<Self> {
        let claims = Claims::watch(folder);
        let known: Vec<(&Cell, CellCost)> =
            sweep.cells.iter().filter_map(|cell| Some((cell, claims.cost(&cell.name)?))).collect();
        let given = &arguments.scheduler;
        if known.is_empty() && given.cell_minutes.is_none() {
            let _ = writeln!(
                printer::stderr(),
                "note: no cell is finished, so each is taken to need 30 minutes; --cell-minutes says otherwise"
            );
        }
        let cost = |cell: &Cell| {
            let mut cost = similar_cost(cell, &known).unwrap_or(UNKNOWN_COST);
            if let Some(minutes) = given.cell_minutes {
                cost.seconds = 60.0 * f64::from(minutes);
            }
            if let Some(memory) = given.cell_memory {
                cost.memory_mb = f64::from(memory);
            }
            cost
        };
        let is_open =
            |cell: &Cell| cell.missing_folder().is_none() && cell.progress(folder) != CellProgress::Finished;
        let costs: Vec<Option<CellCost>> =
            sweep.cells.iter().map(|cell| is_open(cell).then(|| cost(cell))).collect();
        let (jobs, threads) = (usize::from(arguments.training.jobs), arguments.training.threads.max(1));
        Ok(Tasks::of(&costs, given.tasks.map(usize::from), jobs, threads))
    }

    /// Plans the tasks for cells with these costs; those that need no training have none.
    fn of(costs: &[Option<CellCost>], given_parts: Option<usize>, jobs: usize, threads: usize) -> Self {
        let open = costs.iter().flatten().count();
        let total: f64 = costs.iter().flatten().map(|cost| cost.seconds).sum();
        let most = ((total / jobs as f64 / LEAST_SECONDS) as usize).clamp(1, open.max(1));
        let is_long = |parts: &usize| {
            part_seconds(costs, *parts, jobs)
                .iter()
                .all(|&seconds| seconds == 0.0 || seconds >= LEAST_SECONDS)
        };
        let parts = given_parts.unwrap_or_else(|| (1..=most).rev().find(is_long).unwrap_or(1));
        let seconds = part_seconds(costs, parts, jobs);
        let longest = seconds.iter().fold(0.0, |longest: f64, &seconds| longest.max(seconds));
        let memory = costs.iter().flatten().fold(0.0, |most: f64, cost| most.max(cost.memory_mb));
        // Fewer cells than jobs need no room for the others.
        let jobs = jobs.min(open.max(1));
        Tasks {
            parts,
            with_work: (0..parts).filter(|&part| seconds[part] > 0.0).collect(),
            cpus: jobs * threads,
            memory_mb: (MEMORY_FACTOR * jobs as f64 * memory + OWN_MEMORY_MB).ceil() as u64,
            minutes: ((TIME_FACTOR * longest + START_SECONDS) / 60.0).ceil() as u64,
        }
    }
}

/// Returns how long each part takes if it trains some cells at a time: its cells in parallel, or its longest cell.
fn part_seconds(costs: &[Option<CellCost>], parts: usize, jobs: usize) -> Vec<f64> {
    let (mut sum, mut longest) = (vec![0.0; parts], vec![0.0f64; parts]);
    for (index, cost) in costs.iter().enumerate() {
        let seconds = cost.map_or(0.0, |cost| cost.seconds);
        sum[index % parts] += seconds;
        longest[index % parts] = longest[index % parts].max(seconds);
    }
    sum.iter().zip(longest).map(|(sum, longest)| longest.max(sum / jobs as f64)).collect()
}

/// Returns the most that the finished cells took which have the most settings in common with a cell.
fn similar_cost(cell: &Cell, known: &[(&Cell, CellCost)]) -> Option<CellCost> {
    let likeness = |other: &Cell| {
        let shared = cell.settings.iter().filter(|setting| other.settings.contains(setting)).count();
        (other.experiment == cell.experiment, shared)
    };
    let most = known.iter().map(|(other, _)| likeness(other)).max()?;
    let similar = known.iter().filter(|(other, _)| likeness(other) == most).map(|(_, cost)| *cost);
    similar.reduce(|a, b| CellCost {
        seconds: a.seconds.max(b.seconds),
        memory_mb: a.memory_mb.max(b.memory_mb),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn cost(seconds: f64) -> Option<CellCost> {
        Some(CellCost { seconds, memory_mb: 100.0 })
    }

    #[test]
    fn cells_are_packed_until_a_task_lasts_ten_minutes() {
        let parts = |costs: &[Option<CellCost>], jobs| Tasks::of(costs, None, jobs, 1).parts;
        assert_eq!(parts(&[cost(60.0); 24], 1), 2, "24 minutes");
        assert_eq!(parts(&[cost(60.0); 24], 2), 1, "12 minutes, two cells at a time");
        assert_eq!(parts(&[cost(3600.0); 24], 2), 24, "a cell takes an hour");
        assert_eq!(parts(&[cost(1.0); 3], 1), 1, "all of it is short");
        // The parts of even cells would be short, had every cell a part of its own.
        let uneven: Vec<_> = (0..8).map(|cell| cost(if cell % 2 == 0 { 30.0 } else { 3600.0 })).collect();
        let tasks = Tasks::of(&uneven, None, 1, 1);
        assert!(part_seconds(&uneven, tasks.parts, 1).iter().all(|&seconds| seconds >= 600.0), "{tasks:?}");
    }

    #[test]
    fn a_task_asks_for_more_than_cells_took_and_parts_without_work_are_left_out() {
        let costs = [None, cost(1000.0), None, cost(500.0), None, cost(200.0)];
        let tasks = Tasks::of(&costs, Some(2), 2, 3);
        // 1.5 × 1000 s + 5 minutes; 1.25 × 2 × 100 MB + 256 MB.
        let expected = Tasks { parts: 2, with_work: vec![1], cpus: 6, memory_mb: 506, minutes: 30 };
        assert_eq!(tasks, expected);
        assert_eq!(Tasks::of(&[None], None, 2, 1).with_work, [0; 0]);
    }

    #[test]
    fn the_cost_of_a_cell_is_that_of_the_most_similar_ones() {
        let cell = |experiment: &str, settings: &[(&str, &str)]| Cell {
            name: String::new(),
            experiment: PathBuf::from(experiment),
            settings: settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        };
        let finished = [
            cell("a", &[("domain", "x"), ("seed", "0")]),
            cell("a", &[("domain", "x"), ("seed", "1")]),
            cell("a", &[("domain", "y"), ("seed", "0")]),
            cell("b", &[("domain", "x"), ("seed", "2")]),
        ];
        let known: Vec<(&Cell, CellCost)> =
            finished.iter().zip([1.0, 2.0, 30.0, 400.0]).map(|(cell, s)| (cell, cost(s).unwrap())).collect();
        assert_eq!(similar_cost(&cell("a", &[("domain", "x"), ("seed", "2")]), &known), cost(2.0));
        assert_eq!(similar_cost(&cell("a", &[("domain", "z"), ("seed", "2")]), &known), cost(30.0));
        assert_eq!(similar_cost(&finished[3], &[]), None);
    }
}
