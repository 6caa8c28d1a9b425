//! Which candidates are rewarded.

use crate::{Task, TaskError, UnlabeledExample};
use serde::{Deserialize, Serialize};
use std::fmt;
use xpr_exec::{Executor, Outcome, Remembering};
use xpr_parser::{Candidate, Question};

/// What counts as success for a program nobody labeled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// With a committee `agreement`; without, `non-empty` if nearly all labeled programs find something, and `executes` if
    /// nothing is often the right answer.
    Auto,
    /// It runs and finds something: the paper's definition. In a database, a count of nothing
    /// finds nothing, and neither does a query that gives constants alone.
    NonEmpty,
    /// It runs: what the authors' public code does.
    Executes,
    /// It finds the known answer of its question; where none is known, it runs.
    Denotation,
    /// Of what labels ask for at least, as `auto` has it without a committee, it comes to what most of the probability of its
    /// question's candidates comes to.
    Agreement,
}

/// Labeled programs that find something, from which on a program that does not is taken to be wrong.
const NEARLY_ALL: f64 = 0.97;

impl Reward {
    /// What a program must do at least to be right: find something, if nearly every labeled one does, or else run.
    pub fn least(labeled_finds: impl IntoIterator<Item = bool>) -> Reward {
        let (mut all, mut found) = (0, 0);
        for finds in labeled_finds {
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
            Reward::Agreement => "agreement",
        }
    }
}

/// Runs programs, each once as long as its outcome is remembered.
pub struct Judge<'t> {
    task: &'t Task,
    runner: Remembering<Box<dyn Executor + 't>>,
    reward: Reward,
    least: Reward,
}

/// Bytes of outcomes that are remembered.
const REMEMBERED: usize = 64 << 20;

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("reward", &self.reward).finish_non_exhaustive()
    }
}

impl<'t> Judge<'t> {
    /// A judge that has run nothing yet; `least` is what programs must do at least where they are to agree.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn new(task: &'t Task, reward: Reward, least: Reward) -> Result<Self, TaskError> {
        Ok(Judge { task, runner: Remembering::new(task.runner()?, REMEMBERED), reward, least })
    }

    /// What programs are about.
    pub fn task(&self) -> &'t Task {
        self.task
    }

    /// Which candidates for a question are rewarded; `answer` is what the right one comes to, if that is known.
    pub fn rewards(
        &mut self,
        candidates: &[Candidate],
        question: &Question,
        answer: Option<&Outcome>,
    ) -> Vec<bool> {
        let (mut accepted, mut outcomes) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let program = self.task.text(&candidate.program, question);
            let outcome = self.runner.execute(&program);
            accepted.push(self.accepts(&program, &outcome));
            outcomes.push(outcome);
        }
        match (self.reward, answer) {
            (Reward::Denotation, Some(answer)) => {
                outcomes.iter().map(|outcome| self.task.answers(answer, outcome)).collect()
            }
            (Reward::Agreement, _) => self.agreeing(candidates, &accepted, &outcomes),
            _ => accepted,
        }
    }

    /// Whether a program with this outcome is a success, as far as that can be said of it alone and without a known answer.
    pub fn accepts(&self, program: &str, outcome: &Outcome) -> bool {
        let reward = if self.reward == Reward::Agreement { self.least } else { self.reward };
        match reward {
            Reward::NonEmpty => self.task.finds(program, outcome),
            _ => outcome.executes(),
        }
    }

    /// Which of the accepted candidates come to what has most of the probability; of equal ones, what the better candidate comes to.
    fn agreeing(&self, candidates: &[Candidate], accepted: &[bool], outcomes: &[Outcome]) -> Vec<bool> {
        // The first candidate of each answer, and the answer's probability.
        let mut answers: Vec<(usize, f64)> = Vec::new();
        for (place, outcome) in outcomes.iter().enumerate().filter(|(place, _)| accepted[*place]) {
            let probability = f64::from(candidates[place].log_probability).exp();
            match answers.iter_mut().find(|(first, _)| self.task.answers(&outcomes[*first], outcome)) {
                Some((_, sum)) => *sum += probability,
                None => answers.push((place, probability)),
            }
        }
        let mut best: Option<(usize, f64)> = None;
        for (first, sum) in answers {
            if best.is_none_or(|(_, most)| sum > most) {
                best = Some((first, sum));
            }
        }
        let agrees = |(accepted, outcome): (&bool, &Outcome)| {
            *accepted && best.is_some_and(|(first, _)| self.task.answers(&outcomes[first], outcome))
        };
        accepted.iter().zip(outcomes).map(agrees).collect()
    }

    /// Whether rewarded programs come to the known answer of their question.
    pub(crate) fn is_certain(&self, example: &UnlabeledExample) -> bool {
        self.reward == Reward::Denotation && example.answer.is_some()
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
    fn labels_say_what_a_program_must_do_at_least() {
        let least = |empties: usize| Reward::least((0..100 + empties).map(|program| program < 100));
        assert_eq!(least(0), Reward::NonEmpty);
        assert_eq!(least(3), Reward::NonEmpty);
        assert_eq!(least(4), Reward::Executes);
    }
}
