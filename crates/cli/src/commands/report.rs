//! `xpr report`: reports the results of runs.

use super::write_json;
use crate::arguments::ReportArguments;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use xpr_data::write_file;
use xpr_report::Report;

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<()> {
    let report = Report::read(&arguments.folders, arguments.errors)?;
    write_if_asked(arguments.html.as_deref(), || report.to_html())?;
    write_if_asked(arguments.markdown.as_deref(), || report.to_markdown())?;
    write_if_asked(arguments.csv.as_deref(), || report.to_csv())?;
    if arguments.output.json {
        return write_json(out, &report);
    }
    Ok(write!(out, "{}", report.to_terminal())?)
}

/// Writes a format of the report, if a file is named for it.
fn write_if_asked(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<()> {
    match path {
        Some(path) => write_file(path, text().as_bytes()).with_context(|| path.display().to_string()),
        None => Ok(()),
    }
}
