//! What the sources of a select and their columns are called.

use super::phrases::{Noun, quoted};
use super::{Explainer, NamedSources};
use crate::sql::query::{Expr, FromSource, Output, Query, Select, SourceKind};
use crate::sql::schema::ColumnId;

impl Explainer<'_> {
    /// Names the sources of a select. Sources that would be called alike are numbered.
    pub(super) fn named_sources<'s>(
        &self,
        select: &'s Select,
        outer: Option<&'s NamedSources<'s>>,
    ) -> NamedSources<'s> {
        let sources = select.from.as_slice();
        let noun = |source: &FromSource| match source.kind {
            SourceKind::Table(table) => self.phrases.table(table).clone(),
            SourceKind::Query(_) => Noun::new("row"),
        };
        let all: Vec<Noun> = sources.iter().map(noun).collect();
        let numbered = all.iter().enumerate().map(|(index, noun)| {
            let is_same = |other: &&Noun| *other == noun;
            match all.iter().filter(is_same).count() {
                1 => noun.clone(),
                _ => noun.with(&ordinal(all[..index].iter().filter(is_same).count())),
            }
        });
        let nouns: Vec<Noun> = numbered.collect();
        let fields = sources.iter().map(|source| self.fields(source, outer)).collect();
        let counted = self.counted(select, &nouns);
        NamedSources { sources, nouns, fields, counted, outer }
    }

    /// Returns what the columns of a query's answer are called.
    pub(super) fn column_names(&self, query: &Query) -> Vec<String> {
        let select = &query.first;
        let names = self.named_sources(select, None);
        let columns_of = |source: usize| match select.from.get(source).map(|source| &source.kind) {
            Some(SourceKind::Table(table)) => {
                self.schema.table(*table).columns.iter().map(|column| column.name.clone()).collect()
            }
            _ => names.fields.get(source).cloned().unwrap_or_default(),
        };
        let mut columns: Vec<String> = Vec::new();
        for output in &select.outputs {
            match output {
                Output::Expr(Expr::Column(column)) => {
                    let all = columns_of(column.source as usize);
                    let name = all.into_iter().nth(column.column as usize).filter(|_| column.scope == 0);
                    columns.push(name.unwrap_or_else(|| self.column(*column, &names)));
                }
                Output::Expr(expr) if has_query(expr) => {
                    columns.push(format!("column {}", columns.len() + 1));
                }
                Output::Expr(expr) => columns.push(self.value(expr, &names).without_article()),
                Output::All => columns.extend((0..select.from.len()).flat_map(columns_of)),
                Output::AllOf(source) => columns.extend(columns_of(*source as usize)),
            }
        }
        columns
    }

    /// Returns what the columns of a source are called.
    fn fields(&self, source: &FromSource, outer: Option<&NamedSources<'_>>) -> Vec<String> {
        match &source.kind {
            SourceKind::Table(table) => (0..self.schema.table(*table).columns.len() as u32)
                .map(|column| self.phrases.column(ColumnId { table: *table, column }).to_owned())
                .collect(),
            SourceKind::Query(query) => self.outputs_of(query, outer),
        }
    }

    /// Returns what the outputs of a query in `FROM` are called. One that has no name of its own, or the name of another, has a number.
    fn outputs_of(&self, query: &Query, outer: Option<&NamedSources<'_>>) -> Vec<String> {
        let select = &query.first;
        let names = self.named_sources(select, outer);
        let mut fields: Vec<Option<String>> = Vec::new();
        for output in &select.outputs {
            match output {
                Output::Expr(expr @ Expr::Column(_)) => fields.push(Some(self.value(expr, &names).head)),
                // Explaining a query for each name of one of its outputs would take exponential time.
                Output::Expr(expr) if has_query(expr) => fields.push(None),
                // Quotes inside of quotes would double at every level.
                Output::Expr(expr) => {
                    let phrase = self.value(expr, &names).without_article();
                    fields.push(
                        Some(phrase).filter(|phrase| !phrase.contains('"')).map(|phrase| quoted(&phrase)),
                    );
                }
                Output::All => fields.extend(names.fields.iter().flatten().cloned().map(Some)),
                Output::AllOf(source) => {
                    let columns = names.fields.get(*source as usize).into_iter().flatten();
                    fields.extend(columns.cloned().map(Some));
                }
            }
        }
        let name = |(index, field): (usize, &Option<String>)| {
            let is_alone = fields.iter().filter(|other| *other == field).count() == 1;
            field.clone().filter(|_| is_alone).unwrap_or_else(|| format!("column {}", index + 1))
        };
        fields.iter().enumerate().map(name).collect()
    }
}

/// Returns whether an expression has a query in it.
fn has_query(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| found |= matches!(expr, Expr::Query(_) | Expr::InQuery(..) | Expr::Exists(_)));
    found
}

/// Returns the word for the place at an index.
fn ordinal(index: usize) -> String {
    const WORDS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    WORDS.get(index).map_or_else(|| format!("{}th", index + 1), |&word| word.to_owned())
}
