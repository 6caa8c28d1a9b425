//! Says in English what a query does, so that people who cannot read SQL can check it.
//!
//! The sentence is made from the tree by rules, and says everything that the tree says: queries that mean different things have different
//! sentences. Three devices make that possible. A name that could be mistaken for a part of the sentence is quoted ([`phrases`]). Whatever
//! could be attached to two places is in parentheses. And a join is said as a relation (`each film with its director`) only where the schema
//! has exactly that foreign key ([`rows`]); any other join is a condition.

mod condition;
mod naming;
mod order;
mod phrases;
mod rows;
mod select;
mod value;

use super::operator::SetOperator;
use super::query::{ColumnRef, FromSource, Query};
use super::schema::Schema;
use phrases::Noun;
pub(super) use phrases::Phrases;

/// Returns a sentence that says what a query returns.
pub(super) fn explain(query: &Query, schema: &Schema, phrases: &Phrases) -> String {
    Explainer { schema, phrases }.query(query, None)
}

/// Returns what the columns of a query's answer are called: as the schema spells them, or what they are computed from.
pub(super) fn column_names(query: &Query, schema: &Schema, phrases: &Phrases) -> Vec<String> {
    Explainer { schema, phrases }.column_names(query)
}

/// Explains queries of one schema.
struct Explainer<'a> {
    schema: &'a Schema,
    phrases: &'a Phrases,
}

/// A `FROM` list with what the explanation calls its sources.
struct NamedSources<'a> {
    sources: &'a [FromSource],
    /// The nouns of the sources. They differ within a list.
    nouns: Vec<Noun>,
    /// What the columns of each source are called.
    fields: Vec<Vec<String>>,
    /// What `COUNT(*)` counts.
    counted: String,
    outer: Option<&'a NamedSources<'a>>,
}

impl<'a> NamedSources<'a> {
    /// Returns whether columns need not say which source they belong to.
    fn is_single(&self) -> bool {
        self.sources.len() == 1
    }

    /// Returns the list that a column belongs to.
    fn list(&self, column: ColumnRef) -> Option<&NamedSources<'a>> {
        std::iter::successors(Some(self), |names| names.outer).nth(column.scope as usize)
    }

    /// Returns the source that a column belongs to.
    fn source(&self, column: ColumnRef) -> Option<&'a FromSource> {
        self.list(column)?.sources.get(column.source as usize)
    }

    /// Returns what the source of a column is called here; none if it is the only source of the nearest list.
    fn qualifier(&self, column: ColumnRef) -> Option<String> {
        if column.scope == 0 && self.is_single() {
            return None;
        }
        let noun = self.list(column)?.nouns.get(column.source as usize)?;
        let nearer = std::iter::successors(Some(self), |names| names.outer).take(column.scope as usize);
        let hidden = nearer.filter(|names| names.nouns.contains(noun)).count();
        Some(format!("{}{}", "outer ".repeat(hidden), noun.singular))
    }
}

impl Explainer<'_> {
    /// Explains a query inside the given sources.
    fn query(&self, query: &Query, outer: Option<&NamedSources<'_>>) -> String {
        if query.rest.is_empty() {
            return self.select(&query.first, outer, Some(query));
        }
        let mut text = self.select(&query.first, outer, None);
        for (operator, select) in &query.rest {
            let right = self.select(select, outer, None);
            text = match operator {
                SetOperator::Union => format!("what is in ({text}) or in ({right})"),
                SetOperator::UnionAll => format!("what is in ({text}) followed by what is in ({right})"),
                SetOperator::Intersect => format!("what is both in ({text}) and in ({right})"),
                SetOperator::Except => format!("what is in ({text}) but not in ({right})"),
            };
        }
        text + &self.order(query, None)
    }

    /// Returns what a column is called.
    fn column(&self, column: ColumnRef, names: &NamedSources<'_>) -> String {
        let list = names.list(column);
        let fields = list.and_then(|list| list.fields.get(column.source as usize));
        let field = fields.and_then(|fields| fields.get(column.column as usize));
        field.cloned().unwrap_or_else(|| format!("column {}", column.column + 1))
    }
}
