//! The executor of queries on a DuckDB database.

use super::functions::FUNCTIONS;
use super::session::{RunLimits, Session, Source};
use crate::database::{Answer, DatabaseError, QueryLimits};
use crate::{Executor, Fault, Outcome};
use std::sync::Arc;
use xpr_lang::sql::{self, CheckError, GuardedQuery, Schema, guard};

/// The bytes that cells take in a message in addition to those that are printed.
const MESSAGE_BYTES_A_CELL: usize = 9;

/// An executor of queries on a DuckDB database. Each thread needs its own.
pub struct DuckDbRunner {
    session: Session,
    schema: Schema,
    limits: QueryLimits,
    is_checked: bool,
}

impl DuckDbRunner {
    pub(super) fn new(
        source: &Arc<Source>,
        schema: Schema,
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Self, DatabaseError> {
        let session = Session::open(source, limits.memory)?;
        Ok(DuckDbRunner { session, schema, limits, is_checked })
    }

    /// Checks a query as far as that is possible without running it. Returns whether its rows have an order.
    fn check(&self, program: &str) -> Result<Option<bool>, Fault> {
        if !self.is_checked {
            return Ok(None);
        }
        match sql::check(program, &self.schema) {
            Ok(checked) => Ok(Some(checked.ordered)),
            Err(CheckError::TypeError(message)) => Err(Fault::Type(message)),
            Err(error @ CheckError::UnknownName(_)) => Err(Fault::Runtime(error.to_string())),
            Err(CheckError::Syntax(_) | CheckError::NotOneSelect | CheckError::NotSupported(_)) => Ok(None),
        }
    }

    fn guarded(&self, program: &str) -> Result<GuardedQuery, Fault> {
        guard(program, &self.schema, &FUNCTIONS).map_err(|error| Fault::Runtime(error.to_string()))
    }

    fn run(&mut self, program: &str) -> Result<Outcome, Fault> {
        let ordered = self.check(program)?;
        let query = self.guarded(program)?;
        let mut answer = Answer::new(self.limits);
        let QueryLimits { time, rows, output, .. } = self.limits;
        let limits = RunLimits { time, rows, output: output.saturating_mul(MESSAGE_BYTES_A_CELL) };
        self.session.run(&query.text, limits, &mut |row| answer.add(row.iter().copied().map(Ok)))?;
        Ok(answer.finish(ordered.unwrap_or(query.ordered)))
    }
}

impl Executor for DuckDbRunner {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program).unwrap_or_else(Outcome::from)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        let query = self.guarded(program).ok()?;
        self.session.column_names(&query.text, self.limits.time).ok()
    }
}
