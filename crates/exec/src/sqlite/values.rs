//! Reading the values of tables.

use super::database::SqliteDatabase;
use super::guard::{Allowance, Session};
use super::patience::Patience;
use super::tables::{cell, read_columns};
use crate::Fault;
use crate::database::{Cell, DatabaseError, TableReading, ValueReader};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::time::Duration;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};

/// The limits of reading a table, which are enough for some million rows. They decide which values of larger tables are
/// in the index.
const TABLE_LIMITS: Allowance =
    Allowance { steps: 50_000_000, time: Duration::from_secs(20), memory: 32 << 20 };

/// The number of tables that may exceed these limits.
const STOPPED_TABLES: usize = 20;

/// A reader of the values of a file.
pub(super) struct SqliteValues {
    session: Session,
    patience: Patience,
}

impl SqliteValues {
    pub(super) fn new(database: &SqliteDatabase, schema: &Schema) -> Result<Self, DatabaseError> {
        let session = Session::open(database, schema.tables.iter().map(|table| table.name.as_str()))?;
        Ok(SqliteValues { session, patience: Patience::new(TABLE_LIMITS, STOPPED_TABLES) })
    }
}

impl ValueReader for SqliteValues {
    fn rows(
        &mut self,
        schema: &Schema,
        table: TableId,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> TableReading {
        let table = schema.table(table);
        let SqliteValues { session, patience } = self;
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let (outcome, has_oversized_cells) = read_columns(
            table,
            &columns,
            "",
            |name, small| small(name),
            |statement| {
                // If the table takes too long or is a hostile view, only the rows before that count.
                let outcome = session.run(&statement.sql, patience.allowance(), |row, _| {
                    let mut cells = vec![Cell::Null; columns.len()];
                    for (index, &column) in statement.columns.iter().enumerate() {
                        cells[column] = row.get_ref(index).map_or(Cell::Null, cell);
                    }
                    each_row(&cells)
                });
                patience.record(&outcome);
                outcome
            },
        );
        TableReading { has_oversized_cells, ..TableReading::new(outcome, false) }
    }

    fn ranges(&mut self, schema: &Schema, id: TableId) -> Vec<(ColumnId, [f64; 2])> {
        let table = schema.table(id);
        let SqliteValues { session, patience } = self;
        let has_numbers =
            |ty: ColumnType| matches!(ty, ColumnType::Number | ColumnType::Time | ColumnType::Boolean);
        let columns: Vec<usize> =
            (0..table.columns.len()).filter(|&column| has_numbers(table.columns[column].ty)).collect();
        let number = |row: &Row<'_>, index: usize| match row.get_ref(index) {
            Ok(ValueRef::Integer(integer)) => Some(integer as f64),
            Ok(ValueRef::Real(real)) => Some(real),
            _ => None,
        };
        let extremes = |name: &str, small: &dyn Fn(&str) -> String| {
            // Every number comes before every text.
            let number = small(&format!("CASE WHEN {name} < '' THEN {name} END"));
            format!("min({number}), max({number})")
        };
        let mut ranges = Vec::new();
        // The columns of a statement that fails have no ranges.
        let _ = read_columns(table, &columns, "", extremes, |statement| {
            let before = ranges.len();
            let outcome = session.run(&statement.sql, patience.allowance(), |row, _| {
                for (index, &column) in statement.columns.iter().enumerate() {
                    let column = ColumnId { table: id, column: column as u32 };
                    let [least, greatest] = [0, 1].map(|end| number(row, 2 * index + end));
                    ranges.extend(least.zip(greatest).map(|(least, greatest)| (column, [least, greatest])));
                }
                Ok(())
            });
            if outcome.is_err() {
                ranges.truncate(before);
            }
            patience.record(&outcome);
            outcome
        });
        ranges
    }
}
