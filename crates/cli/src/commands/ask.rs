//! `xpr ask`: answers a question with a trained parser.

use super::{write_json, write_notes};
use crate::NothingFound;
use crate::arguments::AskArguments;
use anyhow::{Result, bail};
use serde::Serialize;
use std::io::Write;
use std::time::Instant;
use xpr_exec::Outcome;
use xpr_exec::sqlite::answer_rows;
use xpr_learn::inference::{Answer, AnswerChooser, Reranked};
use xpr_learn::task::check_length;
use xpr_learn::{Task, TrainedRun};
use xpr_parser::Parser;
use xpr_run::ExecutedCandidate;
use xpr_text::tokenize;

/// The number of rows of an answer in text; JSON has all of them.
const MAX_ROWS: usize = 20;
/// The number of candidates in text; JSON has all of them.
const MAX_CANDIDATES: usize = 8;
/// The number of characters of a candidate's outcome in text.
const MAX_OUTCOME_CHARS: usize = 72;

/// The output of `--json`.
#[derive(Serialize)]
struct AnswerRecord {
    question: String,
    /// The index of the chosen candidate.
    chosen: usize,
    milliseconds: f64,
    candidates: Vec<ExecutedCandidate>,
}

pub(crate) fn run(arguments: &AskArguments, out: &mut dyn Write) -> Result<()> {
    check_length(&arguments.question)?;
    if tokenize(&arguments.question).is_empty() {
        bail!("the question has no words");
    }
    let run = TrainedRun::open(&arguments.trained.run)?;
    write_notes(run.notes.iter().cloned());
    let beam = usize::from(arguments.search.beam);
    let (answer, milliseconds) = QuestionAnswerer::new(&run)?.answer(&arguments.question, beam);
    run.task.check_unchanged()?;
    if answer.candidates.is_empty() {
        bail!("the parser found no program");
    }
    if !tokenize(&arguments.question).iter().any(|word| run.task.vocabulary().knows(word)) {
        write_notes([
            "the parser has never seen a word of this question, so its answer is a guess".to_owned()
        ]);
    }
    let record = AnswerRecord {
        question: arguments.question.clone(),
        chosen: answer.chosen,
        milliseconds,
        candidates: answer.candidates,
    };
    if arguments.output.json {
        write_json(out, &record)?;
    } else {
        write_answer(out, &record, run.task.language().name() == "sql")?;
    }
    match record.candidates[record.chosen].outcome.executes() {
        true => Ok(()),
        false => Err(NothingFound.into()),
    }
}

/// Answers questions with the parser of a run.
pub(super) struct QuestionAnswerer<'r> {
    task: &'r Task,
    parser: Reranked<'r>,
    chooser: AnswerChooser<'r>,
}

impl<'r> QuestionAnswerer<'r> {
    pub(super) fn new(run: &'r TrainedRun) -> Result<Self> {
        Ok(QuestionAnswerer { task: &run.task, parser: run.parser(), chooser: run.chooser()? })
    }

    /// Returns the answer to a question, and the time it took in milliseconds.
    pub(super) fn answer(&mut self, question: &str, beam: usize) -> (Answer, f64) {
        let start = Instant::now();
        let question = self.task.question(question);
        let candidates = self.parser.candidates(&[&question], beam).pop().unwrap_or_default();
        let answer = self.chooser.choose(&question, &candidates);
        (answer, 1000.0 * start.elapsed().as_secs_f64())
    }
}

/// Writes the chosen program, its answer and the most probable candidates.
fn write_answer(out: &mut dyn Write, record: &AnswerRecord, is_sql: bool) -> Result<()> {
    let best = &record.candidates[record.chosen];
    writeln!(out, "{}", best.program)?;
    let rows = match &best.outcome {
        Outcome::Value(value) if is_sql => answer_rows(value),
        _ => None,
    };
    match rows {
        Some(rows) => write_rows(out, &rows)?,
        None => writeln!(out, "{}", outcome_line(&best.outcome))?,
    }
    writeln!(out, "\n{:>8}  candidates, found in {:.1} ms", "p", record.milliseconds)?;
    for (index, candidate) in record.candidates.iter().enumerate().take(MAX_CANDIDATES) {
        let mark = if index == record.chosen { '→' } else { ' ' };
        let outcome = shortened(&outcome_line(&candidate.outcome));
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
fn outcome_line(outcome: &Outcome) -> String {
    format!("{}: {}", outcome.grade(), outcome.text())
}

/// Returns the text, cut after [`MAX_OUTCOME_CHARS`].
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_OUTCOME_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes the rows of a query's answer, one per line.
fn write_rows(out: &mut dyn Write, rows: &[Vec<String>]) -> Result<()> {
    let count = rows.len();
    let columns = rows.first().map_or(0, Vec::len);
    let shown = &rows[..count.min(MAX_ROWS)];
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
        _ if count > MAX_ROWS => Ok(writeln!(out, "  … {count} rows")?),
        _ => Ok(writeln!(out, "  ({count} rows)")?),
    }
}
