//! `xpr eval`: evaluates a trained parser on its test questions.

use super::train::write_evaluation;
use super::training_progress::write_failed_labels;
use super::{find_data, open_run};
use crate::arguments::EvalArguments;
use anyhow::Result;
use std::io::Write;

pub(crate) fn run(arguments: &EvalArguments, out: &mut dyn Write) -> Result<()> {
    let mut run = open_run(&arguments.trained, &arguments.set)?;
    find_data(&mut run.config, arguments.data.as_deref());
    if let Some(beam) = arguments.beam {
        run.config.eval.beam = usize::from(beam);
    }
    let (evaluation, failed) = match &arguments.test {
        Some(file) => run.evaluate_on(file)?,
        None if arguments.set.is_empty() => run.evaluate()?,
        None => run.evaluate_unrecorded()?,
    };
    write_failed_labels(&failed);
    write_evaluation(out, &evaluation, arguments.output.json)
}
