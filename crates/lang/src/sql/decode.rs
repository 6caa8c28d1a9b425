//! From a program to its tree.
//!
//! The grammar has seen to types; what it cannot see is which tables are in `FROM`. A column of a
//! table that is not there becomes [`Expr::Unbound`], and running the query says so.

use super::literal::Literal;
use super::operator::SetOperator;
use super::query::{By, ColumnRef, Expr, Key, Limit, Output, Query, Relation, Select, Source};
use super::rules::{Op, Rules};
use super::schema::{ColumnId, Schema, TableId};
use super::scope::{Occurrence, Scope, field_names};
use super::symbols::{Meaning, Symbols};
use crate::{Action, Environment, Node};

/// How deep a program is followed; a deeper one is no query anybody asked for.
const MAX_DEPTH: u32 = 200;

pub(super) struct Decoder<'a> {
    pub(super) rules: &'a Rules,
    pub(super) schema: &'a Schema,
    pub(super) symbols: &'a Symbols,
    pub(super) environment: &'a dyn Environment,
    /// What the text calls outputs of a query in `FROM`.
    pub(super) output_prefix: &'a str,
    pub(super) depth: u32,
}

type Outer<'s> = Option<&'s Scope<'s>>;

impl Decoder<'_> {
    fn op(&self, node: Node<'_>) -> Option<Op> {
        match node.action() {
            Action::Rule(rule) => Some(self.rules.op(rule)),
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
            return nothing();
        }
        self.depth += 1;
        let op = self.op(node);
        let sorted = matches!(op, Some(Op::Order | Op::Top | Op::OrderOutputs | Op::TopOutputs));
        let query = if sorted || op == Some(Op::Limit) {
            let mut clauses = node.arguments();
            let mut query = clauses.next().map_or_else(nothing, |body| self.body(body, outer));
            match (op, sorted.then(|| clauses.next()).flatten()) {
                (Some(Op::Order | Op::Top), Some(order)) => {
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

    /// A select, or several combined, the operators first.
    fn body(&mut self, node: Node<'_>, outer: Outer<'_>) -> Query {
        let mut rest: Vec<(SetOperator, Select)> = Vec::new();
        let mut left = node;
        while let Some(Op::Set(operator)) = self.op(left) {
            let [body, select] = arguments(left);
            rest.push((operator, self.select(select, outer)));
            left = body;
        }
        rest.reverse();
        Query { first: self.select(left, outer), rest, order: vec![], limit: None }
    }

    fn select(&mut self, node: Node<'_>, outer: Outer<'_>) -> Select {
        let op = self.op(node);
        let mut clauses = node.arguments();
        let mut select = nothing().first;
        let rows = if op == Some(Op::Compute) { None } else { clauses.next() };
        let (from, condition) = match rows {
            Some(rows) if self.op(rows) == Some(Op::Where) => {
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
        if matches!(op, Some(Op::Group | Op::GroupHaving)) {
            select.group = clauses.next().map_or_else(Vec::new, |keys| self.list(keys, Op::AndKey, &scope));
        }
        if op == Some(Op::GroupHaving) {
            select.having = clauses.next().map(|condition| self.expr(condition, &scope));
        }
        if let Some(outputs) = clauses.next() {
            let mut list = outputs;
            if self.op(outputs) == Some(Op::Distinct) {
                select.distinct = true;
                [list] = arguments(outputs);
            }
            let outputs = self.chain(list, Op::AndOutput);
            select.outputs = outputs.into_iter().map(|output| self.output(output, &scope)).collect();
        }
        select
    }

    fn output(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Output {
        match self.op(node) {
            Some(Op::All) => Output::All,
            Some(Op::AllOf) => {
                let [mut table] = arguments(node);
                let mut again = 0;
                while self.op(table) == Some(Op::AgainTable) {
                    again += 1;
                    [table] = arguments(table);
                }
                let Some(Meaning::Table(id)) = self.meaning(table) else {
                    return Output::Expr(Expr::Unbound(None));
                };
                // Only the own list: SQL has no star for an outer one.
                let own = Scope { sources: scope.sources, outer: None };
                match own.find(Some(id), Occurrence { outer: 0, again }) {
                    Some((_, source)) => Output::AllOf(source),
                    None => Output::Expr(Expr::Unbound(None)),
                }
            }
            _ => Output::Expr(self.expr(node, scope)),
        }
    }

    fn from(&mut self, node: Node<'_>, outer: Outer<'_>) -> Vec<Source> {
        let mut sources = Vec::new();
        let mut conditions: Vec<(usize, Node<'_>)> = Vec::new();
        let mut rest = node;
        loop {
            match self.op(rest) {
                Some(Op::Join) => {
                    let [source, more] = arguments(rest);
                    sources.push(self.source(source, outer));
                    rest = more;
                }
                Some(Op::LeftJoin) => {
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
        for (place, condition) in conditions {
            let condition = self.expr(condition, &Scope { sources: &sources, outer });
            sources[place].left = Some(condition);
        }
        sources
    }

    fn source(&mut self, node: Node<'_>, outer: Outer<'_>) -> Source {
        let relation = match self.meaning(node) {
            Some(Meaning::Table(table)) => Relation::Table(table),
            _ => Relation::Query(Box::new(self.query(node, outer))),
        };
        Source { relation, left: None }
    }

    /// What a select is sorted by.
    fn order(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Vec<Key> {
        let keys = self.chain(node, Op::ThenBy).into_iter();
        keys.map(|key| {
            let descending = self.op(key) == Some(Op::Descending);
            let by = if descending { self.only(key, scope) } else { self.expr(key, scope) };
            Key { by: By::Expr(by), descending }
        })
        .collect()
    }

    /// What a compound is sorted by.
    fn output_order(&self, node: Node<'_>) -> Vec<Key> {
        let keys = self.chain(node, Op::ThenByOutput).into_iter();
        keys.map(|key| {
            let descending = self.op(key) == Some(Op::DescendingOutput);
            let [place] = if descending { arguments(key) } else { [key] };
            Key { by: By::Output(self.field(place)), descending }
        })
        .collect()
    }

    fn limit(&self, node: Node<'_>) -> Option<Limit> {
        if self.op(node) == Some(Op::Skip) {
            let [rows, skip] = arguments(node);
            return Some(Limit { rows: self.literal(rows)?, skip: self.literal(skip) });
        }
        Some(Limit { rows: self.literal(node)?, skip: None })
    }

    fn literal(&self, node: Node<'_>) -> Option<Literal> {
        Literal::from_symbol(self.symbol(node))
    }

    /// The place of an output, from 0.
    fn field(&self, node: Node<'_>) -> u32 {
        let mut place = 0;
        let mut rest = node;
        while self.op(rest) == Some(Op::NextField) {
            place += 1;
            [rest] = arguments(rest);
        }
        place
    }

    /// The elements of a list, `another` before each but the last.
    fn chain<'p>(&self, node: Node<'p>, another: Op) -> Vec<Node<'p>> {
        let mut elements = Vec::new();
        let mut rest = node;
        while self.op(rest) == Some(another) {
            let [element, more] = arguments(rest);
            elements.push(element);
            rest = more;
        }
        elements.push(rest);
        elements
    }

    fn list(&mut self, node: Node<'_>, another: Op, scope: &Scope<'_>) -> Vec<Expr> {
        self.chain(node, another).into_iter().map(|element| self.expr(element, scope)).collect()
    }

    fn expr(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        if self.depth > MAX_DEPTH {
            return Expr::Unbound(None);
        }
        self.depth += 1;
        let expr = self.expr_here(node, scope);
        self.depth -= 1;
        expr
    }

    fn expr_here(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let Some(op) = self.op(node) else {
            return match self.meaning(node) {
                Some(_) => self.column(node, scope),
                None => self.literal(node).map_or(Expr::Unbound(None), Expr::Literal),
            };
        };
        match op {
            Op::Again(_) | Op::Outer(_) => self.column(node, scope),
            Op::Field | Op::NextField | Op::AgainField | Op::OuterField => self.field_column(node, scope),
            Op::Null => Expr::Null,
            Op::CountRows => Expr::CountRows,
            Op::Negate => Expr::Negate(Box::new(self.only(node, scope))),
            Op::Cast(to) => Expr::Cast(to, Box::new(self.only(node, scope))),
            Op::Aggregate(aggregate) => Expr::Aggregate(aggregate, Box::new(self.only(node, scope))),
            Op::IsNull => Expr::IsNull(Box::new(self.only(node, scope))),
            Op::Not => Expr::Not(Box::new(self.only(node, scope))),
            // Values and conditions are one type in a tree.
            Op::Truth | Op::Holds => self.only(node, scope),
            Op::Arithmetic(operation) => Expr::Arithmetic(operation, self.all(node, scope)),
            Op::Compare(comparison, _) => Expr::Compare(comparison, self.all(node, scope)),
            Op::Case => Expr::Case(self.all(node, scope)),
            Op::Between(_) => Expr::Between(self.all(node, scope)),
            Op::Call(function) => {
                let arguments = node.arguments().map(|argument| self.expr(argument, scope)).collect();
                Expr::Call(function, arguments)
            }
            Op::InList(number) => {
                let [left, list] = arguments(node);
                let another = if number { Op::AndNumber } else { Op::AndElement };
                Expr::InList(Box::new(self.expr(left, scope)), self.list(list, another, scope))
            }
            Op::InQuery => {
                let [left, query] = arguments(node);
                let left = self.expr(left, scope);
                Expr::InQuery(Box::new(left), Box::new(self.query(query, Some(scope))))
            }
            Op::Exists => {
                let [query] = arguments(node);
                Expr::Exists(Box::new(self.query(query, Some(scope))))
            }
            Op::Like => Expr::Like(self.all(node, scope)),
            Op::Pattern(wildcards) => {
                let [inside] = arguments(node);
                match self.literal(inside) {
                    Some(Literal::Text(inside)) => Expr::Literal(wildcards.around(&inside)),
                    _ => Expr::Unbound(None),
                }
            }
            Op::And => Expr::And(self.list(node, Op::And, scope)),
            Op::Or => Expr::Or(self.list(node, Op::Or, scope)),
            _ => Expr::Query(Box::new(self.query(node, Some(scope)))),
        }
    }

    fn only(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let [argument] = arguments(node);
        self.expr(argument, scope)
    }

    fn all<const N: usize>(&mut self, node: Node<'_>, scope: &Scope<'_>) -> Box<[Expr; N]> {
        Box::new(arguments(node).map(|argument| self.expr(argument, scope)))
    }

    fn column(&self, node: Node<'_>, scope: &Scope<'_>) -> Expr {
        let mut at = Occurrence { outer: 0, again: 0 };
        let mut rest = node;
        while let Some(op) = self.op(rest) {
            match op {
                Op::Outer(_) => at.outer += 1,
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
            match self.op(rest) {
                Some(Op::OuterField) => at.outer += 1,
                Some(Op::AgainField) => at.again += 1,
                _ => break,
            }
            [rest] = arguments(rest);
        }
        let column = bind(None, at, self.field(rest), scope);
        // The text must have a name for it.
        let named = column.filter(|column| match scope.source(*column).map(|source| &source.relation) {
            Some(Relation::Query(query)) => {
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

/// The arguments of a rule that has `N` of them.
fn arguments<const N: usize>(node: Node<'_>) -> [Node<'_>; N] {
    let mut arguments = node.arguments();
    // A rule has as many arguments as its signature says, and a program was checked against that.
    std::array::from_fn(|_| arguments.next().expect("a rule has all of its arguments"))
}

/// What stands for a part of a program that is not followed.
fn nothing() -> Query {
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
