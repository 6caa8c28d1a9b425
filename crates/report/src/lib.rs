//! Reports about runs.
//!
//! A [`Report`] is read from run folders and nothing else: it needs no dataset, no model and no database. Runs that differ
//! only in split, fold and seed form a [`Group`], which has a [`Method`]: the paper's or ours. Groups are compared with training on
//! the labels only, with each other ([`DifferenceTable`]) and with the paper's tables ([`PaperComparison`]), and each has its
//! training curves, its calibration and an analysis of its errors. All figures are computed once, here; the modules that write
//! text only format them. An [`ExperimentComparison`] compares experiments that were trained with the same seeds and evaluated
//! on the same held-out questions.
//!
//! The key decision is that **the same runs give the same report**, byte for byte: the bootstrap has a fixed seed, and
//! nothing depends on the clock.
//!
//! *Architecture invariant:* the content of a run folder is untrusted. A question may be `<script>`, and a file may be
//! missing or damaged. HTML is built with `maud`, whose types escape every text.
//!
//! ```
//! // One parser is right on one more of four questions than another.
//! let differences = vec![Some(0.0), Some(0.0), Some(0.0), Some(1.0)];
//! let resampled = xpr_report::bootstrap::Resampled::new("calendar", &[differences]).expect("there are questions");
//! let interval = resampled.interval();
//! assert_eq!((interval.difference, interval.low, interval.high), (0.25, 0.0, 0.75));
//! ```

pub mod bootstrap;
mod calibration;
mod chart;
mod comparison;
mod curves;
mod differences;
mod error;
mod errors;
mod execution;
mod experiments;
mod groups;
mod html;
mod markdown;
mod method;
mod metrics;
mod pairing;
mod prediction;
mod program_text;
mod published;
mod run;
mod run_line;
mod series;
mod settings;
mod tables;
mod terminal;

pub use chart::{AxisScale, Chart, ChartLine};
pub use comparison::{AverageGain, ComparisonCell, ComparisonLine, ComparisonRow, PaperComparison};
pub use curves::{Curve, TrainingCurves};
pub use differences::{DifferenceRow, DifferenceTable};
pub use error::ReportError;
pub use errors::{ErrorAnalysis, PredictionKind, QuestionSubset, WrongQuestion};
pub use execution::ExecutionShares;
pub use experiments::{
    ComparedDomain, DomainResult, ExperimentComparison, ExperimentResult, ExperimentRuns, PairedResult,
};
pub use groups::{Group, MeanAccuracy};
pub use method::Method;
pub use pairing::Difference;
pub use run_line::RunLine;

use serde::Serialize;
use std::path::PathBuf;

/// The results of runs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The number of runs that were read.
    pub runs: usize,
    /// The number of runs that are evaluated.
    pub evaluated: usize,
    /// One message for each missing or unreadable part of a run.
    pub absent: Vec<String>,
    /// The groups of evaluated runs.
    pub groups: Vec<Group>,
    /// The paper's tables, with our results.
    pub comparisons: Vec<PaperComparison>,
    /// The paper's table of earlier work with our upper bound, if there are results with all labels.
    pub earlier_work: Option<PaperComparison>,
    /// The differences between objectives.
    pub differences: Vec<DifferenceTable>,
    /// The evaluated runs, one by one.
    pub lines: Vec<RunLine>,
}

impl Report {
    /// Reads runs and sweeps, which are folders of runs.
    ///
    /// `most_errors` is the number of wrong answers to list for each group. `None` chooses it by the number of groups.
    ///
    /// # Errors
    /// If a folder is neither a run nor a sweep, if settings cannot be read, or if no run is evaluated.
    pub fn read(folders: &[PathBuf], most_errors: Option<usize>) -> Result<Report, ReportError> {
        let (runs, mut absent) = run::read_runs(folders)?;
        for run in &runs {
            absent.extend(run.problems.iter().map(|problem| format!("{}: {problem}", run.name)));
        }
        let evaluated = runs.iter().filter(|run| run.evaluation.is_some()).count();
        if evaluated == 0 {
            let first = absent.first().map_or_else(String::new, |first| format!(" ({first})"));
            return Err(ReportError::NothingEvaluated { runs: runs.len(), first });
        }
        let grouped = groups::grouped(&runs);
        let groups = groups::groups(&grouped, most_errors);
        Ok(Report {
            runs: runs.len(),
            evaluated,
            absent,
            comparisons: comparison::comparisons(&groups),
            earlier_work: comparison::earlier_work(&groups),
            differences: differences::differences(&groups, &grouped),
            lines: run_line::run_lines(&runs),
            groups,
        })
    }

    /// Returns the report as text for a terminal.
    pub fn to_terminal(&self) -> String {
        terminal::write(self)
    }

    /// Returns the report as Markdown.
    pub fn to_markdown(&self) -> String {
        markdown::write(self)
    }

    /// Returns the evaluated runs as CSV, one on a line.
    pub fn to_csv(&self) -> String {
        run_line::write_csv(&self.lines)
    }

    /// Returns the report as one HTML page that fetches nothing.
    pub fn to_html(&self) -> String {
        html::write(self)
    }
}
