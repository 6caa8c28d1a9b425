//! The abstract syntax of queries: names resolved, and one tree for each meaning where that costs nothing.
//!
//! A tree has no aliases. A column is found by counting ([`ColumnRef`]): which of the enclosing
//! `FROM` lists, which source there, which column of that. Where the same thing can be said in several ways the
//! reader picks one and the tree cannot hold the others:
//!
//! - an inner join is a comma and its condition part of `WHERE`, which is how SQLite sees it too;
//! - a column alias is replaced by what it stands for, a position by the output it counts to;
//! - `NOT a = b` is `a <> b`, `a NOT IN …` is `NOT a IN …`; parentheses and unary plus vanish;
//! - a constant stands on the right of a comparison;
//! - `CASE` tests one condition, and the next in its `ELSE`.

use super::function::{Aggregate, Function};
use super::literal::Literal;
use super::schema::{ColumnId, TableId};

/// One `SELECT` statement: a query, or several combined, with their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The first (mostly the only) part.
    pub first: Select,
    /// What is combined with it, from left to right.
    pub rest: Vec<(SetOperator, Select)>,
    /// What rows are sorted by.
    pub order: Vec<Key>,
    /// How many rows are wanted.
    pub limit: Option<Limit>,
}

/// One part of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Whether equal rows are given once.
    pub distinct: bool,
    /// What is given of each row or group.
    pub outputs: Vec<Output>,
    /// Where rows come from.
    pub from: Vec<Source>,
    /// Which rows.
    pub condition: Option<Expr>,
    /// What rows are grouped by.
    pub group: Vec<Expr>,
    /// Which groups; only with `group`.
    pub having: Option<Expr>,
}

/// How two parts are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOperator {
    /// Rows of either, each once.
    Union,
    /// Rows of both, one after the other.
    UnionAll,
    /// Rows in both.
    Intersect,
    /// Rows in the first only.
    Except,
}

/// What is given of each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// All columns of all sources.
    All,
    /// All columns of one source, by its place in `FROM`.
    AllOf(u32),
    /// A value.
    Expr(Expr),
}

/// Something in `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What it is.
    pub relation: Relation,
    /// For a left join to what comes before, its condition.
    pub left: Option<Expr>,
}

/// Where rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// A table.
    Table(TableId),
    /// Another query.
    Query(Box<Query>),
}

/// What rows are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The value.
    pub by: By,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// A value to sort by.
#[derive(Clone, Debug, PartialEq)]
pub enum By {
    /// Any value, if the query has one part.
    Expr(Expr),
    /// An output by its place, from 0, if it has several.
    Output(u32),
}

/// How many rows are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// So many.
    pub rows: Literal,
    /// After so many others.
    pub skip: Option<Literal>,
}

/// Where a column is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// In which enclosing `FROM`: 0 is the nearest.
    pub scope: u32,
    /// In which source there.
    pub source: u32,
    /// Which column of the table, or which output of the query.
    pub column: u32,
}

/// A value or a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A column of a source.
    Column(ColumnRef),
    /// A column of nothing in `FROM`: a program can say it, SQL cannot run it.
    Unbound(Option<ColumnId>),
    /// A constant.
    Literal(Literal),
    /// `NULL`
    Null,
    /// `- a`, where `a` is no constant.
    Negate(Box<Expr>),
    /// `a + b`
    Arithmetic(Arithmetic, Box<[Expr; 2]>),
    /// `CAST(a AS …)`
    Cast(Cast, Box<Expr>),
    /// `f(a, …)`
    Call(Function, Vec<Expr>),
    /// `COUNT(*)`
    CountRows,
    /// `SUM(a)`
    Aggregate(Aggregate, Box<Expr>),
    /// `CASE WHEN a THEN b ELSE c END`
    Case(Box<[Expr; 3]>),
    /// The first value of a query.
    Query(Box<Query>),
    /// `a = b`
    Compare(Comparison, Box<[Expr; 2]>),
    /// `a LIKE b`
    Like(Box<[Expr; 2]>),
    /// `a BETWEEN b AND c`
    Between(Box<[Expr; 3]>),
    /// `a IN (b, …)`, the elements constants and columns.
    InList(Box<Expr>, Vec<Expr>),
    /// `a IN (SELECT …)`
    InQuery(Box<Expr>, Box<Query>),
    /// `EXISTS (SELECT …)`
    Exists(Box<Query>),
    /// `a IS NULL`
    IsNull(Box<Expr>),
    /// Two or more conditions, none of them an `And`.
    And(Vec<Expr>),
    /// Two or more conditions, none of them an `Or`.
    Or(Vec<Expr>),
    /// A condition that does not hold; never a comparison.
    Not(Box<Expr>),
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Arithmetic {
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    /// `||`
    Concatenate,
}

/// What a value is cast to; SQLite knows no more types than these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Cast {
    Integer,
    Real,
    Numeric,
    Text,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
}

impl SetOperator {
    pub(super) const ALL: [SetOperator; 4] =
        [SetOperator::Union, SetOperator::UnionAll, SetOperator::Intersect, SetOperator::Except];

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            SetOperator::Union => "UNION",
            SetOperator::UnionAll => "UNION ALL",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
        }
    }
}

impl Arithmetic {
    pub(super) const ALL: [Arithmetic; 6] = {
        use Arithmetic::*;
        [Plus, Minus, Times, Divide, Modulo, Concatenate]
    };

    /// Its sign in SQL.
    pub fn sign(self) -> &'static str {
        match self {
            Arithmetic::Plus => "+",
            Arithmetic::Minus => "-",
            Arithmetic::Times => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
            Arithmetic::Concatenate => "||",
        }
    }
}

impl Cast {
    pub(super) const ALL: [Cast; 4] = [Cast::Integer, Cast::Real, Cast::Numeric, Cast::Text];

    /// The name of the type in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Cast::Integer => "INTEGER",
            Cast::Real => "REAL",
            Cast::Numeric => "NUMERIC",
            Cast::Text => "TEXT",
        }
    }
}

impl Comparison {
    pub(super) const ALL: [Comparison; 6] = {
        use Comparison::*;
        [Equal, NotEqual, Less, Greater, LessOrEqual, GreaterOrEqual]
    };

    /// Its sign in SQL.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::Greater => ">",
            Comparison::LessOrEqual => "<=",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// The same with its sides exchanged.
    pub(super) fn flipped(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::Greater => Comparison::Less,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }

    /// The one that holds when this one does not (and nothing is `NULL`).
    pub(super) fn negated(self) -> Self {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }
}

impl Query {
    /// Its parts, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &Select> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, select)| select))
    }
}

impl Expr {
    /// Whether it is a condition by its form: it is true, false or `NULL`.
    pub fn is_condition(&self) -> bool {
        matches!(
            self,
            Expr::Compare(..)
                | Expr::Like(..)
                | Expr::Between(..)
                | Expr::InList(..)
                | Expr::InQuery(..)
                | Expr::Exists(..)
                | Expr::IsNull(..)
                | Expr::And(..)
                | Expr::Or(..)
                | Expr::Not(..)
        )
    }

    /// Both, in the form the tree has for it.
    pub(super) fn and(self, other: Expr) -> Expr {
        let (mut all, more) = (self.conjuncts(), other.conjuncts());
        all.extend(more);
        Expr::And(all)
    }

    fn conjuncts(self) -> Vec<Expr> {
        match self {
            Expr::And(all) => all,
            other => vec![other],
        }
    }

    /// Either, in the form the tree has for it.
    pub(super) fn or(self, other: Expr) -> Expr {
        let disjuncts = |expr| match expr {
            Expr::Or(all) => all,
            other => vec![other],
        };
        let mut all = disjuncts(self);
        all.extend(disjuncts(other));
        Expr::Or(all)
    }
}

impl Query {
    /// Shows `visit` every query, this one first.
    pub(super) fn visit_queries(&self, visit: &mut dyn FnMut(&Query)) {
        visit(self);
        for select in self.parts() {
            for source in &select.from {
                if let Relation::Query(query) = &source.relation {
                    query.visit_queries(visit);
                }
            }
        }
        self.visit_own(&mut |expr| {
            if let Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) = expr {
                query.visit_queries(visit);
            }
        });
    }

    /// Shows `visit` every expression of this query, not of queries inside it.
    fn visit_own(&self, visit: &mut dyn FnMut(&Expr)) {
        for select in self.parts() {
            let outputs = select.outputs.iter().filter_map(|output| match output {
                Output::Expr(expr) => Some(expr),
                _ => None,
            });
            let joins = select.from.iter().filter_map(|source| source.left.as_ref());
            let all =
                joins.chain(&select.condition).chain(&select.group).chain(&select.having).chain(outputs);
            all.for_each(|expr| expr.visit(visit));
        }
        for key in &self.order {
            if let By::Expr(expr) = &key.by {
                expr.visit(visit);
            }
        }
    }

    /// The literals a program for this query points to, each once, in the order of the text.
    ///
    /// A pattern `%x%` of `LIKE` points to `x`, for that is what a question says.
    pub fn literals(&self) -> Vec<Literal> {
        let mut found: Vec<Literal> = Vec::new();
        let mut add = |literal: Literal| {
            if !found.contains(&literal) {
                found.push(literal);
            }
        };
        self.visit_queries(&mut |query| {
            query.visit_own(&mut |expr| match expr {
                Expr::Literal(literal) => add(literal.clone()),
                Expr::Like(sides) => match (Wildcards::of(&sides[1]), &sides[1]) {
                    (Some((_, inside)), _) => add(inside),
                    (None, Expr::Literal(literal)) => add(literal.clone()),
                    _ => {}
                },
                _ => {}
            });
            if let Some(limit) = &query.limit {
                add(limit.rows.clone());
                limit.skip.iter().for_each(|skip| add(skip.clone()));
            }
        });
        found
    }
}

/// Where a pattern of `LIKE` has its percent signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wildcards {
    /// `%x%`
    Contains,
    /// `x%`
    StartsWith,
    /// `%x`
    EndsWith,
}

impl Wildcards {
    pub(super) const ALL: [Wildcards; 3] = [Wildcards::Contains, Wildcards::StartsWith, Wildcards::EndsWith];

    /// Takes a pattern apart; none if it is no constant, or has no percent sign at an end.
    pub(super) fn of(pattern: &Expr) -> Option<(Wildcards, Literal)> {
        let Expr::Literal(Literal::Text(text)) = pattern else { return None };
        let (kind, inside) = match (text.strip_prefix('%'), text.strip_suffix('%')) {
            (Some(rest), Some(_)) => (Wildcards::Contains, rest.strip_suffix('%')?),
            (None, Some(start)) => (Wildcards::StartsWith, start),
            (Some(end), None) => (Wildcards::EndsWith, end),
            (None, None) => return None,
        };
        (!inside.is_empty()).then(|| (kind, Literal::text(inside)))
    }

    /// Puts it together again.
    pub(super) fn around(self, inside: &str) -> Literal {
        Literal::Text(match self {
            Wildcards::Contains => format!("%{inside}%"),
            Wildcards::StartsWith => format!("{inside}%"),
            Wildcards::EndsWith => format!("%{inside}"),
        })
    }
}

impl Expr {
    /// Shows `visit` this expression and those inside it, outermost first; not those of queries inside,
    /// and not the constant pattern of a `LIKE`, which is more than a literal.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Column(_)
            | Expr::Unbound(_)
            | Expr::Literal(_)
            | Expr::Null
            | Expr::CountRows
            | Expr::Query(_)
            | Expr::Exists(_) => {}
            Expr::Negate(expr)
            | Expr::Cast(_, expr)
            | Expr::Aggregate(_, expr)
            | Expr::IsNull(expr)
            | Expr::Not(expr)
            | Expr::InQuery(expr, _) => expr.visit(visit),
            Expr::Arithmetic(_, sides) | Expr::Compare(_, sides) => {
                sides.iter().for_each(|side| side.visit(visit));
            }
            Expr::Like(sides) => {
                sides[0].visit(visit);
                if !matches!(sides[1], Expr::Literal(_)) {
                    sides[1].visit(visit);
                }
            }
            Expr::Case(parts) | Expr::Between(parts) => parts.iter().for_each(|part| part.visit(visit)),
            Expr::InList(expr, list) => {
                expr.visit(visit);
                list.iter().for_each(|element| element.visit(visit));
            }
            Expr::Call(_, parts) | Expr::And(parts) | Expr::Or(parts) => {
                parts.iter().for_each(|part| part.visit(visit));
            }
        }
    }
}
