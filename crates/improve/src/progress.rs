//! The progress of an improvement, for whoever waits for it: an observer in the process, and `progress.json` of the run for others.

use std::time::{Duration, Instant};
use xpr_learn::Observer;
use xpr_run::{Progress, RunFile, RunFolder, StepReport};

/// What an improvement does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It trains a parser without a part of the new confirmations; these parsers count from 1.
    Fold {
        /// The number of the parser.
        fold: usize,
        /// The number of these parsers.
        of: usize,
    },
    /// It trains the new parser.
    NewParser,
}

/// Follows the progress of an improvement.
pub trait ImproveObserver: Observer {
    /// A stage begins.
    fn stage(&mut self, stage: Stage);
}

/// The shortest time between two records.
const INTERVAL: Duration = Duration::from_secs(1);

/// Records progress in the folder of the run, and passes everything on to another observer.
pub(crate) struct RecordedImprovement<'a> {
    run: &'a RunFolder,
    observer: &'a mut dyn ImproveObserver,
    stage: String,
    last: Option<Instant>,
}

impl<'a> RecordedImprovement<'a> {
    pub(crate) fn new(run: &'a RunFolder, observer: &'a mut dyn ImproveObserver) -> Self {
        RecordedImprovement { run, observer, stage: String::new(), last: None }
    }

    pub(crate) fn begin(&mut self, stage: Stage) {
        self.stage = match stage {
            Stage::Fold { fold, of } => format!("comparison {fold} of {of}"),
            Stage::NewParser => "new parser".to_owned(),
        };
        self.observer.stage(stage);
    }
}

impl Observer for RecordedImprovement<'_> {
    fn step(&mut self, report: StepReport, steps: usize) {
        if self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.last = Some(Instant::now());
            let progress = Progress { parser: self.stage.clone(), step: report.step, steps };
            // Whoever watches can do without it.
            let _ = self.run.write_json(RunFile::Progress, &progress);
        }
        self.observer.step(report, steps);
    }

    fn resumed(&mut self, step: usize) {
        self.observer.resumed(step);
    }

    fn member(&mut self, member: usize, of: usize) {
        self.observer.member(member, of);
    }

    fn fold(&mut self, fold: usize, of: usize) {
        self.observer.fold(fold, of);
    }

    fn note(&mut self, message: &str) {
        self.observer.note(message);
    }

    fn student(&mut self) {
        self.observer.student();
    }
}
