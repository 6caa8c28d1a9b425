//! What is known about the type of an expression without running it, and which uses are certainly mistakes.
//!
//! SQLite compares values of any types, columns hold values of other types than they declare, and people write numbers
//! in quotes. So only little is a mistake: comparing a number with a word, sums of text, and arithmetic with words.
//! The grammar excludes the same by its types, and [`super::check()`] reports it.

use super::function::ValueType;
use super::literal::LiteralKind;
use super::operator::{ArithmeticOperator, CastType};
use super::query::{Expr, Output, Query, SortBy, SourceKind};
use super::rules::ColumnClass;
use super::schema::{ColumnType, Schema};
use super::scope::Scope;

/// What is known about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueClass {
    /// A number that is computed or in a column.
    Number,
    /// Text that is computed or in a column.
    Text,
    /// A value of unknown type that is computed or in a column.
    Loose,
    /// A constant.
    Literal(LiteralKind),
}

impl ValueClass {
    pub(super) fn of(expr: &Expr, scope: &Scope<'_>, schema: &Schema) -> ValueClass {
        let of_type = |ty: ValueType| match ty {
            ValueType::Number => ValueClass::Number,
            ValueType::Text => ValueClass::Text,
            ValueType::Any => ValueClass::Loose,
        };
        match expr {
            Expr::Column(column) => {
                scope.column_type(*column, schema).map_or(ValueClass::Loose, ValueClass::of_column)
            }
            Expr::Unbound(Some(column)) => ValueClass::of_column(schema.column(*column).ty),
            Expr::Literal(literal) => ValueClass::Literal(literal.kind()),
            Expr::Arithmetic(ArithmeticOperator::Concatenate, _) => ValueClass::Text,
            Expr::Negate(_) | Expr::Arithmetic(..) | Expr::CountRows => ValueClass::Number,
            Expr::Cast(CastType::Text, _) => ValueClass::Text,
            Expr::Cast(..) => ValueClass::Number,
            Expr::Call(function, _) => of_type(function.result()),
            Expr::Aggregate(aggregate, _) => of_type(aggregate.result()),
            _ => ValueClass::Loose,
        }
    }

    fn of_column(ty: ColumnType) -> ValueClass {
        match ColumnClass::of(ty) {
            ColumnClass::Number => ValueClass::Number,
            ColumnClass::Text => ValueClass::Text,
            ColumnClass::Loose => ValueClass::Loose,
        }
    }

    fn is_word(self) -> bool {
        self == ValueClass::Literal(LiteralKind::Word)
    }
}

/// Describes the first use of a value that is certainly a mistake.
pub(super) fn find_mistake(query: &Query, outer: Option<&Scope<'_>>, schema: &Schema) -> Option<String> {
    let mut found = None;
    let mut check = |expr: &Expr, scope: &Scope<'_>| {
        expr.visit(&mut |expr| {
            if found.is_none() {
                found = match expr {
                    Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) => {
                        find_mistake(query, Some(scope), schema)
                    }
                    other => operand_mistake(other, scope, schema),
                };
            }
        });
    };
    for (index, select) in query.selects().enumerate() {
        let scope = Scope { sources: &select.from, outer };
        for source in &select.from {
            source.left_join.iter().for_each(|condition| check(condition, &scope));
        }
        let exprs = select.condition.iter().chain(&select.group).chain(&select.having);
        exprs.for_each(|expr| check(expr, &scope));
        for output in &select.outputs {
            if let Output::Expr(expr) = output {
                check(expr, &scope);
            }
        }
        for key in query.order.iter().filter(|_| index == 0) {
            if let SortBy::Expr(expr) = &key.by {
                check(expr, &scope);
            }
        }
    }
    let in_from = || {
        query.selects().flat_map(|select| &select.from).find_map(|source| match &source.kind {
            SourceKind::Query(query) => find_mistake(query, outer, schema),
            SourceKind::Table(_) => None,
        })
    };
    found.or_else(in_from)
}

/// Describes what is wrong with the operands of one operation.
fn operand_mistake(expr: &Expr, scope: &Scope<'_>, schema: &Schema) -> Option<String> {
    let class = |expr: &Expr| ValueClass::of(expr, scope, schema);
    let compared = |left: &Expr, right: &Expr| {
        (class(left) == ValueClass::Number && class(right).is_word())
            .then(|| format!("a number is compared with {}", described(right)))
    };
    match expr {
        Expr::Compare(_, sides) => compared(&sides[0], &sides[1]),
        Expr::Between(parts) => compared(&parts[0], &parts[1]).or_else(|| compared(&parts[0], &parts[2])),
        Expr::InList(left, list) => list.iter().find_map(|element| compared(left, element)),
        Expr::Aggregate(aggregate, argument) if aggregate.adds() => match class(argument) {
            ValueClass::Number | ValueClass::Loose | ValueClass::Literal(LiteralKind::Number) => None,
            _ => Some(format!("{} of text", aggregate.name())),
        },
        Expr::Arithmetic(operation, sides) if *operation != ArithmeticOperator::Concatenate => sides
            .iter()
            .find(|side| class(side).is_word())
            .map(|side| format!("`{}` of {}", operation.name(), described(side))),
        Expr::Call(function, arguments) => function
            .arguments()
            .iter()
            .zip(arguments)
            .find(|(ty, argument)| **ty == ValueType::Number && class(argument).is_word())
            .map(|(_, argument)| format!("{} of {}", function.name(), described(argument))),
        _ => None,
    }
}

/// Describes a word, for a message.
fn described(expr: &Expr) -> String {
    match expr {
        Expr::Literal(literal) => format!("the word {literal}"),
        _ => "a word".to_owned(),
    }
}
