//! Which candidates are rewarded.

use crate::{Task, TaskError};
use serde::{Deserialize, Serialize};
use std::fmt;
use xpr_exec::{Executor, Outcome, Remembering};
use xpr_lang::Program;
use xpr_parser::Question;

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

/// Runs programs, each once as long as its outcome is remembered.
pub struct Judge<'t> {
    task: &'t Task,
    runner: Remembering<Box<dyn Executor + 't>>,
    reward: Reward,
}

/// Bytes of outcomes that are remembered.
const REMEMBERED: usize = 64 << 20;

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("reward", &self.reward).finish_non_exhaustive()
    }
}

impl<'t> Judge<'t> {
    /// A judge that knows nothing yet.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn new(task: &'t Task, reward: Reward) -> Result<Self, TaskError> {
        Ok(Judge { task, runner: Remembering::new(task.runner()?, REMEMBERED), reward })
    }

    /// What programs are about.
    pub fn task(&self) -> &'t Task {
        self.task
    }

    /// Whether a program for a question is rewarded; `answer` is what the right one comes to, if that is known.
    pub fn rewards(&mut self, program: &Program, question: &Question, answer: Option<&Outcome>) -> bool {
        let outcome = self.runner.execute(&self.task.text(program, question));
        match (self.reward, answer) {
            (Reward::NonEmpty, _) => matches!(outcome, Outcome::Value(_)),
            (Reward::Denotation, Some(answer)) => self.task.answers(answer, &outcome),
            (Reward::Executes | Reward::Denotation, _) => outcome.executes(),
        }
    }

    /// The share of programs that did not have to be run.
    pub fn hit_rate(&self) -> f64 {
        self.runner.hit_rate()
    }
}
