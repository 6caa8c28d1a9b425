//! Reading samples and values of tables.
//!
//! A small table is read as a whole. Of a large one, the values are those of a sample of its pages, and those that the
//! server's statistics have as the most common ones.

use super::catalog::{Catalog, TypeKind, qualified};
use super::cells::ReadCell;
use super::session::{Server, Session};
use super::transaction::RunError;
use crate::Fault;
use crate::database::{
    Cell, ColumnProfile, DatabaseError, TableProfile, TableReading, TableSamples, ValueReader,
};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::types::{ToSql, Type};
use xpr_lang::sql::{ColumnId, ColumnType, Schema, Table, TableId};

/// Rows of each table that decide the types of its columns, and the values by which foreign keys are inferred.
const SAMPLE: usize = 5000;
/// Values that are looked up in a large table to infer a foreign key to it, and the rows from which they are taken.
const LOOKED_UP: [usize; 2] = [20, 500];
/// The bytes of a table that is read as a whole.
const SMALL_TABLE: f64 = (64 << 20) as f64;
/// The rows of a sample of a larger one.
const SAMPLED_ROWS: f64 = 200_000.0;
/// The times for the sample of a table, for its values, for its least and greatest numbers, and for looking up values.
const SAMPLE_TIME: Duration = Duration::from_secs(2);
const VALUES_TIME: Duration = Duration::from_secs(20);
const RANGES_TIME: Duration = Duration::from_secs(2);
const LOOKUP_TIME: Duration = Duration::from_millis(200);
/// The bytes of the longest text that is read.
const LONGEST_TEXT: usize = 1 << 18;

const COMMON_VALUES: &str = "
    SELECT attname::text, most_common_vals::text::text[] FROM pg_catalog.pg_stats
    WHERE schemaname = $1 AND tablename = $2 AND most_common_vals IS NOT NULL";

/// Reads tables of a server.
pub(super) struct PostgresValues {
    session: Session,
    catalog: Arc<Catalog>,
}

impl PostgresValues {
    pub(super) fn new(server: &Arc<Server>, catalog: &Arc<Catalog>) -> Result<Self, DatabaseError> {
        Ok(PostgresValues { session: Session::open(server)?, catalog: Arc::clone(catalog) })
    }

    fn kinds(&self, table: &Table) -> Vec<TypeKind> {
        self.catalog.details(table).map(|details| details.kinds.clone()).unwrap_or_default()
    }

    fn read(
        &mut self,
        sql: &str,
        time: Duration,
        each_row: &mut dyn FnMut(&[ReadCell<'_>]) -> Result<(), Fault>,
    ) -> Result<(), RunError> {
        self.session.run(sql, time, each_row)
    }

    /// Calls `each_row` with the most common texts of a table, one in a row.
    fn common_values(
        &mut self,
        table: &Table,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> Result<(), RunError> {
        let kinds = self.kinds(table);
        let parameters: [(&(dyn ToSql + Sync), Type); 2] =
            [(&table.namespace, Type::TEXT), (&table.name, Type::TEXT)];
        let found = self.session.rows(COMMON_VALUES, &parameters, VALUES_TIME)?;
        for row in found {
            let (column, values): (String, Vec<Option<String>>) = (row.try_get(0)?, row.try_get(1)?);
            let index = table.columns.iter().position(|other| other.name == column);
            let Some(index) = index.filter(|&index| kinds.get(index) == Some(&TypeKind::Text)) else {
                continue;
            };
            for value in values.iter().flatten() {
                let mut cells = vec![Cell::Null; table.columns.len()];
                cells[index] = Cell::Text(value.as_bytes());
                each_row(&cells)?;
            }
        }
        Ok(())
    }
}

impl TableSamples for PostgresValues {
    fn profile(&mut self, schema: &Schema, id: TableId) -> (TableProfile, Vec<ColumnType>) {
        let table = schema.table(id);
        let kinds = self.kinds(table);
        let mut columns = vec![ColumnProfile::default(); table.columns.len()];
        let mut rows = 0;
        let sql = format!(
            "SELECT {} FROM {} LIMIT {SAMPLE}",
            selected(schema, id, &kinds),
            qualified(schema.table(id))
        );
        let outcome = self.read(&sql, SAMPLE_TIME, &mut |row| {
            rows += 1;
            columns.iter_mut().zip(row).for_each(|(column, cell)| column.add(cell.cell()));
            Ok(())
        });
        columns.iter_mut().for_each(ColumnProfile::finish);
        let types = kinds.iter().zip(&columns).map(|(kind, profile)| kind.column_type(profile)).collect();
        (TableProfile { columns, complete: outcome.is_ok() && rows < SAMPLE }, types)
    }

    fn looked_up_share(&mut self, schema: &Schema, from: ColumnId, to: ColumnId) -> Option<f32> {
        let [values, rows] = LOOKED_UP;
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT 1 FROM {to_table} AS there WHERE there.{to} = here.value)) \
             FROM (SELECT DISTINCT value FROM (SELECT {from} AS value FROM {from_table} WHERE {from} IS NOT NULL LIMIT {rows}) \
             AS first LIMIT {values}) AS here",
            to_table = qualified(schema.table(to.table)),
            to = schema.column_in_sql(to),
            from = schema.column_in_sql(from),
            from_table = qualified(schema.table(from.table)),
        );
        let mut share = None;
        let counted = self.read(&sql, LOOKUP_TIME, &mut |row| {
            if let [ReadCell::Integer(all), ReadCell::Integer(there)] = row
                && *all > 0
            {
                share = Some(*there as f32 / *all as f32);
            }
            Ok(())
        });
        counted.ok().and(share)
    }
}

impl ValueReader for PostgresValues {
    fn rows(
        &mut self,
        schema: &Schema,
        id: TableId,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> TableReading {
        let table = schema.table(id);
        let kinds = self.kinds(table);
        let mut sql = format!("SELECT {} FROM {}", selected(schema, id, &kinds), qualified(schema.table(id)));
        let details = self.catalog.details(table).cloned();
        let is_sampled = details.is_some_and(|details| {
            let is_large = !details.is_view && details.bytes > SMALL_TABLE;
            if is_large {
                let percent = (100.0 * SAMPLED_ROWS / details.rows).min(100.0);
                sql.push_str(&format!(" TABLESAMPLE SYSTEM ({percent}) REPEATABLE (0)"));
            }
            is_large
        });
        let mut outcome = self.read(&sql, VALUES_TIME, &mut |row| {
            let cells: Vec<Cell<'_>> = row.iter().map(ReadCell::cell).collect();
            each_row(&cells)
        });
        if is_sampled && outcome.is_ok() {
            outcome = self.common_values(table, each_row);
        }
        TableReading::new(outcome.map_err(RunError::fault), is_sampled)
    }

    fn ranges(&mut self, schema: &Schema, id: TableId) -> Vec<(ColumnId, [f64; 2])> {
        let kinds = self.kinds(schema.table(id));
        let columns: Vec<ColumnId> = (0..)
            .zip(&kinds)
            .filter(|(_, kind)| matches!(kind, TypeKind::Number | TypeKind::Boolean))
            .map(|(column, _)| ColumnId { table: id, column })
            .collect();
        if columns.is_empty() {
            return vec![];
        }
        let extremes: Vec<String> = columns
            .iter()
            .map(|&id| {
                let name = schema.column_in_sql(id);
                match kinds[id.column as usize] {
                    TypeKind::Boolean => format!("min({name}::int)::float8, max({name}::int)::float8"),
                    _ => format!("min({name})::float8, max({name})::float8"),
                }
            })
            .collect();
        let sql = format!("SELECT {} FROM {}", extremes.join(", "), qualified(schema.table(id)));
        let mut ranges = Vec::new();
        let outcome = self.read(&sql, RANGES_TIME, &mut |row| {
            for (&column, extremes) in columns.iter().zip(row.chunks_exact(2)) {
                if let [ReadCell::Real(least), ReadCell::Real(greatest)] = extremes {
                    ranges.push((column, [*least, *greatest]));
                }
            }
            Ok(())
        });
        if outcome.is_ok() { ranges } else { vec![] }
    }
}

/// Returns the columns of a table as a statement selects them: NULL for what is no value of a question.
fn selected(schema: &Schema, id: TableId, kinds: &[TypeKind]) -> String {
    let column = |(index, kind): (u32, &TypeKind)| {
        let name = schema.column_in_sql(ColumnId { table: id, column: index });
        match kind {
            TypeKind::Boolean | TypeKind::Number | TypeKind::Time => name,
            TypeKind::Money => format!("{name}::numeric"),
            TypeKind::Text => {
                format!("CASE WHEN octet_length({name}::text) <= {LONGEST_TEXT} THEN {name}::text END")
            }
            TypeKind::Other => "NULL::text".to_owned(),
        }
    };
    let columns: Vec<String> = (0..).zip(kinds).map(column).collect();
    if columns.is_empty() { "1".to_owned() } else { columns.join(", ") }
}
