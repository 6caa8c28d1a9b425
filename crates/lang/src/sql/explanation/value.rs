//! Explains values.

use super::phrases::quoted;
use super::select::is_aggregate;
use super::{Explainer, NamedSources};
use crate::english;
use crate::sql::function::{Aggregate, ScalarFunction};
use crate::sql::literal::Literal;
use crate::sql::operator::{ArithmeticOperator, CastType};
use crate::sql::query::{Expr, Query, SourceKind};
use crate::sql::schema::ColumnType;

/// What a value is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// The words, without the article: `average age`.
    pub(super) head: String,
    /// What the value belongs to: `of the singer`.
    pub(super) of: Option<String>,
    kind: TermKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermKind {
    /// A column, which needs an article: `the age`.
    Column,
    /// Something else that needs an article: `the average age`.
    Named,
    /// It needs no article: `'Asia'`.
    Complete,
    /// It needs no article, but parentheses inside other values.
    Composed,
}

impl Term {
    fn named(head: String) -> Self {
        Term { head, of: None, kind: TermKind::Named }
    }

    /// Returns the term for all columns of a source.
    pub(super) fn columns_of(noun: &str) -> Self {
        Term::complete(format!("all columns of the {noun}"))
    }

    fn complete(head: String) -> Self {
        Term { head, of: None, kind: TermKind::Complete }
    }

    fn composed(head: String) -> Self {
        Term { head, of: None, kind: TermKind::Composed }
    }

    /// Returns whether the term needs an article and belongs to the only source.
    pub(super) fn is_bare(&self) -> bool {
        self.is_named() && self.of.is_none()
    }

    /// Returns whether the term needs an article.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.kind, TermKind::Column | TermKind::Named)
    }

    /// Returns the term without an article.
    pub(super) fn without_article(&self) -> String {
        match &self.of {
            Some(of) => format!("{} of the {of}", self.head),
            None => self.head.clone(),
        }
    }

    /// Returns the term as it stands alone.
    pub(super) fn text(&self) -> String {
        let article = if self.is_named() { "the " } else { "" };
        format!("{article}{}", self.without_article())
    }

    /// Returns the term as a part of another one.
    pub(super) fn operand(&self) -> String {
        match self.kind {
            TermKind::Composed => format!("({})", self.head),
            TermKind::Column | TermKind::Named | TermKind::Complete => self.text(),
        }
    }
}

impl Explainer<'_> {
    /// Explains a value.
    pub(super) fn value(&self, expr: &Expr, names: &NamedSources<'_>) -> Term {
        match expr {
            Expr::Column(column) => {
                let head = self.column(*column, names);
                Term { head, of: names.qualifier(*column), kind: TermKind::Column }
            }
            Expr::Unbound(column) => {
                let name = column.map_or("", |column| self.schema.column(column).name.as_str());
                Term::complete(format!("a column {} that is out of reach", quoted(name)))
            }
            Expr::Literal(literal) => Term::complete(literal.to_string()),
            Expr::Null => Term::complete("nothing".to_owned()),
            Expr::Negate(expr) => Term::composed(format!("minus {}", self.operand(expr, names))),
            Expr::Arithmetic(operator, sides) => {
                let [left, right] = [&sides[0], &sides[1]].map(|side| self.operand(side, names));
                Term::composed(format!("{left} {} {right}", arithmetic(*operator)))
            }
            Expr::Cast(to, expr) => Term::composed(format!("{} as {}", self.operand(expr, names), cast(*to))),
            Expr::Call(function, arguments) => self.call(*function, arguments, names),
            Expr::CountRows => Term::named(format!("number of {}", names.counted)),
            Expr::Aggregate(aggregate, expr) => self.aggregate(*aggregate, expr, names),
            Expr::Case(parts) => {
                let [then, otherwise] = [&parts[1], &parts[2]].map(|part| self.operand(part, names));
                let condition = self.condition(&parts[0], names);
                Term::composed(format!("{then} if {condition}, otherwise {otherwise}"))
            }
            Expr::Query(query) => Term::complete(self.single_value(query, names)),
            condition => Term::composed(format!("whether {}", self.condition(condition, names))),
        }
    }

    pub(super) fn operand(&self, expr: &Expr, names: &NamedSources<'_>) -> String {
        self.value(expr, names).operand()
    }

    fn call(&self, function: ScalarFunction, arguments: &[Expr], names: &NamedSources<'_>) -> Term {
        let operands: Vec<String> = arguments.iter().map(|argument| self.operand(argument, names)).collect();
        match (function.name(), operands.as_slice()) {
            ("abs", [value]) => Term::named(format!("absolute value of {value}")),
            ("length", [value]) => Term::named(format!("length of {value}")),
            ("round", [value]) => Term::composed(format!("{value} rounded")),
            ("round", [value, digits]) => Term::composed(format!("{value} rounded to {digits} digits")),
            ("lower", [value]) => Term::composed(format!("{value} in lower case")),
            ("upper", [value]) => Term::composed(format!("{value} in upper case")),
            ("trim", [value]) => Term::composed(format!("{value} without blanks around it")),
            (name, operands) => Term::complete(format!("{name}({})", operands.join(", "))),
        }
    }

    fn aggregate(&self, aggregate: Aggregate, expr: &Expr, names: &NamedSources<'_>) -> Term {
        let ty = self.type_of(expr, names);
        let term = self.value(expr, names);
        let is_column = term.kind == TermKind::Column;
        let (word, of) = match aggregate {
            Aggregate::Count if is_column => return self.count("number of", term),
            Aggregate::CountDistinct if is_column => return self.count("number of distinct", term),
            Aggregate::Count => ("number of values", true),
            Aggregate::CountDistinct => ("number of distinct values", true),
            Aggregate::Sum => ("total", !is_column),
            Aggregate::SumDistinct => ("total of the distinct values", true),
            Aggregate::Avg => ("average", !is_column),
            Aggregate::AvgDistinct => ("average of the distinct values", true),
            Aggregate::Min if is_column => (extreme(ty, false), false),
            Aggregate::Max if is_column => (extreme(ty, true), false),
            Aggregate::Min => ("smallest value", true),
            Aggregate::Max => ("largest value", true),
            Aggregate::GroupConcat => ("list of the values", true),
        };
        let of_word = if of { " of" } else { "" };
        match is_column {
            true => Term { of: term.of, ..Term::named(format!("{word}{of_word} {}", term.head)) },
            false => Term::named(format!("{word}{of_word} {}", term.operand())),
        }
    }

    /// Returns the term that counts the values of a column.
    fn count(&self, words: &str, column: Term) -> Term {
        let plural = english::plural(&column.head);
        let counted = match column.head.starts_with('"') || self.phrases.counts_rows(&plural) {
            true => format!("values of {}", column.head),
            false => plural,
        };
        Term { of: column.of, ..Term::named(format!("{words} {counted}")) }
    }

    /// Explains a query whose first value is used.
    fn single_value(&self, query: &Query, names: &NamedSources<'_>) -> String {
        let text = self.query(query, Some(names));
        let select = &query.first;
        let is_one_row =
            query.rest.is_empty() && select.group.is_empty() && is_aggregate(select, Some(query));
        let is_limited = query.limit.as_ref().is_some_and(|limit| limit.rows == Literal::integer(1));
        if !is_one_row && !is_limited {
            return format!("the first of ({text})");
        }
        // What has no clauses of its own needs no parentheses.
        let is_short = is_one_row
            && query.order.is_empty()
            && query.limit.is_none()
            && select.outputs.len() == 1
            && select.condition.is_none()
            && matches!(select.from.as_slice(), [source] if matches!(source.kind, SourceKind::Table(_)));
        if is_short { text } else { format!("({text})") }
    }

    /// Returns the type of a value, as far as it decides on words.
    pub(super) fn type_of(&self, expr: &Expr, names: &NamedSources<'_>) -> ColumnType {
        match expr {
            Expr::Column(column) => match names.source(*column).map(|source| &source.kind) {
                Some(SourceKind::Table(table)) => {
                    let columns = &self.schema.table(*table).columns;
                    columns.get(column.column as usize).map_or(ColumnType::Other, |column| column.ty)
                }
                _ => ColumnType::Other,
            },
            Expr::Aggregate(Aggregate::Min | Aggregate::Max, expr) => self.type_of(expr, names),
            _ => ColumnType::Other,
        }
    }
}

/// Returns the word for the least or greatest value of a type.
pub(super) fn extreme(ty: ColumnType, greatest: bool) -> &'static str {
    match (ty, greatest) {
        (ColumnType::Time, false) => "earliest",
        (ColumnType::Time, true) => "latest",
        (ColumnType::Text, false) => "alphabetically first",
        (ColumnType::Text, true) => "alphabetically last",
        (_, false) => "smallest",
        (_, true) => "largest",
    }
}

fn arithmetic(operator: ArithmeticOperator) -> &'static str {
    match operator {
        ArithmeticOperator::Plus => "plus",
        ArithmeticOperator::Minus => "minus",
        ArithmeticOperator::Times => "times",
        ArithmeticOperator::Divide => "divided by",
        ArithmeticOperator::Modulo => "modulo",
        ArithmeticOperator::Concatenate => "joined with",
    }
}

fn cast(to: CastType) -> &'static str {
    match to {
        CastType::Integer => "an integer",
        CastType::Real => "a real number",
        CastType::Numeric => "a number",
        CastType::Text => "text",
    }
}

/// Returns terms as a list. Neighbouring columns of the same source share its name: `the name and age of the singer`.
pub(super) fn listed(terms: &[Term], article: bool) -> String {
    if let ([only], true) = (terms, article) {
        return only.text();
    }
    let mut parts: Vec<String> = Vec::new();
    let mut rest = terms;
    while let Some(first) = rest.first() {
        let is_alike = |term: &&Term| term.kind == TermKind::Column && term.of == first.of;
        let (group, others) = rest.split_at(rest.iter().take_while(is_alike).count().max(1));
        let heads: Vec<String> = group.iter().map(|term| term.head.clone()).collect();
        let merged = Term { head: english::enumeration(&heads, "and"), ..first.clone() };
        parts.push(if article || !first.is_named() { merged.operand() } else { merged.without_article() });
        rest = others;
    }
    english::enumeration(&parts, "and")
}
