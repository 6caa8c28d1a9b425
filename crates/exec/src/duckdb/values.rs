//! Reading samples and values of tables.
//!
//! A table of some million rows is read as a whole. Of a larger one, the values are those of a sample of its rows, and those that
//! DuckDB finds to be the most common ones.

use super::catalog::{Catalog, TypeKind, qualified};
use super::session::{RunLimits, Session, Source};
use crate::Fault;
use crate::database::{
    Cell, ColumnProfile, DatabaseError, TableProfile, TableReading, TableSamples, ValueReader,
};
use std::sync::Arc;
use std::time::Duration;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, Table, TableId};

/// Rows of each table that decide the types of its columns, and the values by which foreign keys are inferred.
const SAMPLE: usize = 5000;
/// Values that are looked up in a large table to infer a foreign key to it, and the rows from which they are taken.
const LOOKED_UP: [usize; 2] = [20, 500];
/// The rows of a table that is read as a whole.
const SMALL_TABLE: f64 = 2_000_000.0;
/// The rows of a sample of a larger one.
const SAMPLED_ROWS: f64 = 200_000.0;
/// The most common texts of a column of a larger table.
const COMMON_VALUES: usize = 500;
/// The bytes of the longest text that is read.
const LONGEST_TEXT: usize = 1 << 18;
/// The bytes that reading values can use.
const MEMORY: usize = 256 << 20;

const fn within(time: Duration) -> RunLimits {
    RunLimits { time, rows: usize::MAX, output: usize::MAX }
}
/// The times for the sample of a table, for its values, for its most common ones in a column, for its least and greatest
/// numbers, and for looking up values.
const SAMPLE_TIME: RunLimits = within(Duration::from_secs(2));
const VALUES_TIME: RunLimits = within(Duration::from_secs(20));
const COMMON_TIME: RunLimits = within(Duration::from_secs(2));
const RANGES_TIME: RunLimits = within(Duration::from_secs(2));
const LOOKUP_TIME: RunLimits = within(Duration::from_millis(200));

/// Reads tables of a file.
pub(super) struct DuckDbValues {
    session: Session,
    catalog: Arc<Catalog>,
}

impl DuckDbValues {
    pub(super) fn new(source: &Arc<Source>, catalog: &Arc<Catalog>) -> Result<Self, DatabaseError> {
        Ok(DuckDbValues { session: Session::open(source, MEMORY)?, catalog: Arc::clone(catalog) })
    }

    fn kinds(&self, table: &Table) -> Vec<TypeKind> {
        self.catalog.details(table).map(|details| details.kinds.clone()).unwrap_or_default()
    }

    /// Calls `each_row` with the most common texts of a table, one in a row. A column that takes too long has none.
    fn common_values(
        &mut self,
        table: &Table,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let kinds = self.kinds(table);
        for (index, column) in table.columns.iter().enumerate() {
            if kinds.get(index) != Some(&TypeKind::Text) {
                continue;
            }
            let sql = format!(
                "SELECT unnest(approx_top_k({}::VARCHAR, {COMMON_VALUES})) FROM {}",
                quoted(&column.name),
                qualified(table)
            );
            let mut stop = Ok(());
            let _ = self.session.run(&sql, COMMON_TIME, &mut |row| {
                let mut cells = vec![Cell::Null; table.columns.len()];
                if let [value] = row {
                    cells[index] = *value;
                    stop = each_row(&cells);
                }
                stop.clone()
            });
            stop?;
        }
        Ok(())
    }
}

impl TableSamples for DuckDbValues {
    fn profile(&mut self, schema: &Schema, id: TableId) -> (TableProfile, Vec<ColumnType>) {
        let table = schema.table(id);
        let kinds = self.kinds(table);
        let mut columns = vec![ColumnProfile::default(); table.columns.len()];
        let mut rows = 0;
        let sql = format!("SELECT {} FROM {} LIMIT {SAMPLE}", selected(table, &kinds), qualified(table));
        let outcome = self.session.run(&sql, SAMPLE_TIME, &mut |row| {
            rows += 1;
            columns.iter_mut().zip(row).for_each(|(column, cell)| column.add(*cell));
            Ok(())
        });
        columns.iter_mut().for_each(ColumnProfile::finish);
        let types = kinds.iter().zip(&columns).map(|(kind, profile)| kind.column_type(profile)).collect();
        (TableProfile { columns, complete: outcome.is_ok() && rows < SAMPLE }, types)
    }

    fn looked_up_share(&mut self, schema: &Schema, from: ColumnId, to: ColumnId) -> Option<f32> {
        let [values, rows] = LOOKED_UP;
        let [from_column, to_column] = [from, to].map(|id| quoted(&schema.column(id).name));
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT 1 FROM {to_table} AS there \
             WHERE there.{to_column} = here.value)) \
             FROM (SELECT DISTINCT value FROM (SELECT {from_column} AS value FROM {from_table} \
             WHERE {from_column} IS NOT NULL LIMIT {rows}) AS first LIMIT {values}) AS here",
            to_table = qualified(schema.table(to.table)),
            from_table = qualified(schema.table(from.table)),
        );
        let mut share = None;
        let counted = self.session.run(&sql, LOOKUP_TIME, &mut |row| {
            if let [Cell::Integer(all), Cell::Integer(there)] = row
                && *all > 0
            {
                share = Some(*there as f32 / *all as f32);
            }
            Ok(())
        });
        counted.ok().and(share)
    }
}

impl ValueReader for DuckDbValues {
    fn rows(
        &mut self,
        schema: &Schema,
        id: TableId,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> TableReading {
        let table = schema.table(id);
        let mut sql = format!("SELECT {} FROM {}", selected(table, &self.kinds(table)), qualified(table));
        let rows = self.catalog.details(table).map_or(0.0, |details| details.rows);
        let is_sampled = rows > SMALL_TABLE;
        if rows.is_infinite() {
            sql.push_str(&format!(" LIMIT {SAMPLED_ROWS}"));
        } else if is_sampled {
            let percent = 100.0 * SAMPLED_ROWS / rows;
            sql.push_str(&format!(" TABLESAMPLE system({percent}%) REPEATABLE (0)"));
        }
        let mut outcome = self.session.run(&sql, VALUES_TIME, each_row);
        if is_sampled && outcome.is_ok() {
            outcome = self.common_values(table, each_row);
        }
        TableReading::new(outcome, is_sampled)
    }

    fn ranges(&mut self, schema: &Schema, id: TableId) -> Vec<(ColumnId, [f64; 2])> {
        let table = schema.table(id);
        let columns: Vec<ColumnId> = (0..)
            .zip(self.kinds(table))
            .filter(|(_, kind)| matches!(kind, TypeKind::Number | TypeKind::Boolean))
            .map(|(column, _)| ColumnId { table: id, column })
            .collect();
        if columns.is_empty() {
            return vec![];
        }
        let extremes: Vec<String> = columns
            .iter()
            .map(|&id| quoted(&schema.column(id).name))
            .map(|name| format!("min({name})::DOUBLE, max({name})::DOUBLE"))
            .collect();
        let sql = format!("SELECT {} FROM {}", extremes.join(", "), qualified(table));
        let mut ranges = Vec::new();
        let outcome = self.session.run(&sql, RANGES_TIME, &mut |row| {
            for (&column, extremes) in columns.iter().zip(row.chunks_exact(2)) {
                if let [Cell::Real(least), Cell::Real(greatest)] = extremes {
                    ranges.push((column, [*least, *greatest]));
                }
            }
            Ok(())
        });
        if outcome.is_ok() { ranges } else { vec![] }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the columns of a table as a statement selects them: NULL for what is no value of a question.
fn selected(table: &Table, kinds: &[TypeKind]) -> String {
    let column = |(index, kind): (usize, &TypeKind)| {
        let name = quoted(&table.columns[index].name);
        match kind {
            TypeKind::Boolean | TypeKind::Number | TypeKind::Time => name,
            TypeKind::Text => {
                format!("CASE WHEN strlen({name}::VARCHAR) <= {LONGEST_TEXT} THEN {name}::VARCHAR END")
            }
            TypeKind::Other => "NULL::VARCHAR".to_owned(),
        }
    };
    let columns: Vec<String> = kinds.iter().enumerate().take(table.columns.len()).map(column).collect();
    if columns.is_empty() { "1".to_owned() } else { columns.join(", ") }
}
