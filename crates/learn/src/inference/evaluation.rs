//! How often a parser is right.

use super::choose::{Answer, AnswerChooser};
use crate::task::{Task, TaskError, TestExample};
use xpr_parser::{Candidate, Parser, Question};
use xpr_run::{EvalConfig, Evaluation, Prediction};

/// The number of questions that are searched together.
const BATCH: usize = 48;

/// Asks a parser every question whose labeled program executes, and compares denotations. The other questions are counted only: nobody knows
/// their right answer.
///
/// # Errors
/// If the data cannot be opened.
pub fn evaluate(
    parser: &dyn Parser,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
) -> Result<(Evaluation, Vec<Prediction>), TaskError> {
    let judged: Vec<&TestExample> = examples.iter().filter(|example| example.outcome.executes()).collect();
    let failed_labels = examples.len() - judged.len();
    let examples = judged;
    let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
    let mut chooser = AnswerChooser::from_config(task, config)?;
    let mut counts = [0usize; 5];
    let mut predictions = Vec::with_capacity(examples.len());
    for (questions, examples) in questions.chunks(BATCH).zip(examples.chunks(BATCH)) {
        for (candidates, example) in parser.candidates(questions, config.beam).iter().zip(examples) {
            let answer = chooser.choose(&example.question, candidates);
            let confidence = config.votes.then(|| answer.probability());
            let (mut prediction, successes) = predict(task, example, candidates, answer);
            prediction.confidence = confidence;
            predictions.push(prediction);
            for (count, success) in counts.iter_mut().zip(successes) {
                *count += usize::from(success);
            }
        }
    }
    let [accuracy, accuracy_of_best, exact, in_beam, executable] =
        counts.map(|count| count as f64 / examples.len().max(1) as f64);
    let examples = examples.len();
    let evaluation =
        Evaluation { examples, failed_labels, accuracy, accuracy_of_best, exact, in_beam, executable };
    Ok((evaluation, predictions))
}

/// Compares an answer with the label. Returns the record of it, and which figures of [`Evaluation`] it counts for, in their order.
fn predict(
    task: &Task,
    example: &TestExample,
    candidates: &[Candidate],
    answer: Answer,
) -> (Prediction, [bool; 5]) {
    let Answer { chosen, candidates: executed, .. } = answer;
    let right: Vec<bool> =
        executed.iter().map(|candidate| task.is_same_answer(&example.outcome, &candidate.outcome)).collect();
    let is_right = |index: usize| right.get(index) == Some(&true);
    let is_exact =
        candidates.get(chosen).is_some_and(|candidate| Some(&candidate.program) == example.program.as_ref());
    let successes = [
        is_right(chosen),
        is_right(0),
        is_exact,
        right.contains(&true),
        executed.first().is_some_and(|candidate| candidate.outcome.executes()),
    ];
    let prediction = Prediction {
        utterance: example.utterance.clone(),
        gold: example.gold.clone(),
        gold_written: example.program.as_ref().map(|program| task.text(program, &example.question)),
        gold_outcome: example.outcome.clone(),
        correct: successes[0],
        right_at: right.iter().position(|right| *right),
        chosen,
        confidence: None,
        candidates: executed,
    };
    (prediction, successes)
}
