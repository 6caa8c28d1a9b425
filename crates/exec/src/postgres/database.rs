//! A database on a server, opened for reading.

use super::address::Address;
use super::catalog::Catalog;
use super::role;
use super::runner::PostgresRunner;
use super::session::{Server, Session};
use super::values::PostgresValues;
use crate::Executor;
use crate::database::{Database, DatabaseError, ProgressCallback, QueryLimits, ReadSchema, ValueReader};
use std::fmt;
use std::sync::Arc;
use xpr_lang::sql::Schema;

/// A database on a PostgreSQL server.
#[derive(Clone)]
pub struct PostgresDatabase {
    pub(super) server: Arc<Server>,
    pub(super) catalog: Arc<Catalog>,
}

impl fmt::Debug for PostgresDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The configuration of the connection has the password.
        f.debug_struct("PostgresDatabase").field("address", &self.server.address.text).finish_non_exhaustive()
    }
}

impl PostgresDatabase {
    /// Connects to the database at an address such as `postgres://reader@host/music`, and reads what it declares.
    ///
    /// # Errors
    /// If the server cannot be reached, or the role may do more than read, or can read no table.
    pub fn open(address: &str) -> Result<PostgresDatabase, DatabaseError> {
        let server = Arc::new(Server::new(Address::read(address)?)?);
        let mut session = Session::open(&server)?;
        let catalog = Catalog::read(&mut session, &server.address)?;
        role::check(&mut session, &server.address, &catalog.schemas)?;
        server.set_search_path(&catalog.operators);
        Ok(PostgresDatabase { server, catalog: Arc::new(catalog) })
    }

    fn new_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
        is_checked: bool,
    ) -> Result<Box<dyn Executor>, DatabaseError> {
        let details = self.catalog.all_details(schema);
        Ok(Box::new(PostgresRunner::new(&self.server, (schema.clone(), details), limits, is_checked)?))
    }
}

impl Database for PostgresDatabase {
    fn name(&self) -> &str {
        self.server.address.database()
    }

    fn label(&self) -> String {
        self.server.address.text.clone()
    }

    fn access(&self) -> String {
        format!(
            "by the role {}, in transactions that are rolled back; each query sees the latest state",
            self.server.address.user()
        )
    }

    fn check_unchanged(&self) -> Result<(), DatabaseError> {
        match self.server.loss() {
            None => Ok(()),
            Some(message) => Err(DatabaseError::Gone { address: self.server.address.text.clone(), message }),
        }
    }

    fn read_schema(&self, progress: &mut ProgressCallback<'_>) -> Result<ReadSchema, DatabaseError> {
        let mut values = PostgresValues::new(&self.server, &self.catalog)?;
        self.catalog.declared.clone().with_inferred(&mut values, || self.label(), progress)
    }

    fn declared_schema(&self) -> Result<ReadSchema, DatabaseError> {
        Ok(self.catalog.declared.clone())
    }

    fn value_reader(&self, _: &Schema) -> Result<Box<dyn ValueReader>, DatabaseError> {
        Ok(Box::new(PostgresValues::new(&self.server, &self.catalog)?))
    }

    fn runner(&self, schema: &Schema, limits: QueryLimits) -> Result<Box<dyn Executor>, DatabaseError> {
        self.new_runner(schema, limits, false)
    }

    fn checked_runner(
        &self,
        schema: &Schema,
        limits: QueryLimits,
    ) -> Result<Box<dyn Executor>, DatabaseError> {
        self.new_runner(schema, limits, true)
    }
}
