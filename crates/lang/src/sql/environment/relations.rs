//! The relations between the items of a schema: those of RAT-SQL (Wang et al., 2020), and which columns contain which
//! values.

use super::SqlEnvironment;
use crate::sql::schema::{ColumnId, Schema, Table, TableId};
use crate::{ItemId, Relation, RelationKind, WordRelations};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The meaning of a relation from one item to another, in the order of [`RELATION_NAMES`].
#[derive(Clone, Copy)]
pub(super) enum SchemaLink {
    ColumnOfTable,
    TableHasColumn,
    PrimaryKeyOfTable,
    TableHasPrimaryKey,
    SameTable,
    ColumnPointsTo,
    ColumnPointedToBy,
    TablePointsTo,
    TablePointedToBy,
    TablesPointToEachOther,
    ValueInColumn,
    ColumnHasValue,
    TablesLinked,
    TablePointsThrough,
    TablePointedToThrough,
    TablesPointToSame,
    WordOfValueInColumn,
    ColumnHasWordOfValue,
    WordOfReorderedName,
    ReorderedNameHasWord,
}

/// The names of relations, which are part of a trained model.
pub(super) const RELATION_NAMES: [&str; 20] = [
    "column of table",
    "table has column",
    "primary key of table",
    "table has primary key",
    "columns of one table",
    "column points to column",
    "column is pointed to by column",
    "table points to table",
    "table is pointed to by table",
    "tables point to each other",
    "value found in column",
    "column holds value",
    "a table points to both tables",
    "table points to table through another",
    "table is pointed to by table through another",
    "tables point to one table",
    "word of a value found in column",
    "column holds value with word",
    "word of a name in another order",
    "name in another order has word",
];

/// How words are related to tables and columns that are not said by their names.
pub(super) const WORD_RELATIONS: WordRelations = WordRelations {
    value_in_item: RelationKind(SchemaLink::ValueInColumn as u8),
    word_of_value: RelationKind(SchemaLink::WordOfValueInColumn as u8),
    item_with_value: RelationKind(SchemaLink::ColumnHasWordOfValue as u8),
    word_of_reordered: RelationKind(SchemaLink::WordOfReorderedName as u8),
    reordered_item: RelationKind(SchemaLink::ReorderedNameHasWord as u8),
};

pub(super) fn link(from: ItemId, to: ItemId, link: SchemaLink) -> Relation {
    Relation { from, to, kind: RelationKind(link as u8) }
}

/// Returns whether a relation is a foreign key between columns, in either direction.
pub(super) fn is_key(relation: &Relation) -> bool {
    [SchemaLink::ColumnPointsTo, SchemaLink::ColumnPointedToBy]
        .iter()
        .any(|link| relation.kind == RelationKind(*link as u8))
}

/// Returns the relations between tables and columns. A pair has at most one: where several apply, it is the most
/// specific one, which is added last.
pub(super) fn schema_relations(environment: &SqlEnvironment, schema: &Schema) -> Vec<Relation> {
    let mut links = Links { environment, links: FxHashMap::default() };
    for (id, table) in (0..).map(TableId).zip(&schema.tables) {
        links.add_columns(id, table.columns.len() as u32);
        links.add_primary_key(id, &table.primary_key);
    }
    for (id, table) in (0..).map(TableId).zip(&schema.tables) {
        for key in &table.foreign_keys {
            for (&column, &to) in key.columns.iter().zip(&key.to) {
                links.add_foreign_key(ColumnId { table: id, column }, to);
            }
        }
    }
    links.add_paths(&schema.tables);
    let mut relations: Vec<Relation> =
        links.links.into_iter().map(|((from, to), kind)| link(from, to, kind)).collect();
    relations.sort_unstable();
    relations
}

struct Links<'a> {
    environment: &'a SqlEnvironment,
    links: FxHashMap<(ItemId, ItemId), SchemaLink>,
}

impl Links<'_> {
    fn table(&self, table: TableId) -> ItemId {
        self.environment.table(table).expect("the environment of a whole schema has all its tables")
    }

    fn column(&self, column: ColumnId) -> ItemId {
        self.environment.column(column).expect("keys have columns of the schema")
    }

    fn add_columns(&mut self, table: TableId, count: u32) {
        let table_item = self.table(table);
        let columns: Vec<ItemId> = (0..count).map(|column| self.column(ColumnId { table, column })).collect();
        for &column in &columns {
            self.links.insert((column, table_item), SchemaLink::ColumnOfTable);
            self.links.insert((table_item, column), SchemaLink::TableHasColumn);
            let others = columns.iter().filter(|other| **other != column);
            self.links.extend(others.map(|other| ((column, *other), SchemaLink::SameTable)));
        }
    }

    fn add_primary_key(&mut self, table: TableId, columns: &[u32]) {
        let table_item = self.table(table);
        for &column in columns {
            let column = self.column(ColumnId { table, column });
            self.links.insert((column, table_item), SchemaLink::PrimaryKeyOfTable);
            self.links.insert((table_item, column), SchemaLink::TableHasPrimaryKey);
        }
    }

    fn add_foreign_key(&mut self, from: ColumnId, to: ColumnId) {
        let (from_column, to_column) = (self.column(from), self.column(to));
        self.links.insert((from_column, to_column), SchemaLink::ColumnPointsTo);
        self.links.insert((to_column, from_column), SchemaLink::ColumnPointedToBy);

        let (from_table, to_table) = (self.table(from.table), self.table(to.table));
        let is_mutual = from_table == to_table
            || matches!(
                self.links.get(&(from_table, to_table)),
                Some(SchemaLink::TablePointedToBy | SchemaLink::TablesPointToEachOther)
            );
        let [forward, backward] = match is_mutual {
            true => [SchemaLink::TablesPointToEachOther; 2],
            false => [SchemaLink::TablePointsTo, SchemaLink::TablePointedToBy],
        };
        self.links.insert((from_table, to_table), forward);
        self.links.insert((to_table, from_table), backward);
    }

    /// Relates tables that a third table connects: most queries about both need it, although questions seldom name it. Tables
    /// that a key connects keep their relation.
    fn add_paths(&mut self, tables: &[Table]) {
        let items: Vec<ItemId> = (0..tables.len() as u32).map(|id| self.table(TableId(id))).collect();
        let mut pointing: Vec<Vec<ItemId>> = vec![vec![]; tables.len()];
        let mut pointed_to: Vec<Vec<ItemId>> = vec![vec![]; tables.len()];
        for (id, table) in (0..).map(TableId).zip(tables) {
            let to = table.foreign_keys.iter().flat_map(|key| &key.to).map(|column| column.table);
            let to: BTreeSet<TableId> = to.filter(|to| *to != id).collect();
            for to in to {
                pointing[to.0 as usize].push(items[id.0 as usize]);
                pointed_to[id.0 as usize].push(items[to.0 as usize]);
            }
        }
        let mut paths = Vec::new();
        for (from, to) in pointing.iter().zip(&pointed_to) {
            let (from, to) = (few(from), few(to));
            paths.extend(pairs(to, to).map(|pair| (SchemaLink::TablesLinked, pair)));
            paths.extend(pairs(from, to).map(|pair| (SchemaLink::TablePointsThrough, pair)));
            paths.extend(pairs(to, from).map(|pair| (SchemaLink::TablePointedToThrough, pair)));
            paths.extend(pairs(from, from).map(|pair| (SchemaLink::TablesPointToSame, pair)));
        }
        // Of several paths, one through a table that points to both says most.
        paths.sort_by_key(|(kind, _)| *kind as u8);
        for (kind, pair) in paths.into_iter().filter(|(_, (one, other))| one != other) {
            self.links.entry(pair).or_insert(kind);
        }
    }
}

/// The largest number of tables that one table connects. A table with more keys than that, such as a list of countries, says
/// little about which of the others belong together.
const MOST_CONNECTED: usize = 12;

/// Returns the tables, or none if there are too many.
fn few(tables: &[ItemId]) -> &[ItemId] {
    if tables.len() <= MOST_CONNECTED { tables } else { &[] }
}

fn pairs<'a>(left: &'a [ItemId], right: &'a [ItemId]) -> impl Iterator<Item = (ItemId, ItemId)> + 'a {
    left.iter().flat_map(move |&one| right.iter().map(move |&other| (one, other)))
}
