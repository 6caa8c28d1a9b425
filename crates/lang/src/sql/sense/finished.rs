//! The rules about complete queries, for what cannot be judged before.

use super::normal_form::equal_constant;
use crate::sql::operator::ComparisonOperator;
use crate::sql::query::{Expr, Output, Query, Select, SortBy};

/// Returns whether a query makes no sense. `normal` is its normal form.
pub(super) fn is_nonsense(query: &Query, normal: &Query) -> bool {
    let mut found = query.returns_only_constants();
    normal.visit_queries(&mut |query| {
        found |= query.selects().any(|select| !is_connected(select));
        query.visit_expressions(&mut |expr| found |= is_nonsense_expr(expr));
        found |= repeats(&query.order.iter().map(|key| &key.by).collect::<Vec<&SortBy>>());
        found |= repeats(&query.selects().collect::<Vec<&Select>>());
        for select in query.selects() {
            found |= repeats(&select.outputs.iter().collect::<Vec<&Output>>());
            found |= repeats(&select.group.iter().collect::<Vec<&Expr>>());
        }
    });
    found
}

fn repeats<T: PartialEq>(parts: &[T]) -> bool {
    parts.iter().enumerate().any(|(index, part)| parts[..index].contains(part))
}

fn is_nonsense_expr(expr: &Expr) -> bool {
    match expr {
        Expr::Unbound(_) => true,
        Expr::And(parts) => repeats(&parts.iter().collect::<Vec<&Expr>>()) || is_contradiction(parts),
        Expr::Or(parts) => repeats(&parts.iter().collect::<Vec<&Expr>>()),
        Expr::Compare(_, sides) => sides[0] == sides[1],
        // Whether there are any rows at all is the same for every row.
        Expr::Exists(query) => !query.sees_outer_rows(),
        _ => false,
    }
}

/// Returns whether conditions say that a column is equal to two constants.
fn is_contradiction(parts: &[Expr]) -> bool {
    let equal: Vec<_> = parts.iter().filter_map(equal_constant).collect();
    equal.iter().enumerate().any(|(index, (column, literal))| {
        equal[..index].iter().any(|(other, earlier)| other == column && earlier != literal)
    })
}

/// Returns whether comparisons connect all sources of a select.
fn is_connected(select: &Select) -> bool {
    let mut groups: Vec<usize> = (0..select.from.len()).collect();
    if groups.len() < 2 {
        return true;
    }
    let joins = select.from.iter().filter_map(|source| source.left_join.as_ref());
    for condition in select.condition.iter().chain(joins) {
        condition.visit(&mut |expr| {
            if let Expr::Compare(ComparisonOperator::Equal, sides) = expr
                && let (Expr::Column(left), Expr::Column(right)) = (&sides[0], &sides[1])
                && (left.scope, right.scope) == (0, 0)
            {
                let (old, new) = (groups[left.source as usize], groups[right.source as usize]);
                groups.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
            }
        });
    }
    groups.iter().all(|group| *group == groups[0])
}

impl Query {
    /// Returns whether the query refers to a row of an enclosing query.
    fn sees_outer_rows(&self) -> bool {
        let mut found = false;
        self.visit_expressions(&mut |expr| found |= matches!(expr, Expr::Column(column) if column.scope > 0));
        found
    }
}
