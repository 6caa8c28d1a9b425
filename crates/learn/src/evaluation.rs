//! How often a parser is right.
//!
//! Inference prefers the best candidate that *executes*: a program that fails is never right. One that finds something comes first where
//! labels nearly always do (`eval.least`); where nothing is often the right answer, that would be wrong.

use crate::{EvalConfig, Reward, Task, TaskError, TestExample};
use serde::{Deserialize, Serialize};
use std::fmt;
use xpr_exec::{Executor, Outcome};
use xpr_parser::{Candidate, Parser, Question};

/// Shares of examples, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// How many examples there were.
    pub examples: usize,
    /// The chosen candidate has the right denotation.
    pub accuracy: f64,
    /// The best candidate has, executable or not.
    pub accuracy_of_best: f64,
    /// The chosen candidate is the labeled program.
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
    /// Whether what finds something is chosen before what does not.
    finding: bool,
}

impl fmt::Debug for Ranker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranker").finish_non_exhaustive()
    }
}

impl<'t> Ranker<'t> {
    /// A ranker of programs for a task, of which those are chosen first that do what they must at least.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn new(task: &'t Task, least: Reward) -> Result<Self, TaskError> {
        let finding = least == Reward::NonEmpty;
        Ok(Ranker { task, best: task.patient_runner()?, others: task.runner()?, finding })
    }

    /// Runs candidates, best first, and says which to choose: the best that finds something, if that is what is asked of them; or else
    /// the best that executes; or the best if none does.
    pub fn rank(&mut self, question: &Question, candidates: &[Candidate]) -> (usize, Vec<(Ranked, Outcome)>) {
        let mut ranked = Vec::with_capacity(candidates.len());
        for (place, candidate) in candidates.iter().enumerate() {
            let program = self.task.text(&candidate.program, question);
            let executor = if place == 0 { &mut self.best } else { &mut self.others };
            let outcome = executor.execute(&program);
            let log_probability = candidate.log_probability;
            ranked.push((Ranked { program, log_probability, outcome: outcome.to_string() }, outcome));
        }
        let found =
            |(ranked, outcome): &(Ranked, Outcome)| self.finding && self.task.finds(&ranked.program, outcome);
        let executes = |(_, outcome): &(Ranked, Outcome)| outcome.executes();
        let chosen = ranked.iter().position(found).or_else(|| ranked.iter().position(executes));
        (chosen.unwrap_or(0), ranked)
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
    config: &EvalConfig,
) -> Result<(Evaluation, Vec<Prediction>), TaskError> {
    let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
    let mut ranker = Ranker::new(task, config.least)?;
    let mut counts = [0usize; 5];
    let mut predictions = Vec::with_capacity(examples.len());
    for (chunk, examples) in questions.chunks(48).zip(examples.chunks(48)) {
        for (candidates, example) in parser.candidates(chunk, config.beam).iter().zip(examples) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::KnowledgeWorld;
    use xpr_exec::overnight;

    #[test]
    fn what_finds_something_is_chosen_first_where_it_is_asked_for() {
        let world = overnight::world("blocks").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let question = task.question("which block");
        let mut runner = task.runner().unwrap();
        let mut first = |wanted: fn(&Outcome) -> bool| {
            let mut programs = task.scene().grammar().programs(9);
            let program = programs.find(|program| wanted(&runner.execute(&task.text(program, &question))));
            Candidate { program: program.unwrap(), log_probability: 0.0 }
        };
        let fails = first(|outcome| !outcome.executes());
        let nothing = first(|outcome| *outcome == Outcome::Empty);
        let something = first(|outcome| matches!(outcome, Outcome::Value(_)));
        let choice = |least: Reward, candidates: &[&Candidate]| {
            let candidates: Vec<Candidate> = candidates.iter().map(|&candidate| candidate.clone()).collect();
            Ranker::new(&task, least).unwrap().rank(&question, &candidates).0
        };
        let all = [&fails, &nothing, &something];
        assert_eq!(choice(Reward::NonEmpty, &all), 2);
        assert_eq!(choice(Reward::Executes, &all), 1);
        assert_eq!(choice(Reward::NonEmpty, &[&fails, &nothing]), 1);
        assert_eq!(choice(Reward::NonEmpty, &[&fails, &fails]), 0);
        assert_eq!(choice(Reward::NonEmpty, &[]), 0);
    }
}
