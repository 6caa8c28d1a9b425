//! What is wrong with a query, before it is run.

use super::query::Query;
use super::reader::{self, Quotes};
use super::schema::Schema;
use super::typing;
use super::writer::Writer;
use crate::SyntaxError;
use thiserror::Error;

/// Why a query is not run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CheckError {
    /// It is not SQL.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is SQL, but not one `SELECT` statement.
    #[error("not one SELECT statement")]
    NotOneSelect,
    /// It names a table or column that is not there, or more than one.
    #[error("unknown name: {0}")]
    UnknownName(String),
    /// It uses a value as what it certainly is not.
    #[error("type error: {0}")]
    TypeError(String),
    /// It may be sound, but [`Query`] cannot hold it.
    #[error("not supported: {0}")]
    NotSupported(String),
}

/// A query that is sound as far as anybody can tell without running it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The query.
    pub query: Query,
    /// Its canonical text: one `SELECT`, names of the schema only, constants escaped.
    pub text: String,
    /// Whether the order of its rows is part of the answer.
    pub ordered: bool,
}

/// Reads a query and looks for mistakes.
///
/// # Errors
/// If it is no query of this schema, or certainly a mistake.
pub fn check(text: &str, schema: &Schema) -> Result<Checked, CheckError> {
    check_quoted(text, schema, Quotes::AsSqlite)
}

/// The same as [`check`] for texts with other quotes.
///
/// # Errors
/// If it is no query of this schema, or certainly a mistake.
pub fn check_quoted(text: &str, schema: &Schema, quotes: Quotes) -> Result<Checked, CheckError> {
    let query = reader::read(text, schema, quotes)?;
    if let Some(mistake) = typing::mistake(&query, None, schema) {
        return Err(CheckError::TypeError(mistake));
    }
    let text = Writer::new(schema).write(&query, schema);
    let ordered = !query.order.is_empty();
    Ok(Checked { query, text, ordered })
}
