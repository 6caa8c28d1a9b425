//! `xpr mcp`: offers a trained parser to language models.

use super::use_threads;
use crate::arguments::McpArguments;
use anyhow::Result;
use xpr_log::log_path;
use xpr_mcp::{ParserTools, Worker, serve_stdio};

pub(crate) fn run(arguments: &McpArguments) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let log = arguments.log.clone().unwrap_or_else(|| log_path(&arguments.run));
    let log = arguments.allow_feedback.then_some(log);
    let worker = Worker::start(&arguments.run, usize::from(arguments.search.beam), log.as_deref())?;
    Ok(serve_stdio(ParserTools::new(worker, arguments.allow_feedback))?)
}
