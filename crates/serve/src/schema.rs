//! The tables of a database, as the page and the interface show them.

use serde::Serialize;
use utoipa::ToSchema;
use xpr_exec::database::{AnswerCell, answer_cells};
use xpr_exec::{Executor, Outcome};
use xpr_lang::english::how_many;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, Table, TableId};
use xpr_learn::TrainedRun;

/// The number of example values of a column.
const EXAMPLES: usize = 4;
/// The number of characters of an example.
const EXAMPLE_CHARS: usize = 40;
/// The number of names that are listed of data that are no database.
const MAX_NAMES: usize = 2000;

/// The number of questions that are suggested.
const QUESTIONS: usize = 3;

/// What questions can be about.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct SchemaView {
    /// The name of the parser's run.
    pub run: String,
    /// The tables, if the data are a database.
    pub tables: Vec<TableView>,
    /// The names that programs can use, if the data are a knowledge base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Some questions to begin with: those of labels, or simple ones about the first tables.
    pub questions: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TableView {
    /// The name.
    pub name: String,
    /// The name in SQL, with quotes if it needs them.
    pub sql: String,
    /// The columns.
    pub columns: Vec<ColumnView>,
}

/// A column.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ColumnView {
    /// The name.
    pub name: String,
    /// The name in SQL, with quotes if it needs them.
    pub sql: String,
    /// `text`, `number`, `time`, `boolean` or `other`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it is part of the primary key.
    pub primary_key: bool,
    /// The column that it refers to, such as `film.id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
    /// Some of its values.
    #[schema(value_type = Vec<String>)]
    pub examples: Vec<ExampleValue>,
}

/// A value of a column.
#[derive(Clone, Debug, Serialize)]
#[serde(into = "String")]
pub struct ExampleValue {
    /// The value as it is shown.
    pub text: String,
    /// The value in SQL; none if it is too long to be shown, or cannot be written.
    pub(crate) sql: Option<String>,
}

impl From<ExampleValue> for String {
    fn from(value: ExampleValue) -> String {
        value.text
    }
}

impl SchemaView {
    /// Reads example values of every column, within the limits of guesses. A column whose values cannot be read so fast has none.
    pub(crate) fn read(trained: &TrainedRun, run: &str) -> Self {
        let task = &trained.task;
        let scope = trained.confidence().map(|record| &record.scope);
        let mut questions: Vec<String> = scope
            .map(|scope| scope.examples(QUESTIONS))
            .unwrap_or_default()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let Some(schema) = task.world().schema() else {
            let names = task.world().environment().items().iter().map(|item| item.phrase.clone());
            return SchemaView {
                run: run.to_owned(),
                tables: vec![],
                names: names.take(MAX_NAMES).collect(),
                questions,
            };
        };
        if questions.is_empty() {
            let counted = schema.tables.iter().filter_map(|table| how_many(&table.name));
            questions = counted.take(QUESTIONS).collect();
        }
        let mut executor = task.executor().ok();
        let mut table = |(id, table): (TableId, &Table)| {
            let column = |index: usize| {
                let column = &table.columns[index];
                let id = ColumnId { table: id, column: index as u32 };
                let examples = executor.as_mut().map(|executor| examples(executor, schema, id));
                ColumnView {
                    name: column.name.clone(),
                    sql: schema.column_in_sql(id),
                    kind: kind(column.ty),
                    primary_key: table.primary_key.contains(&(index as u32)),
                    references: references(schema, table, index as u32),
                    examples: examples.unwrap_or_default(),
                }
            };
            let columns = (0..table.columns.len()).map(column).collect();
            TableView { name: schema.table_name(id), sql: schema.table_in_sql(id), columns }
        };
        let tables = (0..).map(TableId).zip(&schema.tables).map(&mut table).collect();
        SchemaView { run: run.to_owned(), tables, names: vec![], questions }
    }
}

fn kind(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Text => "text",
        ColumnType::Number => "number",
        ColumnType::Time => "time",
        ColumnType::Boolean => "boolean",
        ColumnType::Other => "other",
    }
}

/// Returns the column that a column refers to.
fn references(schema: &Schema, table: &Table, column: u32) -> Option<String> {
    let to = table.foreign_keys.iter().find_map(|key| {
        let position = key.columns.iter().position(|&from| from == column)?;
        key.to.get(position).copied()
    })?;
    Some(format!("{}.{}", schema.table_name(to.table), schema.column(to).name))
}

/// Returns some values of a column.
fn examples(executor: &mut dyn Executor, schema: &Schema, id: ColumnId) -> Vec<ExampleValue> {
    let (table, column) = (schema.table_in_sql(id.table), schema.column_in_sql(id));
    let query = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {EXAMPLES}");
    let Outcome::Value(answer) = executor.execute(&query) else { return vec![] };
    let rows = answer_cells(&answer).unwrap_or_default();
    rows.iter().filter_map(|row| row.first()).map(ExampleValue::new).collect()
}

impl ExampleValue {
    fn new(cell: &AnswerCell) -> Self {
        let text = cell.to_string();
        if let Some((end, _)) = text.char_indices().nth(EXAMPLE_CHARS) {
            return ExampleValue { text: format!("{}…", &text[..end]), sql: None };
        }
        let sql = match cell {
            AnswerCell::Number(number) => Some(number.clone()),
            AnswerCell::Text(value) => Some(format!("'{}'", value.replace('\'', "''"))),
            AnswerCell::Null | AnswerCell::Bytes(_) => None,
        };
        ExampleValue { text, sql }
    }
}
