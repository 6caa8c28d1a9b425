//! A knowledge base, asked in lambda-DCS.

use super::World;
use crate::TaskError;
use xpr_exec::{Executor, KnowledgeBase, KnowledgeBaseEnvironment, Limits, Outcome, Phrase, Runner};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Environment, Grammar, Language};
use xpr_parser::Surroundings;

#[derive(Debug)]
pub(crate) struct KnowledgeWorld {
    base: KnowledgeBase,
    language: LambdaDcs,
    environment: KnowledgeBaseEnvironment,
}

impl KnowledgeWorld {
    /// A knowledge base, and how people speak of what is in it.
    pub(crate) fn new(base: KnowledgeBase, phrases: &[Phrase]) -> Self {
        let language = LambdaDcs::new();
        let environment = KnowledgeBaseEnvironment::new(&base, &language, phrases);
        KnowledgeWorld { base, language, environment }
    }
}

impl World for KnowledgeWorld {
    fn language(&self) -> &dyn Language {
        &self.language
    }

    fn environment(&self) -> &dyn Environment {
        &self.environment
    }

    fn runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        Ok(Box::new(Runner::new(&self.base, Limits::default())))
    }

    fn surroundings(&self, _: &str, _: &Grammar) -> Option<Surroundings> {
        None
    }

    fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool {
        gold == guess
    }
}
