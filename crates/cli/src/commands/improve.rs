//! `xpr improve`: a better parser from what people said about answers.

use super::{use_threads, write_json, write_notes};
use crate::arguments::ImproveArguments;
use crate::duration::brief;
use crate::printer;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_improve::{
    Decision, ImproveObserver, ImproveOptions, Improved, Improvement, PairedAnswers, Stage, asked_questions,
    improve, roll_back,
};
use xpr_learn::Observer;
use xpr_log::{QuestionLog, Selection, log_path};
use xpr_run::{LearnedQuestions, ParserList, ParserRecord, RunFolder, StepReport};

/// The time between two looks at the log with `--watch`.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// The time between two lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// The output of `--json`.
#[derive(Serialize)]
struct ImprovementReport<'a> {
    decision: Decision,
    #[serde(flatten)]
    record: &'a ParserRecord,
}

pub(crate) fn run(arguments: &ImproveArguments, out: &mut dyn Write) -> Result<()> {
    let run = &arguments.trained.run;
    if arguments.rollback {
        return match roll_back(run)? {
            Some(number) => Ok(writeln!(out, "Parser {number} of {} answers again.", run.display())?),
            None => {
                Ok(writeln!(out, "The parser that training wrote answers already; there is none before it.")?)
            }
        };
    }
    if arguments.list {
        return list(run, arguments.output.json, out);
    }
    use_threads(arguments.pool.threads)?;
    let options = ImproveOptions {
        settings: arguments.set.clone(),
        fewest: arguments.watch.map_or(1, |new| usize::try_from(new).unwrap_or(usize::MAX)),
    };
    let improved = improve_once(arguments, &options, out)?;
    match (arguments.watch, improved) {
        (Some(_), _) => watch(arguments, &options, out),
        (None, Improved::Compared(_)) => Ok(()),
        (None, Improved::TooFew { .. }) => Ok(writeln!(
            out,
            "There is nothing new: the parser has learned every question whose answer was confirmed."
        )?),
    }
}

/// Improves the run whenever there are enough new confirmed questions, until the process is ended.
fn watch(arguments: &ImproveArguments, options: &ImproveOptions, out: &mut dyn Write) -> Result<()> {
    let path = arguments.log.clone().unwrap_or_else(|| log_path(&arguments.trained.run));
    writeln!(out, "Watching {}.", path.display())?;
    out.flush()?;
    let confirmed = || -> Result<i64> {
        // There is none before the first question is asked.
        Ok(if path.exists() { QuestionLog::open_existing(&path)?.counts()?.1 } else { 0 })
    };
    let (mut seen, mut compared) = (confirmed()?, 0);
    let every = i64::try_from(options.fewest).unwrap_or(i64::MAX);
    loop {
        std::thread::sleep(WATCH_INTERVAL);
        let now = confirmed()?;
        // A parser that was refused is not tried again until people have said more.
        if now != seen && now >= every.saturating_add(compared) {
            if let Improved::Compared(_) = improve_once(arguments, options, out)? {
                compared = now;
            }
            out.flush()?;
        }
        seen = now;
        // Somebody may have pruned the log.
        compared = compared.min(now);
    }
}

/// Improves the run once, if there is enough to learn from, and writes what came of it.
fn improve_once(
    arguments: &ImproveArguments,
    options: &ImproveOptions,
    out: &mut dyn Write,
) -> Result<Improved> {
    let start = Instant::now();
    let run = &arguments.trained.run;
    let path = arguments.log.clone().unwrap_or_else(|| log_path(run));
    let asked = match path.exists() || arguments.watch.is_none() {
        true => asked_questions(&QuestionLog::open_existing(&path)?.entries(&Selection::default())?),
        false => vec![],
    };
    let improved = improve(run, asked, options, &mut ImproveProgress::new())?;
    if let Improved::Compared(improvement) = &improved {
        match arguments.output.json {
            true => {
                let (decision, record) = (improvement.decision, &improvement.record);
                write_json(out, &ImprovementReport { decision, record })?;
            }
            false => write_improvement(out, improvement, run, start.elapsed())?,
        }
    }
    Ok(improved)
}

fn write_improvement(
    out: &mut dyn Write,
    improvement: &Improvement,
    run: &Path,
    time: Duration,
) -> Result<()> {
    let Improvement { record, decision, new, known } = improvement;
    let LearnedQuestions { programs, answers, rejected, unlabeled } = record.learned;
    writeln!(
        out,
        "Learned from {programs} confirmed programs, {answers} confirmed answers, {rejected} questions without a right answer \
         and {unlabeled} without comment ({}).",
        brief(time)
    )?;
    write_answers(out, "new confirmed questions, which neither parser has seen", new)?;
    if !known.is_empty() {
        write_answers(out, "questions whose answer was known before", known)?;
    }
    let (number, before) = (record.number, record.before);
    match decision {
        Decision::Promoted => writeln!(
            out,
            "Promoted: parser {number} answers from now on. `xpr improve {} --rollback` goes back to parser {before}.",
            run.display()
        )?,
        Decision::WorseOnNew => writeln!(
            out,
            "Not promoted: parser {number} answers fewer of the new questions. Parser {before} goes on answering."
        )?,
        Decision::WorseOnKnown => writeln!(
            out,
            "Not promoted: parser {number} answers fewer of the known questions. Parser {before} goes on answering."
        )?,
    }
    Ok(())
}

fn write_answers(out: &mut dyn Write, name: &str, answers: &PairedAnswers) -> Result<()> {
    let (before, after) = answers.right();
    write!(out, "  {} {name}: {before} right before, {after} now", answers.len())?;
    if let Some(interval) = answers.interval() {
        let (low, high) = (interval.low, interval.high);
        write!(out, " ({:+.1} points, 95 % interval {low:+.1} to {high:+.1})", interval.difference)?;
    }
    Ok(writeln!(out)?)
}

/// Writes the parsers of a run.
fn list(run: &Path, json: bool, out: &mut dyn Write) -> Result<()> {
    let parsers = ParserList::read(RunFolder::open(run)?.folder())?;
    if json {
        return write_json(out, &parsers);
    }
    let mark = |number: usize| if number == parsers.current { "→" } else { " " };
    writeln!(out, "{} 0  trained", mark(0))?;
    for parser in &parsers.parsers {
        let origin = match parser.origin {
            xpr_run::ParserOrigin::Improved => "improved",
            xpr_run::ParserOrigin::Taught => "taught",
        };
        write!(out, "{} {}  {origin}, from {}", mark(parser.number), parser.number, parser.before)?;
        if !parser.promoted {
            write!(out, ", not promoted")?;
        }
        if let Some(compared) = &parser.comparison {
            let of = compared.questions;
            write!(
                out,
                ", {} of {of} new questions right ({} before)",
                compared.right_after, compared.right_before
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes a line whenever a stage begins, and every ten seconds.
struct ImproveProgress {
    stage: String,
    last: Instant,
}

impl ImproveProgress {
    fn new() -> Self {
        ImproveProgress { stage: String::new(), last: Instant::now() }
    }
}

impl Observer for ImproveProgress {
    fn step(&mut self, report: StepReport, steps: usize) {
        if self.last.elapsed() >= LINE_INTERVAL {
            self.last = Instant::now();
            let _ = writeln!(printer::stderr(), "{}: step {}/{steps}", self.stage, report.step);
        }
    }

    fn resumed(&mut self, _: usize) {}

    fn note(&mut self, message: &str) {
        write_notes([message.to_owned()]);
    }
}

impl ImproveObserver for ImproveProgress {
    fn stage(&mut self, stage: Stage) {
        self.stage = match stage {
            Stage::Fold { fold, of } => format!("comparison {fold} of {of}"),
            Stage::NewParser => "new parser".to_owned(),
        };
        let _ = writeln!(printer::stderr(), "{}", self.stage);
    }
}
