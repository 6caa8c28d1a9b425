//! Calls of functions and aggregates, and casts.

use super::super::check::CheckError;
use super::super::dialect::Dialect;
use super::super::function::{Aggregate, ScalarFunction};
use super::super::operator::CastType;
use super::super::query::Expr;
use super::expression::constant;
use super::names::{NameScope, unqualified_name};
use super::{QueryReader, not_supported};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr};

impl<'a> QueryReader<'a> {
    /// Reads `name(argument, …)`.
    pub(super) fn function(
        &mut self,
        function: &'a ast::Function,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let name = unqualified_name(&function.name)?;
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
                // A constant is never NULL, so this counts rows.
                FunctionArgExpr::Expr(expr) if aggregate == Aggregate::Count && constant(expr).is_some() => {
                    Ok(Expr::CountRows)
                }
                FunctionArgExpr::Expr(expr) => Ok(Expr::Aggregate(aggregate, self.boxed(expr, scope)?)),
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
            let parts = [condition, then, otherwise].map(|part| self.expr(part, scope));
            let [condition, then, otherwise] = parts;
            return Ok(Expr::Case(Box::new([condition?, then?, otherwise?])));
        }
        if self.schema.dialect == Dialect::DuckDb
            && let Some(read) = self.duckdb_call(name, &arguments, scope)?
        {
            return Ok(read);
        }
        if self.schema.dialect.has_strict_types()
            && let Some(read) = self.postgres_call(name, &arguments, scope)?
        {
            return Ok(read);
        }
        self.call(name, arguments.into_iter(), scope)
    }

    /// Reads a call of a scalar function.
    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: impl Iterator<Item = &'a ast::Expr>,
        scope: &NameScope<'_>,
    ) -> Result<Expr, CheckError> {
        let arguments: Vec<Expr> =
            arguments.map(|argument| self.expr(argument, scope)).collect::<Result<_, _>>()?;
        self.called(name, arguments)
    }

    /// Returns the call of a scalar function.
    pub(super) fn called(&self, name: &str, arguments: Vec<Expr>) -> Result<Expr, CheckError> {
        match ScalarFunction::find(name, arguments.len()) {
            Some(function) => Ok(Expr::Call(function, arguments)),
            None if ScalarFunction::is_name(name) => {
                Err(not_supported(format!("{name} with {} arguments", arguments.len())))
            }
            None => Err(not_supported(format!("the function {name}"))),
        }
    }
}

/// Returns the type that SQLite casts to for the name of a type.
pub(super) fn cast_type(name: &str) -> Result<CastType, CheckError> {
    let name = name.to_ascii_uppercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    Ok(match () {
        () if has(&["INT"]) => CastType::Integer,
        () if has(&["CHAR", "CLOB", "TEXT"]) => CastType::Text,
        () if has(&["BLOB"]) => return Err(not_supported("CAST to BLOB")),
        () if has(&["REAL", "FLOA", "DOUB"]) => CastType::Real,
        () => CastType::Numeric,
    })
}
