//! A database and the questions about it, read with progress and checked: what `xpr init` and `xpr data check` report.

use super::loading_bar::LoadingBar;
use super::write_notes;
use crate::arguments::DatabaseFiles;
use anyhow::Result;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::unlabeled::{self, UnlabeledQuestion};
use xpr_exec::database::{self, Database, ReadSchema, ReadingProgress, ValueIndex, ValueLimits};
use xpr_lang::sql::Sql;
use xpr_learn::task::{
    Coverage, DataFindings, Failure, MisspelledConstant, PaddedColumn, Stage, SuggestedKey, Surveyor,
    VocabularyAccount,
};

/// The number of findings of a kind in text; JSON has all of them.
const MAX_FINDINGS: usize = 8;
/// The number of failures in text; JSON has all of them.
const MAX_FAILURES: usize = 20;

/// A database, the questions about it, and how much of them a parser can learn from.
pub(super) struct CheckedData {
    pub(super) database: Box<dyn Database>,
    pub(super) schema: ReadSchema,
    /// The number of distinct indexed values, which questions can name.
    pub(super) values: usize,
    pub(super) labeled: Vec<LabeledQuestion>,
    pub(super) unlabeled: Option<Vec<UnlabeledQuestion>>,
    pub(super) coverage: Coverage,
    pub(super) vocabulary: Option<VocabularyAccount>,
}

impl CheckedData {
    /// Reads and checks the files, with the labeled questions if there are some. Labeled queries are run until `time_limit` has
    /// passed.
    pub(super) fn read(
        files: &DatabaseFiles,
        labeled: Option<&Path>,
        time_limit: Duration,
    ) -> Result<CheckedData> {
        // The question files are read first, so that an error in them is reported before a large database is indexed.
        let database = database::open(&files.db, Path::new(""))?;
        let name = database.name().to_owned();
        let read = |path| labeled::read_for_database(path, &name);
        let labeled = labeled.map(read).transpose()?.unwrap_or_default();
        let unlabeled = files.unlabeled.as_deref().map(unlabeled::read).transpose()?;

        if files.details.verbose {
            write_notes([format!("{} is read {}", database.label(), database.access())]);
        }
        let mut bar = LoadingBar::new();
        let mut show = |what: &str, now: ReadingProgress<'_>| {
            bar.show(&format!("tables, {what} {}", now.table), now.done, now.total);
            ControlFlow::Continue(())
        };
        let schema = database.read_schema(&mut |now| show("reading", now))?;
        let limits = ValueLimits::default();
        let index = ValueIndex::read(&*database, &schema.schema, limits, &mut |now| show("indexing", now))?;

        let language = Sql::new(schema.schema.clone());
        let mut surveyor = Surveyor::new(&*database, &language, &index)?;
        let train: Vec<LabeledQuestion> =
            labeled.iter().filter(|question| question.split != Some(Split::Test)).cloned().collect();
        let constants = surveyor.constants(&train);
        let start = Instant::now();
        let coverage = surveyor.survey(&labeled, &constants, &mut |done| {
            bar.show("labeled queries run", done, labeled.len());
            if start.elapsed() < time_limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        bar.finish();
        database.check_unchanged()?;
        let vocabulary = unlabeled.as_ref().map(|unlabeled| surveyor.vocabulary(&labeled, unlabeled));
        let values = index.len();
        write_notes(index.tables_with_oversized_cells().iter().map(|table| {
            format!(
                "the table {} has cells of more than 256 KiB, which questions cannot name and queries cannot read",
                schema.schema.table_name(*table)
            )
        }));
        write_notes(index.sampled_tables().iter().map(|table| {
            format!(
                "the table {} is large: questions can name the values of a sample of its rows, and the most common ones",
                schema.schema.table_name(*table)
            )
        }));
        write_notes(index.failures().iter().map(|(table, reason)| {
            format!("the table {} cannot be read to its end: {reason}", schema.schema.table_name(*table))
        }));
        write_notes(schema.notes());
        Ok(CheckedData { database, schema, values, labeled, unlabeled, coverage, vocabulary })
    }

    /// Writes the results of the check as text.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        write_coverage(out, &self.coverage)?;
        if let Some(vocabulary) = &self.vocabulary {
            writeln!(
                out,
                "{} unlabeled questions; {:.1} % of their words occur in labeled questions or the schema",
                vocabulary.questions,
                100.0 * vocabulary.known_share
            )?;
            if !vocabulary.unknown.is_empty() {
                writeln!(out, "  unknown: {}", vocabulary.unknown.join(", "))?;
            }
        }
        write_findings(out, &self.coverage)?;
        write_failures(out, &self.coverage.failures)
    }
}

/// Writes how many labeled questions pass each check.
fn write_coverage(out: &mut dyn Write, coverage: &Coverage) -> Result<()> {
    writeln!(out, "{} labeled questions", coverage.pairs)?;
    let percent = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
    for (count, of, what) in [
        (coverage.executable, coverage.run, "run"),
        (coverage.covered, coverage.pairs, "can be written by the parser"),
        (coverage.round_trip, coverage.run, "return the same rows when the parser writes them"),
        (coverage.linked, coverage.pairs, "have only constants that words of the question say"),
    ] {
        let percent = percent(count, of);
        let of = if of < coverage.pairs { format!(", of {of} that were run") } else { String::new() };
        writeln!(out, "  {count:>6}  {percent:5.1} %  {what}{of}")?;
    }
    if coverage.run < coverage.pairs {
        writeln!(out, "Running all of them takes long; `xpr data check` does.")?;
    }
    if !coverage.constants.is_empty() {
        let count = coverage.linked_with_constants;
        let percent = percent(count, coverage.pairs);
        writeln!(out, "  {count:>6}  {percent:5.1} %  the same, with constants learned from the labels:")?;
        for constant in &coverage.constants {
            writeln!(
                out,
                "    {}, needed by {} queries whose questions do not say it",
                constant.literal, constant.programs
            )?;
        }
    }
    Ok(())
}

/// Writes which labeled queries find nothing, and what in the database makes right queries find nothing.
fn write_findings(out: &mut dyn Write, coverage: &Coverage) -> Result<()> {
    if !coverage.empty.is_empty() {
        let (count, of) = (coverage.empty.len(), coverage.executable);
        writeln!(out, "\n{count} of {of} labeled queries that run find nothing; check that they are right:")?;
        let lines = coverage.empty.iter().map(|label| format!("line {}: {}", label.line, label.utterance));
        write_list(out, lines)?;
    }
    if !coverage.conflicts.is_empty() {
        writeln!(out, "\nQuestions that have labels with different answers; keep the right one of each:")?;
        write_list(out, coverage.conflicts.iter().map(ToString::to_string))?;
    }
    let DataFindings { padded, misspelled, unmatched_keys, suggested_keys } = &coverage.findings;
    if !misspelled.is_empty() {
        writeln!(
            out,
            "\nConstants that no cell has, but for blanks or case; spell them as the database does, or set loose_values = true in xpr.toml:"
        )?;
        let line = |constant: &MisspelledConstant| {
            let MisspelledConstant { column, constant, cell, labels } = constant;
            format!("{column}: '{constant}' in {}, '{cell}' in the database", counted(*labels, "label"))
        };
        write_list(out, misspelled.iter().map(line))?;
    }
    if !padded.is_empty() {
        writeln!(
            out,
            "\nColumns with blanks around their text, which `=` does not ignore; trim them in the database:"
        )?;
        let line = |padded: &PaddedColumn| {
            format!(
                "{}: {}, such as '{}'",
                padded.column,
                counted(padded.cells, "cell"),
                with_ends(&padded.example)
            )
        };
        write_list(out, padded.iter().map(line))?;
    }
    if !unmatched_keys.is_empty() {
        writeln!(out, "\nForeign keys that match no row, so that joins along them find nothing:")?;
        write_list(out, unmatched_keys.iter().map(|key| format!("{} -> {}", key.from, key.to)))?;
    }
    if !suggested_keys.is_empty() {
        writeln!(
            out,
            "\nProbably foreign keys; name them in `keys` of xpr.toml, so that the parser joins along them:"
        )?;
        let line = |key: &SuggestedKey| {
            let reason = match key.labels {
                0 => "by names and values".to_owned(),
                labels => format!("joined by {}", counted(labels, "label")),
            };
            format!("{} -> {} ({reason})", key.columns.from, key.columns.to)
        };
        write_list(out, suggested_keys.iter().map(line))?;
    }
    Ok(())
}

/// Returns a text without its middle if it is long. Its blanks are at an end.
fn with_ends(text: &str) -> String {
    const SHOWN: usize = 30;
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= 2 * SHOWN {
        return text.to_owned();
    }
    let (start, end) = (&characters[..SHOWN], &characters[characters.len() - SHOWN..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// Returns a number with a noun.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Writes the first lines of a list, and how many more there are.
fn write_list(out: &mut dyn Write, lines: impl ExactSizeIterator<Item = String>) -> Result<()> {
    let more = lines.len().saturating_sub(MAX_FINDINGS);
    for line in lines.take(MAX_FINDINGS) {
        writeln!(out, "  {line}")?;
    }
    match more {
        0 => Ok(()),
        more => Ok(writeln!(out, "  … and {more} more; `xpr data check --json` lists all")?),
    }
}

/// Writes the questions that fail a check, and what to do about each kind of failure.
fn write_failures(out: &mut dyn Write, failures: &[Failure]) -> Result<()> {
    // If a question fails several checks, the first failure causes the others.
    let mut failures: Vec<&Failure> = failures.iter().collect();
    failures.dedup_by_key(|failure| (failure.line, failure.utterance.as_str()));
    if failures.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nFailures:")?;
    for failure in failures.iter().take(MAX_FAILURES) {
        let (stage, _) = advice(failure.stage);
        writeln!(out, "  line {}, {stage}: {}", failure.line, failure.reason)?;
        writeln!(out, "    {}", failure.utterance)?;
    }
    if failures.len() > MAX_FAILURES {
        let more = failures.len() - MAX_FAILURES;
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

/// Returns the name of a failure, and what to do about it.
fn advice(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Executable => {
            ("does not run", "correct the query; until then its question is not counted in evaluations")
        }
        Stage::Covered => (
            "cannot be written",
            "rewrite it in simpler SQL if possible; until then it is not used for training",
        ),
        Stage::RoundTrip => (
            "changes its answer",
            "compare the query with the one the parser would write, and write it that way",
        ),
        Stage::Linked => (
            "has a constant that nobody says",
            "name the value in the question as the database spells it, say in `words` of xpr.toml what people call it, or label \
             another question that needs it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::with_ends;

    #[test]
    fn long_cells_are_shown_by_their_ends() {
        assert_eq!(with_ends(" short "), " short ");
        assert_eq!(
            with_ends(&format!("{}ä ", "x".repeat(500))),
            format!("{}…{}ä ", "x".repeat(30), "x".repeat(28))
        );
    }
}
