//! One connection to a server, and queries in transactions that are always rolled back.
//!
//! A query runs by the extended protocol, which takes one statement only, in a read-only transaction whose settings end with
//! it (`transaction.rs`). The server stops a statement at its time limit. If the server does not, because it is busy with
//! something that cannot be interrupted or because the network is gone, this side cancels the statement and closes the
//! connection.

use super::address::Address;
use super::cells::ReadCell;
use super::tls;
use super::transaction::{self, Allowance, EachRow, RunError, with_source};
use crate::Fault;
use crate::database::DatabaseError;
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long after its limit a statement is given up that the server should have stopped.
const GRACE: Duration = Duration::from_millis(40);
/// How long asking the server to cancel a statement may take.
const CANCEL_TIME: Duration = Duration::from_millis(500);
/// The times between two attempts to reach a server that went away: the first, and the longest. They double.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// A server, as all connections to it know it.
pub(super) struct Server {
    pub(super) address: Address,
    tls: MakeRustlsConnect,
    /// The schemas in which operators are looked up. All else is named with its schema.
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

    /// Sets the schemas in which operators are looked up, besides PostgreSQL's own. The first call counts.
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

    /// Returns the schemas in which operators are looked up, as a setting has them.
    fn search_path(&self) -> &str {
        match self.search_path.get().map(String::as_str) {
            None | Some("") => "pg_catalog",
            Some(path) => path,
        }
    }
}

/// A query as it is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryToSend<'q> {
    pub(super) sql: &'q str,
    pub(super) allowance: Allowance,
}

fn total_time(queries: &[QueryToSend<'_>]) -> Duration {
    queries.iter().map(|query| query.allowance.time).sum()
}

/// What work leaves on a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// Nothing: the connection can be used again.
    Nothing,
    /// The connection is gone.
    Loss,
    /// A statement that goes on.
    Statement,
}

/// A result that says what is left on the connection.
trait MayLeave {
    fn left(&self) -> Left;
}

impl<T> MayLeave for Result<T, RunError> {
    fn left(&self) -> Left {
        match self {
            Ok(_) | Err(RunError::Fault(_) | RunError::Unprintable(_)) => Left::Nothing,
            Err(RunError::Lost(_)) => Left::Loss,
            Err(RunError::Unread(_)) => Left::Statement,
        }
    }
}

impl<T> MayLeave for Vec<Result<T, RunError>> {
    fn left(&self) -> Left {
        self.iter().map(MayLeave::left).max().unwrap_or(Left::Nothing)
    }
}

/// A connection to a server.
pub(super) struct Session {
    server: Arc<Server>,
    runtime: Runtime,
    client: Option<Client>,
    /// The major version of the server.
    version: u32,
    /// The number of times that this session connected.
    connections: u64,
}

impl Session {
    /// Connects to a server.
    pub(super) fn open(server: &Arc<Server>) -> Result<Session, DatabaseError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|source| {
            DatabaseError::Connection { address: server.address.text.clone(), message: source.to_string() }
        })?;
        let mut session =
            Session { server: Arc::clone(server), runtime, client: None, version: 0, connections: 0 };
        session.connect().map_err(|error| connection_error(&server.address, &error))?;
        Ok(session)
    }

    fn connect(&mut self) -> Result<(), Error> {
        let server = Arc::clone(&self.server);
        let (client, version) = self.runtime.block_on(async {
            let (client, connection) = server.address.config.connect(server.tls.clone()).await?;
            let version = connection.parameter("server_version").map_or(0, major_version);
            // It runs whenever this thread waits for an answer.
            tokio::spawn(connection);
            Ok::<_, Error>((client, version))
        })?;
        (self.client, self.version) = (Some(client), version);
        self.connections += 1;
        Ok(())
    }

    /// Returns the number of times that this session connected.
    pub(super) fn connections(&self) -> u64 {
        self.connections
    }

    /// Runs one statement of this crate and returns its rows.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
        time: Duration,
    ) -> Result<Vec<Row>, RunError> {
        let beginning = self.beginning(Allowance::of_time(time));
        self.within(time, async |client| transaction::rows(client, &beginning, sql, parameters).await)?
    }

    /// Runs one query of this crate and calls `each_row` with each row.
    pub(super) fn run(
        &mut self,
        sql: &str,
        time: Duration,
        each_row: &mut EachRow<'_>,
    ) -> Result<(), RunError> {
        let beginning = self.beginning(Allowance::of_time(time));
        self.within(time, async |client| transaction::run(client, &beginning, sql, None, each_row).await)?
    }

    /// Runs queries that are sent together, and calls the function of each one with each of its first `rows` rows.
    ///
    /// # Errors
    /// If all of them together take too much time, or there is no connection. A query that fails is an error in the list.
    pub(super) fn run_all<R>(
        &mut self,
        queries: &[QueryToSend<'_>],
        rows: usize,
        each_row: &mut [R],
    ) -> Result<Vec<Result<(), RunError>>, RunError>
    where
        R: FnMut(&[ReadCell<'_>]) -> Result<(), Fault>,
    {
        let beginnings = self.beginnings(queries);
        self.within(total_time(queries), async |client| {
            let each = beginnings.iter().zip(queries).zip(each_row);
            let runs = each.map(|((beginning, query), each_row)| {
                transaction::run(client, beginning, query.sql, Some(rows), each_row)
            });
            join_all(runs).await
        })
    }

    /// Returns the server's plan of each query in JSON. None of them runs.
    pub(super) fn plans(
        &mut self,
        queries: &[QueryToSend<'_>],
    ) -> Result<Vec<Result<String, RunError>>, RunError> {
        let beginnings = self.beginnings(queries);
        self.within(total_time(queries), async |client| {
            let each = beginnings.iter().zip(queries);
            join_all(each.map(|(beginning, query)| transaction::plan(client, beginning, query.sql))).await
        })
    }

    /// Returns the names of the columns of a query, which does not run. The driver knows their types from then on.
    pub(super) fn columns(&mut self, query: &QueryToSend<'_>) -> Result<Vec<String>, RunError> {
        let beginning = self.beginning(query.allowance);
        self.within(query.allowance.time, async |client| {
            transaction::columns(client, &beginning, query.sql).await
        })?
    }

    fn beginning(&self, allowance: Allowance) -> String {
        transaction::beginning(allowance, self.server.search_path(), self.version)
    }

    fn beginnings(&self, queries: &[QueryToSend<'_>]) -> Vec<String> {
        queries.iter().map(|query| self.beginning(query.allowance)).collect()
    }

    /// Calls `work` with the connection, for a little more than the time in which the server should have finished. What is
    /// still going on at the end is cancelled.
    fn within<T: MayLeave>(
        &mut self,
        time: Duration,
        work: impl AsyncFnOnce(&Client) -> T,
    ) -> Result<T, RunError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect()?;
        }
        let Some(client) = &self.client else { return Err(RunError::Lost("not connected".to_owned())) };
        let finished = self.runtime.block_on(async { timeout(time + GRACE, work(client)).await });
        let left = finished.as_ref().map_or(Left::Statement, MayLeave::left);
        if left == Left::Statement {
            let cancel = client.cancel_token();
            let cancel = cancel.cancel_query(self.server.tls.clone());
            let _ = self.runtime.block_on(async { timeout(CANCEL_TIME, cancel).await });
        }
        if left != Left::Nothing {
            self.client = None;
        }
        finished.map_err(|_| RunError::Fault(Fault::Limit("time")))
    }

    /// Returns whether there is a connection.
    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Returns the first cells of the rows of a statement that runs as the session is between transactions.
    #[cfg(test)]
    pub(super) fn outside_of_transactions(&self, sql: &str) -> Vec<String> {
        let rows = self.runtime.block_on(self.client.as_ref().unwrap().query_typed(sql, &[])).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Waits until a server that went away is there again, as long as the address says.
    pub(super) fn wait_for_server(&mut self) {
        let start = Instant::now();
        let [mut pause, longest] = PAUSES;
        let patience = self.server.address.reconnect_timeout;
        while self.server.loss().is_none() {
            let Err(error) = self.connect() else { return };
            if start.elapsed() >= patience {
                return self.server.set_lost(with_source(&error));
            }
            thread::sleep(pause.min(patience));
            pause = (pause * 2).min(longest);
        }
    }
}

/// Returns the number before the first point of a version such as `15.14 (Debian 15.14-0+deb12u1)`.
fn major_version(version: &str) -> u32 {
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().unwrap_or(0)
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
        None if message.contains("does not support TLS") => DatabaseError::NoEncryption { address: text },
        None if message.contains("TLS") || message.contains("certificate") => {
            DatabaseError::Encryption { address: text, message }
        }
        _ => DatabaseError::Connection { address: text, message },
    }
}
