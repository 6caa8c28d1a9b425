//! What the conditions of a query compare with what.

use super::literal::Literal;
use super::operator::ComparisonOperator;
use super::query::{Expr, Output, Query, SortBy, SourceKind};
use super::schema::ColumnId;
use super::scope::Scope;

impl Query {
    /// Returns the texts that conditions of the query, and of the queries inside it, look for in columns of tables.
    pub fn compared_texts(&self) -> Vec<(ColumnId, String)> {
        let mut found = Vec::new();
        self.visit_scoped(None, &mut |expr, scope| {
            let (column, values) = match expr {
                Expr::Compare(ComparisonOperator::Equal | ComparisonOperator::NotEqual, sides) => {
                    (&sides[0], std::slice::from_ref(&sides[1]))
                }
                Expr::InList(column, values) => (&**column, values.as_slice()),
                _ => return,
            };
            let Some(column) = column_of(column, scope) else { return };
            for value in values {
                if let Expr::Literal(Literal::Text(text)) = value {
                    found.push((column, text.clone()));
                }
            }
        });
        found
    }

    /// Returns the pairs of columns of tables that conditions of the query, and of the queries inside it, equate.
    pub fn equated_columns(&self) -> Vec<[ColumnId; 2]> {
        let mut found = Vec::new();
        self.visit_scoped(None, &mut |expr, scope| {
            if let Expr::Compare(ComparisonOperator::Equal, sides) = expr
                && let (Some(left), Some(right)) = (column_of(&sides[0], scope), column_of(&sides[1], scope))
            {
                found.push([left, right]);
            }
        });
        found
    }

    /// Returns the pairs of columns of tables that the query, and the queries inside it, compare with each other: directly,
    /// or with the outputs of a query.
    pub(super) fn joined_columns(&self) -> Vec<[ColumnId; 2]> {
        let mut found = Vec::new();
        self.visit_scoped(None, &mut |expr, scope| {
            let (left, right) = match expr {
                Expr::Compare(_, sides) => (&sides[0], traced_columns(&sides[1], scope)),
                Expr::InQuery(left, query) => (&**left, output_columns(query, Some(scope))),
                _ => return,
            };
            for left in traced_columns(left, scope) {
                found.extend(right.iter().map(|&right| [left, right]));
            }
        });
        found
    }

    /// Calls `visit` with every expression and the sources that it sees, also in the queries inside this one.
    pub(super) fn visit_scoped(&self, outer: Option<&Scope<'_>>, visit: &mut dyn FnMut(&Expr, &Scope<'_>)) {
        for (index, select) in self.selects().enumerate() {
            let scope = Scope { sources: &select.from, outer };
            let outputs = select.outputs.iter().filter_map(|output| match output {
                Output::Expr(expr) => Some(expr),
                _ => None,
            });
            let joins = select.from.iter().filter_map(|source| source.left_join.as_ref());
            let keys = self.order.iter().filter_map(|key| match &key.by {
                SortBy::Expr(expr) if index == 0 => Some(expr),
                _ => None,
            });
            let clauses = joins.chain(&select.condition).chain(&select.group).chain(&select.having);
            for expr in clauses.chain(outputs).chain(keys) {
                expr.visit(&mut |expr| {
                    visit(expr, &scope);
                    if let Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) = expr {
                        query.visit_scoped(Some(&scope), visit);
                    }
                });
            }
            for source in &select.from {
                if let SourceKind::Query(query) = &source.kind {
                    query.visit_scoped(outer, visit);
                }
            }
        }
    }
}

/// Returns the columns of tables that a value comes from: a column, its least, greatest or mean value, or an output of a
/// query that is one of these.
fn traced_columns(expr: &Expr, scope: &Scope<'_>) -> Vec<ColumnId> {
    match expr {
        Expr::Column(column) => match scope.source(*column).map(|source| &source.kind) {
            Some(SourceKind::Table(table)) => vec![ColumnId { table: *table, column: column.column }],
            Some(SourceKind::Query(query)) => {
                let inner = Scope { sources: &query.first.from, outer: None };
                match query.first.outputs.get(column.column as usize) {
                    Some(Output::Expr(expr)) => traced_columns(expr, &inner),
                    _ => vec![],
                }
            }
            None => vec![],
        },
        Expr::Aggregate(aggregate, argument) if !matches!(aggregate.name(), "COUNT" | "GROUP_CONCAT") => {
            traced_columns(argument, scope)
        }
        Expr::Query(query) => output_columns(query, Some(scope)),
        _ => vec![],
    }
}

/// Returns the columns of tables that the first outputs of a query's selects come from.
fn output_columns(query: &Query, outer: Option<&Scope<'_>>) -> Vec<ColumnId> {
    let mut columns = Vec::new();
    for select in query.selects() {
        if let Some(Output::Expr(expr)) = select.outputs.first() {
            columns.extend(traced_columns(expr, &Scope { sources: &select.from, outer }));
        }
    }
    columns
}

fn column_of(expr: &Expr, scope: &Scope<'_>) -> Option<ColumnId> {
    match expr {
        Expr::Column(column) => scope.schema_column(*column),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::{Column, ColumnType, Schema, Table, check};

    #[test]
    fn comparisons_are_found_in_all_queries() {
        let column = |name: &str| Column { comment: None, name: name.into(), ty: ColumnType::Text };
        let table = |name: &str, columns: &[&str]| Table {
            comment: None,
            namespace: None,
            name: name.into(),
            columns: columns.iter().map(|name| column(name)).collect(),
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let schema =
            Schema { dialect: Default::default(), tables: vec![table("a", &["x", "y"]), table("b", &["z"])] };
        let text = "SELECT x FROM a WHERE y IN ('p', 'q') AND EXISTS (SELECT 1 FROM b WHERE z = a.x AND z <> 'r') \
                    AND x IN (SELECT z FROM (SELECT z FROM b WHERE z = 's'))";
        let query = check(text, &schema).unwrap().query;
        let name = |id| schema.column(id).name.as_str();
        let texts: Vec<String> = query
            .compared_texts()
            .into_iter()
            .map(|(column, text)| format!("{} {text}", name(column)))
            .collect();
        assert_eq!(texts, ["y p", "y q", "z r", "z s"]);
        let pairs: Vec<String> =
            query.equated_columns().into_iter().map(|[a, b]| format!("{} {}", name(a), name(b))).collect();
        assert_eq!(pairs, ["z x"]);
    }
}
