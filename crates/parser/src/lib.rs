//! From a question to programs: linking, a relation-aware encoder, a grammar decoder, and search.
//!
//! ```text
//! question ─► words, stems ─► relations with every item ─► encoder ─► memory ─► decoder ─► actions
//!   text                        linking                     encoder              decoder, search
//! ```
//!
//! The key decision is that **the trainer knows nothing of this**. It sees a [`Parser`]: candidates for a batch of
//! questions, and the gradient of a weighted sum of log-probabilities of given programs. Search runs without
//! gradients; only programs that a trainer gives a weight are scored with them.
//!
//! A [`Scene`] is everything about one environment that does not depend on a question: its grammar, its items as
//! words, how they relate. A [`Question`] is a question seen in a scene.
//!
//! *Architecture invariant:* emits only programs of the grammar.

mod config;
mod decoder;
mod encoder;
mod linking;
mod model;
#[cfg(test)]
mod reference;
mod scene;
mod search;
mod text;
mod vocabulary;

pub use config::{Ablation, ModelConfig};
pub use model::{Candidate, Model, Parser, Weighted};
pub use scene::{Question, Scene};
pub use text::{stem, tokenize};
pub use vocabulary::Vocabulary;
