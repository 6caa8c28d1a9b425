//! A cache of outcomes.

use crate::{Executor, Outcome};
use rustc_hash::FxHashMap;

/// The estimated bytes of an entry in addition to its texts.
const OVERHEAD: usize = 96;

/// An executor that caches the outcomes of another.
///
/// Beam search proposes the same programs over and over, and a lookup is much cheaper than a run. Memory is bounded:
/// there are two tables, and when the recent one is full it replaces the older one. Programs of the older table that
/// are used again move to the recent one.
pub struct CachingExecutor<E> {
    executor: E,
    recent: FxHashMap<Box<str>, Outcome>,
    older: FxHashMap<Box<str>, Outcome>,
    /// Bytes of `recent`, and their limit.
    used: usize,
    capacity: usize,
    /// Calls of `execute`, and those that were not in the cache.
    calls: u64,
    misses: u64,
}

impl<E: Executor> CachingExecutor<E> {
    /// Returns an executor that caches outcomes of `executor` in about `bytes` of memory.
    pub fn new(executor: E, bytes: usize) -> Self {
        CachingExecutor {
            executor,
            recent: FxHashMap::default(),
            older: FxHashMap::default(),
            used: 0,
            capacity: bytes / 2,
            calls: 0,
            misses: 0,
        }
    }

    /// Returns the share of calls that were answered from the cache; 1 before the first call.
    pub fn hit_rate(&self) -> f64 {
        1.0 - self.misses as f64 / self.calls.max(1) as f64
    }

    /// Returns the outcome of a program that ran before. It is then a recent one.
    fn cached(&mut self, program: &str) -> Option<Outcome> {
        self.calls += 1;
        if let Some(outcome) = self.recent.get(program) {
            return Some(outcome.clone());
        }
        let (program, outcome) = self.older.remove_entry(program)?;
        self.insert(program, outcome.clone());
        Some(outcome)
    }

    fn insert(&mut self, program: Box<str>, outcome: Outcome) {
        let size = OVERHEAD + program.len() + text_length(&outcome);
        if size > self.capacity {
            return;
        }
        if self.used + size > self.capacity {
            self.older = std::mem::take(&mut self.recent);
            self.used = 0;
        }
        self.used += size;
        self.recent.insert(program, outcome);
    }
}

/// Returns the bytes of an outcome's text.
fn text_length(outcome: &Outcome) -> usize {
    match outcome {
        // Its text is a constant.
        Outcome::Empty => 0,
        _ => outcome.text().len(),
    }
}

impl<E: Executor> Executor for CachingExecutor<E> {
    fn execute(&mut self, program: &str) -> Outcome {
        if let Some(outcome) = self.cached(program) {
            return outcome;
        }
        self.misses += 1;
        let outcome = self.executor.execute(program);
        self.insert(program.into(), outcome.clone());
        outcome
    }

    /// What people see is not cached: it is asked for once.
    fn full_answer(&mut self, program: &str) -> Outcome {
        self.executor.full_answer(program)
    }

    fn execute_all(&mut self, programs: &[&str]) -> Vec<Outcome> {
        let cached: Vec<Option<Outcome>> = programs.iter().map(|program| self.cached(program)).collect();
        let mut missing: Vec<&str> =
            programs.iter().zip(&cached).filter(|(_, outcome)| outcome.is_none()).map(|(&p, _)| p).collect();
        missing.sort_unstable();
        missing.dedup();
        self.misses += missing.len() as u64;
        let outcomes = self.executor.execute_all(&missing);
        for (&program, outcome) in missing.iter().zip(&outcomes) {
            self.insert(program.into(), outcome.clone());
        }
        let of_missing = |program: &str| Some(outcomes[missing.binary_search(&program).ok()?].clone());
        programs
            .iter()
            .zip(cached)
            .filter_map(|(program, known)| known.or_else(|| of_missing(program)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An executor that counts its runs. The answer of a program is its text.
    struct Echo(usize);

    impl Executor for Echo {
        fn execute(&mut self, program: &str) -> Outcome {
            self.0 += 1;
            Outcome::Value(program.to_owned())
        }
    }

    #[test]
    fn cached_programs_do_not_run_again() {
        let mut echo = CachingExecutor::new(Echo(0), 2 * 4 * (OVERHEAD + 2));
        for program in ["a", "b", "a", "c", "a", "d"] {
            assert_eq!(echo.execute(program), Outcome::Value(program.to_owned()));
        }
        assert_eq!(echo.executor.0, 4);
        // The recent table is full. `e` makes it the older one, from which `a` moves to the new recent one.
        for program in ["e", "a", "f", "g", "h", "a"] {
            let _ = echo.execute(program);
        }
        assert_eq!(echo.executor.0, 8);
        // `b` was dropped with the older table.
        let _ = echo.execute("b");
        assert_eq!(echo.executor.0, 9);
        // A program that is larger than the table is never cached.
        let long = "x".repeat(10_000);
        let _ = (echo.execute(&long), echo.execute(&long));
        assert_eq!(echo.executor.0, 11);
        assert!((echo.hit_rate() - (1.0 - 11.0 / 15.0)).abs() < 1e-12);
    }

    #[test]
    fn programs_that_run_together_run_once_each() {
        let mut echo = CachingExecutor::new(Echo(0), 1 << 20);
        let _ = echo.execute("b");
        let programs = ["c", "a", "c", "b", "a"];
        assert_eq!(echo.execute_all(&programs), programs.map(|program| Outcome::Value(program.to_owned())));
        assert_eq!(echo.executor.0, 3);
        assert!((echo.hit_rate() - 0.5).abs() < 1e-12);
        assert_eq!(echo.execute_all(&programs).len(), 5);
        assert_eq!(echo.executor.0, 3);
    }
}
