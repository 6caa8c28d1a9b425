//! Answers of a finished run: the path from the text of a question to the rows that people see.
//!
//! Every command and the server answer through [`QuestionAnswerer`], so that the same question has the same answer everywhere.

use super::trained::TrainedRun;
use crate::inference::{
    AnswerChooser, AnswerGroup, ConfidenceEstimator, OutOfScope, RankedBeam, Reranked, Scope,
    nearest_question,
};
use crate::task::{Task, TaskError};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::time::Instant;
use xpr_exec::Outcome;
use xpr_exec::database::{AnswerCell, answer_cells, has_order};
use xpr_parser::Question;
use xpr_run::ExecutedCandidate;

/// The largest number of different answers that are shown when none is sure.
const MAX_ALTERNATIVES: usize = 3;

/// The answer to a question: the output of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct AnsweredQuestion {
    /// The question.
    pub question: String,
    /// Why the question is not answered, and a question that can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<Declined>,
    /// The probability that the answer is right, if the run estimates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The confidence that an answer needs to be sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// The index of the chosen candidate.
    pub chosen: usize,
    /// A sentence that says what the chosen candidate returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What the columns of the answer are called, if it has columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The rows of the answer, if it has columns and the chosen candidate executes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "typed")]
    pub rows: Option<Vec<Vec<AnswerCell>>>,
    /// The time to find the answer.
    pub milliseconds: f64,
    /// If the answer is not sure, the most probable different answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// The different answers, the chosen one first, then the most probable first. Each names its candidates.
    pub answers: Vec<AnswerGroup>,
    /// All candidates, most probable first.
    pub candidates: Vec<ExecutedCandidate>,
}

/// Why a question is not answered.
#[derive(Clone, Debug, Serialize)]
pub struct Declined {
    /// The reason, as the end of a sentence.
    pub reason: String,
    /// The nearest question that the parser was trained on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// Whether only unknown words speak against it.
    #[serde(skip)]
    pub may_be_in_scope: bool,
}

/// One of several different answers.
#[derive(Clone, Debug, Serialize)]
pub struct Alternative {
    /// The most probable program with this answer.
    pub program: String,
    /// A sentence that says what the program returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What the columns of the answer are called, if it has columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The rows of the answer, if it has columns.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "typed")]
    pub rows: Option<Vec<Vec<AnswerCell>>>,
    /// The outcome of the program.
    pub outcome: Outcome,
}

impl Declined {
    fn no_program() -> Self {
        Declined { reason: "the parser found no program".to_owned(), nearest: None, may_be_in_scope: false }
    }
}

impl AnsweredQuestion {
    /// Returns the chosen candidate; none if the parser found no program.
    pub fn best(&self) -> Option<&ExecutedCandidate> {
        self.candidates.get(self.chosen)
    }

    /// Returns whether the confidence is below what an answer needs.
    pub fn is_unsure(&self) -> bool {
        self.confidence.zip(self.min_confidence).is_some_and(|(confidence, needed)| confidence < needed)
    }

    /// Returns how much the candidates disagree: 1 minus the share of the most probable answer in the probability of all answers.
    /// It is 0 if all have the same answer, and none if none executes.
    pub fn disagreement(&self) -> Option<f64> {
        let probabilities = || self.answers.iter().map(|group| group.probability);
        let total: f64 = probabilities().sum();
        (total > 0.0).then(|| (1.0 - probabilities().fold(0.0, f64::max) / total).max(0.0))
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
    let rows = rows.iter().flatten().map(|row| row.iter().map(json_cell).collect::<Vec<Value>>());
    serializer.collect_seq(rows)
}

/// Returns a cell as JSON: a number if it is one, and a text otherwise.
pub fn json_cell(cell: &AnswerCell) -> Value {
    match cell {
        AnswerCell::Null => Value::Null,
        AnswerCell::Text(text) | AnswerCell::Bytes(text) => Value::String(text.clone()),
        AnswerCell::Number(printed) => {
            let integer = printed.parse::<i64>().ok().map(Number::from);
            let number = integer.or_else(|| Number::from_f64(printed.parse().ok()?));
            number.map_or_else(|| Value::String(printed.clone()), Value::Number)
        }
    }
}

/// Answers questions with the parser of a run. Each thread needs its own.
#[derive(Debug)]
pub struct QuestionAnswerer<'r> {
    task: &'r Task,
    parser: Reranked<'r>,
    chooser: AnswerChooser<'r>,
    estimator: Option<ConfidenceEstimator<'r>>,
    /// Which questions can be answered. Without it, only texts without words and requests to change the data are declined.
    scope: Option<&'r Scope>,
    /// The confidence that an answer needs; the run's own if not given.
    min_confidence: Option<f64>,
    /// Whether the different answers are listed although the first is sure.
    lists_alternatives: bool,
}

impl<'r> QuestionAnswerer<'r> {
    /// Creates an answerer. An answer needs a confidence of `min_confidence`, or what the run says if it is not given.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn new(run: &'r TrainedRun, min_confidence: Option<f64>) -> Result<Self, TaskError> {
        Ok(QuestionAnswerer {
            task: &run.task,
            parser: run.parser(),
            chooser: run.chooser()?,
            estimator: run.estimator(),
            scope: run.confidence().map(|record| &record.scope),
            min_confidence,
            lists_alternatives: false,
        })
    }

    /// Also lists the different answers of questions whose first answer is sure.
    #[must_use]
    pub fn listing_alternatives(self) -> Self {
        QuestionAnswerer { lists_alternatives: true, ..self }
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
        let nearest = nearest_question(scope, text).map(str::to_owned);
        Some(Declined { reason: reason.to_string(), nearest, may_be_in_scope })
    }

    /// Returns the answer to a question.
    pub fn answer(&mut self, text: &str, beam: usize) -> AnsweredQuestion {
        let mut answers = self.answer_together(&[text], beam);
        answers.pop().unwrap_or_else(|| AnsweredQuestion::declined(text, Declined::no_program()))
    }

    /// Returns the answers to questions, which are searched as one batch. They are the same as one by one.
    pub fn answer_together(&mut self, texts: &[&str], beam: usize) -> Vec<AnsweredQuestion> {
        let mut answers = Vec::with_capacity(texts.len());
        self.answer_each(texts, beam, |answer| answers.push(answer));
        answers
    }

    /// Searches questions as one batch, and calls a function with the answer to each in their order, as soon as it is known.
    pub fn answer_each(&mut self, texts: &[&str], beam: usize, mut each: impl FnMut(AnsweredQuestion)) {
        let start = Instant::now();
        let declined: Vec<Option<Declined>> = texts.iter().map(|text| self.declines(text)).collect();
        let asked = texts.iter().zip(&declined).filter(|(_, declined)| declined.is_none());
        let questions: Vec<Question> = asked.map(|(text, _)| self.task.question(text)).collect();
        let beams = self.parser.beams(&questions.iter().collect::<Vec<_>>(), beam);
        // Each question is charged with the search of all, for which it waited, and with its own execution.
        let search = start.elapsed();
        let mut found = questions.iter().zip(beams);
        for (text, declined) in texts.iter().zip(declined) {
            if let Some(declined) = declined {
                each(AnsweredQuestion::declined(text, declined));
            } else if let Some((question, beam)) = found.next() {
                let start = Instant::now();
                let mut answer = self.choose(text, question, &beam);
                answer.milliseconds = 1000.0 * (search + start.elapsed()).as_secs_f64();
                each(answer);
            } else {
                each(AnsweredQuestion::declined(text, Declined::no_program()));
            }
        }
    }

    /// Returns the answer to a question whose candidates were found.
    fn choose(&mut self, text: &str, question: &Question, beam: &RankedBeam) -> AnsweredQuestion {
        let answer = self.chooser.choose(question, &beam.candidates);
        let confidence =
            self.estimator.as_ref().map(|estimator| estimator.confidence((text, question), &answer, beam));
        let threshold = || self.estimator.as_ref().map(ConfidenceEstimator::threshold);
        let min_confidence = self.min_confidence.or_else(threshold);
        let program = beam.candidates.get(answer.chosen).map(|candidate| &candidate.program);
        let explanation = program.and_then(|program| self.task.explain(program, question));
        let columns = program.and_then(|program| self.task.column_names(program, question));
        let rows = match answer.candidates.get(answer.chosen) {
            Some(chosen) if columns.is_some() => rows_of(&self.chooser.full_answer(chosen)),
            _ => None,
        };
        let mut answered = AnsweredQuestion {
            question: text.to_owned(),
            declined: None,
            confidence,
            min_confidence,
            chosen: answer.chosen,
            explanation,
            columns,
            rows,
            milliseconds: 0.0,
            alternatives: vec![],
            answers: answer.answers,
            candidates: answer.candidates,
        };
        if self.lists_alternatives || answered.is_unsure() {
            answered.alternatives = self.alternatives(&answered, question, beam);
        }
        answered
    }

    /// Returns the most probable different answers.
    fn alternatives(
        &mut self,
        answered: &AnsweredQuestion,
        question: &Question,
        beam: &RankedBeam,
    ) -> Vec<Alternative> {
        let first =
            answered.answers.iter().take(MAX_ALTERNATIVES).filter_map(|group| group.candidates.first());
        let alternative = |&index: &usize| {
            let candidate = &answered.candidates[index];
            let program = &beam.candidates[index].program;
            let columns = self.task.column_names(program, question);
            let rows = match columns.is_some() {
                true if index == answered.chosen => answered.rows.clone(),
                true => rows_of(&self.chooser.full_answer(candidate)),
                false => None,
            };
            let explanation = self.task.explain(program, question);
            let ExecutedCandidate { program: text, outcome, .. } = candidate.clone();
            Alternative { program: text, explanation, columns, rows, outcome }
        };
        first.map(alternative).collect()
    }
}

/// Returns the rows of an outcome of a query. If the query asks for no order, they are in that of their cells: 2 before 10.
///
/// ```
/// use xpr_exec::Outcome;
/// use xpr_learn::experiment::rows_of;
///
/// let cells = |answer: &str| -> Vec<String> {
///     let rows = rows_of(&Outcome::Value(answer.to_owned())).expect("an answer");
///     rows.iter().map(|row| row[0].to_string()).collect()
/// };
/// assert_eq!(cells(r#"(bag ("b") ("a") (-1.5) (10) (2) (null))"#), ["-1.5", "2", "10", "a", "b", "null"]);
/// assert_eq!(cells("(list (10) (2))"), ["10", "2"]);
/// ```
pub fn rows_of(outcome: &Outcome) -> Option<Vec<Vec<AnswerCell>>> {
    match outcome {
        Outcome::Value(answer) => {
            let mut rows = answer_cells(answer)?;
            if !has_order(answer) {
                rows.sort_by(|left, right| {
                    let cells = left.iter().zip(right).map(|(left, right)| compare_cells(left, right));
                    cells.fold(Ordering::Equal, Ordering::then)
                });
            }
            Some(rows)
        }
        Outcome::Empty => Some(vec![]),
        _ => None,
    }
}

/// Compares cells: numbers come before texts, and nulls last.
fn compare_cells(left: &AnswerCell, right: &AnswerCell) -> Ordering {
    let kind = |cell: &AnswerCell| match cell {
        AnswerCell::Number(_) => 0,
        AnswerCell::Text(_) => 1,
        AnswerCell::Bytes(_) => 2,
        AnswerCell::Null => 3,
    };
    let value = |printed: &str| printed.parse().unwrap_or(f64::NAN);
    match (left, right) {
        (AnswerCell::Number(left), AnswerCell::Number(right)) => {
            value(left).total_cmp(&value(right)).then_with(|| left.cmp(right))
        }
        (AnswerCell::Text(left), AnswerCell::Text(right))
        | (AnswerCell::Bytes(left), AnswerCell::Bytes(right)) => left.cmp(right),
        _ => kind(left).cmp(&kind(right)),
    }
}
