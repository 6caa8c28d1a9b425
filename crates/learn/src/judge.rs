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
    /// `non-empty` if nearly all labeled programs find something, and `executes` if nothing is often the right answer.
    Auto,
    /// It runs and finds something: the paper's definition. In a database, a count of nothing
    /// finds nothing, and neither does a query that gives constants alone.
    NonEmpty,
    /// It runs: what the authors' public code does.
    Executes,
    /// It finds the known answer of its question; where none is known, it runs.
    Denotation,
}

/// Labeled programs that find something, from which on a program that does not is taken to be wrong.
const NEARLY_ALL: f64 = 0.97;

impl Reward {
    /// The same with `auto` decided by whether each labeled program finds something.
    pub fn decide(self, labeled: impl IntoIterator<Item = bool>) -> Reward {
        if self != Reward::Auto {
            return self;
        }
        let (mut all, mut found) = (0, 0);
        for finds in labeled {
            all += 1;
            found += usize::from(finds);
        }
        if found as f64 >= NEARLY_ALL * f64::from(all) { Reward::NonEmpty } else { Reward::Executes }
    }

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Reward::Auto => "auto",
            Reward::NonEmpty => "non-empty",
            Reward::Executes => "executes",
            Reward::Denotation => "denotation",
        }
    }
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
        let program = self.task.text(program, question);
        let outcome = self.runner.execute(&program);
        match (self.reward, answer) {
            (Reward::Denotation, Some(answer)) => self.task.answers(answer, &outcome),
            _ => self.accepts(&program, &outcome),
        }
    }

    /// Whether a program with this outcome is a success, as far as that can be said without a known answer.
    pub fn accepts(&self, program: &str, outcome: &Outcome) -> bool {
        match self.reward {
            Reward::NonEmpty => self.task.finds(program, outcome),
            Reward::Auto | Reward::Executes | Reward::Denotation => outcome.executes(),
        }
    }

    /// The share of programs that did not have to be run.
    pub fn hit_rate(&self) -> f64 {
        self.runner.hit_rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_asks_the_labels() {
        let decide = |empties: usize| Reward::Auto.decide((0..100 + empties).map(|program| program < 100));
        assert_eq!(decide(0), Reward::NonEmpty);
        assert_eq!(decide(3), Reward::NonEmpty);
        assert_eq!(decide(4), Reward::Executes);
        assert_eq!(Reward::Denotation.decide([false]), Reward::Denotation);
    }
}
