//! What `xpr init` found out about the tables of a database, kept in the project.
//!
//! The types of columns and the foreign keys that nobody declared are inferred from values. That takes seconds with
//! thousands of columns, and would be done each time a question is asked. So a project keeps them in a file, together with a
//! fingerprint of what the database declares. They are inferred again if that changes, or if the file is deleted.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;
use xpr_exec::database::ReadSchema;
use xpr_lang::sql::{ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};
use xpr_run::fingerprint;

/// The name of the file in a project.
pub const SCHEMA_FILE: &str = "xpr-schema.json";
/// The version of the file.
const FORMAT: u32 = 1;

/// The content of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredSchema {
    format: u32,
    /// The fingerprint of what the database declares.
    declared: String,
    tables: Vec<StoredTable>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct StoredTable {
    /// The name, with the schema that has it if tables of that one need a qualifier.
    name: String,
    /// The types of the columns, in their order.
    types: Vec<StoredType>,
    /// The foreign keys that are not declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<StoredKey>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct StoredKey {
    column: String,
    /// As the name of a table.
    to_table: String,
    to_column: String,
    confidence: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredType {
    Text,
    Number,
    Time,
    Boolean,
    Other,
}

impl From<ColumnType> for StoredType {
    fn from(ty: ColumnType) -> StoredType {
        match ty {
            ColumnType::Text => StoredType::Text,
            ColumnType::Number => StoredType::Number,
            ColumnType::Time => StoredType::Time,
            ColumnType::Boolean => StoredType::Boolean,
            ColumnType::Other => StoredType::Other,
        }
    }
}

impl From<StoredType> for ColumnType {
    fn from(ty: StoredType) -> ColumnType {
        match ty {
            StoredType::Text => ColumnType::Text,
            StoredType::Number => ColumnType::Number,
            StoredType::Time => ColumnType::Time,
            StoredType::Boolean => ColumnType::Boolean,
            StoredType::Other => ColumnType::Other,
        }
    }
}

impl StoredSchema {
    /// Returns what a project keeps of a schema.
    pub fn new(read: &ReadSchema) -> StoredSchema {
        let key = |table: &Table, key: &ForeignKey| {
            let ([column], [to]) = (key.columns.as_slice(), key.to.as_slice()) else { return None };
            Some(StoredKey {
                column: table.columns[*column as usize].name.clone(),
                to_table: read.schema.table_name(to.table),
                to_column: read.schema.column(*to).name.clone(),
                confidence: key.confidence,
            })
        };
        let table = |(index, table): (u32, &Table)| StoredTable {
            name: read.schema.table_name(TableId(index)),
            types: table.columns.iter().map(|column| column.ty.into()).collect(),
            keys: inferred(table).filter_map(|inferred| key(table, inferred)).collect(),
        };
        let tables = (0..).zip(&read.schema.tables).map(table).collect();
        StoredSchema { format: FORMAT, declared: declaration(read), tables }
    }

    /// Returns the content of the file.
    ///
    /// # Errors
    /// Never, in practice: texts and numbers have a form in JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Adds types and keys to the schema that a database declares. Returns `None` if they belong to another schema.
    fn complete(&self, declared: &ReadSchema) -> Option<Schema> {
        if self.format != FORMAT || self.declared != declaration(declared) {
            return None;
        }
        let mut schema = declared.schema.clone();
        if self.tables.len() != schema.tables.len() {
            return None;
        }
        for (index, stored) in self.tables.iter().enumerate() {
            let id = TableId(u32::try_from(index).ok()?);
            let keys: Option<Vec<ForeignKey>> =
                stored.keys.iter().map(|key| restored(&declared.schema, id, key)).collect();
            let table = &mut schema.tables[index];
            if declared.schema.table_name(id) != stored.name || table.columns.len() != stored.types.len() {
                return None;
            }
            for (column, &ty) in table.columns.iter_mut().zip(&stored.types) {
                column.ty = ty.into();
            }
            table.foreign_keys.extend(keys?);
        }
        Some(schema)
    }
}

/// Returns the schema with the types and keys that the project in a folder keeps. Returns the reason if they cannot be used, and
/// `None` if it keeps none.
pub(super) fn read(folder: &Path, declared: &ReadSchema) -> Option<Result<Schema, String>> {
    let path = folder.join(SCHEMA_FILE);
    let content = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        // A pipe that nobody writes to would be read forever.
        Ok(found) if !found.is_file() => {
            return Some(Err(format!("{} is not a regular file", path.display())));
        }
        _ => match xpr_data::read_text(&path) {
            Ok(content) => content,
            Err(error) => return Some(Err(error.to_string())),
        },
    };
    let stored: StoredSchema = match serde_json::from_str(&content) {
        Ok(stored) => stored,
        Err(error) => return Some(Err(format!("{}: {error}", path.display()))),
    };
    let other = || format!("the tables of the database are not those of {}", path.display());
    Some(stored.complete(declared).ok_or_else(other))
}

fn restored(schema: &Schema, table: TableId, key: &StoredKey) -> Option<ForeignKey> {
    let ColumnId { column, .. } = schema.find_column(table, &key.column)?;
    let to_table =
        (0..schema.tables.len() as u32).map(TableId).find(|&id| schema.table_name(id) == key.to_table)?;
    let to = schema.find_column(to_table, &key.to_column)?;
    // A declared key has a confidence of 1.
    let is_inferred = (0.0..1.0).contains(&key.confidence);
    is_inferred.then(|| ForeignKey { columns: vec![column], to: vec![to], confidence: key.confidence })
}

/// Returns the foreign keys that are not declared.
fn inferred(table: &Table) -> impl Iterator<Item = &ForeignKey> {
    table.foreign_keys.iter().filter(|key| key.confidence < 1.0)
}

/// Returns a fingerprint of what a database declares: names, types and keys.
pub(super) fn declaration(read: &ReadSchema) -> String {
    let mut texts: Vec<String> = Vec::new();
    for (index, (table, types)) in (0..).zip(read.schema.tables.iter().zip(&read.declared_types)) {
        texts.push(format!("table {}", read.schema.table_name(TableId(index))));
        for (column, ty) in table.columns.iter().zip(types) {
            texts.extend([column.name.clone(), ty.clone()]);
        }
        texts.push(format!("{:?}", table.primary_key));
        let declared = table.foreign_keys.iter().filter(|key| key.confidence >= 1.0);
        texts.extend(declared.map(|key| format!("{:?} {:?}", key.columns, key.to)));
    }
    fingerprint(texts.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::Column;

    fn column(name: &str, ty: ColumnType) -> Column {
        Column { comment: None, name: name.to_owned(), ty }
    }

    /// A schema with a declared and an inferred key, as it was read.
    fn schema() -> ReadSchema {
        let key = |column, to, confidence| ForeignKey {
            columns: vec![column],
            to: vec![ColumnId { table: TableId(to), column: 0 }],
            confidence,
        };
        let table = |name: &str, columns, foreign_keys| Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns,
            primary_key: vec![0],
            foreign_keys,
        };
        let id = || column("id", ColumnType::Number);
        let tables = vec![
            table("artist", vec![id(), column("name", ColumnType::Text)], vec![]),
            table("label", vec![id(), column("founded", ColumnType::Time)], vec![]),
            table(
                "album",
                vec![id(), column("artist_id", ColumnType::Number), column("label_id", ColumnType::Other)],
                vec![key(1, 0, 1.0), key(2, 1, 0.945_000_05)],
            ),
        ];
        let declared_types = [2, 2, 3].map(|columns| vec!["INT".to_owned(); columns]).to_vec();
        ReadSchema {
            schema: Schema { dialect: Default::default(), tables },
            declared_types,
            left_out: vec![],
        }
    }

    /// Returns what the database of a schema declares.
    fn declared(read: &ReadSchema) -> ReadSchema {
        let mut declared = read.clone();
        for table in &mut declared.schema.tables {
            table.foreign_keys.retain(|key| key.confidence >= 1.0);
            table.columns.iter_mut().for_each(|column| column.ty = ColumnType::Other);
        }
        declared
    }

    /// Issue 20: the keys of tables that have their names in two schemas were lost, and inferred again by each command.
    #[test]
    fn tables_of_the_same_name_in_two_schemas_are_told_apart() {
        let mut read_schema = schema();
        let mut other = read_schema.schema.tables[1].clone();
        (other.name, other.namespace) = ("artist".to_owned(), Some("sales".to_owned()));
        read_schema.schema.tables.push(other);
        read_schema.declared_types.push(vec!["INT".to_owned(); 2]);
        read_schema.schema.tables[2].foreign_keys[1].to = vec![ColumnId { table: TableId(3), column: 1 }];
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(SCHEMA_FILE), StoredSchema::new(&read_schema).to_json().unwrap())
            .unwrap();
        assert_eq!(read(folder.path(), &declared(&read_schema)), Some(Ok(read_schema.schema.clone())));
        let mut moved = declared(&read_schema);
        moved.schema.tables[3].namespace = Some("hr".to_owned());
        assert!(matches!(read(folder.path(), &moved), Some(Err(_))));
    }

    #[test]
    fn a_stored_schema_is_restored_and_that_of_another_database_is_not() {
        let read_schema = schema();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path(), &declared(&read_schema)), None);
        let content = StoredSchema::new(&read_schema).to_json().unwrap();
        let path = folder.path().join(SCHEMA_FILE);
        fs::write(&path, &content).unwrap();
        assert_eq!(read(folder.path(), &declared(&read_schema)), Some(Ok(read_schema.schema.clone())));

        let changes: [fn(&mut ReadSchema); 6] = [
            |read| read.schema.tables[0].name.push('s'),
            |read| read.schema.tables[1].columns[1].name.push('s'),
            |read| read.schema.tables[2].primary_key.clear(),
            |read| read.schema.tables[2].foreign_keys.clear(),
            |read| read.declared_types[0][0].clear(),
            |read| read.schema.tables.swap(0, 1),
        ];
        for change in changes {
            let mut other = declared(&read_schema);
            change(&mut other);
            assert!(matches!(read(folder.path(), &other), Some(Err(_))), "{other:?}");
        }
        for (from, to) in [
            ("\"format\": 1", "\"format\": 2"),
            ("\"album\"", "\"albums\""),
            ("\"to_column\": \"id\"", "\"to_column\": \"no\""),
            ("0.945", "1.5"),
            ("\"time\"", "\"tide\""),
            ("\"time\"", "\"time\", \"time\""),
            ("{", "["),
        ] {
            assert!(content.contains(from), "{from}");
            fs::write(&path, content.replacen(from, to, 1)).unwrap();
            assert!(matches!(read(folder.path(), &declared(&read_schema)), Some(Err(_))), "{from} -> {to}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let reason = read(folder.path(), &declared(&read_schema)).unwrap().unwrap_err();
        assert!(reason.ends_with("is not a regular file"), "{reason}");
    }
}
