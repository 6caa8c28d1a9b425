//! What questions are about: the data, the language of its programs, and what runs them.

mod database;
mod knowledge;
mod relevance;

pub(crate) use database::DatabaseWorld;
pub(crate) use knowledge::KnowledgeWorld;

use crate::TaskError;
use std::fmt;
use xpr_exec::{Executor, Outcome};
use xpr_lang::{Environment, Grammar, Language};
use xpr_parser::Surroundings;

/// Somebody's data, as training and asking see it.
pub(crate) trait World: fmt::Debug + Send + Sync {
    /// The language of programs about it.
    fn language(&self) -> &dyn Language;

    /// What every question can be about.
    fn environment(&self) -> &dyn Environment;

    /// Literals that every question is offered, whatever it says.
    fn constants(&self) -> Vec<String> {
        vec![]
    }

    /// Something that runs guesses, of which there are thousands.
    fn runner(&self) -> Result<Box<dyn Executor + '_>, TaskError>;

    /// Something that runs a program somebody waits for, for longer where the world is large.
    fn patient_runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.runner()
    }

    /// What one question can be about, if that is not just the environment. `grammar` is the environment's.
    fn surroundings(&self, utterance: &str, grammar: &Grammar) -> Option<Surroundings>;

    /// Whether a program with the outcome `guess` answers what one with the outcome `gold` answers.
    fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool;

    /// Whether a program with this outcome found something.
    fn finds(&self, _program: &str, outcome: &Outcome) -> bool {
        matches!(outcome, Outcome::Value(_))
    }
}
