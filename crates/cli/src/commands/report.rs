//! `xpr report`: what runs came to.

use super::write_json;
use crate::arguments::ReportArguments;
use anyhow::Result;
use std::io::Write;
use xpr_report::{Report, write_file};

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<()> {
    let report = Report::read(&arguments.folders, arguments.errors)?;
    if let Some(path) = &arguments.html {
        write_file(path, &report.to_html())?;
    }
    if let Some(path) = &arguments.markdown {
        write_file(path, &report.to_markdown())?;
    }
    if let Some(path) = &arguments.csv {
        write_file(path, &report.to_csv())?;
    }
    if arguments.json {
        return write_json(out, &report);
    }
    Ok(write!(out, "{}", report.to_terminal())?)
}
