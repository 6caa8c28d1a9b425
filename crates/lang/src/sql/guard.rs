//! What a query may contain, decided on its syntax tree before anything is sent to a database.
//!
//! [`guard`] accepts one `SELECT` or `WITH … SELECT` that reads known tables and calls known functions, and whatever is not
//! known to be harmless is refused. The database gets the text of the tree that was checked, not the text that was read, so
//! that nothing depends on the database parsing it in the same way: comments, escapes and unusual quotes are gone.
//!
//! A server runs functions that no tree of a query names: `t.f` calls the function `f` if the table `t` has no such column,
//! and a function of a user's schema can have the name of a harmless one. So every name must be that of a column or of
//! something that the query defines, and functions are named with the schema `pg_catalog`.

use super::check::CheckError;
use super::reader::{parse, with_enough_stack};
use super::schema::{Schema, Table, TableId};
use rustc_hash::FxHashSet;
use sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, ObjectName, ObjectNamePart, SetExpr, TableFactor, Value,
};
use thiserror::Error;

/// The depth of queries and expressions. A chain of operators is not deep.
const MAX_DEPTH: usize = 100;
/// The tables and queries in all `FROM` lists. Planning and memory grow with them.
const MAX_SOURCES: usize = 32;
/// The factor by which a query may make a text longer than those of the cells.
const MAX_GROWTH: usize = 64;
/// Functions that are syntax, and have no schema.
const SYNTAX: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];
/// Functions with syntax of their own, which is the same as a call.
const OWN_SYNTAX: [&str; 6] = ["ceil", "extract", "floor", "position", "substring", "trim"];

/// A query is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GuardError {
    /// The text is not SQL.
    #[error("{0}")]
    Syntax(String),
    /// The query may do something else than read the tables of the schema.
    #[error("refused: {0}")]
    Refused(String),
}

/// A query that only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedQuery {
    /// The text to run.
    pub text: String,
    /// Whether there is an `ORDER BY` that orders the rows of the answer.
    pub ordered: bool,
    /// The tables that it reads, each as often as it is named.
    pub tables: Vec<TableId>,
    /// Whether it joins the texts of many rows to one, which can be as large as all of them.
    pub joins_texts: bool,
}

/// Checks that a query only reads tables of a schema and calls functions of a list, which is sorted.
///
/// # Errors
/// If it is not such a query, or is too large.
pub fn guard(text: &str, schema: &Schema, functions: &[&str]) -> Result<GuardedQuery, GuardError> {
    with_enough_stack(text, || guard_statement(text, schema, functions))
}

fn guard_statement(text: &str, schema: &Schema, functions: &[&str]) -> Result<GuardedQuery, GuardError> {
    if text.contains('\0') {
        return Err(refused("a NUL character"));
    }
    let statement = parse(text, schema.dialect).map_err(|error| match error {
        CheckError::Syntax(error) => GuardError::Syntax(error.to_string()),
        CheckError::NotOneSelect => refused("not one statement"),
        other => refused(other.to_string()),
    })?;
    let ast::Statement::Query(mut query) = statement else {
        return Err(refused("a statement that does more than read"));
    };
    let mut guard = Guard {
        schema,
        functions,
        common_tables: Vec::new(),
        names: schema
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .map(|column| column.name.to_ascii_lowercase())
            .collect(),
        used_names: Vec::new(),
        depth: 0,
        sources: 0,
        growth: 1,
        tables: Vec::new(),
        joins_texts: false,
    };
    guard.query(&mut query)?;
    let Guard { names, used_names, tables, joins_texts, .. } = guard;
    if let Some(unknown) = used_names.iter().find(|name| !names.contains(*name)) {
        return Err(refused(format!("{unknown}, which is not a column")));
    }
    Ok(GuardedQuery { ordered: query.order_by.is_some(), text: query.to_string(), tables, joins_texts })
}

fn refused(what: impl Into<String>) -> GuardError {
    GuardError::Refused(what.into())
}

type Checked = Result<(), GuardError>;

struct Guard<'s> {
    schema: &'s Schema,
    functions: &'s [&'s str],
    /// The names of common table expressions in scope.
    common_tables: Vec<String>,
    /// Every name that is not that of a table: of columns of the schema, and those that the query defines.
    names: FxHashSet<String>,
    /// The names of columns in expressions. Any that is not known may call a function.
    used_names: Vec<String>,
    depth: usize,
    sources: usize,
    growth: usize,
    tables: Vec<TableId>,
    joins_texts: bool,
}

impl Guard<'_> {
    fn is_on_list(&self, function: &str) -> bool {
        self.functions.binary_search(&function.to_ascii_lowercase().as_str()).is_ok()
    }

    fn query(&mut self, query: &mut ast::Query) -> Checked {
        self.deeper(|guard| guard.query_unbounded(query))
    }

    /// Calls `check` one level deeper.
    fn deeper(&mut self, check: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(refused(format!("nesting deeper than {MAX_DEPTH}")));
        }
        let checked = check(self);
        self.depth -= 1;
        checked
    }

    fn query_unbounded(&mut self, query: &mut ast::Query) -> Checked {
        let before = self.common_tables.len();
        if let Some(with) = &mut query.with {
            if with.recursive {
                return Err(refused("a recursive query"));
            }
            for cte in &mut with.cte_tables {
                if cte.from.is_some() || cte.materialized.is_some() {
                    return Err(refused("this kind of WITH"));
                }
                self.query(&mut cte.query)?;
                self.alias(&mut cte.alias)?;
                self.common_tables.push(cte.alias.name.value.to_ascii_lowercase());
            }
        }
        if !query.locks.is_empty() {
            return Err(refused("a query that locks rows"));
        }
        if query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return Err(refused("a clause that is not known"));
        }
        self.body(&mut query.body)?;
        if let Some(order) = &mut query.order_by {
            let ast::OrderByKind::Expressions(keys) = &mut order.kind else {
                return Err(refused("ORDER BY ALL"));
            };
            self.keys(keys)?;
        }
        if let Some(limit) = &query.limit_clause {
            let is_number =
                |expr: &Expr| matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)));
            let ast::LimitClause::LimitOffset { limit, offset, limit_by } = limit else {
                return Err(refused("this kind of LIMIT"));
            };
            let numbers = limit.iter().chain(offset.iter().map(|offset| &offset.value));
            if !limit_by.is_empty() || !numbers.into_iter().all(is_number) {
                return Err(refused("LIMIT that is not a number"));
            }
        }
        if let Some(fetch) = &mut query.fetch
            && let Some(rows) = &mut fetch.quantity
        {
            self.expr(rows)?;
        }
        self.common_tables.truncate(before);
        Ok(())
    }

    fn body(&mut self, body: &mut SetExpr) -> Checked {
        self.deeper(|guard| guard.body_unbounded(body))
    }

    fn body_unbounded(&mut self, body: &mut SetExpr) -> Checked {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left)?;
                self.body(right)
            }
            SetExpr::Values(_) | SetExpr::Table(_) => Err(refused("rows that are not of a table")),
            _ => Err(refused("a statement that does more than read")),
        }
    }

    fn select(&mut self, select: &mut ast::Select) -> Checked {
        if let Some(clause) = super::reader::unsupported_clause(select) {
            return Err(refused(clause));
        }
        if let Some(ast::Distinct::On(keys)) = &mut select.distinct {
            self.exprs(keys)?;
        }
        for tables in &mut select.from {
            self.joined(tables)?;
        }
        for item in &mut select.projection {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    // An output without a name has that of its function, which is on the list.
                    if let Expr::Function(ast::Function { name, .. }) = expr
                        && let Some(ObjectNamePart::Identifier(name)) = name.0.last()
                    {
                        self.define(name);
                    }
                    self.expr(expr)?;
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    self.define(alias);
                    self.expr(expr)?;
                    identifier(alias)?;
                }
                ast::SelectItem::Wildcard(options)
                    if *options == ast::WildcardAdditionalOptions::default() => {}
                ast::SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) if *options == ast::WildcardAdditionalOptions::default() => object_name(name)?,
                _ => return Err(refused("this kind of *")),
            }
        }
        if let Some(condition) = &mut select.selection {
            self.expr(condition)?;
        }
        match &mut select.group_by {
            ast::GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => self.exprs(keys)?,
            _ => return Err(refused("this kind of GROUP BY")),
        }
        select.having.as_mut().map_or(Ok(()), |condition| self.expr(condition))
    }

    fn joined(&mut self, tables: &mut ast::TableWithJoins) -> Checked {
        self.deeper(|guard| guard.joined_unbounded(tables))
    }

    fn joined_unbounded(&mut self, tables: &mut ast::TableWithJoins) -> Checked {
        self.source(&mut tables.relation)?;
        for join in &mut tables.joins {
            self.source(&mut join.relation)?;
            use ast::JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
            match &mut join.join_operator {
                Join(constraint)
                | Inner(constraint)
                | Left(constraint)
                | LeftOuter(constraint)
                | Right(constraint)
                | RightOuter(constraint)
                | FullOuter(constraint)
                | CrossJoin(constraint) => match constraint {
                    ast::JoinConstraint::On(condition) => self.expr(condition)?,
                    ast::JoinConstraint::Using(columns) => columns.iter_mut().try_for_each(object_name)?,
                    ast::JoinConstraint::Natural | ast::JoinConstraint::None => {}
                },
                _ => return Err(refused("this kind of join")),
            }
        }
        Ok(())
    }

    fn source(&mut self, source: &mut TableFactor) -> Checked {
        self.sources += 1;
        if self.sources > MAX_SOURCES {
            return Err(refused(format!("more than {MAX_SOURCES} tables")));
        }
        match source {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                if !self.is_common_table(name) {
                    let table = self.table(name);
                    let unknown = || refused(format!("reading {name}, which is not a table of the schema"));
                    self.tables.push(table.ok_or_else(unknown)?);
                }
                object_name(name)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            TableFactor::Derived { lateral: false, subquery, alias } => {
                self.query(subquery)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.joined(table_with_joins)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            other => Err(refused(format!("{other} in FROM"))),
        }
    }

    /// Returns whether a name is that of a query in `WITH`.
    fn is_common_table(&self, name: &ObjectName) -> bool {
        let [ObjectNamePart::Identifier(name)] = name.0.as_slice() else { return false };
        self.common_tables.contains(&name.value.to_ascii_lowercase())
    }

    /// Returns the table of the schema with a name.
    fn table(&self, name: &ObjectName) -> Option<TableId> {
        match name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => {
                let is_called = |table: &Table| table.name.eq_ignore_ascii_case(&name.value);
                let index = self.schema.tables.iter().position(is_called)?;
                Some(TableId(index as u32))
            }
            [ObjectNamePart::Identifier(namespace), ObjectNamePart::Identifier(name)] => {
                self.schema.find_qualified_table(&namespace.value, &name.value)
            }
            _ => None,
        }
    }

    fn alias(&mut self, alias: &mut ast::TableAlias) -> Checked {
        for column in &mut alias.columns {
            self.define(&column.name);
            identifier(&mut column.name)?;
            if column.data_type.is_some() {
                return Err(refused("types of columns"));
            }
        }
        identifier(&mut alias.name)
    }

    fn keys(&mut self, keys: &mut [ast::OrderByExpr]) -> Checked {
        keys.iter_mut().try_for_each(|key| match key.with_fill {
            None => self.expr(&mut key.expr),
            Some(_) => Err(refused("WITH FILL")),
        })
    }

    fn exprs(&mut self, exprs: &mut [Expr]) -> Checked {
        exprs.iter_mut().try_for_each(|expr| self.expr(expr))
    }

    /// Checks an expression.
    fn expr(&mut self, expr: &mut Expr) -> Checked {
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
            Expr::Nested(inner)
            | Expr::UnaryOp {
                op: ast::UnaryOperator::Minus | ast::UnaryOperator::Plus | ast::UnaryOperator::Not,
                expr: inner,
            }
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
                self.query(subquery)
            }
            Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => self.query(subquery),
            Expr::AnyOp { left, compare_op, right, .. } | Expr::AllOp { left, compare_op, right } => {
                self.operator(compare_op, left, right)?;
                self.expr(left)?;
                self.expr(right)
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
            Expr::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
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
                substring_from.iter_mut().chain(substring_for).try_for_each(|part| self.expr(part))
            }
            other => Err(refused(format!("`{other}`, which is not known to be harmless"))),
        }
    }

    /// Takes note of a name that the query defines.
    fn define(&mut self, name: &Ident) {
        self.names.insert(name.value.to_ascii_lowercase());
    }

    fn operator(&mut self, op: &BinaryOperator, left: &Expr, right: &Expr) -> Checked {
        use BinaryOperator::{
            And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, Plus, StringConcat,
        };
        match op {
            Plus | Minus | Multiply | Divide | Modulo | Eq | NotEq | Lt | LtEq | Gt | GtEq | And | Or => {
                Ok(())
            }
            StringConcat if is_constant(left) || is_constant(right) => Ok(()),
            StringConcat => self.grow(2),
            other => Err(refused(format!("the operator {other}"))),
        }
    }

    /// Takes note that a text becomes longer by a factor.
    fn grow(&mut self, factor: usize) -> Checked {
        self.growth = self.growth.saturating_mul(factor.max(1));
        match self.growth > MAX_GROWTH {
            true => Err(refused("a query that makes texts too long")),
            false => Ok(()),
        }
    }

    fn function(&mut self, function: &mut ast::Function) -> Checked {
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
            ast::FunctionArguments::List(list) if list.clauses.is_empty() => &mut list.args,
            _ => return Err(refused(format!("the arguments of {name}"))),
        };
        if function.uses_odbc_syntax
            || !matches!(function.parameters, ast::FunctionArguments::None)
            || function.null_treatment.is_some()
            || !function.within_group.is_empty()
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
            _ => {}
        }
        if let Some(condition) = &mut function.filter {
            self.expr(condition)?;
        }
        match &mut function.over {
            None => {}
            Some(ast::WindowType::WindowSpec(window)) => self.window(window)?,
            Some(ast::WindowType::NamedWindow(_)) => return Err(refused("WINDOW")),
        }
        if !SYNTAX.contains(&name.as_str()) && !OWN_SYNTAX.contains(&name.as_str()) {
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

fn is_constant(expr: &Expr) -> bool {
    constant_length(expr).is_some()
}

/// Returns the length of a text that is a constant.
fn constant_length(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.len()),
            _ => None,
        },
        _ => None,
    }
}

/// Checks that a constant is written as it was read.
fn value(value: &Value) -> Checked {
    let is_clear = match value {
        Value::Number(number, false) => number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')),
        Value::SingleQuotedString(text) => value.to_string() == format!("'{}'", text.replace('\'', "''")),
        Value::Boolean(_) | Value::Null => true,
        _ => false,
    };
    if is_clear { Ok(()) } else { Err(refused(format!("the constant {value}"))) }
}

/// Checks that a name is written as it was read, and writes it in double quotes if it had quotes.
fn identifier(name: &mut Ident) -> Checked {
    let is_clear = match name.quote_style {
        None => name.value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$')),
        Some(_) => {
            name.quote_style = Some('"');
            name.to_string() == format!("\"{}\"", name.value.replace('"', "\"\""))
        }
    };
    if is_clear { Ok(()) } else { Err(refused(format!("the name {name}"))) }
}

fn object_name(name: &mut ObjectName) -> Checked {
    name.0.iter_mut().try_for_each(|part| match part {
        ObjectNamePart::Identifier(name) => identifier(name),
        ObjectNamePart::Function(_) => Err(refused("a function as a name")),
    })
}

/// Checks that a type is one whose values do not depend on the tables of the server: `regclass` and its like do.
fn known_type(ty: &ast::DataType) -> Checked {
    const TYPES: [&str; 28] = [
        "BIGINT",
        "BOOL",
        "BOOLEAN",
        "CHAR",
        "CHARACTER",
        "CHARACTER VARYING",
        "DATE",
        "DEC",
        "DECIMAL",
        "DOUBLE",
        "DOUBLE PRECISION",
        "FLOAT",
        "FLOAT4",
        "FLOAT8",
        "INT",
        "INT2",
        "INT4",
        "INT8",
        "INTEGER",
        "INTERVAL",
        "NUMERIC",
        "REAL",
        "SMALLINT",
        "TEXT",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "VARCHAR",
    ];
    let text = ty.to_string().to_ascii_uppercase();
    let name = text.split('(').next().unwrap_or_default().trim();
    let name =
        name.strip_suffix(" WITH TIME ZONE").or(name.strip_suffix(" WITHOUT TIME ZONE")).unwrap_or(name);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" (),".contains(&byte));
    match is_plain && TYPES.binary_search(&name).is_ok() {
        true => Ok(()),
        false => Err(refused(format!("the type {ty}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Column, ColumnType, Dialect};

    fn schema() -> Schema {
        let column = |name: &str| Column { name: name.to_owned(), ty: ColumnType::Text, comment: None };
        let table = |namespace: &str, name: &str| Table {
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            comment: None,
            columns: vec![column("id"), column("name")],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        Schema {
            tables: vec![table("public", "artist"), table("sales", "order")],
            dialect: Dialect::Postgres,
        }
    }

    #[test]
    fn what_is_sent_is_what_was_checked() {
        let functions = ["coalesce", "count", "lower", "replace"];
        let cases = [
            ("SELECT /* ; */ name FROM artist -- x", "SELECT name FROM artist"),
            (
                "SELECT COUNT(*) n FROM sales.\"order\" ORDER BY n;",
                "SELECT pg_catalog.COUNT(*) AS n FROM sales.\"order\" ORDER BY n",
            ),
            ("SELECT coalesce(name, 'it''s') FROM artist", "SELECT coalesce(name, 'it''s') FROM artist"),
            ("SELECT `name` FROM artist", "SELECT \"name\" FROM artist"),
            (
                "WITH a AS (SELECT id AS x FROM artist) SELECT a.x FROM a",
                "WITH a AS (SELECT id AS x FROM artist) SELECT a.x FROM a",
            ),
        ];
        for (text, sent) in cases {
            assert_eq!(guard(text, &schema(), &functions).unwrap().text, sent);
        }
        for text in [
            "SELECT artist.lower FROM artist",
            "SELECT pg_sleep(1)",
            "SELECT 'a\\''''' FROM artist",
            "SELECT $$a$$ FROM artist",
            "SELECT name FROM hr.artist",
            "SELECT 'pg_class'::regclass FROM artist",
            "SELECT public.lower(name) FROM artist",
            "SELECT replace(name, 'a', name) FROM artist",
            "SELECT name FROM artist FOR UPDATE",
            "SELECT name INTO copy FROM artist",
            "WITH a AS (DELETE FROM artist RETURNING id) SELECT id FROM a",
        ] {
            assert!(guard(text, &schema(), &functions).is_err(), "{text}");
        }
    }
}
