//! Reads values and conditions.

use super::super::check::CheckError;
use super::super::literal::Literal;
use super::super::operator::ComparisonOperator;
use super::super::query::{Expr, Query};
use super::names::NameScope;
use super::operators::{between, compare, negate_if, not, require_parentheses};
use super::{OPERATION_LEVELS, QueryReader, Quotes, not_supported};
use sqlparser::ast::{self, UnaryOperator, Value};

/// Returns the constant that an expression is, if it is one; it may have signs and parentheses.
pub(super) fn constant(expr: &ast::Expr) -> Option<Literal> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Literal::number(number),
            Value::SingleQuotedString(text) => Some(Literal::text(text)),
            // In SQLite, TRUE and FALSE are names for 1 and 0.
            Value::Boolean(value) => Some(Literal::integer(i64::from(*value))),
            _ => None,
        },
        ast::Expr::Nested(inner) => constant(inner),
        ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => constant(expr)?.negated(),
        ast::Expr::UnaryOp { op: UnaryOperator::Plus, expr } => {
            constant(expr).filter(|literal| matches!(literal, Literal::Number(_)))
        }
        _ => None,
    }
}

impl<'a> QueryReader<'a> {
    /// Reads a value or a condition.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        self.deeper(|reader| reader.expr_unbounded(expr, scope))
    }

    pub(super) fn boxed(
        &mut self,
        expr: &'a ast::Expr,
        scope: &NameScope<'_>,
    ) -> Result<Box<Expr>, CheckError> {
        self.expr(expr, scope).map(Box::new)
    }

    /// Reads an expression without counting it; one match over the syntax that SQLite has.
    fn expr_unbounded(&mut self, expr: &'a ast::Expr, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        if let Some(literal) = constant(expr) {
            return Ok(Expr::Literal(literal));
        }
        match expr {
            // `sqlparser` bounds the depth of parentheses.
            ast::Expr::Nested(inner) => self.expr_unbounded(inner, scope),
            ast::Expr::Value(value) if value.value == Value::Null => Ok(Expr::Null),
            ast::Expr::Value(value) => Err(not_supported(format!("the constant {value}"))),
            ast::Expr::Identifier(name) => self.name(name, scope),
            ast::Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [qualifier, name] => scope.qualified(&qualifier.value, &name.value, self.schema),
                [namespace, table, name]
                    if self.schema.find_qualified_table(&namespace.value, &table.value).is_some() =>
                {
                    scope.qualified(&table.value, &name.value, self.schema)
                }
                _ => Err(CheckError::UnknownName(expr.to_string())),
            },
            ast::Expr::BinaryOp { left, op, right } => self.binary(op, [left, right], scope),
            ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
                match self.deeper_by(OPERATION_LEVELS, |reader| reader.expr(expr, scope))? {
                    Expr::Literal(_) => Err(not_supported("the negative of a text")),
                    value => Ok(Expr::Negate(Box::new(value))),
                }
            }
            ast::Expr::UnaryOp { op: UnaryOperator::Not, expr } => not(self.expr(expr, scope)?),
            ast::Expr::IsNull(expr) => Ok(Expr::IsNull(self.boxed(expr, scope)?)),
            ast::Expr::IsNotNull(expr) => not(Expr::IsNull(self.boxed(expr, scope)?)),
            ast::Expr::InList { expr, list, negated } => {
                negate_if(*negated, self.in_list(expr, list, scope)?)
            }
            ast::Expr::InSubquery { expr, subquery, negated } => {
                negate_if(*negated, self.in_query(expr, subquery, scope)?)
            }
            ast::Expr::Between { expr, negated, low, high } => {
                require_parentheses(&[expr, low, high])?;
                let value = self.expr(expr, scope)?;
                let bounds = [self.expr(low, scope)?, self.expr(high, scope)?];
                negate_if(*negated, between(value, bounds)?)
            }
            ast::Expr::Like { negated, any: false, expr, pattern, escape_char }
            | ast::Expr::ILike { negated, any: false, expr, pattern, escape_char }
                if !escapes(escape_char.as_ref()) =>
            {
                require_parentheses(&[expr, pattern])?;
                let sides = [self.text(expr, scope)?, self.text(pattern, scope)?];
                negate_if(*negated, Expr::Like(Box::new(sides)))
            }
            ast::Expr::Exists { subquery, negated } => {
                negate_if(*negated, Expr::Exists(self.subquery(subquery, scope)?))
            }
            ast::Expr::Subquery(query) => Ok(Expr::Query(self.value_of_query(query, scope)?)),
            ast::Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), scope)
            }
            ast::Expr::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
            } => self.cast(expr, &data_type.to_string(), scope),
            ast::Expr::Extract { field, expr, .. } => self.extract(&field.to_string(), expr, scope),
            ast::Expr::Position { expr, r#in } => {
                let arguments = vec![self.text(r#in, scope)?, self.text(expr, scope)?];
                self.called("instr", arguments)
            }
            ast::Expr::Function(function) => self.function(function, scope),
            ast::Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                let mut arguments = vec![self.text(expr, scope)?];
                for argument in std::iter::once(from).chain(substring_for) {
                    arguments.push(self.expr(argument, scope)?);
                }
                self.called("substr", arguments)
            }
            ast::Expr::Trim { expr, trim_where: None, trim_what: None, trim_characters: None } => {
                let argument = self.text(expr, scope)?;
                self.called("trim", vec![argument])
            }
            other => Err(not_supported(described(other))),
        }
    }

    pub(super) fn subquery(
        &mut self,
        query: &'a ast::Query,
        scope: &NameScope<'_>,
    ) -> Result<Box<Query>, CheckError> {
        Ok(Box::new(self.query(query, Some(scope))?.query))
    }

    fn in_list(
        &mut self,
        value: &'a ast::Expr,
        list: &'a [ast::Expr],
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let value = self.boxed(value, scope)?;
        if matches!(*value, Expr::Literal(_)) || list.is_empty() {
            return Err(not_supported("IN with a constant before it or nothing in it"));
        }
        let list: Vec<Expr> =
            list.iter().map(|element| self.expr(element, scope)).collect::<Result<_, _>>()?;
        if list.iter().any(|element| !matches!(element, Expr::Literal(_) | Expr::Column(_))) {
            return Err(not_supported("IN with anything but constants and columns in it"));
        }
        Ok(Expr::InList(value, list))
    }

    fn in_query(
        &mut self,
        value: &'a ast::Expr,
        query: &'a ast::Query,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        // SQLite reads this as a list of one value, but `sqlparser` as a query.
        if matches!(*query.body, ast::SetExpr::Query(_)) {
            return Err(not_supported("IN with a query in two pairs of parentheses"));
        }
        Ok(Expr::InQuery(self.boxed(value, scope)?, self.subquery(query, scope)?))
    }

    /// Reads a name without a qualifier: a column, an alias, or a text in double quotes.
    fn name(&mut self, name: &ast::Ident, scope: &NameScope<'_>) -> Result<Expr, CheckError> {
        let double_quoted = name.quote_style == Some('"');
        if double_quoted && self.quotes == Quotes::AlwaysText {
            return Ok(Expr::Literal(Literal::text(&name.value)));
        }
        match scope.unqualified(&name.value, self.schema)? {
            Some(value) => Ok(value),
            None if double_quoted => Ok(Expr::Literal(Literal::text(&name.value))),
            None => Err(CheckError::UnknownName(name.value.clone())),
        }
    }

    /// Reads `CASE`, with each further condition in the `ELSE` of the one before.
    fn case(
        &mut self,
        operand: Option<&'a ast::Expr>,
        conditions: &'a [ast::CaseWhen],
        otherwise: Option<&'a ast::Expr>,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let operand = operand.map(|operand| self.expr(operand, scope)).transpose()?;
        let otherwise = otherwise.map(|otherwise| self.expr(otherwise, scope)).transpose()?;
        let mut result = otherwise.unwrap_or(Expr::Null);
        if conditions.len() > 30 {
            return Err(not_supported("CASE with more than 30 conditions"));
        }
        for when in conditions.iter().rev() {
            let tested = self.expr(&when.condition, scope)?;
            let condition = match &operand {
                Some(operand) => compare(ComparisonOperator::Equal, operand.clone(), tested)?,
                None => tested,
            };
            result = Expr::Case(Box::new([condition, self.expr(&when.result, scope)?, result]));
        }
        Ok(result)
    }
}

/// Returns whether a pattern has a character that escapes others.
fn escapes(character: Option<&Value>) -> bool {
    character
        .is_some_and(|character| !matches!(character, Value::SingleQuotedString(text) if text.is_empty()))
}

/// Describes an expression that is not supported.
fn described(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::AllOp { .. } | ast::Expr::AnyOp { .. } => "ALL and ANY, which SQLite does not have".into(),
        ast::Expr::Tuple(_) => "a row of several values".into(),
        ast::Expr::Collate { .. } => "COLLATE".into(),
        ast::Expr::Like { .. } => "LIKE with ESCAPE".into(),
        ast::Expr::UnaryOp { op, .. } => format!("the operator {op}"),
        other => format!("`{other}`"),
    }
}
