//! PostgreSQL databases, read and never changed.
//!
//! A [`PostgresDatabase`] is a database on a server, opened with a role that can only read. A query passes three gates:
//!
//! 1. The guard of [`xpr_lang::sql::guard`] decides on the syntax tree what is sent: one `SELECT` that reads known tables and
//!    calls functions of a list.
//! 2. It runs in a read-only transaction that is always rolled back, by the protocol that takes one statement only.
//! 3. The role may not write; one that may is refused when the database is opened.
//!
//! The server stops a query at its time limit, and a guess whose plan costs too much does not run. A server that goes away is
//! waited for, and the query runs again.
//!
//! *Architecture invariant:* nothing is sent that was not written by this module or by the guard.
//!
//! *Architecture invariant:* no setting outlives a transaction.

mod address;
mod catalog;
mod cells;
mod database;
mod functions;
mod role;
mod runner;
mod session;
#[cfg(test)]
mod tests;
mod tls;
mod transaction;
mod values;

pub use database::PostgresDatabase;
pub use runner::PostgresRunner;

pub(crate) use address::is_postgres;
