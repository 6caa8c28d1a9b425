//! Which tables of a large schema a question can be about.
//!
//! A table is relevant if its name, the names of its columns or its values share words with the question, and somewhat if it may
//! join two relevant tables. A question is parsed with the most relevant tables only, so its cost does not grow with the schema.

use crate::hyperparameters::{
    MOST_COLUMNS, MOST_TABLES, RELEVANCE_OF_COLUMN_NAME, RELEVANCE_OF_NEIGHBOUR, RELEVANCE_OF_TABLE_NAME,
    RELEVANCE_OF_VALUE,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use xpr_lang::sql::{Schema, SuggestedValue, TableId};
use xpr_text::{split_identifier, stem};

/// An index of the words in the names of a schema.
#[derive(Debug)]
pub(super) struct Relevance {
    /// For each stem, the tables whose names have it, and the relevance it adds.
    named: HashMap<String, Vec<(TableId, f64)>>,
    /// For each table, those that a foreign key joins it with.
    neighbours: Vec<BTreeSet<TableId>>,
    /// The number of columns of each table.
    columns: Vec<usize>,
}

impl Relevance {
    /// Indexes a schema. Returns nothing if the schema is small enough to parse with as a whole.
    pub(super) fn new(schema: &Schema) -> Option<Self> {
        let columns: Vec<usize> = schema.tables.iter().map(|table| table.columns.len()).collect();
        if columns.len() <= MOST_TABLES || columns.iter().sum::<usize>() <= MOST_COLUMNS {
            return None;
        }
        let mut named: HashMap<String, Vec<(TableId, f64)>> = HashMap::new();
        let mut neighbours = vec![BTreeSet::new(); schema.tables.len()];
        for (index, table) in schema.tables.iter().enumerate() {
            let id = TableId(index as u32);
            let mut note = |name: &str, worth: f64| {
                for stem in stems(name) {
                    named.entry(stem).or_default().push((id, worth));
                }
            };
            note(&table.name, RELEVANCE_OF_TABLE_NAME);
            for column in &table.columns {
                note(&column.name, RELEVANCE_OF_COLUMN_NAME);
            }
            for to in table.foreign_keys.iter().flat_map(|key| &key.to) {
                neighbours[index].insert(to.table);
                neighbours[to.table.0 as usize].insert(id);
            }
        }
        Some(Relevance { named, neighbours, columns })
    }

    /// Returns the tables that a question with these values is most likely about.
    pub(super) fn tables(&self, utterance: &str, values: &[SuggestedValue]) -> Vec<TableId> {
        let mut worth = vec![0.0; self.columns.len()];
        let words: BTreeSet<String> = stems(utterance).into_iter().collect();
        for tables in words.iter().filter_map(|word| self.named.get(word)) {
            // A word that is in the names of many tables adds less to each. It counts once for a table.
            let mut most: BTreeMap<TableId, f64> = BTreeMap::new();
            for &(table, value) in tables {
                let best = most.entry(table).or_default();
                *best = best.max(value);
            }
            let share = 1.0 / (most.len() as f64).sqrt();
            for (table, value) in most {
                worth[table.0 as usize] += share * value;
            }
        }
        for value in values {
            let tables: BTreeSet<TableId> = value.columns.iter().map(|column| column.table).collect();
            let share = RELEVANCE_OF_VALUE / (tables.len().max(1) as f64).sqrt();
            for table in tables {
                worth[table.0 as usize] += share;
            }
        }
        let alone = worth.clone();
        for (table, neighbours) in self.neighbours.iter().enumerate() {
            let mut around: Vec<f64> =
                neighbours.iter().map(|neighbour| alone[neighbour.0 as usize]).collect();
            around.sort_by(|left, right| right.total_cmp(left));
            worth[table] += around.iter().take(2).map(|around| RELEVANCE_OF_NEIGHBOUR * around).sum::<f64>();
        }
        let mut order: Vec<usize> = (0..worth.len()).collect();
        order.sort_by(|&left, &right| worth[right].total_cmp(&worth[left]).then(left.cmp(&right)));
        let mut columns = 0;
        let mut chosen: Vec<TableId> = Vec::new();
        for table in order.into_iter().take(MOST_TABLES) {
            columns += self.columns[table];
            if columns > MOST_COLUMNS && !chosen.is_empty() {
                break;
            }
            chosen.push(TableId(table as u32));
        }
        chosen
    }
}

/// Returns the stems of the words of a text or an identifier.
fn stems(text: &str) -> Vec<String> {
    split_identifier(text).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::{Column, ColumnId, ColumnType, ForeignKey, Literal, Table};

    fn table(name: &str, columns: &[&str], to: Option<u32>) -> Table {
        let column = |name: &&str| Column { comment: None, name: (*name).to_owned(), ty: ColumnType::Text };
        let key = |table| ForeignKey {
            columns: vec![0],
            to: vec![ColumnId { table: TableId(table), column: 0 }],
            confidence: 1.0,
        };
        Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            primary_key: vec![],
            foreign_keys: to.map(key).into_iter().collect(),
        }
    }

    #[test]
    fn a_large_schema_is_cut_down_to_relevant_tables() {
        let mut tables: Vec<Table> =
            (0..100).map(|i| table(&format!("filler{i}"), &["id", "a", "b", "c"], None)).collect();
        tables.push(table("album", &["id", "title"], None));
        tables.push(table("trackList", &["album_id", "seconds"], Some(100)));
        tables.push(table("city", &["name"], None));
        let relevance = Relevance::new(&Schema { dialect: Default::default(), tables }).unwrap();
        let found = relevance.tables("how many seconds has the longest album", &[]);
        assert_eq!(found[..2], [TableId(100), TableId(101)]);
        assert!(found.len() <= MOST_TABLES);
        let rome = SuggestedValue {
            columns: vec![ColumnId { table: TableId(102), column: 0 }],
            ..SuggestedValue::new(Literal::text("rome"), "rome")
        };
        assert_eq!(relevance.tables("is rome large", &[rome])[0], TableId(102));
        // A question without a relevant word still gets tables.
        assert_eq!(relevance.tables("", &[]).len(), MOST_TABLES);
    }

    #[test]
    fn a_small_schema_is_kept_whole() {
        let tables = (0..20).map(|i| table(&format!("t{i}"), &["id"], None)).collect();
        assert!(Relevance::new(&Schema { dialect: Default::default(), tables }).is_none());
    }
}
