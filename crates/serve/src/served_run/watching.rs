//! The thread that looks at the files of a run, and opens another parser.

use super::{LOOK, Shared};
use crate::parser::{OpenParser, improving};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The shortest time between two openings of a parser, in units of what the last one took: a database that changes all the time must not
/// keep the machine busy.
const REST: u32 = 10;
/// How long the parser that is open answers while another one, or its data, cannot be opened.
const GRACE: Duration = Duration::from_secs(5);

/// Opens a parser that was promoted or whose data changed, and tells who listens how far the training of the next one is.
pub(super) fn watch_files(shared: &Shared) {
    let mut rested = Instant::now();
    let mut failing: Option<Failing> = None;
    while !shared.ends.load(Relaxed) {
        thread::sleep(LOOK);
        let improving = improving(&shared.folder);
        shared.status.send_if_modified(|status| {
            let is_new = status.improving != improving;
            status.improving = improving;
            is_new
        });
        let parser = shared.current();
        let is_stale = shared.is_stale.swap(false, Relaxed);
        let is_outdated = is_stale || parser.is_outdated(&shared.folder);
        if !is_outdated {
            // Whatever changed is as it was.
            failing = None;
            shared.is_broken.store(false, Relaxed);
        }
        if !is_outdated || Instant::now() < rested {
            shared.is_stale.fetch_or(is_stale, Relaxed);
            continue;
        }
        let start = Instant::now();
        match OpenParser::open(&shared.folder, parser.generation + 1) {
            Ok(next) => {
                swap(shared, next);
                failing = None;
                shared.is_broken.store(false, Relaxed);
            }
            Err(error) => {
                let error = error.to_string();
                let failing = failing.get_or_insert_with(|| Failing { since: start, said: String::new() });
                if failing.said != error {
                    tracing::warn!(
                        error,
                        run = shared.name,
                        "the current parser or its data cannot be opened"
                    );
                    failing.said = error;
                }
                // The old parser goes on for a moment: half-written files are whole the next time. Then it would answer about data
                // that are no more.
                shared.is_broken.store(failing.since.elapsed() > GRACE, Relaxed);
                shared.is_stale.fetch_or(is_stale, Relaxed);
            }
        }
        rested = Instant::now() + REST * start.elapsed();
    }
}

/// A parser that cannot be opened.
struct Failing {
    since: Instant,
    /// The last error, which is said once.
    said: String,
}

fn swap(shared: &Shared, next: OpenParser) {
    let (generation, fingerprint, number) = (next.generation, next.fingerprint.clone(), next.run.number);
    tracing::info!(
        run = shared.name,
        parser = fingerprint,
        number,
        "answering with another parser or other data"
    );
    metrics::counter!("xpr_parsers_opened_total", "run" => shared.name.clone()).increment(1);
    *shared.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    shared.questions.set_generation(generation);
    shared.queries.set_generation(generation);
    shared.status.send_modify(|status| {
        (status.parser, status.number) = (fingerprint, number);
    });
}
