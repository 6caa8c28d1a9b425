//! What a statement may do, and how much of it.
//!
//! Two walls, each enough by itself against writes: the connection is read-only and defensive (`database.rs`), and an authorizer
//! sees every table, column and function a statement mentions, views included, before it runs. It allows what is listed
//! here and nothing else: reading the tables of the schema, and functions that do bounded work and have no effect.
//!
//! Steps of SQLite's machine decide when a run has lasted too long. They are the same everywhere, so that a query that is
//! stopped is stopped on every machine; the clock and the memory budget are there for what steps cannot see.

use super::database::Database;
use super::error::DatabaseError;
use super::functions;
use super::memory::Budget;
use crate::Fault;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Error, ErrorCode, Row, Statement};
use rustc_hash::FxHashSet;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps between two looks at the meter: some microseconds.
const STEPS_A_LOOK: u64 = 200;

/// Functions that do bounded work, have no effect and see nothing but their arguments. `like`, `glob`, `instr` and the
/// trims are our own (`functions.rs`).
const FUNCTIONS: [&str; 48] = [
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "coalesce",
    "concat",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "dense_rank",
    "first_value",
    "floor",
    "glob",
    "group_concat",
    "ifnull",
    "iif",
    "instr",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pow",
    "power",
    "rank",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "strftime",
    "substr",
    "substring",
    "sum",
    "time",
    "total",
    "trim",
    "upper",
];

/// How the names begin that SQLite gives its own tables, and those it makes when they are first mentioned.
const RESERVED: [&str; 3] = ["json", "pragma_", "sqlite_"];

/// How much one statement may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) steps: u64,
    pub(super) time: Duration,
    pub(super) memory: usize,
}

/// Counts the work of a statement; SQLite asks it every few steps whether to go on.
pub(super) struct Meter {
    began: Instant,
    steps: AtomicU64,
    most_steps: AtomicU64,
    /// Nanoseconds after `began`.
    deadline: AtomicU64,
    out_of_steps: AtomicBool,
    out_of_time: AtomicBool,
}

impl Meter {
    fn new() -> Meter {
        Meter {
            began: Instant::now(),
            steps: AtomicU64::new(0),
            most_steps: AtomicU64::new(0),
            deadline: AtomicU64::new(0),
            out_of_steps: AtomicBool::new(false),
            out_of_time: AtomicBool::new(false),
        }
    }

    fn start(&self, allowance: Allowance) {
        let deadline = self.began.elapsed().saturating_add(allowance.time);
        self.deadline.store(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.most_steps.store(allowance.steps, Relaxed);
        self.steps.store(0, Relaxed);
        self.out_of_steps.store(false, Relaxed);
        self.out_of_time.store(false, Relaxed);
    }

    /// Notes work that was done; true if there may be no more.
    pub(super) fn charge(&self, steps: u64) -> bool {
        let total = self.steps.fetch_add(steps, Relaxed) + steps;
        if total > self.most_steps.load(Relaxed) {
            self.out_of_steps.store(true, Relaxed);
            return true;
        }
        let late = self.began.elapsed().as_nanos() > u128::from(self.deadline.load(Relaxed));
        if late {
            self.out_of_time.store(true, Relaxed);
        }
        late
    }

    fn fault(&self) -> Option<Fault> {
        if self.out_of_steps.load(Relaxed) {
            Some(Fault::Limit("steps"))
        } else if self.out_of_time.load(Relaxed) {
            Some(Fault::Limit("time"))
        } else {
            None
        }
    }
}

/// A connection on which every statement is watched.
pub(super) struct Session {
    connection: Connection,
    meter: Arc<Meter>,
    /// What the authorizer said no to, if it did.
    refusal: Arc<Mutex<Option<String>>>,
}

impl Session {
    /// A connection that may read the tables and views with these names.
    pub(super) fn open<'a>(
        database: &Database,
        readable: impl Iterator<Item = &'a str>,
    ) -> Result<Session, DatabaseError> {
        let mut connection = database.connect()?;
        let meter = Arc::new(Meter::new());
        let refusal = Arc::new(Mutex::new(None));
        let readable: FxHashSet<String> = readable.map(str::to_ascii_lowercase).collect();
        Session::arm(&mut connection, readable, &meter, &refusal)
            .map_err(|error| database.explain(&error))?;
        Ok(Session { connection, meter, refusal })
    }

    fn arm(
        connection: &mut Connection,
        readable: FxHashSet<String>,
        meter: &Arc<Meter>,
        refusal: &Arc<Mutex<Option<String>>>,
    ) -> rusqlite::Result<()> {
        functions::install(connection, meter)?;
        let mut closed: FxHashSet<String> = connection
            .prepare(
                "SELECT lower(name) FROM pragma_module_list UNION SELECT lower(name) FROM sqlite_schema",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        closed.retain(|name| !readable.contains(name));
        let counted = Arc::clone(meter);
        connection.progress_handler(STEPS_A_LOOK as c_int, Some(move || counted.charge(STEPS_A_LOOK)))?;
        let noted = Arc::clone(refusal);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            match refused(&context, &readable, &closed) {
                None => Authorization::Allow,
                Some(reason) => {
                    *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
                    Authorization::Deny
                }
            }
        }))
    }

    /// Runs one statement and shows its rows, as long as there are no faults.
    pub(super) fn run(
        &self,
        sql: &str,
        allowance: Allowance,
        mut each_row: impl FnMut(&Row<'_>, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let budget = Budget::new(allowance.memory);
        self.meter.start(allowance);
        let failed = |error: Error| self.fault(&error, &budget);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        allowed(&statement)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(failed)? {
            each_row(row, columns)?;
        }
        Ok(())
    }

    /// What SQLite's error means for a program.
    fn fault(&self, error: &Error, budget: &Budget) -> Fault {
        if let Some(reason) = self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Fault::Runtime(format!("refused: {reason}"));
        }
        if let Some(fault) = self.meter.fault() {
            return fault;
        }
        match error.sqlite_error_code() {
            _ if budget.exceeded() => Fault::Limit("memory"),
            Some(ErrorCode::OutOfMemory) => Fault::Limit("memory"),
            Some(ErrorCode::TooBig) => Fault::Limit("text"),
            Some(ErrorCode::OperationInterrupted) => Fault::Limit("time"),
            Some(ErrorCode::TypeMismatch) => Fault::Type(message(error)),
            _ => Fault::Runtime(message(error)),
        }
    }
}

/// What SQLite says, without the program it says it about.
fn message(error: &Error) -> String {
    match error {
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        Error::MultipleStatement => "refused: more than one statement".to_owned(),
        _ => error.to_string(),
    }
}

/// What the authorizer does not see.
fn allowed(statement: &Statement<'_>) -> Result<(), Fault> {
    let refused = |what: &str| Err(Fault::Runtime(format!("refused: {what}")));
    if statement.is_explain() != 0 {
        refused("EXPLAIN is not a query")
    } else if !statement.readonly() {
        refused("a statement that could write")
    } else if statement.parameter_count() > 0 {
        refused("a parameter has no value here")
    } else if statement.column_count() == 0 {
        refused("there is no query here")
    } else {
        Ok(())
    }
}

/// Why a statement may not do this; `None` if it may.
fn refused(
    context: &AuthContext<'_>,
    readable: &FxHashSet<String>,
    closed: &FxHashSet<String>,
) -> Option<String> {
    match context.action {
        AuthAction::Select => None,
        AuthAction::Read { table_name, column_name } => {
            let name = table_name.to_ascii_lowercase();
            // A table of which no column is used comes with an empty column; so does a `WITH` table, whose name is the
            // query's own. What else has a name is SQLite's, a module's, or in the file and not for reading.
            let own = column_name.is_empty()
                && !RESERVED.iter().any(|prefix| name.starts_with(prefix))
                && !closed.contains(&name);
            let elsewhere = context.database_name.is_some_and(|database| database != "main");
            if !elsewhere && (own || readable.contains(&name)) {
                None
            } else {
                Some(format!("reading {table_name}, which is not a table of the schema"))
            }
        }
        AuthAction::Function { function_name } => {
            let name = function_name.to_ascii_lowercase();
            match FUNCTIONS.binary_search(&name.as_str()) {
                Ok(_) => None,
                Err(_) => Some(format!("the function {function_name} is not on the list of allowed ones")),
            }
        }
        AuthAction::Recursive => Some("a recursive query".to_owned()),
        AuthAction::Pragma { pragma_name, .. } => Some(format!("PRAGMA {pragma_name}")),
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Some("another database".to_owned()),
        _ => Some("a statement that does more than read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTIONS.is_sorted());
    }
}
