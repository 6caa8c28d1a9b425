//! The text of the demo. Each part is flushed as soon as it is written.

use super::execution::ExecutionEffect;
use super::{ComparedRun, DemoAnswer};
use crate::shell::quoted_path;
use crate::table;
use anyhow::Result;
use std::io::Write;
use std::path::Path;
use xpr_exec::Outcome;
use xpr_exec::database::answer_rows;
use xpr_learn::Experiment;

/// The number of rows of an answer that are shown.
const MAX_ROWS: usize = 4;

/// Returns the name of an objective in the paper.
pub(super) fn title(objective: &str) -> String {
    match objective {
        "self-training" => objective.to_owned(),
        _ => format!("{objective} MML"),
    }
}

pub(super) fn data(out: &mut dyn Write, folder: &Path, experiment: &Experiment) -> Result<()> {
    let log = experiment.unlabeled_examples().len();
    let tables = xpr_demo::DATABASE.matches("CREATE TABLE").count();
    writeln!(
        out,
        "A built-in film database of {tables} tables: {}",
        folder.join(xpr_demo::DATABASE_FILE).display()
    )?;
    writeln!(
        out,
        "A log of {log} questions without SQL, and {} test questions in other words.",
        experiment.test_examples().len()
    )?;
    writeln!(out, "The same command resumes an interrupted demo.\n")?;
    Ok(out.flush()?)
}

pub(super) fn trained(out: &mut dyn Write, run: &ComparedRun) -> Result<()> {
    let time = run.seconds.map_or_else(|| "made before".to_owned(), |seconds| format!("{seconds:.0} s"));
    let accuracy = 100.0 * run.evaluation.accuracy;
    let heading = format!("{}:", run.name);
    writeln!(out, "{heading:<32} {accuracy:5.1} % of the test questions answered correctly  ({time})")?;
    Ok(out.flush()?)
}

pub(super) fn execution(out: &mut dyn Write, effect: &ExecutionEffect) -> Result<()> {
    let ExecutionEffect { questions, candidates, rewarded, changed, changed_to_right, .. } = effect;
    let success = if effect.reward == "non-empty" { "run and have a non-empty answer" } else { "run" };
    let share = 100.0 * *rewarded as f64 / (*candidates).max(1) as f64;
    writeln!(
        out,
        "\nWhat execution adds: for the {questions} questions of the log this parser finds {candidates} candidates;"
    )?;
    writeln!(
        out,
        "{rewarded} of them ({share:.0} %) {success}. For {changed} questions the most probable candidate does"
    )?;
    writeln!(
        out,
        "not, and another one does. The most probable one that does is correct for {changed_to_right} of these questions"
    )?;
    writeln!(out, "(checked against SQL that is not used in training).")?;
    for example in &effect.examples {
        let verdict = if example.right { "correct" } else { "also wrong" };
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

pub(super) fn comparison(out: &mut dyn Write, runs: &[ComparedRun]) -> Result<()> {
    let Some(base) = runs.first() else { return Ok(()) };
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let mut row = vec![
                run.name.clone(),
                run.labeled.to_string(),
                run.unlabeled.to_string(),
                format!("{:.1} %", 100.0 * run.evaluation.accuracy),
            ];
            if run.name != base.name {
                row.push(format!("{:+.1}", 100.0 * (run.evaluation.accuracy - base.evaluation.accuracy)));
                row.push(only(&run.right, &base.right).to_string());
                row.push(only(&base.right, &run.right).to_string());
            }
            row
        })
        .collect();
    writeln!(out, "\nAccuracy on {} test questions, compared with the base:\n", base.evaluation.examples)?;
    let headings = ["", "labels", "log", "correct", "difference", "won", "lost"];
    table::write(out, &headings, &rows)?;
    Ok(out.flush()?)
}

/// Returns the number of questions that the first parser answers correctly and the other does not.
fn only(one: &[bool], other: &[bool]) -> usize {
    one.iter().zip(other).filter(|(one, other)| **one && !**other).count()
}

pub(super) fn answers(out: &mut dyn Write, answers: &[DemoAnswer]) -> Result<()> {
    writeln!(out, "\nNew questions, answered by the last parser:")?;
    for DemoAnswer { question, chosen, explanation, milliseconds } in answers {
        writeln!(out, "\n  {question}  ({milliseconds:.1} ms)")?;
        writeln!(out, "    {}", chosen.program)?;
        if let Some(explanation) = explanation {
            writeln!(out, "    That is: {explanation}.")?;
        }
        writeln!(out, "    {}", outcome(&chosen.outcome))?;
    }
    Ok(out.flush()?)
}

pub(super) fn next_steps(out: &mut dyn Write, folder: &Path, run: &Path, report: &Path) -> Result<()> {
    writeln!(out, "\nReport with learning curves and errors, for a browser: {}", report.display())?;
    writeln!(
        out,
        "\nNext, ask your own question (the tables are in {}):",
        folder.join("film.sql").display()
    )?;
    writeln!(out, "  xpr ask {} \"which actors come from Galway\"", quoted_path(run))?;
    writeln!(out, "or use your own database. It needs no labels:")?;
    writeln!(out, "  xpr init --db FILE --out project")?;
    writeln!(out, "  xpr ask project/run")?;
    Ok(out.flush()?)
}

pub(super) fn time(out: &mut dyn Write, seconds: f64) -> Result<()> {
    Ok(writeln!(out, "\nTotal time: {seconds:.0} s.")?)
}

/// Returns an outcome as text, with at most [`MAX_ROWS`] rows.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(answer) => {
            let rows: Vec<String> =
                answer_rows(answer).unwrap_or_default().iter().map(|row| row.join(", ")).collect();
            let shown = rows[..rows.len().min(MAX_ROWS)].join(" | ");
            match rows.len().saturating_sub(MAX_ROWS) {
                0 => shown,
                more => format!("{shown} | … and {more} more"),
            }
        }
        Outcome::Empty => "empty answer".to_owned(),
        failed => format!("{}: {}", failed.grade().replace('-', " "), failed.text()),
    }
}
