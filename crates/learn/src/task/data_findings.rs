//! What is in a database that makes right queries find nothing.
//!
//! People's databases have cells with blanks around the text, constants that differ from the cells in case, foreign keys that match no row, and
//! keys that nobody declared. A parser that is trained on such data answers with nothing, and nobody sees why.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::time::{Duration, Instant};
use xpr_exec::Executor;
use xpr_exec::database::{Database, DatabaseError, QueryLimits, answer_rows};
use xpr_lang::sql::{ColumnId, ColumnType, ForeignKey, Literal, Query, Schema, TableId};
use xpr_text::split_identifier;

/// The share of the values of a column that another table must have for a key to be suggested.
const SHARE_OF_KEY: f64 = 0.9;
/// The time after which a large database is no longer examined.
const LONGEST: Duration = Duration::from_secs(10);

/// A column whose cells have blanks around their text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaddedColumn {
    /// The column, as `table.column`.
    pub column: String,
    /// The number of such cells.
    pub cells: usize,
    /// The text of one of them.
    pub example: String,
}

/// A constant of labels that no cell of its column has, but for blanks or case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MisspelledConstant {
    /// The column, as `table.column`.
    pub column: String,
    /// The constant of the labels.
    pub constant: String,
    /// What a cell has instead.
    pub cell: String,
    /// The number of labels.
    pub labels: usize,
}

/// A pair of columns, the first of which may refer to the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnPair {
    /// The referring column, as `table.column`.
    pub from: String,
    /// The column it refers to.
    pub to: String,
}

/// A key that is not declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedKey {
    /// The columns.
    #[serde(flatten)]
    pub columns: ColumnPair,
    /// The number of labels that join along it. If there are none, names and values suggest it.
    pub labels: usize,
}

/// What is in a database that makes right queries find nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataFindings {
    /// Columns whose cells have blanks around their text.
    pub padded: Vec<PaddedColumn>,
    /// Constants of labels that differ from the cells of their column in blanks or case.
    pub misspelled: Vec<MisspelledConstant>,
    /// Foreign keys that match no row, although both tables have rows.
    pub unmatched_keys: Vec<ColumnPair>,
    /// Keys that are neither declared nor inferred.
    pub suggested_keys: Vec<SuggestedKey>,
}

impl DataFindings {
    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        *self == DataFindings::default()
    }
}

/// Examines a database. What takes too long to find out is left open.
pub(super) struct Examiner<'a> {
    schema: &'a Schema,
    runner: Box<dyn Executor>,
    start: Instant,
}

impl<'a> Examiner<'a> {
    pub(super) fn new(database: &dyn Database, schema: &'a Schema) -> Result<Self, DatabaseError> {
        let limits = QueryLimits { time: Duration::from_secs(1), ..QueryLimits::interactive() };
        let runner = database.runner(schema, limits)?;
        Ok(Examiner { schema, runner, start: Instant::now() })
    }

    /// Returns what makes the queries of labels find nothing.
    pub(super) fn examine(&mut self, queries: &[Query]) -> DataFindings {
        self.start = Instant::now();
        DataFindings {
            padded: self.padded(),
            misspelled: self.misspelled(queries),
            unmatched_keys: self.unmatched_keys(),
            suggested_keys: self.suggested_keys(queries),
        }
    }

    fn padded(&mut self) -> Vec<PaddedColumn> {
        let text_columns: Vec<ColumnId> =
            self.columns().filter(|&id| self.schema.column(id).ty == ColumnType::Text).collect();
        let mut found = Vec::new();
        for id in text_columns {
            let (table, column) = self.names(id);
            let query = format!(
                "SELECT count(*), min({column}) FROM {table} WHERE length({column}) <> length(trim({column}))"
            );
            if let Some([cells, example]) = self.row(&query)
                && let Some(cells) = cells.parse().ok().filter(|&cells: &usize| cells > 0)
            {
                found.push(PaddedColumn { column: self.name(id), cells, example });
            }
        }
        found
    }

    fn misspelled(&mut self, queries: &[Query]) -> Vec<MisspelledConstant> {
        let mut counts: FxHashMap<(ColumnId, String), usize> = FxHashMap::default();
        for query in queries {
            let used: FxHashSet<(ColumnId, String)> = query.compared_texts().into_iter().collect();
            used.into_iter().for_each(|compared| *counts.entry(compared).or_default() += 1);
        }
        let mut compared: Vec<((ColumnId, String), usize)> = counts.into_iter().collect();
        compared.sort();
        let mut found = Vec::new();
        for ((id, constant), labels) in compared {
            let (table, column) = self.names(id);
            let literal = Literal::text(constant.as_str());
            let query = format!(
                "SELECT sum(CASE WHEN {column} = {literal} THEN 1 ELSE 0 END), min({column}) FROM {table} \
                 WHERE lower(trim({column})) = lower(trim({literal}))"
            );
            if let Some([same, cell]) = self.row(&query)
                && same == "0"
            {
                found.push(MisspelledConstant { column: self.name(id), constant, cell, labels });
            }
        }
        found
    }

    fn unmatched_keys(&mut self) -> Vec<ColumnPair> {
        let schema = self.schema;
        let mut found = Vec::new();
        for (table, contents) in (0..).map(TableId).zip(&schema.tables) {
            for key in &contents.foreign_keys {
                let Some(to) = key.to.first().map(|column| column.table) else { continue };
                let (from_name, to_name) = (schema.table_in_sql(table), schema.table_in_sql(to));
                let pairs = key.columns.iter().zip(&key.to).map(|(&column, &to)| {
                    let from = ColumnId { table, column };
                    format!("a.{} = b.{}", self.names(from).1, self.names(to).1)
                });
                let condition = pairs.collect::<Vec<_>>().join(" AND ");
                let query = format!(
                    "SELECT EXISTS (SELECT 1 FROM {from_name}) AND EXISTS (SELECT 1 FROM {to_name}), \
                     EXISTS (SELECT 1 FROM {from_name} AS a, {to_name} AS b WHERE {condition})"
                );
                if self.row(&query) == Some(["1".to_owned(), "0".to_owned()]) {
                    found.push(self.key_pair(table, key));
                }
            }
        }
        found.dedup();
        found
    }

    /// Returns the joins of labels that are no keys, and then the keys that names and values suggest.
    fn suggested_keys(&mut self, queries: &[Query]) -> Vec<SuggestedKey> {
        let mut counts: FxHashMap<[ColumnId; 2], usize> = FxHashMap::default();
        for query in queries {
            let pairs: FxHashSet<[ColumnId; 2]> =
                query.equated_columns().into_iter().filter_map(|pair| self.directed(pair)).collect();
            pairs.into_iter().for_each(|pair| *counts.entry(pair).or_default() += 1);
        }
        let mut joined: Vec<([ColumnId; 2], usize)> = counts.into_iter().collect();
        joined.sort_by_key(|&(pair, labels)| (std::cmp::Reverse(labels), pair));
        let of_labels: FxHashSet<[ColumnId; 2]> = joined.iter().map(|(pair, _)| *pair).collect();
        let targets = targets_by_name(self.schema);
        for from in self.columns() {
            if !self.may_need_key(from) {
                continue;
            }
            let name = split_identifier(&self.schema.column(from).name);
            for &to in targets.get(&name).into_iter().flatten().filter(|to| to.table != from.table) {
                if self.start.elapsed() > LONGEST {
                    break;
                }
                if !of_labels.contains(&[from, to]) && self.has_values_of([from, to]) {
                    joined.push(([from, to], 0));
                }
            }
        }
        let suggested = |([from, to], labels): ([ColumnId; 2], usize)| SuggestedKey {
            columns: ColumnPair { from: self.name(from), to: self.name(to) },
            labels,
        };
        joined.into_iter().map(suggested).collect()
    }

    /// Returns a pair of joined columns with the primary key last; none if one of them has a key already, or none is a primary key.
    fn directed(&self, [left, right]: [ColumnId; 2]) -> Option<[ColumnId; 2]> {
        let is_primary = |id: ColumnId| self.schema.table(id.table).primary_key == [id.column];
        let pair = match (is_primary(left), is_primary(right)) {
            (_, true) => [left, right],
            (true, false) => [right, left],
            (false, false) => return None,
        };
        // Columns that refer to something else are joined for another reason.
        (left.table != right.table && !self.has_key(left) && !self.has_key(right)).then_some(pair)
    }

    /// Returns whether a column belongs to a foreign key, declared or inferred.
    fn has_key(&self, id: ColumnId) -> bool {
        self.schema.table(id.table).foreign_keys.iter().any(|key| key.columns.contains(&id.column))
    }

    /// Returns whether a column has no key and is none.
    fn may_need_key(&self, id: ColumnId) -> bool {
        !self.has_key(id) && self.schema.table(id.table).primary_key != [id.column]
    }

    /// Returns whether nearly all values of a column are those of another one.
    fn has_values_of(&mut self, [from, to]: [ColumnId; 2]) -> bool {
        let ((table, column), (to_table, to_column)) = (self.names(from), self.names(to));
        let query = format!(
            "SELECT count(*), sum(CASE WHEN value IN (SELECT {to_column} FROM {to_table}) THEN 1 ELSE 0 END) \
             FROM (SELECT DISTINCT {column} AS value FROM {table} WHERE {column} IS NOT NULL) AS known"
        );
        let counts = self.row(&query).map(|counts| counts.map(|count| count.parse::<f64>().unwrap_or(0.0)));
        counts.is_some_and(|[all, known]| all > 0.0 && known >= SHARE_OF_KEY * all)
    }

    /// Returns the cells of the only row of a query with this number of columns.
    fn row<const COLUMNS: usize>(&mut self, query: &str) -> Option<[String; COLUMNS]> {
        if self.start.elapsed() > LONGEST {
            return None;
        }
        let outcome = self.runner.execute(query);
        let mut rows = answer_rows(outcome.denotation()?)?;
        rows.pop().filter(|_| rows.is_empty())?.try_into().ok()
    }

    fn columns(&self) -> impl Iterator<Item = ColumnId> + use<'a> {
        let tables = (0..).map(TableId).zip(&self.schema.tables);
        tables.flat_map(|(table, contents)| {
            (0..contents.columns.len() as u32).map(move |column| ColumnId { table, column })
        })
    }

    /// Returns the names of a table and its column as SQL spells them.
    fn names(&self, id: ColumnId) -> (String, String) {
        (self.schema.table_in_sql(id.table), self.schema.column_in_sql(id))
    }

    /// Returns `table.column`.
    fn name(&self, id: ColumnId) -> String {
        format!("{}.{}", self.schema.table_name(id.table), self.schema.column(id).name)
    }

    fn key_pair(&self, table: TableId, key: &ForeignKey) -> ColumnPair {
        let from = key.columns.iter().map(|&column| self.name(ColumnId { table, column }));
        let to = key.to.iter().map(|&column| self.name(column));
        ColumnPair { from: from.collect::<Vec<_>>().join(" + "), to: to.collect::<Vec<_>>().join(" + ") }
    }
}

/// Returns the primary keys that columns with these names are called after: `museum_id`, or `id` of `museum`. They are in the
/// order of the schema.
fn targets_by_name(schema: &Schema) -> FxHashMap<Vec<String>, Vec<ColumnId>> {
    let mut targets: FxHashMap<Vec<String>, Vec<ColumnId>> = FxHashMap::default();
    for (table, contents) in (0..).map(TableId).zip(&schema.tables) {
        let [column] = contents.primary_key[..] else { continue };
        let key = split_identifier(&contents.columns[column as usize].name);
        let with_table = [split_identifier(&contents.name), key.clone()].concat();
        let names = [Some(with_table), Some(key).filter(|key| key.len() > 1)];
        for name in names.into_iter().flatten() {
            let of_name = targets.entry(name).or_default();
            let target = ColumnId { table, column };
            if of_name.last() != Some(&target) {
                of_name.push(target);
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::{Column, Table};

    /// Issue 18: every column was compared with every table.
    #[test]
    fn columns_are_called_after_primary_keys() {
        let table = |name: &str, columns: &[&str], primary_key: &[u32]| Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns: columns
                .iter()
                .map(|&name| Column { comment: None, name: name.to_owned(), ty: ColumnType::Number })
                .collect(),
            primary_key: primary_key.to_vec(),
            foreign_keys: vec![],
        };
        let tables = vec![
            table("museum", &["id", "name"], &[0]),
            table("visit", &["museum_id", "ticketCode"], &[]),
            table("ticket", &["ticket_code"], &[0]),
            table("old_ticket", &["ticket_code"], &[0]),
            table("_", &["both_words"], &[0]),
            table("pair", &["a", "b"], &[0, 1]),
        ];
        let targets = targets_by_name(&Schema { dialect: Default::default(), tables });
        let of = |name: &str| {
            let found = targets.get(&split_identifier(name));
            found.into_iter().flatten().map(|id| id.table.0).collect::<Vec<u32>>()
        };
        for (name, expected) in [
            ("museum_id", &[0][..]),
            ("MuseumID", &[0]),
            ("id", &[]),
            ("ticketCode", &[2, 3]),
            ("ticket_ticket_code", &[2]),
            ("both words", &[4]),
            ("pair_a", &[]),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }
}
