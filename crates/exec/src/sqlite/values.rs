//! Reading the values of tables.

use super::database::SqliteDatabase;
use super::guard::{Allowance, Session};
use super::patience::Patience;
use super::tables::{OVERSIZED, cell, quoted, without_oversized_cells};
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
        let allowance = self.patience.allowance();
        let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name, '"')).collect();
        let mut read = |selected: &str| {
            let sql = format!("SELECT {selected} FROM {}", quoted(&table.name, '"'));
            // If the table takes too long or is a hostile view, only the rows before that count.
            self.session.run(&sql, allowance, |row, columns| {
                let cells: Vec<Cell<'_>> =
                    (0..columns).map(|index| row.get_ref(index).map_or(Cell::Null, cell)).collect();
                each_row(&cells)
            })
        };
        let mut outcome = read(&names.join(", "));
        let mut has_oversized_cells = false;
        if outcome == Err(OVERSIZED) {
            // Rows that were read before are known and add nothing.
            outcome = read(&without_oversized_cells(table));
            // A view can be too large itself, whatever its cells are.
            has_oversized_cells = outcome != Err(OVERSIZED);
        }
        self.patience.record(&outcome);
        TableReading { to_end: outcome.is_ok(), has_oversized_cells, is_sampled: false }
    }

    fn ranges(&mut self, schema: &Schema, id: TableId) -> Vec<(ColumnId, [f64; 2])> {
        let table = schema.table(id);
        let has_numbers =
            |ty: ColumnType| matches!(ty, ColumnType::Number | ColumnType::Time | ColumnType::Boolean);
        let columns: Vec<u32> = (0..)
            .zip(&table.columns)
            .filter(|(_, column)| has_numbers(column.ty))
            .map(|(index, _)| index)
            .collect();
        if columns.is_empty() {
            return vec![];
        }
        let extremes: Vec<String> = columns
            .iter()
            .map(|&column| {
                let name = quoted(&table.columns[column as usize].name, '"');
                // Every number comes before every text.
                let number = format!("CASE WHEN {name} < '' THEN {name} END");
                format!("min({number}), max({number})")
            })
            .collect();
        let sql = format!("SELECT {} FROM {}", extremes.join(", "), quoted(&table.name, '"'));
        let number = |row: &Row<'_>, index: usize| match row.get_ref(index) {
            Ok(ValueRef::Integer(integer)) => Some(integer as f64),
            Ok(ValueRef::Real(real)) => Some(real),
            _ => None,
        };
        let mut ranges = Vec::new();
        let outcome = self.session.run(&sql, self.patience.allowance(), |row, _| {
            for (index, &column) in columns.iter().enumerate() {
                if let (Some(least), Some(greatest)) = (number(row, 2 * index), number(row, 2 * index + 1)) {
                    ranges.push((ColumnId { table: id, column }, [least, greatest]));
                }
            }
            Ok(())
        });
        self.patience.record(&outcome);
        if outcome.is_ok() { ranges } else { vec![] }
    }
}
