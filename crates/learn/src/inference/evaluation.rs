//! How often a parser is right.

use super::choose::{Answer, AnswerChooser};
use super::estimator::ConfidenceEstimator;
use super::features::AnswerFeatures;
use super::penalties::JudgedCandidate;
use super::ranked_beam::RankedBeam;
use super::rerank::Reranked;
use crate::task::{Task, TaskError, TestExample};
use xpr_parser::{Candidate, Mentions, Parser, Question};
use xpr_run::{ConfidenceFigures, EvalConfig, Evaluation, ExecutedCandidate, Prediction};

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
    let beams = |questions: &[&Question]| {
        parser.candidates(questions, config.beam).into_iter().map(RankedBeam::of_parser).collect()
    };
    evaluate_beams(&beams, task, examples, config, |_, _, answer| config.votes.then(|| answer.probability()))
}

/// Does the same, and records the confidence that each answer is right.
///
/// # Errors
/// If the data cannot be opened.
pub fn evaluate_with_confidence(
    parser: &Reranked<'_>,
    estimator: &ConfidenceEstimator<'_>,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
) -> Result<(Evaluation, Vec<Prediction>), TaskError> {
    let beams = |questions: &[&Question]| parser.beams(questions, config.beam);
    let (evaluation, predictions) =
        evaluate_beams(&beams, task, examples, config, |example, beam, answer| {
            Some(estimator.confidence((&example.utterance, &example.question), answer, beam))
        })?;
    let judged =
        predictions.iter().map(|prediction| (prediction.confidence.unwrap_or(0.0), prediction.correct));
    let confidence = ConfidenceFigures::measure(judged.collect(), estimator.threshold());
    Ok((Evaluation { confidence, ..evaluation }, predictions))
}

/// Returns the features of the answer to each question that has an answer, and whether it is right.
///
/// # Errors
/// If the data cannot be opened.
pub fn answer_features(
    parser: &Reranked<'_>,
    estimator: &ConfidenceEstimator<'_>,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
) -> Result<Vec<(AnswerFeatures, bool)>, TaskError> {
    let beams = |questions: &[&Question]| parser.beams(questions, config.beam);
    let mut features = Vec::new();
    for_each_answer(&beams, task, examples, config, |example, beam, answer| {
        let question = (example.utterance.as_str(), &example.question);
        let right = answer
            .candidates
            .get(answer.chosen)
            .is_some_and(|chosen| task.is_same_answer(&example.outcome, &chosen.outcome));
        features.extend(estimator.features(question, &answer, &beam).map(|features| (features, right)));
    })?;
    Ok(features)
}

/// Returns the candidates of each question that execute.
///
/// # Errors
/// If the data cannot be opened.
pub fn judged_candidates(
    parser: &Reranked<'_>,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
) -> Result<Vec<Vec<JudgedCandidate>>, TaskError> {
    let beams = |questions: &[&Question]| parser.beams(questions, config.beam);
    let mut judged = Vec::new();
    for_each_answer(&beams, task, examples, config, |example, beam, answer| {
        let mentions = Mentions::new(&example.question);
        let candidates = beam.candidates.iter().zip(&answer.candidates);
        let executes = candidates.filter(|(_, executed)| executed.outcome.executes());
        let judge = |(candidate, executed): (&Candidate, &ExecutedCandidate)| JudgedCandidate {
            log_probability: f64::from(candidate.log_probability),
            counts: mentions.compare(&candidate.program),
            is_right: task.is_same_answer(&example.outcome, &executed.outcome),
        };
        judged.push(executes.map(judge).collect());
    })?;
    Ok(judged)
}

/// Calls `visit` with the answer to each question whose labeled program executes.
fn for_each_answer(
    beams: &dyn Fn(&[&Question]) -> Vec<RankedBeam>,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
    mut visit: impl FnMut(&TestExample, RankedBeam, Answer),
) -> Result<(), TaskError> {
    let judged: Vec<&TestExample> = examples.iter().filter(|example| example.outcome.executes()).collect();
    let mut chooser = AnswerChooser::from_config(task, config)?;
    for examples in judged.chunks(BATCH) {
        let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
        for (beam, example) in beams(&questions).into_iter().zip(examples) {
            let answer = chooser.choose(&example.question, &beam.candidates);
            visit(example, beam, answer);
        }
    }
    Ok(())
}

fn evaluate_beams(
    beams: &dyn Fn(&[&Question]) -> Vec<RankedBeam>,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
    confidence: impl Fn(&TestExample, &RankedBeam, &Answer) -> Option<f64>,
) -> Result<(Evaluation, Vec<Prediction>), TaskError> {
    let mut counts = [0usize; 5];
    let mut predictions = Vec::with_capacity(examples.len());
    for_each_answer(beams, task, examples, config, |example, beam, answer| {
        let confidence = confidence(example, &beam, &answer);
        let (prediction, successes) = predict(task, example, &beam.candidates, answer);
        predictions.push(Prediction { confidence, ..prediction });
        for (count, success) in counts.iter_mut().zip(successes) {
            *count += usize::from(success);
        }
    })?;
    let failed_labels = examples.len() - predictions.len();
    let [accuracy, accuracy_of_best, exact, in_beam, executable] =
        counts.map(|count| count as f64 / predictions.len().max(1) as f64);
    let examples = predictions.len();
    let evaluation = Evaluation {
        examples,
        failed_labels,
        accuracy,
        accuracy_of_best,
        exact,
        in_beam,
        executable,
        confidence: None,
    };
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
