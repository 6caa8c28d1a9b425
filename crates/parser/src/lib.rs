//! From a question to programs: linking, a relation-aware encoder, a grammar decoder, and search.
//!
//! ```text
//! text ─► words, stems ─► relations to every item ─► vectors ─► scores of actions ─► programs
//!         scene, question        linking             encoder         decoder          search
//! ```
//!
//! The key decision is that **the trainer does not know the model**. It knows a [`TrainableParser`], which reads a batch
//! of questions, and the [`Reading`] of that batch, which finds candidates and computes the gradient of a weighted sum of
//! log-probabilities of given programs. Search does not record gradients; only programs that the trainer gives a weight
//! are scored again with gradients.
//!
//! A [`Scene`] is everything about one environment that does not depend on a question: its grammar, the words of its
//! items, and their relations. A [`Question`] is a text prepared for a scene. It may have [`Surroundings`]: a subset of
//! the scene's items, and values that its words may mean.
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
//! // The model is not trained, but every candidate is a program of the grammar.
//! let config = ModelConfig { hidden: 32, ..ModelConfig::default() };
//! let words = Matrix::zeros(vocabulary.words().len(), config.word);
//! let model = Model::new(config, scene, words, Random::new(0));
//! let candidates = model.candidates(&[&question], 16).remove(0);
//! assert!(language.write(&candidates[0].program, model.scene().grammar(), &environment).starts_with("( call SW.listValue"));
//! # Ok::<(), xpr_lang::GrammarError>(())
//! ```

mod batch_layout;
mod columns;
mod config;
mod decoder;
mod encoder;
mod layers;
mod linking;
mod mentions;
mod model;
mod parser;
mod partial;
mod question;
mod reading;
#[cfg(test)]
mod reference;
mod rule_phrases;
mod scene;
mod search;
mod target_steps;
#[cfg(test)]
mod test_worlds;
mod vocabulary;

pub use config::{Ablation, DecoderDropout, ModelConfig};
pub use mentions::{MentionCounts, MentionPenalties, Mentions};
pub use model::Model;
pub use parser::{Candidate, Parser, Reading, Shards, TrainableParser, WeightedProgram};
pub use question::{Question, Surroundings};
pub use scene::Scene;
pub use vocabulary::Vocabulary;
