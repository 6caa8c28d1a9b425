//! One transaction for one statement, sent at once.
//!
//! A query takes one trip to the server and back: the start of a read-only transaction with its settings, a cursor for the
//! query, its rows and the rollback are sent together, and the server works through them in their order. If one of them
//! fails, the server ignores those after it until the rollback. A cursor exists in a transaction only, so that no query runs
//! if the transaction has not begun or has not all of its settings. Several transactions may be sent together, too.
//!
//! Each future of this module sends all that it sends when it is first polled, so that the transactions of several futures
//! do not mix.

use super::cells::{self, RawCell, ReadCell};
use crate::Fault;
use futures_util::TryStreamExt;
use futures_util::future::{join, join3, try_join4};
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// The bytes of an answer that are read after it was given up. If there are more, the connection is.
const DROPPED_BYTES: usize = 1 << 20;

const ROLLBACK: &str = "ROLLBACK";
const NO_PARAMETERS: [(&str, Type); 0] = [];

/// What a transaction may use of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) time: Duration,
    /// Bytes for each sort and each hash table. What needs more uses files of the server.
    pub(super) memory: usize,
    /// Whether rows are sorted instead of hashed. A hash table of long cells takes several times what it is given.
    pub(super) sorts: bool,
}

impl Allowance {
    /// For statements of this crate, which sort little.
    pub(super) fn of_time(time: Duration) -> Self {
        Allowance { time, memory: 4 << 20, sorts: false }
    }
}

/// The start of a transaction whose settings end with it. Values that the server converts to texts do not depend on the settings of a
/// role or a database, except that these decide whether the day or the month comes first in `1/2/2020`.
pub(super) fn beginning(allowance: Allowance, search_path: &str, version: u32) -> String {
    let milliseconds = allowance.time.as_millis().clamp(1, 86_400_000);
    // The least and the most that every version accepts.
    let kilobytes = (allowance.memory >> 10).clamp(64, 1 << 20);
    // Earlier versions have no such setting, and hash tables as large as sorts.
    let hash_memory = if version >= 13 { "; SET LOCAL hash_mem_multiplier = 1" } else { "" };
    let sorting = match allowance.sorts {
        true => "; SET LOCAL enable_hashjoin = off; SET LOCAL enable_hashagg = off",
        false => "",
    };
    format!(
        "START TRANSACTION READ ONLY; SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; \
         SET LOCAL idle_in_transaction_session_timeout = 60000; SET LOCAL search_path = {search_path}; \
         SET LOCAL standard_conforming_strings = on; SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; \
         SET LOCAL intervalstyle = 'postgres'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; \
         SET LOCAL transform_null_equals = off; SET LOCAL jit = off; \
         SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL cursor_tuple_fraction = 1; \
         SET LOCAL work_mem = {kilobytes}{hash_memory}{sorting}"
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
    /// Some columns of the answer can only be printed by the server, and have to be converted to these types.
    Unprintable(Vec<Option<&'static str>>),
}

impl RunError {
    /// Returns what a user of the rows is told.
    pub(super) fn fault(self) -> Fault {
        match self {
            RunError::Lost(message) => Fault::Runtime(message),
            RunError::Fault(fault) | RunError::Unread(fault) => fault,
            RunError::Unprintable(_) => Fault::Runtime("some columns have unknown types".to_owned()),
        }
    }
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

/// A function that is called with each row of an answer.
pub(super) type EachRow<'e> = dyn FnMut(&[ReadCell<'_>]) -> Result<(), Fault> + 'e;

/// Runs one query and calls `each_row` with each of its first rows, or with all. Every type in its answer must be known to
/// the driver by now, which would wait for ever otherwise: it asks about a type after the rows are on their way.
pub(super) async fn run(
    client: &Client,
    beginning: &str,
    sql: &str,
    rows: Option<usize>,
    each_row: &mut EachRow<'_>,
) -> Result<(), RunError> {
    let cursor = format!("DECLARE xpr NO SCROLL CURSOR FOR {sql}");
    let fetch = match rows {
        Some(rows) => format!("FETCH {rows} FROM xpr"),
        None => "FETCH ALL FROM xpr".to_owned(),
    };
    let begin = async { Ok(client.batch_execute(beginning).await) };
    let declare = async { Ok(client.execute_typed(&cursor, &[]).await) };
    // Nobody waits for the end of a transaction whose rows are not read.
    let read = async {
        match read_rows(client, &fetch, each_row).await {
            Err(RunError::Unread(fault)) => Err(RunError::Unread(fault)),
            outcome => Ok(outcome),
        }
    };
    let roll_back = async { Ok(client.batch_execute(ROLLBACK).await) };
    let (begun, declared, read, rolled_back) = try_join4(begin, declare, read, roll_back).await?;
    // The first error is the reason of those after it.
    begun?;
    declared?;
    read?;
    Ok(rolled_back?)
}

/// Calls `each_row` with each row that a statement returns. After a fault, a few more rows are read and dropped, so that the
/// connection can be used again.
async fn read_rows(client: &Client, fetch: &str, each_row: &mut EachRow<'_>) -> Result<(), RunError> {
    let mut rows = pin!(client.query_typed_raw(fetch, NO_PARAMETERS).await?);
    let mut outcome = Ok(());
    let mut dropped = 0;
    while let Some(row) = rows.try_next().await? {
        if outcome.is_ok() {
            outcome = read_row(&row).and_then(|cells| Ok(each_row(&cells)?));
            continue;
        }
        dropped += row.raw_size_bytes();
        if dropped > DROPPED_BYTES {
            return match outcome {
                Err(RunError::Fault(fault)) => Err(RunError::Unread(fault)),
                outcome => outcome,
            };
        }
    }
    outcome
}

fn read_row(row: &Row) -> Result<Vec<ReadCell<'_>>, RunError> {
    let mut cells = Vec::with_capacity(row.len());
    let mut conversions = vec![None; row.len()];
    for (index, column) in row.columns().iter().enumerate() {
        let raw: RawCell<'_> = row.try_get(index)?;
        match cells::read(column.type_(), &raw) {
            Some(cell) => cells.push(cell),
            None => conversions[index] = Some(cells::printed_as(column.type_())),
        }
    }
    if cells.len() == row.len() { Ok(cells) } else { Err(RunError::Unprintable(conversions)) }
}

/// Returns the server's plan of a query in JSON.
pub(super) async fn plan(client: &Client, beginning: &str, sql: &str) -> Result<String, RunError> {
    let rows = rows(client, beginning, &format!("EXPLAIN (FORMAT JSON) {sql}"), &[]).await?;
    let Some(row) = rows.first() else { return Err(Fault::Runtime("no plan".to_owned()).into()) };
    let plan: RawCell<'_> = row.try_get(0)?;
    Ok(String::from_utf8_lossy(plan.0.unwrap_or_default()).into_owned())
}

/// Returns the names of the columns of a query, which does not run. The driver learns their types.
pub(super) async fn columns(client: &Client, beginning: &str, sql: &str) -> Result<Vec<String>, RunError> {
    let (begun, statement) = join(client.batch_execute(beginning), client.prepare(sql)).await;
    // A statement that has a name is closed before the transaction ends: a pool may give the next one to another server.
    let names = statement
        .map(|statement| statement.columns().iter().map(|column| column.name().to_owned()).collect());
    client.batch_execute(ROLLBACK).await?;
    begun?;
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
    let (begun, rows, rolled_back) = join3(begin, query, client.batch_execute(ROLLBACK)).await;
    begun?;
    let rows = rows?;
    rolled_back?;
    Ok(rows)
}
