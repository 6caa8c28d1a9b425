//! From SQL to a tree.
//!
//! `sqlparser` knows the syntax; here every name is resolved as SQLite resolves it, what can be said in
//! several ways is brought to one (see [`super::query`]), and what the tree cannot hold is refused with the reason. Text
//! comes from strangers, so its length, its depth and the size of the tree are bounded.

mod compound;
mod dialect;
mod expression;
mod from;
mod keys;
mod names;

use super::check::CheckError;
use super::literal::Literal;
use super::operator::SetOperator;
use super::query::{Expr, Limit, Output, Query, Select};
use super::schema::Schema;
use crate::SyntaxError;
use dialect::Sqlite;
use names::{Field, Frame};
use sqlparser::ast;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// The longest text that is read, in bytes.
const MAX_LENGTH: usize = 1 << 16;
/// The most tokens: a chain of so many operators is as deep as it is long.
const MAX_TOKENS: usize = 6_000;
/// How deep queries and expressions may be nested.
const MAX_DEPTH: u32 = 100;
/// How many expressions and sources a tree may have; common table expressions multiply.
const MAX_NODES: u32 = 20_000;

/// What double quotes mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotes {
    /// A name if there is such a column, else text, as SQLite has it.
    #[default]
    AsSqlite,
    /// Text wherever a value can stand, as in datasets that never quote names.
    AlwaysText,
}

/// Reads one `SELECT` statement.
pub(super) fn read(text: &str, schema: &Schema, quotes: Quotes) -> Result<Query, CheckError> {
    let statement = parse(text)?;
    let ast::Statement::Query(query) = statement else { return Err(CheckError::NotOneSelect) };
    let mut reader = Reader { schema, quotes, tables: vec![], depth: 0, nodes: 0 };
    Ok(reader.query(&query, None)?.query)
}

fn parse(text: &str) -> Result<ast::Statement, CheckError> {
    if text.len() > MAX_LENGTH {
        return Err(not_supported(format!("a query of more than {MAX_LENGTH} bytes")));
    }
    let parser = Parser::new(&Sqlite).with_recursion_limit(MAX_DEPTH as usize);
    let tokens = Tokenizer::new(&Sqlite, text)
        .tokenize_with_location()
        .map_err(|error| syntax(text, &error.to_string()))?;
    let spaces = |token: &&TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    if tokens.len() - tokens.iter().filter(spaces).count() > MAX_TOKENS {
        return Err(not_supported(format!("a query of more than {MAX_TOKENS} tokens")));
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

/// A syntax error at the place the message names, or at the end.
fn syntax(text: &str, message: &str) -> CheckError {
    let (what, place) = message.split_once(" at Line: ").unwrap_or((message, ""));
    let column = place.split_once(", Column: ").and_then(|(line, column)| {
        let before: usize = text
            .lines()
            .take(line.parse::<usize>().ok()?.checked_sub(1)?)
            .map(|line| line.chars().count() + 1)
            .sum();
        Some(before + column.parse::<usize>().ok()?)
    });
    let column = column.unwrap_or_else(|| text.chars().count() + 1);
    CheckError::Syntax(SyntaxError { column, message: what.to_owned() })
}

fn not_supported(what: impl Into<String>) -> CheckError {
    CheckError::NotSupported(what.into())
}

fn too_deep() -> CheckError {
    not_supported(format!("nesting deeper than {MAX_DEPTH}"))
}

struct Reader<'a> {
    schema: &'a Schema,
    quotes: Quotes,
    /// Common table expressions in force, innermost last.
    tables: Vec<&'a ast::Cte>,
    depth: u32,
    nodes: u32,
}

/// A query and what its outputs are called, stars expanded.
struct Named {
    query: Query,
    fields: Vec<Field>,
}

/// A part of a query with the names that its `ORDER BY` can use.
struct Part<'f> {
    select: Select,
    frame: Frame<'f>,
    fields: Vec<Field>,
}

impl<'a> Reader<'a> {
    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, CheckError>) -> Result<T, CheckError> {
        self.depth += 1;
        self.nodes += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        if self.nodes > MAX_NODES {
            return Err(not_supported(format!("a query of more than {MAX_NODES} parts")));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn query(&mut self, query: &'a ast::Query, outer: Option<&Frame<'_>>) -> Result<Named, CheckError> {
        self.deeper(|reader| {
            let before = reader.tables.len();
            if let Some(with) = &query.with {
                if with.recursive {
                    return Err(not_supported("WITH RECURSIVE"));
                }
                reader.tables.extend(&with.cte_tables);
            }
            let named = reader.query_body(query, outer);
            reader.tables.truncate(before);
            named
        })
    }

    fn query_body(&mut self, query: &'a ast::Query, outer: Option<&Frame<'_>>) -> Result<Named, CheckError> {
        if query.fetch.is_some()
            || !query.locks.is_empty()
            || query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return Err(not_supported("a clause that SQLite does not have"));
        }
        let mut selects = Vec::new();
        // The first has no operator of its own.
        compound::flatten(&query.body, SetOperator::Union, &mut selects)?;
        let mut parts = Vec::new();
        for (operator, select) in selects {
            parts.push((operator, self.select(select, outer)?));
        }
        let order = match &query.order_by {
            Some(order) => self.order(order, &parts)?,
            None => vec![],
        };
        let limit = query.limit_clause.as_ref().map(limit).transpose()?;
        let mut parts = parts.into_iter();
        let Some((_, first)) = parts.next() else { return Err(CheckError::NotOneSelect) };
        let rest = parts.map(|(operator, part)| (operator, part.select)).collect();
        Ok(Named {
            query: Query { first: first.select, rest, order, limit: limit.flatten() },
            fields: first.fields,
        })
    }

    fn select<'f>(
        &mut self,
        select: &'a ast::Select,
        outer: Option<&'f Frame<'f>>,
    ) -> Result<Part<'f>, CheckError> {
        if let Some(clause) = unusual_clause(select) {
            return Err(not_supported(clause));
        }
        let distinct = match &select.distinct {
            None => false,
            Some(ast::Distinct::Distinct) => true,
            Some(ast::Distinct::On(_)) => return Err(not_supported("DISTINCT ON")),
        };
        let (mut frame, mut from, conditions) = self.from(&select.from, outer)?;
        let mut condition = None;
        for (source, on) in conditions {
            let on = self.expr(on, &frame)?;
            add_condition(join_condition(&mut from, source, &mut condition), on);
        }
        for (source, on) in std::mem::take(&mut frame.using) {
            add_condition(join_condition(&mut from, source, &mut condition), on);
        }

        let mut outputs = Vec::new();
        let mut fields = Vec::new();
        for item in &select.projection {
            let (output, more) = self.output(item, &frame)?;
            outputs.push(output);
            fields.extend(more);
        }
        frame.aliases = fields.clone();
        if let Some(selection) = &select.selection {
            let selection = self.expr(selection, &frame)?;
            add_condition(&mut condition, selection);
        }
        let ast::GroupByExpr::Expressions(keys, modifiers) = &select.group_by else {
            return Err(not_supported("GROUP BY ALL"));
        };
        if !modifiers.is_empty() {
            return Err(not_supported("GROUP BY with a modifier"));
        }
        let mut group = Vec::new();
        for key in keys {
            group.push(self.group_key(key, &frame, &fields)?);
        }
        let having = select.having.as_ref().map(|having| self.expr(having, &frame)).transpose()?;
        if having.is_some() && group.is_empty() {
            return Err(not_supported("HAVING without GROUP BY"));
        }
        Ok(Part { select: Select { distinct, outputs, from, condition, group, having }, frame, fields })
    }

    fn output(
        &mut self,
        item: &'a ast::SelectItem,
        frame: &Frame<'_>,
    ) -> Result<(Output, Vec<Field>), CheckError> {
        let plain = |options: &ast::WildcardAdditionalOptions| {
            options.opt_exclude.is_none()
                && options.opt_except.is_none()
                && options.opt_ilike.is_none()
                && options.opt_rename.is_none()
                && options.opt_replace.is_none()
        };
        match item {
            ast::SelectItem::UnnamedExpr(expr) => {
                let value = self.expr(expr, frame)?;
                let name = names::own_name(expr);
                Ok((Output::Expr(value.clone()), vec![Field { name, value, is_alias: false }]))
            }
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                let value = self.expr(expr, frame)?;
                let field = Field { name: Some(alias.value.clone()), value: value.clone(), is_alias: true };
                Ok((Output::Expr(value), vec![field]))
            }
            ast::SelectItem::Wildcard(options) if plain(options) => {
                if frame.sources.is_empty() {
                    return Err(CheckError::UnknownName("* without FROM".into()));
                }
                if frame.sources.iter().any(|source| !source.hidden.is_empty()) {
                    return Err(not_supported("* over a join with USING"));
                }
                let all = (0..frame.sources.len()).flat_map(|source| frame.fields(source, self.schema));
                Ok((Output::All, all.collect()))
            }
            ast::SelectItem::QualifiedWildcard(
                ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) if plain(options) => {
                let name = names::last_part(name)?;
                let source = frame.sources.iter().position(|source| source.is_called(name));
                let source = source.ok_or_else(|| CheckError::UnknownName(format!("{name}.*")))?;
                Ok((Output::AllOf(source as u32), frame.fields(source, self.schema)))
            }
            _ => Err(not_supported("this kind of *")),
        }
    }
}

fn limit(clause: &ast::LimitClause) -> Result<Option<Limit>, CheckError> {
    let number = |expr: &ast::Expr| match expression::constant(expr) {
        Some(number @ Literal::Number(_)) => Ok(number),
        _ => Err(not_supported("LIMIT or OFFSET that is no number")),
    };
    match clause {
        ast::LimitClause::LimitOffset { limit: Some(rows), offset, limit_by } if limit_by.is_empty() => {
            let skip = offset.as_ref().map(|offset| number(&offset.value)).transpose()?;
            Ok(Some(Limit { rows: number(rows)?, skip }))
        }
        ast::LimitClause::LimitOffset { limit: None, offset: None, limit_by } if limit_by.is_empty() => {
            Ok(None)
        }
        ast::LimitClause::OffsetCommaLimit { offset, limit } => {
            Ok(Some(Limit { rows: number(limit)?, skip: Some(number(offset)?) }))
        }
        ast::LimitClause::LimitOffset { .. } => Err(not_supported("OFFSET without LIMIT")),
    }
}

/// Clauses of other databases, and windows.
fn unusual_clause(select: &ast::Select) -> Option<&'static str> {
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

/// Where the condition of a join goes: to its left join, or to the rows as a whole.
fn join_condition<'s>(
    from: &'s mut [super::query::Source],
    source: Option<usize>,
    condition: &'s mut Option<Expr>,
) -> &'s mut Option<Expr> {
    match source {
        Some(source) => &mut from[source].left,
        None => condition,
    }
}

fn add_condition(condition: &mut Option<Expr>, more: Expr) {
    *condition = Some(match condition.take() {
        Some(earlier) => earlier.and(more),
        None => more,
    });
}
