//! Constants of labels in the spelling of the cells (`data.loose_values`).
//!
//! Cells such as `'Aberdeen '` and `'USA'` are not equal to the constants `'Aberdeen'` and `'usa'` that people write in labels, so right labels find
//! nothing. Where no cell of a column has a constant but for blanks around it and case, the label is read with the cell's spelling.

use super::error::TaskError;
use xpr_exec::Executor;
use xpr_exec::database::{self, QueryLimits, answer_rows};
use xpr_lang::Outcome;
use xpr_lang::sql::{ColumnId, Literal, Sql};
use xpr_run::DataConfig;

/// Respells the constants of labels.
pub(super) struct Respeller {
    language: Sql,
    runner: Box<dyn Executor>,
}

impl Respeller {
    /// Opens the database of the settings.
    pub(super) fn open(config: &DataConfig) -> Result<Self, TaskError> {
        let database = database::open(&config.database, &config.folder)?;
        let schema = database.schema()?;
        let runner = database.runner(&schema, QueryLimits::interactive())?;
        Ok(Respeller { language: Sql::new(schema), runner })
    }

    /// Returns a query with the constants that no cell has in the spelling of the cells.
    pub(super) fn respell(&mut self, program: &str) -> String {
        let Ok(query) = self.language.parse(program) else { return program.to_owned() };
        let mut text = program.to_owned();
        for (column, constant) in query.compared_texts() {
            if let Some(cell) = self.cell(column, &constant) {
                let cell = Literal::text(cell).to_string();
                for quote in ['\'', '"'] {
                    let doubled = constant.replace(quote, &format!("{quote}{quote}"));
                    text = text.replace(&format!("{quote}{doubled}{quote}"), &cell);
                }
            }
        }
        text
    }

    /// Returns the cell that equals a constant but for blanks and case, if no cell equals it.
    fn cell(&mut self, id: ColumnId, constant: &str) -> Option<String> {
        let schema = self.language.schema();
        let (table, column) = (schema.table_in_sql(id.table), schema.column_in_sql(id));
        let literal = Literal::text(constant);
        let query = format!(
            "SELECT sum(CASE WHEN {column} = {literal} THEN 1 ELSE 0 END), min({column}) FROM {table} WHERE lower(trim({column})) = lower(trim({literal}))"
        );
        let Outcome::Value(answer) = self.runner.execute(&query) else { return None };
        let mut rows = answer_rows(&answer)?;
        let [exact, cell] = rows.pop()?.try_into().ok()?;
        (exact == "0").then_some(cell)
    }
}
