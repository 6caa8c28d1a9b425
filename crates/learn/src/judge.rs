//! Which candidates are rewarded.

use crate::Task;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use xpr_exec::{Executor, Outcome, Runner};
use xpr_lang::Program;

/// What counts as success for a program nobody labeled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// It runs and finds something: the paper's definition.
    NonEmpty,
    /// It runs: what the authors' public code does.
    Executes,
}

impl Reward {
    fn rewards(self, outcome: &Outcome) -> bool {
        match self {
            Reward::NonEmpty => matches!(outcome, Outcome::Value(_)),
            Reward::Executes => outcome.executes(),
        }
    }
}

/// Runs programs, each once: what came of it is remembered.
#[derive(Debug)]
pub struct Judge<'t> {
    task: &'t Task,
    runner: Runner<'t>,
    reward: Reward,
    known: HashMap<Program, bool>,
    asked: u64,
    hits: u64,
}

/// How many verdicts are remembered; then all are forgotten, so that memory stays bounded.
const MOST_KNOWN: usize = 1 << 18;

impl<'t> Judge<'t> {
    /// A judge that knows nothing yet.
    pub fn new(task: &'t Task, reward: Reward) -> Self {
        Judge { task, runner: task.runner(), reward, known: HashMap::new(), asked: 0, hits: 0 }
    }

    /// Whether a program is rewarded.
    pub fn rewards(&mut self, program: &Program) -> bool {
        self.asked += 1;
        if let Some(&verdict) = self.known.get(program) {
            self.hits += 1;
            return verdict;
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let verdict = self.reward.rewards(&self.runner.execute(&self.task.text(program)));
        self.known.insert(program.clone(), verdict);
        verdict
    }

    /// The share of questions to the judge that needed no run.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.asked.max(1) as f64
    }
}
