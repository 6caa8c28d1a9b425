//! The relations between the items of a schema: those of RAT-SQL (Wang et al., 2020), and which columns contain which
//! values.

use super::SqlEnvironment;
use crate::sql::schema::{ColumnId, Schema, TableId};
use crate::{ItemId, Relation, RelationKind};
use rustc_hash::FxHashMap;

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
}

/// The names of relations, which are part of a trained model.
pub(super) const RELATION_NAMES: [&str; 12] = [
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
];

pub(super) fn link(from: ItemId, to: ItemId, link: SchemaLink) -> Relation {
    Relation { from, to, kind: RelationKind(link as u8) }
}

/// Returns whether a relation is a foreign key between columns, in either direction.
pub(super) fn is_key(relation: &Relation) -> bool {
    [SchemaLink::ColumnPointsTo, SchemaLink::ColumnPointedToBy]
        .iter()
        .any(|link| relation.kind == RelationKind(*link as u8))
}

/// Returns the relations between tables and columns, except those of the columns of one table. A pair has at most one: where
/// several apply, it is the most specific one, which is added last.
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
        for column in 0..count {
            let column = self.column(ColumnId { table, column });
            self.links.insert((column, table_item), SchemaLink::ColumnOfTable);
            self.links.insert((table_item, column), SchemaLink::TableHasColumn);
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
}
