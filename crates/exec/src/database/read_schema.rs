//! What reading the schema of a database returns, whatever its engine.

use super::error::DatabaseError;
use super::foreign_keys::{TableProfile, infer};
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

/// A table or view that is not part of the schema, because it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutTable {
    /// The name. What is not UTF-8 is replaced.
    pub name: String,
    /// Why it cannot be read.
    pub reason: String,
}

impl fmt::Display for LeftOutTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the table {} is left out: {}", self.name, self.reason)
    }
}

/// The schema of a database, as far as it can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSchema {
    /// The schema.
    pub schema: Schema,
    /// The declared types of the columns of each table.
    pub declared_types: Vec<Vec<String>>,
    /// The tables and views that cannot be read. Virtual tables are not among them.
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
