//! The encoder: from words and items to vectors that depend on how they relate.
//!
//! Words: embeddings, a BiLSTM, and a skip connection from the embeddings. Items, and rules that have phrases: the same
//! over their phrases, averaged, plus an embedding of their kind; computed once for all questions of a batch, because they
//! do not depend on the question. Then relation-aware attention layers over [words ; items ; rules] of each question.

use crate::layers::{Affine, ModelContext, Norm};
use crate::linking::among_first;
use crate::scene::ItemFeatures;
use crate::{Ablation, ModelConfig, Question, Scene};
use std::ops::Range;
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

/// The words of all questions, one question after another.
struct WordBatch {
    ids: Vec<u32>,
    /// The words of each question.
    segments: Vec<Segment>,
}

impl WordBatch {
    fn new(questions: &[&Question]) -> Self {
        let mut batch = WordBatch { ids: vec![], segments: vec![] };
        for question in questions {
            batch.segments.push(Segment { start: batch.ids.len(), len: question.words.len() });
            batch.ids.extend_from_slice(&question.words);
        }
        batch
    }
}

/// The items of all questions: first those of each scene that some question uses, then each question's own, and after them
/// the rules that have phrases.
struct ItemBatch {
    /// The words of all phrases, one item after another.
    words: Vec<u32>,
    /// The words of each phrase. An item has one, a rule may have several.
    phrases: Vec<Segment>,
    /// The words of each item.
    segments: Vec<Segment>,
    /// The kind of each item.
    kinds: Vec<u32>,
    /// For each scene and each item of it, the index in this batch; 0 if it is not in use.
    index_of: Vec<Vec<u32>>,
    /// For each question, the index of its scene in `index_of`.
    scene_of: Vec<usize>,
    /// For each question, the index of its first own item in this batch.
    first_own: Vec<usize>,
    /// The rules that have phrases, by their indices in this batch.
    rules: Range<usize>,
}

impl ItemBatch {
    fn new(context: ModelContext<'_>, questions: &[&Question]) -> Self {
        let mut batch = ItemBatch {
            words: vec![],
            phrases: vec![],
            segments: vec![],
            kinds: vec![],
            index_of: vec![],
            scene_of: Vec::with_capacity(questions.len()),
            first_own: Vec::with_capacity(questions.len()),
            rules: 0..0,
        };
        for (scene, of_scene) in by_scene(questions, &mut batch.scene_of) {
            let shared = scene.items();
            let mut index_of = vec![0; shared.len()];
            for item in used_items(&of_scene, shared.len()) {
                index_of[item] = batch.kinds.len() as u32;
                batch.push_item(shared, item);
            }
            batch.index_of.push(index_of);
        }
        for question in questions {
            batch.first_own.push(batch.kinds.len());
            if let Some(own) = question.own_items() {
                (0..own.len()).for_each(|item| batch.push_item(own, item));
            }
        }
        batch.rules = batch.kinds.len()..batch.kinds.len();
        if context.has_rule_phrases() {
            let kind = context.scene.grammar().signatures().item_kind_count() as u32;
            for phrases in context.scene.rule_phrases().words() {
                batch.push(phrases.iter().map(Vec::as_slice), kind);
            }
            batch.rules.end = batch.kinds.len();
        }
        batch
    }

    fn push_item(&mut self, items: &ItemFeatures, item: usize) {
        self.push([items.words_of(item)].into_iter(), items.kinds[item]);
    }

    fn push<'a>(&mut self, phrases: impl Iterator<Item = &'a [u32]>, kind: u32) {
        let start = self.words.len();
        for phrase in phrases {
            self.phrases.push(Segment { start: self.words.len(), len: phrase.len() });
            self.words.extend_from_slice(phrase);
        }
        self.segments.push(Segment { start, len: self.words.len() - start });
        self.kinds.push(kind);
    }
}

/// Returns the scenes of some questions in the order of their first question, each with its questions. Pushes the index of
/// each question's scene to `scene_of`.
fn by_scene<'q>(
    questions: &[&'q Question],
    scene_of: &mut Vec<usize>,
) -> Vec<(&'q Scene, Vec<&'q Question>)> {
    let mut scenes: Vec<(&Scene, Vec<&Question>)> = Vec::new();
    for &question in questions {
        let known = scenes.iter().position(|(scene, _)| scene.is(question.scene()));
        let index = known.unwrap_or_else(|| {
            scenes.push((question.scene(), vec![]));
            scenes.len() - 1
        });
        scenes[index].1.push(question);
        scene_of.push(index);
    }
    scenes
}

/// Returns the items of a scene that at least one of its questions uses, in order.
fn used_items(questions: &[&Question], all: usize) -> Vec<usize> {
    let mut used = vec![false; all];
    for question in questions {
        match question.shared() {
            None => return (0..all).collect(),
            Some(some) => some.iter().for_each(|&item| used[item as usize] = true),
        }
    }
    (0..all).filter(|&item| used[item]).collect()
}

/// The order of rows in the attention layers: [words ; items ; rules] of each question, one question after another.
#[derive(Default)]
struct Layout {
    /// For each row, its index among the words and items of the batch; all words come before all items.
    rows: Vec<u32>,
    all: Vec<Segment>,
    words: Vec<Segment>,
    items: Vec<Segment>,
    rules: Vec<Segment>,
    /// The relations within each question.
    sequences: Vec<Relations>,
}

impl Layout {
    fn new(questions: &[&Question], words: &WordBatch, items: &ItemBatch) -> Self {
        let mut layout = Layout::default();
        let first_item = words.ids.len() as u32;
        for (index, (question, segment)) in questions.iter().zip(&words.segments).enumerate() {
            let (first_own, index_of) = (items.first_own[index], &items.index_of[items.scene_of[index]]);
            let start = layout.rows.len();
            let rows = &mut layout.rows;
            rows.extend(segment.start as u32..(segment.start + segment.len) as u32);
            match question.shared() {
                Some(some) => {
                    rows.extend(some.iter().map(|&item| first_item + index_of[item as usize]));
                }
                None => rows.extend(index_of.iter().map(|item| first_item + item)),
            }
            let own = question.own_items().map_or(0, ItemFeatures::len);
            rows.extend(first_item + first_own as u32..first_item + (first_own + own) as u32);
            let first_rule = rows.len();
            rows.extend(items.rules.clone().map(|rule| first_item + rule as u32));
            let len = rows.len() - start;
            let first_of_items = start + segment.len;
            layout.all.push(Segment { start, len });
            layout.words.push(Segment { start, len: segment.len });
            layout.items.push(Segment { start: first_of_items, len: first_rule - first_of_items });
            layout.rules.push(Segment { start: first_rule, len: items.rules.len() });
            // A model without the phrases of rules has fewer elements than the question.
            let kinds = match question.relations.len() == len * len {
                true => question.relations.clone(),
                false => among_first(&question.relations, len).into(),
            };
            layout.sequences.push(Relations { start, len, kinds });
        }
        layout
    }
}
