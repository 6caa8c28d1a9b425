//! The executor of queries on a DuckDB database.

use super::functions::FUNCTIONS;
use super::plan;
use super::session::{RunLimits, Session, Source};
use crate::database::{Answer, DatabaseError, Purpose, QueryLimits};
use crate::{Executor, Fault, Outcome};
use std::sync::Arc;
use std::time::Instant;
use xpr_lang::sql::{self, CheckError, GuardedQuery, Schema, guard};

/// Rows of DuckDB's estimates that take as long as a step of SQLite's machine: DuckDB reads columns, and many rows at once.
const ROWS_A_STEP: f64 = 10.0;
/// Combinations of rows that are few enough to try all of them, so that the query need not be planned twice.
const FEW_COMBINATIONS: f64 = 100_000.0;
/// The bytes that cells take in a message in addition to those that are printed.
const MESSAGE_BYTES_A_CELL: usize = 9;

/// An executor of queries on a DuckDB database. Each thread needs its own.
pub struct DuckDbRunner {
    session: Session,
    schema: Schema,
    /// The estimated rows of each table; infinite for views of which nothing is known.
    rows: Vec<f64>,
    limits: QueryLimits,
    is_checked: bool,
}

impl DuckDbRunner {
    pub(super) fn new(
        source: &Arc<Source>,
        (schema, rows): (Schema, Vec<f64>),
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Self, DatabaseError> {
        let session = Session::open(source, limits.memory)?;
        Ok(DuckDbRunner { session, schema, rows, limits, is_checked })
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

    /// Refuses a query whose plan costs too much. Few rows need no plan.
    fn check_cost(&mut self, query: &GuardedQuery) -> Result<(), Fault> {
        let QueryLimits { steps, time, .. } = self.limits;
        let rows = |table: &sql::TableId| self.rows.get(table.0 as usize).copied().unwrap_or(f64::INFINITY);
        if steps == u64::MAX || query.tables.iter().map(rows).product::<f64>() <= FEW_COMBINATIONS {
            return Ok(());
        }
        let plan = self.session.plan(&query.text, time)?;
        match plan::cost(&plan) {
            Some(cost) if cost > steps as f64 * ROWS_A_STEP => Err(Fault::Limit("cost")),
            _ => Ok(()),
        }
    }

    fn run(&mut self, program: &str, purpose: Purpose) -> Result<Outcome, Fault> {
        let ordered = self.check(program)?;
        let query = self.guarded(program)?;
        self.session.make_ready()?;
        let began = Instant::now();
        self.check_cost(&query)?;
        let mut answer = Answer::new(self.limits, purpose);
        let QueryLimits { time, rows, output, .. } = self.limits;
        let time = time.saturating_sub(began.elapsed());
        let limits = RunLimits { time, rows, output: output.saturating_mul(MESSAGE_BYTES_A_CELL) };
        self.session.run(&query.text, limits, &mut |row| answer.add(row.iter().copied().map(Ok)))?;
        Ok(answer.finish(ordered.unwrap_or(query.ordered)))
    }
}

impl Executor for DuckDbRunner {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program, Purpose::Comparison).unwrap_or_else(Outcome::from)
    }

    fn full_answer(&mut self, program: &str) -> Outcome {
        self.run(program, Purpose::Display).unwrap_or_else(Outcome::from)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        let query = self.guarded(program).ok()?;
        self.session.column_names(&query.text, self.limits.time).ok()
    }
}
