//! One transaction for one statement, sent at once.
//!
//! A query takes one trip to the server and back: the start of a read-only transaction with its settings, a cursor for the
//! query, its rows and the rollback are sent together, and the server works through them in their order. If one of them
//! fails, the server ignores those after it until the rollback. A cursor exists in a transaction only, so that no query runs
//! if the transaction has not begun or has not all of its settings.

use super::cells::{self, RawCell, ReadCell};
use crate::Fault;
use futures_util::TryStreamExt;
use futures_util::future::{join, join3, join4, try_join};
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// The bytes of an answer that are read after it was given up. If there are more, the connection is.
const DROPPED_BYTES: usize = 1 << 20;

const NO_PARAMETERS: [(&str, Type); 0] = [];

/// What a transaction may use of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) time: Duration,
    /// Bytes for each sort and each hash table. What needs more uses files of the server.
    pub(super) memory: usize,
}

impl Allowance {
    /// For statements of this crate, which sort little.
    pub(super) fn of_time(time: Duration) -> Self {
        Allowance { time, memory: 4 << 20 }
    }
}

/// The start of a transaction whose settings end with it.
pub(super) fn beginning(allowance: Allowance, search_path: &str, version: u32) -> String {
    let milliseconds = allowance.time.as_millis().clamp(1, 86_400_000);
    // The least and the most that every version accepts.
    let kilobytes = (allowance.memory >> 10).clamp(64, 1 << 20);
    // Earlier versions have no such setting, and hash tables as large as sorts.
    let hash_memory = if version >= 13 { "; SET LOCAL hash_mem_multiplier = 1" } else { "" };
    format!(
        "START TRANSACTION READ ONLY; SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; \
         SET LOCAL idle_in_transaction_session_timeout = 60000; SET LOCAL search_path = {search_path}; \
         SET LOCAL standard_conforming_strings = on; SET LOCAL timezone = 'UTC'; SET LOCAL jit = off; \
         SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL cursor_tuple_fraction = 1; \
         SET LOCAL work_mem = {kilobytes}{hash_memory}"
    )
}

/// Why a query has no answer.
#[derive(Debug)]
pub(super) enum RunError {
    /// The connection is gone.
    Lost(String),
    /// The query failed.
    Fault(Fault),
    /// The query was given up while the server still sends its rows.
    Unread(Fault),
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        let Some(reported) = error.as_db_error() else {
            return RunError::Lost(with_source(&error));
        };
        let message = reported.message().to_owned();
        let code = reported.code();
        let lost = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ];
        let types = [
            SqlState::DATATYPE_MISMATCH,
            SqlState::UNDEFINED_FUNCTION,
            SqlState::INVALID_TEXT_REPRESENTATION,
            SqlState::INVALID_DATETIME_FORMAT,
            SqlState::CANNOT_COERCE,
        ];
        if lost.contains(code) {
            RunError::Lost(message)
        } else if [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE].contains(code) {
            RunError::Fault(Fault::Limit("time"))
        } else if [SqlState::OUT_OF_MEMORY, SqlState::PROGRAM_LIMIT_EXCEEDED].contains(code) {
            RunError::Fault(Fault::Limit("memory"))
        } else if types.contains(code) {
            RunError::Fault(Fault::Type(message))
        } else {
            RunError::Fault(Fault::Runtime(message))
        }
    }
}

impl From<Fault> for RunError {
    fn from(fault: Fault) -> Self {
        RunError::Fault(fault)
    }
}

/// Returns the text of an error of the driver with its cause.
pub(super) fn with_source(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Decides from the server's plan of a query whether it runs.
pub(super) type PlanCheck<'c> = dyn Fn(&str) -> Result<(), Fault> + 'c;
/// A function that is called with each row of an answer.
pub(super) type EachRow<'e> = dyn FnMut(&[ReadCell<'_>]) -> Result<(), Fault> + 'e;

/// A query as it is sent.
pub(super) struct QueryToRun<'q> {
    pub(super) sql: &'q str,
    /// The rows after which the server stops.
    pub(super) rows: Option<usize>,
    /// Whether the answer may have types that are defined in the database. The driver asks for what it does not know of a
    /// type, which must be before the rows are on their way.
    pub(super) has_own_types: bool,
}

/// Runs one query and calls `each_row` with each row. The query does not run if `check` refuses its plan.
pub(super) async fn run(
    client: &Client,
    beginning: &str,
    query: &QueryToRun<'_>,
    check: Option<&PlanCheck<'_>>,
    each_row: &mut EachRow<'_>,
) -> Result<(), RunError> {
    let opened = open_cursor(client, beginning, query, check);
    if check.is_none() && !query.has_own_types {
        // The first error is the reason of those after it.
        let (opened, read) = join(opened, read_and_roll_back(client, query.rows, each_row)).await;
        return opened.and(read);
    }
    match opened.await {
        Ok(()) => read_and_roll_back(client, query.rows, each_row).await,
        Err(error) => {
            client.batch_execute("ROLLBACK").await?;
            Err(error)
        }
    }
}

/// Begins a transaction with a cursor for a query.
async fn open_cursor(
    client: &Client,
    beginning: &str,
    query: &QueryToRun<'_>,
    check: Option<&PlanCheck<'_>>,
) -> Result<(), RunError> {
    let begin = client.batch_execute(beginning);
    let explain = async {
        let Some(check) = check else { return Ok(()) };
        let row = client.query_typed_one(&format!("EXPLAIN (FORMAT JSON) {}", query.sql), &[]).await?;
        let plan: RawCell<'_> = row.try_get(0)?;
        Ok::<_, RunError>(check(&String::from_utf8_lossy(plan.0.unwrap_or_default()))?)
    };
    let cursor = format!("DECLARE xpr NO SCROLL CURSOR FOR {}", query.sql);
    let declare = client.execute_typed(&cursor, &[]);
    let describe = async {
        if query.has_own_types {
            client.query_typed_raw("FETCH 0 FROM xpr", NO_PARAMETERS).await?;
        }
        Ok::<_, RunError>(())
    };
    let (begun, explained, declared, described) = join4(begin, explain, declare, describe).await;
    begun?;
    explained?;
    declared?;
    described
}

/// Reads the rows of the cursor, and ends the transaction.
async fn read_and_roll_back(
    client: &Client,
    rows: Option<usize>,
    each_row: &mut EachRow<'_>,
) -> Result<(), RunError> {
    let fetch = match rows {
        Some(rows) => format!("FETCH {rows} FROM xpr"),
        None => "FETCH ALL FROM xpr".to_owned(),
    };
    // Nobody waits for the end of a transaction whose rows are not read.
    let read = async {
        match read_rows(client, &fetch, each_row).await {
            Err(RunError::Unread(fault)) => Err(RunError::Unread(fault)),
            outcome => Ok(outcome),
        }
    };
    let roll_back = async { Ok(client.batch_execute("ROLLBACK").await) };
    let (read, rolled_back) = try_join(read, roll_back).await?;
    read?;
    Ok(rolled_back?)
}

/// Calls `each_row` with each row that a statement returns. After a fault, a few more rows are read and dropped, so that the
/// connection can be used again.
async fn read_rows(client: &Client, fetch: &str, each_row: &mut EachRow<'_>) -> Result<(), RunError> {
    let mut rows = pin!(client.query_typed_raw(fetch, NO_PARAMETERS).await?);
    let mut fault = None;
    let mut dropped = 0;
    while let Some(row) = rows.try_next().await? {
        match fault.take() {
            None => fault = read_row(&row).and_then(|cells| each_row(&cells)).err(),
            Some(fault) if dropped > DROPPED_BYTES => return Err(RunError::Unread(fault)),
            earlier => {
                dropped += row.raw_size_bytes();
                fault = earlier;
            }
        }
    }
    fault.map_or(Ok(()), |fault| Err(fault.into()))
}

fn read_row(row: &Row) -> Result<Vec<ReadCell<'_>>, Fault> {
    let mut cells = Vec::with_capacity(row.len());
    for (index, column) in row.columns().iter().enumerate() {
        let raw: RawCell<'_> = row.try_get(index).map_err(|error| Fault::Runtime(error.to_string()))?;
        cells.push(cells::read(column.type_(), &raw)?);
    }
    Ok(cells)
}

/// Returns the names of the columns of a query, which does not run.
pub(super) async fn column_names(
    client: &Client,
    beginning: &str,
    sql: &str,
) -> Result<Vec<String>, RunError> {
    let query = QueryToRun { sql, rows: Some(0), has_own_types: false };
    // A statement that has a name is closed before the transaction ends: a pool may give the next one to another server.
    let opened = open_cursor(client, beginning, &query, None);
    let (opened, statement) = join(opened, client.prepare("FETCH 0 FROM xpr")).await;
    let names = statement
        .map(|statement| statement.columns().iter().map(|column| column.name().to_owned()).collect());
    client.batch_execute("ROLLBACK").await?;
    opened?;
    Ok(names?)
}

/// Runs one statement of this crate and returns its rows.
pub(super) async fn rows(
    client: &Client,
    beginning: &str,
    sql: &str,
    parameters: &[(&(dyn ToSql + Sync), Type)],
) -> Result<Vec<Row>, RunError> {
    let begin = client.batch_execute(beginning);
    let query = client.query_typed(sql, parameters);
    let (begun, rows, rolled_back) = join3(begin, query, client.batch_execute("ROLLBACK")).await;
    begun?;
    let rows = rows?;
    rolled_back?;
    Ok(rows)
}
