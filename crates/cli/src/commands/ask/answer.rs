//! Answers of a trained parser.

use anyhow::Result;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::time::Instant;
use xpr_exec::Outcome;
use xpr_exec::sqlite::{AnswerCell, answer_cells};
use xpr_learn::inference::{AnswerChooser, AnswerGroup, ConfidenceEstimator, OutOfScope, Reranked, Scope};
use xpr_learn::{Task, TrainedRun};
use xpr_run::ExecutedCandidate;

/// The largest number of different answers that are shown when none is sure.
const MAX_ALTERNATIVES: usize = 3;

/// The answer to a question: the output of `--json`.
#[derive(Serialize)]
pub(in crate::commands) struct AnsweredQuestion {
    pub(in crate::commands) question: String,
    /// Why the question is not answered, and a question that can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) declined: Option<Declined>,
    /// The probability that the answer is right, if the run estimates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confidence: Option<f64>,
    /// The confidence that an answer needs to be sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_confidence: Option<f64>,
    /// The index of the chosen candidate.
    pub(in crate::commands) chosen: usize,
    /// A sentence that says what the chosen candidate returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) explanation: Option<String>,
    /// What the columns of the answer are called, if it has columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<Vec<String>>,
    /// The rows of the answer, if it has columns and the chosen candidate executes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "typed")]
    pub(super) rows: Option<Vec<Vec<AnswerCell>>>,
    pub(in crate::commands) milliseconds: f64,
    /// If the answer is not sure, the most probable different answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) alternatives: Vec<Alternative>,
    /// The different answers, the chosen one first, then the most probable first. Each names its candidates.
    pub(super) answers: Vec<AnswerGroup>,
    /// All candidates, most probable first.
    pub(in crate::commands) candidates: Vec<ExecutedCandidate>,
}

/// Why a question is not answered.
#[derive(Serialize)]
pub(super) struct Declined {
    pub(super) reason: String,
    /// The nearest question that the parser was trained on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nearest: Option<String>,
    /// Whether only unknown words speak against it.
    #[serde(skip)]
    pub(super) may_be_in_scope: bool,
}

/// One of several answers none of which is sure.
#[derive(Serialize)]
pub(super) struct Alternative {
    pub(super) program: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explanation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "typed")]
    pub(super) rows: Option<Vec<Vec<AnswerCell>>>,
    pub(super) outcome: Outcome,
}

impl AnsweredQuestion {
    /// Returns the chosen candidate; none if the parser found no program.
    pub(super) fn best(&self) -> Option<&ExecutedCandidate> {
        self.candidates.get(self.chosen)
    }

    /// Returns whether the confidence is below what an answer needs.
    pub(super) fn is_unsure(&self) -> bool {
        self.confidence.zip(self.min_confidence).is_some_and(|(confidence, needed)| confidence < needed)
    }

    /// Returns the answer to a question that is declined.
    fn declined(question: &str, declined: Declined) -> Self {
        AnsweredQuestion {
            question: question.to_owned(),
            declined: Some(declined),
            confidence: None,
            min_confidence: None,
            chosen: 0,
            explanation: None,
            columns: None,
            rows: None,
            milliseconds: 0.0,
            alternatives: vec![],
            answers: vec![],
            candidates: vec![],
        }
    }
}

/// Writes rows with the types of their cells.
fn typed<S: Serializer>(rows: &Option<Vec<Vec<AnswerCell>>>, serializer: S) -> Result<S::Ok, S::Error> {
    let cell = |cell: &AnswerCell| match cell {
        AnswerCell::Null => Value::Null,
        AnswerCell::Text(text) | AnswerCell::Bytes(text) => Value::String(text.clone()),
        AnswerCell::Number(printed) => {
            let integer = printed.parse::<i64>().ok().map(Number::from);
            let number = integer.or_else(|| Number::from_f64(printed.parse().ok()?));
            number.map_or_else(|| Value::String(printed.clone()), Value::Number)
        }
    };
    let rows = rows.iter().flatten().map(|row| row.iter().map(cell).collect::<Vec<Value>>());
    serializer.collect_seq(rows)
}

/// Answers questions with the parser of a run.
pub(in crate::commands) struct QuestionAnswerer<'r> {
    task: &'r Task,
    parser: Reranked<'r>,
    chooser: AnswerChooser<'r>,
    estimator: Option<ConfidenceEstimator<'r>>,
    /// Which questions can be answered. Without it, only texts without words and requests to change the data are declined.
    scope: Option<&'r Scope>,
    /// The confidence that an answer needs; the run's own if not given.
    min_confidence: Option<f64>,
}

impl<'r> QuestionAnswerer<'r> {
    pub(in crate::commands) fn new(run: &'r TrainedRun, min_confidence: Option<f64>) -> Result<Self> {
        Ok(QuestionAnswerer {
            task: &run.task,
            parser: run.parser(),
            chooser: run.chooser()?,
            estimator: run.estimator(),
            scope: run.confidence().map(|record| &record.scope),
            min_confidence,
        })
    }

    /// Returns why a question is declined, if it is. A confidence of 0 accepts every answer, and so every question.
    fn declines(&self, text: &str) -> Option<Declined> {
        if self.min_confidence == Some(0.0) {
            return None;
        }
        let nothing_known = Scope::default();
        let scope = self.scope.unwrap_or(&nothing_known);
        let reason = scope.declines(self.task, text)?;
        let may_be_in_scope = matches!(reason, OutOfScope::OtherTopic(_));
        let nearest = scope.nearest(text).map(str::to_owned);
        Some(Declined { reason: reason.to_string(), nearest, may_be_in_scope })
    }

    /// Returns the answer to a question.
    pub(in crate::commands) fn answer(&mut self, text: &str, beam: usize) -> AnsweredQuestion {
        let start = Instant::now();
        if let Some(declined) = self.declines(text) {
            return AnsweredQuestion::declined(text, declined);
        }
        let question = self.task.question(text);
        let Some(beam) = self.parser.beams(&[&question], beam).pop() else {
            return AnsweredQuestion::declined(
                text,
                Declined {
                    reason: "the parser found no program".to_owned(),
                    nearest: None,
                    may_be_in_scope: false,
                },
            );
        };
        let answer = self.chooser.choose(&question, &beam.candidates);
        let confidence =
            self.estimator.as_ref().map(|estimator| estimator.confidence((text, &question), &answer, &beam));
        let threshold = || self.estimator.as_ref().map(ConfidenceEstimator::threshold);
        let min_confidence = self.min_confidence.or_else(threshold);
        let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
        let program = beam.candidates.get(answer.chosen).map(|candidate| &candidate.program);
        let explanation = program.and_then(|program| self.task.explain(program, &question));
        let columns = program.and_then(|program| self.task.column_names(program, &question));
        let rows = match answer.candidates.get(answer.chosen) {
            Some(chosen) if columns.is_some() => rows_of(&chosen.outcome),
            _ => None,
        };
        let alternatives: Vec<Alternative> = answer
            .answers
            .iter()
            .take(MAX_ALTERNATIVES)
            .map(|group| {
                let index = group.candidates[0];
                let ExecutedCandidate { program, outcome, .. } = &answer.candidates[index];
                let explanation = self.task.explain(&beam.candidates[index].program, &question);
                let rows = columns.as_ref().and_then(|_| rows_of(outcome));
                Alternative { program: program.clone(), explanation, rows, outcome: outcome.clone() }
            })
            .collect();
        let mut answered = AnsweredQuestion {
            question: text.to_owned(),
            declined: None,
            confidence,
            min_confidence,
            chosen: answer.chosen,
            explanation,
            columns,
            rows,
            milliseconds,
            alternatives,
            answers: answer.answers,
            candidates: answer.candidates,
        };
        if !answered.is_unsure() {
            answered.alternatives.clear();
        }
        answered
    }
}

/// Returns the rows of an outcome of a query.
fn rows_of(outcome: &Outcome) -> Option<Vec<Vec<AnswerCell>>> {
    match outcome {
        Outcome::Value(answer) => answer_cells(answer),
        Outcome::Empty => Some(vec![]),
        _ => None,
    }
}
