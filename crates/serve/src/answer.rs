//! What is sent about a question, a query and what people said.

use crate::parser::OpenParser;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use xpr_exec::Outcome;
use xpr_exec::database::AnswerCell;
use xpr_learn::experiment::{Alternative, AnsweredQuestion, json_cell, rows_of};
use xpr_log::{NewQuestion, ShownAnswer};
use xpr_run::fingerprint;

/// The number of rows of each of several answers. The chosen one has all of its rows.
const ALTERNATIVE_ROWS: usize = 20;

/// A question.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The question, in the words of the person who asks.
    #[schema(example = "which films run over two hours", max_length = 10_000)]
    pub question: String,
    /// The parser to ask, if the server has several; its first one if not given.
    #[serde(default)]
    pub run: Option<String>,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct AskResponse {
    /// The number of the question in the log, by which feedback names it; none if the server keeps no log.
    pub id: Option<i64>,
    /// The name of the parser's run.
    pub run: String,
    /// The fingerprint of the parser.
    pub parser: String,
    /// The question.
    pub question: String,
    /// Why the question is not answered, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<DeclinedView>,
    /// The query that answers, or the program if the data are a knowledge base.
    pub sql: Option<String>,
    /// What the query returns, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// What came of the query: `value`, `empty`, `type-error`, `error` or `timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The answer as text if it has no rows, or why the query fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: texts, numbers and nulls.
    #[schema(value_type = Vec<Vec<Value>>)]
    pub rows: Vec<Vec<Value>>,
    /// The probability that the answer is right, if the parser estimates it.
    pub confidence: Option<f64>,
    /// The confidence that an answer needs to be sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// Whether the confidence is below that.
    pub unsure: bool,
    /// The candidates, grouped by what they answer: the chosen answer first, then the most probable.
    pub answers: Vec<AnswerView>,
    /// The time to find the answer.
    pub milliseconds: f64,
}

/// Why a question is not answered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeclinedView {
    /// The reason.
    pub reason: String,
    /// A question that the parser was trained on, and that it can answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// One of the different answers.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AnswerView {
    /// The most probable query with this answer.
    pub sql: String,
    /// What it returns, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The sum of the probabilities of the queries with this answer.
    pub probability: f64,
    /// The number of queries with this answer.
    pub candidates: usize,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The first rows.
    #[schema(value_type = Vec<Vec<Value>>)]
    pub rows: Vec<Vec<Value>>,
    /// The number of rows.
    pub row_count: usize,
    /// The answer as text, if it has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A query to run.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// One SELECT.
    #[schema(example = "SELECT count(*) FROM film", max_length = 20_000)]
    pub sql: String,
    /// The parser whose data it is about, if the server has several.
    #[serde(default)]
    pub run: Option<String>,
}

/// The answer of a query.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct RunResponse {
    /// The query.
    pub sql: String,
    /// What the query returns, in English, if the parser could have written it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: texts, numbers and nulls.
    #[schema(value_type = Vec<Vec<Value>>)]
    pub rows: Vec<Vec<Value>>,
    /// The answer as text, if it has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The time that it took.
    pub milliseconds: f64,
}

/// What somebody says about an answer.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// The number of the question.
    pub id: i64,
    /// `right`, `wrong`, `corrected` (with the right query), `answer` (with the query of one of the answers shown) or `none-of-these`.
    #[schema(schema_with = verdict_schema)]
    pub verdict: xpr_log::Verdict,
    /// The right query, or that of the right answer.
    #[serde(default)]
    pub sql: Option<String>,
    /// The parser that was asked, if the server has several.
    #[serde(default)]
    pub run: Option<String>,
}

/// The receipt of feedback.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FeedbackResponse {
    /// The number of the question.
    pub id: i64,
    /// What was said.
    #[schema(schema_with = verdict_schema)]
    pub verdict: xpr_log::Verdict,
}

fn verdict_schema() -> Object {
    let names = xpr_log::Verdict::ALL.map(xpr_log::Verdict::name);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build()
}

/// Returns the rows of cells as JSON.
pub(crate) fn json_rows(rows: &[Vec<AnswerCell>]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.iter().map(json_cell).collect()).collect()
}

/// Returns the text that is shown of an outcome that has no rows: the denotation, or why the program fails.
fn message(outcome: &Outcome, has_rows: bool) -> Option<String> {
    (!has_rows).then(|| outcome.text().to_owned())
}

impl AskResponse {
    pub(crate) fn new(answered: &AnsweredQuestion, run: &str, parser: &OpenParser) -> Self {
        let declined = answered.declined.as_ref().map(|declined| DeclinedView {
            reason: declined.reason.clone(),
            nearest: declined.nearest.clone(),
        });
        let best = answered.best();
        let groups = answered.answers.iter().zip(&answered.alternatives);
        AskResponse {
            id: None,
            run: run.to_owned(),
            parser: parser.fingerprint.clone(),
            question: answered.question.clone(),
            declined,
            sql: best.map(|best| best.program.clone()),
            explanation: answered.explanation.clone(),
            outcome: best.map(|best| best.outcome.grade().to_owned()),
            message: best.and_then(|best| message(&best.outcome, answered.rows.is_some())),
            columns: answered.columns.clone().unwrap_or_default(),
            rows: json_rows(answered.rows.as_deref().unwrap_or_default()),
            confidence: answered.confidence,
            min_confidence: answered.min_confidence,
            unsure: answered.is_unsure(),
            answers: groups
                .map(|(group, alternative)| {
                    AnswerView::new(alternative, group.probability, group.candidates.len())
                })
                .collect(),
            milliseconds: answered.milliseconds,
        }
    }
}

impl AnswerView {
    fn new(alternative: &Alternative, probability: f64, candidates: usize) -> Self {
        let rows = alternative.rows.as_deref();
        AnswerView {
            sql: alternative.program.clone(),
            explanation: alternative.explanation.clone(),
            probability,
            candidates,
            columns: alternative.columns.clone().unwrap_or_default(),
            rows: json_rows(
                rows.unwrap_or_default().get(..ALTERNATIVE_ROWS).unwrap_or(rows.unwrap_or_default()),
            ),
            row_count: rows.map_or(0, <[_]>::len),
            message: message(&alternative.outcome, rows.is_some()),
        }
    }
}

/// Returns the fingerprint of an answer; none if the program failed.
pub(crate) fn answer_fingerprint(outcome: &Outcome) -> Option<String> {
    outcome.denotation().map(|denotation| fingerprint([denotation]))
}

/// Returns what the log keeps of an answer.
pub(crate) fn log_entry(
    answered: &AnsweredQuestion,
    parser: &OpenParser,
    time: i64,
    micros: i64,
) -> NewQuestion {
    let best = answered.best();
    let shown = answered.answers.iter().zip(&answered.alternatives).map(|(group, alternative)| ShownAnswer {
        program: alternative.program.clone(),
        answer: answer_fingerprint(&alternative.outcome).unwrap_or_default(),
        probability: group.probability,
    });
    NewQuestion {
        time,
        parser: parser.fingerprint.clone(),
        question: answered.question.clone(),
        program: best.map(|best| best.program.clone()),
        outcome: best.map(|best| best.outcome.grade().to_owned()),
        answer: best.and_then(|best| answer_fingerprint(&best.outcome)),
        confidence: answered.confidence,
        unsure: answered.is_unsure(),
        declined: answered.declined.as_ref().map(|declined| declined.reason.clone()),
        disagreement: answered.disagreement(),
        shown: shown.collect(),
        micros,
        again: false,
    }
}

/// Returns the rows of an outcome as JSON, and the text of one that has none.
pub(crate) fn rows_or_text(outcome: &Outcome) -> (Vec<Vec<Value>>, Option<String>) {
    match rows_of(outcome) {
        Some(rows) => (json_rows(&rows), None),
        None => (vec![], Some(outcome.text().to_owned())),
    }
}
