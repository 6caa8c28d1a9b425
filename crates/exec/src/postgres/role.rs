//! The check that a role can only read.

use super::address::Address;
use super::session::Session;
use super::transaction::RunError;
use crate::database::DatabaseError;
use std::time::Duration;

/// The time for the check, which looks at all tables.
const TIME: Duration = Duration::from_secs(20);

/// What a role could do besides reading; no row if nothing. Tables of which it is the owner count too.
const POWERS: &str = "
    SELECT 'is a superuser' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper
    UNION ALL
    SELECT 'may replicate' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolreplication
    UNION ALL
    SELECT 'is a member of ' || rolname FROM pg_catalog.pg_roles
    WHERE rolname IN ('pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
                      'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription')
      AND pg_catalog.pg_has_role(current_user, oid, 'MEMBER')
    UNION ALL
    (SELECT 'may write to ' || n.nspname || '.' || c.relname
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
      AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
      AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
           OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
    ORDER BY 1 LIMIT 1)";

/// Returns an error if the role of a session could change something, unless the address allows that.
pub(super) fn check(
    session: &mut Session,
    address: &Address,
    schemas: &[String],
) -> Result<(), DatabaseError> {
    if address.allows_writers {
        return Ok(());
    }
    let rows = session.rows(POWERS, &[], TIME).map_err(|error| failure(address, error))?;
    match rows.first().and_then(|row| row.try_get::<_, String>(0).ok()) {
        None => Ok(()),
        Some(power) => Err(DatabaseError::Writer {
            address: address.text.clone(),
            user: address.user().to_owned(),
            power,
            script: new_role(address, schemas),
        }),
    }
}

/// Returns the statements that make a role which can only read.
fn new_role(address: &Address, schemas: &[String]) -> String {
    let database = quoted(address.database());
    format!(
        "  CREATE ROLE xpr_reader LOGIN PASSWORD '…';\n  GRANT CONNECT ON DATABASE {database} TO xpr_reader;\n{}",
        grants("xpr_reader", schemas)
    )
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the statements that let a role read tables.
pub(super) fn grants(role: &str, schemas: &[String]) -> String {
    let mut script = String::new();
    let default = ["public".to_owned()];
    for schema in if schemas.is_empty() { &default } else { schemas } {
        let schema = quoted(schema);
        script.push_str(&format!(
            "  GRANT USAGE ON SCHEMA {schema} TO {role};\n  GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};\n"
        ));
    }
    script
}

/// Translates an error of a statement of this crate.
pub(super) fn failure(address: &Address, error: RunError) -> DatabaseError {
    let message = match error {
        RunError::Lost(message) => message,
        RunError::Fault(fault) | RunError::Unread(fault) => xpr_lang::Outcome::from(fault).to_string(),
    };
    DatabaseError::Connection { address: address.text.clone(), message }
}
