//! What people call the tables and columns of a schema.

use crate::english;
use crate::sql::schema::{ColumnId, Schema, TableId};
use rustc_hash::FxHashMap;
use xpr_text::split_identifier;

/// Words that an explanation uses between names. A name that has one of them is quoted, so that it cannot be mistaken for the structure of
/// the sentence.
const STRUCTURE: &[&str] = &[
    "all",
    "among",
    "and",
    "any",
    "are",
    "as",
    "between",
    "but",
    "combination",
    "combinations",
    "contains",
    "distinct",
    "each",
    "equals",
    "followed",
    "if",
    "is",
    "its",
    "known",
    "missing",
    "not",
    "only",
    "or",
    "otherwise",
    "outer",
    "over",
    "row",
    "rows",
    "some",
    "sorted",
    "than",
    "that",
    "the",
    "their",
    "then",
    "there",
    "value",
    "values",
    "where",
    "whether",
    "whose",
    "with",
];
/// Words before a column that say how its values are combined. A column that starts with one is quoted if there is a column called like the
/// rest.
const COMBINATION: &[&str] =
    &["alphabetically", "average", "earliest", "largest", "latest", "number", "smallest", "total"];

/// A noun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noun {
    pub(super) singular: String,
    pub(super) plural: String,
}

impl Noun {
    pub(super) fn new(singular: &str) -> Self {
        Noun { singular: singular.to_owned(), plural: english::plural(singular) }
    }

    /// Returns the noun with a word before it.
    pub(super) fn with(&self, word: &str) -> Self {
        Noun { singular: format!("{word} {}", self.singular), plural: format!("{word} {}", self.plural) }
    }
}

/// The phrases of a schema. Different tables have different nouns, and different columns of a table different phrases.
#[derive(Clone, Debug)]
pub(in crate::sql) struct Phrases {
    tables: Vec<Noun>,
    columns: Vec<Vec<String>>,
}

impl Phrases {
    pub(in crate::sql) fn new(schema: &Schema) -> Self {
        let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let nouns = distinct(&names, |name| {
            let noun = Noun::new(&english::singular(&words(name)?));
            // A source may have an ordinal before it, and the key of its relation after it.
            let mut words = noun.singular.split(' ');
            let is_plain =
                !matches!(words.next(), Some("first" | "second")) && words.all(|word| word != "by");
            is_plain.then_some(noun.singular)
        });
        let noun = |(noun, name): (Option<String>, &&str)| match noun {
            Some(noun) => Noun::new(&noun),
            None => {
                Noun { singular: format!("{} row", quoted(name)), plural: format!("{} rows", quoted(name)) }
            }
        };
        let tables = nouns.into_iter().zip(&names).map(noun).collect();
        let all: Vec<String> = schema
            .tables
            .iter()
            .flat_map(|table| &table.columns)
            .filter_map(|column| words(&column.name))
            .collect();
        let columns = schema.tables.iter().map(|table| {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let phrases = distinct(&names, |name| words(name).filter(|phrase| !is_combination(phrase, &all)));
            phrases
                .into_iter()
                .zip(names)
                .map(|(phrase, name)| phrase.unwrap_or_else(|| quoted(name)))
                .collect()
        });
        Phrases { tables, columns: columns.collect() }
    }

    pub(super) fn table(&self, table: TableId) -> &Noun {
        &self.tables[table.0 as usize]
    }

    /// Returns whether a plural is that of a table, or another word for rows.
    pub(super) fn counts_rows(&self, plural: &str) -> bool {
        matches!(plural, "combinations" | "rows") || self.tables.iter().any(|noun| noun.plural == plural)
    }

    pub(super) fn column(&self, column: ColumnId) -> &str {
        &self.columns[column.table.0 as usize][column.column as usize]
    }
}

/// Returns the phrase of each name, and none where another name has the same.
fn distinct(names: &[&str], phrase: impl Fn(&str) -> Option<String>) -> Vec<Option<String>> {
    let phrases: Vec<Option<String>> = names.iter().map(|name| phrase(name)).collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    phrases.iter().flatten().for_each(|phrase| *counts.entry(phrase).or_default() += 1);
    let is_alone = |phrase: &&String| counts.get(phrase.as_str()) == Some(&1);
    phrases.iter().map(|phrase| phrase.as_ref().filter(is_alone).cloned()).collect()
}

/// Returns the words of a name; none if it has no words or one that an explanation uses for itself.
fn words(name: &str) -> Option<String> {
    let words = split_identifier(name);
    let after_of = words.iter().skip_while(|word| *word != "of").nth(1);
    let is_plain = !words.is_empty()
        && words.last().is_some_and(|last| last != "of")
        && after_of.is_none_or(|word| !STRUCTURE.contains(&word.as_str()))
        && !words.iter().any(|word| STRUCTURE.contains(&word.as_str()))
        && name.chars().all(|c| c.is_alphanumeric() || "_ -".contains(c));
    is_plain.then(|| words.join(" "))
}

/// Returns whether a phrase could also mean a combination of the values of another column, or a number of rows.
fn is_combination(phrase: &str, all: &[String]) -> bool {
    let Some((first, rest)) = phrase.split_once(' ') else { return false };
    COMBINATION.contains(&first)
        && (rest.starts_with("of ")
            || rest.starts_with("first ")
            || rest.starts_with("last ")
            || all.iter().any(|other| other == rest))
}

/// Returns a name in double quotes, as the schema spells it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
