//! The progress of loading: reading a database, and running its labeled queries.

use crate::printer;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The time between lines if standard error is not a terminal. Loading that takes less writes none.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// A progress bar on a terminal, and a line every two seconds elsewhere.
pub(super) struct LoadingBar {
    bar: ProgressBar,
    is_terminal: bool,
    last_line: Instant,
}

impl LoadingBar {
    pub(super) fn new() -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        LoadingBar { bar, is_terminal, last_line: Instant::now() }
    }

    /// Shows that `done` of `total` units are done; `what` names the units.
    pub(super) fn show(&mut self, what: &str, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(printer::printable(what).into_owned());
        if !self.is_terminal && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            let _ = writeln!(printer::stderr(), "{done}/{total} {what}");
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
