//! SQL as a language of programs.

use super::check::{CheckError, check_quoted};
use super::decode::Decoder;
use super::encode::Encoder;
use super::literal::LiteralKind;
use super::query::Query;
use super::reader::Quotes;
use super::rules::{Room, Rules};
use super::schema::{ColumnType, Schema};
use super::symbols::Symbols;
use super::writer::Writer;
use crate::{Environment, Grammar, ItemKind, Language, Program, ReadError, Signatures};
use std::sync::Arc;

/// SQL over one schema.
///
/// The signatures do not depend on the schema; names do, and a query can be read only where they mean something.
#[derive(Debug)]
pub struct Sql {
    schema: Schema,
    rules: Rules,
    pub(super) symbols: Symbols,
    writer: Writer,
    quotes: Quotes,
}

impl Sql {
    /// The language of queries to `schema`.
    pub fn new(schema: Schema) -> Self {
        let (symbols, writer) = (Symbols::new(&schema), Writer::new(&schema));
        Sql { schema, rules: Rules::new(), symbols, writer, quotes: Quotes::default() }
    }

    /// The same language, for texts with other quotes.
    #[must_use]
    pub fn with_quotes(self, quotes: Quotes) -> Self {
        Sql { quotes, ..self }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The kind of items that are tables.
    pub fn table_kind(&self) -> ItemKind {
        self.rules.table
    }

    /// The kind of items that are columns.
    pub fn column_kind(&self, ty: ColumnType) -> ItemKind {
        self.rules.column(ty)
    }

    /// Where words make sense, by the rule whose argument they would be.
    pub(super) fn rooms(&self) -> Arc<[Room]> {
        self.rules.rooms()
    }

    /// The kind of items that are values.
    pub fn value_kind(&self, kind: LiteralKind) -> ItemKind {
        self.rules.value(kind)
    }

    /// Reads a query and looks for mistakes.
    ///
    /// # Errors
    /// See [`super::check()`].
    pub fn parse(&self, text: &str) -> Result<Query, CheckError> {
        check_quoted(text, &self.schema, self.quotes).map(|checked| checked.query)
    }

    /// The canonical text of a query.
    pub fn text(&self, query: &Query) -> String {
        self.writer.write(query, &self.schema)
    }

    /// The program of a query.
    ///
    /// # Errors
    /// If the environment lacks an item it needs.
    pub fn encode(
        &self,
        query: &Query,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError> {
        let mut encoder = Encoder {
            rules: &self.rules,
            schema: &self.schema,
            symbols: &self.symbols,
            environment,
            actions: vec![],
        };
        encoder.query(query, None).map_err(ReadError::NotCovered)?;
        Program::from_actions(grammar, &encoder.actions)
            .map_err(|error| ReadError::NotCovered(error.to_string()))
    }

    /// The query of a program.
    pub fn decode(&self, program: &Program, environment: &dyn Environment) -> Query {
        let mut decoder = Decoder {
            rules: &self.rules,
            schema: &self.schema,
            symbols: &self.symbols,
            environment,
            output_prefix: self.writer.output_prefix(),
            depth: 0,
        };
        decoder.query(program.root(), None)
    }
}

impl Language for Sql {
    fn name(&self) -> &'static str {
        "sql"
    }

    fn signatures(&self) -> &Signatures {
        &self.rules.signatures
    }

    fn read(
        &self,
        text: &str,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError> {
        let query = self.parse(text).map_err(|error| match error {
            CheckError::Syntax(error) => ReadError::Syntax(error),
            other => ReadError::NotCovered(other.to_string()),
        })?;
        self.encode(&query, grammar, environment)
    }

    fn write(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> String {
        self.text(&self.decode(program, environment))
    }
}
