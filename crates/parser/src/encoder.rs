//! The encoder: from words and items to vectors that depend on how they relate.
//!
//! Words: embeddings, a BiLSTM, and a skip connection from the embeddings. Items, and rules that have phrases: the same
//! over their phrases, averaged, plus an embedding of their kind; computed once for all questions of a batch, because they
//! do not depend on the question. Then relation-aware attention layers over [words ; items ; rules] of each question.

use crate::batch_layout::{ItemBatch, Layout, WordBatch};
use crate::layers::{Affine, ModelContext, Norm};
use crate::{Ablation, ModelConfig, Question};
use xpr_nn::layers::{LstmParameters, Relations, Segment};
use xpr_nn::{Init, Matrix, ParameterId, Parameters, Tape, Var};

/// A BiLSTM over word vectors, with a skip connection.
#[derive(Clone, Copy, Debug)]
struct WordEncoder {
    forward: LstmParameters,
    backward: LstmParameters,
    skip: Affine,
}

impl WordEncoder {
    fn new(parameters: &mut Parameters, name: &str, word: usize, hidden: usize) -> Self {
        let half = hidden / 2;
        let mut lstm = |direction: &str| LstmParameters {
            input: parameters.add(&format!("{name}.{direction}.input"), word, 4 * half, Init::Xavier),
            hidden: parameters.add(&format!("{name}.{direction}.hidden"), half, 4 * half, Init::Xavier),
            bias: parameters.add(&format!("{name}.{direction}.bias"), 1, 4 * half, Init::Constant(0.0)),
        };
        let (forward, backward) = (lstm("forward"), lstm("backward"));
        // `round` is the key in existing checkpoints.
        WordEncoder {
            forward,
            backward,
            skip: Affine::new(parameters, &format!("{name}.round"), word, hidden),
        }
    }

    /// Encodes word sequences; `segments` are their rows in `words`.
    fn apply(self, tape: &mut Tape, context: ModelContext<'_>, words: Var, segments: &[Segment]) -> Var {
        let mut order: Vec<&Segment> = segments.iter().collect();
        order.sort_by_key(|segment| std::cmp::Reverse(segment.len));
        let rows = |segment: &&Segment| segment.start as u32..(segment.start + segment.len) as u32;
        let forwards: Vec<Vec<u32>> = order.iter().map(|segment| rows(segment).collect()).collect();
        let backwards: Vec<Vec<u32>> = order.iter().map(|segment| rows(segment).rev().collect()).collect();
        let forward = tape.lstm(context.parameters, words, self.forward, &forwards);
        let backward = tape.lstm(context.parameters, words, self.backward, &backwards);
        let both = tape.concat_columns(&[forward, backward]);
        if !context.config.has(Ablation::WordSkip) {
            return both;
        }
        let skipped = self.skip.apply(tape, context, words);
        tape.add(both, skipped)
    }
}

/// A relation-aware attention layer with a feed-forward network.
#[derive(Clone, Copy, Debug)]
struct RelationLayer {
    before_attention: Norm,
    query: Affine,
    key: Affine,
    value: Affine,
    relation_keys: ParameterId,
    relation_values: ParameterId,
    output: Affine,
    before_feed_forward: Norm,
    up: Affine,
    down: Affine,
}

impl RelationLayer {
    fn new(parameters: &mut Parameters, config: &ModelConfig, name: &str, relation_kinds: usize) -> Self {
        let (hidden, feed_forward) = (config.hidden, config.feed_forward);
        let size = hidden / config.heads;
        let name = |part: &str| format!("{name}.{part}");
        let relations = Init::Normal(0.1);
        RelationLayer {
            before_attention: Norm::new(parameters, &name("before_attention"), hidden),
            query: Affine::new(parameters, &name("query"), hidden, hidden),
            key: Affine::new(parameters, &name("key"), hidden, hidden),
            value: Affine::new(parameters, &name("value"), hidden, hidden),
            relation_keys: parameters.add(&name("relation_keys"), relation_kinds, size, relations),
            relation_values: parameters.add(&name("relation_values"), relation_kinds, size, relations),
            output: Affine::new(parameters, &name("output"), hidden, hidden),
            before_feed_forward: Norm::new(parameters, &name("before_feed_forward"), hidden),
            up: Affine::new(parameters, &name("up"), hidden, feed_forward),
            down: Affine::new(parameters, &name("down"), feed_forward, hidden),
        }
    }

    /// Returns queries, keys and values.
    fn project(&self, tape: &mut Tape, context: ModelContext<'_>, x: Var) -> (Var, Var, Var) {
        let normal = self.before_attention.apply(tape, context, x);
        let query = self.query.apply(tape, context, normal);
        let key = self.key.apply(tape, context, normal);
        (query, key, self.value.apply(tape, context, normal))
    }

    /// Applies the layer to `x`, whose queries, keys and values are given.
    fn apply(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        x: Var,
        projected: (Var, Var, Var),
        sequences: &[Relations],
    ) -> Var {
        let config = context.config;
        let tables = (self.relation_keys, self.relation_values);
        let attended =
            tape.relation_attention(context.parameters, projected, tables, config.heads, sequences);
        let attended = self.output.apply(tape, context, attended);
        let attended = tape.dropout(attended, config.dropout);
        let x = tape.add(x, attended);

        let normal = self.before_feed_forward.apply(tape, context, x);
        let up = self.up.apply(tape, context, normal);
        let up = tape.relu(up);
        let up = tape.dropout(up, config.dropout);
        let down = self.down.apply(tape, context, up);
        let down = tape.dropout(down, config.dropout);
        tape.add(x, down)
    }
}

/// The parameters of the encoder.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    words: ParameterId,
    questions: WordEncoder,
    items: WordEncoder,
    item_kinds: ParameterId,
    layers: Vec<RelationLayer>,
    last: Norm,
}

/// The encoded words, items and rules of a batch of questions.
pub(crate) struct EncodedBatch<'q> {
    pub(crate) questions: Vec<&'q Question>,
    /// For each question its words, its items and the rules that have phrases, one question after another: `[rows, hidden]`.
    pub(crate) rows: Var,
    /// The rows of each question.
    pub(crate) all: Vec<Segment>,
    /// The rows of each question's words.
    pub(crate) words: Vec<Segment>,
    /// The rows of each question's items.
    pub(crate) items: Vec<Segment>,
    /// The rows of the rules that have phrases, for each question.
    pub(crate) rules: Vec<Segment>,
}

impl EncodedBatch<'_> {
    /// Returns the rows that the decoder attends to when it writes a program for a question.
    pub(crate) fn attended(&self, config: &ModelConfig, question: usize) -> Segment {
        if config.has(Ablation::ItemAttention) { self.all[question] } else { self.words[question] }
    }
}

impl Encoder {
    /// Adds the parameters of an encoder; `words` are the initial word vectors. `item_kinds` counts rules with phrases as one
    /// kind.
    pub(crate) fn new(
        parameters: &mut Parameters,
        config: &ModelConfig,
        words: Matrix,
        item_kinds: usize,
        relation_kinds: usize,
    ) -> Self {
        let (word, hidden) = (words.columns(), config.hidden);
        let words = parameters.add_table("encoder.words", words);
        let questions = WordEncoder::new(parameters, "encoder.questions", word, hidden);
        let items = WordEncoder::new(parameters, "encoder.items", word, hidden);
        let item_kinds = parameters.add("encoder.item_kinds", item_kinds, hidden, Init::Normal(0.1));
        let layers = (0..config.layers)
            .map(|index| {
                RelationLayer::new(parameters, config, &format!("encoder.layer{index}"), relation_kinds)
            })
            .collect();
        let last = Norm::new(parameters, "encoder.last", hidden);
        Encoder { words, questions, items, item_kinds, layers, last }
    }

    /// Returns the table of word vectors.
    pub(crate) fn words(&self) -> ParameterId {
        self.words
    }

    /// Encodes a batch of questions.
    pub(crate) fn encode<'q>(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        questions: &[&'q Question],
    ) -> EncodedBatch<'q> {
        let words = WordBatch::new(questions);
        let items = ItemBatch::new(context, questions);
        let word_vectors = self.encode_words(tape, context, &words);
        let item_vectors = self.encode_items(tape, context, &items);
        let vectors = tape.concat_rows(&[word_vectors, item_vectors]);
        let vectors = tape.dropout(vectors, context.config.dropout);

        let layout = Layout::new(questions, &words, &items);
        let mut x = tape.rows(vectors, &layout.rows);
        for (index, layer) in self.layers.iter().enumerate() {
            // Up to the first attention, a scene's item is the same in every question: computed once, then copied.
            let projected = if index == 0 {
                let (query, key, value) = layer.project(tape, context, vectors);
                let mut copied = |var| tape.rows(var, &layout.rows);
                (copied(query), copied(key), copied(value))
            } else {
                layer.project(tape, context, x)
            };
            x = layer.apply(tape, context, x, projected, &layout.sequences);
        }
        let rows = self.last.apply(tape, context, x);
        let Layout { all, words, items, rules, .. } = layout;
        EncodedBatch { questions: questions.to_vec(), rows, all, words, items, rules }
    }

    /// Returns a vector for each word of each question.
    fn encode_words(&self, tape: &mut Tape, context: ModelContext<'_>, words: &WordBatch) -> Var {
        let vectors = tape.embedding(context.parameters, self.words, &words.ids);
        let vectors = tape.dropout(vectors, context.config.word_dropout);
        self.questions.apply(tape, context, vectors, &words.segments)
    }

    /// Returns a vector for each item of a batch, and for each rule that has phrases.
    fn encode_items(&self, tape: &mut Tape, context: ModelContext<'_>, items: &ItemBatch) -> Var {
        let vectors = tape.embedding(context.parameters, self.words, &items.words);
        let vectors = tape.dropout(vectors, context.config.word_dropout);
        let vectors = self.items.apply(tape, context, vectors, &items.phrases);
        let vectors = tape.segment_mean(vectors, &items.segments);
        let kinds = tape.embedding(context.parameters, self.item_kinds, &items.kinds);
        tape.add(vectors, kinds)
    }
}
