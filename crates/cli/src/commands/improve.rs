//! `xpr improve`: a better parser from what people said about answers.

use super::{use_threads, write_json, write_notes};
use crate::arguments::ImproveArguments;
use crate::duration::brief;
use crate::printer;
use crate::shell::quoted_path;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
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

/// The output of `--json` if no parser was trained.
#[derive(Serialize)]
struct NothingNew {
    /// There is none.
    decision: Option<Decision>,
    /// The number of questions that are new, which are too few.
    new: usize,
    /// The parser that has learned the others and was rolled back, if there is one.
    rolled_back: Option<usize>,
}

/// The output of `--json`.
#[derive(Serialize)]
struct ImprovementReport<'a> {
    decision: Decision,
    /// The number of questions whose confirmed answer was corrected or taken back.
    revised: usize,
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
    let round = Round::new(arguments, &options)?;
    round.write(arguments, out)?;
    if arguments.watch.is_some() {
        return watch(arguments, &options, round, out);
    }
    let Improved::TooFew { new, rolled_back } = round.improved else { return Ok(()) };
    if arguments.output.json {
        return write_json(out, &NothingNew { decision: None, new, rolled_back });
    }
    let message = match rolled_back {
        Some(parser) => format!(
            "There is nothing new since parser {parser}, which was rolled back: the next one would learn from the same answers. \
             It is trained when people say more, or with other settings (`--set`)."
        ),
        None if round.is_confirmed => {
            "There is nothing new: the parser has learned every question whose answer was confirmed."
                .to_owned()
        }
        None => "Nobody has confirmed an answer yet.".to_owned(),
    };
    Ok(writeln!(out, "{message}")?)
}

/// Improves the run whenever there are enough new confirmed questions, until the process is ended.
fn watch(
    arguments: &ImproveArguments,
    options: &ImproveOptions,
    mut last: Round,
    out: &mut dyn Write,
) -> Result<()> {
    let path = log_of(arguments);
    writeln!(out, "Watching {}.", path.display())?;
    out.flush()?;
    let feedback = || -> Result<i64> {
        // There is none before the first question is asked.
        Ok(if path.exists() { QuestionLog::open_existing(&path)?.last_feedback_number()? } else { 0 })
    };
    let mut failed = String::new();
    loop {
        std::thread::sleep(WATCH_INTERVAL);
        let next = feedback().and_then(|feedback| {
            let is_enough = last.is_enough(feedback, options);
            is_enough.then(|| Round::new(arguments, options)).transpose()
        });
        match next {
            Ok(Some(round)) => {
                round.write(arguments, out)?;
                out.flush()?;
                (last, failed) = (round, String::new());
            }
            Ok(None) => {}
            // What fails now, such as a run that another process is changing, may not fail later.
            Err(error) => {
                let error = format!("{error:#}; trying again");
                if error != failed {
                    write_notes([error.clone()]);
                }
                failed = error;
            }
        }
    }
}

fn log_of(arguments: &ImproveArguments) -> PathBuf {
    arguments.log.clone().unwrap_or_else(|| log_path(&arguments.trained.run))
}

/// One improvement of a run, or that there was too little to learn from.
struct Round {
    improved: Improved,
    /// Whether somebody confirmed an answer, learned or not.
    is_confirmed: bool,
    /// The number of the last feedback in the log.
    feedback: i64,
    time: Duration,
}

impl Round {
    /// Improves the run once, if there is enough to learn from.
    fn new(arguments: &ImproveArguments, options: &ImproveOptions) -> Result<Self> {
        let start = Instant::now();
        let path = log_of(arguments);
        let (mut asked, mut feedback) = (vec![], 0);
        if path.exists() || arguments.watch.is_none() {
            let log = QuestionLog::open_existing(&path)?;
            // Read before the questions: what people say in between is counted the next time.
            feedback = log.last_feedback_number()?;
            asked = asked_questions(&log.entries(&Selection::default())?);
        }
        let is_confirmed = asked.iter().any(|asked| asked.said.confirmed().is_some());
        let improved = improve(&arguments.trained.run, asked, options, &mut ImproveProgress::new())?;
        Ok(Round { improved, is_confirmed, feedback, time: start.elapsed() })
    }

    /// Returns whether people may have said enough since for another improvement, with this number of the last feedback. Every new question
    /// has feedback of its own, so less of it is not worth opening the parser. A parser that was refused is not tried again until people
    /// have said as much again.
    fn is_enough(&self, feedback: i64, options: &ImproveOptions) -> bool {
        let known = match self.improved {
            Improved::TooFew { new, .. } => new,
            Improved::Compared(_) => 0,
        };
        let missing = i64::try_from(options.fewest.saturating_sub(known)).unwrap_or(i64::MAX);
        // Numbers start again if the log was pruned or replaced.
        let before = if feedback < self.feedback { 0 } else { self.feedback };
        feedback - before >= missing
    }

    /// Writes the new parser and how it compares, if there is one.
    fn write(&self, arguments: &ImproveArguments, out: &mut dyn Write) -> Result<()> {
        let Improved::Compared(improvement) = &self.improved else { return Ok(()) };
        let Improvement { decision, revised, ref record, .. } = *improvement;
        match arguments.output.json {
            true => write_json(out, &ImprovementReport { decision, revised, record }),
            false => write_improvement(out, improvement, &arguments.trained.run, self.time),
        }
    }
}

fn write_improvement(
    out: &mut dyn Write,
    improvement: &Improvement,
    run: &Path,
    time: Duration,
) -> Result<()> {
    let Improvement { record, decision, revised, new, known } = improvement;
    let LearnedQuestions { programs, answers, rejected, unlabeled } = record.learned;
    writeln!(
        out,
        "Learned from {programs} confirmed programs, {answers} confirmed answers, {rejected} questions without a right answer \
         and {unlabeled} without comment ({}).",
        brief(time)
    )?;
    if *revised > 0 {
        writeln!(out, "  corrected or taken back since parser {} learned them: {revised}", record.before)?;
    }
    if !new.is_empty() {
        write_answers(out, "new confirmed questions, which neither parser has seen", new)?;
    }
    if !known.is_empty() {
        write_answers(out, "questions whose answer was known before", known)?;
    }
    let (number, before) = (record.number, record.before);
    match decision {
        Decision::Promoted => writeln!(
            out,
            "Promoted: parser {number} answers from now on. `xpr improve {} --rollback` goes back to parser {before}.",
            quoted_path(run)
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
        if parser.rolled_back {
            write!(out, ", rolled back")?;
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
