//! A conversation with a trained parser: questions, and commands about the last answer.

use super::text;
use crate::commands::{labels_file, write_notes};
use crate::shell::{quoted, quoted_path};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use xpr_data::feedback::{FEEDBACK_FILE, Feedback, Verdict, add_label};
use xpr_lang::sql::TableId;
use xpr_learn::TrainedRun;
use xpr_learn::experiment::{AnsweredQuestion, QuestionAnswerer};
use xpr_learn::task::check_length;
use xpr_run::Dataset;
use xpr_text::tokenize;

/// The commands of a session.
pub(super) const HELP: &str = r"\sql         the program of the last answer
\candidates  the other programs that the parser found, with their probabilities
\right       keeps the last answer as a label
\wrong       keeps the last answer as a wrong one
\csv FILE    writes the rows of the last answer to a file
\schema      the tables and columns, or the names that programs use
\help        this list
\quit        ends the session";

/// Checks that a text can be a question.
///
/// # Errors
/// If it has no words, or too many.
pub(super) fn check_question(question: &str) -> Result<()> {
    check_length(question)?;
    if tokenize(question).is_empty() {
        bail!("the question has no words");
    }
    Ok(())
}

/// A session with the parser of a run.
pub(super) struct Session<'r> {
    run: &'r TrainedRun,
    answerer: QuestionAnswerer<'r>,
    beam: usize,
    last: Option<AnsweredQuestion>,
}

impl<'r> Session<'r> {
    pub(super) fn new(run: &'r TrainedRun, beam: usize, min_confidence: Option<f64>) -> Result<Self> {
        Ok(Session { run, answerer: QuestionAnswerer::new(run, min_confidence)?, beam, last: None })
    }

    /// Answers a question. Commands are about this answer from now on.
    ///
    /// # Errors
    /// If it has no words or too many, or the data changed since the run was opened.
    pub(super) fn ask(&mut self, question: &str) -> Result<&AnsweredQuestion> {
        check_question(question)?;
        let is_known = |word: &String| self.run.task.vocabulary().knows(word);
        if self.run.confidence().is_none() && !tokenize(question).iter().any(is_known) {
            let note = "the parser has never seen a word of this question, so its answer is a guess";
            write_notes([note.to_owned()]);
        }
        let answer = self.answerer.answer(question, self.beam);
        self.run.task.check_unchanged()?;
        Ok(self.last.insert(answer))
    }

    /// Executes a command, such as `\sql`. Breaks if it ends the session.
    ///
    /// # Errors
    /// If there is no such command, or it cannot be executed now.
    pub(super) fn execute(&self, command: &str, out: &mut dyn Write) -> Result<ControlFlow<()>> {
        let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (name, argument.trim()) {
            ("\\quit" | "\\q", _) => return Ok(ControlFlow::Break(())),
            ("\\help" | "\\h" | "\\?", _) => writeln!(out, "{HELP}")?,
            ("\\schema", _) => self.write_schema(out)?,
            ("\\sql", _) => {
                let best = self.last()?.best().context("the parser found no program")?;
                writeln!(out, "{}", best.program)?;
            }
            ("\\candidates", _) => text::write_candidates(out, self.last()?)?,
            ("\\right", _) => self.keep(Verdict::Right, out)?,
            ("\\wrong", _) => self.keep(Verdict::Wrong, out)?,
            ("\\csv", "") => bail!("\\csv needs the name of a file"),
            ("\\csv", path) => {
                let answer = self.last()?;
                let rows = answer.rows.as_ref().context("the last answer has no rows")?.len();
                let file = File::create_new(Path::new(path)).with_context(|| path.to_owned())?;
                if let Err(error) = text::write_csv(&mut BufWriter::new(file), answer) {
                    // Some of the rows would look like all of them.
                    let _ = fs::remove_file(path);
                    return Err(error).with_context(|| path.to_owned());
                }
                writeln!(out, "Wrote {rows} rows to {path}.")?;
            }
            _ => bail!("there is no command {name}; \\help lists them"),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Keeps what somebody says about the last answer. A right answer becomes a label of the project.
    fn keep(&self, verdict: Verdict, out: &mut dyn Write) -> Result<()> {
        let answer = self.last()?;
        let program = &answer.best().context("the last question has no answer")?.program;
        let data = &self.run.config.data;
        if data.dataset != Dataset::Database {
            bail!("only a parser of a database learns from answers; the labels of a benchmark are fixed");
        }
        let labels = labels_file(data)?;
        Feedback::now(&answer.question, program, verdict, self.run.folder.folder()).add_to(&data.folder)?;
        let added = match verdict {
            Verdict::Wrong => None,
            Verdict::Right | Verdict::Taught => add_label(&labels, &answer.question, program)?,
        };
        let log = data.folder.join(FEEDBACK_FILE);
        match (verdict, added) {
            (Verdict::Wrong, _) => writeln!(
                out,
                "Kept in {}. If you know the SQL: xpr teach {} {} \"SELECT …\"",
                log.display(),
                quoted_path(&self.run.run),
                quoted(&answer.question)
            )?,
            (_, Some(line)) => {
                writeln!(
                    out,
                    "Added to {}, line {line}; the next training learns from it.",
                    labels.display()
                )?;
            }
            (_, None) => writeln!(out, "{} has this label already.", labels.display())?,
        }
        Ok(())
    }

    fn last(&self) -> Result<&AnsweredQuestion> {
        self.last.as_ref().context("ask a question first")
    }

    fn write_schema(&self, out: &mut dyn Write) -> Result<()> {
        // That of the state that queries read, whatever the file is now.
        if let Some(schema) = self.run.task.world().schema() {
            for (index, table) in (0..).zip(&schema.tables) {
                let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                writeln!(out, "{} ({})", schema.table_name(TableId(index)), columns.join(", "))?;
            }
            return Ok(());
        }
        for item in self.run.task.world().environment().items() {
            writeln!(out, "{}: {}", item.phrase, item.symbol)?;
        }
        Ok(())
    }
}
