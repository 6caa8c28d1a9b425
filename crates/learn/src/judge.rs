//! Which candidates are rewarded.

use crate::Task;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    /// It finds the known answer of its question; where none is known, it runs.
    Denotation,
}

/// An answer, as far as comparing it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer(u64);

impl Answer {
    /// The answer that an outcome is; none if the program failed.
    pub fn of(outcome: &Outcome) -> Option<Answer> {
        outcome.denotation().map(|denotation| {
            let mut hasher = DefaultHasher::new();
            denotation.hash(&mut hasher);
            Answer(hasher.finish())
        })
    }
}

/// What is remembered of a program's run.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    /// What it denotes, if it runs.
    answer: Option<Answer>,
    finds_something: bool,
}

impl Reward {
    fn rewards(self, verdict: Verdict, answer: Option<Answer>) -> bool {
        match (self, answer) {
            (Reward::NonEmpty, _) => verdict.finds_something,
            (Reward::Denotation, Some(_)) => verdict.answer == answer,
            (Reward::Executes | Reward::Denotation, _) => verdict.answer.is_some(),
        }
    }
}

/// Runs programs, each once: what came of it is remembered.
#[derive(Debug)]
pub struct Judge<'t> {
    task: &'t Task,
    runner: Runner<'t>,
    reward: Reward,
    known: HashMap<Program, Verdict>,
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

    /// What programs are about.
    pub fn task(&self) -> &'t Task {
        self.task
    }

    /// Whether a program is rewarded, for a question with this answer if it is known.
    pub fn rewards(&mut self, program: &Program, answer: Option<Answer>) -> bool {
        self.asked += 1;
        if let Some(&verdict) = self.known.get(program) {
            self.hits += 1;
            return self.reward.rewards(verdict, answer);
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let outcome = self.runner.execute(&self.task.text(program));
        let verdict =
            Verdict { answer: Answer::of(&outcome), finds_something: matches!(outcome, Outcome::Value(_)) };
        self.known.insert(program.clone(), verdict);
        self.reward.rewards(verdict, answer)
    }

    /// The share of questions to the judge that needed no run.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.asked.max(1) as f64
    }
}
