//! `xpr ask`: a question, an answer, and what else came to mind.

use super::write_json;
use crate::arguments::AskArguments;
use anyhow::{Result, bail};
use serde::Serialize;
use std::io::Write;
use std::time::Instant;
use xpr_exec::Outcome;
use xpr_exec::sqlite::answer_rows;
use xpr_learn::TrainedRun;
use xpr_parser::Parser;
use xpr_run::ExecutedCandidate;

#[derive(Serialize)]
struct Answer {
    question: String,
    /// Which candidate was chosen: the best that does what labels ask for, or at least executes.
    chosen: usize,
    milliseconds: f64,
    candidates: Vec<ExecutedCandidate>,
}

pub(crate) fn run(arguments: &AskArguments, out: &mut dyn Write) -> Result<()> {
    let run = TrainedRun::open(&arguments.run)?;
    let (task, parser) = (&run.task, run.parser());
    let mut chooser = run.chooser()?;
    let start = Instant::now();
    let question = task.question(&arguments.question);
    let candidates = parser.candidates(&[&question], usize::from(arguments.beam));
    let found = candidates.first().map_or(&[][..], Vec::as_slice);
    let chosen = chooser.choose(&question, found);
    let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
    if chosen.candidates.is_empty() {
        bail!("the parser found no program");
    }
    let answer = Answer {
        question: arguments.question.clone(),
        chosen: chosen.chosen,
        milliseconds,
        candidates: chosen.candidates,
    };
    if arguments.json {
        return write_json(out, &answer);
    }
    let best = &answer.candidates[answer.chosen];
    writeln!(out, "{}", best.program)?;
    let rows = match &best.outcome {
        Outcome::Value(value) if task.language().name() == "sql" => answer_rows(value),
        _ => None,
    };
    match rows {
        Some(rows) => write_rows(out, &rows)?,
        None => writeln!(out, "{}", in_words(&best.outcome))?,
    }
    writeln!(out, "\n{:>8}  candidates, found in {:.1} ms", "p", answer.milliseconds)?;
    for (index, candidate) in answer.candidates.iter().enumerate().take(8) {
        let mark = if index == answer.chosen { '→' } else { ' ' };
        let outcome = shortened(&in_words(&candidate.outcome));
        writeln!(
            out,
            "{:8.4} {mark}{}\n          {outcome}",
            candidate.log_probability.exp(),
            candidate.program
        )?;
    }
    Ok(())
}

/// Returns an outcome as a line of text.
fn in_words(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.grade(), outcome.text())
}

/// The beginning of a long text.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 72;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Rows that are shown of an answer; JSON has all.
const SHOWN: usize = 20;

/// The rows of a database's answer, one a line.
fn write_rows(out: &mut dyn Write, rows: &[Vec<String>]) -> Result<()> {
    let count = rows.len();
    let columns = rows.first().map_or(0, Vec::len);
    let shown = &rows[..count.min(SHOWN)];
    let width =
        |column: usize| shown.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in shown {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        writeln!(out, "  {}", cells.join("  ").trim_end())?;
    }
    match count {
        0 | 1 => Ok(()),
        _ if count > SHOWN => Ok(writeln!(out, "  … {count} rows")?),
        _ => Ok(writeln!(out, "  ({count} rows)")?),
    }
}
