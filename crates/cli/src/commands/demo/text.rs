//! What the demo says. Each part is seen as soon as it is known.

use super::{Answer, Running, Trained};
use crate::table;
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use xpr_exec::Outcome;
use xpr_exec::sqlite::answer_rows;
use xpr_learn::Experiment;

/// Rows of an answer that are shown.
const SHOWN_ROWS: usize = 4;

/// What an objective is called in the paper.
pub(super) fn title(objective: &str) -> String {
    match objective {
        "self-training" => objective.to_owned(),
        _ => format!("{objective} MML"),
    }
}

pub(super) fn data(out: &mut dyn Write, folder: &Path, experiment: &Experiment) -> Result<()> {
    let (labeled, unlabeled) = (experiment.train_examples().len(), experiment.unlabeled_examples().len());
    let tables = xpr_demo::DATABASE.matches("CREATE TABLE").count();
    writeln!(
        out,
        "A film collection of {tables} tables, invented and built in: {}",
        folder.join(xpr_demo::DATABASE_FILE).display()
    )?;
    writeln!(
        out,
        "{labeled} questions with their SQL and {unlabeled} without to learn from, {} to test with, worded in other ways.",
        experiment.test_examples().len()
    )?;
    writeln!(out, "Stop it when you like: the same command goes on.\n")?;
    Ok(out.flush()?)
}

pub(super) fn trained(out: &mut dyn Write, trained: &Trained) -> Result<()> {
    let from = match trained.unlabeled {
        0 => format!("{} questions with SQL", trained.labeled),
        unlabeled => format!("{} questions with SQL and {unlabeled} without", trained.labeled),
    };
    let time =
        trained.seconds.map_or_else(|| "trained before".to_owned(), |seconds| format!("{seconds:.0} s"));
    let accuracy = 100.0 * trained.evaluation.accuracy;
    let heading = format!("{}, from {from}:", trained.name);
    writeln!(out, "{heading:<58} {accuracy:5.1} % right  ({time})")?;
    Ok(out.flush()?)
}

pub(super) fn running(out: &mut dyn Write, running: &Running) -> Result<()> {
    let Running { questions, candidates, rewarded, changed, changed_to_right, .. } = running;
    let success = if running.reward == "non-empty" { "run and find something" } else { "run" };
    let share = 100.0 * *rewarded as f64 / (*candidates).max(1) as f64;
    writeln!(
        out,
        "\nWhat running programs tells: for the {questions} questions without SQL that parser thinks of"
    )?;
    writeln!(
        out,
        "{candidates} programs; {rewarded} of them ({share:.0} %) {success}. For {changed} questions its first choice"
    )?;
    writeln!(
        out,
        "does not and another one does: running them changes its mind, {changed_to_right} times to the right answer"
    )?;
    writeln!(out, "(counted with labels that training never sees).")?;
    for example in &running.examples {
        let verdict = if example.right { "right" } else { "wrong all the same" };
        writeln!(out, "\n  {}", example.question)?;
        writeln!(
            out,
            "    first    {}\n             {}",
            example.first.program,
            outcome(&example.first.outcome)
        )?;
        writeln!(
            out,
            "    instead  {}\n             {}  ({verdict})",
            example.instead.program,
            outcome(&example.instead.outcome)
        )?;
    }
    writeln!(out)?;
    Ok(out.flush()?)
}

pub(super) fn comparison(out: &mut dyn Write, runs: &[Trained]) -> Result<()> {
    let Some(lower) = runs.first() else { return Ok(()) };
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let mut row = vec![
                run.name.clone(),
                run.labeled.to_string(),
                run.unlabeled.to_string(),
                format!("{:.1} %", 100.0 * run.evaluation.accuracy),
            ];
            if run.name != lower.name {
                row.push(format!("{:+.1}", 100.0 * (run.evaluation.accuracy - lower.evaluation.accuracy)));
                row.push(only(&run.right, &lower.right).to_string());
                row.push(only(&lower.right, &run.right).to_string());
            }
            row
        })
        .collect();
    writeln!(
        out,
        "\nRight answers to {} test questions, beside the lower bound:\n",
        lower.evaluation.examples
    )?;
    let headings = ["", "with SQL", "without", "right", "difference", "won", "lost"];
    table::write(out, &headings, &rows)?;
    Ok(out.flush()?)
}

/// Questions that one answers and the other does not.
fn only(one: &[bool], other: &[bool]) -> usize {
    one.iter().zip(other).filter(|(one, other)| **one && !**other).count()
}

pub(super) fn answers(out: &mut dyn Write, answers: &[Answer]) -> Result<()> {
    writeln!(out, "\nNew questions, to the parser that learned from executions:")?;
    for Answer { question, chosen, milliseconds } in answers {
        writeln!(out, "\n  {question}  ({milliseconds:.1} ms)")?;
        writeln!(out, "    {}\n    {}", chosen.program, outcome(&chosen.outcome))?;
    }
    Ok(out.flush()?)
}

pub(super) fn next(out: &mut dyn Write, folder: &Path, run: &Path, report: &Path) -> Result<()> {
    writeln!(out, "\nEvery answer, and how the parsers learned, for a browser: {}", report.display())?;
    writeln!(
        out,
        "\nNext, a question of your own (the tables are in {}):",
        folder.join("film.sql").display()
    )?;
    writeln!(out, "  xpr ask {} \"which actors come from Galway\"", run.display())?;
    writeln!(out, "or your own database, some questions with their SQL, and a log of others:")?;
    writeln!(out, "  xpr init --db sqlite:FILE --labeled pairs.tsv --unlabeled log.txt --out project")?;
    writeln!(out, "  xpr train project/xpr.toml --out project/run")?;
    Ok(out.flush()?)
}

pub(super) fn time(out: &mut dyn Write, seconds: f64) -> Result<()> {
    Ok(writeln!(out, "\nAll of it took {seconds:.0} s.")?)
}

/// An outcome, a few rows of it if it has many.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(answer) => {
            let rows: Vec<String> =
                answer_rows(answer).unwrap_or_default().iter().map(|row| row.join(", ")).collect();
            let shown = rows[..rows.len().min(SHOWN_ROWS)].join(" | ");
            match rows.len().saturating_sub(SHOWN_ROWS) {
                0 => shown,
                more => format!("{shown} | … and {more} more"),
            }
        }
        Outcome::Empty => "finds nothing".to_owned(),
        failed => format!("{}: {}", failed.grade().replace('-', " "), failed.text()),
    }
}
