//! The progress of training, recorded in the run folder for other processes.

use super::observer::Observer;
use std::time::{Duration, Instant};
use xpr_run::{Progress, RunFile, RunFolder, StepReport};

/// The shortest time between two records.
const INTERVAL: Duration = Duration::from_secs(1);

/// An observer that records progress in a run folder, and passes everything on to another observer.
pub(super) struct RecordedProgress<'a> {
    folder: &'a RunFolder,
    observer: &'a mut dyn Observer,
    parser: String,
    last: Option<Instant>,
}

impl<'a> RecordedProgress<'a> {
    pub(super) fn new(folder: &'a RunFolder, observer: &'a mut dyn Observer) -> Self {
        RecordedProgress { folder, observer, parser: "parser".to_owned(), last: None }
    }
}

impl Observer for RecordedProgress<'_> {
    fn step(&mut self, report: StepReport, steps: usize) {
        if self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.last = Some(Instant::now());
            let progress = Progress { parser: self.parser.clone(), step: report.step, steps };
            // Whoever watches can do without it, so a failure does not end the training.
            let _ = self.folder.write_json(RunFile::Progress, &progress);
        }
        self.observer.step(report, steps);
    }

    fn resumed(&mut self, step: usize) {
        self.observer.resumed(step);
    }

    fn member(&mut self, member: usize, of: usize) {
        self.parser = format!("member {member} of {of}");
        self.observer.member(member, of);
    }

    fn fold(&mut self, fold: usize, of: usize) {
        self.parser = format!("calibration fold {fold} of {of}");
        self.observer.fold(fold, of);
    }

    fn note(&mut self, message: &str) {
        self.observer.note(message);
    }

    fn student(&mut self) {
        self.parser = "parser".to_owned();
        self.observer.student();
    }

    fn should_stop(&self) -> bool {
        self.observer.should_stop()
    }
}
