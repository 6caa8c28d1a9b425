//! `xpr completions`: prints a shell completion script.

use crate::arguments::{Arguments, CompletionsArguments};
use anyhow::Result;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(arguments: &CompletionsArguments, out: &mut dyn Write) -> Result<()> {
    // The script is generated in memory, because the generator panics on write errors.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "xpr", &mut script);
    Ok(out.write_all(&script)?)
}
