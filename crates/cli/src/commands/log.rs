//! `xpr log`: prints, exports and prunes the log of a served parser.

use crate::arguments::LogArguments;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use xpr_log::{
    Date, Entry, QuestionLog, Selection, log_path, write_json_line, write_tsv_header, write_tsv_line,
};
use xpr_run::{ParserList, RunFile, RunFolder};

/// The number of questions in text without `--limit`.
const MAX_QUESTIONS: usize = 20;

pub(crate) fn run(arguments: &LogArguments, out: &mut dyn Write) -> Result<()> {
    let path = arguments.log.clone().unwrap_or_else(|| log_path(&arguments.run));
    let mut log = QuestionLog::open_existing(&path)?;
    if arguments.prune {
        return prune(arguments, &mut log, out);
    }
    let is_export = arguments.tsv || arguments.jsonl;
    let limit = match arguments.limit {
        Some(0) => None,
        Some(limit) => Some(limit),
        None => (!is_export).then_some(MAX_QUESTIONS),
    };
    let selection = Selection {
        since: arguments.since.map(|date| date.millis),
        before: arguments.before.map(|date| date.millis),
        judged: arguments.judged.then_some(true),
        text: arguments.contains.clone(),
        newest_first: limit.is_some(),
        limit,
        ..Selection::default()
    };
    if arguments.tsv {
        write_tsv_header(out)?;
    }
    // With a limit the newest are read first, and they are few.
    let mut newest = Vec::new();
    log.for_each(&selection, |entry| match limit {
        Some(_) => {
            newest.push(entry);
            Ok(())
        }
        None => write_entry(out, &entry, arguments),
    })?;
    newest.iter().rev().try_for_each(|entry| write_entry(out, entry, arguments))?;
    if !is_export {
        let (questions, confirmed) = log.counts()?;
        let (path, questions) = (path.display(), counted(questions));
        writeln!(out, "{questions}, {confirmed} with a confirmed answer, in {path}")?;
    }
    Ok(())
}

fn prune(arguments: &LogArguments, log: &mut QuestionLog, out: &mut dyn Write) -> Result<()> {
    let before = arguments.before.context("--prune needs --before")?;
    let pruned = log.prune(before.millis, arguments.with_feedback)?;
    write!(out, "Deleted {} from before {before}", counted(pruned.questions as i64))?;
    match pruned.kept {
        0 => writeln!(out, ".")?,
        kept => writeln!(
            out,
            ", and kept {kept} that somebody said something about; --with-feedback deletes them too."
        )?,
    }
    let parsers: Vec<String> = learned_from(&arguments.run).iter().map(usize::to_string).collect();
    if !parsers.is_empty() {
        let (file, run) = (RunFile::Asked.name(), arguments.run.display());
        writeln!(
            out,
            "Parsers keep the questions that they learned from: {file} in {run}/parsers/N, where N is {}.",
            parsers.join(", ")
        )?;
    }
    Ok(())
}

/// Returns the numbers of the parsers of a run that learned from its log and are still there.
fn learned_from(run: &Path) -> Vec<usize> {
    let Ok(list) = ParserList::read(run) else { return vec![] };
    let has_questions = |&number: &usize| {
        RunFolder::open(&ParserList::folder(run, number)).is_ok_and(|folder| folder.has(RunFile::Asked))
    };
    list.parsers.iter().map(|parser| parser.number).filter(has_questions).collect()
}

/// Returns a number of questions.
fn counted(questions: i64) -> String {
    format!("{questions} question{}", if questions == 1 { "" } else { "s" })
}

fn write_entry(out: &mut dyn Write, entry: &Entry, arguments: &LogArguments) -> Result<()> {
    if arguments.tsv {
        return Ok(write_tsv_line(out, entry)?);
    }
    if arguments.jsonl {
        return Ok(write_json_line(out, entry)?);
    }
    let asked = &entry.asked;
    let question = on_one_line(&asked.question);
    writeln!(out, "{:>6}  {}  {question}", entry.id, Date { millis: asked.time })?;
    match (&asked.declined, &asked.program) {
        (Some(reason), _) => writeln!(out, "        not answered: {}", on_one_line(reason))?,
        (None, Some(program)) => writeln!(out, "        {}", on_one_line(program))?,
        (None, None) => writeln!(out, "        the parser found no program")?,
    }
    let confidence = asked
        .confidence
        .map(|confidence| format!("confidence {:.0} %, ", 100.0 * confidence))
        .unwrap_or_default();
    let (milliseconds, parser) = (asked.micros as f64 / 1000.0, on_one_line(&asked.parser));
    writeln!(out, "        {confidence}{milliseconds:.1} ms, parser {parser}")?;
    for feedback in &entry.feedback {
        let program = feedback.program.as_ref();
        let program = program.map(|program| format!(": {}", on_one_line(program))).unwrap_or_default();
        writeln!(out, "        said {}{program}", feedback.verdict)?;
    }
    Ok(())
}

/// Returns a text without line ends: clients write it, and a line of it could pass for one of the log.
fn on_one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}
