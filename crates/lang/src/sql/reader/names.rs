//! Which column a name means, as SQLite has it: upper and lower case alike, the nearest `FROM` first.

use super::super::check::CheckError;
use super::super::query::{ColumnRef, Expr};
use super::super::schema::{Schema, TableId};
use super::not_supported;
use sqlparser::ast;

/// A `FROM` list and the names it brings.
pub(super) struct Frame<'f> {
    pub(super) sources: Vec<NamedSource>,
    /// The outputs, once they are read: where a name is no column, it may be an alias.
    pub(super) aliases: Vec<Field>,
    /// Conditions that `USING` and `NATURAL` stand for, with the source if it is a left join.
    pub(super) using: Vec<(Option<usize>, Expr)>,
    pub(super) outer: Option<&'f Frame<'f>>,
}

/// A source and the names of its columns.
pub(super) struct NamedSource {
    pub(super) name: String,
    pub(super) columns: Columns,
    /// Columns that `USING` merges with those of an earlier source.
    pub(super) hidden: Vec<u32>,
}

pub(super) enum Columns {
    Table(TableId),
    /// The outputs of a query, where they have names.
    Query(Vec<Option<String>>),
}

/// An output of a select.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Option<String>,
    pub(super) value: Expr,
    /// Whether the name was given with `AS`.
    pub(super) is_alias: bool,
}

impl Field {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    pub(super) fn is_alias_of(&self, name: &str) -> bool {
        self.is_alias && self.is_called(name)
    }
}

impl NamedSource {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    pub(super) fn find(&self, column: &str, schema: &Schema) -> Option<u32> {
        match &self.columns {
            Columns::Table(table) => schema.find_column(*table, column).map(|column| column.column),
            Columns::Query(names) => names
                .iter()
                .position(|name| name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(column)))
                .map(|index| index as u32),
        }
    }

    /// The names of its columns.
    pub(super) fn names(&self, schema: &Schema) -> Vec<Option<String>> {
        match &self.columns {
            Columns::Table(table) => {
                schema.table(*table).columns.iter().map(|column| Some(column.name.clone())).collect()
            }
            Columns::Query(names) => names.clone(),
        }
    }
}

impl Frame<'_> {
    /// All columns of a source, as a star gives them.
    pub(super) fn fields(&self, source: usize, schema: &Schema) -> Vec<Field> {
        let names = self.sources[source].names(schema).into_iter();
        names
            .enumerate()
            .map(|(column, name)| Field { name, value: column_of(0, source, column as u32), is_alias: false })
            .collect()
    }

    /// What a name without a qualifier means; none if nothing is called so.
    pub(super) fn unqualified(&self, name: &str, schema: &Schema) -> Result<Option<Expr>, CheckError> {
        let mut frame = Some(self);
        let mut scope = 0;
        while let Some(here) = frame {
            let mut found = here.sources.iter().enumerate().filter_map(|(index, source)| {
                let column = source.find(name, schema)?;
                (!source.hidden.contains(&column)).then_some((index, column))
            });
            if let Some((source, column)) = found.next() {
                return match found.next() {
                    None => Ok(Some(column_of(scope, source, column))),
                    Some(_) => {
                        Err(CheckError::UnknownName(format!("{name} (more than one column is called so)")))
                    }
                };
            }
            // An alias of an outer query would have to be moved between scopes.
            if let Some(field) = here.aliases.iter().find(|field| field.is_alias_of(name)) {
                if scope > 0 {
                    return Err(not_supported(format!("the alias {name} of an outer query")));
                }
                return Ok(Some(field.value.clone()));
            }
            frame = here.outer;
            scope += 1;
        }
        Ok(None)
    }

    /// What `qualifier.name` means.
    pub(super) fn qualified(&self, qualifier: &str, name: &str, schema: &Schema) -> Result<Expr, CheckError> {
        let mut frame = Some(self);
        let mut scope = 0;
        while let Some(here) = frame {
            let sources = here.sources.iter().enumerate().filter(|(_, source)| source.is_called(qualifier));
            let mut found = sources.filter_map(|(index, source)| Some((index, source.find(name, schema)?)));
            if let Some((source, column)) = found.next() {
                if found.next().is_some() {
                    let reason = "more than one source is called so";
                    return Err(CheckError::UnknownName(format!("{qualifier}.{name} ({reason})")));
                }
                return Ok(column_of(scope, source, column));
            }
            frame = here.outer;
            scope += 1;
        }
        Err(CheckError::UnknownName(format!("{qualifier}.{name}")))
    }
}

pub(super) fn column_of(scope: u32, source: usize, column: u32) -> Expr {
    Expr::Column(ColumnRef { scope, source: source as u32, column })
}

/// What SQLite calls an output without `AS`, as far as anybody can refer to it: its column.
pub(super) fn own_name(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Identifier(name) => Some(name.value.clone()),
        ast::Expr::CompoundIdentifier(parts) => parts.last().map(|name| name.value.clone()),
        ast::Expr::Nested(inner) => own_name(inner),
        other => Some(other.to_string()),
    }
}

/// The name of a table, which may be said to be in `main`.
pub(super) fn last_part(name: &ast::ObjectName) -> Result<&str, CheckError> {
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
