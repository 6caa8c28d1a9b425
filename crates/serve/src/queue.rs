//! A queue of bounded length, from which several threads take jobs in batches.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The queue has as many jobs as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// What a thread that waits for jobs gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken<T> {
    /// Jobs, at least one.
    Jobs(Vec<T>),
    /// The generation changed, so that what the thread prepared for its jobs is out of date.
    Changed,
    /// The queue was closed, and is empty.
    Closed,
}

/// A queue of jobs.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<T> {
    jobs: VecDeque<T>,
    /// A number that changes when threads must prepare anew.
    generation: u64,
    is_closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { jobs: VecDeque::new(), generation: 0, is_closed: false };
        Queue { state: Mutex::new(state), changed: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // No code that can panic runs while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job, unless the queue is full or closed.
    pub(crate) fn push(&self, job: T) -> Result<(), Full> {
        let mut state = self.state();
        if state.is_closed || state.jobs.len() >= self.capacity {
            return Err(Full);
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for jobs and takes up to `max` of them, or fewer so that `threads` threads share what waits. Returns
    /// [`Taken::Changed`] if the generation is not `generation`.
    pub(crate) fn take(&self, generation: u64, max: usize, threads: usize) -> Taken<T> {
        let mut state = self.state();
        loop {
            if state.generation != generation && !state.is_closed {
                return Taken::Changed;
            }
            if !state.jobs.is_empty() {
                let count = state.jobs.len().div_ceil(threads.max(1)).min(max.max(1));
                return Taken::Jobs(state.jobs.drain(..count).collect());
            }
            if state.is_closed {
                return Taken::Closed;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Changes the generation, and wakes all threads.
    pub(crate) fn set_generation(&self, generation: u64) {
        self.state().generation = generation;
        self.changed.notify_all();
    }

    /// Refuses new jobs. Threads end when they have done those that wait.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Returns the number of jobs that wait.
    pub(crate) fn len(&self) -> usize {
        self.state().jobs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_shared_in_order_and_a_full_queue_refuses() {
        let queue = Queue::new(5);
        for job in 0..5 {
            queue.push(job).unwrap();
        }
        assert_eq!(queue.push(5), Err(Full));
        assert_eq!(queue.take(0, 16, 2), Taken::Jobs(vec![0, 1, 2]));
        assert_eq!(queue.take(0, 1, 1), Taken::Jobs(vec![3]));
        queue.set_generation(1);
        assert_eq!(queue.take(0, 16, 2), Taken::Changed);
        queue.close();
        assert_eq!(queue.push(6), Err(Full));
        assert_eq!(queue.take(1, 16, 2), Taken::Jobs(vec![4]));
        assert_eq!(queue.take(1, 16, 2), Taken::Closed);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_waiting_thread_is_woken() {
        let queue = Queue::new(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take(0, 1, 1));
            queue.push(7).unwrap();
            assert_eq!(waiting.join().unwrap(), Taken::Jobs(vec![7]));
            let waiting = scope.spawn(|| queue.take(0, 1, 1));
            queue.close();
            assert_eq!(waiting.join().unwrap(), Taken::Closed);
        });
    }
}
