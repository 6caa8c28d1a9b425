//! The keys of `GROUP BY` and `ORDER BY`: positions, aliases and expressions.

use super::super::check::CheckError;
use super::super::literal::Literal;
use super::super::operator::SetOperator;
use super::super::query::{Expr, SortBy, SortKey};
use super::names::{NameScope, OutputColumn};
use super::{QueryReader, ResolvedSelect, expression, not_supported};
use sqlparser::ast;

impl<'a> QueryReader<'a> {
    /// Reads `GROUP BY`. A key is a position, or an expression that may use aliases.
    pub(super) fn group(
        &mut self,
        group: &'a ast::GroupByExpr,
        scope: &NameScope<'_>,
        outputs: &[OutputColumn],
    ) -> Result<Vec<Expr>, CheckError> {
        let ast::GroupByExpr::Expressions(keys, modifiers) = group else {
            return Err(not_supported("GROUP BY ALL"));
        };
        if !modifiers.is_empty() {
            return Err(not_supported("GROUP BY with a modifier"));
        }
        let mut read = Vec::new();
        for key in keys {
            let value = match position(key) {
                Some(position) => output_at(outputs, position)?.value.clone(),
                None => self.expr(key, scope)?,
            };
            read.push(refuse_constant(value)?);
        }
        Ok(read)
    }

    /// Reads `ORDER BY`.
    pub(super) fn order(
        &mut self,
        order: &'a ast::OrderBy,
        selects: &[(SetOperator, ResolvedSelect<'_>)],
    ) -> Result<Vec<SortKey>, CheckError> {
        let ast::OrderByKind::Expressions(keys) = &order.kind else {
            return Err(not_supported("ORDER BY ALL"));
        };
        if order.interpolate.is_some() {
            return Err(not_supported("INTERPOLATE"));
        }
        let mut read = Vec::new();
        for key in keys {
            let descending = key.options.asc == Some(false);
            // SQLite takes NULL for less than everything else.
            if key.options.nulls_first.is_some_and(|first| first == descending) || key.with_fill.is_some() {
                return Err(not_supported("NULLS FIRST or LAST"));
            }
            let by = match selects {
                [(_, select)] => SortBy::Expr(self.order_key(&key.expr, select)?),
                selects => SortBy::Output(self.output_key(&key.expr, selects)?),
            };
            read.push(SortKey { by, descending });
        }
        Ok(read)
    }

    /// Reads a key of a query with one select. Here, unlike elsewhere, an alias takes precedence over a column.
    fn order_key(&mut self, key: &'a ast::Expr, select: &ResolvedSelect<'_>) -> Result<Expr, CheckError> {
        let value = match (position(key), bare_name(key)) {
            (Some(position), _) => output_at(&select.outputs, position)?.value.clone(),
            (None, Some(name))
                if let Some(output) = select.outputs.iter().find(|output| output.has_alias(name)) =>
            {
                output.value.clone()
            }
            _ => self.expr(key, &select.scope)?,
        };
        refuse_constant(value)
    }

    /// Reads a key of a compound, and returns the index of the output that it refers to.
    fn output_key(
        &mut self,
        key: &'a ast::Expr,
        selects: &[(SetOperator, ResolvedSelect<'_>)],
    ) -> Result<u32, CheckError> {
        if let Some(position) = position(key) {
            output_at(&selects[0].1.outputs, position)?;
            return Ok(position - 1);
        }
        for (_, ResolvedSelect { outputs, scope, .. }) in selects {
            let named =
                bare_name(key).and_then(|name| outputs.iter().position(|output| output.is_called(name)));
            let index = match named {
                Some(index) => Some(index),
                None => self
                    .expr(key, scope)
                    .ok()
                    .and_then(|value| outputs.iter().position(|output| output.value == value)),
            };
            if let Some(index) = index {
                return Ok(index as u32);
            }
        }
        Err(CheckError::UnknownName(format!("{key} among the outputs of the whole query")))
    }
}

/// Returns the position of an output, from 1, if the key is a number.
fn position(key: &ast::Expr) -> Option<u32> {
    match expression::constant(key)? {
        Literal::Number(number) => number.parse().ok(),
        Literal::Text(_) => None,
    }
}

fn output_at(outputs: &[OutputColumn], position: u32) -> Result<&OutputColumn, CheckError> {
    let output = (position as usize).checked_sub(1).and_then(|index| outputs.get(index));
    output.ok_or_else(|| CheckError::UnknownName(format!("output {position}")))
}

/// Returns the name if the key is a name without a qualifier.
fn bare_name(key: &ast::Expr) -> Option<&str> {
    match key {
        ast::Expr::Identifier(name) => Some(&name.value),
        ast::Expr::Nested(inner) => bare_name(inner),
        _ => None,
    }
}

fn refuse_constant(key: Expr) -> Result<Expr, CheckError> {
    match key {
        Expr::Literal(literal) => {
            Err(not_supported(format!("sorting or grouping by the constant {literal}")))
        }
        other => Ok(other),
    }
}
