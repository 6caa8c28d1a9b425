//! SQL: the queries people ask of a database.
//!
//! A query has three forms. Its *text* is what people and databases write; [`Query`] is its tree, in which every name
//! is resolved against a [`Schema`]; a [`crate::Program`] is what a parser writes, one action a decision. Each way is a
//! module: `reader` and `writer` between text and tree, `encode` and `decode` between tree and program,
//! and `rules` says which programs there are.
//!
//! The key decision is that **a column is a pointer, and its source is understood**: a program points to `state.area` and
//! means the nearest `FROM` that has the table, its first occurrence there. Wrapping actions say otherwise, and
//! are needed only when a table meets itself. Aliases do not exist in programs and trees.
//!
//! Where SQL has several ways to say a thing, programs have one (see `query` for the list), chosen so that the
//! answer is the same in SQLite, row for row. What the tree cannot hold is refused with the reason.
//!
//! ```
//! use xpr_lang::sql::{Column, ColumnType, Literal, Schema, Sql, SqlEnvironment, Table, Value};
//! use xpr_lang::{Environment, Language};
//!
//! let column = |name: &str, ty| Column { name: name.into(), ty };
//! let columns = vec![column("name", ColumnType::Text), column("area", ColumnType::Number)];
//! let state = Table { name: "state".into(), columns, primary_key: vec![0], foreign_keys: vec![] };
//! let language = Sql::new(Schema { tables: vec![state] });
//!
//! let environment = SqlEnvironment::new(&language);
//! let texas = Value::new(Literal::text("texas"), "texas");
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
mod decode;
mod encode;
mod environment;
mod function;
mod identifier;
mod language;
mod literal;
mod operator;
mod pattern;
mod query;
mod reader;
mod rules;
mod schema;
mod scope;
mod symbols;
mod types;
mod typing;
mod walk;
mod writer;

pub use check::{CheckError, Checked, check, check_quoted};
pub use environment::{SqlEnvironment, Value};
pub use function::{Aggregate, Function};
pub use identifier::quoted;
pub use language::Sql;
pub use literal::{Literal, LiteralKind};
pub use operator::{Arithmetic, Cast, Comparison, SetOperator};
pub use query::{By, ColumnRef, Expr, Key, Limit, Output, Query, Relation, Select, Source};
pub use reader::Quotes;
pub use schema::{Column, ColumnId, ColumnType, ForeignKey, Schema, Table, TableId};
