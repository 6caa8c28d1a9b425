//! A knowledge base, queried in lambda-DCS.

use super::World;
use crate::task::error::TaskError;
use xpr_exec::{Executor, KnowledgeBase, KnowledgeBaseEnvironment, Limits, Runner, SymbolPhrase};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Environment, Language};

/// A knowledge base, queried in lambda-DCS.
#[derive(Debug)]
pub struct KnowledgeWorld {
    base: KnowledgeBase,
    language: LambdaDcs,
    environment: KnowledgeBaseEnvironment,
}

impl KnowledgeWorld {
    /// Creates the world of a knowledge base, with the typed grammar; `phrases` says what people call its items.
    pub fn new(base: KnowledgeBase, phrases: &[SymbolPhrase]) -> Self {
        KnowledgeWorld::with_language(base, LambdaDcs::new(), phrases)
    }

    /// Creates the world of a knowledge base, with the grammar of `language`.
    pub fn with_language(base: KnowledgeBase, language: LambdaDcs, phrases: &[SymbolPhrase]) -> Self {
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

    fn executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        Ok(Box::new(Runner::new(&self.base, Limits::default())))
    }
}
