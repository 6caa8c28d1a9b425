//! SQL as a [`Language`].

use super::check::{CheckError, check_with_quotes};
use super::decode::QueryDecoder;
use super::encode::QueryEncoder;
use super::explanation::{self, Phrases};
use super::literal::LiteralKind;
use super::query::Query;
use super::reader::Quotes;
use super::rules::{LiteralPosition, SqlRules};
use super::schema::{ColumnType, Schema};
use super::symbols::Symbols;
use super::writer::Writer;
use crate::{Environment, Grammar, ItemKind, Language, Program, ReadError, Signatures};
use std::sync::Arc;

/// The language of queries to one schema.
///
/// The signatures do not depend on the schema, but reading a query does, because it resolves names.
#[derive(Clone, Debug)]
pub struct Sql {
    schema: Schema,
    pub(super) rules: SqlRules,
    pub(super) symbols: Symbols,
    writer: Writer,
    /// What explanations call tables and columns.
    phrases: Phrases,
    quotes: Quotes,
}

impl Sql {
    /// Creates the language of queries to `schema`.
    pub fn new(schema: Schema) -> Self {
        let (symbols, writer, phrases) = (Symbols::new(&schema), Writer::new(&schema), Phrases::new(&schema));
        Sql { schema, rules: SqlRules::new(), symbols, writer, phrases, quotes: Quotes::default() }
    }

    /// Sets the meaning of double quotes in the texts it reads.
    #[must_use]
    pub fn with_quotes(self, quotes: Quotes) -> Self {
        Sql { quotes, ..self }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the kind of items for tables.
    pub fn table_kind(&self) -> ItemKind {
        self.rules.table
    }

    /// Returns the kind of items for columns of a type.
    pub fn column_kind(&self, ty: ColumnType) -> ItemKind {
        self.rules.column(ty)
    }

    /// Returns for each rule where search may put a word of the question.
    pub(super) fn literal_positions(&self) -> Arc<[LiteralPosition]> {
        self.rules.literal_positions()
    }

    /// Returns the kind of items for literals of a kind.
    pub fn value_kind(&self, kind: LiteralKind) -> ItemKind {
        self.rules.value(kind)
    }

    /// Reads a query and checks its names and types.
    ///
    /// # Errors
    /// Errors in the same cases as [`super::check()`].
    pub fn parse(&self, text: &str) -> Result<Query, CheckError> {
        check_with_quotes(text, &self.schema, self.quotes).map(|checked| checked.query)
    }

    /// Returns the canonical text of a query.
    pub fn text(&self, query: &Query) -> String {
        self.writer.write(query, &self.schema)
    }

    /// Returns a sentence that says in English what a query returns. Queries that mean different things have different sentences.
    pub fn explain_query(&self, query: &Query) -> String {
        explanation::explain(query, &self.schema, &self.phrases)
    }

    /// Returns the program of a query.
    ///
    /// # Errors
    /// Errors if the environment lacks an item that the program needs.
    pub fn encode(
        &self,
        query: &Query,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError> {
        let mut encoder = QueryEncoder {
            rules: &self.rules,
            schema: &self.schema,
            symbols: &self.symbols,
            environment,
            actions: vec![],
        };
        encoder.query(query, None).map_err(ReadError::NotCovered)?;
        Ok(Program::from_actions(grammar, &encoder.actions)?)
    }

    /// Returns the query of a program.
    pub fn decode(&self, program: &Program, environment: &dyn Environment) -> Query {
        let mut decoder = QueryDecoder {
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

    fn explain(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> Option<String> {
        Some(self.explain_query(&self.decode(program, environment)))
    }

    fn column_names(
        &self,
        program: &Program,
        _: &Grammar,
        environment: &dyn Environment,
    ) -> Option<Vec<String>> {
        Some(explanation::column_names(&self.decode(program, environment), &self.schema, &self.phrases))
    }
}
