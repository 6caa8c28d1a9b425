//! `xpr report`: reports the results of runs.

use super::write_json;
use crate::arguments::ReportArguments;
use crate::printer::printable;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use xpr_data::write_output;
use xpr_report::Report;

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<()> {
    let report = Report::read(&arguments.folders, arguments.errors)?;
    let mut is_printed = false;
    let formats: [(_, &dyn Fn() -> String); 3] = [
        (&arguments.html, &|| report.to_html()),
        (&arguments.markdown, &|| report.to_markdown()),
        (&arguments.csv, &|| report.to_csv()),
    ];
    for (path, text) in formats {
        match path.as_deref() {
            Some(path) if path == Path::new("-") => {
                write!(out, "{}", text())?;
                is_printed = true;
            }
            Some(path) => {
                let text = printable(&text()).into_owned();
                write_output(path, text.as_bytes()).with_context(|| path.display().to_string())?;
            }
            None => {}
        }
    }
    if arguments.output.json {
        return write_json(out, &report);
    }
    // A format on standard output takes the place of the text.
    if is_printed { Ok(()) } else { Ok(write!(out, "{}", report.to_terminal())?) }
}
