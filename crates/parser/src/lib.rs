//! From a question to programs: linking, a relation-aware encoder, a grammar decoder, and search.
//!
//! ```text
//! question ─► words, stems ─► relations with every item ─► encoder ─► memory ─► decoder ─► actions
//!   text                        linking                     encoder              decoder, search
//! ```
//!
//! The key decision is that **the trainer knows nothing of this**. It sees a [`TrainableParser`], which reads a batch of
//! questions, and the [`Reading`]: candidates for them, and the gradient of a weighted sum of log-probabilities of given
//! programs. Search runs without gradients; only programs that a trainer gives a weight are scored with them.
//!
//! A [`Scene`] is everything about one environment that does not depend on a question: its grammar, its items as
//! words, how they relate. A [`Question`] is a question seen in a scene; it may have [`Surroundings`] of its own: some of the
//! scene's items, and values that its words may mean.
//!
//! *Architecture invariant:* emits only programs of the grammar.
//!
//! ```
//! use xpr_exec::{KnowledgeBaseEnvironment, overnight};
//! use xpr_lang::{Environment, Language, lambda_dcs::LambdaDcs};
//! use xpr_nn::{Matrix, Random};
//! use xpr_parser::{Model, ModelConfig, Parser, Scene, Vocabulary};
//! use xpr_text::tokenize;
//!
//! let language = LambdaDcs::new();
//! let world = overnight::world("calendar").expect("one of the eight");
//! let environment = KnowledgeBaseEnvironment::new(&world, &language, &[]);
//! let grammar = language.signatures().grammar(environment.items())?;
//! let vocabulary = Vocabulary::new(tokenize("when is the annual review"));
//! let scene = Scene::new(grammar, &environment, &vocabulary);
//! let question = scene.question("when is the annual review?", &vocabulary);
//!
//! // It knows nothing yet, but every guess is a program.
//! let config = ModelConfig { hidden: 32, ..ModelConfig::default() };
//! let words = Matrix::zeros(vocabulary.words().len(), config.word);
//! let model = Model::new(config, scene, words, Random::new(0));
//! let guesses = model.candidates(&[&question], 4).remove(0);
//! assert!(language.write(&guesses[0].program, model.scene().grammar(), &environment).starts_with("( call SW.listValue"));
//! # Ok::<(), xpr_lang::GrammarError>(())
//! ```

mod config;
mod decoder;
mod encoder;
mod linking;
mod model;
#[cfg(test)]
mod reference;
mod scene;
mod search;
mod vocabulary;

pub use config::{Ablation, ModelConfig};
pub use model::{Candidate, Model, Parser, Reading, TrainableParser, Weighted};
pub use scene::{Question, Scene, Surroundings};
pub use vocabulary::Vocabulary;
