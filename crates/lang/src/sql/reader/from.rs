//! Reads `FROM` into a flat list, because SQLite joins strictly from left to right.

use super::super::check::CheckError;
use super::super::operator::ComparisonOperator;
use super::super::query::{Expr, FromSource, SourceKind};
use super::super::schema::TableId;
use super::names::{NameScope, NamedSource, SourceColumns, column_of, unqualified_name};
use super::{QueryReader, not_supported};
use sqlparser::ast;

/// The condition of a join, with the index of its source if that is left-joined.
type On<'a> = (Option<usize>, &'a ast::Expr);

/// A `FROM` list while it is read.
struct FromList<'a, 'f> {
    scope: NameScope<'f>,
    sources: Vec<FromSource>,
    conditions: Vec<On<'a>>,
}

impl<'a> QueryReader<'a> {
    /// Reads `FROM`. The caller has to read the conditions, which may refer to the whole list.
    pub(super) fn from<'f>(
        &mut self,
        from: &'a [ast::TableWithJoins],
        outer: Option<&'f NameScope<'f>>,
    ) -> Result<(NameScope<'f>, Vec<FromSource>, Vec<On<'a>>), CheckError> {
        let scope = NameScope { sources: vec![], aliases: vec![], using: vec![], outer };
        let mut list = FromList { scope, sources: vec![], conditions: vec![] };
        for tables in from {
            self.joined(tables, &mut list)?;
        }
        Ok((list.scope, list.sources, list.conditions))
    }

    fn joined(
        &mut self,
        tables: &'a ast::TableWithJoins,
        list: &mut FromList<'a, '_>,
    ) -> Result<(), CheckError> {
        self.source(&tables.relation, false, list)?;
        for join in &tables.joins {
            self.join(join, list)?;
        }
        Ok(())
    }

    fn join(&mut self, join: &'a ast::Join, list: &mut FromList<'a, '_>) -> Result<(), CheckError> {
        use ast::JoinOperator;
        let (left, constraint) = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint) => (false, constraint),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (true, constraint),
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) => return Err(not_supported("RIGHT JOIN")),
            JoinOperator::FullOuter(_) => return Err(not_supported("FULL JOIN")),
            _ => return Err(not_supported("a join that SQLite does not have")),
        };
        let first = list.sources.len();
        self.source(&join.relation, left, list)?;
        let joined = left.then_some(first);
        match constraint {
            ast::JoinConstraint::On(condition) => list.conditions.push((joined, condition)),
            ast::JoinConstraint::Using(columns) => {
                for column in columns {
                    self.merge(unqualified_name(column)?, first, joined, list)?;
                }
            }
            ast::JoinConstraint::Natural => {
                let names = list.scope.sources[first].names(self.schema);
                for name in names.into_iter().flatten() {
                    let mut earlier = list.scope.sources[..first].iter();
                    if earlier.any(|source| source.find(&name, self.schema).is_some()) {
                        self.merge(&name, first, joined, list)?;
                    }
                }
            }
            ast::JoinConstraint::None => {}
        }
        let has_condition = list.conditions.iter().any(|(source, _)| *source == joined)
            || list.scope.using.iter().any(|(source, _)| *source == joined);
        if left && !has_condition {
            return Err(not_supported("LEFT JOIN without a condition"));
        }
        Ok(())
    }

    /// Applies `USING (name)`: the column of the new source must equal that of an earlier one, and the name without a
    /// qualifier refers to the earlier one from now on.
    fn merge(
        &self,
        name: &str,
        new: usize,
        joined: Option<usize>,
        list: &mut FromList<'a, '_>,
    ) -> Result<(), CheckError> {
        let find =
            |index: usize| list.scope.sources[index].find(name, self.schema).map(|column| (index, column));
        let earlier = (0..new).find_map(find);
        let (Some((source, column)), Some((_, new_column))) = (earlier, find(new)) else {
            return Err(CheckError::UnknownName(format!("{name} in USING")));
        };
        let sides = [column_of(0, source, column), column_of(0, new, new_column)];
        list.scope.using.push((joined, Expr::Compare(ComparisonOperator::Equal, Box::new(sides))));
        list.scope.sources[new].hidden.push(new_column);
        Ok(())
    }

    fn source(
        &mut self,
        factor: &'a ast::TableFactor,
        left: bool,
        list: &mut FromList<'a, '_>,
    ) -> Result<(), CheckError> {
        match factor {
            ast::TableFactor::Table {
                name, alias, args: None, with_ordinality: false, sample: None, ..
            } => {
                let alias = alias_name(alias.as_ref())?;
                if let Some(table) = self.qualified_table(name)? {
                    let alias = alias.unwrap_or(&self.schema.table(table).name);
                    add(list, alias, SourceColumns::Table(table), SourceKind::Table(table));
                    return Ok(());
                }
                let name = unqualified_name(name)?;
                self.named_source(name, alias.unwrap_or(name), list)
            }
            ast::TableFactor::Derived { lateral: false, subquery, alias } => {
                let named = self.query(subquery, list.scope.outer)?;
                let columns = named.outputs.into_iter().map(|output| output.name).collect();
                let name = alias_name(alias.as_ref())?.unwrap_or_default();
                add(list, name, SourceColumns::Query(columns), SourceKind::Query(Box::new(named.query)));
                Ok(())
            }
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => {
                if left && !table_with_joins.joins.is_empty() {
                    return Err(not_supported("LEFT JOIN of a join in parentheses"));
                }
                self.deeper(|reader| reader.joined(table_with_joins, list))
            }
            other => Err(not_supported(format!("{other} in FROM"))),
        }
    }

    /// Returns the table that a name with the schema of the database means; none if the name has none.
    fn qualified_table(&self, name: &ast::ObjectName) -> Result<Option<TableId>, CheckError> {
        let [ast::ObjectNamePart::Identifier(namespace), ast::ObjectNamePart::Identifier(table)] =
            name.0.as_slice()
        else {
            return Ok(None);
        };
        let found = self.schema.find_qualified_table(&namespace.value, &table.value);
        found.map(Some).ok_or_else(|| CheckError::UnknownName(name.to_string()))
    }

    /// Adds a table, or the query of a common table expression, which is read again wherever it is named.
    fn named_source(
        &mut self,
        name: &'a str,
        alias: &'a str,
        list: &mut FromList<'a, '_>,
    ) -> Result<(), CheckError> {
        let common =
            self.common_tables.iter().rposition(|cte| cte.alias.name.value.eq_ignore_ascii_case(name));
        let Some(common) = common else {
            let table = self.schema.find_table(name);
            let table = table.ok_or_else(|| CheckError::UnknownName(name.to_owned()))?;
            add(list, alias, SourceColumns::Table(table), SourceKind::Table(table));
            return Ok(());
        };
        // It sees the common table expressions before it, but nothing of the query that names it.
        let later = self.common_tables.split_off(common);
        let cte = later[0];
        let named = self.query(&cte.query, None);
        self.common_tables.extend(later);
        let named = named?;
        let given = &cte.alias.columns;
        if !given.is_empty() && given.len() != named.outputs.len() {
            return Err(CheckError::UnknownName(format!("the columns of {name}")));
        }
        let columns = match given.is_empty() {
            true => named.outputs.into_iter().map(|output| output.name).collect(),
            false => given.iter().map(|column| Some(column.name.value.clone())).collect(),
        };
        add(list, alias, SourceColumns::Query(columns), SourceKind::Query(Box::new(named.query)));
        Ok(())
    }
}

fn add(list: &mut FromList<'_, '_>, name: &str, columns: SourceColumns, kind: SourceKind) {
    list.scope.sources.push(NamedSource { name: name.to_owned(), columns, hidden: vec![] });
    list.sources.push(FromSource { kind, left_join: None });
}

fn alias_name(alias: Option<&ast::TableAlias>) -> Result<Option<&str>, CheckError> {
    match alias {
        Some(alias) if !alias.columns.is_empty() => Err(not_supported("names for the columns of an alias")),
        Some(alias) => Ok(Some(&alias.name.value)),
        None => Ok(None),
    }
}
