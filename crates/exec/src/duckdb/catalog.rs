//! What DuckDB says about the tables of a file: names, types, keys, comments and sizes.
//!
//! A view is left out if it cannot be read, such as one on a file: DuckDB opens no other files.

use super::error::DuckDbError;
use super::session::{RunLimits, Session};
use crate::database::{Cell, ColumnProfile, DatabaseError, LeftOutTable, ReadSchema};
use crate::{Fault, Outcome};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::time::Duration;
use xpr_lang::sql::{
    Column, ColumnId, ColumnType, DUCKDB_CATALOG, Dialect, ForeignKey, Schema, Table, TableId,
};

/// The time and the size of each statement that reads the catalogue.
const LIMITS: RunLimits = RunLimits { time: Duration::from_secs(10), rows: 1_000_000, output: 256 << 20 };
/// The time in which the rows of a view are counted.
const COUNTING: RunLimits = RunLimits { time: Duration::from_secs(1), rows: 1, output: 100 };

/// The tables and views, those of the default schema first.
const TABLES: &str = "
    SELECT * FROM (
        SELECT schema_name, table_name, comment, estimated_size, table_oid FROM duckdb_tables()
        WHERE database_name = 'attached' AND NOT internal
        UNION ALL
        SELECT schema_name, view_name, comment, NULL, view_oid FROM duckdb_views()
        WHERE database_name = 'attached' AND NOT internal
    )
    ORDER BY schema_name <> 'main', schema_name, table_oid, table_name";

const COLUMNS: &str = "
    SELECT schema_name, table_name, column_name, data_type, comment FROM duckdb_columns()
    WHERE database_name = 'attached' AND NOT internal
    ORDER BY schema_name, table_name, column_index";

/// The keys, one column in a row.
const KEYS: &str = "
    SELECT schema_name, table_name, constraint_index, constraint_type, unnest(constraint_column_names), referenced_table,
           unnest(referenced_column_names)
    FROM duckdb_constraints()
    WHERE database_name = 'attached' AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')";

/// The kind of a column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeKind {
    Boolean,
    Number,
    Time,
    Text,
    /// Lists, structures, documents and all others.
    Other,
}

impl TypeKind {
    fn new(declared: &str) -> TypeKind {
        let is_nested = declared.ends_with(']')
            || ["STRUCT", "MAP", "UNION"].iter().any(|nested| declared.starts_with(nested));
        let name = declared.split('(').next().unwrap_or_default();
        match name {
            _ if is_nested => TypeKind::Other,
            "BOOLEAN" => TypeKind::Boolean,
            "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "HUGEINT" | "UTINYINT" | "USMALLINT"
            | "UINTEGER" | "UBIGINT" | "UHUGEINT" | "FLOAT" | "DOUBLE" | "DECIMAL" => TypeKind::Number,
            "VARCHAR" | "ENUM" => TypeKind::Text,
            _ if name.starts_with("DATE") || name.starts_with("TIME") => TypeKind::Time,
            _ => TypeKind::Other,
        }
    }

    /// Returns the type of a column with these contents. The cells decide what texts are.
    pub(super) fn column_type(self, profile: &ColumnProfile) -> ColumnType {
        match self {
            TypeKind::Boolean => ColumnType::Boolean,
            TypeKind::Number => ColumnType::Number,
            TypeKind::Time => ColumnType::Time,
            TypeKind::Text => profile.column_type("text"),
            TypeKind::Other => ColumnType::Other,
        }
    }
}

/// What is known of a table besides its schema.
#[derive(Clone, Debug)]
pub(super) struct TableDetails {
    pub(super) kinds: Vec<TypeKind>,
    /// The estimated rows; infinite if nothing is known.
    pub(super) rows: f64,
}

/// The tables of a database as DuckDB describes them.
#[derive(Debug)]
pub(super) struct Catalog {
    /// What the database declares: the type of every column is [`ColumnType::Other`].
    pub(super) declared: ReadSchema,
    details: FxHashMap<(Option<String>, String), TableDetails>,
}

impl Catalog {
    pub(super) fn read(session: &mut Session, path: &Path) -> Result<Catalog, DatabaseError> {
        Reader { session, path }.catalog()
    }

    /// Takes note of what is left out besides what DuckDB cannot read.
    pub(super) fn leave_out(&mut self, tables: &[LeftOutTable]) {
        self.declared.left_out.extend_from_slice(tables);
    }

    /// Returns the estimated rows of each table of a schema.
    pub(super) fn rows(&self, schema: &Schema) -> Vec<f64> {
        let rows = |table| self.details(table).map_or(f64::INFINITY, |details| details.rows);
        schema.tables.iter().map(rows).collect()
    }

    /// Returns what is known of a table besides its schema.
    pub(super) fn details(&self, table: &Table) -> Option<&TableDetails> {
        self.details.get(&(table.namespace.clone(), table.name.clone()))
    }
}

/// Returns the full name of a table.
pub(super) fn qualified(table: &Table) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    format!(
        "{DUCKDB_CATALOG}.{}.{}",
        quoted(table.namespace.as_deref().unwrap_or("main")),
        quoted(&table.name)
    )
}

/// A row of the catalogue: texts, and numbers as they are printed.
type CatalogRow = Vec<Option<String>>;
/// The place of each table, by the names of its schema and itself.
type TablesByName = FxHashMap<(String, String), TableId>;

struct Reader<'r> {
    session: &'r mut Session,
    path: &'r Path,
}

impl Reader<'_> {
    fn rows(&mut self, sql: &str) -> Result<Vec<CatalogRow>, DatabaseError> {
        let mut rows = Vec::new();
        let outcome = self.session.run(sql, LIMITS, &mut |row| {
            rows.push(row.iter().map(|&cell| text(cell)).collect());
            Ok(())
        });
        match outcome {
            Ok(()) => Ok(rows),
            Err(fault) => Err(DuckDbError::from_message(self.path, &message(fault)).into()),
        }
    }

    fn catalog(mut self) -> Result<Catalog, DatabaseError> {
        let listed = self.rows(TABLES)?;
        let columns = self.rows(COLUMNS)?;
        let mut declared = ReadSchema {
            schema: Schema { dialect: Dialect::DuckDb, ..Schema::default() },
            declared_types: vec![],
            left_out: vec![],
        };
        let mut columns_of: FxHashMap<(String, String), Vec<CatalogRow>> = FxHashMap::default();
        for row in columns {
            if let [Some(namespace), Some(table), ..] = row.as_slice() {
                columns_of.entry((namespace.clone(), table.clone())).or_default().push(row);
            }
        }
        let mut tables = TablesByName::default();
        let mut details = FxHashMap::default();
        for row in listed {
            let [Some(namespace), Some(name), comment, size, _] = row.as_slice() else { continue };
            let key = (namespace.clone(), name.clone());
            let mut table = Table {
                name: name.clone(),
                namespace: Some(namespace.clone()),
                comment: comment.clone(),
                columns: vec![],
                primary_key: vec![],
                foreign_keys: vec![],
            };
            if let Err(fault) =
                self.session.column_names(&format!("SELECT * FROM {}", qualified(&table)), LIMITS.time)
            {
                let name = format!("{namespace}.{name}");
                declared.left_out.push(LeftOutTable::whole(name, message(fault)));
                continue;
            }
            let (mut types, mut kinds) = (vec![], vec![]);
            for column in columns_of.remove(&key).unwrap_or_default() {
                let [_, _, Some(name), Some(ty), comment] = column.as_slice() else { continue };
                kinds.push(TypeKind::new(ty));
                types.push(ty.clone());
                table.columns.push(Column {
                    name: name.clone(),
                    ty: ColumnType::Other,
                    comment: comment.clone(),
                });
            }
            let size = size.as_ref().and_then(|rows| rows.parse().ok());
            let rows = match size.map_or_else(|| self.counted(&table), Ok) {
                Ok(rows) => rows,
                Err(reason) => {
                    let name = format!("{namespace}.{name}");
                    declared.left_out.push(LeftOutTable::whole(name, reason));
                    continue;
                }
            };
            details.insert((table.namespace.clone(), table.name.clone()), TableDetails { kinds, rows });
            tables.insert(key, TableId(declared.schema.tables.len() as u32));
            declared.schema.tables.push(table);
            declared.declared_types.push(types);
        }
        if tables.is_empty() {
            return Err(DatabaseError::NoTables { path: self.path.to_owned() });
        }
        self.keys(&tables, &mut declared.schema)?;
        Ok(Catalog { declared, details })
    }

    /// Returns the number of rows of a view; infinity if counting them takes long. That of a Parquet file is in its footer.
    ///
    /// # Errors
    /// If the view cannot be read, with the reason.
    fn counted(&mut self, table: &Table) -> Result<f64, String> {
        let mut rows = f64::INFINITY;
        let counting = format!("SELECT count(*) FROM {}", qualified(table));
        let outcome = self.session.run(&counting, COUNTING, &mut |row| {
            if let [Cell::Integer(count)] = row {
                rows = *count as f64;
            }
            Ok(())
        });
        match outcome {
            Ok(()) => Ok(rows),
            Err(Fault::Limit(_)) => Ok(f64::INFINITY),
            Err(fault) => Err(message(fault)),
        }
    }

    fn keys(&mut self, tables: &TablesByName, schema: &mut Schema) -> Result<(), DatabaseError> {
        let find =
            |schema: &Schema, table: TableId, name: &str| schema.find_column(table, name).map(|id| id.column);
        // The columns of a foreign key are in consecutive rows.
        let mut open: Option<(TableId, String)> = None;
        for row in self.rows(KEYS)? {
            let [Some(namespace), Some(name), Some(index), Some(kind), Some(column), target, to] =
                row.as_slice()
            else {
                continue;
            };
            let Some(&table) = tables.get(&(namespace.clone(), name.clone())) else { continue };
            let Some(column) = find(schema, table, column) else { continue };
            if kind == "PRIMARY KEY" {
                schema.tables[table.0 as usize].primary_key.push(column);
                continue;
            }
            let (Some(target), Some(to)) = (target, to) else { continue };
            // A foreign key points to a table of the same schema.
            let Some(&target) = tables.get(&(namespace.clone(), target.clone())) else { continue };
            let Some(to) = find(schema, target, to) else { continue };
            let to = ColumnId { table: target, column: to };
            let keys = &mut schema.tables[table.0 as usize].foreign_keys;
            let this = Some((table, index.clone()));
            match keys.last_mut() {
                Some(key) if open == this => {
                    key.columns.push(column);
                    key.to.push(to);
                }
                _ => keys.push(ForeignKey { columns: vec![column], to: vec![to], confidence: 1.0 }),
            }
            open = this;
        }
        Ok(())
    }
}

fn text(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Null | Cell::Blob(_) => None,
        Cell::Integer(integer) => Some(integer.to_string()),
        Cell::Real(real) => Some(real.to_string()),
        Cell::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
    }
}

fn message(fault: Fault) -> String {
    match fault {
        Fault::Type(message) | Fault::Runtime(message) => message,
        limit @ Fault::Limit(_) => Outcome::from(limit).text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_kinds_of_their_values() {
        for (declared, kind) in [
            ("DECIMAL(18,3)", TypeKind::Number),
            ("UHUGEINT", TypeKind::Number),
            ("ENUM('a', 'b]')", TypeKind::Text),
            ("TIMESTAMP WITH TIME ZONE", TypeKind::Time),
            ("TIMESTAMP_NS", TypeKind::Time),
            ("DATE", TypeKind::Time),
            ("INTEGER[]", TypeKind::Other),
            ("STRUCT(a INTEGER)", TypeKind::Other),
            ("INTERVAL", TypeKind::Other),
            ("JSON", TypeKind::Other),
            ("BLOB", TypeKind::Other),
        ] {
            assert_eq!(TypeKind::new(declared), kind, "{declared}");
        }
    }
}
