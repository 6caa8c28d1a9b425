//! SQL: the queries people ask of a database.

mod schema;

pub use schema::{Column, ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};
