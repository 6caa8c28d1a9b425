//! What rows are grouped and sorted by: positions, aliases and values.

use super::super::check::CheckError;
use super::super::literal::Literal;
use super::super::operator::SetOperator;
use super::super::query::{By, Expr, Key};
use super::names::{Field, Frame};
use super::{Part, Reader, expression, not_supported};
use sqlparser::ast;

impl<'a> Reader<'a> {
    /// A key of `GROUP BY`: a position, or an expression that may use aliases.
    pub(super) fn group_key(
        &mut self,
        key: &'a ast::Expr,
        frame: &Frame<'_>,
        fields: &[Field],
    ) -> Result<Expr, CheckError> {
        let value = match position(key) {
            Some(place) => field_at(fields, place)?.value.clone(),
            None => self.expr(key, frame)?,
        };
        refuse_constant(value)
    }

    pub(super) fn order(
        &mut self,
        order: &'a ast::OrderBy,
        parts: &[(SetOperator, Part<'_>)],
    ) -> Result<Vec<Key>, CheckError> {
        let ast::OrderByKind::Expressions(keys) = &order.kind else {
            return Err(not_supported("ORDER BY ALL"));
        };
        if order.interpolate.is_some() {
            return Err(not_supported("INTERPOLATE"));
        }
        let mut read = Vec::new();
        for key in keys {
            if key.options.nulls_first.is_some() || key.with_fill.is_some() {
                return Err(not_supported("NULLS FIRST or LAST"));
            }
            let by = match parts {
                [(_, part)] => By::Expr(self.order_key(&key.expr, part)?),
                parts => By::Output(self.output_key(&key.expr, parts)?),
            };
            read.push(Key { by, descending: key.options.asc == Some(false) });
        }
        Ok(read)
    }

    /// What a query of one part is sorted by: here, unlike elsewhere, an alias wins over a column.
    fn order_key(&mut self, key: &'a ast::Expr, part: &Part<'_>) -> Result<Expr, CheckError> {
        let value = match (position(key), bare_name(key)) {
            (Some(place), _) => field_at(&part.fields, place)?.value.clone(),
            (None, Some(name))
                if let Some(field) = part.fields.iter().find(|field| field.is_alias_of(name)) =>
            {
                field.value.clone()
            }
            _ => self.expr(key, &part.frame)?,
        };
        refuse_constant(value)
    }

    /// What a query of several parts is sorted by: one of its outputs.
    fn output_key(
        &mut self,
        key: &'a ast::Expr,
        parts: &[(SetOperator, Part<'_>)],
    ) -> Result<u32, CheckError> {
        if let Some(place) = position(key) {
            field_at(&parts[0].1.fields, place)?;
            return Ok(place - 1);
        }
        for (_, part) in parts {
            let named =
                bare_name(key).and_then(|name| part.fields.iter().position(|field| field.is_called(name)));
            let place = match named {
                Some(place) => Some(place),
                None => self
                    .expr(key, &part.frame)
                    .ok()
                    .and_then(|value| part.fields.iter().position(|field| field.value == value)),
            };
            if let Some(place) = place {
                return Ok(place as u32);
            }
        }
        Err(CheckError::UnknownName(format!("{key} among the outputs of the whole query")))
    }
}

/// The number of an output, from 1.
fn position(key: &ast::Expr) -> Option<u32> {
    match expression::constant(key)? {
        Literal::Number(number) => number.parse().ok(),
        Literal::Text(_) => None,
    }
}

fn field_at(fields: &[Field], place: u32) -> Result<&Field, CheckError> {
    let field = (place as usize).checked_sub(1).and_then(|index| fields.get(index));
    field.ok_or_else(|| CheckError::UnknownName(format!("output {place}")))
}

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
