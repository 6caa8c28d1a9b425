//! Which columns an expression can see, and which of a program's pointers finds them.

use super::query::{ColumnRef, Output, Query, Relation, Select, Source};
use super::schema::{ColumnId, ColumnType, Schema, TableId};

/// The `FROM` lists around an expression, nearest first.
///
/// A query in `FROM` does not see its neighbours, only what is around the whole list.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) sources: &'a [Source],
    pub(super) outer: Option<&'a Scope<'a>>,
}

/// How a program says which occurrence of a table (or of a query in `FROM`) a column belongs to.
///
/// Of the enclosing lists that have such a source, skip `outer`; of such sources there, skip `again`.
/// Nearly always both are 0, and cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) outer: u32,
    pub(super) again: u32,
}

impl<'a> Scope<'a> {
    fn all(&'a self) -> impl Iterator<Item = &'a Scope<'a>> {
        std::iter::successors(Some(self), |scope| scope.outer)
    }

    /// The source a column belongs to.
    pub(super) fn source(&'a self, column: ColumnRef) -> Option<&'a Source> {
        self.all().nth(column.scope as usize)?.sources.get(column.source as usize)
    }

    /// The column of the schema; none for an output of a query.
    pub(super) fn schema_column(&'a self, column: ColumnRef) -> Option<ColumnId> {
        match self.source(column)?.relation {
            Relation::Table(table) => Some(ColumnId { table, column: column.column }),
            Relation::Query(_) => None,
        }
    }

    /// What the column holds, if the schema says so.
    pub(super) fn column_type(&'a self, column: ColumnRef, schema: &Schema) -> Option<ColumnType> {
        self.schema_column(column).map(|column| schema.column(column).ty)
    }

    /// How a program says which source `column` belongs to.
    pub(super) fn occurrence(&'a self, column: ColumnRef) -> Option<Occurrence> {
        let table = table_of(self.source(column)?);
        let outer = self.all().take(column.scope as usize).filter(|scope| scope.has(table)).count();
        let here = self.all().nth(column.scope as usize)?;
        let before = &here.sources[..column.source as usize];
        let again = before.iter().filter(|source| table_of(source) == table).count();
        Some(Occurrence { outer: outer as u32, again: again as u32 })
    }

    /// The scope and source that a program means; the reverse of [`Scope::occurrence`].
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

/// The table of a source; none for a query.
fn table_of(source: &Source) -> Option<TableId> {
    match source.relation {
        Relation::Table(table) => Some(table),
        Relation::Query(_) => None,
    }
}

/// The names under which the text of a query in `FROM` offers its outputs, all stars expanded.
///
/// Values get generated names (`alias` and their place), columns behind a star keep their own. A name that is
/// taken already finds the earlier output, so the later one has none.
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

fn column_names(source: &Source, schema: &Schema, alias: &str) -> Vec<Option<String>> {
    match &source.relation {
        Relation::Table(table) => {
            schema.table(*table).columns.iter().map(|column| Some(column.name.clone())).collect()
        }
        Relation::Query(query) => field_names(query, schema, alias),
    }
}

/// How many columns a part of a query gives.
pub(super) fn width(select: &Select, schema: &Schema) -> usize {
    let of_output = |output: &Output| match output {
        Output::Expr(_) => 1,
        Output::All => select.from.iter().map(|source| source_width(source, schema)).sum(),
        Output::AllOf(source) => {
            select.from.get(*source as usize).map_or(0, |source| source_width(source, schema))
        }
    };
    select.outputs.iter().map(of_output).sum()
}

/// How many columns a source has.
pub(super) fn source_width(source: &Source, schema: &Schema) -> usize {
    match &source.relation {
        Relation::Table(table) => schema.table(*table).columns.len(),
        Relation::Query(query) => width(&query.first, schema),
    }
}
