//! Database schemas.

use super::dialect::Dialect;
use super::identifier::quoted_in;

/// Identifies a table: its index in [`Schema::tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// Identifies a column: its table, and its index in [`Table::columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId {
    /// The table.
    pub table: TableId,
    /// The index of the column in the table.
    pub column: u32,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Integers or real numbers.
    Number,
    /// Dates or times.
    Time,
    /// Truth values.
    Boolean,
    /// Another type, or values of several types.
    Other,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, as the database spells it.
    pub name: String,
    /// The type of the values.
    pub ty: ColumnType,
    /// What the database says about the column, if it has comments.
    pub comment: Option<String>,
}

/// A foreign key: columns of one table that refer to columns of another, or of the same one.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    /// The referring columns, as indices in their table.
    pub columns: Vec<u32>,
    /// The columns they refer to, one for each.
    pub to: Vec<ColumnId>,
    /// 1 if the database declares the key, and less if it was inferred from names and values.
    pub confidence: f32,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name, as the database spells it.
    pub name: String,
    /// The schema of the database that has the table, such as `public`; `None` if the database has no schemas.
    pub namespace: Option<String>,
    /// What the database says about the table, if it has comments.
    pub comment: Option<String>,
    /// The columns, in the order of the database.
    pub columns: Vec<Column>,
    /// The columns of the primary key, as indices; empty if there is none.
    pub primary_key: Vec<u32>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
}

impl Table {
    /// Returns whether a schema of the database has the table. In SQLite, `main` is a name for all of it.
    pub fn is_in(&self, namespace: &str) -> bool {
        self.namespace.as_deref().unwrap_or("main").eq_ignore_ascii_case(namespace)
    }
}

/// The tables of a database.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// The tables, in the order of the database.
    pub tables: Vec<Table>,
    /// The SQL that the database understands.
    pub dialect: Dialect,
}

impl Schema {
    /// Returns a table.
    ///
    /// # Panics
    /// Panics if the id is not one of this schema.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0 as usize]
    }

    /// Returns a column.
    ///
    /// # Panics
    /// Panics if the id is not one of this schema.
    pub fn column(&self, id: ColumnId) -> &Column {
        &self.table(id.table).columns[id.column as usize]
    }

    /// Returns the table with this name, which may begin with the schema that has it. Case matters only if several tables
    /// differ in nothing else.
    pub fn find_table(&self, name: &str) -> Option<TableId> {
        let index = position(self.tables.iter().map(|table| &table.name), name);
        index.map(|index| TableId(index as u32)).or_else(|| {
            let (namespace, name) = name.split_once('.')?;
            self.find_qualified_table(namespace, name)
        })
    }

    /// Returns the table that a schema of the database has under this name. Case matters as for [`Schema::find_table`].
    pub fn find_qualified_table(&self, namespace: &str, name: &str) -> Option<TableId> {
        let there: Vec<usize> =
            (0..self.tables.len()).filter(|&index| self.tables[index].is_in(namespace)).collect();
        let index = position(there.iter().map(|&index| &self.tables[index].name), name)?;
        Some(TableId(there[index] as u32))
    }

    /// Returns the name of a table for people: it begins with the schema that has it if tables of that one need a qualifier.
    ///
    /// # Panics
    /// Panics if the id is not one of this schema.
    pub fn table_name(&self, id: TableId) -> String {
        let table = self.table(id);
        match table.namespace.as_deref().filter(|&namespace| namespace != self.dialect.default_namespace()) {
            Some(namespace) => format!("{namespace}.{}", table.name),
            None => table.name.clone(),
        }
    }

    /// Returns the name of a table in the SQL of the database, with the schema that has it unless tables of that one need no qualifier.
    ///
    /// # Panics
    /// Panics if the id is not one of this schema.
    pub fn table_in_sql(&self, id: TableId) -> String {
        let table = self.table(id);
        let name = quoted_in(&table.name, self.dialect);
        match table.namespace.as_deref().filter(|&namespace| namespace != self.dialect.default_namespace()) {
            Some(namespace) => format!("{}.{name}", quoted_in(namespace, self.dialect)),
            None => name,
        }
    }

    /// Returns the name of a column in the SQL of the database, without that of its table.
    ///
    /// # Panics
    /// Panics if the id is not one of this schema.
    pub fn column_in_sql(&self, id: ColumnId) -> String {
        quoted_in(&self.column(id).name, self.dialect)
    }

    /// Returns the column of a table with this name. Case matters as for [`Schema::find_table`].
    pub fn find_column(&self, table: TableId, name: &str) -> Option<ColumnId> {
        let index = position(self.table(table).columns.iter().map(|column| &column.name), name);
        index.map(|column| ColumnId { table, column: column as u32 })
    }
}

/// Returns the position of a name among others: of the one that is spelled alike, or of the first that differs in case only.
fn position<'n>(names: impl Iterator<Item = &'n String>, name: &str) -> Option<usize> {
    let mut alike = None;
    for (index, other) in names.enumerate() {
        if other == name {
            return Some(index);
        }
        if alike.is_none() && other.eq_ignore_ascii_case(name) {
            alike = Some(index);
        }
    }
    alike
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 20: PostgreSQL has tables whose names differ in case only.
    #[test]
    fn names_that_are_spelled_alike_come_first() {
        let column = |name: &str| Column { name: name.to_owned(), ty: ColumnType::Text, comment: None };
        let table = |namespace: &str, name: &str| Table {
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            comment: None,
            columns: vec![column("Id"), column("id")],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let tables = vec![table("public", "Artist"), table("public", "artist"), table("sales", "artist")];
        let schema = Schema { tables, dialect: Dialect::Postgres };
        for (name, expected) in [
            ("Artist", Some(0)),
            ("artist", Some(1)),
            ("ARTIST", Some(0)),
            ("public.artist", Some(1)),
            ("sales.ARTIST", Some(2)),
            ("hr.artist", None),
        ] {
            assert_eq!(schema.find_table(name), expected.map(TableId), "{name}");
        }
        for (name, expected) in [("Id", 0), ("id", 1), ("ID", 0)] {
            assert_eq!(schema.find_column(TableId(0), name).map(|id| id.column), Some(expected), "{name}");
        }
        assert_eq!(schema.table_name(TableId(1)), "artist");
        assert_eq!(schema.table_name(TableId(2)), "sales.artist");
    }
}
