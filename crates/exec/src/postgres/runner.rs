//! The executor of queries on a server.

use super::catalog::TableDetails;
use super::cells::ReadCell;
use super::functions::FUNCTIONS;
use super::session::{Server, Session};
use super::transaction::{Allowance, PlanCheck, QueryToRun, RunError};
use crate::database::Cell;
use crate::database::{DatabaseError, QueryLimits, print_cell, print_rows};
use crate::{Executor, Fault, Outcome};
use std::sync::Arc;
use xpr_lang::sql::{self, CheckError, GuardedQuery, Schema, TableId, guard};

/// Steps of SQLite's machine that cost as much as one unit of PostgreSQL's estimates, which is reading a page.
const STEPS_A_UNIT: u64 = 40;
/// Combinations of rows that are few enough to try all of them, so that the server need not be asked for its plan.
const FEW_COMBINATIONS: f64 = 100_000.0;
/// The estimated bytes that a query may join to one text.
const JOINED_TEXT: f64 = (8 << 20) as f64;
/// How often a query is tried whose connection ends while it runs. The query may be the reason.
const ATTEMPTS: usize = 3;

/// An executor of queries on a server. Each thread needs its own.
pub struct PostgresRunner {
    session: Session,
    server: Arc<Server>,
    schema: Schema,
    /// What is known of each table of the schema.
    tables: Vec<Option<TableDetails>>,
    limits: QueryLimits,
    is_checked: bool,
}

impl PostgresRunner {
    pub(super) fn new(
        server: &Arc<Server>,
        (schema, tables): (Schema, Vec<Option<TableDetails>>),
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Self, DatabaseError> {
        let session = Session::open(server)?;
        Ok(PostgresRunner { session, server: Arc::clone(server), schema, tables, limits, is_checked })
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

    fn details(&self, table: &TableId) -> Option<&TableDetails> {
        self.tables.get(table.0 as usize)?.as_ref()
    }

    /// Returns whether a query is so small that its cost need not be estimated.
    fn is_small(&self, query: &GuardedQuery) -> bool {
        let rows = |table| self.details(table).map_or(f64::INFINITY, |details| details.rows);
        !query.joins_texts && query.tables.iter().map(rows).product::<f64>() <= FEW_COMBINATIONS
    }

    /// Returns what the server may use for a query.
    fn allowance(&self, query: &GuardedQuery) -> Allowance {
        Allowance { time: self.limits.time, memory: self.limits.memory / query.tables.len().max(1) }
    }

    fn run(&mut self, program: &str) -> Result<Outcome, Fault> {
        let ordered = self.check(program)?;
        let query = self.guarded(program)?;
        let ordered = ordered.unwrap_or(query.ordered);
        let steps = self.limits.steps;
        let needs_plan = !self.is_small(&query) && steps != u64::MAX;
        let allowance = self.allowance(&query);
        let check = |plan: &str| check_plan(plan, steps, query.joins_texts);
        let plan_check: Option<&PlanCheck<'_>> = if needs_plan { Some(&check) } else { None };
        let has_own_types = |table| self.details(table).is_none_or(|details| details.has_own_types);
        let sent = QueryToRun {
            sql: &query.text,
            // One more shows that there are too many.
            rows: Some(self.limits.rows.saturating_add(1)),
            has_own_types: query.tables.iter().any(has_own_types),
        };
        for _ in 0..ATTEMPTS {
            if let Some(reason) = self.server.loss() {
                return Err(Fault::Runtime(format!("the server is gone: {reason}")));
            }
            let mut answer = Answer { limits: self.limits, rows: Vec::new(), output: 0, is_empty: true };
            let run = self
                .session
                .run(&sent, allowance, plan_check, &mut |row| answer.add(row.iter().map(ReadCell::cell)));
            match run {
                Ok(()) if answer.is_empty => return Ok(Outcome::Empty),
                Ok(()) => return Ok(Outcome::Value(print_rows(answer.rows, ordered))),
                Err(RunError::Fault(fault) | RunError::Unread(fault)) => return Err(fault),
                Err(RunError::Lost(reason)) => _ = self.session.wait_for_server(&reason),
            }
        }
        Err(Fault::Runtime("the connection to the server ended while the query ran".to_owned()))
    }
}

/// An answer while it is read.
struct Answer {
    limits: QueryLimits,
    rows: Vec<String>,
    output: usize,
    /// An answer is empty if it has no cell but NULLs: `max` of no rows is a row with NULL.
    is_empty: bool,
}

impl Answer {
    fn add<'c>(&mut self, cells: impl Iterator<Item = Cell<'c>>) -> Result<(), Fault> {
        if self.rows.len() == self.limits.rows {
            return Err(Fault::Limit("rows"));
        }
        let mut text = String::from("(");
        for (column, cell) in cells.enumerate() {
            self.is_empty &= cell == Cell::Null;
            if column > 0 {
                text.push(' ');
            }
            print_cell(&mut text, cell);
            if self.output + text.len() > self.limits.output {
                return Err(Fault::Limit("output"));
            }
        }
        text.push(')');
        self.output += text.len() + 1;
        self.rows.push(text);
        Ok(())
    }
}

/// Checks what a plan in JSON costs: that of its first node is that of all of it.
fn check_plan(plan: &str, steps: u64, joins_texts: bool) -> Result<(), Fault> {
    let numbers = |key: &str| {
        let key = format!("\"{key}\": ");
        let starts: Vec<usize> = plan.match_indices(&key).map(|(at, _)| at + key.len()).collect();
        starts.into_iter().filter_map(move |start| {
            let rest = &plan[start..];
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            rest[..end].parse::<f64>().ok()
        })
    };
    if numbers("Total Cost").next().is_some_and(|cost| cost > (steps / STEPS_A_UNIT) as f64) {
        return Err(Fault::Limit("cost"));
    }
    let bytes = numbers("Plan Rows").zip(numbers("Plan Width")).map(|(rows, width)| rows * width);
    if joins_texts && bytes.fold(0.0, f64::max) > JOINED_TEXT {
        return Err(Fault::Limit("memory"));
    }
    Ok(())
}

impl Executor for PostgresRunner {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program).unwrap_or_else(Outcome::from)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        let query = self.guarded(program).ok()?;
        let allowance = self.allowance(&query);
        self.session.column_names(&query.text, allowance).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_judged_by_their_first_cost_and_their_largest_node() {
        let plan = r#"[{"Plan": {"Node Type": "Aggregate", "Startup Cost": 1.00, "Total Cost": 900.25, "Plan Rows": 1, "Plan Width": 32,
            "Plans": [{"Total Cost": 5000.00, "Plan Rows": 1000000, "Plan Width": 100}]}}]"#;
        assert_eq!(check_plan(plan, 40_000, false), Ok(()));
        assert_eq!(check_plan(plan, 30_000, false), Err(Fault::Limit("cost")));
        assert_eq!(check_plan(plan, 40_000, true), Err(Fault::Limit("memory")));
    }
}
