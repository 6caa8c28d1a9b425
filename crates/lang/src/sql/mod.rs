//! SQL: queries to a database.
//!
//! A query has three forms. Its *text* is what people write and databases run. A [`Query`] is its syntax tree, with
//! every name resolved against a [`Schema`]. A [`crate::Program`] is what a parser writes, one action for each
//! decision. `reader` and `writer` convert between text and tree, `encode` and `decode` between tree and program,
//! and `rules` defines which programs exist.
//!
//! The key decision is that **a column is a pointer, and its source is implied**. A program points to `state.area`,
//! which means the first occurrence of `state` in the nearest enclosing `FROM` that has it. Wrapping actions select
//! another occurrence, and are needed only where a table is joined with itself. Programs and trees have no aliases.
//!
//! Where SQL can express the same thing in several ways, programs have one (`query` has the list), chosen so that
//! SQLite returns the same rows. A text that the tree cannot represent is refused with the reason.
//!
//! ```
//! use xpr_lang::sql::{Column, ColumnType, Dialect, Literal, Schema, Sql, SqlEnvironment, SuggestedValue, Table};
//! use xpr_lang::{Environment, Language};
//!
//! let column = |name: &str, ty| Column { name: name.into(), ty, comment: None };
//! let columns = vec![column("name", ColumnType::Text), column("area", ColumnType::Number)];
//! let state = Table {
//!     name: "state".into(),
//!     namespace: None,
//!     comment: None,
//!     columns,
//!     primary_key: vec![0],
//!     foreign_keys: vec![],
//! };
//! let language = Sql::new(Schema { tables: vec![state], dialect: Dialect::Sqlite });
//!
//! let environment = SqlEnvironment::new(&language);
//! let texas = SuggestedValue::new(Literal::text("texas"), "texas");
//! let environment = environment.with_values(&language, &[texas]);
//! let grammar = language.signatures().grammar(environment.items())?;
//!
//! let text = "SELECT S.area FROM state AS S WHERE S.name = \"texas\"";
//! let program = language.read(text, &grammar, &environment)?;
//! assert_eq!(program.actions().len(), 7); // select, where, state, =, name, texas, area
//! assert_eq!(
//!     language.write(&program, &grammar, &environment),
//!     "SELECT state.area FROM state WHERE state.name = 'texas'"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod comparisons;
mod decode;
mod dialect;
mod encode;
mod environment;
mod explanation;
mod function;
mod guard;
mod identifier;
mod label_patterns;
mod language;
mod literal;
mod operator;
mod pattern;
mod query;
mod reader;
mod rules;
mod schema;
mod scope;
mod sense;
mod symbols;
mod time_format;
mod types;
mod typing;
mod walk;
mod writer;

pub use check::{CheckError, CheckedQuery, check, check_with_quotes};
pub use dialect::Dialect;
pub use environment::{SqlEnvironment, SuggestedValue};
pub use function::{Aggregate, ScalarFunction};
pub use guard::{DUCKDB_CATALOG, GatheredRows, GuardError, GuardedQuery, guard};
pub use identifier::quoted;
pub use label_patterns::LabelPatterns;
pub use language::Sql;
pub use literal::{Literal, LiteralKind};
pub use operator::{ArithmeticOperator, CastType, ComparisonOperator, SetOperator};
pub use query::{ColumnRef, Expr, FromSource, Limit, Output, Query, Select, SortBy, SortKey, SourceKind};
pub use reader::Quotes;
pub use schema::{Column, ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};
pub use sense::SearchFacts;
