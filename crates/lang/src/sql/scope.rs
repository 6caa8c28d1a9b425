//! The columns that an expression can see, and how a program refers to them.

use super::query::{ColumnRef, FromSource, Output, Query, Select, SourceKind};
use super::schema::{ColumnId, ColumnType, Schema, TableId};

/// The `FROM` lists around an expression, nearest first.
///
/// A query in `FROM` does not see the other sources of its list, only the enclosing lists.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) sources: &'a [FromSource],
    pub(super) outer: Option<&'a Scope<'a>>,
}

/// The occurrence of a table (or of a query in `FROM`) that a column of a program belongs to.
///
/// Skip `outer` of the enclosing lists that have such a source, and in the next such list skip `again` of these
/// sources. Nearly always both are 0 and cost no action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) outer: u32,
    pub(super) again: u32,
}

impl<'a> Scope<'a> {
    /// Returns this scope and the enclosing ones.
    fn all(&'a self) -> impl Iterator<Item = &'a Scope<'a>> {
        std::iter::successors(Some(self), |scope| scope.outer)
    }

    /// Returns the source that a column belongs to.
    pub(super) fn source(&'a self, column: ColumnRef) -> Option<&'a FromSource> {
        self.all().nth(column.scope as usize)?.sources.get(column.source as usize)
    }

    /// Returns the column of the schema; none for an output of a query.
    pub(super) fn schema_column(&'a self, column: ColumnRef) -> Option<ColumnId> {
        match self.source(column)?.kind {
            SourceKind::Table(table) => Some(ColumnId { table, column: column.column }),
            SourceKind::Query(_) => None,
        }
    }

    /// Returns the type of a column; none for an output of a query.
    pub(super) fn column_type(&'a self, column: ColumnRef, schema: &Schema) -> Option<ColumnType> {
        self.schema_column(column).map(|column| schema.column(column).ty)
    }

    /// Returns the occurrence that a program needs to refer to `column`.
    pub(super) fn occurrence(&'a self, column: ColumnRef) -> Option<Occurrence> {
        let table = table_of(self.source(column)?);
        let outer = self.all().take(column.scope as usize).filter(|scope| scope.has(table)).count();
        let here = self.all().nth(column.scope as usize)?;
        let before = &here.sources[..column.source as usize];
        let again = before.iter().filter(|source| table_of(source) == table).count();
        Some(Occurrence { outer: outer as u32, again: again as u32 })
    }

    /// Returns the numbers of the scope and source that a program refers to; the inverse of [`Scope::occurrence`].
    pub(super) fn find(&'a self, table: Option<TableId>, at: Occurrence) -> Option<(u32, u32)> {
        let mut with_table = self.all().enumerate().filter(|(_, scope)| scope.has(table));
        let (depth, scope) = with_table.nth(at.outer as usize)?;
        let mut sources = scope.sources.iter().enumerate().filter(|(_, source)| table_of(source) == table);
        let (source, _) = sources.nth(at.again as usize)?;
        Some((depth as u32, source as u32))
    }

    fn has(&self, table: Option<TableId>) -> bool {
        self.sources.iter().any(|source| table_of(source) == table)
    }
}

/// Returns the table of a source; none for a query.
fn table_of(source: &FromSource) -> Option<TableId> {
    match source.kind {
        SourceKind::Table(table) => Some(table),
        SourceKind::Query(_) => None,
    }
}

/// Returns the names of the outputs of a query in `FROM`, with all stars expanded.
///
/// An expression gets a generated name (`alias` and its position), and a column of a star keeps its own. A name that
/// an earlier output has would refer to that output, so a later one with the same name has none.
pub(super) fn field_names(query: &Query, schema: &Schema, alias: &str) -> Vec<Option<String>> {
    let select = &query.first;
    let mut names: Vec<Option<String>> = Vec::new();
    for output in &select.outputs {
        let more = match output {
            Output::Expr(_) => vec![Some(format!("{alias}{}", names.len() + 1))],
            Output::All => {
                select.from.iter().flat_map(|source| column_names(source, schema, alias)).collect()
            }
            Output::AllOf(source) => select
                .from
                .get(*source as usize)
                .map_or_else(Vec::new, |source| column_names(source, schema, alias)),
        };
        for name in more {
            let taken = |name: &String| names.iter().flatten().any(|other| other.eq_ignore_ascii_case(name));
            let name = name.filter(|name| !taken(name));
            names.push(name);
        }
    }
    names
}

fn column_names(source: &FromSource, schema: &Schema, alias: &str) -> Vec<Option<String>> {
    match &source.kind {
        SourceKind::Table(table) => {
            schema.table(*table).columns.iter().map(|column| Some(column.name.clone())).collect()
        }
        SourceKind::Query(query) => field_names(query, schema, alias),
    }
}

/// Returns the number of columns of a select.
pub(super) fn width(select: &Select, schema: &Schema) -> usize {
    let output_width = |output: &Output| match output {
        Output::Expr(_) => 1,
        Output::All => select.from.iter().map(|source| source_width(source, schema)).sum(),
        Output::AllOf(source) => {
            select.from.get(*source as usize).map_or(0, |source| source_width(source, schema))
        }
    };
    select.outputs.iter().map(output_width).sum()
}

/// Returns the number of columns of a source.
pub(super) fn source_width(source: &FromSource, schema: &Schema) -> usize {
    match &source.kind {
        SourceKind::Table(table) => schema.table(*table).columns.len(),
        SourceKind::Query(query) => width(&query.first, schema),
    }
}
