//! `xpr sweep`: many experiments, as processes side by side.
//!
//! Every cell is an `xpr train` of its own, so one that fails takes no other with it, and memory is given back.

use super::sweep_progress::Display;
use super::write_json;
use crate::arguments::SweepArguments;
use crate::table;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use xpr_learn::experiment::sweep::{Cell, CellProgress, Sweep};

#[derive(Serialize)]
struct Row<'a> {
    cell: &'a str,
    settings: BTreeMap<&'a str, &'a str>,
    accuracy: Option<f64>,
}

pub(crate) fn run(arguments: &SweepArguments, out: &mut dyn Write) -> Result<()> {
    let sweep = Sweep::read(&arguments.sweep)?;
    if arguments.list {
        return list(&sweep, out);
    }
    let folder = arguments.out.as_deref().context("name the folder of the runs with --out")?;
    let (cells, left_out) = with_data(&sweep);
    let mut waiting: Vec<&Cell> =
        cells.into_iter().filter(|cell| cell.progress(folder) != CellProgress::Finished).collect();
    let (all, to_do) = (sweep.cells.len(), waiting.len());
    let _ = writeln!(io::stderr(), "{all} cells, {} of them finished", all - to_do - left_out.len());
    for (missing, count) in counted(&left_out) {
        let _ = writeln!(
            io::stderr(),
            "{count} left out: there is no {}; make it with `xpr data import` or `xpr init`",
            missing.display()
        );
    }
    // The next cell is taken from the end.
    waiting.reverse();
    let jobs = usize::from(arguments.jobs);
    let mut display = Display::new(to_do);
    let mut running = Vec::new();
    let mut failed = Vec::new();
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < jobs {
            // A sweep that was killed may have left cells at work: they are waited for.
            let Some(next) = waiting.iter().rposition(|cell| !cell.is_in_use(folder)) else { break };
            let cell = waiting.remove(next);
            let child = begin(cell, folder, arguments)?;
            running.push(display.begins(cell, child, cell.folder(folder)));
        }
        sleep(Duration::from_millis(200));
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
            let came_to = accuracy.map_or_else(|| "failed".to_owned(), |share| percent(share) + " %");
            display.ends(&ended, &came_to, &running, jobs);
        }
        display.refresh(&mut running, jobs);
    }
    display.finish();
    let rows: Vec<Row<'_>> = sweep
        .cells
        .iter()
        .map(|cell| Row {
            cell: &cell.name,
            settings: cell.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            accuracy: cell.accuracy(folder),
        })
        .collect();
    match arguments.json {
        true => write_json(out, &rows)?,
        false => write_table(out, &sweep.cells, &rows)?,
    }
    if let Some(cell) = failed.first() {
        let log = log_of(cell, folder);
        bail!("{} of {to_do} cells failed; the first one's log is {}", failed.len(), log.display());
    }
    Ok(())
}

/// The command of every cell, as somebody would type it.
fn list(sweep: &Sweep, out: &mut dyn Write) -> Result<()> {
    for cell in &sweep.cells {
        write!(out, "xpr train {}", cell.experiment.display())?;
        for setting in cell.arguments() {
            write!(out, " --set {}", quoted(&setting))?;
        }
        writeln!(out, " --out {}", cell.name)?;
    }
    Ok(())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "._-=,/:+".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The cells whose data are there, and the folders that others miss.
fn with_data(sweep: &Sweep) -> (Vec<&Cell>, Vec<PathBuf>) {
    let (mut cells, mut missing) = (Vec::new(), Vec::new());
    for cell in &sweep.cells {
        match cell.missing_data() {
            Some(folder) => missing.push(folder),
            None => cells.push(cell),
        }
    }
    (cells, missing)
}

fn counted(folders: &[PathBuf]) -> BTreeMap<&PathBuf, usize> {
    let mut counts = BTreeMap::new();
    for folder in folders {
        *counts.entry(folder).or_default() += 1;
    }
    counts
}

/// A line for each choice of settings and a column for each domain or other dataset; one column where there is only one.
fn write_table(out: &mut dyn Write, cells: &[Cell], rows: &[Row<'_>]) -> Result<()> {
    const DOMAIN: &str = "data.domain";
    let dataset = |index: usize| -> &str {
        let stem = cells[index].experiment.file_stem().and_then(|stem| stem.to_str()).unwrap_or("cell");
        rows[index].settings.get(DOMAIN).copied().unwrap_or(stem)
    };
    let datasets = distinct((0..rows.len()).map(dataset));
    // What does not change is not worth a column.
    let settings = cells.iter().flat_map(|cell| cell.settings.iter().map(|(key, _)| key.as_str()));
    let keys: Vec<&str> = distinct(settings)
        .into_iter()
        .filter(|key| *key != DOMAIN)
        .filter(|key| distinct(rows.iter().filter_map(|row| row.settings.get(key).copied())).len() > 1)
        .collect();
    let choice = |row: &Row<'_>| -> Vec<String> {
        keys.iter().map(|key| row.settings.get(key).copied().unwrap_or("–").to_owned()).collect()
    };
    let is_domain = |name: &str| rows.iter().any(|row| row.settings.get(DOMAIN) == Some(&name));
    let with_average = datasets.iter().filter(|name| is_domain(name)).count() > 1;

    let mut lines: Vec<Vec<String>> = Vec::new();
    for chosen in distinct(rows.iter().map(choice)) {
        let accuracy = |name: &str| {
            let of = (0..rows.len()).find(|&index| dataset(index) == name && choice(&rows[index]) == chosen);
            of.and_then(|index| rows[index].accuracy)
        };
        let shown = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
        let mut line = chosen.clone();
        line.extend(datasets.iter().map(|name| shown(accuracy(name))));
        if with_average {
            let domains: Vec<&str> = datasets.iter().copied().filter(|name| is_domain(name)).collect();
            let all: Option<Vec<f64>> = domains.iter().map(|name| accuracy(name)).collect();
            line.push(shown(all.map(|all| all.iter().sum::<f64>() / all.len() as f64)));
        }
        lines.push(line);
    }
    let mut headings: Vec<&str> =
        keys.iter().map(|key| key.rsplit('.').next().unwrap_or(key)).chain(datasets).collect();
    if with_average {
        headings.push("average");
    }
    Ok(table::write(out, &headings, &lines)?)
}

/// Each once, in the order they first come.
fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Starts a cell, or goes on with it. What it says goes to a file beside its folder.
fn begin(cell: &Cell, folder: &Path, arguments: &SweepArguments) -> Result<Child> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = log_of(cell, folder);
    let in_path = || path.display().to_string();
    let log = File::options().create(true).append(true).open(&path).with_context(in_path)?;
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command
        .arg("train")
        .arg("--out")
        .arg(cell.folder(folder))
        .args(["--threads", &arguments.threads.to_string()]);
    // Cells that differ only in what they do with unlabeled questions share their ensembles.
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
fn log_of(cell: &Cell, folder: &Path) -> PathBuf {
    folder.join(format!("{}.log", cell.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_quoted_for_the_shell() {
        assert_eq!(quoted("data.fraction=0.3"), "data.fraction=0.3");
        assert_eq!(quoted("model.without=[\"parents\"]"), "'model.without=[\"parents\"]'");
        assert_eq!(quoted("data.labeled=it's.tsv"), "'data.labeled=it'\\''s.tsv'");
    }

    #[test]
    fn the_table_has_a_column_a_domain_and_a_line_a_choice() {
        let cell = |experiment: &str, settings: &[(&str, &str)]| Cell {
            name: format!("{experiment}{settings:?}"),
            experiment: PathBuf::from(experiment),
            settings: settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        };
        let cells = [
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "0.3"), ("learn.objective", "none")]),
            cell("a.toml", &[("data.domain", "y"), ("data.fraction", "0.3"), ("learn.objective", "none")]),
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "0.3"), ("learn.objective", "sparse")]),
            cell("a.toml", &[("data.domain", "y"), ("data.fraction", "0.3"), ("learn.objective", "sparse")]),
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "1.0"), ("train.seed", "0")]),
            cell("geo.toml", &[("data.fraction", "1.0"), ("train.seed", "0")]),
        ];
        let accuracies = [Some(0.5), Some(0.701), Some(0.6), None, Some(1.0), Some(0.123)];
        let rows = |cells: &'static [Cell]| -> Vec<Row<'static>> {
            let both = cells.iter().zip(accuracies);
            both.map(|(cell, accuracy)| Row {
                cell: &cell.name,
                settings: cell.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
                accuracy,
            })
            .collect()
        };
        let cells: &'static [Cell] = Vec::leak(cells.to_vec());
        let mut out = Vec::new();
        write_table(&mut out, cells, &rows(cells)).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "fraction  objective      x     y   geo  average\n\
             0.3            none   50.0  70.1     –     60.1\n\
             0.3          sparse   60.0     –     –        –\n\
             1.0               –  100.0     –  12.3        –\n"
        );
        // One dataset and one setting: nothing but the figure.
        let mut out = Vec::new();
        write_table(&mut out, &cells[..1], &rows(&cells[..1])).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "x   \n50.0\n");
    }
}
