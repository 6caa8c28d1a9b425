//! The syntax tree of queries: names are resolved, and equivalent texts mostly have the same tree.
//!
//! A tree has no aliases. A [`ColumnRef`] identifies a column by three numbers: which of the enclosing
//! `FROM` lists, which source of that list, which column of that source. Where SQL can express the same
//! thing in several ways, the reader picks one and the tree cannot hold the others:
//!
//! - an inner join is a comma and its condition part of `WHERE`, which is how SQLite treats it too;
//! - a column alias is replaced by its expression, and a position by the output at that position;
//! - `NOT a = b` is `a <> b`, and `a NOT IN …` is `NOT a IN …`; parentheses and unary plus are dropped;
//! - a constant is on the right of a comparison;
//! - `CASE` tests one condition, and its `ELSE` tests the next one.

use super::function::{Aggregate, ScalarFunction};
use super::literal::Literal;
use super::operator::{ArithmeticOperator, CastType, ComparisonOperator, SetOperator};
use super::schema::{ColumnId, TableId};

/// One `SELECT` statement: a select, or a compound of several, with `ORDER BY` and `LIMIT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The first select, and usually the only one.
    pub first: Select,
    /// The selects that are combined with it, from left to right.
    pub rest: Vec<(SetOperator, Select)>,
    /// The keys of `ORDER BY`.
    pub order: Vec<SortKey>,
    /// The `LIMIT` clause.
    pub limit: Option<Limit>,
}

/// One `SELECT … FROM … WHERE … GROUP BY … HAVING …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Whether duplicate rows are removed.
    pub distinct: bool,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// The sources in `FROM`.
    pub from: Vec<FromSource>,
    /// The condition in `WHERE`.
    pub condition: Option<Expr>,
    /// The keys of `GROUP BY`.
    pub group: Vec<Expr>,
    /// The condition in `HAVING`. Only a select with `group` has one.
    pub having: Option<Expr>,
}

/// An output of a select.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// `*`: all columns of all sources.
    All,
    /// `t.*`: all columns of one source, by its index in `FROM`.
    AllOf(u32),
    /// An expression.
    Expr(Expr),
}

/// A source in `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub struct FromSource {
    /// A table or a query.
    pub kind: SourceKind,
    /// The condition, if this source is left-joined to the ones before it.
    pub left_join: Option<Expr>,
}

/// The kind of a source in `FROM`.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A table.
    Table(TableId),
    /// Another query.
    Query(Box<Query>),
}

/// A key of `ORDER BY`.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The value to sort by.
    pub by: SortBy,
    /// Whether the greatest value comes first.
    pub descending: bool,
}

/// A value to sort by.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// An expression, in a query with one select.
    Expr(Expr),
    /// An output by its index, in a compound of several selects.
    Output(u32),
}

/// A `LIMIT` clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The number of rows to return.
    pub rows: Literal,
    /// The number of rows to skip before them.
    pub offset: Option<Literal>,
}

/// Identifies a column among the sources that an expression can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnRef {
    /// The number of the enclosing `FROM` list; 0 is the nearest.
    pub scope: u32,
    /// The index of the source in that list.
    pub source: u32,
    /// The index of the column in that table, or of the output of that query.
    pub column: u32,
}

/// A value or a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A column of a source.
    Column(ColumnRef),
    /// A column whose table is not in `FROM`. A program can contain one, but SQL cannot run it.
    Unbound(Option<ColumnId>),
    /// A constant.
    Literal(Literal),
    /// `NULL`
    Null,
    /// `- a`, where `a` is not a constant.
    Negate(Box<Expr>),
    /// `a + b`
    Arithmetic(ArithmeticOperator, Box<[Expr; 2]>),
    /// `CAST(a AS …)`
    Cast(CastType, Box<Expr>),
    /// `f(a, …)`
    Call(ScalarFunction, Vec<Expr>),
    /// `COUNT(*)`
    CountRows,
    /// `SUM(a)`
    Aggregate(Aggregate, Box<Expr>),
    /// `CASE WHEN a THEN b ELSE c END`
    Case(Box<[Expr; 3]>),
    /// The first value of a query's first row.
    Query(Box<Query>),
    /// `a = b`
    Compare(ComparisonOperator, Box<[Expr; 2]>),
    /// `a LIKE b`
    Like(Box<[Expr; 2]>),
    /// `a BETWEEN b AND c`
    Between(Box<[Expr; 3]>),
    /// `a IN (b, …)`, where the elements are constants and columns.
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
    /// `NOT a`, where `a` is not a comparison.
    Not(Box<Expr>),
}

impl Query {
    /// Returns the selects, from left to right.
    pub fn selects(&self) -> impl Iterator<Item = &Select> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, select)| select))
    }
}

impl Expr {
    /// Returns whether the expression is a condition by its form, so that it is true, false or `NULL`.
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

    /// Returns `self AND other`, with nested `And`s merged.
    pub(super) fn and(self, other: Expr) -> Expr {
        let conjuncts = |expr| match expr {
            Expr::And(all) => all,
            other => vec![other],
        };
        let mut all = conjuncts(self);
        all.extend(conjuncts(other));
        Expr::And(all)
    }

    /// Returns `self OR other`, with nested `Or`s merged.
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
