//! The symbols of tables and columns in programs.

use super::identifier::quoted;
use super::schema::{ColumnId, Schema, TableId};
use rustc_hash::FxHashMap;

/// The symbols of a schema: `state` for a table, `state.area` for a column.
#[derive(Clone, Debug)]
pub(super) struct Symbols {
    tables: Vec<String>,
    columns: Vec<Vec<String>>,
    meanings: FxHashMap<String, Meaning>,
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Table(TableId),
    Column(ColumnId),
}

impl Symbols {
    pub(super) fn new(schema: &Schema) -> Self {
        let mut symbols = Symbols { tables: vec![], columns: vec![], meanings: FxHashMap::default() };
        for (index, table) in schema.tables.iter().enumerate() {
            let id = TableId(index as u32);
            let is_first = schema.find_table(&table.name) == Some(id);
            let name = match &table.namespace {
                Some(namespace) if !is_first => format!("{}.{}", quoted(namespace), quoted(&table.name)),
                _ => quoted(&table.name),
            };
            let mut columns = Vec::new();
            for (index, column) in table.columns.iter().enumerate() {
                let symbol = format!("{name}.{}", quoted(&column.name));
                let column = ColumnId { table: id, column: index as u32 };
                symbols.meanings.insert(symbol.clone(), Meaning::Column(column));
                columns.push(symbol);
            }
            symbols.meanings.insert(name.clone(), Meaning::Table(id));
            symbols.tables.push(name);
            symbols.columns.push(columns);
        }
        symbols
    }

    pub(super) fn table(&self, table: TableId) -> &str {
        &self.tables[table.0 as usize]
    }

    pub(super) fn column(&self, column: ColumnId) -> &str {
        &self.columns[column.table.0 as usize][column.column as usize]
    }

    pub(super) fn meaning(&self, symbol: &str) -> Option<Meaning> {
        self.meanings.get(symbol).copied()
    }
}
