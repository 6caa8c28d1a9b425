//! One connection to a server, and queries in transactions that are always rolled back.
//!
//! A query runs by the extended protocol, which takes one statement only, in a read-only transaction whose settings end with
//! it (`transaction.rs`). The server stops a statement at its time limit. If the server does not, because it is busy with
//! something that cannot be interrupted or because the network is gone, this side cancels the statement and closes the
//! connection.

use super::address::Address;
use super::tls;
use super::transaction::{self, Allowance, EachRow, PlanCheck, QueryToRun, RunError, with_source};
use crate::Fault;
use crate::database::DatabaseError;
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

    /// Returns the schemas in which names without one are looked up, as a setting has them.
    fn search_path(&self) -> &str {
        match self.search_path.get().map(String::as_str) {
            None | Some("") => "pg_catalog",
            Some(path) => path,
        }
    }
}

/// A connection to a server.
pub(super) struct Session {
    server: Arc<Server>,
    runtime: Runtime,
    client: Option<Client>,
    /// The major version of the server.
    version: u32,
}

impl Session {
    /// Connects to a server.
    pub(super) fn open(server: &Arc<Server>) -> Result<Session, DatabaseError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|source| {
            DatabaseError::Connection { address: server.address.text.clone(), message: source.to_string() }
        })?;
        let mut session = Session { server: Arc::clone(server), runtime, client: None, version: 0 };
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
        Ok(())
    }

    /// Runs one statement of this crate and returns its rows.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
        time: Duration,
    ) -> Result<Vec<Row>, RunError> {
        self.in_transaction(Allowance::of_time(time), async |client, beginning| {
            transaction::rows(client, beginning, sql, parameters).await
        })
    }

    /// Runs one query and calls `each_row` with each row. The query does not run if `check` refuses its plan.
    pub(super) fn run(
        &mut self,
        query: &QueryToRun<'_>,
        allowance: Allowance,
        check: Option<&PlanCheck<'_>>,
        each_row: &mut EachRow<'_>,
    ) -> Result<(), RunError> {
        self.in_transaction(allowance, async |client, beginning| {
            transaction::run(client, beginning, query, check, each_row).await
        })
    }

    /// Returns the names of the columns of a query, which does not run.
    pub(super) fn column_names(&mut self, sql: &str, allowance: Allowance) -> Result<Vec<String>, RunError> {
        self.in_transaction(allowance, async |client, beginning| {
            transaction::column_names(client, beginning, sql).await
        })
    }

    /// Calls `work` with the connection and the statements that begin a transaction, for at most the time that is allowed.
    fn in_transaction<T>(
        &mut self,
        allowance: Allowance,
        work: impl AsyncFnOnce(&Client, &str) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect()?;
        }
        let Some(client) = &self.client else { return Err(RunError::Lost("not connected".to_owned())) };
        let beginning = transaction::beginning(allowance, self.server.search_path(), self.version);
        let finished = self
            .runtime
            .block_on(async { timeout(allowance.time + GRACE, work(client, &beginning)).await })
            .unwrap_or(Err(RunError::Unread(Fault::Limit("time"))));
        match finished {
            Err(RunError::Unread(fault)) => {
                let cancel = client.cancel_token();
                let cancel = cancel.cancel_query(self.server.tls.clone());
                let _ = self.runtime.block_on(async { timeout(CANCEL_TIME, cancel).await });
                self.client = None;
                Err(RunError::Fault(fault))
            }
            Err(RunError::Lost(reason)) => {
                self.client = None;
                Err(RunError::Lost(reason))
            }
            other => other,
        }
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
        None if message.contains("TLS") || message.contains("certificate") => {
            DatabaseError::Encryption { address: text, message }
        }
        _ => DatabaseError::Connection { address: text, message },
    }
}
