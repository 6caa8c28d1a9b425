//! Reading the schema of a database: tables, types of columns, and foreign keys.
//!
//! Names, primary keys and declared foreign keys come from SQLite. The types of columns come from the first [`SAMPLE`]
//! rows of each table, so that a million rows take no longer than five thousand. Rows are read by a guarded statement like
//! any other, as a view in the file may be hostile. If reading a view takes too long, only the rows before that count.
//!
//! SQLite's internal tables are not part of the schema. Neither are virtual tables and the tables that store their data,
//! because reading those runs code that the file chooses.

use super::database::{LONGEST_TEXT, ReadConnection, SqliteDatabase};
use crate::database::DatabaseError;
use crate::database::{
    Cell, ColumnProfile, LeftOutTable, ProgressCallback, ReadSchema, TableProfile, TableSamples,
};

use super::guard::{Allowance, Session};
use super::memory::Budget;
use super::patience::Patience;
use crate::Fault;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use std::ops::ControlFlow;
use std::time::Duration;
use xpr_lang::sql::{Column, ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};

// The first three constants decide which types and foreign keys a schema has.

/// Rows of each table that decide the types of its columns, and the values by which foreign keys are inferred.
const SAMPLE: usize = 5000;
/// Values that are looked up in a large table to infer a foreign key to it.
const LOOKED_UP_VALUES: usize = 20;
/// Rows from which these values are taken.
const LOOKUP_ROWS: usize = 500;
/// The limits of reading the sample of a table. Steps are the strictest, so that a schema is the same on every machine.
const SAMPLE_LIMITS: Allowance =
    Allowance { steps: 2_000_000, time: Duration::from_secs(2), memory: 16 << 20 };
/// The number of tables whose sample may exceed these limits. Only views do.
const STOPPED_SAMPLES: usize = 50;
/// The limits of looking up values in a large table: enough with an index, not enough without.
const LOOKUP_LIMITS: Allowance =
    Allowance { steps: 20_000, time: Duration::from_millis(200), memory: 16 << 20 };
/// Bytes of memory for listing the columns of a table or view.
const DECLARATION_MEMORY: usize = 4 << 20;

impl SqliteDatabase {
    /// Reads the schema of the database.
    ///
    /// # Errors
    /// If the database is damaged or has no tables.
    pub fn schema(&self) -> Result<Schema, DatabaseError> {
        Ok(self.read_schema(&mut |_| ControlFlow::Continue(()))?.schema)
    }

    /// Reads the schema of the database, and calls `progress` before each table.
    ///
    /// # Errors
    /// If the database is damaged or has no tables, or if `progress` stops the reading.
    pub fn read_schema(&self, progress: &mut ProgressCallback<'_>) -> Result<ReadSchema, DatabaseError> {
        let connection = self.connect()?;
        let declared = self.declared_in(&connection)?;
        let tables = declared.schema.tables.iter().map(|table| table.name.as_str());
        let mut samples = Samples {
            session: Session::open(self, tables)?,
            patience: Patience::new(SAMPLE_LIMITS, STOPPED_SAMPLES),
            declared_types: declared.declared_types.clone(),
        };
        declared.with_inferred(&mut samples, || self.path().display().to_string(), progress)
    }

    /// Returns what the database declares: the type of every column is [`ColumnType::Other`], and no keys are inferred. That
    /// is fast, whatever the size of the tables.
    ///
    /// # Errors
    /// If the database is damaged or has no tables.
    pub fn declared_schema(&self) -> Result<ReadSchema, DatabaseError> {
        self.declared_in(&self.connect()?)
    }

    fn declared_in(&self, connection: &ReadConnection) -> Result<ReadSchema, DatabaseError> {
        let declared = {
            let _metered = connection.limit_time();
            declared_schema(connection).map_err(|error| self.explain(&error))?
        };
        match declared.schema.tables.is_empty() {
            true => Err(DatabaseError::NoTables { path: self.path().to_owned() }),
            false => Ok(declared),
        }
    }
}

/// Returns a name or a text in quotes, as SQL writes it.
pub(super) fn quoted(text: &str, quote: char) -> String {
    let mut sql = String::with_capacity(text.len() + 2);
    sql.push(quote);
    for c in text.chars() {
        if c == quote {
            sql.push(quote);
        }
        sql.push(c);
    }
    sql.push(quote);
    sql
}

/// The fault of a query that reads a cell of more than [`LONGEST_TEXT`] bytes.
pub(super) const OVERSIZED: Fault = Fault::Limit("text");

/// Returns the columns of a table as a query selects them, with NULL for each cell of more than [`LONGEST_TEXT`] bytes. SQLite
/// knows the size of a cell without reading it.
pub(super) fn without_oversized_cells(table: &Table) -> String {
    let column = |column: &Column| {
        let name = quoted(&column.name, '"');
        format!("CASE WHEN octet_length({name}) <= {LONGEST_TEXT} THEN {name} END")
    };
    table.columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Returns the declared tables, with [`ColumnType::Other`] for every column.
fn declared_schema(connection: &Connection) -> rusqlite::Result<ReadSchema> {
    let mut left_out = Vec::new();
    let listed = listed_tables(connection, &mut left_out)?;
    // The tables that store the data of a virtual table have its name as prefix.
    let virtual_names: Vec<&str> =
        listed.iter().filter(|(_, is_virtual)| *is_virtual).map(|(name, _)| name.as_str()).collect();
    let is_virtual = |name: &str| {
        virtual_names.iter().any(|owner| {
            name.strip_prefix(*owner).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    let mut schema = Schema::default();
    let mut declared_types = Vec::new();
    for (name, _) in listed.iter().filter(|(name, _)| !is_virtual(name)) {
        match declared_table(connection, name) {
            Ok((table, declared)) if !table.columns.is_empty() => {
                schema.tables.push(table);
                declared_types.push(declared);
            }
            Ok(_) => {}
            // A view whose tables are gone, or that contains itself, or a name of a column that is not UTF-8.
            Err(reason) => left_out.push(LeftOutTable { name: name.clone(), reason }),
        }
    }
    for index in 0..schema.tables.len() {
        let keys = declared_keys(connection, &schema, TableId(index as u32))?;
        schema.tables[index].foreign_keys = keys;
    }
    Ok(ReadSchema { schema, declared_types, left_out })
}

/// Returns the names of tables and views, and whether each is a virtual table.
fn listed_tables(
    connection: &Connection,
    left_out: &mut Vec<LeftOutTable>,
) -> rusqlite::Result<Vec<(String, bool)>> {
    // A virtual table has no root page.
    let mut statement = connection.prepare(
        "SELECT name, type = 'table' AND coalesce(rootpage, 0) = 0 FROM sqlite_schema \
         WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next()? {
        match text(row.get_ref(0)?) {
            Ok(name) => listed.push((name, row.get(1)?)),
            Err(name) => {
                left_out.push(LeftOutTable { name, reason: "its name is not UTF-8; rename it".to_owned() });
            }
        }
    }
    Ok(listed)
}

/// Returns the text of a cell. If it is not UTF-8, returns what can be shown of it as an error.
fn text(cell: ValueRef<'_>) -> Result<String, String> {
    let bytes = cell.as_bytes().unwrap_or_default();
    str::from_utf8(bytes).map(str::to_owned).map_err(|_| String::from_utf8_lossy(bytes).into_owned())
}

/// Returns a declared table and the declared types of its columns, or the reason why it cannot be read.
fn declared_table(connection: &Connection, name: &str) -> Result<(Table, Vec<String>), String> {
    let mut table = Table {
        comment: None,
        namespace: None,
        name: name.to_owned(),
        columns: Vec::new(),
        primary_key: Vec::new(),
        foreign_keys: Vec::new(),
    };
    let mut types = Vec::new();
    let mut key: Vec<(u32, u32)> = Vec::new();
    // SQLite expands a view to list its columns, and nested views can be larger than any memory.
    let _budget = Budget::new(DECLARATION_MEMORY);
    // Unlike `table_info`, this lists generated columns, which can be read like others.
    let sql = format!("PRAGMA main.table_xinfo({})", quoted(name, '\''));
    let failed = |error: rusqlite::Error| error.to_string();
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let position_in_key: u32 = row.get("pk").map_err(failed)?;
        if position_in_key > 0 {
            key.push((position_in_key, table.columns.len() as u32));
        }
        types.push(text(row.get_ref("type").map_err(failed)?).unwrap_or_else(|shown| shown));
        let name = text(row.get_ref("name").map_err(failed)?)
            .map_err(|shown| format!("the name of its column {shown} is not UTF-8; rename it"))?;
        table.columns.push(Column { comment: None, name, ty: ColumnType::Other });
    }
    key.sort_unstable();
    table.primary_key = key.into_iter().map(|(_, column)| column).collect();
    Ok((table, types))
}

/// Returns the declared foreign keys of a table that point to existing columns.
fn declared_keys(
    connection: &Connection,
    schema: &Schema,
    table: TableId,
) -> rusqlite::Result<Vec<ForeignKey>> {
    let sql = format!("PRAGMA main.foreign_key_list({})", quoted(&schema.table(table).name, '\''));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    // The keys by number. A key is `None` if one of its columns points to nothing.
    let mut keys: Vec<(i64, Option<ForeignKey>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, position): (i64, u32) = (row.get("id")?, row.get("seq")?);
        // A name that is not UTF-8 is that of no column here.
        let (target, from) = (text(row.get_ref("table")?), text(row.get_ref("from")?));
        let to = row.get_ref("to")?;
        let target = target.ok().and_then(|target| schema.find_table(&target));
        let to = target.and_then(|target| match to.as_bytes_or_null().ok()? {
            Some(to) => schema.find_column(target, str::from_utf8(to).ok()?),
            // A key without target columns points to the primary key.
            None => {
                let column = *schema.table(target).primary_key.get(position as usize)?;
                Some(ColumnId { table: target, column })
            }
        });
        let columns = from.ok().and_then(|from| schema.find_column(table, &from)).zip(to);
        if !keys.iter().any(|(known, _)| *known == number) {
            keys.push((number, Some(ForeignKey { columns: Vec::new(), to: Vec::new(), confidence: 1.0 })));
        }
        if let Some((_, key)) = keys.iter_mut().find(|(known, _)| *known == number) {
            match (columns, &mut *key) {
                (Some((from, to)), Some(key)) => {
                    key.columns.push(from.column);
                    key.to.push(to);
                }
                _ => *key = None,
            }
        }
    }
    keys.sort_by_key(|(number, _)| *number);
    Ok(keys.into_iter().filter_map(|(_, key)| key).collect())
}

/// Samples of the tables of a file.
struct Samples {
    session: Session,
    patience: Patience,
    /// The declared types of the columns of each table.
    declared_types: Vec<Vec<String>>,
}

impl TableSamples for Samples {
    fn profile(&mut self, schema: &Schema, id: TableId) -> (TableProfile, Vec<ColumnType>) {
        let table = schema.table(id);
        let mut columns = vec![ColumnProfile::default(); table.columns.len()];
        let mut rows = 0;
        let (session, patience) = (&self.session, &self.patience);
        let mut read = |selected: &str| {
            columns.fill(ColumnProfile::default());
            rows = 0;
            let sql = format!("SELECT {selected} FROM {} LIMIT {SAMPLE}", quoted(&table.name, '"'));
            session.run(&sql, patience.allowance(), |row, _| {
                rows += 1;
                for (index, column) in columns.iter_mut().enumerate() {
                    column.add(cell(row.get_ref(index).map_err(|error| Fault::Runtime(error.to_string()))?));
                }
                Ok(())
            })
        };
        let mut outcome = read("*");
        if outcome == Err(OVERSIZED) {
            outcome = read(&without_oversized_cells(table));
        }
        self.patience.record(&outcome);
        columns.iter_mut().for_each(ColumnProfile::finish);
        let declared = &self.declared_types[id.0 as usize];
        let types =
            columns.iter().zip(declared).map(|(column, declared)| column.column_type(declared)).collect();
        (TableProfile { columns, complete: outcome.is_ok() && rows < SAMPLE }, types)
    }

    fn looked_up_share(&mut self, schema: &Schema, from: ColumnId, to: ColumnId) -> Option<f32> {
        let name = |id: ColumnId| quoted(&schema.column(id).name, '"');
        let table = |id: ColumnId| quoted(&schema.table(id.table).name, '"');
        let sql = format!(
            "SELECT count(*), sum(EXISTS (SELECT 1 FROM {to_table} AS there WHERE there.{to} = here.value)) FROM \
             (SELECT DISTINCT {from} AS value FROM (SELECT {from} FROM {from_table} WHERE {from} IS NOT NULL LIMIT {LOOKUP_ROWS}) \
             LIMIT {LOOKED_UP_VALUES}) AS here",
            to_table = table(to),
            to = name(to),
            from = name(from),
            from_table = table(from),
        );
        let mut share = None;
        let counted = self.session.run(&sql, LOOKUP_LIMITS, |row, _| {
            let count = |index| row.get::<_, Option<f32>>(index).ok().flatten();
            share = count(0).zip(count(1)).map(|(all, there)| there / all);
            Ok(())
        });
        counted.ok().and(share)
    }
}

/// Returns a cell as all engines have it.
pub(super) fn cell(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(integer) => Cell::Integer(integer),
        ValueRef::Real(real) => Cell::Real(real),
        ValueRef::Text(bytes) => Cell::Text(bytes),
        ValueRef::Blob(bytes) => Cell::Blob(bytes),
    }
}
