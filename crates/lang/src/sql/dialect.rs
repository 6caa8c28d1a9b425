//! The dialects of SQL.

/// The SQL that a database understands. The tree of a query is the same for all dialects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// That of SQLite.
    #[default]
    Sqlite,
    /// That of PostgreSQL.
    Postgres,
}
