//! The tables of a database, as far as queries are concerned.

/// Identifies a table: its index in [`Schema::tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// Identifies a column: its table, and its index in [`Table::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId {
    /// The table it is in.
    pub table: TableId,
    /// Its index there.
    pub column: u32,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnType {
    /// Words.
    Text,
    /// Numbers, whole or not.
    Number,
    /// Dates or times.
    Time,
    /// Yes or no.
    Boolean,
    /// Anything else, or more than one of these.
    Other,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As the database writes it.
    pub name: String,
    /// What its cells hold.
    pub ty: ColumnType,
}

/// Columns of one table that point to rows of another.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    /// The columns that point, as indices in their table.
    pub columns: Vec<u32>,
    /// The columns they point to, one for each.
    pub to: Vec<ColumnId>,
    /// 1 if the database declares it; less if it was inferred from names and values.
    pub confidence: f32,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// As the database writes it.
    pub name: String,
    /// Its columns, in their order there.
    pub columns: Vec<Column>,
    /// The columns of its primary key, as indices; empty if it has none.
    pub primary_key: Vec<u32>,
    /// Where it points.
    pub foreign_keys: Vec<ForeignKey>,
}

/// The tables of a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// In the order of the database.
    pub tables: Vec<Table>,
}

impl Schema {
    /// A table.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0 as usize]
    }

    /// A column.
    pub fn column(&self, id: ColumnId) -> &Column {
        &self.table(id.table).columns[id.column as usize]
    }

    /// The table called `name`, upper or lower case alike.
    pub fn find_table(&self, name: &str) -> Option<TableId> {
        let index = self.tables.iter().position(|table| table.name.eq_ignore_ascii_case(name));
        index.map(|index| TableId(index as u32))
    }

    /// The column of a table called `name`, upper or lower case alike.
    pub fn find_column(&self, table: TableId, name: &str) -> Option<ColumnId> {
        let mut columns = self.table(table).columns.iter();
        let index = columns.position(|column| column.name.eq_ignore_ascii_case(name));
        index.map(|column| ColumnId { table, column: column as u32 })
    }
}
