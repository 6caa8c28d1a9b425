//! Flattens compound queries.

use super::super::check::CheckError;
use super::super::operator::SetOperator;
use super::not_supported;
use sqlparser::ast;

/// Appends the selects of a compound query in the order of the text, each with the operator before it. The first gets
/// `operator`.
///
/// In SQLite all set operators have the same precedence and associate to the left. `sqlparser` lets `INTERSECT` bind
/// tighter, so the right side of an operator can be a compound without parentheses.
pub(super) fn flatten<'a>(
    body: &'a ast::SetExpr,
    operator: SetOperator,
    selects: &mut Vec<(SetOperator, &'a ast::Select)>,
) -> Result<(), CheckError> {
    // A loop, because the chain nests to the left and may be long.
    let mut rest = Vec::new();
    let mut left = body;
    let first = loop {
        match left {
            ast::SetExpr::SetOperation { op, set_quantifier, left: more, right } => {
                rest.push((set_operator(*op, *set_quantifier)?, &**right));
                left = more;
            }
            ast::SetExpr::Query(query) if is_bare(query) && selects.is_empty() => left = &query.body,
            other => break single_select(other)?,
        }
    };
    selects.push((operator, first));
    for (operator, right) in rest.into_iter().rev() {
        match right {
            ast::SetExpr::SetOperation { .. } => flatten(right, operator, selects)?,
            other => selects.push((operator, single_select(other)?)),
        }
    }
    Ok(())
}

/// Returns the only select of a part of a compound.
fn single_select(body: &ast::SetExpr) -> Result<&ast::Select, CheckError> {
    match body {
        ast::SetExpr::Select(select) => Ok(select),
        ast::SetExpr::Query(query) if is_bare(query) => single_select(&query.body),
        ast::SetExpr::Query(_) => Err(not_supported("ORDER BY, LIMIT or WITH in a part of a compound query")),
        ast::SetExpr::SetOperation { .. } => {
            Err(not_supported("a compound query as the right side of another"))
        }
        ast::SetExpr::Values(_) | ast::SetExpr::Table(_) => Err(not_supported("VALUES")),
        _ => Err(CheckError::NotOneSelect),
    }
}

/// Returns whether a query in parentheses has no clauses besides its body.
fn is_bare(query: &ast::Query) -> bool {
    query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none()
}

fn set_operator(op: ast::SetOperator, quantifier: ast::SetQuantifier) -> Result<SetOperator, CheckError> {
    use ast::SetQuantifier::{All, Distinct, None};
    match (op, quantifier) {
        (ast::SetOperator::Union, All) => Ok(SetOperator::UnionAll),
        (ast::SetOperator::Union, None | Distinct) => Ok(SetOperator::Union),
        (ast::SetOperator::Intersect, None | Distinct) => Ok(SetOperator::Intersect),
        (ast::SetOperator::Except, None | Distinct) => Ok(SetOperator::Except),
        (op, quantifier) => Err(not_supported(format!("{op} {quantifier}"))),
    }
}
