//! Visitors of the syntax tree.

use super::literal::Literal;
use super::pattern::Wildcards;
use super::query::{Expr, Output, Query, SortBy, SourceKind};

impl Query {
    /// Calls `visit` with this query and then with every query inside it.
    pub(super) fn visit_queries(&self, visit: &mut dyn FnMut(&Query)) {
        visit(self);
        for select in self.selects() {
            for source in &select.from {
                if let SourceKind::Query(query) = &source.kind {
                    query.visit_queries(visit);
                }
            }
        }
        self.visit_expressions(&mut |expr| {
            if let Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) = expr {
                query.visit_queries(visit);
            }
        });
    }

    /// Returns whether the value of this query is that of the first of several rows, in no order that it says.
    pub(super) fn takes_first_row(&self) -> bool {
        let select = &self.first;
        let mut has_aggregate = false;
        for output in &select.outputs {
            if let Output::Expr(expr) = output {
                expr.visit(&mut |expr| {
                    has_aggregate |= matches!(expr, Expr::Aggregate(..) | Expr::CountRows);
                });
            }
        }
        let has_one_row = has_aggregate && self.rest.is_empty() && select.group.is_empty();
        !has_one_row && self.limit.is_none() && self.order.is_empty()
    }

    /// Returns the largest number of queries inside each other, with this one.
    pub(super) fn depth(&self) -> usize {
        let mut inner = 0;
        for select in self.selects() {
            for source in &select.from {
                if let SourceKind::Query(query) = &source.kind {
                    inner = inner.max(query.depth());
                }
            }
        }
        self.visit_expressions(&mut |expr| {
            if let Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) = expr {
                inner = inner.max(query.depth());
            }
        });
        inner + 1
    }

    /// Calls `visit` with every expression of this query, but not of the queries inside it.
    pub(super) fn visit_expressions(&self, visit: &mut dyn FnMut(&Expr)) {
        for select in self.selects() {
            let outputs = select.outputs.iter().filter_map(|output| match output {
                Output::Expr(expr) => Some(expr),
                _ => None,
            });
            let joins = select.from.iter().filter_map(|source| source.left_join.as_ref());
            let all =
                joins.chain(&select.condition).chain(&select.group).chain(&select.having).chain(outputs);
            all.for_each(|expr| expr.visit(visit));
        }
        for key in &self.order {
            if let SortBy::Expr(expr) = &key.by {
                expr.visit(visit);
            }
        }
    }

    /// Returns whether the outputs are computed from constants only, as in `SELECT 'jazz' FROM album`.
    pub fn returns_only_constants(&self) -> bool {
        let is_constant = |output: &Output| match output {
            Output::All | Output::AllOf(_) => false,
            Output::Expr(expr) => {
                let mut reads_data = false;
                expr.visit(&mut |expr| {
                    reads_data |= matches!(
                        expr,
                        Expr::Column(_)
                            | Expr::Unbound(_)
                            | Expr::CountRows
                            | Expr::Query(_)
                            | Expr::InQuery(..)
                            | Expr::Exists(_)
                    );
                });
                !reads_data
            }
        };
        self.selects().all(|select| select.outputs.iter().all(is_constant))
    }

    /// Returns the literals that a program for this query points to, without duplicates, in the order of the tree.
    ///
    /// For a pattern `%x%` of `LIKE` that is `x`, which is what a question would mention.
    pub fn literals(&self) -> Vec<Literal> {
        let mut found: Vec<Literal> = Vec::new();
        let mut add = |literal: Literal| {
            if !found.contains(&literal) {
                found.push(literal);
            }
        };
        self.visit_queries(&mut |query| {
            query.visit_expressions(&mut |expr| match expr {
                Expr::Literal(literal) => add(literal.clone()),
                Expr::Like(sides) => match (Wildcards::split(&sides[1]), &sides[1]) {
                    (Some((_, inside)), _) => add(inside),
                    (None, Expr::Literal(literal)) => add(literal.clone()),
                    _ => {}
                },
                _ => {}
            });
            if let Some(limit) = &query.limit {
                add(limit.rows.clone());
                limit.offset.iter().for_each(|skip| add(skip.clone()));
            }
        });
        found
    }
}

impl Expr {
    /// Returns the expressions directly inside this one, mutably. Those of queries inside it are not among them.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Column(_)
            | Expr::Unbound(_)
            | Expr::Literal(_)
            | Expr::Null
            | Expr::CountRows
            | Expr::Query(_)
            | Expr::Exists(_) => vec![],
            Expr::Negate(inner)
            | Expr::Cast(_, inner)
            | Expr::Aggregate(_, inner)
            | Expr::IsNull(inner)
            | Expr::Not(inner)
            | Expr::InQuery(inner, _) => vec![inner],
            Expr::Arithmetic(_, sides) | Expr::Compare(_, sides) | Expr::Like(sides) => {
                sides.iter_mut().collect()
            }
            Expr::Case(parts) | Expr::Between(parts) => parts.iter_mut().collect(),
            Expr::InList(left, list) => std::iter::once(&mut **left).chain(list).collect(),
            Expr::Call(_, parts) | Expr::And(parts) | Expr::Or(parts) => parts.iter_mut().collect(),
        }
    }

    /// Calls `visit` with this expression and then with those inside it, except for the expressions of queries and the
    /// constant pattern of a `LIKE`, which [`Wildcards`] takes apart.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Column(_)
            | Expr::Unbound(_)
            | Expr::Literal(_)
            | Expr::Null
            | Expr::CountRows
            | Expr::Query(_)
            | Expr::Exists(_) => {}
            Expr::Negate(expr)
            | Expr::Cast(_, expr)
            | Expr::Aggregate(_, expr)
            | Expr::IsNull(expr)
            | Expr::Not(expr)
            | Expr::InQuery(expr, _) => expr.visit(visit),
            Expr::Arithmetic(_, sides) | Expr::Compare(_, sides) => {
                sides.iter().for_each(|side| side.visit(visit));
            }
            Expr::Like(sides) => {
                sides[0].visit(visit);
                if !matches!(sides[1], Expr::Literal(_)) {
                    sides[1].visit(visit);
                }
            }
            Expr::Case(parts) | Expr::Between(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Expr::InList(expr, list) => {
                expr.visit(visit);
                list.iter().for_each(|element| element.visit(visit));
            }
            Expr::Call(_, parts) | Expr::And(parts) | Expr::Or(parts) => {
                parts.iter().for_each(|part| part.visit(visit));
            }
        }
    }
}
