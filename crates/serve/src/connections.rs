//! The connections of a server, and which of them to close.
//!
//! A client that connects and says nothing, sends its request byte by byte, or does not read its answer, costs a connection for as long
//! as it likes. So a connection that waits for its client is closed after a while, and earlier if there are too many: the one that waited
//! longest makes room for a new one. A connection whose request is being answered is not closed.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long a connection can wait for its client.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// All connections.
#[derive(Debug)]
pub(crate) struct Connections {
    state: Mutex<State>,
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    next: u64,
    /// The connections that wait for their clients, those that waited longest first.
    waiting: BTreeMap<(Instant, u64), Arc<Notify>>,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    all: Arc<Connections>,
    id: u64,
    /// Since when it waits for its client; none while a request is answered.
    since: Mutex<Option<Instant>>,
    close: Arc<Notify>,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Connections { state: Mutex::new(State::default()), limit })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of open connections.
    pub(crate) fn count(&self) -> usize {
        self.state().open
    }

    /// Adds a connection. If there are too many, closes the one that waits longest for its client. Returns none if all of them are being
    /// answered.
    pub(crate) fn open(self: &Arc<Self>, now: Instant) -> Option<Connection> {
        let mut state = self.state();
        if state.open >= self.limit {
            let (_, close) = state.waiting.pop_first()?;
            close.notify_one();
        }
        let (id, close) = (state.next, Arc::new(Notify::new()));
        state.next += 1;
        state.open += 1;
        state.waiting.insert((now, id), Arc::clone(&close));
        drop(state);
        Some(Connection { all: Arc::clone(self), id, since: Mutex::new(Some(now)), close })
    }

    /// Closes the connections that waited too long. Also closes the one that waited longest if `at_least_one`.
    pub(crate) fn close_waiting(&self, now: Instant, at_least_one: bool) {
        let mut state = self.state();
        let mut must_close = at_least_one;
        while let Some(entry) = state.waiting.first_entry() {
            let (since, _) = *entry.key();
            if !must_close && now.saturating_duration_since(since) < PATIENCE {
                return;
            }
            entry.remove().notify_one();
            must_close = false;
        }
    }
}

impl Connection {
    /// Says that a request is being answered.
    pub(crate) fn is_answering(&self) {
        self.change(None);
    }

    /// Says that it waits for the client: to send a request, or to read the answer.
    pub(crate) fn is_waiting(&self, now: Instant) {
        self.change(Some(now));
    }

    fn change(&self, to: Option<Instant>) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.all.state();
        if let Some(since) = since.take() {
            state.waiting.remove(&(since, self.id));
        }
        if let Some(now) = to {
            state.waiting.insert((now, self.id), Arc::clone(&self.close));
        }
        *since = to;
    }

    /// Waits until the connection must be closed.
    pub(crate) async fn closed(&self) {
        self.close.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.change(None);
        self.all.state().open -= 1;
    }
}

/// Files that are no connections: databases, logs, the terminal.
const OTHER_FILES: u64 = 200;

/// Checks that the process can open some more files and start some more threads. Otherwise, starting a server would panic in tokio.
///
/// # Errors
/// If it cannot.
pub fn require_resources() -> io::Result<()> {
    /// Each has two files.
    const PIPES: usize = 16;
    const THREADS: usize = 8;
    raise_file_limit(OTHER_FILES);
    let pipes: io::Result<Vec<_>> = (0..PIPES).map(|_| io::pipe()).collect();
    let advised = |error: io::Error, advice: &str| io::Error::new(error.kind(), format!("{error}; {advice}"));
    drop(
        pipes.map_err(|error| {
            advised(error, "let the process open more, for example with `ulimit -n 1024`")
        })?,
    );
    let mut threads = Vec::new();
    let started = (0..THREADS).try_for_each(|_| {
        threads.push(thread::Builder::new().spawn(thread::park)?);
        Ok(())
    });
    for thread in threads {
        thread.thread().unpark();
        let _ = thread.join();
    }
    started.map_err(|error| {
        advised(error, "let the process start more threads, for example with a larger `ulimit -u`")
    })
}

/// Raises the number of files that the process can open to what it may, and returns how many connections that allows.
pub(crate) fn most_connections(wanted: usize) -> usize {
    let files = raise_file_limit(wanted as u64 + OTHER_FILES);
    usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(wanted).clamp(16, wanted.max(16))
}

/// Raises the number of files that the process can open to as many as are needed, if it may, and returns it.
fn raise_file_limit(needed: u64) -> u64 {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let allowed = maximum.map_or(needed, |maximum| maximum.min(needed));
        if current.is_some_and(|current| current < allowed) {
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum });
        }
        getrlimit(Resource::Nofile).current.unwrap_or(needed)
    }
    #[cfg(not(unix))]
    {
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_that_waits_longest_makes_room() {
        let all = Connections::new(2);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let first = all.open(at(0)).unwrap();
        let second = all.open(at(1)).unwrap();
        first.is_answering();
        let third = all.open(at(2)).unwrap();
        // The second was closed; its task drops it.
        assert!(second.close.notified().now_or_never());
        drop(second);
        third.is_answering();
        assert!(all.open(at(3)).is_none(), "both are being answered");
        first.is_waiting(at(4));
        all.close_waiting(at(5), false);
        assert!(!first.close.notified().now_or_never());
        all.close_waiting(at(4) + PATIENCE, false);
        assert!(first.close.notified().now_or_never());
        drop((first, third));
        assert_eq!((all.count(), all.state().waiting.len()), (0, 0));
    }

    /// Whether a future is ready at once.
    trait NowOrNever {
        fn now_or_never(self) -> bool;
    }

    impl<F: Future> NowOrNever for F {
        fn now_or_never(self) -> bool {
            let mut future = std::pin::pin!(self);
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            future.as_mut().poll(&mut context).is_ready()
        }
    }
}
