//! Somebody's database and questions: read with progress, and accounted for.

use super::reading::Reading;
use crate::arguments::QuestionFiles;
use anyhow::Result;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::unlabeled::{self, UnlabeledQuestion};
use xpr_exec::sqlite::{Database, ReadingProgress, ValueIndex, ValueLimits};
use xpr_lang::sql::Schema;
use xpr_learn::task::{Coverage, Failure, Stage, Surveyor, VocabularyAccount};

/// Failures shown in text; JSON has all.
const SHOWN: usize = 20;

/// All that was read, and what there is to say about it.
pub(super) struct Survey {
    pub(super) database: Database,
    pub(super) schema: Schema,
    /// Different values of its columns that questions can name.
    pub(super) values: usize,
    pub(super) pairs: Vec<LabeledQuestion>,
    pub(super) questions: Option<Vec<UnlabeledQuestion>>,
    pub(super) coverage: Coverage,
    pub(super) vocabulary: Option<VocabularyAccount>,
}

impl Survey {
    /// Reads all of it. Programs are run for as long as there is `patience`.
    pub(super) fn of(files: &QuestionFiles, patience: Duration) -> Result<Survey> {
        // The files first: what is wrong with them should not wait for a large database.
        let database = Database::at(&files.db, Path::new(""))?;
        let name = database.name().to_owned();
        let pairs = labeled::read_for_database(&files.labeled, &name)?;
        let questions = files.unlabeled.as_deref().map(unlabeled::read).transpose()?;

        let mut progress = Reading::new();
        let mut reading = |what: &str, now: ReadingProgress<'_>| {
            progress.show(&format!("tables, {what} {}", now.table), now.done, now.total);
            ControlFlow::Continue(())
        };
        let schema = database.schema_with_progress(&mut |now| reading("looking at", now))?;
        let limits = ValueLimits::default();
        let index = ValueIndex::read(&database, &schema, limits, &mut |now| reading("indexing", now))?;

        let mut surveyor = Surveyor::new(&database, &schema, &index)?;
        let train: Vec<LabeledQuestion> =
            pairs.iter().filter(|pair| pair.split != Some(Split::Test)).cloned().collect();
        let constants = surveyor.constants(&train);
        let start = Instant::now();
        let coverage = surveyor.survey(&pairs, &constants, &mut |done| {
            progress.show("queries run", done, pairs.len());
            if start.elapsed() < patience { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        progress.finish();
        let vocabulary = questions.as_ref().map(|questions| surveyor.vocabulary(&pairs, questions));
        let values = index.len();
        Ok(Survey { database, schema, values, pairs, questions, coverage, vocabulary })
    }

    /// Writes the account as text.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let coverage = &self.coverage;
        writeln!(out, "{} labeled questions", coverage.pairs)?;
        let share = |count: usize| 100.0 * count as f64 / coverage.pairs.max(1) as f64;
        for (count, of, what) in [
            (coverage.executable, coverage.run, "run"),
            (coverage.covered, coverage.pairs, "can be written by the parser"),
            (coverage.round_trip, coverage.run, "find the same when it writes them"),
            (coverage.linked, coverage.pairs, "have all their constants suggested by the question"),
        ] {
            let percent = 100.0 * count as f64 / of.max(1) as f64;
            let of = if of < coverage.pairs { format!(", of {of} that were tried") } else { String::new() };
            writeln!(out, "  {count:>6}  {percent:5.1} %  {what}{of}")?;
        }
        if coverage.run < coverage.pairs {
            writeln!(out, "They take long; `xpr data check` tries all of them.")?;
        }
        if !coverage.constants.is_empty() {
            let count = coverage.linked_with_constants;
            writeln!(
                out,
                "  {count:>6}  {:5.1} %  the same, with constants learned from the labels:",
                share(count)
            )?;
            for constant in &coverage.constants {
                writeln!(
                    out,
                    "    {}, which {} programs need and no question says",
                    constant.literal, constant.programs
                )?;
            }
        }
        if let Some(vocabulary) = &self.vocabulary {
            writeln!(
                out,
                "{} questions without SQL; of their words {:.1} % are known from the labeled ones and the schema",
                vocabulary.questions,
                100.0 * vocabulary.known_share
            )?;
            if !vocabulary.unknown.is_empty() {
                writeln!(out, "  new: {}", vocabulary.unknown.join(", "))?;
            }
        }
        // Of what fails in several ways the first is the reason for the others.
        let mut failures: Vec<&Failure> = coverage.failures.iter().collect();
        failures.dedup_by_key(|failure| (failure.line, failure.utterance.as_str()));
        if failures.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nWhat fails:")?;
        for failure in failures.iter().take(SHOWN) {
            let (stage, _) = advice(failure.stage);
            writeln!(out, "  line {}, {stage}: {}", failure.line, failure.reason)?;
            writeln!(out, "    {}", failure.utterance)?;
        }
        if failures.len() > SHOWN {
            let more = failures.len() - SHOWN;
            writeln!(out, "  … and {more} more; `xpr data check --json` lists all")?;
        }
        writeln!(out, "What to do:")?;
        for stage in [Stage::Executable, Stage::Covered, Stage::RoundTrip, Stage::Linked] {
            if failures.iter().any(|failure| failure.stage == stage) {
                let (stage, advice) = advice(stage);
                writeln!(out, "  {stage}: {advice}")?;
            }
        }
        Ok(())
    }
}

/// What to call a failure, and what to do about it.
fn advice(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Executable => ("does not run", "correct the query; till then it is not trained with"),
        Stage::Covered => (
            "cannot be written",
            "say it in simpler SQL if that is possible; till then it is not trained with",
        ),
        Stage::RoundTrip => ("changes its answer", "compare it with what is written instead, and say it so"),
        Stage::Linked => (
            "is not linked",
            "name the value in the question as the database spells it, or label another question that needs it",
        ),
    }
}
