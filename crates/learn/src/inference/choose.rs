//! Choosing an answer among candidates.
//!
//! The most probable candidate that executes is chosen: a program that fails is never right. Where labels nearly always find something
//! (`eval.prefer`), the most probable candidate that finds something comes first; where an empty answer is often right, that would be
//! wrong. With `eval.penalties`, a candidate that finds nothing loses a part of its probability instead, so that it is chosen if the others
//! are improbable. With `eval.votes`, candidates with the same answer add up their probabilities, and the most probable candidate of the most
//! probable answer is chosen.

use super::votes::{AnswerGroup, group_by_answer};
use crate::hyperparameters::FINDING_NOTHING_PENALTY;
use crate::reward::Success;
use crate::task::{Task, TaskError};
use std::fmt;
use xpr_exec::database::may_be_abridged;
use xpr_exec::{Executor, Outcome};
use xpr_parser::{Candidate, Question};
use xpr_run::{EvalConfig, ExecutedCandidate};

/// The executed candidates of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The index of the chosen candidate.
    pub chosen: usize,
    /// All candidates, most probable first.
    pub candidates: Vec<ExecutedCandidate>,
    /// The different answers of the candidates that execute, the chosen one first, then the most probable first.
    pub answers: Vec<AnswerGroup>,
}

impl Answer {
    /// Returns the probability of the chosen answer: the sum over all candidates that have it. It is 0 if the chosen candidate fails.
    pub fn probability(&self) -> f64 {
        let chosen = self.answers.first().filter(|answer| answer.candidates.contains(&self.chosen));
        chosen.map_or(0.0, |answer| answer.probability)
    }
}

/// Runs candidates and chooses one of them as the answer.
pub struct AnswerChooser<'t> {
    task: &'t Task,
    /// Runs the most probable candidate, with wide limits.
    patient: Box<dyn Executor + 't>,
    /// Runs the other candidates, with the limits of training.
    quick: Box<dyn Executor + 't>,
    prefer: Success,
    /// Whether candidates with the same answer add up their probabilities.
    votes: bool,
    /// The share of its probability that a candidate keeps if it finds nothing. Without it, such a candidate is chosen only if no other
    /// finds something.
    kept_without_finding: Option<f64>,
}

impl fmt::Debug for AnswerChooser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerChooser").field("prefer", &self.prefer).finish_non_exhaustive()
    }
}

impl<'t> AnswerChooser<'t> {
    /// Creates a chooser that prefers candidates with this success, and counts no votes.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn new(task: &'t Task, prefer: Success) -> Result<Self, TaskError> {
        let (patient, quick) = (task.patient_executor()?, task.executor()?);
        Ok(AnswerChooser { task, patient, quick, prefer, votes: false, kept_without_finding: None })
    }

    /// Creates the chooser of the settings.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn from_config(task: &'t Task, config: &EvalConfig) -> Result<Self, TaskError> {
        // A run records what `auto` was; one that does not is evaluated as the paper does.
        let prefer = Success::from_reward(config.prefer, Success::Executes);
        let is_penalised = config.penalties && prefer == Success::NonEmpty;
        Ok(AnswerChooser {
            votes: config.votes,
            kept_without_finding: is_penalised.then(|| (-FINDING_NOTHING_PENALTY).exp()),
            ..AnswerChooser::new(task, prefer)?
        })
    }

    /// Runs the candidates of a question and chooses the first that is a success; if there is none, the first that executes; if
    /// there is none, the first. With votes, the first of an answer takes the place of the first of all.
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
            let accepted: Vec<bool> = executed
                .iter()
                .map(|candidate| success.accepts(self.task, &candidate.program, &candidate.outcome))
                .collect();
            match self.votes {
                true => {
                    let groups = group_by_answer(self.task, &executed, |index| accepted[index]);
                    self.elect(&executed, &groups, 1.0)
                }
                false => accepted.iter().position(|accepted| *accepted),
            }
        };
        let chosen = match self.kept_without_finding {
            Some(share) => self.elect(&executed, &self.voters(&executed), share),
            None => first(self.prefer).or_else(|| first(Success::Executes)),
        };
        let chosen = chosen.unwrap_or(0);
        let mut answers = group_by_answer(self.task, &executed, |_| true);
        if let Some(index) = answers.iter().position(|answer| answer.candidates.contains(&chosen)) {
            answers[..=index].rotate_right(1);
        }
        Answer { chosen, candidates: executed, answers }
    }

    /// Returns the answer of a candidate as people see it.
    pub fn full_answer(&mut self, candidate: &ExecutedCandidate) -> Outcome {
        if may_be_abridged(&candidate.outcome) {
            let full = self.patient.full_answer(&candidate.program);
            // It ran once, so what fails now is a limit of time or a connection.
            if full.executes() {
                return full;
            }
        }
        candidate.outcome.clone()
    }

    /// Returns the candidates that execute: by their answers, or each alone if votes do not count.
    fn voters(&self, executed: &[ExecutedCandidate]) -> Vec<AnswerGroup> {
        if self.votes {
            return group_by_answer(self.task, executed, |_| true);
        }
        let executing = executed.iter().enumerate().filter(|(_, candidate)| candidate.outcome.executes());
        let alone = |(index, candidate): (usize, &ExecutedCandidate)| AnswerGroup {
            probability: f64::from(candidate.log_probability).exp(),
            candidates: vec![index],
        };
        executing.map(alone).collect()
    }

    /// Returns the best candidate of the answer with the most votes. Programs that find nothing do not add up: wrong programs of all kinds
    /// agree on it. They keep a share of their votes.
    fn elect(
        &self,
        executed: &[ExecutedCandidate],
        groups: &[AnswerGroup],
        kept_without_finding: f64,
    ) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for group in groups {
            let first = group.candidates[0];
            let ExecutedCandidate { program, log_probability, outcome } = &executed[first];
            let votes = match Success::NonEmpty.accepts(self.task, program, outcome) {
                true => group.probability,
                false => kept_without_finding * f64::from(*log_probability).exp(),
            };
            if best.is_none_or(|(candidate, most)| votes > most || (votes == most && first < candidate)) {
                best = Some((first, votes));
            }
        }
        best.map(|(candidate, _)| candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;

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

    #[test]
    fn with_penalties_a_program_that_finds_nothing_is_chosen_if_the_others_are_improbable() {
        let world = overnight::world("blocks").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let question = task.question("which block");
        let mut executor = task.executor().unwrap();
        let mut first = |wanted: fn(&Outcome) -> bool| {
            let mut programs = task.scene().grammar().programs(9);
            programs.find(|program| wanted(&executor.execute(&task.text(program, &question)))).unwrap()
        };
        let (empty, finds) = (
            first(|outcome| *outcome == Outcome::Empty),
            first(|outcome| matches!(outcome, Outcome::Value(_))),
        );
        let chosen = |penalties: bool, votes: bool, odds: f64| {
            let candidates = [(&empty, -0.1), (&finds, -0.1 - odds as f32)]
                .map(|(program, log_probability)| Candidate { program: program.clone(), log_probability });
            let prefer = Success::NonEmpty.reward();
            let config = EvalConfig { penalties, votes, prefer, ..EvalConfig::default() };
            AnswerChooser::from_config(&task, &config).unwrap().choose(&question, &candidates).chosen
        };
        for votes in [false, true] {
            assert_eq!(chosen(false, votes, FINDING_NOTHING_PENALTY + 5.0), 1);
            assert_eq!(chosen(true, votes, FINDING_NOTHING_PENALTY + 0.5), 0);
            assert_eq!(chosen(true, votes, FINDING_NOTHING_PENALTY - 0.5), 1);
        }
    }

    #[test]
    fn with_votes_the_most_probable_answer_is_chosen() {
        let world = overnight::world("blocks").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let question = task.question("which block");
        let mut executor = task.executor().unwrap();
        let mut outcomes: Vec<(Outcome, Vec<Candidate>)> = Vec::new();
        for program in task.scene().grammar().programs(9).take(3000) {
            let outcome = executor.execute(&task.text(&program, &question));
            let candidate = Candidate { program, log_probability: 0.0 };
            match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
                Some((_, programs)) => programs.push(candidate),
                None => outcomes.push((outcome, vec![candidate])),
            }
        }
        let finds = |outcome: &Outcome| matches!(outcome, Outcome::Value(_));
        let twice = outcomes.iter().find(|(outcome, programs)| finds(outcome) && programs.len() > 1).unwrap();
        let once = outcomes.iter().find(|(outcome, _)| finds(outcome) && *outcome != twice.0).unwrap();
        let with = |candidate: &Candidate, probability: f32| Candidate {
            log_probability: probability.ln(),
            ..candidate.clone()
        };
        let candidates = [with(&once.1[0], 0.4), with(&twice.1[0], 0.35), with(&twice.1[1], 0.25)];
        let answer = |votes: bool| {
            let config = EvalConfig { votes, ..EvalConfig::default() };
            AnswerChooser::from_config(&task, &config).unwrap().choose(&question, &candidates)
        };
        let (without, with) = (answer(false), answer(true));
        assert_eq!((without.chosen, with.chosen), (0, 1));
        assert!((without.probability() - 0.4).abs() < 1e-6 && (with.probability() - 0.6).abs() < 1e-6);
        // Programs that find nothing do not add up, whatever they are.
        let empty: Vec<Candidate> = task
            .scene()
            .grammar()
            .programs(9)
            .filter(|program| executor.execute(&task.text(program, &question)) == Outcome::Empty)
            .map(|program| Candidate { program, log_probability: 0.0 })
            .take(2)
            .collect();
        let candidate = |candidate: &Candidate, probability: f32| Candidate {
            log_probability: probability.ln(),
            ..candidate.clone()
        };
        let found_little = [candidate(&once.1[0], 0.4), candidate(&empty[0], 0.3), candidate(&empty[1], 0.3)];
        let config = EvalConfig { votes: true, ..EvalConfig::default() };
        let chosen =
            AnswerChooser::from_config(&task, &config).unwrap().choose(&question, &found_little).chosen;
        assert_eq!(chosen, 0);
        assert_eq!(
            with.answers.iter().map(|answer| answer.candidates.clone()).collect::<Vec<_>>(),
            [vec![1, 2], vec![0]]
        );
    }
}
