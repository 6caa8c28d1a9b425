//! Converts programs to syntax trees.
//!
//! The grammar ensures that types are right, but not that the table of every column is in `FROM`. A column whose table
//! is missing becomes [`Expr::Unbound`], and running the query reports it.

use super::literal::Literal;
use super::operator::SetOperator;
use super::query::{ColumnRef, Expr, FromSource, Limit, Output, Query, Select, SortBy, SortKey, SourceKind};
use super::rules::{SqlRule, SqlRules};
use super::schema::{ColumnId, Schema, TableId};
use super::scope::{Occurrence, Scope, field_names};
use super::symbols::{Meaning, Symbols};
use crate::{Action, Environment, Node};

/// The depth limit. Deeper parts of a program are dropped, which bounds the stack; real queries are not that deep.
const MAX_DEPTH: u32 = 200;

/// Builds the syntax tree of a program.
pub(super) struct QueryDecoder<'a> {
    pub(super) rules: &'a SqlRules,
    pub(super) schema: &'a Schema,
    pub(super) symbols: &'a Symbols,
    pub(super) environment: &'a dyn Environment,
    /// The prefix of generated names; see [`field_names`].
    pub(super) output_prefix: &'a str,
    pub(super) depth: u32,
}

type Outer<'s> = Option<&'s Scope<'s>>;

impl QueryDecoder<'_> {
    fn rule(&self, node: Node<'_>) -> Option<SqlRule> {
        match node.action() {
            Action::Rule(rule) => Some(self.rules.rule(rule)),
            Action::Item(_) => None,
        }
    }

    fn symbol(&self, node: Node<'_>) -> &str {
        match node.action() {
            Action::Item(item) => &self.environment.items()[item.index()].symbol,
            Action::Rule(_) => "",
        }
    }

    fn meaning(&self, node: Node<'_>) -> Option<Meaning> {
        self.symbols.meaning(self.symbol(node))
    }

    pub(super) fn query(&mut self, node: Node<'_>, outer: Outer<'_>) -> Query {
        if self.depth > MAX_DEPTH {
            return empty_query();
        }
        self.depth += 1;
        let rule = self.rule(node);
        let sorted =
            matches!(rule, Some(SqlRule::Order | SqlRule::Top | SqlRule::OrderOutputs | SqlRule::TopOutputs));
        let query = if sorted || rule == Some(SqlRule::Limit) {
            let mut clauses = node.arguments();
            let mut query = clauses.next().map_or_else(empty_query, |body| self.body(body, outer));
            match (rule, sorted.then(|| clauses.next()).flatten()) {
                (Some(SqlRule::Order | SqlRule::Top), Some(order)) => {
                    query.order = self.order(order, &Scope { sources: &query.first.from, outer });
                }
                (_, Some(order)) => query.order = self.output_order(order),
                (_, None) => {}
            }
            query.limit = clauses.next().and_then(|limit| self.limit(limit));
            query
        } else {
            self.body(node, outer)
        };
        self.depth -= 1;
        query
    }

    /// Decodes a select or a compound. The actions of a compound are its operators, last first, and then its selects.
    fn body(&mut self, node: Node<'_>, outer: Outer<'_>) -> Query {
        let mut rest: Vec<(SetOperator, Select)> = Vec::new();
        let mut left = node;
        while let Some(SqlRule::Set(operator)) = self.rule(left) {
            let [body, select] = arguments(left);
            rest.push((operator, self.select(select, outer)));
            left = body;
        }
        rest.reverse();
        Query { first: self.select(left, outer), rest, order: vec![], limit: None }
    }

    fn select(&mut self, node: Node<'_>, outer: Outer<'_>) -> Select {
        let rule = self.rule(node);
        let mut clauses = node.arguments();
        let mut select = empty_query().first;
        let rows = if rule == Some(SqlRule::Compute) { None } else { clauses.next() };
        let (from, condition) = match rows {
            Some(rows) if self.rule(rows) == Some(SqlRule::Where) => {
                let [from, condition] = arguments(rows);
                (Some(from), Some(condition))
            }
            from => (from, None),
        };
        if let Some(from) = from {
            select.from = self.from(from, outer);
        }
        let scope = Scope { sources: &select.from, outer };
        select.condition = condition.map(|condition| self.expr(condition, &scope));
        if matches!(rule, Some(SqlRule::Group | SqlRule::GroupHaving)) {
            select.group =
                clauses.next().map_or_else(Vec::new, |keys| self.list(keys, SqlRule::AndKey, &scope));
        }
        if rule == Some(SqlRule::GroupHaving) {
            select.having = clauses.next().map(|condition| self.expr(condition, &scope));
        }
        if let Some(outputs) = clauses.next() {
            let mut list = outputs;
            if self.rule(outputs) == Some(SqlRule::Distinct) {
                select.distinct = true;
                [list] = arguments(outputs);
            }
            let outputs = self.chain(list, SqlRule::AndOutput);
            select.outputs = outputs.into_iter().map(|output| self.output(output, &scope)).collect();
        }
        select
    }

    fn output(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Output {
        match self.rule(node) {
            Some(SqlRule::All) => Output::All,
            Some(SqlRule::AllOf) => {
                let [mut table] = arguments(node);
                let mut again = 0;
                while self.rule(table) == Some(SqlRule::AgainTable) {
                    again += 1;
                    [table] = arguments(table);
                }
                let Some(Meaning::Table(id)) = self.meaning(table) else {
                    return Output::Expr(Expr::Unbound(None));
                };
                // Only the nearest list: SQL has no star for the tables of an outer one.
                let nearest = Scope { sources: scope.sources, outer: None };
                match nearest.find(Some(id), Occurrence { outer: 0, again }) {
                    Some((_, source)) => Output::AllOf(source),
                    None => Output::Expr(Expr::Unbound(None)),
                }
            }
            _ => Output::Expr(self.expr(node, scope)),
        }
    }

    fn from(&mut self, node: Node<'_>, outer: Outer<'_>) -> Vec<FromSource> {
        let mut sources = Vec::new();
        let mut conditions: Vec<(usize, Node<'_>)> = Vec::new();
        let mut rest = node;
        loop {
            match self.rule(rest) {
                Some(SqlRule::Join) => {
                    let [source, more] = arguments(rest);
                    sources.push(self.source(source, outer));
                    rest = more;
                }
                Some(SqlRule::LeftJoin) => {
                    let [source, more, condition] = arguments(rest);
                    sources.push(self.source(source, outer));
                    conditions.push((sources.len(), condition));
                    rest = more;
                }
                _ => {
                    sources.push(self.source(rest, outer));
                    break;
                }
            }
        }
        for (source, condition) in conditions {
            let condition = self.expr(condition, &Scope { sources: &sources, outer });
            sources[source].left_join = Some(condition);
        }
        sources
    }

    fn source(&mut self, node: Node<'_>, outer: Outer<'_>) -> FromSource {
        let kind = match self.meaning(node) {
            Some(Meaning::Table(table)) => SourceKind::Table(table),
            _ => SourceKind::Query(Box::new(self.query(node, outer))),
        };
        FromSource { kind, left_join: None }
    }

    /// Decodes the sort keys of a query with one select.
    fn order(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Vec<SortKey> {
        let keys = self.chain(node, SqlRule::ThenBy).into_iter();
        keys.map(|key| {
            let descending = self.rule(key) == Some(SqlRule::Descending);
            let by = if descending { self.only_argument(key, scope) } else { self.expr(key, scope) };
            SortKey { by: SortBy::Expr(by), descending }
        })
        .collect()
    }

    /// Decodes the sort keys of a compound.
    fn output_order(&self, node: Node<'_>) -> Vec<SortKey> {
        let keys = self.chain(node, SqlRule::ThenByOutput).into_iter();
        keys.map(|key| {
            let descending = self.rule(key) == Some(SqlRule::DescendingOutput);
            let [output] = if descending { arguments(key) } else { [key] };
            SortKey { by: SortBy::Output(self.field(output)), descending }
        })
        .collect()
    }

    fn limit(&self, node: Node<'_>) -> Option<Limit> {
        if self.rule(node) == Some(SqlRule::Offset) {
            let [rows, offset] = arguments(node);
            return Some(Limit { rows: self.literal(rows)?, offset: self.literal(offset) });
        }
        Some(Limit { rows: self.literal(node)?, offset: None })
    }

    fn literal(&self, node: Node<'_>) -> Option<Literal> {
        Literal::from_symbol(self.symbol(node))
    }

    /// Returns the index of an output.
    fn field(&self, node: Node<'_>) -> u32 {
        let mut index = 0;
        let mut rest = node;
        while self.rule(rest) == Some(SqlRule::NextField) {
            index += 1;
            [rest] = arguments(rest);
        }
        index
    }

    /// Returns the elements of a list, which has `another` before each element but the last.
    fn chain<'p>(&self, node: Node<'p>, another: SqlRule) -> Vec<Node<'p>> {
        let mut elements = Vec::new();
        let mut rest = node;
        while self.rule(rest) == Some(another) {
            let [element, more] = arguments(rest);
            elements.push(element);
            rest = more;
        }
        elements.push(rest);
        elements
    }

    fn list(&mut self, node: Node<'_>, another: SqlRule, scope: &Scope<'_>) -> Vec<Expr> {
        self.chain(node, another).into_iter().map(|element| self.expr(element, scope)).collect()
    }

    fn expr(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        if self.depth > MAX_DEPTH {
            return Expr::Unbound(None);
        }
        self.depth += 1;
        let expr = self.expr_unbounded(node, scope);
        self.depth -= 1;
        expr
    }

    /// Does what [`QueryDecoder::expr`] does, without the depth limit at this level.
    fn expr_unbounded(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let Some(rule) = self.rule(node) else {
            return match self.meaning(node) {
                Some(_) => self.column(node, scope),
                None => self.literal(node).map_or(Expr::Unbound(None), Expr::Literal),
            };
        };
        match rule {
            SqlRule::Again(_) | SqlRule::Outer(_) => self.column(node, scope),
            SqlRule::Field | SqlRule::NextField | SqlRule::AgainField | SqlRule::OuterField => {
                self.field_column(node, scope)
            }
            SqlRule::Null => Expr::Null,
            SqlRule::CountRows => Expr::CountRows,
            SqlRule::Negate => Expr::Negate(Box::new(self.only_argument(node, scope))),
            SqlRule::Cast(to) => Expr::Cast(to, Box::new(self.only_argument(node, scope))),
            SqlRule::Aggregate(aggregate) => {
                Expr::Aggregate(aggregate, Box::new(self.only_argument(node, scope)))
            }
            SqlRule::IsNull => Expr::IsNull(Box::new(self.only_argument(node, scope))),
            SqlRule::Not => Expr::Not(Box::new(self.only_argument(node, scope))),
            // A tree does not distinguish values from conditions.
            SqlRule::Truth | SqlRule::Holds => self.only_argument(node, scope),
            SqlRule::Arithmetic(operation) => Expr::Arithmetic(operation, self.all_arguments(node, scope)),
            SqlRule::Compare(comparison, _) => Expr::Compare(comparison, self.all_arguments(node, scope)),
            SqlRule::Case => Expr::Case(self.all_arguments(node, scope)),
            SqlRule::Between(_) => Expr::Between(self.all_arguments(node, scope)),
            SqlRule::Call(function) => {
                let arguments = node.arguments().map(|argument| self.expr(argument, scope)).collect();
                Expr::Call(function, arguments)
            }
            SqlRule::InList(number) => {
                let [left, list] = arguments(node);
                let another = if number { SqlRule::AndNumber } else { SqlRule::AndElement };
                Expr::InList(Box::new(self.expr(left, scope)), self.list(list, another, scope))
            }
            SqlRule::InQuery => {
                let [left, query] = arguments(node);
                let left = self.expr(left, scope);
                Expr::InQuery(Box::new(left), Box::new(self.query(query, Some(scope))))
            }
            SqlRule::Exists => {
                let [query] = arguments(node);
                Expr::Exists(Box::new(self.query(query, Some(scope))))
            }
            SqlRule::Like => Expr::Like(self.all_arguments(node, scope)),
            SqlRule::Pattern(wildcards) => {
                let [inside] = arguments(node);
                match self.literal(inside) {
                    Some(Literal::Text(inside)) => Expr::Literal(wildcards.around(&inside)),
                    _ => Expr::Unbound(None),
                }
            }
            SqlRule::And => Expr::And(self.list(node, SqlRule::And, scope)),
            SqlRule::Or => Expr::Or(self.list(node, SqlRule::Or, scope)),
            _ => Expr::Query(Box::new(self.query(node, Some(scope)))),
        }
    }

    /// Decodes the only argument of a rule.
    fn only_argument(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let [argument] = arguments(node);
        self.expr(argument, scope)
    }

    /// Decodes the `N` arguments of a rule.
    fn all_arguments<const N: usize>(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Box<[Expr; N]> {
        Box::new(arguments(node).map(|argument| self.expr(argument, scope)))
    }

    fn column(&self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let mut at = Occurrence { outer: 0, again: 0 };
        let mut rest = node;
        while let Some(rule) = self.rule(rest) {
            match rule {
                SqlRule::Outer(_) => at.outer += 1,
                _ => at.again += 1,
            }
            [rest] = arguments(rest);
        }
        let Some(Meaning::Column(id)) = self.meaning(rest) else { return Expr::Unbound(None) };
        let ColumnId { table, column } = id;
        bind(Some(table), at, column, scope).map_or(Expr::Unbound(Some(id)), Expr::Column)
    }

    fn field_column(&self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let mut at = Occurrence { outer: 0, again: 0 };
        let mut rest = node;
        loop {
            match self.rule(rest) {
                Some(SqlRule::OuterField) => at.outer += 1,
                Some(SqlRule::AgainField) => at.again += 1,
                _ => break,
            }
            [rest] = arguments(rest);
        }
        let column = bind(None, at, self.field(rest), scope);
        // The text can only refer to an output that has a name.
        let named = column.filter(|column| match scope.source(*column).map(|source| &source.kind) {
            Some(SourceKind::Query(query)) => {
                let names = field_names(query, self.schema, self.output_prefix);
                names.get(column.column as usize).is_some_and(Option::is_some)
            }
            _ => false,
        });
        named.map_or(Expr::Unbound(None), Expr::Column)
    }
}

fn bind(table: Option<TableId>, at: Occurrence, column: u32, scope: &Scope<'_>) -> Option<ColumnRef> {
    let (scope, source) = scope.find(table, at)?;
    Some(ColumnRef { scope, source, column })
}

/// Returns the arguments of a rule that has `N` of them.
fn arguments<const N: usize>(node: Node<'_>) -> [Node<'_>; N] {
    let mut arguments = node.arguments();
    // Cannot fail: a program has as many arguments as the signature of each rule says.
    std::array::from_fn(|_| arguments.next().expect("a rule has all of its arguments"))
}

/// Returns a query without outputs, for a part of a program that is dropped.
fn empty_query() -> Query {
    let first = Select {
        distinct: false,
        outputs: vec![],
        from: vec![],
        condition: None,
        group: vec![],
        having: None,
    };
    Query { first, rest: vec![], order: vec![], limit: None }
}
