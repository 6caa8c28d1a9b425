//! Resolves names as SQLite does: case does not matter, and the nearest `FROM` comes first.

use super::super::check::CheckError;
use super::super::query::{ColumnRef, Expr};
use super::super::schema::{Schema, TableId};
use super::not_supported;
use sqlparser::ast;

/// The names that an expression can use: those of a `FROM` list, and of the enclosing ones.
pub(super) struct NameScope<'s> {
    pub(super) sources: Vec<NamedSource>,
    /// The outputs, once they are read. A name that is not a column may be the alias of an output.
    pub(super) aliases: Vec<OutputColumn>,
    /// The conditions that `USING` and `NATURAL` stand for, each with the index of its source if that is left-joined.
    pub(super) using: Vec<(Option<usize>, Expr)>,
    pub(super) outer: Option<&'s NameScope<'s>>,
}

/// A source and the names of its columns.
pub(super) struct NamedSource {
    pub(super) name: String,
    pub(super) columns: SourceColumns,
    /// The columns that `USING` merges with those of an earlier source.
    pub(super) hidden: Vec<u32>,
}

/// The columns of a source.
pub(super) enum SourceColumns {
    Table(TableId),
    /// The names of a query's outputs, where they have one.
    Query(Vec<Option<String>>),
}

/// A column of a select's result.
#[derive(Clone, Debug)]
pub(super) struct OutputColumn {
    pub(super) name: Option<String>,
    pub(super) value: Expr,
    /// Whether `AS` gave the name.
    pub(super) is_alias: bool,
}

impl OutputColumn {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(name))
    }

    pub(super) fn has_alias(&self, name: &str) -> bool {
        self.is_alias && self.is_called(name)
    }
}

impl NamedSource {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns the index of the column with this name.
    pub(super) fn find(&self, column: &str, schema: &Schema) -> Option<u32> {
        match &self.columns {
            SourceColumns::Table(table) => schema.find_column(*table, column).map(|column| column.column),
            SourceColumns::Query(names) => names
                .iter()
                .position(|name| name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(column)))
                .map(|index| index as u32),
        }
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self, schema: &Schema) -> Vec<Option<String>> {
        match &self.columns {
            SourceColumns::Table(table) => {
                schema.table(*table).columns.iter().map(|column| Some(column.name.clone())).collect()
            }
            SourceColumns::Query(names) => names.clone(),
        }
    }
}

impl NameScope<'_> {
    /// Returns this scope and the enclosing ones, numbered.
    fn all(&self) -> impl Iterator<Item = (u32, &NameScope<'_>)> {
        (0..).zip(std::iter::successors(Some(self), |scope| scope.outer))
    }

    /// Returns the columns that `*` stands for, for one source.
    pub(super) fn columns(&self, source: usize, schema: &Schema) -> Vec<OutputColumn> {
        let names = self.sources[source].names(schema).into_iter();
        names
            .enumerate()
            .map(|(column, name)| OutputColumn {
                name,
                value: column_of(0, source, column as u32),
                is_alias: false,
            })
            .collect()
    }

    /// Resolves a name without a qualifier; none if there is no such column or alias.
    pub(super) fn unqualified(&self, name: &str, schema: &Schema) -> Result<Option<Expr>, CheckError> {
        for (depth, here) in self.all() {
            let mut found = here.sources.iter().enumerate().filter_map(|(index, source)| {
                let column = source.find(name, schema)?;
                (!source.hidden.contains(&column)).then_some((index, column))
            });
            if let Some((source, column)) = found.next() {
                return match found.next() {
                    None => Ok(Some(column_of(depth, source, column))),
                    Some(_) => {
                        Err(CheckError::UnknownName(format!("{name} (more than one column has this name)")))
                    }
                };
            }
            if let Some(output) = here.aliases.iter().find(|output| output.has_alias(name)) {
                // The columns of its expression would have to be renumbered for the inner query.
                if depth > 0 {
                    return Err(not_supported(format!("the alias {name} of an outer query")));
                }
                return Ok(Some(output.value.clone()));
            }
        }
        Ok(None)
    }

    /// Resolves `qualifier.name`.
    pub(super) fn qualified(&self, qualifier: &str, name: &str, schema: &Schema) -> Result<Expr, CheckError> {
        for (depth, here) in self.all() {
            let sources = here.sources.iter().enumerate().filter(|(_, source)| source.is_called(qualifier));
            let mut found = sources.filter_map(|(index, source)| Some((index, source.find(name, schema)?)));
            if let Some((source, column)) = found.next() {
                if found.next().is_some() {
                    let reason = "more than one source has this name";
                    return Err(CheckError::UnknownName(format!("{qualifier}.{name} ({reason})")));
                }
                return Ok(column_of(depth, source, column));
            }
        }
        Err(CheckError::UnknownName(format!("{qualifier}.{name}")))
    }
}

/// Returns the expression for a column.
pub(super) fn column_of(scope: u32, source: usize, column: u32) -> Expr {
    Expr::Column(ColumnRef { scope, source: source as u32, column })
}

/// Returns the name that SQLite gives an output without `AS`.
pub(super) fn default_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(name) => Some(name.value.clone()),
        ast::Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()),
        ast::Expr::Nested(inner) => default_name(inner),
        other => Some(other.to_string()),
    }
}

/// Returns the name of a table or function without the qualifier `main`.
pub(super) fn unqualified_name(name: &ast::ObjectName) -> Result<&str, CheckError> {
    match name.0.as_slice() {
        [ast::ObjectNamePart::Identifier(name)] => Ok(&name.value),
        [ast::ObjectNamePart::Identifier(database), ast::ObjectNamePart::Identifier(name)]
            if database.value.eq_ignore_ascii_case("main") =>
        {
            Ok(&name.value)
        }
        _ => Err(CheckError::UnknownName(name.to_string())),
    }
}
