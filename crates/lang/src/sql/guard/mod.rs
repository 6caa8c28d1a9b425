//! What a query may contain, decided on its syntax tree before anything is sent to a database.
//!
//! [`guard`] accepts one `SELECT` or `WITH … SELECT` that reads known tables and calls known functions, and whatever is not
//! known to be harmless is refused. The database gets the text of the tree that was checked, not the text that was read, so
//! that nothing depends on the database parsing it in the same way: comments, escapes and unusual quotes are gone.
//!
//! A database runs functions that no tree of a query names: `t.f` calls the function `f` if the table `t` has no such column,
//! `a + b` may call a function of an operator that a user defined, and a function of a user's schema can have the name of a
//! harmless one. So tables are named with the schema that has them, and functions of PostgreSQL with the schema `pg_catalog`. Then the
//! database need not search users' schemas for anything. Every name must be that of a column or of something that the
//! query defines.

mod call;
mod expression;
mod gathering;
mod query;
mod spelling;

pub use gathering::GatheredRows;

use super::check::CheckError;
use super::reader::{parse, with_enough_stack};
use super::schema::{Schema, TableId};
use rustc_hash::FxHashSet;
use sqlparser::ast::{self, Ident};
use thiserror::Error;

/// The name under which a DuckDB file is attached. The file may define functions with the names of harmless ones, which DuckDB
/// does not find there, because the guard qualifies the tables only.
pub const DUCKDB_CATALOG: &str = "attached";
/// The depth of queries and expressions. A chain of operators is not deep.
const MAX_DEPTH: usize = 100;
/// The factor by which a query may make a text longer than those of the cells.
const MAX_GROWTH: usize = 64;

/// A query is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GuardError {
    /// The text is not SQL.
    #[error("{0}")]
    Syntax(String),
    /// The query may do something else than read the tables of the schema.
    #[error("refused: {0}")]
    Refused(String),
}

/// A query that only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedQuery {
    /// The text to run.
    pub text: String,
    /// Whether there is an `ORDER BY` that orders the rows of the answer.
    pub ordered: bool,
    /// The tables that it reads, each as often as it is named.
    pub tables: Vec<TableId>,
    /// Whether it joins the texts of many rows to one, which can be as large as all of them.
    pub joins_texts: bool,
    /// The rows that an engine may gather in memory, however many there are.
    pub gathered: Vec<GatheredRows>,
    /// The most sorts and hash tables that it needs at once.
    pub steps: usize,
}

/// Checks that a query only reads tables of a schema and calls functions of a list, which is sorted.
///
/// # Errors
/// If it is not such a query, or is too large.
pub fn guard(text: &str, schema: &Schema, functions: &[&str]) -> Result<GuardedQuery, GuardError> {
    with_enough_stack(text, || guard_statement(text, schema, functions))
}

fn guard_statement(text: &str, schema: &Schema, functions: &[&str]) -> Result<GuardedQuery, GuardError> {
    if text.contains('\0') {
        return Err(refused("a NUL character"));
    }
    let statement = parse(text, schema.dialect).map_err(|error| match error {
        CheckError::Syntax(error) => GuardError::Syntax(error.to_string()),
        CheckError::NotOneSelect => refused("not one statement"),
        other => refused(other.to_string()),
    })?;
    let ast::Statement::Query(mut query) = statement else {
        return Err(refused("a statement that does more than read"));
    };
    let mut guard = Guard {
        schema,
        functions,
        common_tables: Vec::new(),
        names: FxHashSet::default(),
        used_names: Vec::new(),
        depth: 0,
        sources: 0,
        growth: 1,
        tables: Vec::new(),
        joins_texts: false,
        gathered: Vec::new(),
        common_reads: 0,
        steps: 0,
    };
    guard.query(&mut query)?;
    let Guard { mut names, used_names, tables, joins_texts, gathered, steps, .. } = guard;
    let columns = tables.iter().flat_map(|&table| &schema.table(table).columns);
    names.extend(columns.map(|column| column.name.to_ascii_lowercase()));
    if let Some(unknown) = used_names.iter().find(|name| !names.contains(*name)) {
        return Err(refused(format!("{unknown}, which is not a column")));
    }
    let ordered = query.order_by.is_some();
    Ok(GuardedQuery { ordered, text: query.to_string(), tables, joins_texts, gathered, steps })
}

fn refused(what: impl Into<String>) -> GuardError {
    GuardError::Refused(what.into())
}

type Checked = Result<(), GuardError>;

struct Guard<'s> {
    schema: &'s Schema,
    functions: &'s [&'s str],
    /// The names of common table expressions in scope.
    common_tables: Vec<String>,
    /// Every name that the query defines and that is not that of a table.
    names: FxHashSet<String>,
    /// The names of columns in expressions. Any that is not known may call a function.
    used_names: Vec<String>,
    depth: usize,
    sources: usize,
    growth: usize,
    tables: Vec<TableId>,
    joins_texts: bool,
    gathered: Vec<GatheredRows>,
    /// How often common table expressions are read.
    common_reads: usize,
    steps: usize,
}

impl Guard<'_> {
    fn is_on_list(&self, function: &str) -> bool {
        self.functions.binary_search(&function.to_ascii_lowercase().as_str()).is_ok()
    }

    /// Calls `check` one level deeper.
    fn deeper(&mut self, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(refused(format!("nesting deeper than {MAX_DEPTH}")));
        }
        let checked = check(self);
        self.depth -= 1;
        checked
    }

    /// Takes note of a name that the query defines.
    fn define(&mut self, name: &Ident) {
        self.names.insert(name.value.to_ascii_lowercase());
    }

    /// Takes note that a text becomes longer by a factor.
    fn grow(&mut self, factor: usize) -> Checked {
        self.growth = self.growth.saturating_mul(factor.max(1));
        match self.growth > MAX_GROWTH {
            true => Err(refused("a query that makes texts too long")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Column, ColumnType, Dialect, Table};

    fn schema(dialect: Dialect) -> Schema {
        let column = |name: &str| Column { name: name.to_owned(), ty: ColumnType::Text, comment: None };
        let table = |namespace: &str, name: &str| Table {
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            comment: None,
            columns: vec![column("id"), column("name")],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        Schema { tables: vec![table("public", "artist"), table("sales", "order")], dialect }
    }

    #[test]
    fn duckdb_is_sent_tables_with_the_database_that_has_them() {
        let functions = ["coalesce", "count", "lower", "replace"];
        let schema = schema(Dialect::DuckDb);
        for (text, sent) in [
            (
                "SELECT lower(a.name), COUNT(*) FROM artist AS a GROUP BY 1",
                "SELECT lower(a.name), COUNT(*) FROM \"attached\".\"public\".\"artist\" AS a GROUP BY 1",
            ),
            ("SELECT id FROM Sales.\"order\"", "SELECT id FROM \"attached\".\"sales\".\"order\""),
            (
                "WITH artist AS (SELECT id FROM sales.\"order\") SELECT id FROM artist",
                "WITH artist AS (SELECT id FROM \"attached\".\"sales\".\"order\") SELECT id FROM artist",
            ),
            ("SELECT - (-id) FROM artist", "SELECT -(-id) FROM \"attached\".\"public\".\"artist\""),
            (
                "SELECT name, COUNT(*) FROM artist GROUP BY ALL",
                "SELECT name, COUNT(*) FROM \"attached\".\"public\".\"artist\" GROUP BY ALL",
            ),
        ] {
            assert_eq!(guard(text, &schema, &functions).unwrap().text, sent);
        }
        for text in [
            "SELECT * FROM 'artist.csv'",
            "SELECT * FROM \"artist.csv\"",
            "SELECT * FROM read_csv('/etc/passwd')",
            "FROM artist",
            "SELECT * EXCLUDE (name) FROM artist",
            "SELECT COLUMNS('n.*') FROM artist",
            "SELECT name.lower() FROM artist",
            "SELECT rowid FROM artist",
            "SELECT id FROM artist ORDER BY ALL",
            "SELECT id FROM other.main.artist",
            "SELECT id FROM artist QUALIFY row_number() OVER () = 1",
            "SELECT system.main.lower(name) FROM artist",
            "SELECT [id] FROM artist",
            "SELECT {'a': id} FROM artist",
            "SELECT count(x -> x + 1) FROM artist",
            "PIVOT artist ON name",
            "DESCRIBE artist",
            "PRAGMA database_list",
            "INSTALL httpfs",
            "SET threads = 8",
        ] {
            assert!(guard(text, &schema, &functions).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_sent_has_no_comment() {
        for dialect in [Dialect::Postgres, Dialect::DuckDb] {
            let sent = guard("SELECT - - id, - -1, + - id FROM artist", &schema(dialect), &[]).unwrap().text;
            assert!(!sent.contains("--"), "{sent}");
        }
    }

    #[test]
    fn what_is_sent_is_what_was_checked() {
        let functions = ["coalesce", "count", "lower", "replace", "substring"];
        let cases = [
            ("SELECT /* ; */ name FROM artist -- x", "SELECT name FROM \"public\".\"artist\""),
            (
                "SELECT COUNT(*) n FROM sales.\"order\" ORDER BY n;",
                "SELECT pg_catalog.COUNT(*) AS n FROM \"sales\".\"order\" ORDER BY n",
            ),
            (
                "SELECT coalesce(name, 'it''s') FROM artist",
                "SELECT coalesce(name, 'it''s') FROM \"public\".\"artist\"",
            ),
            ("SELECT `name` FROM ARTIST", "SELECT \"name\" FROM \"public\".\"artist\""),
            (
                "WITH a AS (SELECT id AS x FROM artist) SELECT a.x FROM a",
                "WITH a AS (SELECT id AS x FROM \"public\".\"artist\") SELECT a.x FROM a",
            ),
            // The role may not read all columns.
            (
                "SELECT * FROM artist",
                "SELECT \"public\".\"artist\".\"id\", \"public\".\"artist\".\"name\" FROM \"public\".\"artist\"",
            ),
            (
                "SELECT b.* FROM artist AS a JOIN sales.\"order\" AS b ON a.id = b.id",
                "SELECT b.\"id\", b.\"name\" FROM \"public\".\"artist\" AS a JOIN \"sales\".\"order\" AS b ON a.id = b.id",
            ),
            (
                "SELECT * FROM artist AS a NATURAL JOIN artist AS b",
                "SELECT * FROM \"public\".\"artist\" AS a NATURAL JOIN \"public\".\"artist\" AS b",
            ),
            ("SELECT * FROM (SELECT 1 AS x) AS t", "SELECT * FROM (SELECT 1 AS x) AS t"),
        ];
        for (text, sent) in cases {
            assert_eq!(guard(text, &schema(Dialect::Postgres), &functions).unwrap().text, sent);
        }
        for text in [
            "SELECT artist.lower FROM artist",
            "SELECT pg_sleep(1)",
            "SELECT 'a\\''''' FROM artist",
            "SELECT $$a$$ FROM artist",
            "SELECT name FROM hr.artist",
            "SELECT 'pg_class'::regclass FROM artist",
            "SELECT public.lower(name) FROM artist",
            "SELECT replace(name, 'a', name) FROM artist",
            "SELECT substring(name, '(a+)+b') FROM artist",
            "SELECT substring(name FROM name) FROM artist",
            "SELECT substring(name FROM 'a#\"b#\"c' FOR '#') FROM artist",
            "SELECT substring(name FROM (SELECT name FROM artist)) FROM artist",
            "SELECT name FROM artist FOR UPDATE",
            "SELECT name INTO copy FROM artist",
            "WITH a AS (DELETE FROM artist RETURNING id) SELECT id FROM a",
        ] {
            assert!(guard(text, &schema(Dialect::Postgres), &functions).is_err(), "{text}");
        }
    }
}
