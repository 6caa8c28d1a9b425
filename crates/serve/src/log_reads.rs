//! How many requests read logs at the same time.
//!
//! Reading a log of half a million questions takes a second of computation. Many such requests at once must leave the machine to those who
//! ask.

use crate::problem::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The number of requests that read at the same time.
const READERS: usize = 2;
/// The number of requests that read or wait to do so.
const PLACES: usize = 64;

/// The turns of requests that read logs.
#[derive(Debug)]
pub(crate) struct LogReads {
    readers: Semaphore,
    places: Semaphore,
}

/// The turn of a request, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'r> {
    _reader: SemaphorePermit<'r>,
    _place: SemaphorePermit<'r>,
}

impl Default for LogReads {
    fn default() -> Self {
        LogReads { readers: Semaphore::new(READERS), places: Semaphore::new(PLACES) }
    }
}

impl LogReads {
    /// Waits for a turn.
    ///
    /// # Errors
    /// If too many wait already.
    pub(crate) async fn turn(&self) -> Result<Turn<'_>, Problem> {
        let many = |_| Problem::too_many("too many requests read the log; try again in a second");
        let place = self.places.try_acquire().map_err(many)?;
        let reader = self.readers.acquire().await.map_err(|_| Problem::internal())?;
        Ok(Turn { _reader: reader, _place: place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn few_read_at_the_same_time_some_wait_and_more_are_refused() {
        let reads = LogReads::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut turns: Vec<_> = (0..PLACES).map(|_| Box::pin(reads.turn())).collect();
        let mut polled: Vec<_> = turns.iter_mut().map(|turn| turn.as_mut().poll(&mut context)).collect();
        let first = polled.remove(0);
        assert!(matches!((&first, &polled[0]), (Poll::Ready(Ok(_)), Poll::Ready(Ok(_)))));
        assert!(polled[1..].iter().all(Poll::is_pending));
        let mut refused = pin!(reads.turn());
        assert!(
            matches!(refused.as_mut().poll(&mut context), Poll::Ready(Err(problem)) if problem.status == 429)
        );
        drop(first);
        assert!(turns[2].as_mut().poll(&mut context).is_ready(), "the next one's turn");
    }
}
