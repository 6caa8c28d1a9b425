//! Calls of functions.

use super::{Checked, Guard, refused};
use crate::sql::dialect::Dialect;
use sqlparser::ast::{self, Expr, Ident, ObjectNamePart, Value};

/// Functions that are syntax, and have no schema.
const SYNTAX: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];
/// Functions with syntax of their own, which is the same as a call.
const OWN_SYNTAX: [&str; 6] = ["ceil", "extract", "floor", "position", "substring", "trim"];
/// Aggregates of `WITHIN GROUP (ORDER BY …)`.
const ORDERED: [&str; 3] = ["mode", "percentile_cont", "percentile_disc"];

impl Guard<'_> {
    pub(super) fn function(&mut self, function: &mut ast::Function) -> Checked {
        let refusal = format!("the function {} is not on the list of allowed ones", function.name);
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] if name.quote_style.is_none() => {
                name.value.to_ascii_lowercase()
            }
            _ => return Err(refused(refusal)),
        };
        if !self.is_on_list(&name) {
            return Err(refused(refusal));
        }
        let arguments = match &mut function.args {
            ast::FunctionArguments::List(list) => {
                self.steps += usize::from(list.duplicate_treatment.is_some());
                for clause in &mut list.clauses {
                    let ast::FunctionArgumentClause::OrderBy(keys) = clause else {
                        return Err(refused(format!("the arguments of {name}")));
                    };
                    self.steps += 1;
                    self.keys(keys)?;
                }
                &mut list.args
            }
            _ => return Err(refused(format!("the arguments of {name}"))),
        };
        if function.uses_odbc_syntax
            || !matches!(function.parameters, ast::FunctionArguments::None)
            || function.null_treatment.is_some()
            || !function.within_group.is_empty() && !ORDERED.contains(&name.as_str())
        {
            return Err(refused(format!("this kind of call of {name}")));
        }
        for argument in arguments.iter_mut() {
            match argument {
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => self.expr(expr)?,
                ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard) if name == "count" => {}
                _ => return Err(refused(format!("the arguments of {name}"))),
            }
        }
        match (name.as_str(), arguments.as_slice()) {
            ("concat" | "concat_ws", arguments) => self.grow(arguments.len())?,
            ("replace", [_, _, ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(by))]) => {
                let length =
                    constant_length(by).ok_or_else(|| refused("replace by what is not a constant"))?;
                self.grow(length)?;
            }
            ("string_agg", _) => self.joins_texts = true,
            ("substring", [_, places @ ..]) => {
                for place in places {
                    if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(place)) = place {
                        self.place(place)?;
                    }
                }
            }
            _ => {}
        }
        self.steps += function.within_group.len();
        self.keys(&mut function.within_group)?;
        if let Some(condition) = &mut function.filter {
            self.expr(condition)?;
        }
        match &mut function.over {
            None => {}
            Some(ast::WindowType::WindowSpec(window)) => {
                self.steps += 1;
                self.window(window)?;
            }
            Some(ast::WindowType::NamedWindow(_)) => return Err(refused("WINDOW")),
        }
        let has_schema = self.schema.dialect == Dialect::Postgres;
        if has_schema && !SYNTAX.contains(&name.as_str()) && !OWN_SYNTAX.contains(&name.as_str()) {
            function.name.0.insert(0, ObjectNamePart::Identifier(Ident::new("pg_catalog")));
        }
        Ok(())
    }

    fn window(&mut self, window: &mut ast::WindowSpec) -> Checked {
        if window.window_name.is_some() {
            return Err(refused("WINDOW"));
        }
        self.exprs(&mut window.partition_by)?;
        self.keys(&mut window.order_by)?;
        let Some(frame) = &mut window.window_frame else { return Ok(()) };
        for bound in std::iter::once(&mut frame.start_bound).chain(&mut frame.end_bound) {
            if let ast::WindowFrameBound::Preceding(Some(rows))
            | ast::WindowFrameBound::Following(Some(rows)) = bound
            {
                self.expr(rows)?;
            }
        }
        Ok(())
    }
}

/// Returns the length of a text that is a constant.
pub(super) fn constant_length(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.len()),
            _ => None,
        },
        _ => None,
    }
}
