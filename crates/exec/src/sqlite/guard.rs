//! Permissions and limits of statements.
//!
//! There are two protections against writes, and each is enough by itself: the connection is read-only and defensive
//! (`database.rs`), and an authorizer checks every table, column and function of a statement, those of views included,
//! before it runs. The authorizer allows only reading the tables of the schema, and functions that do bounded work and
//! have no effect.
//!
//! SQLite also asks for the functions in the default of a column that is read, and in the expression of a stored one, although
//! reading calls neither. Such a function is allowed unless the statement or a view has its name somewhere. For a generated
//! column that is not stored SQLite asks nothing; it calls only functions that cannot do harm, as the schema is not trusted.
//!
//! A run is stopped after a number of steps of SQLite's machine. Steps are the same everywhere, so that a query is stopped
//! on every machine or on none. The limits of time and memory are for what steps do not measure. The time is looked at
//! every few steps, and by a thread of its own (`watchdog.rs`) if a single step does not end.

use super::authorizer::{self, Action, Request};
use super::database::{OPENING, ReadConnection, SqliteDatabase};
use super::functions;
use super::memory::Budget;
use super::watchdog;
use crate::Fault;
use crate::database::DatabaseError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, Row, Statement};
use rustc_hash::FxHashSet;
use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps after which the meter is charged; they take some microseconds.
const STEPS_A_CHARGE: u64 = 200;

/// The functions that queries can use. They do bounded work, have no effect and depend on their arguments only. `like`,
/// `glob`, `instr` and the trims are replaced (`functions.rs`).
const FUNCTIONS: [&str; 52] = [
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "coalesce",
    "concat",
    "count",
    "cume_dist",
    // These are replaced by functions that fail when called.
    "current_date",
    "current_time",
    "current_timestamp",
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
    "octet_length",
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

/// The prefixes of the names of SQLite's internal tables and of its table-valued functions.
const RESERVED: [&str; 3] = ["json", "pragma_", "sqlite_"];

/// The limits of one statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) steps: u64,
    pub(super) time: Duration,
    pub(super) memory: usize,
}

/// A counter of the work of a statement. SQLite calls it every few steps to know whether to continue.
pub(super) struct Meter {
    created: Instant,
    steps: AtomicU64,
    step_limit: AtomicU64,
    /// Nanoseconds after `created`.
    deadline: AtomicU64,
    out_of_steps: AtomicBool,
    out_of_time: AtomicBool,
    /// The number of interrupts of the statement so far.
    interrupts: AtomicU32,
    /// Held while a statement begins, ends or is interrupted, so that no other statement is interrupted than the late one.
    turn: Mutex<()>,
}

impl Meter {
    /// Returns a meter for the statements of a connection. They begin with [`Meter::start`], and are interrupted when they
    /// are late.
    pub(super) fn of(connection: &Connection, database: &Path) -> Arc<Meter> {
        let meter = Arc::new(Meter {
            created: Instant::now(),
            steps: AtomicU64::new(0),
            step_limit: AtomicU64::new(0),
            deadline: AtomicU64::new(u64::MAX),
            out_of_steps: AtomicBool::new(false),
            out_of_time: AtomicBool::new(false),
            interrupts: AtomicU32::new(0),
            turn: Mutex::new(()),
        });
        watchdog::watch(connection, &meter, database);
        meter
    }

    /// Resets the meter for a statement.
    pub(super) fn start(&self, allowance: Allowance) -> Metered<'_> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = self.created.elapsed().saturating_add(allowance.time);
        self.deadline.store(u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        self.step_limit.store(allowance.steps, Relaxed);
        self.steps.store(0, Relaxed);
        self.out_of_steps.store(false, Relaxed);
        self.out_of_time.store(false, Relaxed);
        self.interrupts.store(0, Relaxed);
        Metered(self)
    }

    /// Calls `interrupt` if the statement should have ended, with how often it was interrupted before.
    pub(super) fn if_late(&self, interrupt: impl FnOnce(u32)) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_late() {
            self.out_of_time.store(true, Relaxed);
            interrupt(self.interrupts.fetch_add(1, Relaxed));
        }
    }

    fn is_late(&self) -> bool {
        self.created.elapsed().as_nanos() > u128::from(self.deadline.load(Relaxed))
    }

    /// Adds steps. Returns true if the statement must stop.
    pub(super) fn charge(&self, steps: u64) -> bool {
        let total = self.steps.fetch_add(steps, Relaxed) + steps;
        if total > self.step_limit.load(Relaxed) {
            self.out_of_steps.store(true, Relaxed);
            return true;
        }
        let late = self.is_late();
        if late {
            self.out_of_time.store(true, Relaxed);
        }
        late
    }

    /// Returns whether the last statements took too long. SQLite hides that where it can go on without them: it opens a
    /// database whose statistics never end, and would do so again for each connection.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.out_of_time.load(Relaxed)
    }

    /// Returns the limit that was exceeded, if any.
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

/// A statement that is metered until this is dropped.
pub(super) struct Metered<'m>(&'m Meter);

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.deadline.store(u64::MAX, Relaxed);
    }
}

/// A connection on which every statement is checked and metered.
pub(super) struct Session {
    connection: ReadConnection,
    meter: Arc<Meter>,
    prepared: Arc<Mutex<PreparedStatement>>,
}

/// The statement that the authorizer is asked about.
#[derive(Default)]
struct PreparedStatement {
    sql: String,
    /// The reason why it was refused, if it was.
    refusal: Option<String>,
}

/// What statements may use.
struct Permissions {
    /// The tables and views that can be read, in lower case.
    readable: FxHashSet<String>,
    /// The modules, and the tables in the file that cannot be read, in lower case.
    forbidden: FxHashSet<String>,
    /// The declarations of all views, in lower case.
    views: String,
}

impl Session {
    /// Opens a connection that can read the tables and views with these names.
    pub(super) fn open<'a>(
        database: &SqliteDatabase,
        readable: impl Iterator<Item = &'a str>,
    ) -> Result<Session, DatabaseError> {
        let mut connection = database.connect()?;
        let meter = Arc::clone(connection.meter());
        let prepared = Arc::default();
        let readable: FxHashSet<String> = readable.map(str::to_ascii_lowercase).collect();
        {
            let _metered = meter.start(OPENING);
            Session::install_guards(&mut connection, readable, &meter, &prepared)
                .map_err(|error| database.explain(&error))?;
        }
        Ok(Session { connection, meter, prepared })
    }

    fn install_guards(
        connection: &mut Connection,
        readable: FxHashSet<String>,
        meter: &Arc<Meter>,
        prepared: &Arc<Mutex<PreparedStatement>>,
    ) -> rusqlite::Result<()> {
        functions::install(connection, meter)?;
        let mut forbidden: FxHashSet<String> = FxHashSet::default();
        let mut statement = connection.prepare(
            "SELECT lower(name) FROM pragma_module_list UNION SELECT lower(name) FROM sqlite_schema",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // A query is UTF-8, and cannot have another name.
            if let ValueRef::Text(name) = row.get_ref(0)?
                && let Ok(name) = std::str::from_utf8(name)
                && !readable.contains(name)
            {
                forbidden.insert(name.to_owned());
            }
        }
        drop(rows);
        drop(statement);
        let mut views = String::new();
        let mut statement = connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let declaration = row.get_ref(0)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
            views.push_str(&String::from_utf8_lossy(declaration).to_ascii_lowercase());
            views.push('\n');
        }
        drop(rows);
        drop(statement);
        let permissions = Permissions { readable, forbidden, views };
        let meter = Arc::clone(meter);
        connection.progress_handler(STEPS_A_CHARGE as c_int, Some(move || meter.charge(STEPS_A_CHARGE)))?;
        let prepared = Arc::clone(prepared);
        authorizer::install(connection, move |request| {
            let mut statement = prepared.lock().unwrap_or_else(PoisonError::into_inner);
            let reason = permissions.refusal_reason(request, &statement.sql);
            let is_allowed = reason.is_none();
            if !is_allowed {
                statement.refusal = reason;
            }
            is_allowed
        })
    }

    /// Tells the authorizer which statement is prepared next.
    fn announce(&self, sql: &str) {
        let mut statement = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        statement.sql.clear();
        statement.sql.push_str(sql);
        statement.refusal = None;
    }

    /// Runs one statement and calls `each_row` with each row and the number of its columns, until there is a fault.
    pub(super) fn run(
        &self,
        sql: &str,
        allowance: Allowance,
        mut each_row: impl FnMut(&Row<'_>, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.announce(sql);
        let budget = Budget::new(allowance.memory);
        let _metered = self.meter.start(allowance);
        let failed = |error: Error| self.fault(&error, &budget);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        check_statement(&statement)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(failed)? {
            each_row(row, columns)?;
        }
        // The statement read one state of the database. If it is the first one still, so do all statements.
        self.connection.check_unchanged().map_err(|error| Fault::Runtime(error.to_string()))
    }

    /// Returns the names of the columns of a statement, which does not run.
    pub(super) fn column_names(&self, sql: &str, allowance: Allowance) -> Result<Vec<String>, Fault> {
        self.announce(sql);
        let budget = Budget::new(allowance.memory);
        let _metered = self.meter.start(allowance);
        let statement = self.connection.prepare(sql).map_err(|error| self.fault(&error, &budget))?;
        check_statement(&statement)?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    /// Translates an error of SQLite to the fault of the program.
    fn fault(&self, error: &Error, budget: &Budget) -> Fault {
        if let Some(reason) = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).refusal.take() {
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

/// How the reason begins why a statement is refused that SQLite would run.
pub(super) const REFUSED: &str = "refused:";

/// Why a query with parameters fails.
const WITH_PARAMETERS: &str = "refused: a query with parameters";

/// Returns the message of an error without the text of the program.
fn message(error: &Error) -> String {
    match error {
        // SQLite allows none here, and says that there are too many.
        Error::SqlInputError { msg, .. }
            if msg.contains("SQL variables") || msg.starts_with("variable number") =>
        {
            WITH_PARAMETERS.to_owned()
        }
        Error::SqlInputError { msg, .. } => msg.clone(),
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        Error::MultipleStatement => "refused: more than one statement".to_owned(),
        _ => error.to_string(),
    }
}

/// Checks what the authorizer does not see.
fn check_statement(statement: &Statement<'_>) -> Result<(), Fault> {
    let refused = |what: &str| Err(Fault::Runtime(format!("refused: {what}")));
    if statement.is_explain() != 0 {
        refused("EXPLAIN is not a query")
    } else if !statement.readonly() {
        refused("a statement that could write")
    } else if statement.parameter_count() > 0 {
        Err(Fault::Runtime(WITH_PARAMETERS.to_owned()))
    } else if statement.column_count() == 0 {
        refused("there is no query here")
    } else {
        Ok(())
    }
}

impl Permissions {
    /// Returns the reason why an action of the statement `sql` is refused; `None` if it is allowed.
    fn refusal_reason(&self, request: &Request<'_>, sql: &str) -> Option<String> {
        match request.action {
            Action::Select => None,
            Action::Read { table, column } => {
                let name = table.to_ascii_lowercase();
                // The column is empty if none of the table is used, and for a table that the query defines in `WITH`. Any
                // name can be one of the latter, unless it is reserved or that of a forbidden table.
                let is_defined_in_query = column.is_empty()
                    && !RESERVED.iter().any(|prefix| name.starts_with(prefix))
                    && !self.forbidden.contains(&name);
                let is_in_other_database = request.database.is_some_and(|database| database != "main");
                if !is_in_other_database && (is_defined_in_query || self.readable.contains(&name)) {
                    None
                } else {
                    Some(format!("reading {table}, which is not a table of the schema"))
                }
            }
            Action::Function(function) => {
                let name = function.to_ascii_lowercase();
                // A name that neither the statement nor a view has is that of a function in the declaration of a column.
                let is_called = || has_word(&sql.to_ascii_lowercase(), &name) || has_word(&self.views, &name);
                match FUNCTIONS.binary_search(&name.as_str()) {
                    Err(_) if is_called() => {
                        Some(format!("the function {function} is not on the list of allowed ones"))
                    }
                    _ => None,
                }
            }
            Action::Recursive => Some("a recursive query".to_owned()),
            Action::Pragma(pragma) => Some(format!("PRAGMA {pragma}")),
            Action::OtherDatabase => Some("another database".to_owned()),
            Action::Unreadable => Some("reading a table or column whose name is not UTF-8".to_owned()),
            Action::Other => Some("a statement that does more than read".to_owned()),
        }
    }
}

/// Returns whether SQL has a name that is not a part of another one.
fn has_word(sql: &str, word: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    let continues = |left: Option<char>, right: Option<char>| {
        left.is_some_and(is_of_name) && right.is_some_and(is_of_name)
    };
    sql.match_indices(word).any(|(at, _)| {
        let (before, after) = (&sql[..at], &sql[at + word.len()..]);
        !continues(before.chars().next_back(), word.chars().next())
            && !continues(word.chars().next_back(), after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_whole_words() {
        for (sql, word, expected) in [
            ("select hex(a)", "hex", true),
            ("select \"hex\"(a)", "hex", true),
            ("select hexagon, my_hex, hex1, éhex from hexes", "hex", false),
            ("select hexagon, hex (a)", "hex", true),
            ("select a->'b'", "->", true),
            ("hex", "hex", true),
            ("", "hex", false),
            ("select 1", "", true),
        ] {
            assert_eq!(has_word(sql, word), expected, "{sql}");
        }
    }

    #[test]
    fn the_functions_are_sorted_for_binary_search() {
        assert!(FUNCTIONS.is_sorted());
    }
}
