//! Writes syntax trees as SQL that can only read.
//!
//! Every name is one of the schema (quoted where necessary) or generated here, every constant is escaped, and a tree is
//! one `SELECT`. So whatever a model puts into a tree, its text cannot change a database. Columns are always qualified,
//! so nothing depends on how a database resolves names. A table that occurs once in the whole query keeps its name,
//! and every other source gets a numbered one.

mod duckdb;
mod expression;
mod postgres;

use super::dialect::Dialect;
use super::function::Aggregate;
use super::identifier::quoted_in;
use super::query::{Expr, FromSource, Output, Query, Select, SortBy, SourceKind};
use super::schema::{Schema, TableId};
use super::scope::{field_names, source_width};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Writes queries of one schema. Its prefixes start generated names.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    /// The prefix for sources. No table has a name that is the prefix and a number.
    source: String,
    /// The prefix for outputs. No column has a name that is the prefix and a number.
    output: String,
    /// The qualifier of columns whose table is not in `FROM`. No table has this name.
    unbound: String,
}

impl Writer {
    pub(super) fn new(schema: &Schema) -> Self {
        let tables: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let columns = schema.tables.iter().flat_map(|table| &table.columns);
        let columns: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        Writer {
            source: free_prefix("t", &tables),
            output: free_prefix("c", &columns),
            unbound: free_prefix("unbound", &tables),
        }
    }

    /// Returns the canonical text of a query.
    pub(super) fn write(&self, query: &Query, schema: &Schema) -> String {
        let table_uses = count_tables(query);
        let mut text =
            QueryText { writer: self, schema, table_uses, out: String::new(), numbered_sources: 0 };
        text.query(query, None, false);
        text.out
    }

    /// Returns the prefix for outputs of a query in `FROM`; see [`field_names`].
    pub(super) fn output_prefix(&self) -> &str {
        &self.output
    }
}

/// Returns `wish`, with underscores appended until no name equals it or it and a number.
fn free_prefix(wish: &str, names: &[&str]) -> String {
    let mut prefix = wish.to_owned();
    let is_taken = |prefix: &str, name: &str| {
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            && name[prefix.len()..].bytes().all(|byte| byte.is_ascii_digit())
    };
    while names.iter().any(|name| is_taken(&prefix, name)) {
        prefix.push('_');
    }
    prefix
}

/// Returns whether a key to sort by may be NULL: the number of rows is never.
fn may_be_null(by: &SortBy) -> bool {
    use Aggregate::{Count, CountDistinct};
    !matches!(by, SortBy::Expr(Expr::CountRows | Expr::Aggregate(Count | CountDistinct, _)))
}

/// Counts how often each table occurs in `FROM`, at any depth.
fn count_tables(query: &Query) -> FxHashMap<TableId, u32> {
    let mut uses = FxHashMap::default();
    query.visit_queries(&mut |query| {
        for source in query.selects().flat_map(|select| &select.from) {
            if let SourceKind::Table(table) = source.kind {
                *uses.entry(table).or_default() += 1;
            }
        }
    });
    uses
}

/// A `FROM` list with the names that the text gives its sources.
struct SourceNames<'a> {
    sources: &'a [FromSource],
    names: Vec<String>,
    outer: Option<&'a SourceNames<'a>>,
}

/// The text of a query while it is written.
struct QueryText<'a> {
    writer: &'a Writer,
    schema: &'a Schema,
    /// How often each table occurs.
    table_uses: FxHashMap<TableId, u32>,
    out: String,
    /// The number of sources with numbered names so far.
    numbered_sources: u32,
}

impl QueryText<'_> {
    fn query(&mut self, query: &Query, outer: Option<&SourceNames<'_>>, in_from: bool) {
        let is_compound = !query.rest.is_empty();
        let fields = if in_from { field_names(query, self.schema, &self.writer.output) } else { vec![] };
        let sort = if is_compound { None } else { Some(query) };
        self.select(&query.first, outer, &fields, sort);
        for (operator, select) in &query.rest {
            self.push(format_args!(" {} ", operator.name()));
            self.select(select, outer, &[], None);
        }
        if is_compound {
            self.order(query, None);
        }
        if let Some(limit) = &query.limit {
            self.push(format_args!(" LIMIT {}", limit.rows));
            if let Some(offset) = &limit.offset {
                self.push(format_args!(" OFFSET {offset}"));
            }
        }
    }

    /// Writes a select, with the names that its outputs need, and with the sort keys of `sort`, which may use its
    /// columns.
    fn select(
        &mut self,
        select: &Select,
        outer: Option<&SourceNames<'_>>,
        fields: &[Option<String>],
        sort: Option<&Query>,
    ) {
        let names: Vec<String> = select.from.iter().map(|source| self.source_name(source)).collect();
        let names = SourceNames { sources: &select.from, names, outer };
        self.outputs(select, fields, &names);
        self.from(select, &names);
        if let Some(condition) = &select.condition {
            self.out.push_str(" WHERE ");
            self.expr(condition, &names);
        }
        for (index, expr) in select.group.iter().enumerate() {
            self.out.push_str(if index == 0 { " GROUP BY " } else { ", " });
            self.expr(expr, &names);
        }
        if let Some(condition) = &select.having {
            self.out.push_str(" HAVING ");
            self.expr(condition, &names);
        }
        if let Some(query) = sort {
            self.order(query, Some(&names));
        }
    }

    fn outputs(&mut self, select: &Select, fields: &[Option<String>], names: &SourceNames<'_>) {
        self.out.push_str(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        // The index of the output among `fields`, in which stars are expanded.
        let mut field = 0;
        for (index, output) in select.outputs.iter().enumerate() {
            self.comma(index);
            match output {
                Output::All => {
                    self.out.push('*');
                    field +=
                        select.from.iter().map(|source| source_width(source, self.schema)).sum::<usize>();
                }
                Output::AllOf(source) => {
                    let index = *source as usize;
                    let name = names.names.get(index).unwrap_or(&self.writer.unbound);
                    self.push(format_args!("{name}.*"));
                    field += select.from.get(index).map_or(0, |source| source_width(source, self.schema));
                }
                Output::Expr(expr) => {
                    self.expr(expr, names);
                    if let Some(Some(name)) = fields.get(field) {
                        self.push(format_args!(" AS {name}"));
                    }
                    field += 1;
                }
            }
        }
    }

    fn from(&mut self, select: &Select, names: &SourceNames<'_>) {
        for (index, source) in select.from.iter().enumerate() {
            self.out.push_str(match (index, &source.left_join) {
                (0, _) => " FROM ",
                (_, None) => ", ",
                (_, Some(_)) => " LEFT JOIN ",
            });
            self.source(source, &names.names[index], names.outer);
            if let Some(condition) = &source.left_join {
                self.out.push_str(" ON ");
                self.expr(condition, names);
            }
        }
    }

    fn order(&mut self, query: &Query, names: Option<&SourceNames<'_>>) {
        for (index, key) in query.order.iter().enumerate() {
            self.out.push_str(if index == 0 { " ORDER BY " } else { ", " });
            match (&key.by, names) {
                (SortBy::Output(output), _) => self.push(format_args!("{}", output + 1)),
                (SortBy::Expr(expr), Some(names)) => self.expr(expr, names),
                // A compound sorts by outputs only; the database reports the mistake.
                (SortBy::Expr(_), None) => self.out.push_str(&self.writer.unbound),
            }
            if key.descending {
                self.out.push_str(" DESC");
            }
            if self.schema.dialect == Dialect::Postgres && may_be_null(&key.by) {
                // The rows that come first are those that SQLite has first.
                self.out.push_str(if key.descending { " NULLS LAST" } else { " NULLS FIRST" });
            }
        }
    }

    fn source(&mut self, source: &FromSource, name: &str, outer: Option<&SourceNames<'_>>) {
        match &source.kind {
            SourceKind::Table(table) => {
                let table_name = self.schema.table_in_sql(*table);
                self.out.push_str(&table_name);
                if self.quoted(&self.schema.table(*table).name) != name {
                    self.push(format_args!(" AS {name}"));
                }
            }
            SourceKind::Query(query) => {
                self.out.push('(');
                self.query(query, outer, true);
                self.push(format_args!(") AS {name}"));
            }
        }
    }

    fn source_name(&mut self, source: &FromSource) -> String {
        if let SourceKind::Table(table) = source.kind
            && self.is_only_one_of_its_name(table)
        {
            return self.quoted(&self.schema.table(table).name);
        }
        self.numbered_sources += 1;
        format!("{}{}", self.writer.source, self.numbered_sources)
    }

    /// Returns whether a table occurs once, and no other table of the same name does.
    fn is_only_one_of_its_name(&self, table: TableId) -> bool {
        let name = &self.schema.table(table).name;
        let same_name = |other: &TableId| self.schema.table(*other).name.eq_ignore_ascii_case(name);
        let uses: u32 =
            self.table_uses.iter().filter(|(other, _)| same_name(other)).map(|(_, uses)| uses).sum();
        uses == 1
    }

    /// Returns a name as the dialect spells it.
    fn quoted(&self, name: &str) -> String {
        quoted_in(name, self.schema.dialect)
    }

    /// Appends formatted text.
    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("writing to a string does not fail");
    }

    /// Writes a comma before every element of a list but the first.
    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::{CheckError, Column, ColumnType, Dialect, Schema, Table, check};
    use sqlparser::keywords::ALL_KEYWORDS;

    #[test]
    fn any_keyword_can_be_the_name_of_a_table_or_column() {
        let mut misread = Vec::new();
        for keyword in
            ALL_KEYWORDS.iter().chain(&["a b", "ä", "1", "", "\"", "a.b", "--", "unbound", "t1", "c1"])
        {
            let columns = vec![Column { comment: None, name: (*keyword).to_owned(), ty: ColumnType::Number }];
            let table = Table {
                comment: None,
                namespace: None,
                name: (*keyword).to_owned(),
                columns,
                primary_key: vec![],
                foreign_keys: vec![],
            };
            let schema = Schema { dialect: Default::default(), tables: vec![table] };
            let name = format!("\"{}\"", keyword.replace('"', "\"\""));
            let text = format!(
                "SELECT x.{name}, count({name}) FROM {name} AS x WHERE {name} > (SELECT max(y) FROM (SELECT {name} AS y FROM {name})) \
                 GROUP BY {name} ORDER BY x.{name}"
            );
            for text in [format!("SELECT {name} FROM {name}"), text] {
                let canonical = check(&text, &schema).unwrap_or_else(|error| panic!("{error}: {text}")).text;
                match check(&canonical, &schema) {
                    Ok(again) => assert_eq!(again.text, canonical),
                    Err(_) => misread.push(*keyword),
                }
            }
        }
        assert!(misread.is_empty(), "these need quotes: {misread:?}");
    }

    /// Issue 20: types that SQLite does not know were read as numbers, so that `uid::uuid` became a type error.
    #[test]
    fn casts_of_strict_dialects_keep_their_type_or_are_not_supported() {
        let column = Column { comment: None, name: "c".to_owned(), ty: ColumnType::Text };
        let table = |dialect: Dialect| Table {
            comment: None,
            namespace: (dialect == Dialect::Postgres).then(|| "public".to_owned()),
            name: "t".to_owned(),
            columns: vec![column.clone()],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        for dialect in [Dialect::Postgres, Dialect::DuckDb] {
            let schema = Schema { dialect, tables: vec![table(dialect)] };
            for ty in ["numeric", "integer", "bigint", "text", "varchar", "real", "double precision"] {
                assert!(check(&format!("SELECT c::{ty} FROM t"), &schema).is_ok(), "{ty}");
            }
            for ty in ["uuid", "json", "bytea", "regclass", "timestamptz", "boolean", "inet", "mood", "money"]
            {
                let error = check(&format!("SELECT c::{ty} FROM t"), &schema).err();
                assert!(matches!(error, Some(CheckError::NotSupported(_))), "{ty}: {error:?}");
            }
            // PostgreSQL cuts off what is longer.
            let cut = check("SELECT c::varchar(3) FROM t", &schema);
            assert_eq!(cut.is_ok(), dialect == Dialect::DuckDb, "{cut:?}");
        }
    }

    /// Issue 20: `1_000` was read as the number 1 with an alias.
    #[test]
    fn numbers_end_where_names_begin() {
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::DuckDb] {
            let schema = Schema { dialect, tables: vec![] };
            assert!(check("SELECT 1 _000", &schema).is_ok());
            for text in ["SELECT 1_000", "SELECT 1a", "SELECT 0.5_5"] {
                assert!(matches!(check(text, &schema), Err(CheckError::NotSupported(_))), "{text}");
            }
        }
    }
}
