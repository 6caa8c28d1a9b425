//! What the tools return.

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;
use xpr_serve::{AnswerView, AskResponse, ColumnView, RunResponse, SchemaView, TableView};

/// The number of rows of an answer that is not the first.
const OTHER_ROWS: usize = 3;

/// Rows of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Rows {
    /// What the columns are called.
    pub columns: Vec<String>,
    /// The rows, at most `max_rows` of them.
    pub rows: Vec<Vec<Value>>,
    /// The number of rows that the query returns.
    pub row_count: usize,
    /// Whether there are more rows than these.
    pub truncated: bool,
    /// The answer as text, if it is not a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Rows {
    /// Returns at most `most` of the rows of an answer.
    fn new(columns: Vec<String>, mut rows: Vec<Vec<Value>>, most: usize, text: Option<String>) -> Self {
        let row_count = rows.len();
        rows.truncate(most);
        Rows { columns, rows, row_count, truncated: row_count > most, text }
    }
}

/// The result of the tool `ask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The number of the question in the log, which `confirm` needs; none if there is no log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The query that answers the question. There is none if the question was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// What the query returns, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows,
    /// The probability that the answer is right, from 0 to 1, if the parser estimates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether the parser is not sure of the answer.
    pub unsure: bool,
    /// Why the question was not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined: Option<String>,
    /// If the parser is not sure, other answers that may be right.
    pub other_answers: Vec<OtherAnswer>,
}

/// Another answer that may be right.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherAnswer {
    /// Its query.
    pub sql: String,
    /// What the query returns, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The first rows.
    #[serde(flatten)]
    pub rows: Rows,
}

impl Answer {
    pub(crate) fn new(answer: AskResponse, most: usize) -> Self {
        let others = if answer.unsure { answer.answers } else { vec![] };
        Answer {
            id: answer.id,
            sql: answer.sql,
            explanation: answer.explanation,
            rows: Rows::new(answer.columns, answer.rows, most, answer.message),
            confidence: answer.confidence,
            unsure: answer.unsure,
            declined: answer.declined.map(|declined| declined.reason),
            // The first is the answer itself.
            other_answers: others.into_iter().skip(1).map(OtherAnswer::from).collect(),
        }
    }
}

impl From<AnswerView> for OtherAnswer {
    fn from(view: AnswerView) -> Self {
        let rows = Rows::new(view.columns, view.rows, OTHER_ROWS, view.message);
        // The view has the first rows only.
        let rows = Rows { row_count: view.row_count, truncated: view.row_count > rows.rows.len(), ..rows };
        OtherAnswer { sql: view.sql, explanation: view.explanation, rows }
    }
}

/// The result of the tool `run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct QueryResult {
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows,
}

impl QueryResult {
    pub(crate) fn new(answer: RunResponse, most: usize) -> Self {
        QueryResult { rows: Rows::new(answer.columns, answer.rows, most, answer.message) }
    }
}

/// The result of the tool `schema`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DataSchema {
    /// The tables, if the data are a database.
    pub tables: Vec<TableInfo>,
    /// The names that questions can be about, if the data are a knowledge base.
    pub names: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableInfo {
    /// The name.
    pub name: String,
    /// The columns.
    pub columns: Vec<ColumnInfo>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ColumnInfo {
    /// The name.
    pub name: String,
    /// `text`, `number`, `time`, `boolean` or `other`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is part of the primary key.
    pub primary_key: bool,
    /// The column that it refers to, such as `film.id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
    /// Some of its values.
    pub examples: Vec<String>,
}

impl DataSchema {
    pub(crate) fn new(schema: SchemaView) -> Self {
        DataSchema { tables: schema.tables.into_iter().map(TableInfo::from).collect(), names: schema.names }
    }
}

impl From<TableView> for TableInfo {
    fn from(view: TableView) -> Self {
        TableInfo { name: view.name, columns: view.columns.into_iter().map(ColumnInfo::from).collect() }
    }
}

impl From<ColumnView> for ColumnInfo {
    fn from(view: ColumnView) -> Self {
        let ColumnView { name, kind, primary_key, references, examples, .. } = view;
        let examples = examples.into_iter().map(String::from).collect();
        ColumnInfo { name, kind: kind.to_owned(), primary_key, references, examples }
    }
}

/// The result of the tool `confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Confirmation {
    /// The number of the question in the log.
    pub id: i64,
}
