//! Worlds: the data questions are about, the language of its programs, and the executor that runs them.

mod database;
mod knowledge;
mod label_executor;
mod relevance;
mod schema_settings;
mod stored_schema;

pub use database::DatabaseWorld;
pub use knowledge::KnowledgeWorld;
pub(in crate::task) use label_executor::LabelExecutor;
pub use schema_settings::SchemaSettings;
pub use stored_schema::{SCHEMA_FILE, StoredSchema};

use super::error::TaskError;
use std::borrow::Cow;
use std::fmt;
use xpr_exec::Executor;
use xpr_lang::sql::{LabelPatterns, Schema};
use xpr_lang::{Environment, Grammar, Language, Outcome};
use xpr_parser::Surroundings;

/// A function that is called while data are loaded: with what is done, how much of it is done, and how much there is.
pub type LoadingWatch<'w> = dyn FnMut(&str, usize, usize) + Send + 'w;

/// Data, the language of programs about it, and the executor of these programs.
pub trait World: fmt::Debug + Send + Sync {
    /// Returns the language of the programs.
    fn language(&self) -> &dyn Language;

    /// Returns the items that every question can be about.
    fn environment(&self) -> &dyn Environment;

    /// Returns an executor with narrow limits. Training runs thousands of guesses with it.
    ///
    /// # Errors
    /// If the data cannot be opened.
    fn executor(&self) -> Result<Box<dyn Executor + '_>, TaskError>;

    /// Returns an executor with wider limits, for programs somebody waits for.
    ///
    /// # Errors
    /// If the data cannot be opened.
    fn patient_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.executor()
    }

    /// Returns an executor for the programs of labels, which people write less strictly than a parser does.
    ///
    /// # Errors
    /// If the data cannot be opened.
    fn label_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.patient_executor()
    }

    /// Returns the items of a single question, if they differ from the environment's: a database adds the values that the
    /// question may mention. `grammar` is the grammar of the environment.
    fn surroundings(&self, _utterance: &str, _grammar: &Grammar) -> Option<Surroundings> {
        None
    }

    /// Returns a question in the words of the data, where a project says what people call things.
    fn rephrase<'u>(&self, utterance: &'u str) -> Cow<'u, str> {
        Cow::Borrowed(utterance)
    }

    /// Returns literals that every question is offered, such as those learned from labels.
    fn constants(&self) -> Vec<String> {
        vec![]
    }

    /// Returns what labeled programs have that search may try, if it was learned from labels.
    fn label_patterns(&self) -> Option<LabelPatterns> {
        None
    }

    /// Returns whether the outcome `guess` is the same answer as `gold`.
    fn is_same_answer(&self, gold: &Outcome, guess: &Outcome) -> bool {
        gold == guess
    }

    /// Returns the tables, if the data are a database.
    fn schema(&self) -> Option<&Schema> {
        None
    }

    /// Returns a fingerprint of what a database declares: tables, columns, types and keys.
    fn declaration(&self) -> Option<&str> {
        None
    }

    /// Returns what a user should know about the data, such as what of it cannot be used.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Returns how the data are read, if there is more than one way.
    fn access(&self) -> Option<String> {
        None
    }

    /// Checks that the data are still those that were opened. Results from before and after a change do not fit together.
    ///
    /// # Errors
    /// If another program changed them.
    fn check_unchanged(&self) -> Result<(), TaskError> {
        Ok(())
    }

    /// Returns whether a program with this outcome found something.
    fn finds_something(&self, _program: &str, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Value(_))
    }
}
