//! What reading the schema of a database returns, whatever its engine.

use std::fmt;
use std::ops::ControlFlow;
use xpr_lang::sql::Schema;

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
