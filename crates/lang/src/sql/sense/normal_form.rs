//! The normal form of a query: queries that differ only in spelling have the same.
//!
//! It is for comparison only. The order of conditions, of sources and of the sides of `=`, `BETWEEN` and `IN` do not
//! matter, and neither does what cannot change the rows.

use crate::sql::literal::Literal;
use crate::sql::operator::{ComparisonOperator, SetOperator};
use crate::sql::query::{ColumnRef, Expr, FromSource, Output, Query, Select, SortBy, SourceKind};

/// Returns the normal form of a query.
pub(super) fn normalised(query: &Query) -> Query {
    let mut query = query.clone();
    normalise(&mut query, false);
    query
}

/// Brings a query to its normal form. If only the set of its values matters, its order and duplicates do not.
fn normalise(query: &mut Query, is_set: bool) {
    let is_plain = query.rest.is_empty() && query.limit.is_none();
    if is_set && is_plain {
        query.order.clear();
        query.first.distinct &= !query.first.group.is_empty();
    }
    // Set operators other than `UNION ALL` remove duplicates.
    if query.rest.iter().all(|(operator, _)| *operator != SetOperator::UnionAll) && !query.rest.is_empty() {
        selects(query).for_each(|select| select.distinct = false);
    }
    sort_sources(query);
    for select in selects(query) {
        for source in &mut select.from {
            if let SourceKind::Query(inner) = &mut source.kind {
                normalise(inner, false);
            }
        }
    }
    expressions(query).into_iter().for_each(normalise_expr);
}

fn selects(query: &mut Query) -> impl Iterator<Item = &mut Select> {
    std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select))
}

fn normalise_expr(expr: &mut Expr) {
    expr.children_mut().into_iter().for_each(normalise_expr);
    match expr {
        Expr::InQuery(_, query) | Expr::Exists(query) => normalise(query, true),
        Expr::Query(query) => normalise(query, false),
        Expr::Compare(operator, sides) if format!("{:?}", sides[0]) > format!("{:?}", sides[1]) => {
            sides.swap(0, 1);
            *operator = operator.flipped();
        }
        Expr::Between(parts) => {
            let [value, low, high] = (**parts).clone();
            let side = |operator, bound| Expr::Compare(operator, Box::new([value.clone(), bound]));
            *expr = Expr::And(vec![
                side(ComparisonOperator::GreaterOrEqual, low),
                side(ComparisonOperator::LessOrEqual, high),
            ]);
            normalise_expr(expr);
        }
        Expr::InList(left, list) => {
            let equal = |element: Expr| {
                Expr::Compare(ComparisonOperator::Equal, Box::new([(**left).clone(), element]))
            };
            *expr = Expr::Or(std::mem::take(list).into_iter().map(equal).collect());
            normalise_expr(expr);
        }
        Expr::And(parts) => {
            *parts = sorted(parts, |part| match part {
                Expr::And(parts) => Ok(parts),
                other => Err(other),
            });
        }
        Expr::Or(parts) => {
            *parts = sorted(parts, |part| match part {
                Expr::Or(parts) => Ok(parts),
                other => Err(other),
            });
        }
        _ => {}
    }
}

/// Returns the parts of a chain in order, with the parts of chains inside it.
fn sorted(parts: &mut Vec<Expr>, inner: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let parts = std::mem::take(parts).into_iter();
    let mut all: Vec<Expr> = parts.flat_map(|part| inner(part).unwrap_or_else(|part| vec![part])).collect();
    all.sort_by_cached_key(|part| format!("{part:?}"));
    all
}

/// Orders the sources of each `FROM` list by their tables, unless a table occurs twice or the order matters.
fn sort_sources(query: &mut Query) {
    let is_single = query.rest.is_empty();
    let mut keys: Vec<&mut Expr> = Vec::new();
    if is_single {
        keys.extend(query.order.iter_mut().filter_map(|key| match &mut key.by {
            SortBy::Expr(expr) => Some(expr),
            SortBy::Output(_) => None,
        }));
    }
    for select in std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)) {
        let Some(order) = source_order(select) else { continue };
        let mut new_index = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_index[old] = new as u32;
        }
        select.from = order.iter().map(|&old| select.from[old].clone()).collect();
        let outputs = select.outputs.iter_mut().filter_map(|output| match output {
            Output::Expr(expr) => Some(expr),
            Output::AllOf(source) => {
                *source = new_index[*source as usize];
                None
            }
            Output::All => None,
        });
        let all = outputs.chain(&mut select.condition).chain(&mut select.group).chain(&mut select.having);
        all.for_each(|expr| renumber(expr, 0, &new_index));
        keys.drain(..).for_each(|key| renumber(key, 0, &new_index));
    }
}

/// Returns the sources of a select in the order of their tables; none if they must stay as they are.
fn source_order(select: &Select) -> Option<Vec<usize>> {
    // A star has the columns of the sources in their order.
    if select.outputs.contains(&Output::All) {
        return None;
    }
    let table = |source: &FromSource| match source.kind {
        SourceKind::Table(table) if source.left_join.is_none() => Some(table),
        _ => None,
    };
    let tables = select.from.iter().map(table).collect::<Option<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..tables.len()).collect();
    order.sort_by_key(|&index| tables[index]);
    let is_repeated = order.windows(2).any(|pair| tables[pair[0]] == tables[pair[1]]);
    (!is_repeated).then_some(order)
}

/// Renumbers the sources of the list that is `depth` lists away.
fn renumber(expr: &mut Expr, depth: u32, new_index: &[u32]) {
    if let Expr::Column(ColumnRef { scope, source, .. }) = expr
        && *scope == depth
    {
        *source = new_index[*source as usize];
    }
    expr.children_mut().into_iter().for_each(|child| renumber(child, depth, new_index));
    if let Expr::Query(query) | Expr::Exists(query) | Expr::InQuery(_, query) = expr {
        renumber_query(query, depth + 1, new_index);
    }
}

fn renumber_query(query: &mut Query, depth: u32, new_index: &[u32]) {
    expressions(query).into_iter().for_each(|expr| renumber(expr, depth, new_index));
    for select in selects(query) {
        for source in &mut select.from {
            // A query in `FROM` does not see the list it is in.
            if let SourceKind::Query(inner) = &mut source.kind {
                renumber_query(inner, depth, new_index);
            }
        }
    }
}

/// Returns the expressions of the selects and sort keys of a query.
fn expressions(query: &mut Query) -> Vec<&mut Expr> {
    let mut all: Vec<&mut Expr> = Vec::new();
    let keys = query.order.iter_mut().filter_map(|key| match &mut key.by {
        SortBy::Expr(expr) => Some(expr),
        SortBy::Output(_) => None,
    });
    all.extend(keys);
    for select in std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)) {
        let outputs = select.outputs.iter_mut().filter_map(|output| match output {
            Output::Expr(expr) => Some(expr),
            _ => None,
        });
        let joins = select.from.iter_mut().filter_map(|source| source.left_join.as_mut());
        let clauses = select.condition.iter_mut().chain(&mut select.group).chain(&mut select.having);
        all.extend(outputs.chain(joins).chain(clauses));
    }
    all
}

/// Returns the constants that a condition of `AND` says a column is equal to.
pub(super) fn equal_constant(part: &Expr) -> Option<(&ColumnRef, &Literal)> {
    let Expr::Compare(ComparisonOperator::Equal, sides) = part else { return None };
    match (&sides[0], &sides[1]) {
        (Expr::Column(column), Expr::Literal(literal)) | (Expr::Literal(literal), Expr::Column(column)) => {
            Some((column, literal))
        }
        _ => None,
    }
}
