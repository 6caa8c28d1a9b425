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
    /// Parts to do without, for seeing what each is worth.
    pub without: Vec<Ablation>,
}

/// A part of the model that it can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ablation {
    /// The decoder is told which item it chose, not only that it chose one.
    FedBackItems,
    /// The decoder looks at items as well as words.
    ItemAttention,
    /// The decoder is told the rule that the next place belongs to.
    Parents,
    /// Word vectors also go round the BiLSTM.
    Round,
}

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            word: 100,
            hidden: 128,
            layers: 2,
            heads: 8,
            feed_forward: 256,
            action: 128,
            place: 64,
            dropout: 0.2,
            word_dropout: 0.2,
            without: vec![],
        }
    }
}

impl ModelConfig {
    /// Whether a part is there.
    pub(crate) fn has(&self, part: Ablation) -> bool {
        !self.without.contains(&part)
    }
}
