//! The limits of queries.

use std::time::Duration;

/// The limits of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Steps of SQLite's machine, each of which takes some ten nanoseconds. This is the limit that usually stops a query,
    /// and it is the same on every machine.
    pub steps: u64,
    /// Time, for what steps do not measure: a slow disk, long texts.
    pub time: Duration,
    /// Bytes that SQLite can allocate in addition to what the connection holds. That may or may not include a page cache
    /// of two megabytes, so this is a safety net like the time.
    pub memory: usize,
    /// Rows of the answer.
    pub rows: usize,
    /// Bytes of the printed answer.
    pub output: usize,
}

/// Limits for training: thousands of guesses, each on at most some hundred thousand rows. The steps take a quarter of the
/// time, so that they are the limit that stops a query. Sorting is a single step, and the memory bounds how long it takes.
impl Default for QueryLimits {
    fn default() -> Self {
        QueryLimits {
            steps: 2_000_000,
            time: Duration::from_millis(200),
            memory: 8 << 20,
            rows: 10_000,
            output: 1 << 20,
        }
    }
}

impl QueryLimits {
    /// Returns limits for a single query on some million rows, for which somebody waits.
    pub fn interactive() -> Self {
        QueryLimits {
            steps: 200_000_000,
            time: Duration::from_secs(10),
            memory: 256 << 20,
            ..QueryLimits::default()
        }
    }
}
