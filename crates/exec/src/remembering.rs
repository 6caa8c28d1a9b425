//! Outcomes that are known already.

use crate::{Executor, Outcome};
use rustc_hash::FxHashMap;

/// What an entry takes beside its text.
const OVERHEAD: usize = 96;

/// An executor that runs no program twice, as long as it remembers it.
///
/// A beam search writes the same programs over and over: what came of one is a look into a table instead of a
/// run. Memory is bounded: there are two tables, and when the recent one is full it becomes the older one, whose
/// programs are forgotten unless they come again.
pub struct Remembering<E> {
    executor: E,
    recent: FxHashMap<Box<str>, Outcome>,
    older: FxHashMap<Box<str>, Outcome>,
    /// Bytes of `recent`, and how many it may have.
    used: usize,
    most: usize,
    /// Programs asked for, and how many of them had to be run.
    asked: u64,
    ran: u64,
}

impl<E: Executor> Remembering<E> {
    /// Remembers outcomes of `executor`, in about this many bytes.
    pub fn new(executor: E, bytes: usize) -> Self {
        Remembering {
            executor,
            recent: FxHashMap::default(),
            older: FxHashMap::default(),
            used: 0,
            most: bytes / 2,
            asked: 0,
            ran: 0,
        }
    }

    /// The share of programs that did not have to be run.
    pub fn hit_rate(&self) -> f64 {
        1.0 - self.ran as f64 / self.asked.max(1) as f64
    }

    fn remember(&mut self, program: Box<str>, outcome: Outcome) {
        let size = OVERHEAD + program.len() + length(&outcome);
        if size > self.most {
            return;
        }
        if self.used + size > self.most {
            self.older = std::mem::take(&mut self.recent);
            self.used = 0;
        }
        self.used += size;
        self.recent.insert(program, outcome);
    }
}

fn length(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Empty => 0,
        Outcome::Value(text)
        | Outcome::TypeError(text)
        | Outcome::RuntimeError(text)
        | Outcome::Timeout(text) => text.len(),
    }
}

impl<E: Executor> Executor for Remembering<E> {
    fn execute(&mut self, program: &str) -> Outcome {
        self.asked += 1;
        if let Some(outcome) = self.recent.get(program) {
            return outcome.clone();
        }
        let (program, outcome) = match self.older.remove_entry(program) {
            Some(known) => known,
            None => {
                self.ran += 1;
                (program.into(), self.executor.execute(program))
            }
        };
        self.remember(program, outcome.clone());
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts its runs, and answers with what it was asked.
    struct Echo(usize);

    impl Executor for Echo {
        fn execute(&mut self, program: &str) -> Outcome {
            self.0 += 1;
            Outcome::Value(program.to_owned())
        }
    }

    #[test]
    fn nothing_runs_twice_while_there_is_room() {
        let mut echo = Remembering::new(Echo(0), 2 * 4 * (OVERHEAD + 2));
        for program in ["a", "b", "a", "c", "a", "d"] {
            assert_eq!(echo.execute(program), Outcome::Value(program.to_owned()));
        }
        assert_eq!(echo.executor.0, 4);
        // The recent table is full: `e` makes it the older one, where `a` is found and kept.
        for program in ["e", "a", "f", "g", "h", "a"] {
            let _ = echo.execute(program);
        }
        assert_eq!(echo.executor.0, 8);
        // `b` was forgotten with the older table.
        let _ = echo.execute("b");
        assert_eq!(echo.executor.0, 9);
        // What is larger than the table is never kept.
        let long = "x".repeat(10_000);
        let _ = (echo.execute(&long), echo.execute(&long));
        assert_eq!(echo.executor.0, 11);
        assert!((echo.hit_rate() - (1.0 - 11.0 / 15.0)).abs() < 1e-12);
    }
}
