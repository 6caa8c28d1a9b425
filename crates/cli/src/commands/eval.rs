//! `xpr eval`: how good a run is.

use super::train::write_evaluation;
use crate::arguments::EvalArguments;
use anyhow::Result;
use std::io::Write;
use xpr_learn::{Experiment, load_run};

pub(crate) fn run(arguments: &EvalArguments, out: &mut dyn Write) -> Result<()> {
    let (folder, mut config, _, model) = load_run(&arguments.run)?;
    if let Some(data) = &arguments.data {
        config.data.folder.clone_from(data);
    }
    if let Some(beam) = arguments.beam {
        config.eval.beam = usize::from(beam);
    }
    let experiment = Experiment::load(config)?;
    let evaluation = experiment.evaluate(&folder, &model)?;
    write_evaluation(out, &evaluation, arguments.json)
}
