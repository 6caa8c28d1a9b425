//! Checks queries before they run.

use super::query::Query;
use super::reader::{self, Quotes};
use super::schema::Schema;
use super::typing;
use super::writer::Writer;
use crate::SyntaxError;
use thiserror::Error;

/// A query is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CheckError {
    /// The text is not SQL.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The text is SQL, but not one `SELECT` statement.
    #[error("not one SELECT statement")]
    NotOneSelect,
    /// A name of a table or column is unknown or ambiguous.
    #[error("unknown name: {0}")]
    UnknownName(String),
    /// A value is used as a type that it certainly does not have.
    #[error("type error: {0}")]
    TypeError(String),
    /// The query may be correct, but [`Query`] cannot represent it.
    #[error("not supported: {0}")]
    NotSupported(String),
}

/// A query without mistakes, as far as that is certain without running it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedQuery {
    /// The query.
    pub query: Query,
    /// The canonical text: one `SELECT` with names of the schema and escaped constants.
    pub text: String,
    /// Whether the query has `ORDER BY`, so that the order of its rows matters.
    pub ordered: bool,
}

/// Reads a query and checks its names and types.
///
/// # Errors
/// Errors if the text is not a query of this schema, or has a mistake that is certain without running it.
pub fn check(text: &str, schema: &Schema) -> Result<CheckedQuery, CheckError> {
    check_with_quotes(text, schema, Quotes::AsSqlite)
}

/// Does what [`check`] does, for texts in which double quotes have another meaning.
///
/// # Errors
/// Errors in the same cases as [`check`].
pub fn check_with_quotes(text: &str, schema: &Schema, quotes: Quotes) -> Result<CheckedQuery, CheckError> {
    let query = reader::read(text, schema, quotes)?;
    if let Some(mistake) = typing::find_mistake(&query, None, schema) {
        return Err(CheckError::TypeError(mistake));
    }
    let text = Writer::new(schema).write(&query, schema);
    let ordered = !query.order.is_empty();
    Ok(CheckedQuery { query, text, ordered })
}
