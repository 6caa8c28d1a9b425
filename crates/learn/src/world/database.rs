//! A database, asked in SQL.
//!
//! Tables and columns are the same for every question; values are not. A question is seen with the values that its words may
//! mean, found in the database's own cells, so that one about a city no training question names can be answered. What labeled
//! queries say and their questions do not is a constant, offered to every question.

use super::World;
use super::relevance::Relevance;
use crate::TaskError;
use crate::constants::{constant_value, learned_constants};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use xpr_data::Example;
use xpr_exec::sqlite::{
    Database, QueryLimits, SqliteRunner, ValueIndex, ValueLimits, answer_rows, same_answer,
};
use xpr_exec::{Executor, Outcome};
use xpr_lang::sql::{Literal, Sql, SqlEnvironment, Value};
use xpr_lang::{Environment, Grammar, Language};
use xpr_parser::Surroundings;

pub(crate) struct DatabaseWorld {
    database: Database,
    language: Sql,
    environment: SqlEnvironment,
    values: ValueIndex,
    constants: Vec<Value>,
    /// Which tables a question can be about, if there are many.
    relevance: Option<Relevance>,
}

impl fmt::Debug for DatabaseWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseWorld").field("database", &self.database.path()).finish_non_exhaustive()
    }
}

impl DatabaseWorld {
    /// Reads the tables and values of a database, `sqlite:music.db`, whose file is found from a folder.
    pub(crate) fn open(address: &str, folder: &Path) -> Result<Self, TaskError> {
        let database = Database::at(address, folder)?;
        let schema = database.schema()?;
        let values =
            ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))?;
        let relevance = Relevance::new(&schema);
        let language = Sql::new(schema);
        let environment = SqlEnvironment::new(&language).with_partly_known(values.partly_known());
        Ok(DatabaseWorld { database, language, environment, values, constants: vec![], relevance })
    }

    /// Offers literals to every question.
    fn with_constants(mut self, constants: Vec<Value>) -> Self {
        self.environment = self.environment.with_constants(&self.language, &constants);
        self.constants = constants;
        self
    }

    /// With the constants of labeled examples.
    pub(crate) fn learn_constants(self, examples: &[Example]) -> Self {
        let labeled = examples.iter().map(|example| (example.utterance.as_str(), example.program.as_str()));
        let learned = learned_constants(&self.language, &self.environment, &self.values, labeled);
        self.with_constants(learned.into_iter().map(|constant| constant.value).collect())
    }

    /// With constants that were learned before.
    pub(crate) fn recall_constants(self, symbols: &[String]) -> Self {
        let literals = symbols.iter().filter_map(|symbol| Literal::from_symbol(symbol));
        let constants = literals.map(constant_value).collect();
        self.with_constants(constants)
    }

    fn run_within(&self, limits: QueryLimits) -> Result<Box<dyn Executor + '_>, TaskError> {
        let schema = self.language.schema().clone();
        Ok(Box::new(SqliteRunner::checked(&self.database, schema, limits)?))
    }
}

impl World for DatabaseWorld {
    fn language(&self) -> &dyn Language {
        &self.language
    }

    fn environment(&self) -> &dyn Environment {
        &self.environment
    }

    fn constants(&self) -> Vec<String> {
        self.constants.iter().map(|value| value.literal.to_string()).collect()
    }

    fn runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.run_within(QueryLimits::default())
    }

    fn patient_runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.run_within(QueryLimits::patient())
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
        let (environment, shared) = self.environment.about(&tables);
        let environment = environment.with_values(&self.language, &values);
        // With any table at all there is a program; if there should be none, the whole schema is looked at.
        let own = self.language.signatures().grammar(environment.items()).ok()?;
        Some(Surroundings { environment: Box::new(environment), grammar: own, shared })
    }

    fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool {
        match (gold, guess) {
            (Outcome::Value(gold), Outcome::Value(guess)) => same_answer(gold, guess),
            _ => gold == guess,
        }
    }

    /// Two kinds of queries run whatever the question is, and a parser that is rewarded for them writes nothing else: those that count,
    /// of which one that counts nothing found nothing, and those that give constants back.
    fn finds(&self, program: &str, outcome: &Outcome) -> bool {
        let Outcome::Value(answer) = outcome else { return false };
        answer_rows(answer).is_none_or(|rows| rows != [["0"]])
            && !self.language.parse(program).is_ok_and(|query| query.gives_constants_alone())
    }
}
