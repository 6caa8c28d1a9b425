//! What runs came to.
//!
//! A [`Report`] is read from run folders and nothing else: no dataset, no model. Runs that differ in split and seed
//! only are one [`Group`]; groups stand beside the paper's tables ([`Comparison`]), and each has its curves, its calibration and
//! its errors. Everything is computed once, here; the modules that write it only choose words. The key decision is that **the same runs
//! give the same report**, byte for byte: the bootstrap has a fixed seed, and nothing depends on the clock.
//!
//! *Architecture invariant:* reads run folders only. What is in them is untrusted: a question may be `<script>`, and a file may be
//! missing or damaged.
//!
//! ```
//! // How much better one parser is than another on four questions: right on one more of them.
//! let interval = xpr_report::bootstrap::paired(&[vec![0.0, 0.0, 0.0, 1.0]]).expect("there are questions");
//! assert_eq!((interval.difference, interval.low, interval.high), (0.25, 0.0, 0.75));
//! ```

pub mod bootstrap;
pub mod calibration;
mod comparison;
mod curves;
mod error;
mod errors;
mod figures;
mod groups;
mod html;
mod lines;
mod markdown;
mod published;
mod run;
mod settings;
mod shape;
mod svg;
mod tables;
mod terminal;

pub use comparison::{Comparison, ComparisonCell, ComparisonRow};
pub use curves::{Curve, Curves};
pub use error::ReportError;
pub use errors::{Errors, Kind, Part, Wrong};
pub use groups::{Difference, Group, Spread};
pub use lines::Line;
pub use run::{Answer, Guess, Run, Step, Unlabeled};
pub use settings::{Settings, Topic};

use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What runs came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How many runs were read.
    pub runs: usize,
    /// How many of them are evaluated.
    pub evaluated: usize,
    /// What is absent, run by run.
    pub absent: Vec<String>,
    /// Runs that differ in split and seed only.
    pub groups: Vec<Group>,
    /// The paper's tables, with our results.
    pub comparisons: Vec<Comparison>,
    /// The evaluated runs one by one.
    pub lines: Vec<Line>,
}

impl Report {
    /// Reads runs, and the runs of sweeps; `most_errors` is how many wrong answers of each group are kept, if it is
    /// not to be decided by how many groups there are.
    ///
    /// # Errors
    /// If a folder is neither, settings cannot be read, or no run is evaluated.
    pub fn read(folders: &[PathBuf], most_errors: Option<usize>) -> Result<Report, ReportError> {
        let (runs, mut absent) = run::read_runs(folders)?;
        for run in &runs {
            absent.extend(run.absent.iter().map(|message| format!("{}: {message}", run.name)));
        }
        let evaluated = runs.iter().filter(|run| run.evaluation.is_some()).count();
        if evaluated == 0 {
            let first = absent.first().map_or_else(String::new, |first| format!(" ({first})"));
            return Err(ReportError::NothingEvaluated { runs: runs.len(), first });
        }
        let groups = groups::groups(&runs, most_errors);
        let comparisons = comparison::comparisons(&groups);
        Ok(Report { runs: runs.len(), evaluated, absent, groups, comparisons, lines: lines::lines(&runs) })
    }

    /// As text for a terminal.
    pub fn to_terminal(&self) -> String {
        terminal::write(self)
    }

    /// As Markdown.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// As CSV: one line a run.
    pub fn to_csv(&self) -> String {
        lines::write(&self.lines)
    }

    /// As one HTML page that needs nothing else.
    pub fn to_html(&self) -> String {
        html::write(self)
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// If that fails; what was there before is then untouched.
pub fn write_file(path: &Path, content: &str) -> Result<(), ReportError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // A report is for others to read; the umask has the last word.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut aside = builder.prefix(".report.").tempfile_in(folder)?;
        aside.write_all(content.as_bytes())?;
        aside.as_file().sync_all()?;
        aside.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| ReportError::File { path: path.to_owned(), source })
}
