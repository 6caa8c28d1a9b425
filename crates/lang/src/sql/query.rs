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
use super::operator::{Arithmetic, Cast, Comparison, SetOperator};
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
