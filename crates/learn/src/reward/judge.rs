//! The judge: runs candidates, and asks the policy which are rewarded.

use super::policy::{JudgedCandidate, RewardPolicy};
use crate::task::{Task, TaskError};
use std::fmt;
use xpr_exec::{CachingExecutor, Executor};
use xpr_lang::Outcome;
use xpr_parser::{Candidate, Question};

/// Runs candidates and decides which are rewarded. Outcomes are cached, so a program is seldom run twice.
pub struct Judge<'t> {
    task: &'t Task,
    executor: CachingExecutor<Box<dyn Executor + 't>>,
    policy: RewardPolicy,
}

/// The size of the cache of outcomes, in bytes.
const CACHE_SIZE: usize = 64 << 20;

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl<'t> Judge<'t> {
    /// Creates a judge with an empty cache.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn new(task: &'t Task, policy: RewardPolicy) -> Result<Self, TaskError> {
        Ok(Judge { task, executor: CachingExecutor::new(task.executor()?, CACHE_SIZE), policy })
    }

    /// Returns the task whose programs are judged.
    pub fn task(&self) -> &'t Task {
        self.task
    }

    /// Returns the policy.
    pub fn policy(&self) -> &RewardPolicy {
        &self.policy
    }

    /// Runs the candidates of a question and returns which are rewarded; `answer` is the known answer, if there is one.
    pub fn rewards(
        &mut self,
        candidates: &[Candidate],
        question: &Question,
        answer: Option<&Outcome>,
    ) -> Vec<bool> {
        let mut judged = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let program = self.task.text(&candidate.program, question);
            let outcome = self.executor.execute(&program);
            judged.push(JudgedCandidate {
                probability: f64::from(candidate.log_probability).exp(),
                accepted: self.policy.success().accepts(self.task, &program, &outcome),
                outcome,
            });
        }
        self.policy.rewards(self.task, &judged, answer)
    }

    /// Returns the share of programs whose outcome was cached.
    pub fn cache_hit_rate(&self) -> f64 {
        self.executor.hit_rate()
    }
}
