//! Choosing an answer among candidates.
//!
//! The most probable candidate that executes is chosen: a program that fails is never right. Where labels nearly always find something
//! (`eval.prefer`), the most probable candidate that finds something comes first; where an empty answer is often right, that would be
//! wrong.

use crate::reward::Success;
use crate::task::{Task, TaskError};
use std::fmt;
use xpr_exec::Executor;
use xpr_parser::{Candidate, Question};
use xpr_run::ExecutedCandidate;

/// The executed candidates of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The index of the chosen candidate.
    pub chosen: usize,
    /// All candidates, most probable first.
    pub candidates: Vec<ExecutedCandidate>,
}

/// Runs candidates and chooses one of them as the answer.
pub struct AnswerChooser<'t> {
    task: &'t Task,
    /// Runs the most probable candidate, with wide limits.
    patient: Box<dyn Executor + 't>,
    /// Runs the other candidates, with the limits of training.
    quick: Box<dyn Executor + 't>,
    prefer: Success,
}

impl fmt::Debug for AnswerChooser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerChooser").field("prefer", &self.prefer).finish_non_exhaustive()
    }
}

impl<'t> AnswerChooser<'t> {
    /// Creates a chooser that prefers candidates with this success.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn new(task: &'t Task, prefer: Success) -> Result<Self, TaskError> {
        Ok(AnswerChooser { task, patient: task.patient_executor()?, quick: task.executor()?, prefer })
    }

    /// Runs the candidates of a question and chooses the first that is a success; if there is none, the first that executes; if
    /// there is none, the first.
    pub fn choose(&mut self, question: &Question, candidates: &[Candidate]) -> Answer {
        let mut executed = Vec::with_capacity(candidates.len());
        for (index, candidate) in candidates.iter().enumerate() {
            let program = self.task.text(&candidate.program, question);
            let executor = if index == 0 { &mut self.patient } else { &mut self.quick };
            let outcome = executor.execute(&program);
            let log_probability = candidate.log_probability;
            executed.push(ExecutedCandidate { program, log_probability, outcome });
        }
        let first = |success: Success| {
            executed
                .iter()
                .position(|candidate| success.accepts(self.task, &candidate.program, &candidate.outcome))
        };
        let chosen = first(self.prefer).or_else(|| first(Success::Executes)).unwrap_or(0);
        Answer { chosen, candidates: executed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;
    use xpr_lang::Outcome;

    #[test]
    fn a_success_is_chosen_before_a_more_probable_failure() {
        let world = overnight::world("blocks").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let question = task.question("which block");
        let mut executor = task.executor().unwrap();
        let mut first = |wanted: fn(&Outcome) -> bool| {
            let mut programs = task.scene().grammar().programs(9);
            let program = programs.find(|program| wanted(&executor.execute(&task.text(program, &question))));
            Candidate { program: program.unwrap(), log_probability: 0.0 }
        };
        let fails = first(|outcome| !outcome.executes());
        let empty = first(|outcome| *outcome == Outcome::Empty);
        let finds = first(|outcome| matches!(outcome, Outcome::Value(_)));
        let choice = |prefer: Success, candidates: &[&Candidate]| {
            let candidates: Vec<Candidate> = candidates.iter().map(|&candidate| candidate.clone()).collect();
            AnswerChooser::new(&task, prefer).unwrap().choose(&question, &candidates).chosen
        };
        let all = [&fails, &empty, &finds];
        assert_eq!(choice(Success::NonEmpty, &all), 2);
        assert_eq!(choice(Success::Executes, &all), 1);
        assert_eq!(choice(Success::NonEmpty, &[&fails, &empty]), 1);
        assert_eq!(choice(Success::NonEmpty, &[&fails, &fails]), 0);
        assert_eq!(choice(Success::NonEmpty, &[]), 0);
    }
}
