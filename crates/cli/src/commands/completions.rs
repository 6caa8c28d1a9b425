//! `xpr completions`: what a shell needs to complete commands and flags.

use crate::arguments::{Arguments, CompletionsArguments};
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<()> {
    // Aside first: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "xpr", &mut script);
    Ok(out.write_all(&script)?)
}
