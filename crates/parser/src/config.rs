//! The sizes of the model.

use serde::{Deserialize, Serialize};

/// The sizes of a [`Model`](crate::Model), its dropout, and the parts it is built without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The size of word vectors. Pretrained embeddings, where given, have their own size.
    pub word: usize,
    /// The size of the encoder's output vectors and of the decoder's state. A multiple of `heads`, and even.
    pub hidden: usize,
    /// The number of relation-aware attention layers in the encoder.
    pub layers: usize,
    /// The number of heads of each attention.
    pub heads: usize,
    /// The width of the feed-forward network in each encoder layer.
    pub feed_forward: usize,
    /// The size of the embedding of the previous action, which the decoder gets as input.
    pub action: usize,
    /// The size of the embedding of the expected type, and of that of the parent rule.
    pub place: usize,
    /// The dropout probability.
    pub dropout: f32,
    /// The dropout probability of word vectors.
    pub word_dropout: f32,
    /// What shares a dropout mask in the decoder.
    pub decoder_dropout: DecoderDropout,
    /// Whether the decoder scores an item also by its relations to the items that the program has named so far: the columns
    /// that a foreign key connects, the columns of one table, the item itself.
    pub named_relations: bool,
    /// The parts to leave out, for ablation studies.
    pub without: Vec<Ablation>,
}

/// What shares a dropout mask in the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoderDropout {
    /// Nothing: every step of every program has its own mask.
    Step,
    /// All steps of all programs of a question, in search and in the gradient: variational dropout, as in the authors'
    /// code.
    Question,
}

/// A part of the model that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ablation {
    /// After it points to an item, the decoder gets the encoder's vector of that item as input. Without this part, it
    /// gets the same vector for every item.
    FedBackItems,
    /// The decoder attends to items and words. Without this part, it attends to words only.
    ItemAttention,
    /// The decoder gets the rule whose argument comes next as input.
    Parents,
    /// The encoder reads the phrases of rules, and the decoder scores these rules like items, too. Without this part, a rule
    /// is known by what labels show of it only.
    RulePhrases,
    /// The encoder adds a projection of the word vectors to the output of its BiLSTM (a skip connection).
    #[serde(alias = "round")]
    WordSkip,
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
            decoder_dropout: DecoderDropout::Step,
            named_relations: false,
            without: vec![],
        }
    }
}

impl ModelConfig {
    /// Returns whether the model has a part.
    pub(crate) fn has(&self, part: Ablation) -> bool {
        !self.without.contains(&part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn the_former_name_of_the_skip_connection_is_still_read() {
        for name in ["word-skip", "round"] {
            let text: StrDeserializer<'_, Error> = name.into_deserializer();
            assert_eq!(Ablation::deserialize(text), Ok(Ablation::WordSkip));
        }
    }
}
