//! Converts syntax trees to the actions that write them.

use super::literal::Literal;
use super::pattern::Wildcards;
use super::query::{ColumnRef, Expr, FromSource, Output, Query, Select, SortBy, SortKey, SourceKind};
use super::rules::{ColumnClass, SqlRule, SqlRules};
use super::schema::{Schema, TableId};
use super::scope::Scope;
use super::symbols::Symbols;
use super::typing::ValueClass;
use crate::{Action, Environment};

/// Collects the actions of a query. An error says what the environment or the grammar lacks.
pub(super) struct QueryEncoder<'a> {
    pub(super) rules: &'a SqlRules,
    pub(super) schema: &'a Schema,
    pub(super) symbols: &'a Symbols,
    pub(super) environment: &'a dyn Environment,
    pub(super) actions: Vec<Action>,
}

/// The error for a column that no program can refer to.
const UNBOUND_COLUMN: &str = "a column whose table is not in FROM";

type Encoded = Result<(), String>;

impl QueryEncoder<'_> {
    fn push(&mut self, rule: SqlRule) {
        self.actions.push(Action::Rule(self.rules.id(rule)));
    }

    fn item(&mut self, symbol: &str) -> Encoded {
        let item = self
            .environment
            .find(symbol)
            .ok_or_else(|| format!("the SQL needs {symbol}, but no word of the question says it"))?;
        self.actions.push(Action::Item(item));
        Ok(())
    }

    fn literal(&mut self, literal: &Literal) -> Encoded {
        self.item(&literal.to_string())
    }

    fn table(&mut self, table: TableId) -> Encoded {
        self.item(self.symbols.table(table))
    }

    pub(super) fn query(&mut self, query: &Query, outer: Option<&Scope<'_>>) -> Encoded {
        let compound = !query.rest.is_empty();
        match (query.order.is_empty(), query.limit.is_some(), compound) {
            (true, false, _) => {}
            (true, true, _) => self.push(SqlRule::Limit),
            (false, false, false) => self.push(SqlRule::Order),
            (false, true, false) => self.push(SqlRule::Top),
            (false, false, true) => self.push(SqlRule::OrderOutputs),
            (false, true, true) => self.push(SqlRule::TopOutputs),
        }
        for (operator, _) in query.rest.iter().rev() {
            self.push(SqlRule::Set(*operator));
        }
        for select in query.selects() {
            self.select(select, outer)?;
        }
        let scope = Scope { sources: &query.first.from, outer };
        for (index, key) in query.order.iter().enumerate() {
            let more = index + 1 < query.order.len();
            self.key(key, more, &scope)?;
        }
        if let Some(limit) = &query.limit {
            if limit.offset.is_some() {
                self.push(SqlRule::Offset);
            }
            self.literal(&limit.rows)?;
            limit.offset.iter().try_for_each(|offset| self.literal(offset))?;
        }
        Ok(())
    }

    fn key(&mut self, key: &SortKey, more: bool, scope: &Scope<'_>) -> Encoded {
        match &key.by {
            SortBy::Expr(expr) => {
                if more {
                    self.push(SqlRule::ThenBy);
                }
                if key.descending {
                    self.push(SqlRule::Descending);
                }
                self.value(expr, scope)
            }
            SortBy::Output(index) => {
                if more {
                    self.push(SqlRule::ThenByOutput);
                }
                if key.descending {
                    self.push(SqlRule::DescendingOutput);
                }
                self.field(*index);
                Ok(())
            }
        }
    }

    /// Refers to an output of a query by its index.
    fn field(&mut self, index: u32) {
        (0..index).for_each(|_| self.push(SqlRule::NextField));
        self.push(SqlRule::Field);
    }

    fn select(&mut self, select: &Select, outer: Option<&Scope<'_>>) -> Encoded {
        let scope = Scope { sources: &select.from, outer };
        if select.from.is_empty() {
            if select.condition.is_some() || !select.group.is_empty() {
                return Err("WHERE or GROUP BY without FROM".into());
            }
            self.push(SqlRule::Compute);
        } else {
            self.push(match (select.group.is_empty(), &select.having) {
                (true, _) => SqlRule::Select,
                (false, None) => SqlRule::Group,
                (false, Some(_)) => SqlRule::GroupHaving,
            });
            if select.condition.is_some() {
                self.push(SqlRule::Where);
            }
            self.from(&select.from, &scope)?;
            select.condition.iter().try_for_each(|condition| self.condition(condition, &scope))?;
        }
        self.list(&select.group, SqlRule::AndKey, &scope)?;
        select.having.iter().try_for_each(|condition| self.condition(condition, &scope))?;
        if select.distinct {
            self.push(SqlRule::Distinct);
        }
        for (index, output) in select.outputs.iter().enumerate() {
            if index + 1 < select.outputs.len() {
                self.push(SqlRule::AndOutput);
            }
            self.output(output, &scope)?;
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, scope: &Scope<'_>) -> Encoded {
        match output {
            Output::All => self.push(SqlRule::All),
            Output::AllOf(source) => {
                let column = ColumnRef { scope: 0, source: *source, column: 0 };
                let (Some(id), Some(at)) = (scope.schema_column(column), scope.occurrence(column)) else {
                    return Err("all columns of one of several queries in FROM".into());
                };
                self.push(SqlRule::AllOf);
                (0..at.again).for_each(|_| self.push(SqlRule::AgainTable));
                self.table(id.table)?;
            }
            Output::Expr(expr) => self.value(expr, scope)?,
        }
        Ok(())
    }

    /// Encodes the sources, and then the conditions of left joins from the last to the first.
    fn from(&mut self, sources: &[FromSource], scope: &Scope<'_>) -> Encoded {
        for (index, source) in sources.iter().enumerate() {
            if let Some(next) = sources.get(index + 1) {
                self.push(if next.left_join.is_some() { SqlRule::LeftJoin } else { SqlRule::Join });
            }
            match &source.kind {
                SourceKind::Table(table) => self.table(*table)?,
                // A query in FROM does not see the other sources.
                SourceKind::Query(query) => self.query(query, scope.outer)?,
            }
        }
        sources
            .iter()
            .rev()
            .filter_map(|source| source.left_join.as_ref())
            .try_for_each(|on| self.condition(on, scope))
    }

    /// Encodes a list, with `another` before each element but the last.
    fn list(&mut self, exprs: &[Expr], another: SqlRule, scope: &Scope<'_>) -> Encoded {
        for (index, expr) in exprs.iter().enumerate() {
            if index + 1 < exprs.len() {
                self.push(another);
            }
            self.value(expr, scope)?;
        }
        Ok(())
    }

    fn column(&mut self, column: ColumnRef, scope: &Scope<'_>) -> Encoded {
        let at = scope.occurrence(column).ok_or(UNBOUND_COLUMN)?;
        let Some(id) = scope.schema_column(column) else {
            (0..at.outer).for_each(|_| self.push(SqlRule::OuterField));
            (0..at.again).for_each(|_| self.push(SqlRule::AgainField));
            self.field(column.column);
            return Ok(());
        };
        let class = ColumnClass::of(self.schema.column(id).ty);
        (0..at.outer).for_each(|_| self.push(SqlRule::Outer(class)));
        (0..at.again).for_each(|_| self.push(SqlRule::Again(class)));
        self.item(self.symbols.column(id))
    }

    /// Encodes an expression where a value is expected.
    fn value(&mut self, expr: &Expr, scope: &Scope<'_>) -> Encoded {
        match expr {
            Expr::Column(column) => return self.column(*column, scope),
            Expr::Unbound(_) => return Err(UNBOUND_COLUMN.into()),
            Expr::Literal(literal) => return self.literal(literal),
            Expr::Null => self.push(SqlRule::Null),
            Expr::Negate(expr) => self.apply(SqlRule::Negate, [&**expr], scope)?,
            Expr::Arithmetic(operation, sides) => {
                self.apply(SqlRule::Arithmetic(*operation), &**sides, scope)?;
            }
            Expr::Cast(to, expr) => self.apply(SqlRule::Cast(*to), [&**expr], scope)?,
            Expr::Call(function, arguments) => self.apply(SqlRule::Call(*function), arguments, scope)?,
            Expr::CountRows => self.push(SqlRule::CountRows),
            Expr::Aggregate(aggregate, expr) => {
                self.apply(SqlRule::Aggregate(*aggregate), [&**expr], scope)?;
            }
            Expr::Case(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.push(SqlRule::Case);
                self.condition(condition, scope)?;
                self.value(then, scope)?;
                self.value(otherwise, scope)?;
            }
            Expr::Query(query) => self.query(query, Some(scope))?,
            condition => {
                self.push(SqlRule::Truth);
                self.condition(condition, scope)?;
            }
        }
        Ok(())
    }

    /// Encodes a rule whose arguments are all values.
    fn apply<'e>(
        &mut self,
        rule: SqlRule,
        arguments: impl IntoIterator<Item = &'e Expr>,
        scope: &Scope<'_>,
    ) -> Encoded {
        self.push(rule);
        arguments.into_iter().try_for_each(|argument| self.value(argument, scope))
    }

    /// Encodes an expression where a condition is expected.
    fn condition(&mut self, expr: &Expr, scope: &Scope<'_>) -> Encoded {
        let is_number = |left: &Expr| ValueClass::of(left, scope, self.schema) == ValueClass::Number;
        match expr {
            Expr::Compare(comparison, sides) => {
                let number = is_number(&sides[0]);
                self.apply(SqlRule::Compare(*comparison, number), &**sides, scope)
            }
            Expr::Between(parts) => {
                let number = is_number(&parts[0]);
                self.apply(SqlRule::Between(number), &**parts, scope)
            }
            Expr::InList(left, list) => {
                let number = is_number(left);
                self.apply(SqlRule::InList(number), [&**left], scope)?;
                self.list(list, if number { SqlRule::AndNumber } else { SqlRule::AndElement }, scope)
            }
            Expr::InQuery(left, query) => {
                self.apply(SqlRule::InQuery, [&**left], scope)?;
                self.query(query, Some(scope))
            }
            Expr::Exists(query) => {
                self.push(SqlRule::Exists);
                self.query(query, Some(scope))
            }
            Expr::IsNull(expr) => self.apply(SqlRule::IsNull, [&**expr], scope),
            Expr::Like(sides) => {
                self.apply(SqlRule::Like, [&sides[0]], scope)?;
                match Wildcards::split(&sides[1]) {
                    Some((wildcards, inside)) => {
                        self.push(SqlRule::Pattern(wildcards));
                        self.literal(&inside)
                    }
                    None => self.value(&sides[1], scope),
                }
            }
            Expr::And(parts) => self.chain(SqlRule::And, parts, scope),
            Expr::Or(parts) => self.chain(SqlRule::Or, parts, scope),
            Expr::Not(condition) => {
                self.push(SqlRule::Not);
                self.condition(condition, scope)
            }
            value => self.apply(SqlRule::Holds, [value], scope),
        }
    }

    /// Encodes a chain of `AND` or `OR`.
    fn chain(&mut self, rule: SqlRule, parts: &[Expr], scope: &Scope<'_>) -> Encoded {
        for (index, part) in parts.iter().enumerate() {
            if index + 1 < parts.len() {
                self.push(rule);
            }
            self.condition(part, scope)?;
        }
        Ok(())
    }
}
