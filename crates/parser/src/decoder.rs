//! The decoder: from an encoded question to the probabilities of actions, one step at a time.
//!
//! ```text
//! x_t = [previous action ; expected type ; parent rule]
//! h_t, c_t = LSTM([x_t ; h_{t−1} ; z_{t−1}], c_{t−1})        z_t = attention of h_t to words and items
//! f_t = tanh(W [h_t ; z_t])                                   rules: W_r f_t      items: pointers from W_p f_t
//! ```
//!
//! With `named_relations`, the score of an item also has the sum of `(W_n f_t)_k` over the kinds of relations k from items that
//! the program has named to this one. So a program knows which columns a key connects with those it has, and what it has
//! said already.
//!
//! The vector of the previous action is the rule's embedding, or for an item its encoder output. Scoring given programs
//! and search share the step. Scoring knows all actions in advance, so it computes the terms of `x_t`, and `f_t` and
//! the scores, for all steps at once.

use crate::encoder::EncodedBatch;
use crate::layers::{Affine, ModelContext};
use crate::partial::StepInput;
use crate::target_steps::TargetSteps;
use crate::{Ablation, DecoderDropout, ModelConfig};
use xpr_lang::{Action, ItemId};
use xpr_nn::layers::Segment;
use xpr_nn::{Init, ParameterId, Parameters, Random, Tape, Var};

/// The parameters of the decoder.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    /// The embedding of each rule, and one for the start of a program.
    rules: ParameterId,
    /// The projection of an item's encoder output to an action embedding.
    items: Affine,
    types: ParameterId,
    /// The embedding of each rule as parent, and one for the root, which has no parent.
    parents: ParameterId,
    /// From `x_t` to the gates.
    from_input: Affine,
    /// From `h_{t−1}` and `z_{t−1}` to the gates.
    from_state: ParameterId,
    first_h: Affine,
    first_c: Affine,
    query: Affine,
    keys: Affine,
    values: Affine,
    feature: Affine,
    rule_scores: Affine,
    pointer: Affine,
    pointer_keys: Affine,
    /// From `f_t` to a score of each kind of relation between a named item and the next; see
    /// [`ModelConfig::named_relations`].
    named_relations: Option<Affine>,
}

/// An encoded batch with the projections of it that every step needs.
pub(crate) struct DecoderMemory<'q> {
    pub(crate) batch: EncodedBatch<'q>,
    /// The keys and values of attention.
    keys: Var,
    values: Var,
    /// The keys that pointers are compared with.
    pointer_keys: Var,
    /// For each row, its action embedding when it is the previous action.
    fed_back: Var,
    /// The masks of variational dropout; see [`DecoderDropout::Question`].
    masks: Random,
}

/// The two places of the decoder that have dropout.
#[derive(Clone, Copy)]
enum DropoutPlace {
    Input,
    Feature,
}

impl DecoderMemory<'_> {
    /// Drops elements of the rows of some inputs.
    fn dropout(
        &self,
        tape: &mut Tape,
        config: &ModelConfig,
        place: DropoutPlace,
        rows: Var,
        inputs: &[StepInput],
    ) -> Var {
        match config.decoder_dropout {
            DecoderDropout::Step => tape.dropout(rows, config.dropout),
            DecoderDropout::Question => {
                let questions: Vec<u32> = inputs.iter().map(|input| input.question as u32).collect();
                tape.shared_dropout(rows, config.dropout, self.masks.stream(place as u64), &questions)
            }
        }
    }

    /// Returns the rows that each input's step attends to.
    fn attended(&self, config: &ModelConfig, inputs: &[StepInput]) -> Vec<Segment> {
        inputs.iter().map(|input| self.batch.attended(config, input.question)).collect()
    }

    /// Returns the rows of the rules that have phrases, for each input.
    fn rules(&self, inputs: &[StepInput]) -> Vec<Segment> {
        inputs.iter().map(|input| self.batch.rules[input.question]).collect()
    }

    /// Returns the rows of the items that each input's step can point to.
    fn items(&self, inputs: &[StepInput]) -> Vec<Segment> {
        inputs.iter().map(|input| self.batch.items[input.question]).collect()
    }
}

/// The decoder's state after some steps, a row for each incomplete program.
#[derive(Clone, Copy)]
pub(crate) struct DecoderState {
    pub(crate) h: Var,
    pub(crate) c: Var,
    pub(crate) z: Var,
}

impl DecoderState {
    fn rows(self, tape: &mut Tape, rows: &[u32]) -> Self {
        DecoderState { h: tape.rows(self.h, rows), c: tape.rows(self.c, rows), z: tape.rows(self.z, rows) }
    }
}

/// A program to score, and the index of its question in the batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetProgram<'a> {
    pub(crate) question: usize,
    pub(crate) actions: &'a [Action],
}

/// The log-probabilities of the actions of several programs.
pub(crate) struct ActionScores {
    /// `[all actions, 1]`
    pub(crate) log_probabilities: Var,
    /// For each row, the index of its program.
    pub(crate) program_of: Vec<usize>,
}

impl ActionScores {
    /// Returns the log-probability of each of `programs` programs: the sum over its actions.
    pub(crate) fn sums(&self, tape: &Tape, programs: usize) -> Vec<f32> {
        let mut sums = vec![0.0; programs];
        for (row, &program) in self.program_of.iter().enumerate() {
            sums[program] += tape.value(self.log_probabilities).row(row)[0];
        }
        sums
    }
}

impl Decoder {
    /// Adds the parameters of a decoder for a language with this many rules, types and kinds of relations.
    pub(crate) fn new(
        parameters: &mut Parameters,
        config: &ModelConfig,
        (rules, types, relation_kinds): (usize, usize, usize),
    ) -> Self {
        let hidden = config.hidden;
        let input = config.action + 2 * config.place;
        let mut affine = |name: &str, inputs, outputs| {
            Affine::new(parameters, &format!("decoder.{name}"), inputs, outputs)
        };
        // The order decides the random numbers of the initial values.
        let items = affine("items", hidden, config.action);
        let from_input = affine("from_input", input, 4 * hidden);
        let first_h = affine("first_h", hidden, hidden);
        let first_c = affine("first_c", hidden, hidden);
        let query = affine("query", hidden, hidden);
        let keys = affine("keys", hidden, hidden);
        let values = affine("values", hidden, hidden);
        let feature = affine("feature", 2 * hidden, hidden);
        let rule_scores = affine("rule_scores", hidden, rules);
        let pointer = affine("pointer", hidden, hidden);
        let pointer_keys = affine("pointer_keys", hidden, hidden);
        let embeddings = Init::Normal(0.3);
        Decoder {
            rules: parameters.add("decoder.rules", rules + 1, config.action, embeddings),
            types: parameters.add("decoder.types", types, config.place, embeddings),
            parents: parameters.add("decoder.parents", rules + 1, config.place, embeddings),
            from_state: parameters.add("decoder.from_state", 2 * hidden, 4 * hidden, Init::Xavier),
            named_relations: config
                .named_relations
                .then(|| Affine::new(parameters, "decoder.named_relations", hidden, relation_kinds)),
            items,
            from_input,
            first_h,
            first_c,
            query,
            keys,
            values,
            feature,
            rule_scores,
            pointer,
            pointer_keys,
        }
    }

    /// Computes the projections that every step needs.
    pub(crate) fn project<'q>(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        batch: EncodedBatch<'q>,
    ) -> DecoderMemory<'q> {
        DecoderMemory {
            masks: tape.random(),
            keys: self.keys.apply(tape, context, batch.rows),
            values: self.values.apply(tape, context, batch.rows),
            pointer_keys: self.pointer_keys.apply(tape, context, batch.rows),
            fed_back: self.items.apply(tape, context, batch.rows),
            batch,
        }
    }

    /// Returns the state before the first step, a row for each of the questions.
    pub(crate) fn start(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        memory: &DecoderMemory<'_>,
        questions: &[usize],
    ) -> DecoderState {
        let segments: Vec<Segment> = questions.iter().map(|&question| memory.batch.words[question]).collect();
        let mean = tape.segment_mean(memory.batch.rows, &segments);
        let h = self.first_h.apply(tape, context, mean);
        let h = tape.tanh(h);
        let c = self.first_c.apply(tape, context, mean);
        let c = tape.tanh(c);
        DecoderState { h, c, z: mean }
    }

    /// Returns the terms of the gates that depend on `x_t`, before activation: `[inputs, 4 hidden]`.
    pub(crate) fn input_gates(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        memory: &DecoderMemory<'_>,
        inputs: &[StepInput],
    ) -> Var {
        // The row after the last rule stands for the start of a program, and for having no parent.
        let none = context.scene.rules() as u32;
        let rules: Vec<u32> = inputs
            .iter()
            .map(|input| match input.last {
                Some(Action::Rule(rule)) => rule.index() as u32,
                _ => none,
            })
            .collect();
        let rules = tape.embedding(context.parameters, self.rules, &rules);
        // One row for each input, then every row of the memory: an input takes its own row after a rule, or that of
        // the item it follows.
        let both = tape.concat_rows(&[rules, memory.fed_back]);
        let rows: Vec<u32> = inputs
            .iter()
            .enumerate()
            .map(|(row, input)| match input.last {
                Some(Action::Item(item)) if context.config.has(Ablation::FedBackItems) => {
                    (inputs.len() + memory.batch.items[input.question].start + item.index()) as u32
                }
                _ => row as u32,
            })
            .collect();
        let last = tape.rows(both, &rows);
        let types: Vec<u32> = inputs.iter().map(|input| input.expected.index() as u32).collect();
        let types = tape.embedding(context.parameters, self.types, &types);
        let parents: Vec<u32> = inputs
            .iter()
            .map(|input| input.parent.filter(|_| context.config.has(Ablation::Parents)))
            .map(|parent| parent.map_or(none, |parent| parent.index() as u32))
            .collect();
        let parents = tape.embedding(context.parameters, self.parents, &parents);
        let x = tape.concat_columns(&[last, types, parents]);
        let x = memory.dropout(tape, context.config, DropoutPlace::Input, x, inputs);
        self.from_input.apply(tape, context, x)
    }

    /// Returns the terms of the gates that depend on `h_{t−1}` and `z_{t−1}`, before activation: `[rows, 4 hidden]`.
    pub(crate) fn state_gates(&self, tape: &mut Tape, context: ModelContext<'_>, h: Var, z: Var) -> Var {
        let before = tape.concat_columns(&[h, z]);
        tape.linear(context.parameters, before, self.from_state, None)
    }

    /// Returns the state after one step of each row, from both terms of the gates and the previous `c`.
    pub(crate) fn step(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        memory: &DecoderMemory<'_>,
        (input_gates, state_gates, c): (Var, Var, Var),
        inputs: &[StepInput],
    ) -> DecoderState {
        let hidden = context.config.hidden;
        let gates = tape.add(input_gates, state_gates);
        let both = tape.lstm_cell(gates, c);
        let h = tape.columns(both, 0, hidden);
        let c = tape.columns(both, hidden, hidden);
        let query = self.query.apply(tape, context, h);
        let attended = memory.attended(context.config, inputs);
        let z = tape.memory_attention(query, memory.keys, memory.values, context.config.heads, &attended);
        DecoderState { h, c, z }
    }

    /// Returns the scores of all actions, rules before items: `[rows, rules + items]`. `named` has the items that the program
    /// of each input has named so far.
    pub(crate) fn scores(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        memory: &DecoderMemory<'_>,
        (h, z): (Var, Var),
        (inputs, named): (&[StepInput], &[&[ItemId]]),
    ) -> Var {
        let both = tape.concat_columns(&[h, z]);
        let feature = self.feature.apply(tape, context, both);
        let feature = tape.tanh(feature);
        let feature = memory.dropout(tape, context.config, DropoutPlace::Feature, feature, inputs);
        let mut rules = self.rule_scores.apply(tape, context, feature);
        let pointer = self.pointer.apply(tape, context, feature);
        let mut items = tape.pointer_scores(pointer, memory.pointer_keys, &memory.items(inputs));
        if let Some(relations) = self.named_relations {
            let kinds = relations.apply(tape, context, feature);
            let related = |(input, named): (&StepInput, &&[ItemId])| {
                memory.batch.questions[input.question].related_to(named)
            };
            items = tape.add_elements(items, kinds, inputs.iter().zip(named).map(related).collect());
        }
        if context.has_rule_phrases() {
            let phrases = tape.pointer_scores(pointer, memory.pointer_keys, &memory.rules(inputs));
            rules = tape.add_columns(rules, phrases, context.scene.rule_phrases().of_rule());
        }
        tape.concat_columns(&[rules, items])
    }

    /// Returns the log-probabilities of the actions of given programs.
    pub(crate) fn score(
        &self,
        tape: &mut Tape,
        context: ModelContext<'_>,
        memory: &DecoderMemory<'_>,
        programs: &[TargetProgram<'_>],
    ) -> ActionScores {
        let targets = TargetSteps::new(context, &memory.batch, programs);
        let input_gates = self.input_gates(tape, context, memory, &targets.inputs);
        let questions: Vec<usize> = targets.order.iter().map(|&program| programs[program].question).collect();
        let mut state = self.start(tape, context, memory, &questions);
        let (mut hs, mut zs) = (Vec::new(), Vec::new());
        let (mut first, mut before) = (0, targets.order.len());
        for &active in &targets.active {
            if active < before {
                let rows: Vec<u32> = (0..active as u32).collect();
                state = state.rows(tape, &rows);
            }
            before = active;
            let rows: Vec<u32> = (first as u32..(first + active) as u32).collect();
            let inputs = &targets.inputs[first..first + active];
            first += active;
            let input_gates = tape.rows(input_gates, &rows);
            let state_gates = self.state_gates(tape, context, state.h, state.z);
            state = self.step(tape, context, memory, (input_gates, state_gates, state.c), inputs);
            hs.push(state.h);
            zs.push(state.z);
        }
        let (h, z) = (tape.concat_rows(&hs), tape.concat_rows(&zs));
        let named: Vec<&[ItemId]> = targets.named.iter().map(Vec::as_slice).collect();
        let scores = self.scores(tape, context, memory, (h, z), (&targets.inputs, &named));
        let log_probabilities = tape.choose(scores, targets.choices);
        ActionScores { log_probabilities, program_of: targets.program_of }
    }
}
