//! Operators, and what SQL calls them.

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
