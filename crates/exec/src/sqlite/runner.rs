//! Running queries.

use super::database::Database;
use super::denotation;
use super::error::DatabaseError;
use super::guard::{Allowance, Session};
use super::statement;
use crate::{Executor, Fault, Outcome};
use std::time::Duration;
use xpr_lang::sql::{self, CheckError, Schema};

/// How much one query may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Steps of SQLite's machine, some ten nanoseconds each. They decide, and are the same everywhere.
    pub steps: u64,
    /// Time, for what steps do not see: a slow disk, long texts.
    pub time: Duration,
    /// Bytes that SQLite may allocate on top of what the connection has, which may already have a page cache of two megabytes
    /// or not; a safety net like the clock.
    pub memory: usize,
    /// Rows of the answer.
    pub rows: usize,
    /// Bytes of the printed answer.
    pub output: usize,
}

/// For training: thousands of guesses, each on some hundred thousand rows at most. That many steps take a quarter of the time
/// allowed, so that steps decide; and sorting, which is a single step, is short with what fits into the memory.
impl Default for QueryLimits {
    fn default() -> Self {
        QueryLimits {
            steps: 2_000_000,
            time: Duration::from_millis(200),
            memory: 8 << 20,
            rows: 10_000,
            output: 1 << 20,
        }
    }
}

impl QueryLimits {
    /// For one query somebody waits for, on some million rows.
    pub fn patient() -> Self {
        QueryLimits {
            steps: 200_000_000,
            time: Duration::from_secs(10),
            memory: 256 << 20,
            ..QueryLimits::default()
        }
    }
}

/// What is known of a query before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whether its rows have an order.
    pub ordered: bool,
}

/// Looks at a query before it runs: what it knows of it, nothing if it cannot tell, or why the query must not run.
pub type Check = dyn Fn(&str, &Schema) -> Result<Option<Checked>, Fault> + Send;

/// Runs queries on a database, one after the other. Each thread has its own.
pub struct SqliteRunner {
    session: Session,
    schema: Schema,
    limits: QueryLimits,
    check: Option<Box<Check>>,
}

impl SqliteRunner {
    /// A runner for queries about the tables of `schema`; others are refused.
    ///
    /// # Errors
    /// When the database cannot be opened any more.
    pub fn new(database: &Database, schema: Schema, limits: QueryLimits) -> Result<Self, DatabaseError> {
        let session = Session::open(database, schema.tables.iter().map(|table| table.name.as_str()))?;
        Ok(SqliteRunner { session, schema, limits, check: None })
    }

    /// A runner that finds mistakes before it runs a query, as [`sql::check`](xpr_lang::sql::check()) does: a use of a value as what it certainly
    /// is not is a type error, a name that is not there a run-time error. Queries that the check cannot read run all the same.
    ///
    /// # Errors
    /// When the database cannot be opened any more.
    pub fn checked(database: &Database, schema: Schema, limits: QueryLimits) -> Result<Self, DatabaseError> {
        let check = |text: &str, schema: &Schema| match sql::check(text, schema) {
            Ok(checked) => Ok(Some(Checked { ordered: checked.ordered })),
            Err(CheckError::TypeError(message)) => Err(Fault::Type(message)),
            Err(error @ CheckError::UnknownName(_)) => Err(Fault::Runtime(error.to_string())),
            Err(CheckError::Syntax(_) | CheckError::NotOneSelect | CheckError::NotSupported(_)) => Ok(None),
        };
        Ok(SqliteRunner::new(database, schema, limits)?.with_check(check))
    }

    /// Has every query looked at first; one that is found wrong does not run.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&str, &Schema) -> Result<Option<Checked>, Fault> + Send + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// The tables it reads.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, program: &str) -> Result<Outcome, Fault> {
        let outline =
            statement::outline(program).map_err(|reason| Fault::Runtime(format!("refused: {reason}")))?;
        let checked = match &self.check {
            Some(check) => check(outline.text, &self.schema)?,
            None => None,
        };
        let ordered = checked.map_or(outline.ordered, |checked| checked.ordered);
        let QueryLimits { steps, time, memory, rows: most_rows, output: most_output } = self.limits;
        let mut rows = Vec::new();
        let mut output = 0;
        let mut found = false;
        self.session.run(outline.text, Allowance { steps, time, memory }, |row, columns| {
            if rows.len() == most_rows {
                return Err(Fault::Limit("rows"));
            }
            let mut text = String::from("(");
            for column in 0..columns {
                let cell = row.get_ref(column).map_err(|error| Fault::Runtime(error.to_string()))?;
                found |= cell != rusqlite::types::ValueRef::Null;
                if column > 0 {
                    text.push(' ');
                }
                denotation::print_cell(&mut text, cell);
                if output + text.len() > most_output {
                    return Err(Fault::Limit("output"));
                }
            }
            text.push(')');
            output += text.len() + 1;
            rows.push(text);
            Ok(())
        })?;
        Ok(if found { Outcome::Value(denotation::print_rows(rows, ordered)) } else { Outcome::Empty })
    }
}

impl Executor for SqliteRunner {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program).unwrap_or_else(Outcome::from)
    }
}
