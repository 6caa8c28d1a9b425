//! What reading the schema of a database returns, whatever its engine.

use super::error::DatabaseError;
use super::foreign_keys::{TableProfile, infer};
use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};

/// The progress of reading a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingProgress<'a> {
    /// The table that is read next.
    pub table: &'a str,
    /// The number of tables read before it.
    pub done: usize,
    /// The number of all tables.
    pub total: usize,
}

/// A function that is called before each table is read. It stops the reading by returning [`ControlFlow::Break`].
pub type ProgressCallback<'p> = dyn FnMut(ReadingProgress<'_>) -> ControlFlow<()> + 'p;

/// The characters of a name in a note.
const SHOWN_NAME: usize = 60;
/// The columns that a note names.
const SHOWN_COLUMNS: usize = 5;
/// The tables that have a note of their own.
const SHOWN_TABLES: usize = 20;

/// A table or view, or some of its columns, that are not part of the schema because they cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutTable {
    /// The name. What is not UTF-8 is replaced.
    pub name: String,
    /// The columns that are left out; all of them if there are none.
    pub columns: Vec<String>,
    /// Why it cannot be read; of several columns, the first.
    pub reason: String,
}

impl LeftOutTable {
    /// Returns a note that the whole table is left out.
    pub(crate) fn whole(name: String, reason: String) -> LeftOutTable {
        LeftOutTable { name, columns: vec![], reason }
    }
}

impl fmt::Display for LeftOutTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOutTable { name, columns, reason } = self;
        let name = shown(name);
        match columns.as_slice() {
            [] => write!(f, "the table {name} is left out: {reason}"),
            [column] => write!(f, "the column {} of {name} is left out: {reason}", shown(column)),
            _ => {
                let names: Vec<Cow<'_, str>> =
                    columns.iter().take(SHOWN_COLUMNS).map(|name| shown(name)).collect();
                write!(f, "{} columns of {name} are left out ({}", columns.len(), names.join(", "))?;
                f.write_str(if columns.len() > SHOWN_COLUMNS { ", …" } else { "" })?;
                write!(f, "): {reason}")
            }
        }
    }
}

/// Returns the beginning of a name that is too long for a note.
fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(SHOWN_NAME) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

/// The schema of a database, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSchema {
    /// The schema.
    pub schema: Schema,
    /// The declared types of the columns of each table.
    pub declared_types: Vec<Vec<String>>,
    /// The tables, views and columns that cannot be read. Virtual tables are not among them.
    pub left_out: Vec<LeftOutTable>,
}

/// Samples of tables, by which types and foreign keys that nobody declared are inferred.
pub(crate) trait TableSamples {
    /// Reads the sample of a table. Returns what it says about the columns, and their types.
    fn profile(&mut self, schema: &Schema, table: TableId) -> (TableProfile, Vec<ColumnType>);

    /// Returns the share of some values of `from` that are in `to`; `None` if looking them up takes too long.
    fn looked_up_share(&mut self, schema: &Schema, from: ColumnId, to: ColumnId) -> Option<f32>;
}

impl ReadSchema {
    /// Returns notes for users about what is left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.left_out.iter().take(SHOWN_TABLES).map(ToString::to_string).collect();
        if self.left_out.len() > SHOWN_TABLES {
            let more = self.left_out.len() - SHOWN_TABLES;
            notes.push(format!("so are {more} more tables, or columns of them"));
        }
        notes
    }

    /// Adds the types of columns and the foreign keys that samples of the tables show to what a database declares.
    ///
    /// # Errors
    /// If `progress`, which is called before each table, stops the reading.
    pub(crate) fn with_inferred(
        mut self,
        samples: &mut dyn TableSamples,
        database: impl FnOnce() -> String,
        progress: &mut ProgressCallback<'_>,
    ) -> Result<ReadSchema, DatabaseError> {
        let total = self.schema.tables.len();
        let mut profiles = Vec::with_capacity(total);
        for done in 0..total {
            let table = &self.schema.tables[done].name;
            if progress(ReadingProgress { table, done, total }).is_break() {
                return Err(DatabaseError::Cancelled { database: database() });
            }
            let (profile, types) = samples.profile(&self.schema, TableId(done as u32));
            for (column, ty) in self.schema.tables[done].columns.iter_mut().zip(types) {
                column.ty = ty;
            }
            profiles.push(profile);
        }
        let names = self.schema.clone();
        let mut look_up = |from, to| samples.looked_up_share(&names, from, to);
        infer(&mut self.schema, &profiles, &mut look_up);
        Ok(self)
    }
}
