//! The dialects of SQL.

/// The SQL that a database understands. The tree of a query is the same for all dialects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// That of SQLite.
    #[default]
    Sqlite,
    /// That of PostgreSQL.
    Postgres,
    /// That of DuckDB.
    DuckDb,
}

impl Dialect {
    /// Returns whether values have types, so that a value of another type is an error and not converted.
    pub(super) fn has_strict_types(self) -> bool {
        self != Dialect::Sqlite
    }

    /// Returns the schema whose tables need no qualifier.
    pub(super) fn default_namespace(self) -> &'static str {
        match self {
            Dialect::Sqlite | Dialect::DuckDb => "main",
            Dialect::Postgres => "public",
        }
    }
}
