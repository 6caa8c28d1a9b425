//! What PostgreSQL writes in another way than SQLite.
//!
//! A tree means what SQLite does with it. SQLite converts values where PostgreSQL has an error, so that casts are written
//! where a value may not have the type that is needed, and the reader of this dialect drops them again
//! (`reader/postgres.rs`).

use super::{QueryText, SourceNames};
use crate::sql::dialect::Dialect;
use crate::sql::function::{Aggregate, ScalarFunction, ValueType};
use crate::sql::literal::Literal;
use crate::sql::operator::{ArithmeticOperator, CastType};
use crate::sql::query::{ColumnRef, Expr, SourceKind};
use crate::sql::schema::ColumnType;
use crate::sql::time_format;

impl QueryText<'_> {
    /// Writes an expression that PostgreSQL writes in another way. Returns whether it is one, and the dialect is PostgreSQL's
    /// or one that is like it.
    pub(super) fn is_written_for_postgres(&mut self, expr: &Expr, names: &SourceNames<'_>) -> bool {
        if !self.schema.dialect.has_strict_types() {
            return false;
        }
        match expr {
            Expr::Arithmetic(ArithmeticOperator::Concatenate, sides) => {
                self.text(&sides[0], names);
                self.out.push_str(" || ");
                self.text(&sides[1], names);
            }
            Expr::Arithmetic(ArithmeticOperator::Divide, sides) => {
                self.operand(&sides[0], names);
                self.out.push_str(" / ");
                self.divisor(&sides[1], names);
            }
            Expr::Cast(to, expr) => self.cast(*to, expr, names),
            Expr::Aggregate(Aggregate::GroupConcat, expr) => {
                self.out.push_str("STRING_AGG(");
                self.text(expr, names);
                self.out.push_str(", ',')");
            }
            Expr::Call(function, arguments) => return self.postgres_call(*function, arguments, names),
            _ => return false,
        }
        true
    }

    /// Writes `a ILIKE b`. SQLite's `LIKE` ignores case, and has no character that escapes others.
    pub(super) fn ilike(&mut self, not: &str, [left, pattern]: &[Expr; 2], names: &SourceNames<'_>) {
        self.text(left, names);
        self.push(format_args!(" {not}ILIKE "));
        self.text(pattern, names);
        let has_escapes = match pattern {
            _ if self.schema.dialect == Dialect::DuckDb => false,
            Expr::Literal(Literal::Text(pattern)) => pattern.contains('\\'),
            other => !matches!(other, Expr::Literal(_)),
        };
        if has_escapes {
            self.out.push_str(" ESCAPE ''");
        }
    }

    /// Writes the right side of a comparison with `left`. A constant gets the type of a column.
    pub(super) fn compared(&mut self, expr: &Expr, left: &Expr, names: &SourceNames<'_>) {
        let column = match left {
            Expr::Column(column) if self.schema.dialect.has_strict_types() => {
                self.column_type(*column, names)
            }
            _ => None,
        };
        match (column, expr) {
            (Some(ColumnType::Boolean), Expr::Literal(Literal::Number(number)))
                if matches!(&**number, "0" | "1") =>
            {
                self.out.push_str(if number == "1" { "TRUE" } else { "FALSE" });
            }
            (
                Some(ColumnType::Text | ColumnType::Other | ColumnType::Time),
                Expr::Literal(Literal::Number(number)),
            ) => self.push(format_args!("CAST({number} AS TEXT)")),
            _ => self.operand(expr, names),
        }
    }

    /// Writes a divisor. In SQLite, the quotient by zero is NULL.
    fn divisor(&mut self, expr: &Expr, names: &SourceNames<'_>) {
        let is_zero = |number: &str| number.parse() == Ok(0.0);
        if matches!(expr, Expr::Literal(Literal::Number(number)) if !is_zero(number)) {
            return self.operand(expr, names);
        }
        self.out.push_str("NULLIF(");
        self.expr(expr, names);
        self.out.push_str(", 0)");
    }

    fn cast(&mut self, to: CastType, expr: &Expr, names: &SourceNames<'_>) {
        if let (CastType::Integer, Some((field, time))) = (to, time_format::extracted(expr)) {
            self.push(format_args!("EXTRACT({field} FROM "));
            self.time(time, names);
            return self.out.push(')');
        }
        let is_number = self.value_type(expr, names) == ValueType::Number;
        let (before, after) = match to {
            // SQLite cuts off the fraction.
            CastType::Integer if is_number => ("CAST(TRUNC(", ") AS BIGINT)"),
            CastType::Integer => ("CAST(", " AS BIGINT)"),
            CastType::Real => ("CAST(", " AS DOUBLE PRECISION)"),
            CastType::Numeric => ("CAST(", " AS DECIMAL)"),
            CastType::Text => ("CAST(", " AS VARCHAR)"),
        };
        self.out.push_str(before);
        self.expr(expr, names);
        self.out.push_str(after);
    }

    /// Writes the call of a function that has another name or other types in PostgreSQL. Returns whether it is one.
    fn postgres_call(
        &mut self,
        function: ScalarFunction,
        arguments: &[Expr],
        names: &SourceNames<'_>,
    ) -> bool {
        match (function.name(), arguments) {
            ("max", _) => self.renamed("GREATEST", arguments, names),
            ("min", _) => self.renamed("LEAST", arguments, names),
            ("round", [value, digits @ ..]) => {
                self.out.push_str("ROUND(CAST(");
                self.expr(value, names);
                self.out.push_str(" AS NUMERIC)");
                self.rest(digits, names);
            }
            ("instr", [text, part]) => {
                self.out.push_str("STRPOS(");
                self.text(text, names);
                self.out.push_str(", ");
                self.text(part, names);
                self.out.push(')');
            }
            (
                "length" | "lower" | "upper" | "trim" | "ltrim" | "rtrim" | "substr" | "replace",
                [text, more @ ..],
            ) => {
                self.push(format_args!("{}(", function.name()));
                self.text(text, names);
                self.rest(more, names);
            }
            ("strftime", [Expr::Literal(Literal::Text(format)), time]) => {
                let Some(format) = time_format::to_postgres(format) else { return false };
                self.out.push_str("TO_CHAR(");
                self.time(time, names);
                self.push(format_args!(", {})", Literal::text(format)));
            }
            ("date" | "datetime" | "time", [time]) => {
                let ty = if function.name() == "datetime" { "timestamp" } else { function.name() };
                self.out.push_str("CAST(");
                self.expr(time, names);
                self.push(format_args!(" AS {})", ty.to_ascii_uppercase()));
            }
            ("date", [time, Expr::Literal(Literal::Text(modifier))]) => {
                let unit =
                    modifier.strip_prefix("start of ").filter(|unit| matches!(*unit, "year" | "month"));
                let Some(unit) = unit else { return false };
                self.push(format_args!("CAST(DATE_TRUNC({}, ", Literal::text(unit)));
                self.time(time, names);
                self.out.push_str(") AS DATE)");
            }
            _ => return false,
        }
        true
    }

    fn renamed(&mut self, name: &str, arguments: &[Expr], names: &SourceNames<'_>) {
        self.push(format_args!("{name}("));
        self.list(arguments, names);
        self.out.push(')');
    }

    /// Writes the arguments after the first one, and the parenthesis after them.
    fn rest(&mut self, arguments: &[Expr], names: &SourceNames<'_>) {
        for argument in arguments {
            self.out.push_str(", ");
            self.expr(argument, names);
        }
        self.out.push(')');
    }

    /// Writes an operand as a text.
    fn text(&mut self, expr: &Expr, names: &SourceNames<'_>) {
        let is_text = matches!(expr, Expr::Literal(Literal::Text(_)))
            || self.value_type(expr, names) == ValueType::Text;
        if is_text {
            return self.operand(expr, names);
        }
        self.out.push_str("CAST(");
        self.expr(expr, names);
        self.out.push_str(" AS TEXT)");
    }

    /// Writes an operand as a date with a time.
    pub(super) fn time(&mut self, expr: &Expr, names: &SourceNames<'_>) {
        self.out.push_str("CAST(");
        self.expr(expr, names);
        self.out.push_str(" AS TIMESTAMP)");
    }

    /// Returns the type of an expression as far as it is certain.
    pub(super) fn value_type(&self, expr: &Expr, names: &SourceNames<'_>) -> ValueType {
        match expr {
            Expr::Column(column) => match self.column_type(*column, names) {
                Some(ColumnType::Number) => ValueType::Number,
                Some(ColumnType::Text) => ValueType::Text,
                _ => ValueType::Any,
            },
            Expr::Arithmetic(ArithmeticOperator::Concatenate, _) | Expr::Cast(CastType::Text, _) => {
                ValueType::Text
            }
            Expr::Negate(_) | Expr::Arithmetic(..) | Expr::CountRows | Expr::Cast(..) => ValueType::Number,
            Expr::Literal(Literal::Number(_)) => ValueType::Number,
            Expr::Call(function, _) => function.result(),
            Expr::Aggregate(aggregate, _) => aggregate.result(),
            _ => ValueType::Any,
        }
    }

    /// Returns the type of the column of a table; none for an output of a query.
    fn column_type(&self, column: ColumnRef, names: &SourceNames<'_>) -> Option<ColumnType> {
        let scope = std::iter::successors(Some(names), |names| names.outer).nth(column.scope as usize)?;
        match &scope.sources.get(column.source as usize)?.kind {
            SourceKind::Table(table) => {
                self.schema.table(*table).columns.get(column.column as usize).map(|column| column.ty)
            }
            SourceKind::Query(_) => None,
        }
    }
}
