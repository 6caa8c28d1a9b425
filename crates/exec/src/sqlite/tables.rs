//! Reading the schema of a database: tables, types of columns, and foreign keys.
//!
//! Names, primary keys and declared foreign keys come from SQLite. The types of columns come from the first [`SAMPLE`]
//! rows of each table, so that a million rows take no longer than five thousand. Rows are read by a guarded statement like
//! any other, as a view in the file may be hostile. If reading a view takes too long, only the rows before that count.
//!
//! SQLite's internal tables are not part of the schema. Neither are virtual tables and the tables that store their data,
//! because reading those runs code that the file chooses. What no query can read is left out with a note.

use super::database::{LONGEST_STATEMENT, LONGEST_TEXT, SqliteDatabase};
use crate::database::DatabaseError;
use crate::database::{
    Cell, ColumnProfile, LeftOutTable, ProgressCallback, ReadSchema, TableProfile, TableSamples, failure,
};

use super::guard::{Allowance, REFUSED, Session};
use super::memory::Budget;
use super::patience::Patience;
use crate::Fault;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use rustc_hash::FxHashMap;

use std::mem;
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
/// The maximum bytes of the name of a table or column. The work for a name grows with it.
const LONGEST_NAME: usize = 1 << 10;
/// The maximum number of columns of all tables. A small file can have views with millions.
const MOST_COLUMNS: usize = 50_000;

/// The modules of virtual tables that SQLite has, and the endings of the names of the tables that store their data.
const MODULES: [(&str, &[&str]); 6] = [
    ("fts3", &["content", "docsize", "segdir", "segments", "stat"]),
    ("fts4", &["content", "docsize", "segdir", "segments", "stat"]),
    ("fts5", &["config", "content", "data", "docsize", "idx"]),
    ("fts5vocab", &[]),
    ("rtree", &["node", "parent", "rowid"]),
    ("rtree_i32", &["node", "parent", "rowid"]),
];

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
        let (declared, session) = self.declared()?;
        let mut samples = Samples {
            session,
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
        Ok(self.declared()?.0)
    }

    /// Returns what the database declares, and a session that can read it.
    fn declared(&self) -> Result<(ReadSchema, Session), DatabaseError> {
        let connection = self.connect()?;
        let mut declared = {
            let _metered = connection.limit_time();
            declared_tables(&connection).map_err(|error| self.explain(&error))?
        };
        let tables = declared.schema.tables.iter().map(|table| table.name.as_str());
        let session = Session::open(self, tables)?;
        leave_out_unreadable(&mut declared, &session);
        if declared.schema.tables.is_empty() {
            let (path, left_out) = (self.path().to_owned(), declared.left_out);
            return Err(match left_out.is_empty() {
                true => DatabaseError::NoTables { path },
                false => DatabaseError::AllLeftOut { path, left_out },
            });
        }
        {
            let _metered = connection.limit_time();
            add_declared_keys(&connection, &mut declared.schema).map_err(|error| self.explain(&error))?;
        }
        Ok((declared, session))
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

/// A statement that selects something of some columns of a table.
pub(super) struct ColumnStatement {
    /// The columns, by index.
    pub(super) columns: Vec<usize>,
    pub(super) sql: String,
}

/// Returns statements that select an expression for the name of each column: one, or several if it would be too long.
fn column_statements(
    table: &Table,
    columns: &[usize],
    ending: &str,
    expression: impl Fn(&str) -> String,
) -> Vec<ColumnStatement> {
    let end = format!(" FROM {}{ending}", quoted(&table.name, '"'));
    let mut statements: Vec<ColumnStatement> = Vec::new();
    for &column in columns {
        let selected = expression(&quoted(&table.columns[column].name, '"'));
        match statements.last_mut() {
            Some(last) if last.sql.len() + selected.len() + 2 + end.len() <= LONGEST_STATEMENT as usize => {
                last.columns.push(column);
                last.sql.push_str(", ");
                last.sql.push_str(&selected);
            }
            _ => {
                statements.push(ColumnStatement { columns: vec![column], sql: format!("SELECT {selected}") });
            }
        }
    }
    statements.iter_mut().for_each(|statement| statement.sql.push_str(&end));
    statements
}

/// Reads columns of a table with as many statements as it takes. `expression` returns what is selected for the name of a column.
/// If a statement meets a cell of more than [`LONGEST_TEXT`] bytes, it is read again with NULL for what depends on such a cell:
/// what `expression` passed to its second argument. Returns the first fault, and whether there are such cells.
pub(super) fn read_columns(
    table: &Table,
    columns: &[usize],
    ending: &str,
    expression: impl Fn(&str, &dyn Fn(&str) -> String) -> String,
    mut read: impl FnMut(&ColumnStatement) -> Result<(), Fault>,
) -> (Result<(), Fault>, bool) {
    let of_any_cell = |name: &str| expression(name, &str::to_owned);
    // SQLite knows the size of a cell without reading it.
    let of_small_cell = |name: &str| {
        expression(name, &|value| {
            format!("CASE WHEN octet_length({name}) <= {LONGEST_TEXT} THEN {value} END")
        })
    };
    let (mut first, mut has_oversized_cells) = (Ok(()), false);
    for statement in column_statements(table, columns, ending, of_any_cell) {
        let mut outcome = read(&statement);
        if outcome == Err(OVERSIZED) {
            outcome = Ok(());
            for statement in column_statements(table, &statement.columns, ending, of_small_cell) {
                let again = read(&statement);
                // A view can be too large itself, whatever its cells are.
                has_oversized_cells |= again != Err(OVERSIZED);
                outcome = outcome.and(again);
            }
        }
        first = first.and(outcome);
    }
    (first, has_oversized_cells)
}

/// Returns the declared tables without their keys, with [`ColumnType::Other`] for every column.
fn declared_tables(connection: &Connection) -> rusqlite::Result<ReadSchema> {
    let mut declared = ReadSchema { schema: Schema::default(), declared_types: vec![], left_out: vec![] };
    let listed = listed_tables(connection, &mut declared.left_out)?;
    let virtual_tables: FxHashMap<&str, Option<&[&str]>> = listed
        .iter()
        .filter_map(|listed| {
            Some((listed.name.as_str(), stored_endings(listed.virtual_declaration.as_deref()?)))
        })
        .collect();
    let mut columns = 0;
    for name in listed.iter().map(|listed| &listed.name) {
        let reason = match storage(name, &virtual_tables) {
            Storage::Virtual => continue,
            Storage::Unknown(owner) => {
                Some(format!("it may store the data of the virtual table {owner}; rename it if it does not"))
            }
            Storage::Ordinary if name.len() > LONGEST_NAME => Some(long_name()),
            Storage::Ordinary => None,
        };
        // A view whose tables are gone, or that contains itself, or a name of a column that is not UTF-8.
        match reason.map_or_else(|| declared_table(connection, name), Err) {
            Ok((table, types)) if columns + table.columns.len() <= MOST_COLUMNS => {
                columns += table.columns.len();
                if !table.columns.is_empty() {
                    declared.schema.tables.push(table);
                    declared.declared_types.push(types);
                }
            }
            Ok(_) => {
                let reason = format!("the tables of the database have more than {MOST_COLUMNS} columns");
                declared.left_out.push(LeftOutTable::whole(name.clone(), reason));
            }
            Err(reason) => declared.left_out.push(LeftOutTable::whole(name.clone(), reason)),
        }
    }
    Ok(declared)
}

/// A table or view in the schema of a file.
struct ListedTable {
    name: String,
    /// The declaration of a virtual table; none for others.
    virtual_declaration: Option<String>,
}

/// Returns the tables and views.
fn listed_tables(
    connection: &Connection,
    left_out: &mut Vec<LeftOutTable>,
) -> rusqlite::Result<Vec<ListedTable>> {
    // A virtual table has no root page.
    let mut statement = connection.prepare(
        "SELECT name, CASE WHEN type = 'table' AND coalesce(rootpage, 0) = 0 THEN coalesce(sql, '') END \
         FROM sqlite_schema \
         WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    let mut listed = Vec::new();
    while let Some(row) = rows.next()? {
        let virtual_declaration = match row.get_ref(1)? {
            ValueRef::Null => None,
            declaration => Some(text(declaration).unwrap_or_else(|shown| shown)),
        };
        match text(row.get_ref(0)?) {
            Ok(name) => listed.push(ListedTable { name, virtual_declaration }),
            Err(name) => {
                left_out.push(LeftOutTable::whole(name, "its name is not UTF-8; rename it".to_owned()));
            }
        }
    }
    Ok(listed)
}

/// What a table has to do with virtual tables.
enum Storage<'n> {
    /// Nothing.
    Ordinary,
    /// It is one, or stores the data of one.
    Virtual,
    /// It may store the data of this one, whose module SQLite does not have.
    Unknown(&'n str),
}

/// Returns what a table has to do with virtual tables, of which the endings of the tables that store their data are given.
/// `PRAGMA table_list` knows this too, but runs the modules of all virtual tables.
fn storage<'n>(name: &str, virtual_tables: &FxHashMap<&'n str, Option<&[&str]>>) -> Storage<'n> {
    if virtual_tables.contains_key(name) {
        return Storage::Virtual;
    }
    let mut storage = Storage::Ordinary;
    for (at, _) in name.match_indices('_') {
        match virtual_tables.get_key_value(&name[..at]) {
            Some((_, Some(endings)))
                if endings.iter().any(|ending| name[at + 1..].eq_ignore_ascii_case(ending)) =>
            {
                return Storage::Virtual;
            }
            Some((owner, None)) => storage = Storage::Unknown(owner),
            _ => {}
        }
    }
    storage
}

/// Returns the endings of the names of the tables that store the data of a virtual table; none if its module is not one of
/// SQLite's.
fn stored_endings(declaration: &str) -> Option<&'static [&'static str]> {
    // SQLite stores `CREATE VIRTUAL TABLE`, and after that what was written: the name, `USING` and the module.
    let (_, rest) = first_name(declaration.get("CREATE VIRTUAL TABLE".len()..)?)?;
    let (using, rest) = first_name(rest)?;
    let (module, _) = first_name(rest)?;
    let known = MODULES.iter().find(|(known, _)| known.eq_ignore_ascii_case(module));
    known.filter(|_| using.eq_ignore_ascii_case("using")).map(|&(_, endings)| endings)
}

/// Splits SQL after a name at its beginning. Returns the name without quotes, and the rest.
fn first_name(sql: &str) -> Option<(&str, &str)> {
    let sql = sql.trim_start();
    let quote = sql.chars().next().filter(|&c| matches!(c, '"' | '\'' | '`' | '['));
    let Some(quote) = quote else {
        let end = sql.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(sql.len());
        return Some(sql.split_at(end));
    };
    let closing = if quote == '[' { ']' } else { quote };
    let mut at = 1;
    loop {
        at += sql[at..].find(closing)?;
        // Two closing quotes are one in the name, except after a bracket.
        if closing == ']' || !sql[at + 1..].starts_with(closing) {
            return Some((&sql[1..at], &sql[at + 1..]));
        }
        at += 2;
    }
}

/// Returns the reason why a table or column with a long name is left out.
fn long_name() -> String {
    format!("its name has more than {LONGEST_NAME} bytes; rename it")
}

/// Leaves out what cannot be read: columns with long names, and columns and views that SQLite cannot read. A view that only the
/// rules for queries refuse, such as one that calls `printf`, stays: a parser that was trained with it needs it.
fn leave_out_unreadable(declared: &mut ReadSchema, session: &Session) {
    let mut patience = Patience::new(SAMPLE_LIMITS, STOPPED_SAMPLES);
    let mut refusal = |sql: &str| {
        let outcome = session.column_names(sql, patience.allowance()).map(|_| ());
        patience.record(&outcome);
        failure(outcome)
    };
    let tables = mem::take(&mut declared.schema.tables);
    for (mut table, mut types) in tables.into_iter().zip(mem::take(&mut declared.declared_types)) {
        let mut reasons: Vec<Option<String>> =
            table.columns.iter().map(|column| (column.name.len() > LONGEST_NAME).then(long_name)).collect();
        let named: Vec<usize> = (0..reasons.len()).filter(|&column| reasons[column].is_none()).collect();
        let all = column_statements(&table, &named, "", str::to_owned);
        if all.iter().any(|statement| refusal(&statement.sql).is_some()) {
            match refusal(&format!("SELECT 1 FROM {}", quoted(&table.name, '"'))) {
                // Reading its values fails, which is noted.
                Some(reason) if reason.starts_with(REFUSED) => {}
                Some(reason) => {
                    declared.left_out.push(LeftOutTable::whole(table.name, reason));
                    continue;
                }
                None => {
                    for column in named {
                        let statements = column_statements(&table, &[column], "", str::to_owned);
                        reasons[column] = statements.iter().find_map(|statement| refusal(&statement.sql));
                    }
                }
            }
        }
        if let Some(reason) = reasons.iter().flatten().next().cloned() {
            let is_kept: Vec<bool> = reasons.iter().map(Option::is_none).collect();
            let columns = without_columns(&mut table, &mut types, &is_kept);
            let (name, is_whole) = (table.name.clone(), table.columns.is_empty());
            let columns = if is_whole { vec![] } else { columns };
            declared.left_out.push(LeftOutTable { name, columns, reason });
        }
        if !table.columns.is_empty() {
            declared.schema.tables.push(table);
            declared.declared_types.push(types);
        }
    }
}

/// Removes columns from a table that has no foreign keys yet, and returns their names.
fn without_columns(table: &mut Table, types: &mut Vec<String>, is_kept: &[bool]) -> Vec<String> {
    let mut new_index = 0;
    let new_indices: Vec<Option<u32>> = is_kept
        .iter()
        .map(|&is_kept| {
            new_index += u32::from(is_kept);
            is_kept.then(|| new_index - 1)
        })
        .collect();
    // Without one of its columns, it is no key.
    let key: Option<Vec<u32>> =
        table.primary_key.iter().map(|&column| new_indices[column as usize]).collect();
    table.primary_key = key.unwrap_or_default();
    let mut kept = is_kept.iter();
    types.retain(|_| *kept.next().unwrap_or(&true));
    let (columns, removed): (Vec<_>, Vec<_>) =
        mem::take(&mut table.columns).into_iter().zip(is_kept).partition(|(_, is_kept)| **is_kept);
    table.columns = columns.into_iter().map(|(column, _)| column).collect();
    removed.into_iter().map(|(column, _)| column.name).collect()
}

/// Adds the declared foreign keys that point to existing columns.
fn add_declared_keys(connection: &Connection, schema: &mut Schema) -> rusqlite::Result<()> {
    for index in 0..schema.tables.len() {
        schema.tables[index].foreign_keys = declared_keys(connection, schema, TableId(index as u32))?;
    }
    Ok(())
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
        let indices: Vec<usize> = (0..table.columns.len()).collect();
        let mut columns = vec![ColumnProfile::default(); indices.len()];
        let mut rows = 0;
        let (session, patience) = (&self.session, &mut self.patience);
        let limit = format!(" LIMIT {SAMPLE}");
        let (outcome, _) = read_columns(
            table,
            &indices,
            &limit,
            |name, small| small(name),
            |statement| {
                for &column in &statement.columns {
                    columns[column] = ColumnProfile::default();
                }
                rows = 0;
                let outcome = session.run(&statement.sql, patience.allowance(), |row, _| {
                    rows += 1;
                    for (index, &column) in statement.columns.iter().enumerate() {
                        let value = row.get_ref(index).map_err(|error| Fault::Runtime(error.to_string()))?;
                        columns[column].add(cell(value));
                    }
                    Ok(())
                });
                patience.record(&outcome);
                outcome
            },
        );
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
