//! From words and items to a memory that knows how they relate.
//!
//! Words: vectors, a BiLSTM, and the vectors themselves round it. Items: the same over their phrases, averaged, and what
//! kind they are; once a step, since no question changes them. Then relation-aware layers over [words ; items] of each
//! question.

use crate::scene::Items;
use crate::{Ablation, ModelConfig, Question, Scene};
use xpr_nn::layers::{LstmParameters, Relations, Segment};
use xpr_nn::{Init, Matrix, ParameterId, Parameters, Tape, Var};

/// What every part of the model works with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) parameters: &'a Parameters,
    pub(crate) config: &'a ModelConfig,
    pub(crate) scene: &'a Scene,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    pub(crate) weight: ParameterId,
    pub(crate) bias: ParameterId,
}

impl Affine {
    pub(crate) fn new(parameters: &mut Parameters, name: &str, inputs: usize, outputs: usize) -> Self {
        Affine {
            weight: parameters.add(&format!("{name}.weight"), inputs, outputs, Init::Xavier),
            bias: parameters.add(&format!("{name}.bias"), 1, outputs, Init::Constant(0.0)),
        }
    }

    pub(crate) fn apply(self, tape: &mut Tape, frame: Frame<'_>, input: Var) -> Var {
        tape.linear(frame.parameters, input, self.weight, Some(self.bias))
    }
}

#[derive(Clone, Copy, Debug)]
struct Norm {
    gain: ParameterId,
    bias: ParameterId,
}

impl Norm {
    fn new(parameters: &mut Parameters, name: &str, size: usize) -> Self {
        Norm {
            gain: parameters.add(&format!("{name}.gain"), 1, size, Init::Constant(1.0)),
            bias: parameters.add(&format!("{name}.bias"), 1, size, Init::Constant(0.0)),
        }
    }

    fn apply(self, tape: &mut Tape, frame: Frame<'_>, input: Var) -> Var {
        tape.layer_norm(frame.parameters, input, self.gain, self.bias)
    }
}

/// Word vectors with their neighbours in mind: a BiLSTM and, round it, the vectors themselves.
#[derive(Clone, Copy, Debug)]
struct Reader {
    forward: LstmParameters,
    backward: LstmParameters,
    round: Affine,
}

impl Reader {
    fn new(parameters: &mut Parameters, name: &str, word: usize, hidden: usize) -> Self {
        let half = hidden / 2;
        let mut lstm = |direction: &str| LstmParameters {
            input: parameters.add(&format!("{name}.{direction}.input"), word, 4 * half, Init::Xavier),
            hidden: parameters.add(&format!("{name}.{direction}.hidden"), half, 4 * half, Init::Xavier),
            bias: parameters.add(&format!("{name}.{direction}.bias"), 1, 4 * half, Init::Constant(0.0)),
        };
        let (forward, backward) = (lstm("forward"), lstm("backward"));
        Reader { forward, backward, round: Affine::new(parameters, &format!("{name}.round"), word, hidden) }
    }

    /// `segments` are the sequences, one behind the other.
    fn apply(self, tape: &mut Tape, frame: Frame<'_>, words: Var, segments: &[Segment]) -> Var {
        let mut order: Vec<&Segment> = segments.iter().collect();
        order.sort_by_key(|segment| std::cmp::Reverse(segment.len));
        let rows = |segment: &&Segment| segment.start as u32..(segment.start + segment.len) as u32;
        let there: Vec<Vec<u32>> = order.iter().map(|segment| rows(segment).collect()).collect();
        let back: Vec<Vec<u32>> = order.iter().map(|segment| rows(segment).rev().collect()).collect();
        let forward = tape.lstm(frame.parameters, words, self.forward, &there);
        let backward = tape.lstm(frame.parameters, words, self.backward, &back);
        let both = tape.concat_columns(&[forward, backward]);
        if !frame.config.has(Ablation::Round) {
            return both;
        }
        let round = self.round.apply(tape, frame, words);
        tape.add(both, round)
    }
}

#[derive(Clone, Copy, Debug)]
struct Layer {
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

#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    words: ParameterId,
    questions: Reader,
    items: Reader,
    item_kinds: ParameterId,
    layers: Vec<Layer>,
    last: Norm,
}

/// What the decoder looks at: for each question its words and then the items, one question behind the other.
pub(crate) struct Memory<'q> {
    pub(crate) questions: Vec<&'q Question>,
    pub(crate) rows: Var,
    /// Words and items of each question.
    pub(crate) all: Vec<Segment>,
    /// Its words alone.
    pub(crate) words: Vec<Segment>,
    /// The items alone.
    pub(crate) items: Vec<Segment>,
}

impl Memory<'_> {
    /// What the decoder looks at when it writes a program for a question.
    pub(crate) fn attended(&self, frame: Frame<'_>, question: usize) -> Segment {
        if frame.config.has(Ablation::ItemAttention) { self.all[question] } else { self.words[question] }
    }
}

impl Encoder {
    pub(crate) fn new(
        parameters: &mut Parameters,
        config: &ModelConfig,
        words: Matrix,
        item_kinds: usize,
        relation_kinds: usize,
    ) -> Self {
        let (word, hidden) = (words.columns(), config.hidden);
        let size = hidden / config.heads;
        let words = parameters.add_table("encoder.words", words);
        let questions = Reader::new(parameters, "encoder.questions", word, hidden);
        let items = Reader::new(parameters, "encoder.items", word, hidden);
        let item_kinds = parameters.add("encoder.item_kinds", item_kinds, hidden, Init::Normal(0.1));
        let layers = (0..config.layers)
            .map(|index| {
                let name = |part: &str| format!("encoder.layer{index}.{part}");
                Layer {
                    before_attention: Norm::new(parameters, &name("before_attention"), hidden),
                    query: Affine::new(parameters, &name("query"), hidden, hidden),
                    key: Affine::new(parameters, &name("key"), hidden, hidden),
                    value: Affine::new(parameters, &name("value"), hidden, hidden),
                    relation_keys: parameters.add(
                        &name("relation_keys"),
                        relation_kinds,
                        size,
                        Init::Normal(0.1),
                    ),
                    relation_values: parameters.add(
                        &name("relation_values"),
                        relation_kinds,
                        size,
                        Init::Normal(0.1),
                    ),
                    output: Affine::new(parameters, &name("output"), hidden, hidden),
                    before_feed_forward: Norm::new(parameters, &name("before_feed_forward"), hidden),
                    up: Affine::new(parameters, &name("up"), hidden, config.feed_forward),
                    down: Affine::new(parameters, &name("down"), config.feed_forward, hidden),
                }
            })
            .collect();
        let last = Norm::new(parameters, "encoder.last", hidden);
        Encoder { words, questions, items, item_kinds, layers, last }
    }

    pub(crate) fn encode<'q>(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        questions: &[&'q Question],
    ) -> Memory<'q> {
        let Frame { parameters, config, scene } = frame;
        // Words of all questions, one behind the other.
        let mut ids = Vec::new();
        let mut segments = Vec::new();
        for question in questions {
            segments.push(Segment { start: ids.len(), len: question.words.len() });
            ids.extend_from_slice(&question.words);
        }
        let words = tape.embedding(parameters, self.words, &ids);
        let words = tape.dropout(words, config.word_dropout);
        let words = self.questions.apply(tape, frame, words, &segments);

        // Items: those of the scene that some question can be about, and then those of each question.
        let shared = scene.items();
        let used = used_items(questions, shared.len());
        let mut row_of = vec![0; shared.len()];
        let (mut item_words, mut item_kinds) = (Vec::new(), Vec::new());
        let mut item_segments = Vec::with_capacity(used.len());
        for (row, &item) in used.iter().enumerate() {
            row_of[item] = row as u32;
            let words = &shared.words[shared.starts[item]..shared.starts[item + 1]];
            item_segments.push(Segment { start: item_words.len(), len: words.len() });
            item_words.extend_from_slice(words);
            item_kinds.push(shared.kinds[item]);
        }
        let mut first_own = vec![0; questions.len()];
        for (question, first) in questions.iter().zip(&mut first_own) {
            *first = item_kinds.len();
            if let Some(own) = question.own_items() {
                for bounds in own.starts.windows(2) {
                    item_segments
                        .push(Segment { start: item_words.len() + bounds[0], len: bounds[1] - bounds[0] });
                }
                item_words.extend_from_slice(&own.words);
                item_kinds.extend_from_slice(&own.kinds);
            }
        }
        let items = tape.embedding(parameters, self.words, &item_words);
        let items = tape.dropout(items, config.word_dropout);
        let items = self.items.apply(tape, frame, items, &item_segments);
        let items = tape.segment_mean(items, &item_segments);
        let kinds = tape.embedding(parameters, self.item_kinds, &item_kinds);
        let items = tape.add(items, kinds);

        // [words ; items] of each question.
        let first_item = ids.len() as u32;
        let mut order = Vec::new();
        let mut memory =
            Memory { questions: questions.to_vec(), rows: words, all: vec![], words: vec![], items: vec![] };
        let mut sequences = Vec::new();
        for ((question, segment), own) in questions.iter().zip(&segments).zip(first_own) {
            let start = order.len();
            order.extend(segment.start as u32..(segment.start + segment.len) as u32);
            match question.shared() {
                Some(some) => order.extend(some.iter().map(|&item| first_item + row_of[item as usize])),
                None => order.extend(first_item..first_item + shared.len() as u32),
            }
            let own_items = question.own_items().map_or(0, Items::len);
            order.extend(first_item + own as u32..first_item + (own + own_items) as u32);
            let len = order.len() - start;
            memory.all.push(Segment { start, len });
            memory.words.push(Segment { start, len: segment.len });
            memory.items.push(Segment { start: start + segment.len, len: len - segment.len });
            sequences.push(Relations { start, len, kinds: question.relations.clone() });
        }
        // Up to the first attention an item of the scene is the same in every question: computed once, then copied.
        let both = tape.concat_rows(&[words, items]);
        let both = tape.dropout(both, config.dropout);
        let mut x = tape.rows(both, &order);
        for (index, layer) in self.layers.iter().enumerate() {
            let projected = if index == 0 {
                let (query, key, value) = layer.project(tape, frame, both);
                (tape.rows(query, &order), tape.rows(key, &order), tape.rows(value, &order))
            } else {
                layer.project(tape, frame, x)
            };
            x = layer.apply(tape, frame, x, projected, &sequences);
        }
        memory.rows = self.last.apply(tape, frame, x);
        memory
    }
}

/// The items of the scene that some of the questions can be about, in order.
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

impl Layer {
    /// Queries, keys and values.
    fn project(&self, tape: &mut Tape, frame: Frame<'_>, x: Var) -> (Var, Var, Var) {
        let normal = self.before_attention.apply(tape, frame, x);
        let query = self.query.apply(tape, frame, normal);
        let key = self.key.apply(tape, frame, normal);
        (query, key, self.value.apply(tape, frame, normal))
    }

    fn apply(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        x: Var,
        projected: (Var, Var, Var),
        sequences: &[Relations],
    ) -> Var {
        let config = frame.config;
        let tables = (self.relation_keys, self.relation_values);
        let seen = tape.relation_attention(frame.parameters, projected, tables, config.heads, sequences);
        let seen = self.output.apply(tape, frame, seen);
        let seen = tape.dropout(seen, config.dropout);
        let x = tape.add(x, seen);

        let normal = self.before_feed_forward.apply(tape, frame, x);
        let up = self.up.apply(tape, frame, normal);
        let up = tape.relu(up);
        let up = tape.dropout(up, config.dropout);
        let down = self.down.apply(tape, frame, up);
        let down = tape.dropout(down, config.dropout);
        tape.add(x, down)
    }
}
