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

    /// Calls `visit` with every expression and the sources that it sees, also in the queries inside this one.
    fn visit_scoped(&self, outer: Option<&Scope<'_>>, visit: &mut dyn FnMut(&Expr, &Scope<'_>)) {
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
        let column = |name: &str| Column { name: name.into(), ty: ColumnType::Text };
        let table = |name: &str, columns: &[&str]| Table {
            name: name.into(),
            columns: columns.iter().map(|name| column(name)).collect(),
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let schema = Schema { tables: vec![table("a", &["x", "y"]), table("b", &["z"])] };
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
