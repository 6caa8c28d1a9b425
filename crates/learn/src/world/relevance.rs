//! Which tables a question can be about, where a database has more than a parser should look at.
//!
//! A table counts by the words of the question that its name, its columns' names and its values say; what joins two tables that
//! count is worth something too. The rest of the schema is not looked at, so a question costs the same however large the database is.

use std::collections::{HashMap, HashSet};
use xpr_lang::sql::{Schema, TableId, Value};
use xpr_parser::{stem, tokenize};

/// Tables a question is seen with.
const MOST_TABLES: usize = 8;
/// Columns of all of them together, unless one table alone has more.
const MOST_COLUMNS: usize = 64;

/// The words that name tables and columns.
#[derive(Debug)]
pub(super) struct Relevance {
    /// For each stem, the tables it names, and by how much.
    named: HashMap<String, Vec<(TableId, f64)>>,
    /// Tables that point to each other.
    neighbours: Vec<HashSet<TableId>>,
    columns: Vec<usize>,
}

impl Relevance {
    /// For a schema; none if it is small enough to be looked at as a whole.
    pub(super) fn new(schema: &Schema) -> Option<Self> {
        let columns: Vec<usize> = schema.tables.iter().map(|table| table.columns.len()).collect();
        if columns.len() <= MOST_TABLES || columns.iter().sum::<usize>() <= MOST_COLUMNS {
            return None;
        }
        let mut named: HashMap<String, Vec<(TableId, f64)>> = HashMap::new();
        let mut neighbours = vec![HashSet::new(); schema.tables.len()];
        for (index, table) in schema.tables.iter().enumerate() {
            let id = TableId(index as u32);
            let mut note = |name: &str, worth: f64| {
                for stem in stems(name) {
                    named.entry(stem).or_default().push((id, worth));
                }
            };
            note(&table.name, 3.0);
            for column in &table.columns {
                note(&column.name, 1.0);
            }
            for to in table.foreign_keys.iter().flat_map(|key| &key.to) {
                neighbours[index].insert(to.table);
                neighbours[to.table.0 as usize].insert(id);
            }
        }
        Some(Relevance { named, neighbours, columns })
    }

    /// The tables a question with these values can be about.
    pub(super) fn tables(&self, utterance: &str, values: &[Value]) -> Vec<TableId> {
        let mut worth = vec![0.0; self.columns.len()];
        let words: HashSet<String> = stems(utterance).into_iter().collect();
        for tables in words.iter().filter_map(|word| self.named.get(word)) {
            // A word that names many tables says little of each. Of a table's several columns with it, one counts.
            let mut most: HashMap<TableId, f64> = HashMap::new();
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
            let tables: HashSet<TableId> = value.columns.iter().map(|column| column.table).collect();
            let share = 2.0 / (tables.len().max(1) as f64).sqrt();
            for table in tables {
                worth[table.0 as usize] += share;
            }
        }
        let alone = worth.clone();
        for (table, neighbours) in self.neighbours.iter().enumerate() {
            let mut around: Vec<f64> =
                neighbours.iter().map(|neighbour| alone[neighbour.0 as usize]).collect();
            around.sort_by(|left, right| right.total_cmp(left));
            // Between two tables that count, a third that joins them does.
            worth[table] += around.iter().take(2).map(|around| 0.3 * around).sum::<f64>();
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

/// The stems of a text or a name in `snake_case` or `camelCase`.
fn stems(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        if c == '_' || (c.is_uppercase() && before.is_lowercase()) {
            spaced.push(' ');
        }
        if c != '_' {
            spaced.push(c);
        }
        before = c;
    }
    tokenize(&spaced).iter().map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::{Column, ColumnId, ColumnType, ForeignKey, Literal, Table};

    fn table(name: &str, columns: &[&str], to: Option<u32>) -> Table {
        let column = |name: &&str| Column { name: (*name).to_owned(), ty: ColumnType::Text };
        let key = |table| ForeignKey {
            columns: vec![0],
            to: vec![ColumnId { table: TableId(table), column: 0 }],
            confidence: 1.0,
        };
        Table {
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            primary_key: vec![],
            foreign_keys: to.map(key).into_iter().collect(),
        }
    }

    #[test]
    fn a_large_schema_is_looked_at_in_part() {
        let mut tables: Vec<Table> =
            (0..100).map(|i| table(&format!("filler{i}"), &["id", "a", "b", "c"], None)).collect();
        tables.push(table("album", &["id", "title"], None));
        tables.push(table("trackList", &["album_id", "seconds"], Some(100)));
        tables.push(table("city", &["name"], None));
        let relevance = Relevance::new(&Schema { tables }).unwrap();
        let found = relevance.tables("how many seconds has the longest album", &[]);
        assert_eq!(found[..2], [TableId(100), TableId(101)]);
        assert!(found.len() <= MOST_TABLES);
        let rome = Value {
            columns: vec![ColumnId { table: TableId(102), column: 0 }],
            ..Value::new(Literal::text("rome"), "rome")
        };
        assert_eq!(relevance.tables("is rome large", &[rome])[0], TableId(102));
        // Words about nothing still see some tables.
        assert_eq!(relevance.tables("", &[]).len(), MOST_TABLES);
    }

    #[test]
    fn a_small_schema_is_looked_at_as_a_whole() {
        let tables = (0..20).map(|i| table(&format!("t{i}"), &["id"], None)).collect();
        assert!(Relevance::new(&Schema { tables }).is_none());
    }
}
