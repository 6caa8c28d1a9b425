//! From a tree to the actions that write it.

use super::literal::Literal;
use super::pattern::Wildcards;
use super::query::{By, ColumnRef, Expr, Key, Output, Query, Relation, Select, Source};
use super::rules::{Columns, Op, Rules};
use super::schema::{ColumnId, Schema, TableId};
use super::scope::Scope;
use super::symbols::Symbols;
use super::typing::Class;
use crate::{Action, Environment};

/// Writes the actions of a query; an error says what the environment lacks.
pub(super) struct Encoder<'a> {
    pub(super) rules: &'a Rules,
    pub(super) schema: &'a Schema,
    pub(super) symbols: &'a Symbols,
    pub(super) environment: &'a dyn Environment,
    pub(super) actions: Vec<Action>,
}

type Encoded = Result<(), String>;

impl Encoder<'_> {
    fn rule(&mut self, op: Op) {
        self.actions.push(Action::Rule(self.rules.id(op)));
    }

    fn item(&mut self, symbol: &str) -> Encoded {
        let item =
            self.environment.find(symbol).ok_or_else(|| format!("the question does not suggest {symbol}"))?;
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
            (true, true, _) => self.rule(Op::Limit),
            (false, false, false) => self.rule(Op::Order),
            (false, true, false) => self.rule(Op::Top),
            (false, false, true) => self.rule(Op::OrderOutputs),
            (false, true, true) => self.rule(Op::TopOutputs),
        }
        for (operator, _) in query.rest.iter().rev() {
            self.rule(Op::Set(*operator));
        }
        for select in query.parts() {
            self.select(select, outer)?;
        }
        let scope = Scope { sources: &query.first.from, outer };
        for (index, key) in query.order.iter().enumerate() {
            let more = index + 1 < query.order.len();
            self.key(key, more, &scope)?;
        }
        if let Some(limit) = &query.limit {
            if limit.skip.is_some() {
                self.rule(Op::Skip);
            }
            self.literal(&limit.rows)?;
            limit.skip.iter().try_for_each(|skip| self.literal(skip))?;
        }
        Ok(())
    }

    fn key(&mut self, key: &Key, more: bool, scope: &Scope<'_>) -> Encoded {
        match &key.by {
            By::Expr(expr) => {
                if more {
                    self.rule(Op::ThenBy);
                }
                if key.descending {
                    self.rule(Op::Descending);
                }
                self.value(expr, scope)
            }
            By::Output(place) => {
                if more {
                    self.rule(Op::ThenByOutput);
                }
                if key.descending {
                    self.rule(Op::DescendingOutput);
                }
                self.field(*place);
                Ok(())
            }
        }
    }

    fn field(&mut self, place: u32) {
        (0..place).for_each(|_| self.rule(Op::NextField));
        self.rule(Op::Field);
    }

    fn select(&mut self, select: &Select, outer: Option<&Scope<'_>>) -> Encoded {
        let scope = Scope { sources: &select.from, outer };
        if select.from.is_empty() {
            if select.condition.is_some() || !select.group.is_empty() {
                return Err("WHERE or GROUP BY without FROM".into());
            }
            self.rule(Op::Compute);
        } else {
            self.rule(match (select.group.is_empty(), &select.having) {
                (true, _) => Op::Select,
                (false, None) => Op::Group,
                (false, Some(_)) => Op::GroupHaving,
            });
            if select.condition.is_some() {
                self.rule(Op::Where);
            }
            self.from(&select.from, &scope)?;
            select.condition.iter().try_for_each(|condition| self.condition(condition, &scope))?;
        }
        self.list(&select.group, Op::AndKey, &scope)?;
        select.having.iter().try_for_each(|condition| self.condition(condition, &scope))?;
        if select.distinct {
            self.rule(Op::Distinct);
        }
        for (index, output) in select.outputs.iter().enumerate() {
            if index + 1 < select.outputs.len() {
                self.rule(Op::AndOutput);
            }
            self.output(output, &scope)?;
        }
        Ok(())
    }

    fn output(&mut self, output: &Output, scope: &Scope<'_>) -> Encoded {
        match output {
            Output::All => self.rule(Op::All),
            Output::AllOf(source) => {
                let column = ColumnRef { scope: 0, source: *source, column: 0 };
                let (Some(id), Some(at)) = (scope.schema_column(column), scope.occurrence(column)) else {
                    return Err("all columns of one of several queries in FROM".into());
                };
                self.rule(Op::AllOf);
                (0..at.again).for_each(|_| self.rule(Op::AgainTable));
                self.table(id.table)?;
            }
            Output::Expr(expr) => self.value(expr, scope)?,
        }
        Ok(())
    }

    /// The sources, then the conditions of left joins from the last to the first.
    fn from(&mut self, sources: &[Source], scope: &Scope<'_>) -> Encoded {
        for (index, source) in sources.iter().enumerate() {
            if let Some(next) = sources.get(index + 1) {
                self.rule(if next.left.is_some() { Op::LeftJoin } else { Op::Join });
            }
            match &source.relation {
                Relation::Table(table) => self.table(*table)?,
                // It does not see its neighbours.
                Relation::Query(query) => self.query(query, scope.outer)?,
            }
        }
        sources
            .iter()
            .rev()
            .filter_map(|source| source.left.as_ref())
            .try_for_each(|on| self.condition(on, scope))
    }

    fn list(&mut self, exprs: &[Expr], another: Op, scope: &Scope<'_>) -> Encoded {
        for (index, expr) in exprs.iter().enumerate() {
            if index + 1 < exprs.len() {
                self.rule(another);
            }
            self.value(expr, scope)?;
        }
        Ok(())
    }

    fn column(&mut self, column: ColumnRef, scope: &Scope<'_>) -> Encoded {
        let at = scope.occurrence(column).ok_or("a column of nothing in FROM")?;
        let Some(id) = scope.schema_column(column) else {
            (0..at.outer).for_each(|_| self.rule(Op::OuterField));
            (0..at.again).for_each(|_| self.rule(Op::AgainField));
            self.field(column.column);
            return Ok(());
        };
        let columns = columns_of(id, self.schema);
        (0..at.outer).for_each(|_| self.rule(Op::Outer(columns)));
        (0..at.again).for_each(|_| self.rule(Op::Again(columns)));
        self.item(self.symbols.column(id))
    }

    /// An expression where a value is expected.
    fn value(&mut self, expr: &Expr, scope: &Scope<'_>) -> Encoded {
        match expr {
            Expr::Column(column) => return self.column(*column, scope),
            Expr::Unbound(_) => return Err("a column of nothing in FROM".into()),
            Expr::Literal(literal) => return self.literal(literal),
            Expr::Null => self.rule(Op::Null),
            Expr::Negate(expr) => self.apply(Op::Negate, [&**expr], scope)?,
            Expr::Arithmetic(operation, sides) => self.apply(Op::Arithmetic(*operation), &**sides, scope)?,
            Expr::Cast(to, expr) => self.apply(Op::Cast(*to), [&**expr], scope)?,
            Expr::Call(function, arguments) => self.apply(Op::Call(*function), arguments, scope)?,
            Expr::CountRows => self.rule(Op::CountRows),
            Expr::Aggregate(aggregate, expr) => self.apply(Op::Aggregate(*aggregate), [&**expr], scope)?,
            Expr::Case(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.rule(Op::Case);
                self.condition(condition, scope)?;
                self.value(then, scope)?;
                self.value(otherwise, scope)?;
            }
            Expr::Query(query) => self.query(query, Some(scope))?,
            condition => {
                self.rule(Op::Truth);
                self.condition(condition, scope)?;
            }
        }
        Ok(())
    }

    fn apply<'e>(
        &mut self,
        op: Op,
        arguments: impl IntoIterator<Item = &'e Expr>,
        scope: &Scope<'_>,
    ) -> Encoded {
        self.rule(op);
        arguments.into_iter().try_for_each(|argument| self.value(argument, scope))
    }

    /// An expression where a condition is expected.
    fn condition(&mut self, expr: &Expr, scope: &Scope<'_>) -> Encoded {
        let is_number = |left: &Expr| Class::of(left, scope, self.schema) == Class::Number;
        match expr {
            Expr::Compare(comparison, sides) => {
                let number = is_number(&sides[0]);
                self.apply(Op::Compare(*comparison, number), &**sides, scope)
            }
            Expr::Between(parts) => {
                let number = is_number(&parts[0]);
                self.apply(Op::Between(number), &**parts, scope)
            }
            Expr::InList(left, list) => {
                let number = is_number(left);
                self.apply(Op::InList(number), [&**left], scope)?;
                self.list(list, if number { Op::AndNumber } else { Op::AndElement }, scope)
            }
            Expr::InQuery(left, query) => {
                self.apply(Op::InQuery, [&**left], scope)?;
                self.query(query, Some(scope))
            }
            Expr::Exists(query) => {
                self.rule(Op::Exists);
                self.query(query, Some(scope))
            }
            Expr::IsNull(expr) => self.apply(Op::IsNull, [&**expr], scope),
            Expr::Like(sides) => {
                self.apply(Op::Like, [&sides[0]], scope)?;
                match Wildcards::of(&sides[1]) {
                    Some((wildcards, inside)) => {
                        self.rule(Op::Pattern(wildcards));
                        self.literal(&inside)
                    }
                    None => self.value(&sides[1], scope),
                }
            }
            Expr::And(parts) => self.chain(Op::And, parts, scope),
            Expr::Or(parts) => self.chain(Op::Or, parts, scope),
            Expr::Not(condition) => {
                self.rule(Op::Not);
                self.condition(condition, scope)
            }
            value => self.apply(Op::Holds, [value], scope),
        }
    }

    fn chain(&mut self, op: Op, parts: &[Expr], scope: &Scope<'_>) -> Encoded {
        for (index, part) in parts.iter().enumerate() {
            if index + 1 < parts.len() {
                self.rule(op);
            }
            self.condition(part, scope)?;
        }
        Ok(())
    }
}

/// How the grammar sorts a column.
pub(super) fn columns_of(column: ColumnId, schema: &Schema) -> Columns {
    match Class::of_column(schema.column(column).ty) {
        Class::Number => Columns::Number,
        Class::Text => Columns::Text,
        _ => Columns::Loose,
    }
}
