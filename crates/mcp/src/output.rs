//! What the tools return.

use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;
use xpr_exec::Outcome;
use xpr_exec::database::AnswerCell;
use xpr_lang::sql::{ColumnType, Schema, Table};
use xpr_learn::Task;
use xpr_learn::experiment::{Alternative, AnsweredQuestion, json_cell, rows_of};

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
    /// Returns the rows of an outcome, at most `most` of them.
    pub(crate) fn new(columns: Vec<String>, outcome: &Outcome, most: usize) -> Self {
        match rows_of(outcome) {
            Some(rows) => Rows::of_cells(columns, &rows, most),
            None => Rows { columns, text: Some(outcome.text().to_owned()), ..Rows::default() },
        }
    }

    fn of_cells(columns: Vec<String>, rows: &[Vec<AnswerCell>], most: usize) -> Self {
        let json = |row: &Vec<AnswerCell>| row.iter().map(json_cell).collect();
        Rows {
            columns,
            rows: rows.iter().take(most).map(json).collect(),
            row_count: rows.len(),
            truncated: rows.len() > most,
            text: None,
        }
    }
}

/// The result of the tool `ask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    pub(crate) fn new(answered: &AnsweredQuestion, most: usize) -> Self {
        let columns = answered.columns.clone().unwrap_or_default();
        let other = |other: &Alternative| OtherAnswer {
            sql: other.program.clone(),
            explanation: other.explanation.clone(),
            rows: Rows::new(other.columns.clone().unwrap_or_default(), &other.outcome, OTHER_ROWS),
        };
        let best = answered.best();
        Answer {
            sql: best.map(|best| best.program.clone()),
            explanation: answered.explanation.clone(),
            rows: best.map(|best| Rows::new(columns, &best.outcome, most)).unwrap_or_default(),
            confidence: answered.confidence,
            unsure: answered.is_unsure(),
            declined: answered.declined.as_ref().map(|declined| declined.reason.clone()),
            other_answers: answered.alternatives.iter().skip(1).map(other).collect(),
        }
    }
}

/// The result of the tool `run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct QueryResult {
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows,
}

/// The result of the tool `schema`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DataSchema {
    /// The tables, if the data are a database.
    pub tables: Vec<TableInfo>,
    /// The names that questions can be about, if the data are a knowledge base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
}

/// The largest number of names that are listed.
const MAX_NAMES: usize = 2000;

impl DataSchema {
    pub(crate) fn new(task: &Task) -> Self {
        match task.world().schema() {
            Some(schema) => DataSchema {
                tables: schema.tables.iter().map(|table| table_info(schema, table)).collect(),
                names: vec![],
            },
            None => {
                let names = task.world().environment().items().iter().map(|item| item.phrase.clone());
                DataSchema { tables: vec![], names: names.take(MAX_NAMES).collect() }
            }
        }
    }
}

fn table_info(schema: &Schema, table: &Table) -> TableInfo {
    let references = |index: u32| {
        let to = table.foreign_keys.iter().find_map(|key| {
            let position = key.columns.iter().position(|&from| from == index)?;
            key.to.get(position).copied()
        })?;
        Some(format!("{}.{}", schema.table(to.table).name, schema.column(to).name))
    };
    let columns = table.columns.iter().zip(0u32..).map(|(column, index)| ColumnInfo {
        name: column.name.clone(),
        kind: match column.ty {
            ColumnType::Text => "text",
            ColumnType::Number => "number",
            ColumnType::Time => "time",
            ColumnType::Boolean => "boolean",
            ColumnType::Other => "other",
        }
        .to_owned(),
        primary_key: table.primary_key.contains(&index),
        references: references(index),
    });
    TableInfo { name: table.name.clone(), columns: columns.collect() }
}

/// The result of the tool `confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Confirmation {
    /// The number of the question in the log.
    pub question: i64,
}
