//! The judge: runs candidates, and asks the policy which are rewarded.

use super::policy::{JudgedCandidate, RewardPolicy};
use crate::task::{Task, TaskError, UnlabeledExample};
use std::fmt;
use xpr_exec::{CachingExecutor, Executor};
use xpr_lang::Outcome;
use xpr_parser::Candidate;

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

    /// Runs the candidates of a question and returns which are rewarded. A candidate whose answer is known to be wrong is not.
    pub fn rewards(&mut self, candidates: &[Candidate], example: &UnlabeledExample) -> Vec<bool> {
        let texts: Vec<String> = candidates
            .iter()
            .map(|candidate| self.task.text(&candidate.program, &example.question))
            .collect();
        let programs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let outcomes = self.executor.execute_all(&programs);
        let mut judged = Vec::with_capacity(candidates.len());
        for ((candidate, program), outcome) in candidates.iter().zip(programs).zip(outcomes) {
            // An answer whose rows have an order is the same as one whose rows have none, whichever of the two was rejected.
            let is_same = |rejected: &Outcome| {
                self.task.is_same_answer(rejected, &outcome) || self.task.is_same_answer(&outcome, rejected)
            };
            judged.push(JudgedCandidate {
                probability: f64::from(candidate.log_probability).exp(),
                accepted: self.policy.success().accepts(self.task, program, &outcome)
                    && !example.rejected.iter().any(is_same),
                outcome,
            });
        }
        self.policy.rewards(self.task, &judged, example.answer.as_ref())
    }

    /// Returns the share of programs whose outcome was cached.
    pub fn cache_hit_rate(&self) -> f64 {
        self.executor.hit_rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reward::Success;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;
    use xpr_run::Reward;

    #[test]
    fn candidates_with_a_rejected_answer_are_not_rewarded() {
        let world = overnight::world("blocks").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let utterance = "which block";
        let question = task.question(utterance);
        let mut executor = task.executor().unwrap();
        let mut candidates: Vec<(Candidate, Outcome)> = Vec::new();
        for program in task.scene().grammar().programs(9) {
            let outcome = executor.execute(&task.text(&program, &question));
            let is_new = candidates.iter().all(|(_, known)| !task.is_same_answer(known, &outcome));
            if matches!(outcome, Outcome::Value(_)) && is_new {
                candidates.push((Candidate { program, log_probability: -1.0 }, outcome));
            }
            if candidates.len() == 2 {
                break;
            }
        }
        let (beam, outcomes): (Vec<Candidate>, Vec<Outcome>) = candidates.into_iter().unzip();
        for reward in [Reward::Executes, Reward::Agreement] {
            let mut judge = Judge::new(&task, RewardPolicy::new(reward, Success::Executes, true)).unwrap();
            let mut rewards = |rejected: &[Outcome]| {
                let rejected = rejected.to_vec();
                let example = UnlabeledExample { rejected, ..UnlabeledExample::bare(&task, utterance) };
                judge.rewards(&beam, &example)
            };
            assert!(rewards(&[])[0], "{reward:?}");
            assert_eq!(rewards(&outcomes[..1]), [false, true], "{reward:?}");
            assert_eq!(rewards(&outcomes), [false, false], "{reward:?}");
        }
    }
}
