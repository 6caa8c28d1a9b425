//! The operators of queries, and their names in SQL.

/// Defines an enum whose variants have a name in SQL.
macro_rules! named_in_sql {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// All variants. Their order is the order of grammar rules.
            pub(super) const ALL: &[$type] = &[$($type::$variant,)*];

            /// Returns the name in SQL.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }
    };
}

named_in_sql! {
    /// An operator that combines the rows of two selects.
    SetOperator {
        /// The rows of either, without duplicates.
        Union = "UNION",
        /// The rows of the first, and then those of the second.
        UnionAll = "UNION ALL",
        /// The rows that are in both, without duplicates.
        Intersect = "INTERSECT",
        /// The rows that are in the first only, without duplicates.
        Except = "EXCEPT",
    }
}

named_in_sql! {
    /// An operator that computes a value from two others.
    #[allow(missing_docs, reason = "the names say it")]
    ArithmeticOperator {
        Plus = "+",
        Minus = "-",
        Times = "*",
        Divide = "/",
        Modulo = "%",
        Concatenate = "||",
    }
}

named_in_sql! {
    /// The type in `CAST(value AS type)`. SQLite treats every type as one of these.
    #[allow(missing_docs, reason = "the names say it")]
    CastType {
        Integer = "INTEGER",
        Real = "REAL",
        Numeric = "NUMERIC",
        Text = "TEXT",
    }
}

named_in_sql! {
    /// An operator that compares two values.
    #[allow(missing_docs, reason = "the names say it")]
    ComparisonOperator {
        Equal = "=",
        NotEqual = "<>",
        Less = "<",
        Greater = ">",
        LessOrEqual = "<=",
        GreaterOrEqual = ">=",
    }
}

impl ComparisonOperator {
    /// Returns the operator for exchanged operands: `a < b` is `b > a`.
    pub(super) fn flipped(self) -> Self {
        use ComparisonOperator::*;
        match self {
            Less => Greater,
            Greater => Less,
            LessOrEqual => GreaterOrEqual,
            GreaterOrEqual => LessOrEqual,
            Equal | NotEqual => self,
        }
    }

    /// Returns the operator that is true where this one is false. Both are `NULL` for a `NULL` operand.
    pub(super) fn negated(self) -> Self {
        use ComparisonOperator::*;
        match self {
            Equal => NotEqual,
            NotEqual => Equal,
            Less => GreaterOrEqual,
            Greater => LessOrEqual,
            LessOrEqual => Greater,
            GreaterOrEqual => Less,
        }
    }
}
