//! A dataset and the world it is about, ready for a parser.

use crate::Answer;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xpr_data::{DataError, Embeddings, Example};
use xpr_exec::{Executor, KnowledgeBase, KnowledgeBaseEnvironment, Limits, Outcome, Phrase, Runner};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Environment, Grammar, GrammarError, Language, Program, ReadError};
use xpr_nn::{Matrix, Random};
use xpr_parser::{Question, Scene, Vocabulary, tokenize};

/// Why a dataset cannot be learned from.
#[derive(Debug, Error)]
pub enum TaskError {
    /// Its files are wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its environment makes no grammar.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// A labeled program is not one of the grammar's.
    #[error("example {index} (`{utterance}`): {source}")]
    Program {
        /// Which example, from 1.
        index: usize,
        /// Its utterance.
        utterance: String,
        /// What is wrong with its program.
        source: ReadError,
    },
}

/// A question, the program that means it, and what that denotes.
#[derive(Clone, Debug)]
pub struct LabeledExample {
    /// What was asked.
    pub utterance: String,
    /// As the parser sees it.
    pub question: Question,
    /// What it means.
    pub program: Program,
    /// What comes of running that.
    pub outcome: Outcome,
}

/// A question nobody labeled.
#[derive(Clone, Debug)]
pub struct UnlabeledExample {
    /// As the parser sees it.
    pub question: Question,
    /// Its answer, if it is known: then programs are rewarded for finding it.
    pub answer: Option<Answer>,
    /// The right program where a benchmark has it: for diagnostics, which training never sees.
    pub gold: Option<Program>,
}

impl UnlabeledExample {
    /// A labeled example without its label; with its answer if `answered`.
    pub fn hide(example: LabeledExample, answered: bool) -> Self {
        UnlabeledExample {
            answer: Answer::of(&example.outcome).filter(|_| answered),
            question: example.question,
            gold: Some(example.program),
        }
    }
}

/// A world, the language its programs are in, and how people talk about it.
#[derive(Debug)]
pub struct Task {
    world: KnowledgeBase,
    language: LambdaDcs,
    environment: KnowledgeBaseEnvironment,
    grammar: Grammar,
    vocabulary: Vocabulary,
}

/// The actions a model was made for, as its run folder keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrammarFile {
    language: String,
    rules: Vec<String>,
    items: Vec<ItemEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ItemEntry {
    symbol: String,
    phrase: String,
    kind: usize,
}

impl GrammarFile {
    /// The phrases of its items, in their order.
    pub(crate) fn phrases(&self) -> Vec<Phrase> {
        self.items
            .iter()
            .map(|item| Phrase { symbol: item.symbol.clone(), phrase: item.phrase.clone() })
            .collect()
    }
}

impl Task {
    /// The task of a world, with a vocabulary of `words` and those of its items.
    ///
    /// # Errors
    /// If no program can be written about this world.
    pub fn new(
        world: KnowledgeBase,
        phrases: &[Phrase],
        words: impl IntoIterator<Item = String>,
    ) -> Result<Self, TaskError> {
        let language = LambdaDcs::new();
        let environment = KnowledgeBaseEnvironment::new(&world, &language, phrases);
        let grammar = language.signatures().grammar(environment.items())?;
        let named: Vec<String> = environment.items().iter().flat_map(|item| tokenize(&item.phrase)).collect();
        let vocabulary = Vocabulary::new(words.into_iter().chain(named));
        Ok(Task { world, language, environment, grammar, vocabulary })
    }

    pub(crate) fn grammar_file(&self) -> GrammarFile {
        let rules = self.grammar.signatures().rules();
        let items = self.environment.items();
        GrammarFile {
            language: self.language.name().to_owned(),
            rules: rules.iter().map(|rule| rule.name.clone()).collect(),
            items: items
                .iter()
                .map(|item| ItemEntry {
                    symbol: item.symbol.clone(),
                    phrase: item.phrase.clone(),
                    kind: item.kind.index(),
                })
                .collect(),
        }
    }

    /// What the parser sees of the environment.
    pub fn scene(&self) -> Scene {
        Scene::new(self.grammar.clone(), &self.environment, &self.vocabulary)
    }

    /// The vectors that words begin with: those given, of whatever size they are, or random ones of size `size`.
    pub fn word_table(&self, embeddings: &Embeddings, size: usize, random: Random) -> Matrix {
        let size = if embeddings.size > 0 { embeddings.size } else { size };
        self.vocabulary.table(size, &embeddings.vectors, random)
    }

    /// The language of its programs.
    pub fn language(&self) -> &dyn Language {
        &self.language
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// An executor on the world.
    pub fn runner(&self) -> Runner<'_> {
        Runner::new(&self.world, Limits::default())
    }

    /// The text of a program.
    pub fn text(&self, program: &Program) -> String {
        self.language.write(program, &self.grammar, &self.environment)
    }

    /// Prepares labeled examples.
    ///
    /// # Errors
    /// If a program is not one of the grammar's.
    pub fn label(&self, scene: &Scene, examples: &[Example]) -> Result<Vec<LabeledExample>, TaskError> {
        let mut runner = self.runner();
        examples
            .iter()
            .enumerate()
            .map(|(index, example)| {
                let program = self
                    .language
                    .read(&example.program, &self.grammar, &self.environment)
                    .map_err(|source| TaskError::Program {
                        index: index + 1,
                        utterance: example.utterance.clone(),
                        source,
                    })?;
                Ok(LabeledExample {
                    utterance: example.utterance.clone(),
                    question: scene.question(&example.utterance, &self.vocabulary),
                    outcome: runner.execute(&example.program),
                    program,
                })
            })
            .collect()
    }
}
