//! What is known of a value before it is computed, and which uses of it are certainly mistakes.
//!
//! SQLite compares anything with anything, columns hold what their type does not promise, and people write
//! numbers in quotes. So little is forbidden: a number beside a word, sums of text, arithmetic with words. The grammar has
//! the same rules as types, and [`super::check()`] reports them.

use super::function::Sort;
use super::literal::LiteralKind;
use super::operator::Arithmetic;
use super::query::{By, Expr, Output, Query, Relation};
use super::schema::{ColumnType, Schema};
use super::scope::Scope;

/// What a value is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A number that is computed or in a column.
    Number,
    /// Text that is computed or in a column.
    Text,
    /// Anything that is computed or in a column.
    Loose,
    /// A constant.
    Literal(LiteralKind),
}

impl Class {
    pub(super) fn of(expr: &Expr, scope: &Scope<'_>, schema: &Schema) -> Class {
        let of_sort = |sort: Sort| match sort {
            Sort::Number => Class::Number,
            Sort::Text => Class::Text,
            Sort::Any => Class::Loose,
        };
        match expr {
            Expr::Column(column) => scope.column_type(*column, schema).map_or(Class::Loose, Class::of_column),
            Expr::Unbound(Some(column)) => Class::of_column(schema.column(*column).ty),
            Expr::Literal(literal) => Class::Literal(literal.kind()),
            Expr::Arithmetic(Arithmetic::Concatenate, _) => Class::Text,
            Expr::Negate(_) | Expr::Arithmetic(..) | Expr::CountRows => Class::Number,
            Expr::Cast(to, _) => match to {
                super::operator::Cast::Text => Class::Text,
                _ => Class::Number,
            },
            Expr::Call(function, _) => of_sort(function.result()),
            Expr::Aggregate(aggregate, _) => of_sort(aggregate.result()),
            _ => Class::Loose,
        }
    }

    pub(super) fn of_column(ty: ColumnType) -> Class {
        match ty {
            ColumnType::Number => Class::Number,
            ColumnType::Text => Class::Text,
            ColumnType::Time | ColumnType::Boolean | ColumnType::Other => Class::Loose,
        }
    }

    fn is_word(self) -> bool {
        self == Class::Literal(LiteralKind::Word)
    }
}

/// The first use of a value that is certainly a mistake.
pub(super) fn mistake(query: &Query, outer: Option<&Scope<'_>>, schema: &Schema) -> Option<String> {
    let mut found = None;
    let mut look = |expr: &Expr, scope: &Scope<'_>| {
        expr.visit(&mut |expr| {
            if found.is_none() {
                found = match expr {
                    Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) => {
                        mistake(query, Some(scope), schema)
                    }
                    other => misuse(other, scope, schema),
                };
            }
        });
    };
    for (index, select) in query.parts().enumerate() {
        let scope = Scope { sources: &select.from, outer };
        for source in &select.from {
            source.left.iter().for_each(|condition| look(condition, &scope));
        }
        let exprs = select.condition.iter().chain(&select.group).chain(&select.having);
        exprs.for_each(|expr| look(expr, &scope));
        for output in &select.outputs {
            if let Output::Expr(expr) = output {
                look(expr, &scope);
            }
        }
        for key in query.order.iter().filter(|_| index == 0) {
            if let By::Expr(expr) = &key.by {
                look(expr, &scope);
            }
        }
    }
    let in_from = || {
        query.parts().flat_map(|select| &select.from).find_map(|source| match &source.relation {
            Relation::Query(query) => mistake(query, outer, schema),
            Relation::Table(_) => None,
        })
    };
    found.or_else(in_from)
}

/// What is wrong with the operands of one operation.
fn misuse(expr: &Expr, scope: &Scope<'_>, schema: &Schema) -> Option<String> {
    let class = |expr: &Expr| Class::of(expr, scope, schema);
    let beside = |left: &Expr, right: &Expr| {
        (class(left) == Class::Number && class(right).is_word())
            .then(|| format!("a number is compared with {}", said(right)))
    };
    match expr {
        Expr::Compare(_, sides) => beside(&sides[0], &sides[1]),
        Expr::Between(parts) => beside(&parts[0], &parts[1]).or_else(|| beside(&parts[0], &parts[2])),
        Expr::InList(left, list) => list.iter().find_map(|element| beside(left, element)),
        Expr::Aggregate(aggregate, argument) if aggregate.adds() => match class(argument) {
            Class::Number | Class::Loose | Class::Literal(LiteralKind::Number) => None,
            _ => Some(format!("{} of text", aggregate.name())),
        },
        Expr::Arithmetic(operation, sides) if *operation != Arithmetic::Concatenate => sides
            .iter()
            .find(|side| class(side).is_word())
            .map(|side| format!("`{}` of {}", operation.sign(), said(side))),
        Expr::Call(function, arguments) => function
            .arguments()
            .iter()
            .zip(arguments)
            .find(|(sort, argument)| **sort == Sort::Number && class(argument).is_word())
            .map(|(_, argument)| format!("{} of {}", function.name(), said(argument))),
        _ => None,
    }
}

fn said(expr: &Expr) -> String {
    match expr {
        Expr::Literal(literal) => format!("the word {literal}"),
        _ => "a word".to_owned(),
    }
}
