//! The text of values and conditions.

use super::{QueryText, SourceNames};
use crate::sql::dialect::Dialect;
use crate::sql::function::Aggregate;
use crate::sql::query::{ColumnRef, Expr, Query, SourceKind};
use crate::sql::scope::field_names;

impl QueryText<'_> {
    pub(super) fn expr(&mut self, expr: &Expr, names: &SourceNames<'_>) {
        match expr {
            Expr::Column(column) => self.column(*column, names),
            Expr::Unbound(column) => {
                let name = column.map_or("field", |column| self.schema.column(column).name.as_str());
                self.push(format_args!("{}.{}", self.writer.unbound, self.quoted(name)));
            }
            Expr::Literal(literal) => self.push(format_args!("{literal}")),
            Expr::Null => self.out.push_str("NULL"),
            Expr::Negate(expr) => {
                self.out.push_str("- ");
                self.operand(expr, names);
            }
            _ if self.is_written_for_duckdb(expr, names) || self.is_written_for_postgres(expr, names) => {}
            Expr::Arithmetic(operation, sides) => self.infix(operation.name(), sides, names),
            Expr::Cast(to, expr) => {
                self.out.push_str("CAST(");
                self.expr(expr, names);
                self.push(format_args!(" AS {})", to.name()));
            }
            Expr::Call(function, arguments) => {
                self.push(format_args!("{}(", function.name()));
                self.list(arguments, names);
                self.out.push(')');
            }
            Expr::CountRows => self.out.push_str("COUNT(*)"),
            Expr::Aggregate(aggregate, expr) => self.aggregate(*aggregate, expr, names),
            Expr::Case(parts) => self.case(parts, names),
            Expr::Query(query) => self.value_of_query(query, names),
            Expr::Compare(comparison, sides) => {
                let [left, right] = &**sides;
                self.operand(left, names);
                self.push(format_args!(" {} ", comparison.name()));
                self.compared(right, left, names);
            }
            Expr::Like(_)
            | Expr::Between(_)
            | Expr::InList(..)
            | Expr::InQuery(..)
            | Expr::Exists(_)
            | Expr::IsNull(_) => self.test(expr, "", names),
            Expr::And(parts) => self.chain(" AND ", parts, names),
            Expr::Or(parts) => self.chain(" OR ", parts, names),
            Expr::Not(condition) => self.test(condition, "NOT ", names),
        }
    }

    /// Writes a condition with `not`, which is `"NOT "` or empty, where SQL has it.
    fn test(&mut self, condition: &Expr, not: &str, names: &SourceNames<'_>) {
        match condition {
            Expr::Like(sides) if self.schema.dialect.has_strict_types() => self.ilike(not, sides, names),
            Expr::Like(sides) => self.infix(&format!("{not}LIKE"), sides, names),
            Expr::Between(parts) => {
                let [expr, low, high] = &**parts;
                self.operand(expr, names);
                self.push(format_args!(" {not}BETWEEN "));
                self.compared(low, expr, names);
                self.out.push_str(" AND ");
                self.compared(high, expr, names);
            }
            Expr::InList(expr, list) => {
                self.operand(expr, names);
                self.push(format_args!(" {not}IN ("));
                for (index, element) in list.iter().enumerate() {
                    self.comma(index);
                    self.compared(element, expr, names);
                }
                self.out.push(')');
            }
            Expr::InQuery(expr, query) => {
                self.operand(expr, names);
                self.push(format_args!(" {not}IN "));
                self.subquery(query, names);
            }
            Expr::Exists(query) => {
                self.push(format_args!("{not}EXISTS "));
                self.subquery(query, names);
            }
            Expr::IsNull(expr) => {
                self.operand(expr, names);
                self.push(format_args!(" IS {not}NULL"));
            }
            other => {
                self.out.push_str(not);
                self.operand(other, names);
            }
        }
    }

    fn column(&mut self, column: ColumnRef, names: &SourceNames<'_>) {
        let scope = std::iter::successors(Some(names), |names| names.outer).nth(column.scope as usize);
        let source = scope.and_then(|names| names.sources.get(column.source as usize));
        let name = source.and_then(|source| match &source.kind {
            SourceKind::Table(table) => {
                let columns = &self.schema.table(*table).columns;
                columns.get(column.column as usize).map(|column| column.name.clone())
            }
            SourceKind::Query(query) => {
                let fields = field_names(query, self.schema, &self.writer.output);
                fields.into_iter().nth(column.column as usize).flatten()
            }
        });
        match (scope, name) {
            (Some(names), Some(name)) => {
                self.push(format_args!("{}.{}", names.names[column.source as usize], self.quoted(&name)));
            }
            _ => self.push(format_args!("{}.field", self.writer.unbound)),
        }
    }

    fn aggregate(&mut self, aggregate: Aggregate, expr: &Expr, names: &SourceNames<'_>) {
        let distinct = if aggregate.is_distinct() { "DISTINCT " } else { "" };
        self.push(format_args!("{}({distinct}", aggregate.name()));
        self.expr(expr, names);
        self.out.push(')');
    }

    fn case(&mut self, parts: &[Expr; 3], names: &SourceNames<'_>) {
        self.out.push_str("CASE");
        let mut rest = parts;
        loop {
            let [condition, then, otherwise] = rest;
            self.out.push_str(" WHEN ");
            self.expr(condition, names);
            self.out.push_str(" THEN ");
            self.expr(then, names);
            match otherwise {
                Expr::Case(more) => rest = more,
                Expr::Null => break,
                value => {
                    self.out.push_str(" ELSE ");
                    self.expr(value, names);
                    break;
                }
            }
        }
        self.out.push_str(" END");
    }

    pub(super) fn list(&mut self, exprs: &[Expr], names: &SourceNames<'_>) {
        for (index, expr) in exprs.iter().enumerate() {
            self.comma(index);
            self.expr(expr, names);
        }
    }

    fn chain(&mut self, operator: &str, parts: &[Expr], names: &SourceNames<'_>) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.out.push_str(operator);
            }
            match part {
                Expr::And(_) | Expr::Or(_) => self.operand(part, names),
                _ => self.expr(part, names),
            }
        }
    }

    pub(super) fn infix(&mut self, operator: &str, [left, right]: &[Expr; 2], names: &SourceNames<'_>) {
        self.operand(left, names);
        self.push(format_args!(" {operator} "));
        self.operand(right, names);
    }

    /// Writes a query for its value, which is that of its first row. PostgreSQL has an error if there are others.
    fn value_of_query(&mut self, query: &Query, names: &SourceNames<'_>) {
        self.out.push('(');
        self.query(query, Some(names), false);
        if self.schema.dialect == Dialect::Postgres && query.takes_first_row() {
            self.out.push_str(" LIMIT 1");
        }
        self.out.push(')');
    }

    fn subquery(&mut self, query: &Query, names: &SourceNames<'_>) {
        self.out.push('(');
        self.query(query, Some(names), false);
        self.out.push(')');
    }

    /// Writes an operand, in parentheses if it is ambiguous without.
    pub(super) fn operand(&mut self, expr: &Expr, names: &SourceNames<'_>) {
        let is_clear = match expr {
            Expr::Literal(literal) => !literal.to_string().starts_with('-'),
            Expr::Negate(_) | Expr::Arithmetic(..) => false,
            other => !other.is_condition(),
        };
        if is_clear {
            self.expr(expr, names);
        } else {
            self.out.push('(');
            self.expr(expr, names);
            self.out.push(')');
        }
    }
}
