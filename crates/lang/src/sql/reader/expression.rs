//! Values and conditions.

use super::super::check::CheckError;
use super::super::function::{Aggregate, Function};
use super::super::literal::Literal;
use super::super::operator::{Arithmetic, Cast, Comparison};
use super::super::query::Expr;
use super::names::Frame;
use super::{Quotes, Reader, not_supported};
use sqlparser::ast::{self, BinaryOperator, FunctionArg, FunctionArgExpr, UnaryOperator, Value};

/// The constant that an expression is, signs and parentheses included.
pub(super) fn constant(expr: &ast::Expr) -> Option<Literal> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Literal::number(number),
            Value::SingleQuotedString(text) => Some(Literal::text(text)),
            // SQLite has no Boolean values, only these two names.
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

impl<'a> Reader<'a> {
    /// Reads a value or a condition.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr, frame: &Frame<'_>) -> Result<Expr, CheckError> {
        self.deeper(|reader| reader.expr_here(expr, frame))
    }

    fn boxed(&mut self, expr: &'a ast::Expr, frame: &Frame<'_>) -> Result<Box<Expr>, CheckError> {
        self.expr(expr, frame).map(Box::new)
    }

    fn expr_here(&mut self, expr: &'a ast::Expr, frame: &Frame<'_>) -> Result<Expr, CheckError> {
        if let Some(literal) = constant(expr) {
            return Ok(Expr::Literal(literal));
        }
        match expr {
            ast::Expr::Nested(inner) => self.expr(inner, frame),
            ast::Expr::Value(value) if value.value == Value::Null => Ok(Expr::Null),
            ast::Expr::Value(value) => Err(not_supported(format!("the constant {value}"))),
            ast::Expr::Identifier(name) => self.name(name, frame),
            ast::Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [qualifier, name] => frame.qualified(&qualifier.value, &name.value, self.schema),
                [database, table, name] if database.value.eq_ignore_ascii_case("main") => {
                    frame.qualified(&table.value, &name.value, self.schema)
                }
                _ => Err(CheckError::UnknownName(expr.to_string())),
            },
            ast::Expr::BinaryOp { left, op, right } => self.binary(left, op, right, frame),
            ast::Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Ok(match self.expr(expr, frame)? {
                Expr::Literal(_) => return Err(not_supported("the negative of a text")),
                value => Expr::Negate(Box::new(value)),
            }),
            ast::Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                let condition = self.expr(expr, frame)?;
                not(condition)
            }
            ast::Expr::IsNull(expr) => Ok(Expr::IsNull(self.boxed(expr, frame)?)),
            ast::Expr::IsNotNull(expr) => not(Expr::IsNull(self.boxed(expr, frame)?)),
            ast::Expr::InList { expr, list, negated } => {
                let value = self.boxed(expr, frame)?;
                if matches!(*value, Expr::Literal(_)) || list.is_empty() {
                    return Err(not_supported("IN with a constant before it or nothing in it"));
                }
                let list: Vec<Expr> =
                    list.iter().map(|element| self.expr(element, frame)).collect::<Result<_, _>>()?;
                if list.iter().any(|element| !matches!(element, Expr::Literal(_) | Expr::Column(_))) {
                    return Err(not_supported("IN with anything but constants and columns in it"));
                }
                negate(*negated, Expr::InList(value, list))
            }
            ast::Expr::InSubquery { expr, subquery, negated } => {
                // For SQLite that is a list of one value, for `sqlparser` a query.
                if matches!(*subquery.body, ast::SetExpr::Query(_)) {
                    return Err(not_supported("IN with a query in two pairs of parentheses"));
                }
                let value = self.boxed(expr, frame)?;
                let query = self.query(subquery, Some(frame))?.query;
                negate(*negated, Expr::InQuery(value, Box::new(query)))
            }
            ast::Expr::Between { expr, negated, low, high } => {
                unchained(&[expr, low, high])?;
                let value = self.expr(expr, frame)?;
                let bounds = [self.expr(low, frame)?, self.expr(high, frame)?];
                negate(*negated, between(value, bounds)?)
            }
            ast::Expr::Like { negated, any: false, expr, pattern, escape_char: None } => {
                unchained(&[expr, pattern])?;
                let sides = [self.expr(expr, frame)?, self.expr(pattern, frame)?];
                negate(*negated, Expr::Like(Box::new(sides)))
            }
            ast::Expr::Exists { subquery, negated } => {
                let query = self.query(subquery, Some(frame))?.query;
                negate(*negated, Expr::Exists(Box::new(query)))
            }
            ast::Expr::Subquery(query) => Ok(Expr::Query(Box::new(self.query(query, Some(frame))?.query))),
            ast::Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), frame)
            }
            ast::Expr::Cast { kind: ast::CastKind::Cast, expr, data_type, format: None } => {
                let to = cast(&data_type.to_string())?;
                Ok(Expr::Cast(to, self.boxed(expr, frame)?))
            }
            ast::Expr::Function(function) => self.function(function, frame),
            ast::Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                let arguments = [expr, from].into_iter().chain(substring_for).map(|argument| &**argument);
                self.call("substr", arguments, frame)
            }
            ast::Expr::Trim { expr, trim_where: None, trim_what: None, trim_characters: None } => {
                self.call("trim", std::iter::once(&**expr), frame)
            }
            other => Err(not_supported(what_it_is(other))),
        }
    }

    /// A name without qualifier: a column, an alias, or text in double quotes.
    fn name(&mut self, name: &ast::Ident, frame: &Frame<'_>) -> Result<Expr, CheckError> {
        let double_quoted = name.quote_style == Some('"');
        if double_quoted && self.quotes == Quotes::AlwaysText {
            return Ok(Expr::Literal(Literal::text(&name.value)));
        }
        match frame.unqualified(&name.value, self.schema)? {
            Some(value) => Ok(value),
            None if double_quoted => Ok(Expr::Literal(Literal::text(&name.value))),
            None => Err(CheckError::UnknownName(name.value.clone())),
        }
    }

    fn binary(
        &mut self,
        left: &'a ast::Expr,
        op: &'a BinaryOperator,
        right: &'a ast::Expr,
        frame: &Frame<'_>,
    ) -> Result<Expr, CheckError> {
        if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
            return self.chain(left, op, right, frame);
        }
        unchained(&[left, right])?;
        if let Some(comparison) = comparison(op) {
            return compare(comparison, self.expr(left, frame)?, self.expr(right, frame)?);
        }
        let operation = match op {
            BinaryOperator::Plus => Arithmetic::Plus,
            BinaryOperator::Minus => Arithmetic::Minus,
            BinaryOperator::Multiply => Arithmetic::Times,
            BinaryOperator::Divide => Arithmetic::Divide,
            BinaryOperator::Modulo => Arithmetic::Modulo,
            BinaryOperator::StringConcat => {
                // SQLite binds `||` tighter than arithmetic, which `sqlparser` does not.
                for side in [left, right] {
                    if matches!(side, ast::Expr::BinaryOp { op, .. } if *op != BinaryOperator::StringConcat)
                        || matches!(side, ast::Expr::UnaryOp { .. })
                    {
                        return Err(not_supported("|| beside other operators without parentheses"));
                    }
                }
                Arithmetic::Concatenate
            }
            other => return Err(not_supported(format!("the operator {other}"))),
        };
        if operation != Arithmetic::Concatenate {
            for side in [left, right] {
                if matches!(side, ast::Expr::BinaryOp { op: BinaryOperator::StringConcat, .. }) {
                    return Err(not_supported("|| beside other operators without parentheses"));
                }
            }
        }
        Ok(Expr::Arithmetic(operation, Box::new([self.expr(left, frame)?, self.expr(right, frame)?])))
    }

    /// A chain of `AND` or of `OR`, which may be longer than the stack is deep.
    fn chain(
        &mut self,
        left: &'a ast::Expr,
        op: &'a BinaryOperator,
        right: &'a ast::Expr,
        frame: &Frame<'_>,
    ) -> Result<Expr, CheckError> {
        let mut parts = Vec::new();
        let mut open = vec![right, left];
        while let Some(part) = open.pop() {
            match part {
                ast::Expr::BinaryOp { left, op: inner, right } if inner == op => {
                    open.extend([&**right, &**left]);
                }
                ast::Expr::Nested(inner) => open.push(inner),
                other => parts.push(self.expr(other, frame)?),
            }
        }
        let join = if *op == BinaryOperator::And { Expr::and } else { Expr::or };
        parts.into_iter().reduce(join).ok_or(CheckError::NotOneSelect)
    }

    /// `CASE`, each further condition in the `ELSE` of the one before.
    fn case(
        &mut self,
        operand: Option<&'a ast::Expr>,
        conditions: &'a [ast::CaseWhen],
        otherwise: Option<&'a ast::Expr>,
        frame: &Frame<'_>,
    ) -> Result<Expr, CheckError> {
        let operand = operand.map(|operand| self.expr(operand, frame)).transpose()?;
        let otherwise = otherwise.map(|otherwise| self.expr(otherwise, frame)).transpose()?;
        let mut result = otherwise.unwrap_or(Expr::Null);
        if conditions.len() > 30 {
            return Err(not_supported("CASE with more than 30 conditions"));
        }
        for when in conditions.iter().rev() {
            let tested = self.expr(&when.condition, frame)?;
            let condition = match &operand {
                Some(operand) => compare(Comparison::Equal, operand.clone(), tested)?,
                None => tested,
            };
            result = Expr::Case(Box::new([condition, self.expr(&when.result, frame)?, result]));
        }
        Ok(result)
    }

    fn function(&mut self, function: &'a ast::Function, frame: &Frame<'_>) -> Result<Expr, CheckError> {
        let name = super::names::last_part(&function.name)?;
        if function.filter.is_some() || function.over.is_some() || function.null_treatment.is_some() {
            return Err(not_supported("FILTER or OVER"));
        }
        let ast::FunctionArguments::List(list) = &function.args else {
            return Err(not_supported(format!("{name} without arguments")));
        };
        if !list.clauses.is_empty() {
            return Err(not_supported(format!("clauses among the arguments of {name}")));
        }
        let distinct = matches!(list.duplicate_treatment, Some(ast::DuplicateTreatment::Distinct));
        if let [FunctionArg::Unnamed(argument)] = list.args.as_slice()
            && let Some(aggregate) = Aggregate::find(name, distinct)
        {
            return match argument {
                FunctionArgExpr::Wildcard if aggregate == Aggregate::Count => Ok(Expr::CountRows),
                // A constant is never missing, so this counts rows.
                FunctionArgExpr::Expr(expr) if aggregate == Aggregate::Count && constant(expr).is_some() => {
                    Ok(Expr::CountRows)
                }
                FunctionArgExpr::Expr(expr) => Ok(Expr::Aggregate(aggregate, self.boxed(expr, frame)?)),
                _ => Err(not_supported(format!("{function}"))),
            };
        }
        if distinct {
            return Err(not_supported(format!("DISTINCT in {name}")));
        }
        let mut arguments = Vec::new();
        for argument in &list.args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => arguments.push(expr),
                _ => return Err(not_supported(format!("{function}"))),
            }
        }
        if name.eq_ignore_ascii_case("iif")
            && let [condition, then, otherwise] = *arguments.as_slice()
        {
            let parts = [condition, then, otherwise].map(|part| self.expr(part, frame));
            let [condition, then, otherwise] = parts;
            return Ok(Expr::Case(Box::new([condition?, then?, otherwise?])));
        }
        self.call(name, arguments.into_iter(), frame)
    }

    fn call(
        &mut self,
        name: &str,
        arguments: impl Iterator<Item = &'a ast::Expr>,
        frame: &Frame<'_>,
    ) -> Result<Expr, CheckError> {
        let arguments: Vec<Expr> =
            arguments.map(|argument| self.expr(argument, frame)).collect::<Result<_, _>>()?;
        match Function::find(name, arguments.len()) {
            Some(function) => Ok(Expr::Call(function, arguments)),
            None if Function::is_name(name) => {
                Err(not_supported(format!("{name} with {} arguments", arguments.len())))
            }
            None => Err(not_supported(format!("the function {name}"))),
        }
    }
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// Refuses a condition as an operand without parentheses: databases disagree on what binds tighter.
fn unchained(operands: &[&ast::Expr]) -> Result<(), CheckError> {
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

/// A comparison with its constant, if it has one, on the right.
fn compare(comparison: Comparison, left: Expr, right: Expr) -> Result<Expr, CheckError> {
    match (left, right) {
        (Expr::Literal(_), Expr::Literal(_)) => Err(not_supported("a comparison of two constants")),
        (constant @ Expr::Literal(_), other) => {
            Ok(Expr::Compare(comparison.flipped(), Box::new([other, constant])))
        }
        (left, right) => Ok(Expr::Compare(comparison, Box::new([left, right]))),
    }
}

/// `BETWEEN`, or the two comparisons it stands for if a constant is between others.
fn between(value: Expr, [low, high]: [Expr; 2]) -> Result<Expr, CheckError> {
    if matches!(value, Expr::Literal(_)) {
        let above = compare(Comparison::GreaterOrEqual, value.clone(), low)?;
        return Ok(above.and(compare(Comparison::LessOrEqual, value, high)?));
    }
    Ok(Expr::Between(Box::new([value, low, high])))
}

fn negate(negated: bool, condition: Expr) -> Result<Expr, CheckError> {
    if negated { not(condition) } else { Ok(condition) }
}

fn not(condition: Expr) -> Result<Expr, CheckError> {
    match condition {
        Expr::Compare(comparison, sides) => Ok(Expr::Compare(comparison.negated(), sides)),
        // Twice negated it is itself, for a condition is true, false or NULL already.
        Expr::Not(inner) if inner.is_condition() => Ok(*inner),
        Expr::Not(_) => Err(not_supported("NOT NOT of a value")),
        other => Ok(Expr::Not(Box::new(other))),
    }
}

/// What SQLite makes of the name of a type.
fn cast(name: &str) -> Result<Cast, CheckError> {
    let name = name.to_ascii_uppercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    Ok(match () {
        () if has(&["INT"]) => Cast::Integer,
        () if has(&["CHAR", "CLOB", "TEXT"]) => Cast::Text,
        () if has(&["BLOB"]) => return Err(not_supported("CAST to BLOB")),
        () if has(&["REAL", "FLOA", "DOUB"]) => Cast::Real,
        () => Cast::Numeric,
    })
}

fn what_it_is(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::AllOp { .. } | ast::Expr::AnyOp { .. } => "ALL and ANY, which SQLite does not have".into(),
        ast::Expr::Tuple(_) => "a row of several values".into(),
        ast::Expr::Collate { .. } => "COLLATE".into(),
        ast::Expr::Like { .. } => "LIKE with ESCAPE".into(),
        ast::Expr::UnaryOp { op, .. } => format!("the operator {op}"),
        other => format!("`{other}`"),
    }
}
