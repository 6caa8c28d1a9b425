//! Reading the tables of a database: what they are called, what they hold, and where they point.
//!
//! Names, keys and declared foreign keys come from SQLite. What columns hold comes from the first
//! [`SAMPLE`] rows of each table, so that a million rows take no longer than five thousand. Every look at rows is a statement under
//! guard like any other: a view in the file may be hostile, and one that takes too long is known by
//! the rows it gave until then.
//!
//! Left out: SQLite's own tables, and virtual tables with the tables behind them, as reading those runs code that the file chooses.

use super::column_profile::ColumnProfile;
use super::database::Database;
use super::error::DatabaseError;
use super::foreign_keys::{self, TableProfile};
use super::guard::{Allowance, Session};
use super::memory::Budget;
use crate::Fault;
use rusqlite::Connection;
use std::ops::ControlFlow;
use std::time::Duration;
use xpr_lang::sql::{Column, ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};

/// Rows looked at in each table.
const SAMPLE: usize = 5000;
/// What looking at a table may take. Steps decide, so that a schema is the same on every machine.
const A_LOOK: Allowance = Allowance { steps: 2_000_000, time: Duration::from_secs(2), memory: 16 << 20 };
/// What looking up some values in a large table may take: enough with an index, not enough without.
const A_LOOKUP: Allowance = Allowance { steps: 20_000, time: Duration::from_millis(200), memory: 16 << 20 };
/// Bytes SQLite may use to find out what columns a table or view has.
const DECLARATION_MEMORY: usize = 4 << 20;
/// Values looked up there.
const LOOKED_UP: usize = 20;

/// How far the reading of a database has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingProgress<'a> {
    /// The table being read.
    pub table: &'a str,
    /// Tables read before it.
    pub done: usize,
    /// Tables in all.
    pub of: usize,
}

/// Watches a reading, and may stop it.
pub type Watch<'w> = dyn FnMut(ReadingProgress<'_>) -> ControlFlow<()> + 'w;

impl Database {
    /// The tables of the database.
    ///
    /// # Errors
    /// When it is damaged, or has no tables.
    pub fn schema(&self) -> Result<Schema, DatabaseError> {
        self.schema_watched(&mut |_| ControlFlow::Continue(()))
    }

    /// The tables of the database; `watch` hears of each, and may stop the reading.
    ///
    /// # Errors
    /// When it is damaged, has no tables, or the reading was stopped.
    pub fn schema_watched(&self, watch: &mut Watch<'_>) -> Result<Schema, DatabaseError> {
        let (mut schema, declarations) =
            declared_schema(&self.connect()?).map_err(|error| self.explain(&error))?;
        if schema.tables.is_empty() {
            return Err(DatabaseError::NoTables { path: self.path().to_owned() });
        }
        let session = Session::open(self, schema.tables.iter().map(|table| table.name.as_str()))?;
        let mut profiles = Vec::with_capacity(schema.tables.len());
        let of = schema.tables.len();
        for (done, table) in schema.tables.iter_mut().enumerate() {
            if watch(ReadingProgress { table: &table.name, done, of }).is_break() {
                return Err(DatabaseError::Cancelled { path: self.path().to_owned() });
            }
            let profile = look_at(&session, table);
            for (index, column) in table.columns.iter_mut().enumerate() {
                column.ty = profile.columns[index].column_type(&declarations[done][index]);
            }
            profiles.push(profile);
        }
        let names = schema.clone();
        foreign_keys::infer(&mut schema, &profiles, &mut |from, to| {
            share_looked_up(&session, &names, from, to)
        });
        Ok(schema)
    }
}

/// A name or a text as SQL writes it.
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

/// The tables as declared, every column `Other`, and the declared type of each.
fn declared_schema(connection: &Connection) -> rusqlite::Result<(Schema, Vec<Vec<String>>)> {
    // Virtual tables have no page of their own. The tables behind one have its name before theirs.
    let listed: Vec<(String, bool)> = connection
        .prepare(
            "SELECT name, type = 'table' AND coalesce(rootpage, 0) = 0 FROM sqlite_schema \
             WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let virtual_names: Vec<&str> =
        listed.iter().filter(|(_, is_virtual)| *is_virtual).map(|(name, _)| name.as_str()).collect();
    let is_behind = |name: &str| {
        virtual_names.iter().any(|owner| {
            name.strip_prefix(*owner).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    let mut schema = Schema::default();
    let mut declarations = Vec::new();
    for (name, _) in listed.iter().filter(|(name, _)| !is_behind(name)) {
        // A view whose tables are gone, or that contains itself, has no columns to speak of.
        let Ok((table, declared)) = declared_table(connection, name) else { continue };
        if !table.columns.is_empty() {
            schema.tables.push(table);
            declarations.push(declared);
        }
    }
    for index in 0..schema.tables.len() {
        let keys = declared_keys(connection, &schema, TableId(index as u32))?;
        schema.tables[index].foreign_keys = keys;
    }
    Ok((schema, declarations))
}

fn declared_table(connection: &Connection, name: &str) -> rusqlite::Result<(Table, Vec<String>)> {
    let mut table = Table {
        name: name.to_owned(),
        columns: Vec::new(),
        primary_key: Vec::new(),
        foreign_keys: Vec::new(),
    };
    let mut declarations = Vec::new();
    let mut key: Vec<(u32, u32)> = Vec::new();
    // To name the columns of a view SQLite unfolds it, and views of views of views can be larger than any memory.
    let _budget = Budget::new(DECLARATION_MEMORY);
    // Hidden columns are of virtual tables only; generated ones can be read like others.
    let sql = format!("PRAGMA main.table_xinfo({})", quoted(name, '\''));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let place: u32 = row.get("pk")?;
        if place > 0 {
            key.push((place, table.columns.len() as u32));
        }
        declarations.push(row.get("type")?);
        table.columns.push(Column { name: row.get("name")?, ty: ColumnType::Other });
    }
    key.sort_unstable();
    table.primary_key = key.into_iter().map(|(_, column)| column).collect();
    Ok((table, declarations))
}

/// The foreign keys of a table that point to columns there are.
fn declared_keys(
    connection: &Connection,
    schema: &Schema,
    table: TableId,
) -> rusqlite::Result<Vec<ForeignKey>> {
    let sql = format!("PRAGMA main.foreign_key_list({})", quoted(&schema.table(table).name, '\''));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    // By number, as they come in any order; `None` once a part of it leads nowhere.
    let mut keys: Vec<(i64, Option<ForeignKey>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, place): (i64, u32) = (row.get("id")?, row.get("seq")?);
        let (target, from): (String, String) = (row.get("table")?, row.get("from")?);
        let to: Option<String> = row.get("to")?;
        let to = schema.find_table(&target).and_then(|target| match to {
            Some(to) => schema.find_column(target, &to),
            // Without a column it points to the primary key.
            None => {
                let column = *schema.table(target).primary_key.get(place as usize)?;
                Some(ColumnId { table: target, column })
            }
        });
        let part = schema.find_column(table, &from).zip(to);
        if !keys.iter().any(|(known, _)| *known == number) {
            keys.push((number, Some(ForeignKey { columns: Vec::new(), to: Vec::new(), confidence: 1.0 })));
        }
        if let Some((_, key)) = keys.iter_mut().find(|(known, _)| *known == number) {
            match (part, &mut *key) {
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

/// Looks at the first rows of a table.
fn look_at(session: &Session, table: &Table) -> TableProfile {
    let mut columns = vec![ColumnProfile::default(); table.columns.len()];
    let mut rows = 0;
    let sql = format!("SELECT * FROM {} LIMIT {SAMPLE}", quoted(&table.name, '"'));
    let outcome = session.run(&sql, A_LOOK, |row, _| {
        rows += 1;
        for (index, column) in columns.iter_mut().enumerate() {
            column.add(row.get_ref(index).map_err(|error| Fault::Runtime(error.to_string()))?);
        }
        Ok(())
    });
    columns.iter_mut().for_each(ColumnProfile::finish);
    TableProfile { columns, complete: outcome.is_ok() && rows < SAMPLE }
}

/// Which share of some values of `from` are in `to`; `None` if that would take too long to find out.
fn share_looked_up(session: &Session, schema: &Schema, from: ColumnId, to: ColumnId) -> Option<f32> {
    let name = |id: ColumnId| quoted(&schema.column(id).name, '"');
    let table = |id: ColumnId| quoted(&schema.table(id.table).name, '"');
    let sql = format!(
        "SELECT count(*), sum(EXISTS (SELECT 1 FROM {to_table} AS there WHERE there.{to} = here.value)) FROM \
         (SELECT DISTINCT {from} AS value FROM (SELECT {from} FROM {from_table} WHERE {from} IS NOT NULL LIMIT 500) \
         LIMIT {LOOKED_UP}) AS here",
        to_table = table(to),
        to = name(to),
        from = name(from),
        from_table = table(from),
    );
    let mut share = None;
    let counted = session.run(&sql, A_LOOKUP, |row, _| {
        let count = |index| row.get::<_, Option<f32>>(index).ok().flatten();
        share = count(0).zip(count(1)).map(|(all, there)| there / all);
        Ok(())
    });
    counted.ok().and(share)
}
