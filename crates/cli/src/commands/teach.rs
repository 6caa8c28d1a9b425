//! `xpr teach`: adds a label to a project, and teaches it to a trained parser.

use super::{labels_file, use_threads, write_notes};
use crate::arguments::TeachArguments;
use crate::shell::quoted_path;
use anyhow::{Result, bail};
use std::io::Write;
use std::path::Path;
use std::time::Instant;
use xpr_data::Example;
use xpr_data::feedback::{Feedback, Verdict, add_label};
use xpr_learn::TrainedRun;
use xpr_learn::experiment::{ChangedAnswer, Taught};
use xpr_run::Dataset;

/// The number of changed answers that are listed.
const MAX_LISTED: usize = 10;

pub(crate) fn run(arguments: &TeachArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let start = Instant::now();
    let run = TrainedRun::open(&arguments.trained.run)?;
    write_notes(run.notes.iter().cloned());
    if run.config.data.dataset != Dataset::Database {
        bail!("only a parser of a database can be taught; the labels of a benchmark are fixed");
    }
    let (folder, path) = (run.config.data.folder.clone(), labels_file(&run.config.data)?);
    let label = Example { utterance: arguments.question.clone(), program: arguments.program.clone() };
    let mut line = None;
    let mut taught = run.teach(&label, || {
        line = add_label(&path, &label.utterance, &label.program)?;
        let feedback =
            Feedback::now(&label.utterance, &label.program, Verdict::Taught, &arguments.trained.run);
        Ok(feedback.add_to(&folder)?)
    })?;
    write_notes(std::mem::take(&mut taught.notes));
    match line {
        Some(line) => writeln!(out, "Added to {}, line {line}.", path.display())?,
        None => writeln!(out, "{} has this label already.", path.display())?,
    }
    write_taught(out, &taught, start.elapsed().as_secs_f64(), &arguments.trained.run)
}

fn write_taught(out: &mut dyn Write, taught: &Taught, seconds: f64, run: &Path) -> Result<()> {
    let Taught { is_learned, steps, compared, changed, number, .. } = taught;
    match is_learned {
        true => {
            writeln!(out, "The parser answers it as the label does, after {steps} steps ({seconds:.1} s).")?;
        }
        false => writeln!(
            out,
            "After {steps} steps ({seconds:.1} s) the parser does not answer it as the label does; label other wordings, or \
             train again."
        )?,
    }
    let (right, wrong): (Vec<&ChangedAnswer>, Vec<&ChangedAnswer>) =
        changed.iter().partition(|answer| answer.is_right);
    writeln!(
        out,
        "Of {compared} other labeled and test questions, {} became right and {} wrong.",
        right.len(),
        wrong.len()
    )?;
    for (what, answers) in [("now right", right), ("now wrong", wrong)] {
        for answer in answers.iter().take(MAX_LISTED) {
            let kind = if answer.is_held_out { ", not trained on" } else { "" };
            writeln!(out, "  {what}{kind}: {}", answer.utterance)?;
        }
        if answers.len() > MAX_LISTED {
            writeln!(out, "  {what}: {} more", answers.len() - MAX_LISTED)?;
        }
    }
    Ok(writeln!(
        out,
        "It is parser {number} of the run; `xpr improve {} --rollback` goes back to the one before.",
        quoted_path(run)
    )?)
}
