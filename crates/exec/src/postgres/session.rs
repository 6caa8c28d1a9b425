//! One connection to a server, and queries in transactions that are always rolled back.
//!
//! A query runs by the extended protocol, which takes one statement only, in a read-only transaction whose settings end with
//! it. The server stops a statement at its time limit. If the server does not, because it is busy with something that cannot
//! be interrupted or because the network is gone, this side cancels the statement and closes the connection.

use super::address::Address;
use super::cells::{self, RawCell, ReadCell};
use super::tls;
use crate::Fault;
use crate::database::DatabaseError;
use futures_util::TryStreamExt;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long after its limit a statement is given up that the server should have stopped.
const GRACE: Duration = Duration::from_millis(40);
/// How long asking the server to cancel a statement may take.
const CANCEL_TIME: Duration = Duration::from_millis(500);
/// The rows that the server sends at once.
const ROWS_AT_ONCE: i32 = 1000;
/// The times between two attempts to reach a server that went away: the first, and the longest. They double.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// A server, as all connections to it know it.
pub(super) struct Server {
    pub(super) address: Address,
    tls: MakeRustlsConnect,
    /// The schemas in which names without one are looked up.
    search_path: OnceLock<String>,
    /// Why the server cannot be reached any more, once that is so.
    lost: Mutex<Option<String>>,
}

impl Server {
    pub(super) fn new(address: Address) -> Result<Server, DatabaseError> {
        let tls = tls::connector(&address)
            .map_err(|message| DatabaseError::Encryption { address: address.text.clone(), message })?;
        Ok(Server { address, tls, search_path: OnceLock::new(), lost: Mutex::new(None) })
    }

    /// Sets the schemas in which names without one are looked up. The first call counts.
    pub(super) fn set_search_path(&self, schemas: &[String]) {
        let quoted: Vec<String> =
            schemas.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let _ = self.search_path.set(quoted.join(", "));
    }

    /// Returns why the server cannot be reached any more; `None` if it can.
    pub(super) fn loss(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_lost(&self, reason: String) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    /// Returns the settings of a transaction. They do not outlive it.
    fn settings(&self, time: Duration) -> String {
        let milliseconds = time.as_millis().clamp(1, 86_400_000);
        let search_path = match self.search_path.get().map(String::as_str) {
            None | Some("") => "pg_catalog",
            Some(path) => path,
        };
        format!(
            "SET LOCAL statement_timeout = {milliseconds}; SET LOCAL lock_timeout = {milliseconds}; \
             SET LOCAL idle_in_transaction_session_timeout = 60000; SET LOCAL search_path = {search_path}; \
             SET LOCAL standard_conforming_strings = on; SET LOCAL timezone = 'UTC'; SET LOCAL jit = off; \
             SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL work_mem = '8MB'"
        )
    }
}

/// Why a query has no answer.
#[derive(Debug)]
pub(super) enum RunError {
    /// The connection is gone.
    Lost(String),
    /// The query failed.
    Fault(Fault),
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

fn with_source(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Decides from the server's plan of a query whether it runs.
pub(super) type PlanCheck<'c> = dyn Fn(&str) -> Result<(), Fault> + 'c;
/// A function that is called with each row of an answer.
pub(super) type EachRow<'e> = dyn FnMut(&[ReadCell<'_>]) -> Result<(), Fault> + 'e;

/// A connection to a server.
pub(super) struct Session {
    server: Arc<Server>,
    runtime: Runtime,
    client: Option<Client>,
}

impl Session {
    /// Connects to a server.
    pub(super) fn open(server: &Arc<Server>) -> Result<Session, DatabaseError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|source| {
            DatabaseError::Connection { address: server.address.text.clone(), message: source.to_string() }
        })?;
        let mut session = Session { server: Arc::clone(server), runtime, client: None };
        session.connect().map_err(|error| connection_error(&server.address, &error))?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), Error> {
        let server = Arc::clone(&self.server);
        let client = self.runtime.block_on(async {
            let (client, connection) = server.address.config.connect(server.tls.clone()).await?;
            // It runs whenever this thread waits for an answer.
            tokio::spawn(connection);
            Ok::<_, Error>(client)
        })?;
        self.client = Some(client);
        Ok(())
    }

    /// Runs one statement of this crate and returns its rows.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
        time: Duration,
    ) -> Result<Vec<Row>, RunError> {
        self.in_transaction(time, async |transaction| Ok(transaction.query(sql, parameters).await?))
    }

    /// Runs one query and calls `each_row` with each row. The query does not run if `check` refuses its plan.
    pub(super) fn run(
        &mut self,
        sql: &str,
        time: Duration,
        check: Option<&PlanCheck<'_>>,
        each_row: &mut EachRow<'_>,
    ) -> Result<(), RunError> {
        self.in_transaction(time, async |transaction| {
            if let Some(check) = check {
                let plan = transaction.query_one(&format!("EXPLAIN (FORMAT JSON) {sql}"), &[]).await?;
                let plan: RawCell<'_> = plan.try_get(0)?;
                check(&String::from_utf8_lossy(plan.0.unwrap_or_default()))?;
            }
            let statement = transaction.prepare(sql).await?;
            if !statement.params().is_empty() {
                return Err(Fault::Runtime("refused: a query with parameters".to_owned()).into());
            }
            let types: Vec<Type> = statement.columns().iter().map(|column| column.type_().clone()).collect();
            let portal = transaction.bind(&statement, &[]).await?;
            loop {
                let mut rows = pin!(transaction.query_portal_raw(&portal, ROWS_AT_ONCE).await?);
                let mut count = 0;
                while let Some(row) = rows.try_next().await? {
                    count += 1;
                    each_row(&read_row(&row, &types)?)?;
                }
                if count < ROWS_AT_ONCE {
                    return Ok(());
                }
            }
        })
    }

    /// Returns the names of the columns of a query, which does not run.
    pub(super) fn column_names(&mut self, sql: &str, time: Duration) -> Result<Vec<String>, RunError> {
        self.in_transaction(time, async |transaction| {
            let statement = transaction.prepare(sql).await?;
            Ok(statement.columns().iter().map(|column| column.name().to_owned()).collect())
        })
    }

    /// Calls `work` in a read-only transaction, which is rolled back whatever happens.
    fn in_transaction<T>(
        &mut self,
        time: Duration,
        work: impl AsyncFnOnce(&Transaction<'_>) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect()?;
        }
        let Some(client) = &mut self.client else { return Err(RunError::Lost("not connected".to_owned())) };
        let settings = self.server.settings(time);
        let cancel = client.cancel_token();
        let finished = self.runtime.block_on(async {
            let work = async {
                let transaction = client.build_transaction().read_only(true).start().await?;
                transaction.batch_execute(&settings).await?;
                let outcome = work(&transaction).await;
                transaction.rollback().await?;
                outcome
            };
            timeout(time + GRACE, work).await
        });
        let outcome = finished.unwrap_or_else(|_| {
            let cancel = cancel.cancel_query(self.server.tls.clone());
            let _ = self.runtime.block_on(async { timeout(CANCEL_TIME, cancel).await });
            self.client = None;
            Err(RunError::Fault(Fault::Limit("time")))
        });
        if matches!(outcome, Err(RunError::Lost(_))) {
            self.client = None;
        }
        outcome
    }

    /// Waits until a server that went away is there again, as long as the address says. Returns whether it is.
    pub(super) fn wait_for_server(&mut self, reason: &str) -> bool {
        let start = Instant::now();
        let [mut pause, longest] = PAUSES;
        let patience = self.server.address.reconnect_timeout;
        loop {
            if self.server.loss().is_some() {
                return false;
            }
            if self.connect().is_ok() {
                return true;
            }
            if start.elapsed() >= patience {
                self.server.set_lost(reason.to_owned());
                return false;
            }
            thread::sleep(pause.min(patience));
            pause = (pause * 2).min(longest);
        }
    }
}

fn read_row<'r>(row: &'r Row, types: &[Type]) -> Result<Vec<ReadCell<'r>>, RunError> {
    let mut cells = Vec::with_capacity(types.len());
    for (index, ty) in types.iter().enumerate() {
        let raw: RawCell<'r> = row.try_get(index)?;
        cells.push(cells::read(ty, &raw)?);
    }
    Ok(cells)
}

/// Translates an error of connecting to one that says what to do. Messages of the server and of the driver have no password.
fn connection_error(address: &Address, error: &Error) -> DatabaseError {
    let (text, user) = (address.text.clone(), address.user().to_owned());
    let message =
        error.as_db_error().map_or_else(|| with_source(error), |reported| reported.message().to_owned());
    match error.code() {
        Some(code)
            if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION].contains(code) =>
        {
            DatabaseError::Authentication { address: text, user, message }
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
            DatabaseError::NoDatabase { address: text, message }
        }
        None if message.contains("password missing") => {
            DatabaseError::Authentication { address: text, user, message }
        }
        None if message.contains("TLS") || message.contains("certificate") => {
            DatabaseError::Encryption { address: text, message }
        }
        _ => DatabaseError::Connection { address: text, message },
    }
}
