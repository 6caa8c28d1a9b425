//! Expressions.

use super::call::constant_length;
use super::spelling::{identifier, known_type, value};
use super::{Checked, Guard, refused};
use crate::sql::dialect::Dialect;
use sqlparser::ast::{self, BinaryOperator, Expr};

impl Guard<'_> {
    pub(super) fn exprs(&mut self, exprs: &mut [Expr]) -> Checked {
        exprs.iter_mut().try_for_each(|expr| self.expr(expr))
    }

    /// Checks an expression.
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Checked {
        self.deeper(|guard| {
            // A chain such as `a OR b OR c` nests to the left, and may be long.
            let mut left_most = expr;
            while let Expr::BinaryOp { left, op, right } = left_most {
                guard.operator(op, left, right)?;
                guard.expr(right)?;
                left_most = left;
            }
            guard.expr_unbounded(left_most)
        })
    }

    /// Checks an expression without counting it; one match over all kinds that are harmless.
    fn expr_unbounded(&mut self, expr: &mut Expr) -> Checked {
        match expr {
            Expr::Identifier(name) => {
                self.used_names.push(name.value.to_ascii_lowercase());
                identifier(name)
            }
            Expr::CompoundIdentifier(parts) => {
                self.used_names.extend(parts.last().map(|name| name.value.to_ascii_lowercase()));
                parts.iter_mut().try_for_each(identifier)
            }
            Expr::Value(constant) => value(&constant.value),
            Expr::TypedString(ast::TypedString { data_type, value: text, uses_odbc_syntax: false }) => {
                known_type(data_type)?;
                value(&text.value)
            }
            Expr::Interval(interval) => self.expr(&mut interval.value),
            Expr::UnaryOp { op: ast::UnaryOperator::Minus | ast::UnaryOperator::Plus, expr: inner } => {
                self.expr(inner)?;
                // Two signs in a row would be printed as the beginning of a comment.
                if inner.to_string().starts_with('-') {
                    **inner = Expr::Nested(Box::new((**inner).clone()));
                }
                Ok(())
            }
            Expr::Nested(inner)
            | Expr::UnaryOp { op: ast::UnaryOperator::Not, expr: inner }
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner) => self.expr(inner),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.expr(left)?;
                self.expr(right)
            }
            Expr::InList { expr, list, .. } => {
                self.expr(expr)?;
                self.exprs(list)
            }
            Expr::InSubquery { expr, subquery, .. } => {
                self.expr(expr)?;
                self.gathering_query(subquery)
            }
            Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => self.query(subquery),
            Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right } => {
                self.operator(compare_op, left, right)?;
                self.expr(left)?;
                match &mut **right {
                    Expr::Subquery(subquery) => self.gathering_query(subquery),
                    other => self.expr(other),
                }
            }
            Expr::Between { expr, low, high, .. } => {
                [expr, low, high].into_iter().try_for_each(|part| self.expr(part))
            }
            Expr::Like { any: false, expr, pattern, escape_char, .. }
            | Expr::ILike { any: false, expr, pattern, escape_char, .. } => {
                escape_char.as_ref().map_or(Ok(()), value)?;
                self.expr(expr)?;
                self.expr(pattern)
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                let parts = conditions.iter_mut().flat_map(|when| [&mut when.condition, &mut when.result]);
                let others = operand.iter_mut().chain(else_result).map(|part| &mut **part);
                parts.chain(others).try_for_each(|part| self.expr(part))
            }
            Expr::Tuple(parts) => self.exprs(parts),
            // A list of constants is as long as its text.
            Expr::Array(ast::Array { elem, named: true }) if elem.iter().all(is_literal) => self.exprs(elem),
            Expr::CompoundFieldAccess { root, access_chain } => {
                let is_element = |access: &ast::AccessExpr| matches!(access, ast::AccessExpr::Subscript(ast::Subscript::Index { index }) if is_literal(index));
                match access_chain.iter().all(is_element) {
                    true => self.expr(root),
                    false => Err(refused("what is no element of a list")),
                }
            }
            Expr::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon | ast::CastKind::TryCast,
                expr,
                data_type,
                format: None,
            } => {
                known_type(data_type)?;
                self.expr(expr)
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                self.expr(timestamp)?;
                self.expr(time_zone)
            }
            Expr::Function(function) => self.function(function),
            other => self.own_syntax(other),
        }
    }

    /// Checks the call of a function that has a syntax of its own.
    fn own_syntax(&mut self, expr: &mut Expr) -> Checked {
        match expr {
            Expr::Extract { expr, .. }
            | Expr::Ceil { expr, .. }
            | Expr::Floor { expr, .. }
            | Expr::Trim { expr, trim_what: None, trim_characters: None, .. } => self.expr(expr),
            Expr::Trim { expr, trim_what: Some(what), trim_characters: None, .. } => {
                self.expr(what)?;
                self.expr(expr)
            }
            Expr::Position { expr, r#in } => {
                self.expr(expr)?;
                self.expr(r#in)
            }
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                self.expr(expr)?;
                substring_from.iter_mut().chain(substring_for).try_for_each(|part| {
                    self.expr(part)?;
                    self.place(part)
                })
            }
            other => Err(refused(format!("`{other}`, which is not known to be harmless"))),
        }
    }

    /// Checks that an argument of `SUBSTRING` is a place or a length: PostgreSQL takes a text for a regular expression.
    pub(super) fn place(&self, argument: &Expr) -> Checked {
        match self.schema.dialect == Dialect::Postgres && !self.is_narrow(argument, &self.tables) {
            true => Err(refused(format!("SUBSTRING by {argument}, which may be a regular expression"))),
            false => Ok(()),
        }
    }

    fn operator(&mut self, op: &BinaryOperator, left: &Expr, right: &Expr) -> Checked {
        use BinaryOperator::{
            And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, PGExp, Plus,
            StringConcat,
        };
        match op {
            Plus | Minus | Multiply | Divide | Modulo | Eq | NotEq | Lt | LtEq | Gt | GtEq | And | Or
            | PGExp => Ok(()),
            StringConcat if is_constant(left) || is_constant(right) => Ok(()),
            StringConcat => self.grow(2),
            other => Err(refused(format!("the operator {other}"))),
        }
    }
}

/// Returns whether an expression is a number or a text, maybe with a sign.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => is_literal(expr),
        Expr::Value(value) => {
            matches!(value.value, ast::Value::Number(..) | ast::Value::SingleQuotedString(_))
        }
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    constant_length(expr).is_some()
}
