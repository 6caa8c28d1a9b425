//! `xpr report`: reports the results of runs.

use super::write_json;
use crate::arguments::ReportArguments;
use crate::printer::printable;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write;
use std::path::{self, Path, PathBuf};
use xpr_data::write_output;
use xpr_report::Report;
use xpr_run::RunFile;

pub(crate) fn run(arguments: &ReportArguments, out: &mut dyn Write) -> Result<()> {
    check_targets(arguments)?;
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

/// Checks that no format is written over another one, or over a file of a run.
fn check_targets(arguments: &ReportArguments) -> Result<()> {
    let formats =
        [("--html", &arguments.html), ("--markdown", &arguments.markdown), ("--csv", &arguments.csv)];
    let mut places: Vec<(&str, PathBuf)> = Vec::new();
    for (format, target) in formats {
        // Any number of reports can be sent to a device or a pipe.
        let Some(target) = target.as_deref().filter(|target| target.is_file() || !target.exists()) else {
            continue;
        };
        let place = fs::canonicalize(target).or_else(|_| path::absolute(target))?;
        if let Some((other, _)) = places.iter().find(|(_, known)| *known == place) {
            bail!("{other} and {format} name the same file, {}; name another one", target.display());
        }
        if is_file_of_run(&place) {
            bail!("{}: this is a file of a run; name another one", target.display());
        }
        places.push((format, place));
    }
    Ok(())
}

/// Returns whether a run has a file there, or would have.
fn is_file_of_run(path: &Path) -> bool {
    let has_name = RunFile::ALL.iter().any(|file| path.file_name().is_some_and(|name| name == file.name()));
    has_name && path.with_file_name(RunFile::Config.name()).exists()
}
