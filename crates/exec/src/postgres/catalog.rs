//! What a server says about the tables of a database: names, types, keys, comments and sizes.
//!
//! Tables and columns that the role cannot read are not part of the schema. Neither are partitions, whose rows are those of their table,
//! and the tables of other servers. A view is left out if it calls functions that may do more than read, because the guard
//! sees only the name of the view.

use super::address::Address;
use super::role::{failure, grants, quoted};
use super::session::Session;
use super::transaction::RunError;
use crate::database::{ColumnProfile, DatabaseError, LeftOutTable, ReadSchema};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use xpr_lang::sql::{Column, ColumnId, ColumnType, Dialect, ForeignKey, Schema, Table, TableId};

/// The time for each statement that reads the catalogue.
const TIME: Duration = Duration::from_secs(20);
/// The fewest bytes of a row with its header: no table has more rows than its size allows.
const SMALLEST_ROW: f64 = 28.0;

const SCHEMAS: &str = "
    SELECT nspname::text FROM pg_catalog.pg_namespace
    WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
      AND pg_catalog.has_schema_privilege(oid, 'USAGE')
    ORDER BY nspname <> 'public', nspname";

const TABLES: &str = "
    SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, parts.rows, parts.bytes,
           parts.long_bytes > 0, pg_catalog.obj_description(c.oid, 'pg_class'), c.relispopulated
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
        WITH RECURSIVE part AS (
            SELECT c.oid, c.relkind, c.reltuples, c.reltoastrelid, 0 AS level
            UNION ALL
            SELECT p.oid, p.relkind, p.reltuples, p.reltoastrelid, level + 1
            FROM part JOIN pg_catalog.pg_inherits i ON i.inhparent = part.oid JOIN pg_catalog.pg_class p ON p.oid = i.inhrelid
            WHERE level < 20)
        SELECT pg_catalog.sum(CASE WHEN relkind = 'p' THEN 0 WHEN reltuples < 0 THEN 'NaN' ELSE reltuples END)::float8 AS rows,
               pg_catalog.sum(pg_catalog.pg_table_size(oid))::float8 AS bytes,
               pg_catalog.sum(coalesce(pg_catalog.pg_relation_size(nullif(reltoastrelid, 0)), 0)) AS long_bytes
        FROM part) parts
    WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND EXISTS (
          SELECT FROM pg_catalog.pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))
    ORDER BY pg_catalog.array_position($1, n.nspname::text), c.oid";

const COLUMNS: &str = "
    SELECT a.attrelid, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
           CASE t.typtype WHEN 'd' THEN pg_catalog.format_type(t.typbasetype, NULL) ELSE pg_catalog.format_type(t.oid, NULL) END,
           t.typcategory::text, pg_catalog.col_description(a.attrelid, a.attnum), a.attnum,
           CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped
      AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    ORDER BY a.attrelid, a.attnum";

const KEYS: &str = "
    SELECT conrelid, contype::text, conkey, confrelid, confkey FROM pg_catalog.pg_constraint
    WHERE conrelid = ANY($1) AND contype IN ('p', 'f') ORDER BY conrelid, oid";

const VIEWS: &str = "
    SELECT c.oid, pg_catalog.pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v', 'm') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'";

const EFFECTS: &str = "SELECT DISTINCT proname::text FROM pg_catalog.pg_proc WHERE provolatile = 'v' AND proname::text = ANY($1)";

/// Functions that views call without naming them, by operators and casts.
const HIDDEN_EFFECTS: &str = "
    SELECT DISTINCT r.ev_class, f.proname::text FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.objid = r.oid
    LEFT JOIN pg_catalog.pg_operator o ON d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND o.oid = d.refobjid
    JOIN pg_catalog.pg_proc f
      ON f.oid = CASE WHEN d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass THEN d.refobjid ELSE o.oprcode::pg_catalog.oid END
    WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND f.provolatile = 'v'
    ORDER BY 1, 2";

const USES: &str = "
    SELECT DISTINCT r.ev_class, d.refobjid FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.objid = r.oid
    WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      AND r.ev_class <> d.refobjid";

/// The schemas with operators of extensions, such as those of `citext`, in which queries find nothing else that runs: no operator that
/// belongs to no extension, and no function that `row.function` could call.
const OPERATORS: &str = "
    WITH own AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e')
    SELECT n.nspname::text FROM pg_catalog.pg_namespace n
    WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprnamespace = n.oid)
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_operator o WHERE o.oprnamespace = n.oid AND NOT EXISTS (
              SELECT FROM own WHERE classid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND objid = o.oid))
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_proc f JOIN pg_catalog.pg_type t ON t.oid = f.proargtypes[0]
          WHERE f.pronamespace = n.oid AND f.pronargs - f.pronargdefaults <= 1 AND t.typtype IN ('c', 'p') AND NOT EXISTS (
              SELECT FROM own WHERE classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND objid = f.oid))
    ORDER BY n.nspname";

/// The kind of a column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeKind {
    Boolean,
    Number,
    Money,
    Time,
    Text,
    /// Arrays, documents, shapes and all others.
    Other,
}

impl TypeKind {
    fn new(category: &str, base: &str) -> TypeKind {
        match (category, base) {
            ("B", _) => TypeKind::Boolean,
            ("N", "money") => TypeKind::Money,
            ("N", "smallint" | "integer" | "bigint" | "real" | "double precision" | "numeric" | "oid") => {
                TypeKind::Number
            }
            ("D", _) => TypeKind::Time,
            ("S" | "E", _) => TypeKind::Text,
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
            TypeKind::Money | TypeKind::Other => ColumnType::Other,
        }
    }
}

/// What is known of a table besides its schema.
#[derive(Clone, Debug)]
pub(super) struct TableDetails {
    pub(super) kinds: Vec<TypeKind>,
    /// The estimated rows; infinite if nothing is known.
    pub(super) rows: f64,
    pub(super) bytes: f64,
    /// Whether cells are so long that they are kept outside of the rows.
    pub(super) has_long_cells: bool,
    pub(super) is_view: bool,
    /// Whether a column has a type that is defined in the database.
    pub(super) has_own_types: bool,
}

/// The tables of a database as the server describes them.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) schemas: Vec<String>,
    /// Those of them in which operators are looked up.
    pub(super) operators: Vec<String>,
    /// What the database declares: the type of every column is [`ColumnType::Other`].
    pub(super) declared: ReadSchema,
    details: FxHashMap<(Option<String>, String), TableDetails>,
}

impl Catalog {
    /// Reads the tables of the schemas that an address names, or of all that the role can read.
    pub(super) fn read(session: &mut Session, address: &Address) -> Result<Catalog, DatabaseError> {
        Reader { session, address }.catalog()
    }

    /// Returns what is known of a table besides its schema.
    pub(super) fn details(&self, table: &Table) -> Option<&TableDetails> {
        self.details.get(&(table.namespace.clone(), table.name.clone()))
    }

    /// Returns what is known of each table of a schema.
    pub(super) fn all_details(&self, schema: &Schema) -> Vec<Option<TableDetails>> {
        schema.tables.iter().map(|table| self.details(table).cloned()).collect()
    }
}

/// Returns the full name of a table.
pub(super) fn qualified(table: &Table) -> String {
    format!("{}.{}", quoted(table.namespace.as_deref().unwrap_or("public")), quoted(&table.name))
}

struct Reader<'r> {
    session: &'r mut Session,
    address: &'r Address,
}

impl Reader<'_> {
    fn rows(
        &mut self,
        sql: &str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.session.rows(sql, parameters, TIME).map_err(|error| failure(self.address, error))
    }

    fn catalog(mut self) -> Result<Catalog, DatabaseError> {
        let schemas = self.schemas()?;
        let listed = self.rows(TABLES, &[(&schemas, Type::TEXT_ARRAY)])?;
        let effects = self.views_with_effects()?;
        let mut declared = ReadSchema {
            schema: Schema { dialect: Dialect::Postgres, ..Schema::default() },
            declared_types: vec![],
            left_out: vec![],
        };
        let mut tables: FxHashMap<u32, TableId> = FxHashMap::default();
        let mut details = Vec::new();
        for row in &listed {
            let (oid, kind): (u32, String) = (self.get(row, 0)?, self.get(row, 3)?);
            let (namespace, name): (String, String) = (self.get(row, 1)?, self.get(row, 2)?);
            let is_populated: bool = self.get(row, 8)?;
            let reason = match (kind.as_str(), effects.get(&oid)) {
                _ if !is_populated => {
                    Some("it has no rows until `REFRESH MATERIALIZED VIEW` fills it".to_owned())
                }
                ("f", _) => Some("its rows are on another server".to_owned()),
                (_, Some(function)) => Some(format!("it calls {function}, which may do more than read")),
                _ => None,
            };
            if let Some(reason) = reason {
                declared.left_out.push(LeftOutTable::whole(format!("{namespace}.{name}"), reason));
                continue;
            }
            let (estimate, bytes): (f64, f64) = (
                self.get::<Option<f64>>(row, 4)?.unwrap_or(f64::NAN),
                self.get::<Option<f64>>(row, 5)?.unwrap_or(0.0),
            );
            let is_view = kind == "v";
            let rows = match () {
                () if is_view => f64::INFINITY,
                // A table that was never analyzed has no estimate.
                () if estimate.is_nan() => (bytes / SMALLEST_ROW).max(1.0),
                () => estimate.max(1.0),
            };
            tables.insert(oid, TableId(declared.schema.tables.len() as u32));
            let has_long_cells: Option<bool> = self.get(row, 6)?;
            details.push(TableDetails {
                kinds: vec![],
                rows,
                bytes,
                has_long_cells: has_long_cells.unwrap_or(true),
                is_view,
                has_own_types: false,
            });
            declared.declared_types.push(vec![]);
            declared.schema.tables.push(Table {
                name,
                namespace: Some(namespace),
                comment: self.get(row, 7)?,
                columns: vec![],
                primary_key: vec![],
                foreign_keys: vec![],
            });
        }
        if tables.is_empty() {
            return Err(DatabaseError::NoReadableTables {
                address: self.address.text.clone(),
                user: self.address.user().to_owned(),
                script: grants(&quoted(self.address.user()), &schemas),
            });
        }
        let numbers = self.columns(&tables, &mut declared, &mut details)?;
        self.keys(&tables, &numbers, &mut declared.schema)?;
        let named = declared.schema.tables.iter().map(|table| (table.namespace.clone(), table.name.clone()));
        let details = named.zip(details).collect();
        let mut operators = Vec::new();
        for row in self.rows(OPERATORS, &[])? {
            operators.push(self.get(&row, 0)?);
        }
        Ok(Catalog { schemas, operators, declared, details })
    }

    fn get<'r, T: FromSql<'r>>(&self, row: &'r Row, index: usize) -> Result<T, DatabaseError> {
        row.try_get(index).map_err(|error| failure(self.address, RunError::from(error)))
    }

    /// Returns the schemas to read.
    fn schemas(&mut self) -> Result<Vec<String>, DatabaseError> {
        let mut found = Vec::new();
        for row in self.rows(SCHEMAS, &[])? {
            found.push(self.get::<String>(&row, 0)?);
        }
        if self.address.schemas.is_empty() {
            return Ok(found);
        }
        match self.address.schemas.iter().find(|name| !found.contains(name)) {
            None => Ok(self.address.schemas.clone()),
            Some(missing) => Err(DatabaseError::ServerAddress {
                address: self.address.text.clone(),
                message: format!(
                    "{} can read no schema {missing}; there are {}",
                    self.address.user(),
                    if found.is_empty() { "none".to_owned() } else { found.join(", ") }
                ),
            }),
        }
    }

    /// Adds the columns of tables, and returns for each table the index of each column by its number in the catalogue.
    fn columns(
        &mut self,
        tables: &FxHashMap<u32, TableId>,
        declared: &mut ReadSchema,
        details: &mut [TableDetails],
    ) -> Result<Vec<FxHashMap<i16, u32>>, DatabaseError> {
        let oids: Vec<u32> = tables.keys().copied().collect();
        let mut numbers = vec![FxHashMap::default(); declared.schema.tables.len()];
        for row in self.rows(COLUMNS, &[(&oids, Type::OID_ARRAY)])? {
            let Some(&id) = tables.get(&self.get::<u32>(&row, 0)?) else { continue };
            let index = id.0 as usize;
            let (base, category): (String, String) = (self.get(&row, 3)?, self.get(&row, 4)?);
            let columns = &mut declared.schema.tables[index].columns;
            numbers[index].insert(self.get::<i16>(&row, 6)?, columns.len() as u32);
            columns.push(Column {
                name: self.get(&row, 1)?,
                ty: ColumnType::Other,
                comment: self.get(&row, 5)?,
            });
            declared.declared_types[index].push(self.get(&row, 2)?);
            details[index].kinds.push(TypeKind::new(&category, &base));
            details[index].has_own_types |= Type::from_oid(self.get(&row, 7)?).is_none();
        }
        Ok(numbers)
    }

    fn keys(
        &mut self,
        tables: &FxHashMap<u32, TableId>,
        numbers: &[FxHashMap<i16, u32>],
        schema: &mut Schema,
    ) -> Result<(), DatabaseError> {
        let oids: Vec<u32> = tables.keys().copied().collect();
        let indices = |table: TableId, key: &[i16]| -> Option<Vec<u32>> {
            key.iter().map(|number| numbers[table.0 as usize].get(number).copied()).collect()
        };
        for row in self.rows(KEYS, &[(&oids, Type::OID_ARRAY)])? {
            let Some(&table) = tables.get(&self.get::<u32>(&row, 0)?) else { continue };
            let Some(columns) = indices(table, &self.get::<Vec<i16>>(&row, 2)?) else { continue };
            if self.get::<String>(&row, 1)? == "p" {
                schema.tables[table.0 as usize].primary_key = columns;
                continue;
            }
            let target = tables.get(&self.get::<u32>(&row, 3)?).copied();
            let to: Option<Vec<i16>> = self.get(&row, 4)?;
            if let (Some(target), Some(to)) = (target, to)
                && let Some(to) = indices(target, &to)
            {
                let to = to.into_iter().map(|column| ColumnId { table: target, column }).collect();
                schema.tables[table.0 as usize].foreign_keys.push(ForeignKey {
                    columns,
                    to,
                    confidence: 1.0,
                });
            }
        }
        Ok(())
    }

    /// Returns the views that call functions which may do more than read, themselves or through other views, each with such
    /// a function.
    fn views_with_effects(&mut self) -> Result<FxHashMap<u32, String>, DatabaseError> {
        let mut called: Vec<(u32, Vec<String>)> = Vec::new();
        for row in self.rows(VIEWS, &[])? {
            called.push((self.get(&row, 0)?, called_functions(self.get(&row, 1)?)));
        }
        if called.is_empty() {
            return Ok(FxHashMap::default());
        }
        let names: FxHashSet<&String> = called.iter().flat_map(|(_, names)| names).collect();
        let names: Vec<&String> = names.into_iter().collect();
        let mut effects: FxHashSet<String> = FxHashSet::default();
        for row in self.rows(EFFECTS, &[(&names, Type::TEXT_ARRAY)])? {
            effects.insert(self.get(&row, 0)?);
        }
        let mut views: FxHashMap<u32, String> = FxHashMap::default();
        for (view, names) in called {
            views.extend(names.into_iter().find(|name| effects.contains(name)).map(|name| (view, name)));
        }
        for row in self.rows(HIDDEN_EFFECTS, &[])? {
            views.insert(self.get(&row, 0)?, self.get(&row, 1)?);
        }
        let mut uses: Vec<(u32, u32)> = Vec::new();
        for row in self.rows(USES, &[])? {
            uses.push((self.get(&row, 0)?, self.get(&row, 1)?));
        }
        loop {
            let found =
                uses.iter().find(|(view, used)| !views.contains_key(view) && views.contains_key(used));
            let Some(&(view, used)) = found else { return Ok(views) };
            views.insert(view, views[&used].clone());
        }
    }
}

/// Returns the names before opening parentheses in a definition, which include those of all functions.
fn called_functions(definition: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in definition.match_indices('(') {
        let before = definition[..at].trim_end();
        let name = match before.strip_suffix('"') {
            Some(quoted) => quoted.rsplit('"').next().unwrap_or_default(),
            None => before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default(),
        };
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_a_definition_are_found() {
        let definition = " SELECT pg_sleep((10)::double precision) AS a, public.\"Odd\" (1), count(*) FROM t WHERE (x IN (1, 2))";
        assert_eq!(called_functions(definition), ["IN", "Odd", "WHERE", "count", "pg_sleep"]);
    }
}
