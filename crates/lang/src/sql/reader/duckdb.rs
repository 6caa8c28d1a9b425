//! What DuckDB spells in another way than SQLite and PostgreSQL.

use super::super::check::CheckError;
use super::super::function::Aggregate;
use super::super::literal::Literal;
use super::super::operator::CastType;
use super::super::query::Expr;
use super::super::time_format;
use super::expression::constant;
use super::names::NameScope;
use super::{QueryReader, not_supported};
use sqlparser::ast;

impl<'a> QueryReader<'a> {
    /// Reads the call of a function that only DuckDB has, or that has other arguments there. Returns `None` if it is none of
    /// these.
    pub(super) fn duckdb_call(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        scope: &NameScope<'_>,
    ) -> Result<Option<Expr>, CheckError> {
        let name = name.to_ascii_lowercase();
        let read = match (name.as_str(), arguments) {
            // The format comes last, or first as in SQLite.
            ("strftime", [first, second]) => {
                let is_format =
                    |expr| matches!(constant(expr), Some(Literal::Text(format)) if format.contains('%'));
                let (time, format) = if is_format(first) { (second, first) } else { (first, second) };
                let read = vec![self.expr(format, scope)?, self.time(time, scope)?];
                self.called("strftime", read)?
            }
            ("year" | "month" | "day" | "hour" | "minute", [time]) => {
                self.part_of_time(&name, time, scope)?
            }
            ("date_part" | "datepart", [part, time]) => match constant(part) {
                Some(Literal::Text(part)) => self.part_of_time(&part, time, scope)?,
                _ => return Err(not_supported("date_part of what is not a constant")),
            },
            ("group_concat" | "listagg", [value, separator])
                if constant(separator) == Some(Literal::text(",")) =>
            {
                Expr::Aggregate(Aggregate::GroupConcat, Box::new(self.text(value, scope)?))
            }
            ("instr" | "position", [text, part]) => {
                let read = vec![self.text(text, scope)?, self.text(part, scope)?];
                self.called("instr", read)?
            }
            ("len" | "lcase" | "ucase", [text]) => {
                let name = match name.as_str() {
                    "len" => "length",
                    "lcase" => "lower",
                    _ => "upper",
                };
                let read = self.text(text, scope)?;
                self.called(name, vec![read])?
            }
            _ => return Ok(None),
        };
        Ok(Some(read))
    }

    fn part_of_time(
        &mut self,
        part: &str,
        time: &'a ast::Expr,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let time = self.time(time, scope)?;
        match time_format::field_text(part, time) {
            Some(text) => Ok(Expr::Cast(CastType::Integer, Box::new(text))),
            None => Err(not_supported(format!("the part {part} of a time"))),
        }
    }
}
