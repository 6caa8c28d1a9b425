//! The executor of queries on a server.

use super::catalog::{TableDetails, qualified};
use super::cells::ReadCell;
use super::functions::FUNCTIONS;
use super::session::{QueryToSend, Server, Session};
use super::transaction::{Allowance, RunError};
use crate::database::{Answer, DatabaseError, Purpose, QueryLimits};
use crate::{Executor, Fault, Outcome};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::time::Duration;
use xpr_lang::sql::{self, CheckError, GuardedQuery, Schema, TableId, guard};

/// Steps of SQLite's machine that cost as much as one unit of PostgreSQL's estimates, which is reading a page.
const STEPS_A_UNIT: u64 = 40;
/// Combinations of rows that are few enough to try all of them, so that the server need not be asked for its plan.
const FEW_COMBINATIONS: f64 = 100_000.0;
/// The bytes by which a query may exceed the limit of its memory.
const EXCESS: usize = 64 << 20;
/// The most bytes that a server gathers in memory in a second: of rows with long cells, and of others.
const LONG_CELLS_A_SECOND: f64 = (8_u64 << 30) as f64;
const ROWS_A_SECOND: f64 = (2_u64 << 30) as f64;
/// How much smaller rows may be in a table than in memory: those with long cells, which are compressed, and others.
const LONG_CELLS: f64 = 50.0;
const SHORT_CELLS: f64 = 4.0;
/// The bytes of a row in memory besides its cells.
const ROW_OVERHEAD: f64 = 200.0;
/// The estimated bytes that a query may join to one text.
const JOINED_TEXT: f64 = (8 << 20) as f64;
/// How often a query is tried whose connection ends while it runs. The query may be the reason.
const ATTEMPTS: usize = 3;
/// The most queries that are sent together.
const SENT_TOGETHER: usize = 30;
/// The time for learning the types of a table.
const TYPES_TIME: Duration = Duration::from_secs(5);

/// An executor of queries on a server. Each thread needs its own.
pub struct PostgresRunner {
    pub(super) session: Session,
    server: Arc<Server>,
    schema: Schema,
    /// What is known of each table of the schema.
    tables: Vec<Option<TableDetails>>,
    limits: QueryLimits,
    is_checked: bool,
    /// The tables whose types the driver knows, on the connection of this number.
    learned: (u64, FxHashSet<TableId>),
}

impl PostgresRunner {
    pub(super) fn new(
        server: &Arc<Server>,
        (schema, tables): (Schema, Vec<Option<TableDetails>>),
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Self, DatabaseError> {
        let session = Session::open(server)?;
        let (server, learned) = (Arc::clone(server), (0, FxHashSet::default()));
        Ok(PostgresRunner { session, server, schema, tables, limits, is_checked, learned })
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

    /// Returns what the server may use for a query. It gives each sort and each hash table the same memory, but some things it
    /// gathers in memory whatever there is, so that a query which does gets no more time than fills the memory.
    fn allowance(&self, query: &GuardedQuery) -> Allowance {
        let QueryLimits { time, memory, .. } = self.limits;
        // The constants of a query are part of its text.
        let constants = |are_narrow| if are_narrow { 0 } else { query.text.len() };
        let rows = query.gathered.iter().map(|rows| self.largest(&rows.tables, constants(rows.are_narrow)));
        let texts = query.joins_texts.then(|| Gathered {
            bytes_a_second: LONG_CELLS_A_SECOND,
            ..self.largest(&query.tables, constants(false))
        });
        let most = (memory + EXCESS) as f64;
        let fills = |gathered: Gathered| {
            (gathered.bytes > most).then(|| Duration::from_secs_f64(most / gathered.bytes_a_second))
        };
        let time = texts.into_iter().chain(rows).filter_map(fills).fold(time, Duration::min);
        let size =
            |table: &TableId| self.details(table).map(|details| (details.has_long_cells, details.bytes));
        let is_long = |table| size(table).is_none_or(|(long, bytes)| long && bytes * LONG_CELLS > most);
        Allowance { time, memory: memory / query.steps.max(1), sorts: query.tables.iter().any(is_long) }
    }

    /// Returns the most that the combinations of rows of tables could take in memory, with texts if there are `constants`.
    fn largest(&self, tables: &[TableId], constants: usize) -> Gathered {
        let (mut rows, mut width, mut has_long_cells) = (1.0, 0.0_f64, false);
        for table in tables {
            let Some(details) = self.details(table) else {
                return Gathered { bytes: f64::INFINITY, bytes_a_second: LONG_CELLS_A_SECOND };
            };
            let compression = if details.has_long_cells { LONG_CELLS } else { SHORT_CELLS };
            rows *= details.rows;
            width = width.max(details.bytes * compression / details.rows);
            has_long_cells |= details.has_long_cells;
        }
        let texts = if constants == 0 { 0.0 } else { width + constants as f64 };
        let is_fast = has_long_cells && constants > 0;
        let bytes_a_second = if is_fast { LONG_CELLS_A_SECOND } else { ROWS_A_SECOND };
        Gathered { bytes: rows * (ROW_OVERHEAD + texts), bytes_a_second }
    }

    /// Checks a query and decides how it runs.
    fn admit(&self, program: &str, purpose: Purpose) -> Result<Admitted, Fault> {
        let ordered = self.check(program)?;
        let query = self.guarded(program)?;
        Ok(Admitted {
            ordered: ordered.unwrap_or(query.ordered),
            needs_plan: !self.is_small(&query) && self.limits.steps != u64::MAX,
            allowance: self.allowance(&query),
            purpose,
            query,
        })
    }

    /// Returns the outcome of each program.
    fn run_all(&mut self, programs: &[&str]) -> Vec<Outcome> {
        let admitted: Vec<Result<Admitted, Fault>> =
            programs.iter().map(|program| self.admit(program, Purpose::Comparison)).collect();
        let mut outcomes: Vec<Option<Outcome>> =
            admitted.iter().map(|query| query.as_ref().err().cloned().map(Outcome::from)).collect();
        let waiting = |outcomes: &[Option<Outcome>]| -> Vec<usize> {
            (0..outcomes.len()).filter(|&index| outcomes[index].is_none()).collect()
        };
        let query = |index: &usize| admitted[*index].as_ref().ok();
        for together in waiting(&outcomes).chunks(SENT_TOGETHER) {
            let queries: Vec<&Admitted> = together.iter().filter_map(query).collect();
            for (&index, outcome) in together.iter().zip(self.try_together(&queries)) {
                outcomes[index] = outcome;
            }
        }
        // Those whose connection ended, or that had no time left by others.
        for index in waiting(&outcomes) {
            outcomes[index] = query(&index).map(|query| self.run_alone(query));
        }
        outcomes.into_iter().flatten().collect()
    }

    fn run_for(&mut self, program: &str, purpose: Purpose) -> Outcome {
        match self.admit(program, purpose) {
            Ok(query) => self.run_alone(&query),
            Err(fault) => fault.into(),
        }
    }

    /// Runs one query, as often as the connection to the server ends.
    fn run_alone(&mut self, query: &Admitted) -> Outcome {
        for _ in 0..ATTEMPTS {
            if let Some(reason) = self.server.loss() {
                return Outcome::RuntimeError(format!("the server is gone: {reason}"));
            }
            if let Some(Some(outcome)) = self.try_together(&[query]).pop() {
                return outcome;
            }
            self.session.wait_for_server();
        }
        Outcome::RuntimeError("the connection to the server ended while the query ran".to_owned())
    }

    /// Runs queries that are sent together. One has no outcome if its connection ended, or if others took all of the time.
    fn try_together(&mut self, queries: &[&Admitted]) -> Vec<Option<Outcome>> {
        let mut outcomes = self.over_cost(queries);
        let left: Vec<usize> = (0..queries.len()).filter(|&index| outcomes[index].is_none()).collect();
        let sent: Vec<QueryToSend<'_>> = left.iter().map(|&index| queries[index].to_send()).collect();
        if sent.is_empty() || !self.learn_types(queries) {
            return outcomes;
        }
        let mut answers: Vec<Answer> =
            left.iter().map(|&index| Answer::new(self.limits, queries[index].purpose)).collect();
        let mut each_row: Vec<_> = answers
            .iter_mut()
            .map(|answer| move |row: &[ReadCell<'_>]| answer.add(row.iter().map(|cell| Ok(cell.cell()))))
            .collect();
        // One more row than allowed shows that there are too many.
        let run = self.session.run_all(&sent, self.limits.rows.saturating_add(1), &mut each_row);
        drop(each_row);
        let runs = match run {
            Ok(runs) => runs,
            Err(RunError::Fault(fault)) if sent.len() == 1 => vec![Err(fault.into())],
            Err(_) => return outcomes,
        };
        for ((index, run), answer) in left.into_iter().zip(runs).zip(answers) {
            outcomes[index] = match run {
                Ok(()) => Some(answer.finish(queries[index].ordered)),
                Err(RunError::Fault(fault) | RunError::Unread(fault)) => Some(fault.into()),
                Err(RunError::Unprintable(conversions)) => self.run_converted(queries[index], conversions),
                Err(RunError::Lost(_)) => None,
            };
        }
        outcomes
    }

    /// Runs a query some of whose columns the server converts. Returns nothing if the connection ended.
    fn run_converted(
        &mut self,
        admitted: &Admitted,
        mut conversions: Vec<Option<&'static str>>,
    ) -> Option<Outcome> {
        loop {
            let sql = converted(&admitted.query.text, &conversions);
            let sent = [QueryToSend { sql: &sql, allowance: admitted.allowance }];
            let mut answer = Answer::new(self.limits, admitted.purpose);
            let mut each_row = [|row: &[ReadCell<'_>]| answer.add(row.iter().map(|cell| Ok(cell.cell())))];
            let run = self.session.run_all(&sent, self.limits.rows.saturating_add(1), &mut each_row);
            let before = conversions.clone();
            match run.and_then(|mut runs| runs.pop().unwrap_or(Ok(()))) {
                Ok(()) => return Some(answer.finish(admitted.ordered)),
                Err(RunError::Fault(fault) | RunError::Unread(fault)) => return Some(fault.into()),
                Err(RunError::Lost(_)) => return None,
                // Another row has a value, such as an array of arrays, that no row before had.
                Err(RunError::Unprintable(more)) => {
                    conversions.iter_mut().zip(more).for_each(|(known, more)| *known = known.or(more));
                }
            }
            if conversions == before {
                return Some(Outcome::RuntimeError("a value that cannot be printed".to_owned()));
            }
        }
    }

    /// Returns an outcome for each query that costs more than allowed by the server's plan of it, or has no plan.
    fn over_cost(&mut self, queries: &[&Admitted]) -> Vec<Option<Outcome>> {
        let mut outcomes = vec![None; queries.len()];
        let planned: Vec<usize> = (0..queries.len()).filter(|&index| queries[index].needs_plan).collect();
        let sent: Vec<QueryToSend<'_>> = planned.iter().map(|&index| queries[index].to_send()).collect();
        if sent.is_empty() {
            return outcomes;
        }
        // Without plans, the connection is gone, or the queries will take too much time too.
        let plans = self.session.plans(&sent).unwrap_or_default();
        for (index, plan) in planned.into_iter().zip(plans) {
            let checked = plan
                .and_then(|plan| Ok(check_plan(&plan, self.limits.steps, queries[index].query.joins_texts)?));
            if let Err(RunError::Fault(fault)) = checked {
                outcomes[index] = Some(fault.into());
            }
        }
        outcomes
    }

    /// Lets the driver learn the types that the tables of queries define, once for each table and connection. Returns
    /// whether that worked.
    fn learn_types(&mut self, queries: &[&Admitted]) -> bool {
        let mut learned = true;
        for table in queries.iter().flat_map(|admitted| &admitted.query.tables) {
            if self.details(table).is_some_and(|details| !details.has_own_types) {
                continue;
            }
            if self.learned.0 != self.session.connections() {
                self.learned = (self.session.connections(), FxHashSet::default());
            }
            if self.learned.1.contains(table) {
                continue;
            }
            let sql = format!("SELECT * FROM {}", qualified(self.schema.table(*table)));
            let allowance = Allowance::of_time(TYPES_TIME);
            learned &= match self.session.columns(&QueryToSend { sql: &sql, allowance }) {
                Ok(_) => self.learned.1.insert(*table),
                // Queries that read it fail for the same reason.
                Err(RunError::Fault(_) | RunError::Unprintable(_)) => true,
                Err(RunError::Lost(_) | RunError::Unread(_)) => false,
            };
        }
        learned
    }
}

/// Returns a query whose columns are converted to types by the server.
fn converted(query: &str, conversions: &[Option<&'static str>]) -> String {
    let columns: Vec<String> = (1..=conversions.len()).map(|number| format!("c{number}")).collect();
    let convert = |(column, conversion): (&String, &Option<&'static str>)| match conversion {
        Some(ty) => format!("CAST({column} AS {ty})"),
        None => column.clone(),
    };
    let outputs: Vec<String> = columns.iter().zip(conversions).map(convert).collect();
    format!("SELECT {} FROM ({query}) AS xpr ({})", outputs.join(", "), columns.join(", "))
}

/// What a server may gather in memory, and how fast.
struct Gathered {
    bytes: f64,
    bytes_a_second: f64,
}

/// A query that may run.
struct Admitted {
    query: GuardedQuery,
    /// Whether the order of its rows is part of the answer.
    ordered: bool,
    /// Whether the server's plan decides if it runs.
    needs_plan: bool,
    allowance: Allowance,
    /// What its answer is printed for.
    purpose: Purpose,
}

impl Admitted {
    fn to_send(&self) -> QueryToSend<'_> {
        QueryToSend { sql: &self.query.text, allowance: self.allowance }
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
        self.run_for(program, Purpose::Comparison)
    }

    fn full_answer(&mut self, program: &str) -> Outcome {
        self.run_for(program, Purpose::Display)
    }

    fn execute_all(&mut self, programs: &[&str]) -> Vec<Outcome> {
        self.run_all(programs)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        let query = self.guarded(program).ok()?;
        let allowance = self.allowance(&query);
        self.session.columns(&QueryToSend { sql: &query.text, allowance }).ok()
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
