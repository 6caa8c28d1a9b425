//! The interface of a language: its signatures, and how its programs are read and written.

use crate::{ActionError, Environment, Grammar, Program, Signatures};
use thiserror::Error;

/// A text does not follow the syntax of its language.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("column {column}: {message}")]
pub struct SyntaxError {
    /// The column of the offending character, counted in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl SyntaxError {
    /// Creates an error at a column, counted in characters from 1.
    pub fn new(column: usize, message: impl Into<String>) -> Self {
        SyntaxError { column, message: message.into() }
    }
}

/// A text is not a program of a grammar.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// The text does not follow the syntax of the language.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The syntax is right, but the grammar has no actions for the text. The message says for what.
    #[error("not covered by the grammar: {0}")]
    NotCovered(String),
}

impl From<ActionError> for ReadError {
    fn from(error: ActionError) -> Self {
        ReadError::NotCovered(error.to_string())
    }
}

/// A language of programs: its types and rules, and the text of its programs.
///
/// The crate's introduction implements a small one.
pub trait Language: Send + Sync {
    /// Returns the name used in configurations and checkpoints.
    fn name(&self) -> &'static str;

    /// Returns the types and rules, which are the same for every environment.
    fn signatures(&self) -> &Signatures;

    /// Reads the text of a program.
    ///
    /// # Errors
    /// Errors if the text is malformed, or if the grammar does not cover it.
    fn read(
        &self,
        text: &str,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError>;

    /// Writes a program in canonical form: [`Language::read`] returns the same program.
    fn write(&self, program: &Program, grammar: &Grammar, environment: &dyn Environment) -> String;

    /// Returns a sentence that says in English what a program returns, if the language has such sentences.
    fn explain(&self, _: &Program, _: &Grammar, _: &dyn Environment) -> Option<String> {
        None
    }

    /// Returns what the columns of a program's answer are called, if its answers have columns.
    fn column_names(&self, _: &Program, _: &Grammar, _: &dyn Environment) -> Option<Vec<String>> {
        None
    }

    /// Returns the length of a program as the paper counts it, by default the number of actions.
    fn length(&self, program: &Program) -> usize {
        program.actions().len()
    }
}
