//! A database, queried in SQL.
//!
//! Tables and columns are the same for every question; values are not. A question is parsed with the values that its words may
//! mean, which are looked up in the cells of the database. So a question about a city that no training question names can be answered.
//! Literals that labeled queries need and their questions do not name are constants, which every question is offered.

use super::label_executor::LabelExecutor;
use super::relevance::Relevance;
use super::schema_settings::{SchemaSettings, Synonyms};
use super::stored_schema;
use super::{LoadingWatch, World};
use crate::task::constants::{constant_value, learned_constants, learned_patterns};
use crate::task::error::TaskError;
use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use xpr_data::Example;
use xpr_exec::Executor;
use xpr_exec::database::{
    self, Database, ProgressCallback, QueryLimits, ReadSchema, ReadingProgress, ValueIndex, ValueLimits,
    is_zero, same_answer,
};
use xpr_lang::sql::{LabelPatterns, Literal, Schema, SearchFacts, Sql, SqlEnvironment, SuggestedValue};
use xpr_lang::{Environment, Grammar, Language, Outcome};
use xpr_parser::Surroundings;

/// A database, queried in SQL.
pub struct DatabaseWorld {
    database: Box<dyn Database>,
    language: Sql,
    environment: SqlEnvironment,
    /// A fingerprint of what the database declares.
    declaration: String,
    values: ValueIndex,
    constants: Vec<SuggestedValue>,
    /// What labeled queries have; none if that was not recorded.
    labels: Option<LabelPatterns>,
    /// Ranks the tables for a question, if there are too many to parse with.
    relevance: Option<Relevance>,
    notes: Vec<String>,
    /// What people call tables, columns and values.
    synonyms: Synonyms,
}

impl fmt::Debug for DatabaseWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseWorld").field("database", &self.database.label()).finish_non_exhaustive()
    }
}

impl DatabaseWorld {
    /// Opens a database such as `sqlite:music.db`, relative to a folder, and reads its schema and values.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn open(address: &str, folder: &Path) -> Result<Self, TaskError> {
        DatabaseWorld::open_with(address, folder, SchemaSettings::default(), &mut |_, _, _| {})
    }

    /// Opens a database as the settings of a project describe it. `watch` is called with what is done, and how many of how many
    /// tables are.
    ///
    /// # Errors
    /// If the database cannot be read, or a setting names a table or column that it does not have.
    pub fn open_with(
        address: &str,
        folder: &Path,
        settings: SchemaSettings<'_>,
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, TaskError> {
        let database = database::open(address, folder)?;
        let mut show = |what: &str, now: ReadingProgress<'_>| {
            watch(&format!("tables, {what} {}", now.table), now.done, now.total);
            ControlFlow::Continue(())
        };
        let declared = database.declared_schema()?;
        let (schema, notes) = read_schema(&*database, &declared, folder, &mut |now| show("reading", now))?;
        let schema = settings.apply(schema)?;
        let synonyms = settings.synonyms(&schema)?;
        let limits = ValueLimits::default();
        let values = ValueIndex::read(&*database, &schema, limits, &mut |now| show("indexing", now))?;
        let relevance = Relevance::new(&schema);
        let language = Sql::new(schema);
        let environment = SqlEnvironment::new(&language).with_incomplete_columns(values.incomplete_columns());
        Ok(DatabaseWorld {
            database,
            language,
            environment,
            declaration: stored_schema::declaration(&declared),
            values,
            constants: vec![],
            labels: None,
            relevance,
            notes,
            synonyms,
        })
    }

    /// Returns a fingerprint of what a database declares: tables, columns, types and keys. That is fast.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(crate) fn declaration_of(address: &str, folder: &Path) -> Result<String, TaskError> {
        Ok(stored_schema::declaration(&database::open(address, folder)?.declared_schema()?))
    }

    /// Offers constants to every question.
    fn with_constants(mut self, constants: Vec<SuggestedValue>) -> Self {
        self.environment = self.environment.with_constants(&self.language, &constants);
        self.constants = constants;
        self
    }

    /// Learns from labeled examples which constants queries need, and which patterns they have.
    pub fn learn_from_labels(mut self, examples: &[Example]) -> Self {
        let labeled =
            || examples.iter().map(|example| (example.utterance.as_str(), example.program.as_str()));
        let learned = learned_constants(&self.language, &self.environment, &self.values, labeled());
        self.labels = Some(learned_patterns(&self.language, &self.values, labeled()));
        self.with_constants(learned.into_iter().map(|constant| constant.value).collect())
    }

    /// Offers constants and knows patterns that were learned before.
    pub(crate) fn restore(mut self, constants: &[String], labels: Option<LabelPatterns>) -> Self {
        let literals = constants.iter().filter_map(|symbol| Literal::from_symbol(symbol));
        let constants = literals.map(constant_value).collect();
        self.labels = labels;
        self.with_constants(constants)
    }

    /// Lets search leave out queries that make no sense, by what is known about the database and its labels by now.
    pub fn with_sense(mut self) -> Self {
        let facts = SearchFacts { ranges: self.values.ranges().to_vec(), labels: self.labels.clone() };
        self.environment = self.environment.with_sense(&self.language, &facts);
        self
    }

    fn run_within(&self, limits: QueryLimits) -> Result<Box<dyn Executor + '_>, TaskError> {
        Ok(self.database.checked_runner(self.language.schema(), limits)?)
    }
}

/// Returns the schema of a database, from the project in a folder if that keeps it, and what a user should know about it.
fn read_schema(
    database: &dyn Database,
    declared: &ReadSchema,
    folder: &Path,
    progress: &mut ProgressCallback<'_>,
) -> Result<(Schema, Vec<String>), TaskError> {
    let mut notes = declared.notes();
    match stored_schema::read(folder, declared) {
        Some(Ok(schema)) => return Ok((schema, notes)),
        Some(Err(reason)) => notes.push(format!(
            "{reason}; the types of columns and the foreign keys are inferred each time, until `xpr init` makes the \
             project again"
        )),
        None => {}
    }
    Ok((database.read_schema(progress)?.schema, notes))
}

impl World for DatabaseWorld {
    fn language(&self) -> &dyn Language {
        &self.language
    }

    fn environment(&self) -> &dyn Environment {
        &self.environment
    }

    fn rephrase<'u>(&self, utterance: &'u str) -> Cow<'u, str> {
        match self.synonyms.is_empty() {
            true => Cow::Borrowed(utterance),
            false => Cow::Owned(self.synonyms.apply(utterance)),
        }
    }

    fn constants(&self) -> Vec<String> {
        self.constants.iter().map(|value| value.literal.to_string()).collect()
    }

    fn label_patterns(&self) -> Option<LabelPatterns> {
        self.labels.clone()
    }

    fn executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.run_within(QueryLimits::default())
    }

    fn patient_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.run_within(QueryLimits::interactive())
    }

    fn label_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        Ok(Box::new(LabelExecutor::new(&*self.database, &self.language)?))
    }

    fn surroundings(&self, utterance: &str, grammar: &Grammar) -> Option<Surroundings> {
        let values = self.values.values(utterance);
        let Some(relevance) = &self.relevance else {
            let environment = self.environment.with_values(&self.language, &values);
            let fixed = environment.fixed_items();
            let grammar = grammar.with_items(&environment.items()[fixed..]);
            let shared = (0..fixed as u32).collect();
            return Some(Surroundings { environment: Box::new(environment), grammar, shared });
        };
        let tables = relevance.tables(utterance, &values);
        let (environment, shared) = self.environment.restricted_to(&tables);
        let environment = environment.with_values(&self.language, &values);
        // Any table allows a program. If there is no table, the question is parsed with the whole schema.
        let own = self.language.signatures().grammar(environment.items()).ok()?;
        Some(Surroundings { environment: Box::new(environment), grammar: own, shared })
    }

    fn is_same_answer(&self, gold: &Outcome, guess: &Outcome) -> bool {
        match (gold, guess) {
            (Outcome::Value(gold), Outcome::Value(guess)) => same_answer(gold, guess),
            _ => gold == guess,
        }
    }

    fn schema(&self) -> Option<&Schema> {
        Some(self.language.schema())
    }

    fn declaration(&self) -> Option<&str> {
        Some(&self.declaration)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn access(&self) -> Option<String> {
        Some(format!("{} is read {}", self.database.label(), self.database.access()))
    }

    fn check_unchanged(&self) -> Result<(), TaskError> {
        Ok(self.database.check_unchanged()?)
    }

    /// Returns whether a query found something. A query that counts zero rows or returns only constants did not: such queries run
    /// whatever the question is, and a parser that is rewarded for them learns to write nothing else.
    fn finds_something(&self, program: &str, outcome: &Outcome) -> bool {
        let Outcome::Value(answer) = outcome else { return false };
        !is_zero(answer) && !self.language.parse(program).is_ok_and(|query| query.returns_only_constants())
    }
}
