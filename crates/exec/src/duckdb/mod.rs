//! DuckDB databases, and folders of CSV and Parquet files, read and never changed.
//!
//! DuckDB runs in a child process ([`prepare_program`]), because a function on long texts does not obey its limits. A query passes
//! three gates:
//!
//! 1. The guard of [`xpr_lang::sql::guard`] decides on the syntax tree what is sent: one `SELECT` that reads known tables and
//!    calls functions of a list.
//! 2. The child has attached the file for reading only, and DuckDB's access to other files, its extensions and its settings are
//!    closed.
//! 3. The operating system limits the child's memory and lets it write to no file. The parent kills it when its time is over.
//!
//! A file is attached to an empty database, so that functions and operators that the file defines are not those of a query. CSV files are
//! loaded into a private file; Parquet files are read where they are.
//!
//! *Architecture invariant:* no code of DuckDB runs in the program's own process.
//!
//! *Architecture invariant:* nothing is sent that was not written by this module or by the guard, and nothing that the child sends
//! is trusted.
//!
//! Without the cargo feature `duckdb` there is only the error that says so.

mod error;

#[cfg(all(feature = "duckdb", not(unix)))]
compile_error!(
    "the feature duckdb needs an operating system that can limit a process, such as Linux or macOS"
);

#[cfg(feature = "duckdb")]
mod catalog;
#[cfg(feature = "duckdb")]
mod cells;
#[cfg(feature = "duckdb")]
mod child;
#[cfg(feature = "duckdb")]
mod database;
#[cfg(feature = "duckdb")]
mod engine;
#[cfg(feature = "duckdb")]
mod folder;
#[cfg(feature = "duckdb")]
mod functions;
#[cfg(feature = "duckdb")]
mod plan;
#[cfg(feature = "duckdb")]
mod runner;
#[cfg(feature = "duckdb")]
mod session;
#[cfg(feature = "duckdb")]
mod timer;
#[cfg(feature = "duckdb")]
mod values;
#[cfg(feature = "duckdb")]
mod wire;

pub use error::DuckDbError;

#[cfg(feature = "duckdb")]
pub use database::DuckDbDatabase;
#[cfg(feature = "duckdb")]
pub use runner::DuckDbRunner;

use crate::database::{Database, DatabaseError};
use std::path::Path;

/// Makes child processes of this program run DuckDB. A program that reads DuckDB databases calls this first in `main`: in a child
/// process, it does not return.
pub fn prepare_program() {
    #[cfg(feature = "duckdb")]
    database::prepare_program();
}

/// Returns the path of an address, if it is one of DuckDB.
pub(crate) fn path_of(address: &str) -> Option<&str> {
    let has_ending = address.ends_with(".duckdb") && !address.contains("://");
    address.strip_prefix("duckdb:").or(Some(address).filter(|_| has_ending)).filter(|path| !path.is_empty())
}

/// Opens the database at a path.
pub(crate) fn open(address: &str, path: &Path) -> Result<Box<dyn Database>, DatabaseError> {
    #[cfg(feature = "duckdb")]
    {
        let _ = address;
        Ok(Box::new(DuckDbDatabase::open(path)?))
    }
    #[cfg(not(feature = "duckdb"))]
    {
        let _ = path;
        Err(DuckDbError::NotBuilt { address: address.to_owned() }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_a_path_of_duckdb_are_known() {
        for (address, path) in [
            ("duckdb:music.duckdb", Some("music.duckdb")),
            ("duckdb:exports/", Some("exports/")),
            ("a/music.duckdb", Some("a/music.duckdb")),
            ("duckdb:", None),
            ("sqlite:music.db", None),
            ("postgres://host/music.duckdb", None),
        ] {
            assert_eq!(path_of(address), path, "{address}");
        }
    }

    #[cfg(not(feature = "duckdb"))]
    #[test]
    fn without_the_feature_the_error_says_how_to_build_with_it() {
        let error = crate::database::open("duckdb:music.duckdb", Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("cargo build --release --features duckdb"), "{error}");
    }
}
