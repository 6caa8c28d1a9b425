//! How often a parser is right.
//!
//! Inference prefers the best candidate that *executes*: a program that fails is never right. (That it also finds
//! something is not asked: where nothing is the right answer, that would be wrong.)

use crate::{Task, TaskError, TestExample};
use serde::{Deserialize, Serialize};
use std::fmt;
use xpr_exec::{Executor, Outcome};
use xpr_parser::{Candidate, Parser, Question};

/// Shares of examples, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How many examples there were.
    pub examples: usize,
    /// The best candidate that executes has the right denotation.
    pub accuracy: f64,
    /// The best candidate has, executable or not.
    pub accuracy_of_best: f64,
    /// The best candidate that executes is the labeled program.
    pub exact: f64,
    /// Some candidate has the right denotation.
    pub in_beam: f64,
    /// The best candidate executes.
    pub executable: f64,
}

/// A candidate, and what came of running it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ranked {
    /// The text of the program.
    pub program: String,
    /// Its log-probability.
    pub log_probability: f32,
    /// Its outcome, as `xpr exec` prints it.
    pub outcome: String,
}

/// What a parser answered to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// The question.
    pub utterance: String,
    /// The labeled program.
    pub gold: String,
    /// The same as the grammar writes it, if it can: what candidates are like.
    #[serde(default)]
    pub gold_written: Option<String>,
    /// What comes of running it.
    pub gold_outcome: String,
    /// Whether the answer is right.
    pub correct: bool,
    /// The best candidate with the right answer, chosen or not.
    #[serde(default)]
    pub right_at: Option<usize>,
    /// Which candidate was chosen.
    pub chosen: usize,
    /// All candidates, best first.
    pub candidates: Vec<Ranked>,
}

/// Runs candidates to choose one.
pub struct Ranker<'t> {
    task: &'t Task,
    /// The best candidate may take its time, the others are there in case it fails.
    best: Box<dyn Executor + 't>,
    others: Box<dyn Executor + 't>,
}

impl fmt::Debug for Ranker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranker").finish_non_exhaustive()
    }
}

impl<'t> Ranker<'t> {
    /// A ranker of programs for a task.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn new(task: &'t Task) -> Result<Self, TaskError> {
        Ok(Ranker { task, best: task.patient_runner()?, others: task.runner()? })
    }

    /// Runs candidates, best first, and says which to choose: the best that executes, or the best if none does.
    pub fn rank(&mut self, question: &Question, candidates: &[Candidate]) -> (usize, Vec<(Ranked, Outcome)>) {
        let mut ranked = Vec::with_capacity(candidates.len());
        for (place, candidate) in candidates.iter().enumerate() {
            let program = self.task.text(&candidate.program, question);
            let executor = if place == 0 { &mut self.best } else { &mut self.others };
            let outcome = executor.execute(&program);
            let log_probability = candidate.log_probability;
            ranked.push((Ranked { program, log_probability, outcome: outcome.to_string() }, outcome));
        }
        let executes = |(_, outcome): &(Ranked, Outcome)| outcome.executes();
        (ranked.iter().position(executes).unwrap_or(0), ranked)
    }
}

/// Asks a parser every question and compares denotations.
///
/// # Errors
/// If the data cannot be opened any more.
pub fn evaluate(
    parser: &dyn Parser,
    task: &Task,
    examples: &[TestExample],
    beam: usize,
) -> Result<(Evaluation, Vec<Prediction>), TaskError> {
    let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
    let mut ranker = Ranker::new(task)?;
    let mut counts = [0usize; 5];
    let mut predictions = Vec::with_capacity(examples.len());
    for (chunk, examples) in questions.chunks(48).zip(examples.chunks(48)) {
        for (candidates, example) in parser.candidates(chunk, beam, None).iter().zip(examples) {
            let (chosen, ranked) = ranker.rank(&example.question, candidates);
            let right: Vec<bool> =
                ranked.iter().map(|(_, outcome)| task.answers(&example.outcome, outcome)).collect();
            let is = |index: usize| right.get(index) == Some(&true);
            let found = [
                is(chosen),
                is(0),
                candidates
                    .get(chosen)
                    .is_some_and(|candidate| Some(&candidate.program) == example.program.as_ref()),
                right.contains(&true),
                ranked.first().is_some_and(|(_, outcome)| outcome.executes()),
            ];
            for (count, found) in counts.iter_mut().zip(found) {
                *count += usize::from(found);
            }
            predictions.push(Prediction {
                utterance: example.utterance.clone(),
                gold: example.gold.clone(),
                gold_written: example.program.as_ref().map(|program| task.text(program, &example.question)),
                gold_outcome: example.outcome.to_string(),
                correct: found[0],
                right_at: right.iter().position(|right| *right),
                chosen,
                candidates: ranked.into_iter().map(|(ranked, _)| ranked).collect(),
            });
        }
    }
    let [accuracy, accuracy_of_best, exact, in_beam, executable] =
        counts.map(|count| count as f64 / examples.len().max(1) as f64);
    let evaluation =
        Evaluation { examples: examples.len(), accuracy, accuracy_of_best, exact, in_beam, executable };
    Ok((evaluation, predictions))
}
