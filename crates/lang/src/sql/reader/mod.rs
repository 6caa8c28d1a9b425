//! Reads SQL into a syntax tree.
//!
//! `sqlparser` parses the text. This module resolves every name as SQLite does, brings equivalent texts to one form (see
//! [`super::query`]), and refuses with the reason what the tree cannot represent. The text is untrusted, so its length,
//! its depth and the size of the tree are bounded.

mod calls;
mod compound;
mod duckdb;
mod expression;
mod from;
mod keys;
mod names;
mod operators;
mod postgres;
mod syntax;
mod work;

use super::check::CheckError;
use super::dialect::Dialect;
use super::literal::Literal;
use super::operator::SetOperator;
use super::query::{Expr, FromSource, Limit, Output, Query, Select};
use super::schema::Schema;
use crate::SyntaxError;
use names::{NameScope, OutputColumn};
use sqlparser::ast;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use syntax::{Postgres, Sqlite};
use work::{MOST_ATTEMPTS, Work, most_attempts};

/// The length limit of a text, in bytes.
const MAX_LENGTH: usize = 1 << 16;
/// The limit on tokens. `sqlparser` makes a tree of a chain of operators that is as deep as the chain is long.
const MAX_TOKENS: usize = 6_000;
/// The depth limit of queries and expressions.
const MAX_DEPTH: u32 = 100;
/// The levels by which an operation is deeper than its operands, besides their own. An operation that is an operand is written in
/// parentheses, which `sqlparser` counts, so that its text is deeper than what was read.
const OPERATION_LEVELS: u32 = 2;
/// The limit on expressions and sources of a tree, which common table expressions can multiply.
const MAX_NODES: u32 = 20_000;

/// The meaning of double quotes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotes {
    /// A name if there is such a column, and else text, as in SQLite.
    #[default]
    AsSqlite,
    /// Text wherever a value is expected, as in datasets that never quote names.
    AlwaysText,
}

/// Opening parentheses that the stack of any thread is large enough for, however they are nested.
const SHALLOW: usize = 20;
/// The bytes of stack for more of them. `sqlparser` allows [`MAX_DEPTH`], and uses some ten kilobytes for each.
const DEEP_STACK: usize = 32 << 20;

/// Calls `read` with enough stack for a text.
pub(super) fn with_enough_stack<T>(text: &str, read: impl FnOnce() -> T) -> T {
    match text.matches('(').nth(SHALLOW) {
        Some(_) => stacker::grow(DEEP_STACK, read),
        None => read(),
    }
}

/// Reads one `SELECT` statement.
pub(super) fn read(text: &str, schema: &Schema, quotes: Quotes) -> Result<Query, CheckError> {
    with_enough_stack(text, || read_statement(text, schema, quotes))
}

fn read_statement(text: &str, schema: &Schema, quotes: Quotes) -> Result<Query, CheckError> {
    let statement = parse(text, schema.dialect)?;
    let ast::Statement::Query(query) = statement else { return Err(CheckError::NotOneSelect) };
    let mut reader = QueryReader { schema, quotes, common_tables: vec![], depth: 0, nodes: 0 };
    Ok(reader.query(&query, None)?.query)
}

/// Parses one statement.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<ast::Statement, CheckError> {
    if text.len() > MAX_LENGTH {
        return Err(not_supported(format!("a query of more than {MAX_LENGTH} bytes")));
    }
    let work = Work::for_text(text);
    let grammar: Box<dyn sqlparser::dialect::Dialect> = match dialect {
        Dialect::Sqlite => Box::new(Sqlite { work }),
        // DuckDB's grammar began as that of PostgreSQL.
        Dialect::Postgres | Dialect::DuckDb => Box::new(Postgres { work }),
    };
    let parser = Parser::new(&*grammar).with_recursion_limit(MAX_DEPTH as usize);
    let tokens = Tokenizer::new(&*grammar, text)
        .tokenize_with_location()
        .map_err(|error| syntax(text, &error.to_string()))?;
    let spaces = |token: &&TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    if tokens.len() - tokens.iter().filter(spaces).count() > MAX_TOKENS {
        return Err(not_supported(format!("a query of more than {MAX_TOKENS} tokens")));
    }
    // `sqlparser` reads `1_000` as the number 1 with the alias `_000`.
    let is_joined = |pair: &[TokenWithSpan]| {
        matches!([&pair[0].token, &pair[1].token], [Token::Number(..), Token::Word(_)])
    };
    if let Some(pair) = tokens.windows(2).find(|pair| is_joined(pair)) {
        return Err(not_supported(format!("the number {}{}", pair[0].token, pair[1].token)));
    }
    if most_attempts(&tokens) > MOST_ATTEMPTS {
        return Err(too_deep());
    }
    let mut statements =
        parser.with_tokens_with_locations(tokens).parse_statements().map_err(|error| match error {
            ParserError::RecursionLimitExceeded => too_deep(),
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
                syntax(text, &message)
            }
        })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(CheckError::NotOneSelect),
    }
}

/// Returns a syntax error at the position that `sqlparser`'s message ends with, or else at the end of the text.
fn syntax(text: &str, message: &str) -> CheckError {
    let (what, position) = message.split_once(" at Line: ").unwrap_or((message, ""));
    let column = position.split_once(", Column: ").and_then(|(line, column)| {
        let before: usize = text
            .lines()
            .take(line.parse::<usize>().ok()?.checked_sub(1)?)
            .map(|line| line.chars().count() + 1)
            .sum();
        Some(before + column.parse::<usize>().ok()?)
    });
    let column = column.unwrap_or_else(|| text.chars().count() + 1);
    CheckError::Syntax(SyntaxError::new(column, what))
}

fn not_supported(what: impl Into<String>) -> CheckError {
    CheckError::NotSupported(what.into())
}

/// Returns the error of a text that is nested deeper than [`MAX_DEPTH`], or in a way that takes too long to read.
fn too_deep() -> CheckError {
    not_supported("nesting that is too deep".to_owned())
}

/// Resolves the syntax tree of `sqlparser` against a schema.
struct QueryReader<'a> {
    schema: &'a Schema,
    quotes: Quotes,
    /// The common table expressions in scope, innermost last.
    common_tables: Vec<&'a ast::Cte>,
    depth: u32,
    nodes: u32,
}

/// A query and its outputs, with stars expanded.
struct ResolvedQuery {
    query: Query,
    outputs: Vec<OutputColumn>,
}

/// A select, the names that its `ORDER BY` can use, and its outputs, with stars expanded.
struct ResolvedSelect<'s> {
    select: Select,
    scope: NameScope<'s>,
    outputs: Vec<OutputColumn>,
}

impl<'a> QueryReader<'a> {
    /// Calls `read` one level deeper, and counts a node. Errors if that exceeds a limit.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, CheckError>) -> Result<T, CheckError> {
        self.deeper_by(1, read)
    }

    /// Calls `read` some levels deeper, and counts a node. Errors if that exceeds a limit.
    fn deeper_by<T>(
        &mut self,
        levels: u32,
        read: impl FnOnce(&mut Self) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        self.depth += levels;
        self.nodes += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        if self.nodes > MAX_NODES {
            return Err(not_supported(format!("a query of more than {MAX_NODES} parts")));
        }
        let result = read(self);
        self.depth -= levels;
        result
    }

    fn query(
        &mut self,
        query: &'a ast::Query,
        outer: Option<&NameScope<'_>>,
    ) -> Result<ResolvedQuery, CheckError> {
        self.deeper(|reader| {
            let before = reader.common_tables.len();
            if let Some(with) = &query.with {
                if with.recursive {
                    return Err(not_supported("WITH RECURSIVE"));
                }
                reader.common_tables.extend(&with.cte_tables);
            }
            let resolved = reader.query_body(query, outer);
            reader.common_tables.truncate(before);
            resolved
        })
    }

    fn query_body(
        &mut self,
        query: &'a ast::Query,
        outer: Option<&NameScope<'_>>,
    ) -> Result<ResolvedQuery, CheckError> {
        if query
            .fetch
            .as_ref()
            .is_some_and(|fetch| fetch.with_ties || fetch.percent || fetch.quantity.is_none())
            || query.fetch.is_some() && query.limit_clause.is_some()
            || !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return Err(not_supported("a clause that SQLite does not have"));
        }
        let mut selects = Vec::new();
        // The operator of the first select is ignored.
        compound::flatten(&query.body, SetOperator::Union, &mut selects)?;
        let mut resolved = Vec::new();
        for (operator, select) in selects {
            resolved.push((operator, self.select(select, outer)?));
        }
        let order = match &query.order_by {
            Some(order) => self.order(order, &resolved)?,
            None => vec![],
        };
        let limit = match query.fetch.as_ref().and_then(|fetch| fetch.quantity.as_ref()) {
            Some(rows) => Some(Some(Limit { rows: limit_number(rows)?, offset: None })),
            None => query.limit_clause.as_ref().map(limit).transpose()?,
        };
        let mut resolved = resolved.into_iter();
        let Some((_, first)) = resolved.next() else { return Err(CheckError::NotOneSelect) };
        let rest = resolved.map(|(operator, other)| (operator, other.select)).collect();
        Ok(ResolvedQuery {
            query: Query { first: first.select, rest, order, limit: limit.flatten() },
            outputs: first.outputs,
        })
    }

    fn select<'s>(
        &mut self,
        select: &'a ast::Select,
        outer: Option<&'s NameScope<'s>>,
    ) -> Result<ResolvedSelect<'s>, CheckError> {
        if let Some(clause) = unsupported_clause(select) {
            return Err(not_supported(clause));
        }
        let distinct = match &select.distinct {
            None => false,
            Some(ast::Distinct::Distinct) => true,
            Some(ast::Distinct::On(_)) => return Err(not_supported("DISTINCT ON")),
        };
        let (mut scope, mut from, conditions) = self.from(&select.from, outer)?;
        let mut condition = None;
        for (source, on) in conditions {
            let on = self.expr(on, &scope)?;
            add_condition(join_condition(&mut from, source, &mut condition), on);
        }
        for (source, on) in std::mem::take(&mut scope.using) {
            add_condition(join_condition(&mut from, source, &mut condition), on);
        }

        let mut outputs = Vec::new();
        let mut output_columns = Vec::new();
        for item in &select.projection {
            let (output, columns) = self.output(item, &scope)?;
            outputs.push(output);
            output_columns.extend(columns);
        }
        scope.aliases = output_columns.clone();
        if let Some(selection) = &select.selection {
            let selection = self.expr(selection, &scope)?;
            add_condition(&mut condition, selection);
        }
        let group = self.group(&select.group_by, &scope, &output_columns)?;
        let having = select.having.as_ref().map(|having| self.expr(having, &scope)).transpose()?;
        if having.is_some() && group.is_empty() {
            return Err(not_supported("HAVING without GROUP BY"));
        }
        let select = Select { distinct, outputs, from, condition, group, having };
        Ok(ResolvedSelect { select, scope, outputs: output_columns })
    }

    /// Reads an output, and returns it with the columns that it stands for.
    fn output(
        &mut self,
        item: &'a ast::SelectItem,
        scope: &NameScope<'_>,
    ) -> Result<(Output, Vec<OutputColumn>), CheckError> {
        let is_plain = |options: &ast::WildcardAdditionalOptions| {
            options.opt_exclude.is_none()
                && options.opt_except.is_none()
                && options.opt_ilike.is_none()
                && options.opt_rename.is_none()
                && options.opt_replace.is_none()
        };
        match item {
            ast::SelectItem::UnnamedExpr(expr) => {
                let value = self.expr(expr, scope)?;
                let name = names::default_name(expr);
                Ok((Output::Expr(value.clone()), vec![OutputColumn { name, value, is_alias: false }]))
            }
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                let value = self.expr(expr, scope)?;
                let name = Some(alias.value.clone());
                Ok((Output::Expr(value.clone()), vec![OutputColumn { name, value, is_alias: true }]))
            }
            ast::SelectItem::Wildcard(options) if is_plain(options) => {
                if scope.sources.is_empty() {
                    return Err(CheckError::UnknownName("* without FROM".into()));
                }
                if scope.sources.iter().any(|source| !source.hidden.is_empty()) {
                    return Err(not_supported("* over a join with USING"));
                }
                let all = (0..scope.sources.len()).flat_map(|source| scope.columns(source, self.schema));
                Ok((Output::All, all.collect()))
            }
            ast::SelectItem::QualifiedWildcard(
                ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) if is_plain(options) => {
                let name = names::unqualified_name(name)?;
                let source = scope.sources.iter().position(|source| source.is_called(name));
                let source = source.ok_or_else(|| CheckError::UnknownName(format!("{name}.*")))?;
                Ok((Output::AllOf(source as u32), scope.columns(source, self.schema)))
            }
            _ => Err(not_supported("this kind of *")),
        }
    }
}

/// Reads a number of rows.
fn limit_number(expr: &ast::Expr) -> Result<Literal, CheckError> {
    match expression::constant(expr) {
        Some(number @ Literal::Number(_)) => Ok(number),
        _ => Err(not_supported("LIMIT or OFFSET that is not a number")),
    }
}

/// Reads `LIMIT` and `OFFSET`.
fn limit(clause: &ast::LimitClause) -> Result<Option<Limit>, CheckError> {
    let number = limit_number;
    match clause {
        ast::LimitClause::LimitOffset { limit: Some(rows), offset, limit_by } if limit_by.is_empty() => {
            let offset = offset.as_ref().map(|offset| number(&offset.value)).transpose()?;
            Ok(Some(Limit { rows: number(rows)?, offset }))
        }
        ast::LimitClause::LimitOffset { limit: None, offset: None, limit_by } if limit_by.is_empty() => {
            Ok(None)
        }
        ast::LimitClause::OffsetCommaLimit { offset, limit } => {
            Ok(Some(Limit { rows: number(limit)?, offset: Some(number(offset)?) }))
        }
        ast::LimitClause::LimitOffset { .. } => Err(not_supported("OFFSET without LIMIT")),
    }
}

/// Returns the first clause that SQLite does not have or that is not supported.
pub(super) fn unsupported_clause(select: &ast::Select) -> Option<&'static str> {
    [
        (select.top.is_some(), "TOP"),
        (select.into.is_some(), "SELECT INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.cluster_by.is_empty() || !select.distribute_by.is_empty(), "CLUSTER BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (!select.named_window.is_empty(), "WINDOW"),
        (select.qualify.is_some(), "QUALIFY"),
        (select.value_table_mode.is_some(), "SELECT AS"),
        (select.connect_by.is_some(), "CONNECT BY"),
        (select.exclude.is_some(), "EXCLUDE"),
        (!matches!(select.flavor, ast::SelectFlavor::Standard), "FROM before SELECT"),
    ]
    .into_iter()
    .find_map(|(present, name)| present.then_some(name))
}

/// Returns the condition that the condition of a join belongs to: that of the left-joined source, or that of `WHERE`.
fn join_condition<'s>(
    from: &'s mut [FromSource],
    source: Option<usize>,
    condition: &'s mut Option<Expr>,
) -> &'s mut Option<Expr> {
    match source {
        Some(source) => &mut from[source].left_join,
        None => condition,
    }
}

/// Joins a condition to an earlier one by `AND`.
fn add_condition(condition: &mut Option<Expr>, more: Expr) {
    *condition = Some(match condition.take() {
        Some(earlier) => earlier.and(more),
        None => more,
    });
}
