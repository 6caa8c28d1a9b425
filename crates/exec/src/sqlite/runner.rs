//! The executor of SQL queries.

use super::database::SqliteDatabase;
use super::guard::{Allowance, Session};
use crate::database::DatabaseError;
use crate::database::{Answer, Purpose, QueryLimits, outline};

use crate::{Executor, Fault, Outcome};
use xpr_lang::sql::{self, CheckError, Schema};

/// What a [`QueryCheck`] finds out about a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryFacts {
    /// Whether the order of the rows is part of the answer.
    pub ordered: bool,
}

/// A check of a query before it runs. It returns what it found out, `None` if it does not understand the query, or the
/// reason why the query must not run.
pub type QueryCheck = dyn Fn(&str, &Schema) -> Result<Option<QueryFacts>, Fault> + Send;

/// An executor of queries on a database. Each thread needs its own.
pub struct SqliteRunner {
    session: Session,
    schema: Schema,
    limits: QueryLimits,
    check: Option<Box<QueryCheck>>,
}

impl SqliteRunner {
    /// Returns a runner for queries on the tables of `schema`. Queries that read other tables are refused.
    ///
    /// # Errors
    /// If the database can no longer be opened.
    pub fn new(
        database: &SqliteDatabase,
        schema: Schema,
        limits: QueryLimits,
    ) -> Result<Self, DatabaseError> {
        let session = Session::open(database, schema.tables.iter().map(|table| table.name.as_str()))?;
        Ok(SqliteRunner { session, schema, limits, check: None })
    }

    /// Returns a runner that first checks each query with [`sql::check`](xpr_lang::sql::check()). Certain mistakes are
    /// type errors, and unknown names are run-time errors. Queries that the check does not understand are run.
    ///
    /// # Errors
    /// If the database can no longer be opened.
    pub fn checked(
        database: &SqliteDatabase,
        schema: Schema,
        limits: QueryLimits,
    ) -> Result<Self, DatabaseError> {
        let check = |text: &str, schema: &Schema| match sql::check(text, schema) {
            Ok(checked) => Ok(Some(QueryFacts { ordered: checked.ordered })),
            Err(CheckError::TypeError(message)) => Err(Fault::Type(message)),
            Err(error @ CheckError::UnknownName(_)) => Err(Fault::Runtime(error.to_string())),
            Err(CheckError::Syntax(_) | CheckError::NotOneSelect | CheckError::NotSupported(_)) => Ok(None),
        };
        Ok(SqliteRunner::new(database, schema, limits)?.with_check(check))
    }

    /// Adds a check of each query. A query for which it returns an error does not run.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&str, &Schema) -> Result<Option<QueryFacts>, Fault> + Send + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Returns the tables that queries can read.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, program: &str, purpose: Purpose) -> Result<Outcome, Fault> {
        let outline = outline(program).map_err(|reason| Fault::Runtime(format!("refused: {reason}")))?;
        let facts = match &self.check {
            Some(check) => check(outline.text, &self.schema)?,
            None => None,
        };
        let ordered = facts.map_or(outline.ordered, |facts| facts.ordered);
        let QueryLimits { steps, time, memory, .. } = self.limits;
        let mut answer = Answer::new(self.limits, purpose);
        self.session.run(outline.text, Allowance { steps, time, memory }, |row, columns| {
            answer.add((0..columns).map(|column| match row.get_ref(column) {
                Ok(cell) => Ok(super::tables::cell(cell)),
                Err(error) => Err(Fault::Runtime(error.to_string())),
            }))
        })?;
        Ok(answer.finish(ordered))
    }
}

impl Executor for SqliteRunner {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program, Purpose::Comparison).unwrap_or_else(Outcome::from)
    }

    fn full_answer(&mut self, program: &str) -> Outcome {
        self.run(program, Purpose::Display).unwrap_or_else(Outcome::from)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        let outline = outline(program).ok()?;
        let QueryLimits { steps, time, memory, .. } = self.limits;
        self.session.column_names(outline.text, Allowance { steps, time, memory }).ok()
    }
}
