//! `FROM`: a flat list, for SQLite joins strictly from left to right.

use super::super::check::CheckError;
use super::super::operator::Comparison;
use super::super::query::{Expr, Relation, Source};
use super::names::{Columns, Frame, NamedSource, column_of, last_part};
use super::{Reader, not_supported};
use sqlparser::ast;

/// A join's condition, with the place of its source if the join is a left one.
type On<'a> = (Option<usize>, &'a ast::Expr);

/// What is read of a `FROM` clause so far.
struct List<'a, 'f> {
    frame: Frame<'f>,
    sources: Vec<Source>,
    conditions: Vec<On<'a>>,
}

impl<'a> Reader<'a> {
    /// Reads `FROM`. The conditions are for the caller: they may see all of the list.
    pub(super) fn from<'f>(
        &mut self,
        from: &'a [ast::TableWithJoins],
        outer: Option<&'f Frame<'f>>,
    ) -> Result<(Frame<'f>, Vec<Source>, Vec<On<'a>>), CheckError> {
        let frame = Frame { sources: vec![], aliases: vec![], using: vec![], outer };
        let mut list = List { frame, sources: vec![], conditions: vec![] };
        for tables in from {
            self.joined(tables, &mut list)?;
        }
        Ok((list.frame, list.sources, list.conditions))
    }

    fn joined(&mut self, tables: &'a ast::TableWithJoins, list: &mut List<'a, '_>) -> Result<(), CheckError> {
        self.source(&tables.relation, false, list)?;
        for join in &tables.joins {
            self.join(join, list)?;
        }
        Ok(())
    }

    fn join(&mut self, join: &'a ast::Join, list: &mut List<'a, '_>) -> Result<(), CheckError> {
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
        let place = left.then_some(first);
        match constraint {
            ast::JoinConstraint::On(condition) => list.conditions.push((place, condition)),
            ast::JoinConstraint::Using(columns) => {
                for column in columns {
                    self.merge(last_part(column)?, first, place, list)?;
                }
            }
            ast::JoinConstraint::Natural => {
                let names = list.frame.sources[first].names(self.schema);
                for name in names.into_iter().flatten() {
                    let mut earlier = list.frame.sources[..first].iter();
                    if earlier.any(|source| source.find(&name, self.schema).is_some()) {
                        self.merge(&name, first, place, list)?;
                    }
                }
            }
            ast::JoinConstraint::None => {}
        }
        let bound = list.conditions.iter().any(|(of, _)| *of == place)
            || list.frame.using.iter().any(|(of, _)| *of == place);
        if left && !bound {
            return Err(not_supported("LEFT JOIN without a condition"));
        }
        Ok(())
    }

    /// `USING (name)`: the column of the new source equals that of an earlier one, and only the earlier one is meant
    /// by the bare name from now on.
    fn merge(
        &self,
        name: &str,
        new: usize,
        place: Option<usize>,
        list: &mut List<'a, '_>,
    ) -> Result<(), CheckError> {
        let find =
            |index: usize| list.frame.sources[index].find(name, self.schema).map(|column| (index, column));
        let earlier = (0..new).find_map(find);
        let (Some((source, column)), Some((_, own))) = (earlier, find(new)) else {
            return Err(CheckError::UnknownName(format!("{name} in USING")));
        };
        let sides = [column_of(0, source, column), column_of(0, new, own)];
        list.frame.using.push((place, Expr::Compare(Comparison::Equal, Box::new(sides))));
        list.frame.sources[new].hidden.push(own);
        Ok(())
    }

    fn source(
        &mut self,
        factor: &'a ast::TableFactor,
        left: bool,
        list: &mut List<'a, '_>,
    ) -> Result<(), CheckError> {
        match factor {
            ast::TableFactor::Table {
                name, alias, args: None, with_ordinality: false, sample: None, ..
            } => {
                let alias = alias_name(alias.as_ref())?;
                let name = last_part(name)?;
                self.named_source(name, alias.unwrap_or(name), list)
            }
            ast::TableFactor::Derived { lateral: false, subquery, alias } => {
                let named = self.query(subquery, list.frame.outer)?;
                let columns = named.fields.into_iter().map(|field| field.name).collect();
                let name = alias_name(alias.as_ref())?.unwrap_or_default();
                add(list, name, Columns::Query(columns), Relation::Query(Box::new(named.query)));
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

    /// A table, or a common table expression, which is read anew wherever it is named.
    fn named_source(
        &mut self,
        name: &'a str,
        alias: &'a str,
        list: &mut List<'a, '_>,
    ) -> Result<(), CheckError> {
        let common = self.tables.iter().rposition(|cte| cte.alias.name.value.eq_ignore_ascii_case(name));
        let Some(common) = common else {
            let table = self.schema.find_table(name);
            let table = table.ok_or_else(|| CheckError::UnknownName(name.to_owned()))?;
            add(list, alias, Columns::Table(table), Relation::Table(table));
            return Ok(());
        };
        // It sees the expressions before it, and nothing of the query that names it.
        let later = self.tables.split_off(common);
        let cte = later[0];
        let named = self.query(&cte.query, None);
        self.tables.extend(later);
        let named = named?;
        let given = &cte.alias.columns;
        if !given.is_empty() && given.len() != named.fields.len() {
            return Err(CheckError::UnknownName(format!("the columns of {name}")));
        }
        let columns = match given.is_empty() {
            true => named.fields.into_iter().map(|field| field.name).collect(),
            false => given.iter().map(|column| Some(column.name.value.clone())).collect(),
        };
        add(list, alias, Columns::Query(columns), Relation::Query(Box::new(named.query)));
        Ok(())
    }
}

fn add(list: &mut List<'_, '_>, name: &str, columns: Columns, relation: Relation) {
    list.frame.sources.push(NamedSource { name: name.to_owned(), columns, hidden: vec![] });
    list.sources.push(Source { relation, left: None });
}

fn alias_name(alias: Option<&ast::TableAlias>) -> Result<Option<&str>, CheckError> {
    match alias {
        Some(alias) if !alias.columns.is_empty() => Err(not_supported("names for the columns of an alias")),
        Some(alias) => Ok(Some(&alias.name.value)),
        None => Ok(None),
    }
}
