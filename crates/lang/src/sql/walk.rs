//! Going through a tree.

use super::literal::Literal;
use super::pattern::Wildcards;
use super::query::{By, Expr, Output, Query, Relation};

impl Query {
    /// Shows `visit` every query, this one first.
    pub(super) fn visit_queries(&self, visit: &mut dyn FnMut(&Query)) {
        visit(self);
        for select in self.parts() {
            for source in &select.from {
                if let Relation::Query(query) = &source.relation {
                    query.visit_queries(visit);
                }
            }
        }
        self.visit_own(&mut |expr| {
            if let Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) = expr {
                query.visit_queries(visit);
            }
        });
    }

    /// Shows `visit` every expression of this query, not of queries inside it.
    fn visit_own(&self, visit: &mut dyn FnMut(&Expr)) {
        for select in self.parts() {
            let outputs = select.outputs.iter().filter_map(|output| match output {
                Output::Expr(expr) => Some(expr),
                _ => None,
            });
            let joins = select.from.iter().filter_map(|source| source.left.as_ref());
            let all =
                joins.chain(&select.condition).chain(&select.group).chain(&select.having).chain(outputs);
            all.for_each(|expr| expr.visit(visit));
        }
        for key in &self.order {
            if let By::Expr(expr) = &key.by {
                expr.visit(visit);
            }
        }
    }

    /// Whether it gives constants alone, and so nothing of the database; `SELECT 'jazz' FROM album` does.
    pub fn gives_constants_alone(&self) -> bool {
        let is_constant = |output: &Output| match output {
            Output::All | Output::AllOf(_) => false,
            Output::Expr(expr) => {
                let mut looks_up = false;
                expr.visit(&mut |expr| {
                    looks_up |= matches!(
                        expr,
                        Expr::Column(_)
                            | Expr::Unbound(_)
                            | Expr::CountRows
                            | Expr::Query(_)
                            | Expr::InQuery(..)
                            | Expr::Exists(_)
                    );
                });
                !looks_up
            }
        };
        self.parts().all(|select| select.outputs.iter().all(is_constant))
    }

    /// The literals a program for this query points to, each once, in the order of the text.
    ///
    /// A pattern `%x%` of `LIKE` points to `x`, for that is what a question says.
    pub fn literals(&self) -> Vec<Literal> {
        let mut found: Vec<Literal> = Vec::new();
        let mut add = |literal: Literal| {
            if !found.contains(&literal) {
                found.push(literal);
            }
        };
        self.visit_queries(&mut |query| {
            query.visit_own(&mut |expr| match expr {
                Expr::Literal(literal) => add(literal.clone()),
                Expr::Like(sides) => match (Wildcards::of(&sides[1]), &sides[1]) {
                    (Some((_, inside)), _) => add(inside),
                    (None, Expr::Literal(literal)) => add(literal.clone()),
                    _ => {}
                },
                _ => {}
            });
            if let Some(limit) = &query.limit {
                add(limit.rows.clone());
                limit.skip.iter().for_each(|skip| add(skip.clone()));
            }
        });
        found
    }
}

impl Expr {
    /// Shows `visit` this expression and those inside it, outermost first; not those of queries inside,
    /// and not the constant pattern of a `LIKE`, which is more than a literal.
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
