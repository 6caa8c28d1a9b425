//! What PostgreSQL spells in another way than SQLite.
//!
//! Casts that only PostgreSQL needs are dropped: the writer of this dialect (`writer/postgres.rs`) writes them wherever a
//! value may not have the type that is needed.

use super::super::check::CheckError;
use super::super::dialect::Dialect;
use super::super::function::Aggregate;
use super::super::literal::Literal;
use super::super::operator::CastType;
use super::super::query::{Expr, Limit, Query};
use super::super::time_format;
use super::calls::cast_type;
use super::expression::constant;
use super::names::NameScope;
use super::{QueryReader, not_supported};
use sqlparser::ast::{self, DataType};

impl<'a> QueryReader<'a> {
    fn has_strict_types(&self) -> bool {
        self.schema.dialect.has_strict_types()
    }

    /// Reads a query for its value. That of the first row is meant without saying so, unless the rows have an order.
    pub(super) fn value_of_query(
        &mut self,
        query: &'a ast::Query,
        scope: &NameScope<'_>,
    ) -> Result<Box<Query>, CheckError> {
        let mut query = self.subquery(query, scope)?;
        let is_first = |limit: &Limit| limit.rows == Literal::Number("1".into()) && limit.offset.is_none();
        if self.schema.dialect == Dialect::Postgres
            && query.order.is_empty()
            && query.limit.as_ref().is_some_and(is_first)
        {
            query.limit = None;
            if !query.takes_first_row() {
                query.limit = Some(Limit { rows: Literal::Number("1".into()), offset: None });
            }
        }
        Ok(query)
    }

    /// Reads `CAST(expr AS name)`.
    pub(super) fn cast(
        &mut self,
        expr: &'a ast::Expr,
        name: &str,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        if !self.has_strict_types() {
            return Ok(Expr::Cast(cast_type(name)?, self.boxed(expr, scope)?));
        }
        let upper = name.to_ascii_uppercase();
        let to = match upper.as_str() {
            "DATE" => return self.date(expr, scope),
            "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => {
                let time = self.expr(expr, scope)?;
                return self.called("datetime", vec![time]);
            }
            "TIME" | "TIME WITHOUT TIME ZONE" => {
                let time = self.expr(expr, scope)?;
                return self.called("time", vec![time]);
            }
            "TEXT" if let Some(number @ Literal::Number(_)) = constant(expr) => {
                return Ok(Expr::Literal(number));
            }
            other => strict_type(other, self.schema.dialect)
                .ok_or_else(|| not_supported(format!("CAST to {name}")))?,
        };
        if to == CastType::Integer
            && let Some(inner) = argument_of(expr, "trunc")
        {
            return Ok(Expr::Cast(to, self.boxed(inner, scope)?));
        }
        Ok(Expr::Cast(to, self.boxed(expr, scope)?))
    }

    /// Reads `CAST(expr AS DATE)`.
    fn date(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        let read = self.expr(expr, scope)?;
        // `DATE_TRUNC` is one already.
        if calls(expr, "date_trunc") { Ok(read) } else { self.called("date", vec![read]) }
    }

    /// Reads an operand that is a text.
    pub(super) fn text(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        self.expr(if self.has_strict_types() { without_cast(expr, &DataType::Text) } else { expr }, scope)
    }

    /// Reads an operand that is a time.
    pub(super) fn time(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        self.expr(without_cast(expr, &DataType::Timestamp(None, ast::TimezoneInfo::None)), scope)
    }

    /// Reads a divisor. `NULLIF` makes the quotient by zero NULL, which it is in SQLite.
    pub(super) fn divisor(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        let read = self.expr(expr, scope)?;
        match read {
            Expr::Call(function, mut arguments)
                if self.has_strict_types()
                    && function.name() == "nullif"
                    && arguments.get(1) == Some(&Expr::Literal(Literal::integer(0))) =>
            {
                Ok(arguments.swap_remove(0))
            }
            other => Ok(other),
        }
    }

    /// Reads `EXTRACT(field FROM expr)`.
    pub(super) fn extract(
        &mut self,
        field: &str,
        expr: &'a ast::Expr,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let time = self.time(expr, scope)?;
        match time_format::field_text(field, time) {
            Some(text) => Ok(Expr::Cast(CastType::Integer, Box::new(text))),
            None => Err(not_supported(format!("EXTRACT of {field}"))),
        }
    }

    /// Reads the call of a function that has another name or other types in PostgreSQL. Returns `None` if it is none of these.
    pub(super) fn postgres_call(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        scope: &NameScope<'_>,
    ) -> Result<Option<Expr>, CheckError> {
        let name = name.to_ascii_lowercase();
        let read = match (name.as_str(), arguments) {
            ("greatest", [_, _]) => self.call("max", arguments.iter().copied(), scope)?,
            ("least", [_, _]) => self.call("min", arguments.iter().copied(), scope)?,
            ("string_agg", [value, separator]) if constant(separator) == Some(Literal::text(",")) => {
                Expr::Aggregate(Aggregate::GroupConcat, Box::new(self.text(value, scope)?))
            }
            ("round", [value, digits @ ..]) if digits.len() < 2 => {
                let value =
                    self.expr(without_cast(value, &DataType::Numeric(ast::ExactNumberInfo::None)), scope)?;
                let mut read = vec![value];
                for digits in digits {
                    read.push(self.expr(digits, scope)?);
                }
                self.called("round", read)?
            }
            ("strpos", [text, part]) => {
                let read = vec![self.text(text, scope)?, self.text(part, scope)?];
                self.called("instr", read)?
            }
            (
                "length" | "char_length" | "lower" | "upper" | "trim" | "btrim" | "ltrim" | "rtrim"
                | "substr" | "substring" | "replace",
                [text, more @ ..],
            ) => {
                let mut read = vec![self.text(text, scope)?];
                for argument in more {
                    read.push(self.expr(argument, scope)?);
                }
                let name = match name.as_str() {
                    "char_length" => "length",
                    "btrim" => "trim",
                    other => other,
                };
                self.called(name, read)?
            }
            ("to_char", [time, format]) => {
                let format = match constant(format) {
                    Some(Literal::Text(format)) => time_format::to_sqlite(&format),
                    _ => None,
                };
                let format = format.ok_or_else(|| not_supported("this format of TO_CHAR"))?;
                let time = self.time(time, scope)?;
                self.called("strftime", vec![Expr::Literal(Literal::text(format)), time])?
            }
            ("date_trunc", [unit, time]) => {
                let time = self.time(time, scope)?;
                match constant(unit) {
                    Some(Literal::Text(unit)) if matches!(unit.as_str(), "year" | "month") => {
                        let modifier = Expr::Literal(Literal::text(format!("start of {unit}")));
                        self.called("date", vec![time, modifier])?
                    }
                    Some(Literal::Text(unit)) if unit == "day" => self.called("date", vec![time])?,
                    _ => return Err(not_supported("this unit of DATE_TRUNC")),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(read))
    }
}

/// Returns the type of SQLite whose values are those of a type of PostgreSQL or DuckDB. A decimal with a given number of digits is rounded, and
/// a text of PostgreSQL with a given length is cut off, which SQLite does not do.
fn strict_type(name: &str, dialect: Dialect) -> Option<CastType> {
    let (name, size) = match name.split_once('(') {
        Some((name, size)) => (name.trim(), Some(size)),
        None => (name, None),
    };
    let is_duckdb = dialect == Dialect::DuckDb;
    match (name, size) {
        ("INT" | "INTEGER" | "BIGINT" | "SMALLINT" | "INT2" | "INT4" | "INT8", None) => {
            Some(CastType::Integer)
        }
        ("TINYINT" | "HUGEINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" | "UBIGINT" | "UHUGEINT", None)
            if is_duckdb =>
        {
            Some(CastType::Integer)
        }
        ("TEXT" | "VARCHAR" | "CHARACTER VARYING" | "BPCHAR", None) => Some(CastType::Text),
        ("TEXT" | "VARCHAR" | "CHARACTER VARYING" | "CHAR" | "CHARACTER" | "STRING", _) if is_duckdb => {
            Some(CastType::Text)
        }
        ("REAL" | "FLOAT" | "FLOAT4" | "FLOAT8" | "DOUBLE" | "DOUBLE PRECISION", _) => Some(CastType::Real),
        ("NUMERIC" | "DECIMAL" | "DEC", None) => Some(CastType::Numeric),
        // As many digits as the writer has.
        ("DECIMAL", Some("38, 10)" | "38,10)")) if is_duckdb => Some(CastType::Numeric),
        _ => None,
    }
}

/// Returns the operand of a cast to this type, or the expression itself.
fn without_cast<'a>(expr: &'a ast::Expr, to: &DataType) -> &'a ast::Expr {
    match expr {
        ast::Expr::Cast {
            kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
            expr,
            data_type,
            format: None,
        } if data_type == to => expr,
        other => other,
    }
}

/// Returns whether an expression is a call of a function.
fn calls(expr: &ast::Expr, name: &str) -> bool {
    matches!(expr, ast::Expr::Function(function) if function.name.to_string().eq_ignore_ascii_case(name))
}

/// Returns the argument of a function with one, if an expression calls it.
fn argument_of<'a>(expr: &'a ast::Expr, name: &str) -> Option<&'a ast::Expr> {
    let ast::Expr::Function(function) = expr else { return None };
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))] if calls(expr, name) => {
            Some(argument)
        }
        _ => None,
    }
}
