//! A thread that interrupts a query at its deadline.

use super::engine::Interrupter;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// The deadline of the query that runs, if one does.
#[derive(Default)]
struct State {
    deadline: Option<Instant>,
    /// When the thread looks at the deadline next; never if it is not told to.
    looks_at: Option<Instant>,
}

/// Interrupts queries at their deadlines.
pub(super) struct Timer {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Timer {
    pub(super) fn start(interrupter: Interrupter) -> std::io::Result<Timer> {
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let timer = Timer { shared: Arc::clone(&shared) };
        let wait = move || {
            let (state, changed) = &*shared;
            let mut state = lock(state);
            loop {
                let now = Instant::now();
                if state.deadline.is_some_and(|deadline| deadline <= now) {
                    // The lock is held, so that it is the query with this deadline that is interrupted.
                    interrupter.interrupt();
                    state.deadline = None;
                }
                state.looks_at = state.deadline;
                state = match state.deadline {
                    None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    Some(deadline) => {
                        let waited = changed.wait_timeout(state, deadline - now);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                };
            }
        };
        thread::Builder::new().stack_size(128 << 10).spawn(wait)?;
        Ok(timer)
    }

    /// Sets the deadline of a query that runs next; `None` after it has run.
    pub(super) fn set(&self, deadline: Option<Instant>) {
        let (state, changed) = &*self.shared;
        let mut state = lock(state);
        state.deadline = deadline;
        // Waking the thread for each query would cost more than most queries.
        let is_late = |deadline| state.looks_at.is_none_or(|looks_at| looks_at > deadline);
        if deadline.is_some_and(is_late) {
            changed.notify_one();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
