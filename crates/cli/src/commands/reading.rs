//! How far the reading of a database or the running of its labeled queries is.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Without a terminal, a line is written so often.
const A_LINE_EVERY: Duration = Duration::from_secs(2);

/// A bar on a terminal, a line now and then elsewhere. What is done at once is not spoken of.
pub(super) struct Reading {
    bar: ProgressBar,
    is_terminal: bool,
    last_line: Instant,
}

impl Reading {
    pub(super) fn new() -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Reading { bar, is_terminal, last_line: Instant::now() }
    }

    /// So many of so many, and of what.
    pub(super) fn show(&mut self, what: &str, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(what.to_owned());
        if !self.is_terminal && self.last_line.elapsed() >= A_LINE_EVERY {
            self.last_line = Instant::now();
            let _ = writeln!(io::stderr(), "{done}/{of} {what}");
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
