//! What a language of programs has to offer.

use crate::{Environment, Grammar, Program, Signatures};
use thiserror::Error;

/// Why a text is not of its language, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("column {column}: {message}")]
pub struct SyntaxError {
    /// The column of the offending character, counted in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// Why a text is not a program of a grammar.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// It is not a text of the language at all.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is one, but says something the grammar has no action for.
    #[error("not covered by the grammar: {0}")]
    NotCovered(String),
}

/// A language: its rules, and the text of its programs.
pub trait Language: Send + Sync {
    /// The name used in configurations and checkpoints.
    fn name(&self) -> &'static str;

    /// Types and rules; the same for every environment.
    fn signatures(&self) -> &Signatures;

    /// Reads the text of a program.
    ///
    /// # Errors
    /// If the text is malformed, or the grammar does not cover it.
    fn read(
        &self,
        text: &str,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError>;

    /// The length of a program in the units of the paper's figures, where they differ from actions.
    fn length(&self, program: &Program) -> usize {
        program.actions().len()
    }

    /// Writes a program in canonical form: [`Language::read`] gives the same program back.
    fn write(&self, program: &Program, grammar: &Grammar, environment: &dyn Environment) -> String;
}
