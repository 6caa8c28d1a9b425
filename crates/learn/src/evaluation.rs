//! How often a parser is right.
//!
//! Inference prefers the best candidate that *executes*: a program that fails is never right. (That it also finds
//! something is not asked: where nothing is the right answer, that would be wrong.)

use crate::{Task, TaskError, TestExample};
use serde::{Deserialize, Serialize};
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
#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    /// The text of the program.
    pub program: String,
    /// Its log-probability.
    pub log_probability: f32,
    /// Its outcome, as `xpr exec` prints it.
    pub outcome: String,
}

/// What a parser answered to a question.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The question.
    pub utterance: String,
    /// The labeled program.
    pub gold: String,
    /// What comes of running it.
    pub gold_outcome: String,
    /// Whether the answer is right.
    pub correct: bool,
    /// Which candidate was chosen.
    pub chosen: usize,
    /// All candidates, best first.
    pub candidates: Vec<Ranked>,
}

/// Runs candidates, and says which to choose: the best that executes, or the best if none does.
pub fn rank(
    task: &Task,
    executor: &mut dyn Executor,
    question: &Question,
    candidates: &[Candidate],
) -> (usize, Vec<(Ranked, Outcome)>) {
    let ranked: Vec<(Ranked, Outcome)> = candidates
        .iter()
        .map(|candidate| {
            let program = task.text(&candidate.program, question);
            let outcome = executor.execute(&program);
            let log_probability = candidate.log_probability;
            (Ranked { program, log_probability, outcome: outcome.to_string() }, outcome)
        })
        .collect();
    let chosen = ranked.iter().position(|(_, outcome)| outcome.executes()).unwrap_or(0);
    (chosen, ranked)
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
    let mut runner = task.runner()?;
    let mut counts = [0usize; 5];
    let mut predictions = Vec::with_capacity(examples.len());
    for (chunk, examples) in questions.chunks(48).zip(examples.chunks(48)) {
        for (candidates, example) in parser.candidates(chunk, beam, None).iter().zip(examples) {
            let (chosen, ranked) = rank(task, &mut *runner, &example.question, candidates);
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
                gold_outcome: example.outcome.to_string(),
                correct: found[0],
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
