//! Answers as text and as CSV.

use anyhow::{Context, Result, bail};
use std::io::Write;
use xpr_exec::Outcome;
use xpr_exec::database::AnswerCell;
use xpr_learn::experiment::{AnsweredQuestion, Declined};

/// The number of candidates in text; JSON has all of them.
const MAX_CANDIDATES: usize = 8;
/// The number of characters of a candidate's outcome in text.
const MAX_OUTCOME_CHARS: usize = 72;

/// Writes why a question is not answered, and one that can be.
pub(super) fn write_declined(out: &mut dyn Write, answer: &AnsweredQuestion) -> Result<()> {
    let Some(Declined { reason, nearest, may_be_in_scope }) = &answer.declined else {
        return Ok(writeln!(out, "The parser found no program.")?);
    };
    writeln!(out, "Not answered: {reason}.")?;
    if let Some(nearest) = nearest {
        writeln!(out, "A question it was trained on: {nearest}")?;
    }
    if *may_be_in_scope {
        let advice = "If it is about these data, say in `words` of xpr.toml what people call them, or ask with --min-confidence 0.";
        writeln!(out, "{advice}")?;
    }
    Ok(())
}

/// Writes the confidence, the explanation and the rows of an answer, at most `max_rows` of them, and the program if `with_program`. If
/// the answer is not sure, writes several.
pub(super) fn write_answer(
    out: &mut dyn Write,
    answer: &AnsweredQuestion,
    max_rows: usize,
    with_program: bool,
) -> Result<()> {
    if answer.declined.is_some() {
        return write_declined(out, answer);
    }
    if answer.is_unsure() {
        return write_alternatives(out, answer);
    }
    if let Some(best) = answer.best().filter(|_| with_program) {
        writeln!(out, "{}", best.program)?;
    }
    if let Some(confidence) = answer.confidence {
        writeln!(out, "Confidence: {:.0} %.", 100.0 * confidence)?;
    }
    if let Some(explanation) = &answer.explanation {
        writeln!(out, "That is: {explanation}.")?;
    }
    match (&answer.rows, &answer.columns, answer.best()) {
        (Some(rows), Some(columns), _) => write_rows(out, columns, rows, max_rows),
        (_, _, Some(best)) => Ok(writeln!(out, "{}", outcome_line(&best.outcome))?),
        (_, _, None) => Ok(writeln!(out, "The parser found no program.")?),
    }
}

/// Writes that no answer is sure, and the most probable ones.
fn write_alternatives(out: &mut dyn Write, answer: &AnsweredQuestion) -> Result<()> {
    // Rounded down, so that a confidence below what is needed does not look like it.
    let percent = |share: Option<f64>| format!("{:.0} %", (100.0 * share.unwrap_or(0.0) + 1e-9).floor());
    let (confidence, needed) = (percent(answer.confidence), percent(answer.min_confidence));
    let which = match answer.alternatives.len() {
        0 => return Ok(writeln!(out, "Not sure, and no program that was found executes.")?),
        1 => "The only answer that was found:",
        _ => "It may be one of these:",
    };
    writeln!(out, "Not sure (confidence {confidence}, below {needed}). {which}")?;
    for (index, alternative) in answer.alternatives.iter().enumerate() {
        let sentence = alternative.explanation.as_ref().map(|explanation| format!("{explanation}."));
        let number = format!("{}.", index + 1);
        writeln!(out, "{number:>3} {}", sentence.as_deref().unwrap_or(&alternative.program))?;
        if sentence.is_some() {
            writeln!(out, "    {}", alternative.program)?;
        }
        let found = match &alternative.rows {
            Some(rows) if rows.is_empty() => "(no rows)".to_owned(),
            Some(rows) => shortened(&rows_line(rows)),
            None => shortened(&outcome_line(&alternative.outcome)),
        };
        writeln!(out, "    {found}")?;
    }
    Ok(())
}

/// Returns rows on one line: cells are separated by commas, and rows by semicolons.
fn rows_line(rows: &[Vec<AnswerCell>]) -> String {
    let row = |row: &Vec<AnswerCell>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Writes the most probable candidates under their answers, and then those that fail.
pub(super) fn write_candidates(out: &mut dyn Write, answer: &AnsweredQuestion) -> Result<()> {
    writeln!(out, "{:>8}  answers and their programs, found in {:.1} ms", "p", answer.milliseconds)?;
    let mut listed = 0;
    for group in &answer.answers {
        let candidates = group.candidates.iter().take_while(|index| **index < MAX_CANDIDATES);
        let candidates: Vec<usize> = candidates.copied().collect();
        let Some(first) = candidates.first() else { continue };
        let outcome = shortened(&outcome_line(&answer.candidates[*first].outcome));
        writeln!(out, "{:8.4}  {outcome}", group.probability)?;
        for index in &candidates {
            write_candidate(out, answer, *index)?;
        }
        listed += candidates.len();
    }
    let failed = answer.candidates.iter().enumerate().take(MAX_CANDIDATES);
    for (index, candidate) in failed.filter(|(_, candidate)| !candidate.outcome.executes()) {
        writeln!(out, "{:>8}  {}", "", shortened(&outcome_line(&candidate.outcome)))?;
        write_candidate(out, answer, index)?;
        listed += 1;
    }
    match answer.candidates.len() - listed {
        0 => Ok(()),
        more => Ok(writeln!(out, "{:>8}  … {more} less probable programs; --json has them", "")?),
    }
}

/// Writes the probability and the program of a candidate.
fn write_candidate(out: &mut dyn Write, answer: &AnsweredQuestion, index: usize) -> Result<()> {
    let candidate = &answer.candidates[index];
    let mark = if index == answer.chosen { '→' } else { ' ' };
    Ok(writeln!(out, "{:>8}{mark}{:8.4}  {}", "", candidate.log_probability.exp(), candidate.program)?)
}

/// Writes an answer on one line: cells are separated by commas, and rows by semicolons.
pub(super) fn write_line(out: &mut dyn Write, answer: &AnsweredQuestion) -> Result<()> {
    if let Some(declined) = &answer.declined {
        return Ok(writeln!(out, "not answered: {}", declined.reason)?);
    }
    if answer.is_unsure() {
        return Ok(writeln!(out, "not sure (confidence {:.0} %)", 100.0 * answer.confidence.unwrap_or(0.0))?);
    }
    let line = match (&answer.rows, answer.best()) {
        (Some(rows), _) => rows_line(rows),
        (None, Some(best)) => outcome_line(&best.outcome),
        (None, None) => "the parser found no program".to_owned(),
    };
    Ok(writeln!(out, "{line}")?)
}

/// Writes all rows of an answer as CSV, with the names of the columns first. A missing value is an empty field.
pub(super) fn write_csv(out: &mut dyn Write, answer: &AnsweredQuestion) -> Result<()> {
    if let (true, Some(confidence)) = (answer.is_unsure(), answer.confidence) {
        bail!(
            "the answer is not sure (confidence {:.0} %); --min-confidence 0 writes it all the same",
            100.0 * confidence
        );
    }
    let (Some(columns), Some(rows)) = (&answer.columns, &answer.rows) else {
        match answer.best() {
            Some(best) => bail!("the answer has no rows: {}", outcome_line(&best.outcome)),
            None => bail!("the parser found no program"),
        }
    };
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns).context("writing CSV")?;
    for row in rows {
        let cells = row.iter().map(|cell| match cell {
            AnswerCell::Null => "",
            AnswerCell::Number(text) | AnswerCell::Text(text) | AnswerCell::Bytes(text) => text,
        });
        csv.write_record(cells).context("writing CSV")?;
    }
    Ok(csv.flush()?)
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

/// Writes rows under the names of their columns.
fn write_rows(
    out: &mut dyn Write,
    columns: &[String],
    rows: &[Vec<AnswerCell>],
    max_rows: usize,
) -> Result<()> {
    let count = rows.len();
    let mut lines: Vec<Vec<String>> = vec![columns.to_vec()];
    lines.extend(rows.iter().take(max_rows).map(|row| row.iter().map(ToString::to_string).collect()));
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns.len()).map(|column| width(column).unwrap_or(0)).collect();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        writeln!(out, "  {}", cells.join("  ").trim_end())?;
    }
    match count {
        0 => Ok(writeln!(out, "  (no rows)")?),
        1 => Ok(()),
        _ if count > max_rows => Ok(writeln!(out, "  … {count} rows; --all-rows prints all of them")?),
        _ => Ok(writeln!(out, "  ({count} rows)")?),
    }
}
