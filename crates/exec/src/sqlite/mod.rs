//! SQLite databases.
//!
//! A [`SqliteDatabase`] is a file opened for reading in such a way that nothing can change it. A [`SqliteRunner`] runs
//! queries on it, within limits that count steps, so that a query is stopped on every machine or on none.
//!
//! *Architecture invariant:* not a byte of the file changes and no file appears beside it, whatever the query and
//! whatever the content of the file.
//!
//! *Architecture invariant:* all that is read through one [`SqliteDatabase`] is of one state of the file.

mod authorizer;
mod database;
mod files;
mod functions;
mod guard;
mod memory;
mod patience;
mod runner;
mod snapshot;
mod tables;
mod values;
mod watchdog;

pub use database::SqliteDatabase;
pub use memory::prepare_engine;
pub use runner::{QueryCheck, QueryFacts, SqliteRunner};
pub use snapshot::SnapshotKind;
pub use watchdog::{TimeLimit, TimedUse, on_unresponsive};
