//! `xpr report`: reports the results of runs.

use super::write_json;
use crate::arguments::ReportArguments;
use anyhow::{Context, Result};
use std::io::Write;
use xpr_data::write_file;
use xpr_report::Report;

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<()> {
    let report = Report::read(&arguments.folders, arguments.errors)?;
    let formats: [(_, fn(&Report) -> String); 3] = [
        (&arguments.html, Report::to_html),
        (&arguments.markdown, Report::to_markdown),
        (&arguments.csv, Report::to_csv),
    ];
    for (path, text) in formats {
        if let Some(path) = path {
            write_file(path, text(&report).as_bytes()).with_context(|| path.display().to_string())?;
        }
    }
    if arguments.output.json {
        return write_json(out, &report);
    }
    Ok(write!(out, "{}", report.to_terminal())?)
}
