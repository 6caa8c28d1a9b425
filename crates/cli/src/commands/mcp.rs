//! `xpr mcp`: offers a trained parser to language models.

use super::use_threads;
use crate::arguments::McpArguments;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::Arc;
use xpr_mcp::{ParserTools, serve_stdio};
use xpr_serve::{LogPlace, RunOptions, ServedRun};

pub(crate) fn run(arguments: &McpArguments) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let options = RunOptions {
        beam: usize::from(arguments.search.beam),
        log: log_place(arguments.allow_feedback, arguments.log.clone()),
        threads: arguments.pool.threads,
        ..RunOptions::default()
    };
    let run = ServedRun::open("run", &arguments.run, options);
    let run = run.with_context(|| arguments.run.display().to_string())?;
    Ok(serve_stdio(ParserTools::new(Arc::new(run), arguments.allow_feedback))?)
}

/// Returns where questions are logged: nowhere, unless what people say about them may be kept.
fn log_place(allow_feedback: bool, log: Option<PathBuf>) -> LogPlace {
    match (allow_feedback, log) {
        (false, _) => LogPlace::Nowhere,
        (true, None) => LogPlace::BesideRun,
        (true, Some(file)) => LogPlace::File(file),
    }
}
