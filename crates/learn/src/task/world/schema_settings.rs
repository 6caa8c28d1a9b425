//! What the settings of a project say about a schema: words that people use, tables to leave out, and keys.

use crate::task::error::TaskError;
use xpr_lang::sql::{ColumnId, ForeignKey, Schema, TableId};
use xpr_run::DataConfig;
use xpr_text::{split_identifier, stem, tokenize, tokens};

/// What the settings of a project say about a schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaSettings<'c> {
    /// What people call tables, columns and values, such as `album.f_17: price, cost`.
    pub words: &'c [String],
    /// The names of tables to leave out.
    pub without_tables: &'c [String],
    /// Foreign keys, such as `flight.source -> airport.code`.
    pub keys: &'c [String],
}

impl<'c> From<&'c DataConfig> for SchemaSettings<'c> {
    fn from(config: &'c DataConfig) -> Self {
        SchemaSettings { words: &config.words, without_tables: &config.without_tables, keys: &config.keys }
    }
}

impl SchemaSettings<'_> {
    /// Returns the schema without the tables to leave out, and with the keys.
    ///
    /// # Errors
    /// If a setting names a table or column that the schema does not have.
    pub(super) fn apply(&self, schema: Schema) -> Result<Schema, TaskError> {
        let mut schema = self.without_tables(schema)?;
        for entry in self.keys {
            let wrong = |message: &str| wrong_entry("data.keys", entry, message);
            let (from, to) =
                entry.split_once("->").ok_or_else(|| wrong("expected table.column -> table.column"))?;
            let column = |name: &str| {
                find_column(&schema, name.trim())
                    .ok_or_else(|| wrong(&format!("there is no column {}", name.trim())))
            };
            let (from, to) = (column(from)?, column(to)?);
            let key = ForeignKey { columns: vec![from.column], to: vec![to], confidence: 1.0 };
            let keys = &mut schema.tables[from.table.0 as usize].foreign_keys;
            keys.retain(|known| known.columns != key.columns || known.to != key.to);
            keys.push(key);
        }
        Ok(schema)
    }

    fn without_tables(&self, schema: Schema) -> Result<Schema, TaskError> {
        let mut is_kept = vec![true; schema.tables.len()];
        for name in self.without_tables {
            let table = schema.find_table(name);
            let table =
                table.ok_or_else(|| wrong_entry("data.without_tables", name, "there is no such table"))?;
            is_kept[table.0 as usize] = false;
        }
        let mut kept = 0;
        let new_id: Vec<Option<TableId>> = is_kept
            .iter()
            .map(|&is_kept| {
                kept += u32::from(is_kept);
                is_kept.then(|| TableId(kept - 1))
            })
            .collect();
        let mut tables = Vec::new();
        for (mut table, _) in schema.tables.into_iter().zip(&is_kept).filter(|(_, is_kept)| **is_kept) {
            table.foreign_keys.retain(|key| key.to.iter().all(|to| is_kept[to.table.0 as usize]));
            for to in table.foreign_keys.iter_mut().flat_map(|key| &mut key.to) {
                to.table = new_id[to.table.0 as usize].unwrap_or(to.table);
            }
            tables.push(table);
        }
        Ok(Schema { tables, dialect: schema.dialect })
    }

    /// Returns the phrases that people use.
    ///
    /// # Errors
    /// If an entry names a table or column that the schema does not have, or has no phrase.
    pub(super) fn synonyms(&self, schema: &Schema) -> Result<Synonyms, TaskError> {
        let mut synonyms = Synonyms::default();
        for entry in self.words {
            let wrong = |message: &str| wrong_entry("data.words", entry, message);
            let (what, phrases) =
                entry.rsplit_once(':').ok_or_else(|| wrong("expected table.column: phrase, phrase"))?;
            let (name, value) = match what.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('\''))),
                None => (what.trim(), None),
            };
            let table = schema.find_table(name).filter(|_| value.is_none());
            let column = find_column(schema, name);
            let canonical = match (value, column) {
                (Some(value), Some(_)) => value.to_owned(),
                (None, _) if let Some(table) = table => split_identifier(&schema.table(table).name).join(" "),
                (None, Some(column)) => split_identifier(&schema.column(column).name).join(" "),
                _ => return Err(wrong(&format!("there is no table or column {name}"))),
            };
            for phrase in phrases.split(',') {
                let stems: Vec<String> = tokenize(phrase).iter().map(|word| stem(word)).collect();
                if stems.is_empty() {
                    return Err(wrong("there is a phrase without words"));
                }
                synonyms.phrases.push((stems, canonical.clone()));
            }
        }
        // Longer phrases are looked for first.
        synonyms.phrases.sort_by_key(|(stems, _)| std::cmp::Reverse(stems.len()));
        Ok(synonyms)
    }
}

/// Phrases that people use, and what the database calls the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Synonyms {
    /// The stems of each phrase, and the words of the database; the longest phrases first.
    phrases: Vec<(Vec<String>, String)>,
}

impl Synonyms {
    /// Returns a question in the words of the database.
    pub(super) fn apply(&self, utterance: &str) -> String {
        let tokens = tokens(utterance);
        let stems: Vec<String> = tokens.iter().map(|token| stem(&token.text)).collect();
        let mut text = String::with_capacity(utterance.len());
        let (mut at, mut copied) = (0, 0);
        while at < tokens.len() {
            let found = self.phrases.iter().find(|(phrase, _)| stems[at..].starts_with(phrase));
            let Some((phrase, canonical)) = found else {
                at += 1;
                continue;
            };
            let last = at + phrase.len() - 1;
            text.push_str(&utterance[copied..tokens[at].start]);
            text.push_str(canonical);
            (at, copied) = (last + 1, tokens[last].end);
        }
        text + &utterance[copied..]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }
}

/// Returns the column that is called `table.column`.
fn find_column(schema: &Schema, name: &str) -> Option<ColumnId> {
    // Both names may have dots.
    let mut dots = name.match_indices('.').map(|(at, _)| at);
    dots.find_map(|at| {
        let table = schema.find_table(name[..at].trim())?;
        schema.find_column(table, name[at + 1..].trim())
    })
}

fn wrong_entry(setting: &'static str, entry: &str, message: &str) -> TaskError {
    TaskError::Setting { setting, entry: entry.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::{Column, ColumnType, Table};

    fn schema() -> Schema {
        let table = |name: &str, columns: &[&str]| Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns: columns
                .iter()
                .map(|&name| Column { comment: None, name: name.to_owned(), ty: ColumnType::Text })
                .collect(),
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let mut tables = vec![
            table("log", &["id"]),
            table("flight", &["source", "f_17"]),
            table("airport", &["code", "country"]),
        ];
        let to = |table: u32| vec![ColumnId { table: TableId(table), column: 0 }];
        tables[1].foreign_keys.push(ForeignKey { columns: vec![1], to: to(0), confidence: 1.0 });
        tables[2].foreign_keys.push(ForeignKey { columns: vec![0], to: to(1), confidence: 1.0 });
        Schema { dialect: Default::default(), tables }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn tables_are_left_out_with_the_keys_to_them_and_keys_are_added() {
        let (without, keys) = (strings(&["LOG"]), strings(&["flight.source -> airport.code"]));
        let settings = SchemaSettings { without_tables: &without, keys: &keys, ..SchemaSettings::default() };
        let schema = settings.apply(schema()).unwrap();
        let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["flight", "airport"]);
        let column = |table: u32| ColumnId { table: TableId(table), column: 0 };
        let keys: Vec<&ForeignKey> = schema.tables.iter().flat_map(|table| &table.foreign_keys).collect();
        assert_eq!(keys.len(), 2);
        assert_eq!((&keys[0].columns, &keys[0].to), (&vec![0], &vec![column(1)]));
        assert_eq!((&keys[1].columns, &keys[1].to), (&vec![0], &vec![column(0)]));
    }

    #[test]
    fn a_question_is_put_in_the_words_of_the_database() {
        let words = strings(&[
            "flight.f_17: price, ticket price",
            "flight: trip",
            "airport.country = 'USA': america, the states",
        ]);
        let settings = SchemaSettings { words: &words, ..SchemaSettings::default() };
        let synonyms = settings.synonyms(&schema()).unwrap();
        assert_eq!(synonyms.apply("Ticket prices of trips, from America?"), "f 17 of flight, from USA?");
        assert_eq!(synonyms.apply("airports in the States"), "airports in USA");
        assert_eq!(synonyms.apply(""), "");
        assert_eq!(synonyms.apply("nothing to see"), "nothing to see");
    }

    #[test]
    fn settings_that_name_nothing_are_errors() {
        let error = |words: &[&str], without: &[&str], keys: &[&str]| {
            let (words, without_tables, keys) = (strings(words), strings(without), strings(keys));
            let settings = SchemaSettings { words: &words, without_tables: &without_tables, keys: &keys };
            let checked = settings.apply(schema()).and_then(|schema| settings.synonyms(&schema).map(|_| ()));
            checked.unwrap_err().to_string()
        };
        assert_eq!(
            error(&["plane: aircraft"], &[], &[]),
            "data.words: `plane: aircraft`: there is no table or column plane"
        );
        assert_eq!(
            error(&["flight"], &[], &[]),
            "data.words: `flight`: expected table.column: phrase, phrase"
        );
        assert_eq!(error(&[], &["x"], &[]), "data.without_tables: `x`: there is no such table");
        assert_eq!(
            error(&[], &[], &["flight.a -> airport.code"]),
            "data.keys: `flight.a -> airport.code`: there is no column flight.a"
        );
    }
}
