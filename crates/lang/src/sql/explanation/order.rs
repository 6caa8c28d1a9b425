//! Explains `ORDER BY` and `LIMIT`.

use super::value::extreme;
use super::{Explainer, NamedSources};
use crate::sql::literal::Literal;
use crate::sql::query::{Limit, Query, SortBy, SortKey};
use crate::sql::schema::ColumnType;

/// The first rows in an order.
pub(super) struct Best {
    /// The number of rows.
    pub(super) count: String,
    pub(super) is_one: bool,
    /// What is least or greatest: `largest score`.
    pub(super) by: String,
}

impl Explainer<'_> {
    /// Returns which rows a query returns, if it sorts by one key and returns the first rows.
    pub(super) fn best(&self, query: &Query, names: Option<&NamedSources<'_>>) -> Option<Best> {
        let ([key], Some(Limit { rows, offset: None })) = (query.order.as_slice(), &query.limit) else {
            return None;
        };
        let (by, ty) = self.key(key, names);
        let by = format!("{} {by}", extreme(ty, key.descending));
        Some(Best { count: counted(rows), is_one: is_one(rows), by })
    }

    /// Explains the order and limit of a query, with a comma before them. A compound has no sources.
    pub(super) fn order(&self, query: &Query, names: Option<&NamedSources<'_>>) -> String {
        if let Some(Best { count, by, .. }) = self.best(query, names) {
            return format!(", only the {count} with the {by}");
        }
        let mut text = String::new();
        for (index, key) in query.order.iter().enumerate() {
            let (by, ty) = self.key(key, names);
            text += if index == 0 { ", sorted by " } else { ", then by " };
            text += &format!("{by} {}", direction(ty, key.descending));
        }
        match &query.limit {
            None => {}
            Some(Limit { rows, offset: Some(offset) }) => {
                text += &format!(", only {rows} of them after the first {offset}");
            }
            Some(Limit { rows, offset: None }) if query.order.is_empty() => {
                text += &format!(
                    ", only {} of them",
                    if is_one(rows) { "one".to_owned() } else { rows.to_string() }
                );
            }
            Some(Limit { rows, offset: None }) => text += &format!(", only the first {rows}"),
        }
        text
    }

    /// Returns what a key is called, and its type.
    fn key(&self, key: &SortKey, names: Option<&NamedSources<'_>>) -> (String, ColumnType) {
        match (&key.by, names) {
            (SortBy::Expr(expr), Some(names)) => {
                let term = self.value(expr, names);
                let text = if term.is_named() {
                    term.without_article()
                } else {
                    format!("value of {}", term.operand())
                };
                (text, self.type_of(expr, names))
            }
            (SortBy::Output(output), _) => (format!("column {}", output + 1), ColumnType::Other),
            (SortBy::Expr(_), None) => ("an unknown value".to_owned(), ColumnType::Other),
        }
    }
}

fn is_one(rows: &Literal) -> bool {
    *rows == Literal::integer(1)
}

fn counted(rows: &Literal) -> String {
    if is_one(rows) { "one".to_owned() } else { rows.to_string() }
}

/// Returns the direction of an order.
fn direction(ty: ColumnType, descending: bool) -> &'static str {
    match (ty, descending) {
        (ColumnType::Text, false) => "alphabetically",
        (ColumnType::Text, true) => "in reverse alphabetical order",
        (ColumnType::Time, false) => "from earliest to latest",
        (ColumnType::Time, true) => "from latest to earliest",
        (_, false) => "from smallest to largest",
        (_, true) => "from largest to smallest",
    }
}
