//! A database, asked in SQL.
//!
//! Tables and columns are the same for every question; values are not. A question is seen with the values that its words may
//! mean, found in the database's own cells, so that one about a city no training question names can be answered. What labeled
//! queries say and their questions do not (a *major* city has 150,000 inhabitants) is a constant, offered to every question.

use super::World;
use crate::TaskError;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use xpr_data::Example;
use xpr_exec::sqlite::{
    Checked, Database, QueryLimits, SqliteRunner, ValueCandidate, ValueIndex, ValueKind, ValueLimits,
    same_answer,
};
use xpr_exec::{Executor, Outcome};
use xpr_lang::sql::{CheckError, Literal, Sql, SqlEnvironment, Value, check};
use xpr_lang::{Environment, Grammar, Language};
use xpr_parser::Surroundings;

/// The most values of its own a question is seen with.
const MOST_VALUES: usize = 24;
/// The most constants.
const MOST_CONSTANTS: usize = 32;

pub(crate) struct DatabaseWorld {
    database: Database,
    language: Sql,
    environment: SqlEnvironment,
    values: ValueIndex,
    constants: Vec<Value>,
}

impl fmt::Debug for DatabaseWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseWorld").field("database", &self.database.path()).finish_non_exhaustive()
    }
}

impl DatabaseWorld {
    /// Reads the tables and values of a database.
    pub(crate) fn open(path: &Path) -> Result<Self, TaskError> {
        let database = Database::open(path)?;
        let schema = database.schema()?;
        let values =
            ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))?;
        let language = Sql::new(schema);
        let environment = SqlEnvironment::new(&language);
        Ok(DatabaseWorld { database, language, environment, values, constants: vec![] })
    }

    /// Offers these literals to every question.
    pub(crate) fn set_constants(&mut self, symbols: &[String]) {
        let literals = symbols.iter().filter_map(|symbol| Literal::from_symbol(symbol));
        self.constants =
            literals.map(|literal| Value::new(literal.clone(), plain(&literal.to_string()))).collect();
    }

    /// The literals of labeled queries that their questions do not say, the most frequent first.
    pub(crate) fn find_constants(&self, examples: &[Example]) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for example in examples {
            let Ok(query) = self.language.parse(&example.program) else { continue };
            let values = self.values_of(&example.utterance);
            let environment = self.environment.with_values(&self.language, &values);
            for symbol in query.literals().iter().map(ToString::to_string) {
                if environment.find(&symbol).is_none() {
                    *counts.entry(symbol).or_default() += 1;
                }
            }
        }
        let mut symbols: Vec<(String, usize)> = counts.into_iter().collect();
        symbols.sort_by_key(|(_, count)| Reverse(*count));
        symbols.into_iter().map(|(symbol, _)| symbol).take(MOST_CONSTANTS).collect()
    }

    /// What the words of a question may mean.
    fn values_of(&self, utterance: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for value in self.values.candidates(utterance).iter().flat_map(literals) {
            if !values.iter().any(|known| known.literal == value.literal) {
                values.push(value);
            }
        }
        values.truncate(MOST_VALUES);
        values
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
        let schema = self.language.schema().clone();
        let runner = SqliteRunner::new(&self.database, schema, QueryLimits::default())?;
        Ok(Box::new(runner.with_check(|text, schema| match check(text, schema) {
            Ok(checked) => Ok(Checked { ordered: checked.ordered }),
            Err(CheckError::TypeError(message)) => Err(message),
            // SQLite has its own word for what is wrong, and runs what we have no tree for.
            Err(_) => Ok(Checked { ordered: false }),
        })))
    }

    fn surroundings(&self, utterance: &str, grammar: &Grammar) -> Option<Surroundings> {
        let mut values = self.values_of(utterance);
        values.extend(self.constants.iter().cloned());
        let environment = self.environment.with_values(&self.language, &values);
        let fixed = environment.fixed_items();
        let grammar = grammar.with_items(&environment.items()[fixed..]);
        Some(Surroundings {
            environment: Box::new(environment),
            grammar,
            shared: (0..fixed as u32).collect(),
        })
    }

    fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool {
        match (gold, guess) {
            (Outcome::Value(gold), Outcome::Value(guess)) => same_answer(gold, guess),
            _ => gold == guess,
        }
    }
}

/// A literal without its quotes, as a phrase.
fn plain(symbol: &str) -> String {
    symbol.trim_matches('\'').replace("''", "'")
}

/// How a program may write a candidate: numbers as numbers, and as text where a column of text has them.
fn literals(candidate: &ValueCandidate) -> Vec<Value> {
    let value = |literal: Literal| Value {
        columns: candidate.columns.clone(),
        ..Value::new(literal, candidate.text.as_str())
    };
    let number = Literal::number(&candidate.text).map(value);
    let text = matches!(candidate.kind, ValueKind::Cell | ValueKind::Date)
        .then(|| value(Literal::text(candidate.text.as_str())));
    number.into_iter().chain(text).collect()
}
