//! Operators, and the one form that equivalent conditions have in the tree.

use super::super::check::CheckError;
use super::super::operator::{ArithmeticOperator, ComparisonOperator};
use super::super::query::Expr;
use super::names::NameScope;
use super::{OPERATION_LEVELS, QueryReader, not_supported};
use sqlparser::ast::{self, BinaryOperator, UnaryOperator};

impl<'a> QueryReader<'a> {
    pub(super) fn binary(
        &mut self,
        op: &'a BinaryOperator,
        sides: [&'a ast::Expr; 2],
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
            return self.chain(op, sides, scope);
        }
        require_parentheses(&sides)?;
        let [left, right] = sides;
        if let Some(comparison) = comparison(op) {
            return compare(comparison, self.expr(left, scope)?, self.expr(right, scope)?);
        }
        let operation = arithmetic(op)?;
        require_clear_concatenation(op, &sides)?;
        let sides = self.deeper_by(OPERATION_LEVELS, |reader| {
            Ok(match operation {
                ArithmeticOperator::Concatenate => [reader.text(left, scope)?, reader.text(right, scope)?],
                ArithmeticOperator::Divide => [reader.expr(left, scope)?, reader.divisor(right, scope)?],
                _ => [reader.expr(left, scope)?, reader.expr(right, scope)?],
            })
        })?;
        Ok(Expr::Arithmetic(operation, Box::new(sides)))
    }

    /// Reads a chain of `AND` or of `OR`, with a stack of its own because the chain may be long.
    fn chain(
        &mut self,
        op: &'a BinaryOperator,
        [left, right]: [&'a ast::Expr; 2],
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let mut parts = Vec::new();
        let mut open = vec![right, left];
        while let Some(part) = open.pop() {
            match part {
                ast::Expr::BinaryOp { left, op: inner, right } if inner == op => {
                    open.extend([&**right, &**left]);
                }
                ast::Expr::Nested(inner) => open.push(inner),
                other => parts.push(self.expr(other, scope)?),
            }
        }
        let join = if *op == BinaryOperator::And { Expr::and } else { Expr::or };
        parts.into_iter().reduce(join).ok_or(CheckError::NotOneSelect)
    }
}

fn comparison(op: &BinaryOperator) -> Option<ComparisonOperator> {
    Some(match op {
        BinaryOperator::Eq => ComparisonOperator::Equal,
        BinaryOperator::NotEq => ComparisonOperator::NotEqual,
        BinaryOperator::Lt => ComparisonOperator::Less,
        BinaryOperator::Gt => ComparisonOperator::Greater,
        BinaryOperator::LtEq => ComparisonOperator::LessOrEqual,
        BinaryOperator::GtEq => ComparisonOperator::GreaterOrEqual,
        _ => return None,
    })
}

fn arithmetic(op: &BinaryOperator) -> Result<ArithmeticOperator, CheckError> {
    Ok(match op {
        BinaryOperator::Plus => ArithmeticOperator::Plus,
        BinaryOperator::Minus => ArithmeticOperator::Minus,
        BinaryOperator::Multiply => ArithmeticOperator::Times,
        BinaryOperator::Divide => ArithmeticOperator::Divide,
        BinaryOperator::Modulo => ArithmeticOperator::Modulo,
        BinaryOperator::StringConcat => ArithmeticOperator::Concatenate,
        other => return Err(not_supported(format!("the operator {other}"))),
    })
}

/// Refuses a condition as an operand without parentheses, because databases disagree on the precedence.
pub(super) fn require_parentheses(operands: &[&ast::Expr]) -> Result<(), CheckError> {
    let is_condition = |expr: &&&ast::Expr| match expr {
        ast::Expr::BinaryOp { op, .. } => comparison(op).is_some(),
        ast::Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        ast::Expr::Like { .. }
        | ast::Expr::Between { .. }
        | ast::Expr::InList { .. }
        | ast::Expr::InSubquery { .. }
        | ast::Expr::IsNull(_)
        | ast::Expr::IsNotNull(_) => true,
        _ => false,
    };
    match operands.iter().find(is_condition) {
        Some(condition) => Err(not_supported(format!("{condition} as an operand without parentheses"))),
        None => Ok(()),
    }
}

/// Refuses `||` beside other operators without parentheses: in SQLite it binds tighter than arithmetic, and in
/// `sqlparser` it does not.
fn require_clear_concatenation(op: &BinaryOperator, sides: &[&ast::Expr]) -> Result<(), CheckError> {
    let is_concatenation = *op == BinaryOperator::StringConcat;
    let is_unclear = |side: &&ast::Expr| match side {
        ast::Expr::BinaryOp { op, .. } => (*op == BinaryOperator::StringConcat) != is_concatenation,
        ast::Expr::UnaryOp { .. } => is_concatenation,
        _ => false,
    };
    if sides.iter().any(is_unclear) {
        return Err(not_supported("|| beside other operators without parentheses"));
    }
    Ok(())
}

/// Returns a comparison. If one side is a constant, that is the right one.
pub(super) fn compare(comparison: ComparisonOperator, left: Expr, right: Expr) -> Result<Expr, CheckError> {
    match (left, right) {
        (Expr::Literal(_), Expr::Literal(_)) => Err(not_supported("a comparison of two constants")),
        (constant @ Expr::Literal(_), other) => {
            Ok(Expr::Compare(comparison.flipped(), Box::new([other, constant])))
        }
        (left, right) => Ok(Expr::Compare(comparison, Box::new([left, right]))),
    }
}

/// Returns `value BETWEEN low AND high`. If the value is a constant, the result is two comparisons.
pub(super) fn between(value: Expr, [low, high]: [Expr; 2]) -> Result<Expr, CheckError> {
    if matches!(value, Expr::Literal(_)) {
        let above = compare(ComparisonOperator::GreaterOrEqual, value.clone(), low)?;
        return Ok(above.and(compare(ComparisonOperator::LessOrEqual, value, high)?));
    }
    Ok(Expr::Between(Box::new([value, low, high])))
}

/// Returns the negation of a condition.
pub(super) fn not(condition: Expr) -> Result<Expr, CheckError> {
    match condition {
        Expr::Compare(comparison, sides) => Ok(Expr::Compare(comparison.negated(), sides)),
        // A condition is true, false or NULL, so a double negation changes nothing. A value may be another number.
        Expr::Not(inner) if inner.is_condition() => Ok(*inner),
        Expr::Not(_) => Err(not_supported("NOT NOT of a value")),
        other => Ok(Expr::Not(Box::new(other))),
    }
}

/// Returns the condition, negated if `negated`.
pub(super) fn negate_if(negated: bool, condition: Expr) -> Result<Expr, CheckError> {
    if negated { not(condition) } else { Ok(condition) }
}
