//! `xpr eval`: how good a run is.

use super::find_data;
use super::train::write_evaluation;
use crate::arguments::EvalArguments;
use anyhow::Result;
use std::io::Write;
use xpr_learn::{evaluate_run, load_run};

pub(crate) fn run(arguments: &EvalArguments, out: &mut dyn Write) -> Result<()> {
    let (folder, mut config, task, model) = load_run(&arguments.run)?;
    find_data(&mut config, arguments.data.as_deref());
    if let Some(beam) = arguments.beam {
        config.eval.beam = usize::from(beam);
    }
    let evaluation = evaluate_run(&folder, &config, &task, &model)?;
    write_evaluation(out, &evaluation, arguments.json)
}
