//! `xpr objective`: evaluates an objective on given candidates.

use crate::arguments::ObjectiveArguments;
use anyhow::{Context, Result, bail};
use std::io::Write;
use xpr_learn::objectives::{self, Candidates};

pub(crate) fn run(arguments: &ObjectiveArguments, out: &mut dyn Write) -> Result<()> {
    let rewarded: Vec<bool> = arguments.rewarded.iter().map(|rewarded| rewarded == "1").collect();
    let log_probabilities = &arguments.log_probs;
    if rewarded.len() != log_probabilities.len() {
        let (logs, rewards) = (log_probabilities.len(), rewarded.len());
        bail!("--log-probs has {logs} numbers and --rewarded has {rewards}; give one of each per candidate");
    }
    if let Some(log) = log_probabilities.iter().find(|log| !(log.is_finite() && **log <= 0.0)) {
        bail!("--log-probs: {log} is not the logarithm of a probability");
    }
    let objective = objectives::named(&arguments.objective)?;
    let credit = objective
        .credit(Candidates { log_probabilities, rewarded: &rewarded })
        .context("no candidate is rewarded, so this objective has no target; reward at least one")?;
    serde_json::to_writer(&mut *out, &credit)?;
    Ok(writeln!(out)?)
}
