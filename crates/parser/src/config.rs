//! The sizes of the model.

use serde::{Deserialize, Serialize};

/// The sizes of the model, and how much of it is dropped while training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The size of a word's vector where no embeddings are given; else it is theirs.
    pub word: usize,
    /// The size of everything the encoder and the decoder hold in mind.
    pub hidden: usize,
    /// Relation-aware layers.
    pub layers: usize,
    /// Heads of each attention.
    pub heads: usize,
    /// The width of the feed-forward part of a layer.
    pub feed_forward: usize,
    /// The size of an action's vector.
    pub action: usize,
    /// The size of a type's vector.
    pub place: usize,
    /// The share of elements dropped while training.
    pub dropout: f32,
    /// The same for word vectors.
    pub word_dropout: f32,
}

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            word: 100,
            hidden: 256,
            layers: 2,
            heads: 8,
            feed_forward: 512,
            action: 128,
            place: 64,
            dropout: 0.2,
            word_dropout: 0.2,
        }
    }
}
