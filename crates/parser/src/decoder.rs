//! From a memory to the probabilities of actions, one step at a time.
//!
//! ```text
//! x_t = [last action ; expected type ; parent rule]
//! h_t, c_t = LSTM([x_t ; h_{t−1} ; z_{t−1}], c_{t−1})        z_t = attention of h_t to words and items
//! f_t = tanh(W [h_t ; z_t])                                   rules: W_r f_t      items: pointers from W_p f_t
//! ```
//!
//! The last action is a rule's own vector, or for an item what the encoder made of it. Scoring given programs and
//! searching share the step; scoring computes what comes from `x_t`, and `f_t` and the scores, for all steps at once.

use crate::encoder::{Affine, Frame, Memory};
use crate::{Ablation, ModelConfig};
use xpr_lang::{Action, Derivation, Grammar, ItemId, Place, RuleId, TypeId};
use xpr_nn::layers::{Choice, Segment};
use xpr_nn::{Init, ParameterId, Parameters, Tape, Var};

#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    /// A row a rule, and one for the start.
    rules: ParameterId,
    items: Affine,
    types: ParameterId,
    /// A row a rule, and one for having no parent.
    parents: ParameterId,
    from_input: Affine,
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
}

/// What the memory is to the decoder, computed once.
pub(crate) struct Views {
    keys: Var,
    values: Var,
    pointer_keys: Var,
    /// For each row of the memory, what feeding it back looks like.
    fed_back: Var,
}

/// Where some half-written programs are, a row each.
#[derive(Clone, Copy)]
pub(crate) struct State {
    pub(crate) h: Var,
    pub(crate) c: Var,
    pub(crate) z: Var,
}

/// What the next step of a half-written program depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Input {
    pub(crate) question: usize,
    pub(crate) last: Option<Action>,
    pub(crate) expected: TypeId,
    pub(crate) parent: Option<usize>,
}

impl Input {
    /// What [`Decoder::gates`] looks at: the question is no matter unless an item of it was named last.
    pub(crate) fn as_seen_by_gates(self) -> Self {
        match self.last {
            Some(Action::Item(_)) => self,
            _ => Input { question: 0, ..self },
        }
    }
}

/// A program half written, with the rules its open places belong to.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    pub(crate) derivation: Derivation,
    parents: Vec<Option<usize>>,
    pub(crate) last: Option<Action>,
    /// The items it names.
    pub(crate) named: Vec<ItemId>,
}

impl Partial {
    pub(crate) fn new(grammar: &Grammar) -> Self {
        Partial { derivation: Derivation::new(grammar), parents: vec![None], last: None, named: vec![] }
    }

    /// What the next step depends on; none if the program is complete.
    pub(crate) fn input(&self, question: usize) -> Option<Input> {
        let expected = self.derivation.expected()?;
        Some(Input { question, last: self.last, expected, parent: self.parents.last().copied().flatten() })
    }

    /// Where the next action is.
    pub(crate) fn place(&self) -> Place {
        let parent = self.parents.last().copied().flatten().map(RuleId::from_index);
        Place { parent, previous: self.last }
    }

    /// Takes an action that the grammar allows; false, and nothing happens, if it does not.
    pub(crate) fn advance(&mut self, grammar: &Grammar, action: Action) -> bool {
        if self.derivation.advance(grammar, action).is_err() {
            return false;
        }
        self.parents.pop();
        match action {
            Action::Rule(rule) => {
                let arguments = grammar.arguments(action).len();
                self.parents.extend(std::iter::repeat_n(Some(rule.index()), arguments));
            }
            Action::Item(item) => self.named.push(item),
        }
        self.last = Some(action);
        true
    }
}

/// A program to be scored, and the question it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'a> {
    pub(crate) question: usize,
    pub(crate) actions: &'a [Action],
}

impl Decoder {
    pub(crate) fn new(parameters: &mut Parameters, config: &ModelConfig, rules: usize, types: usize) -> Self {
        let hidden = config.hidden;
        let input = config.action + 2 * config.place;
        let mut affine = |name: &str, inputs, outputs| {
            Affine::new(parameters, &format!("decoder.{name}"), inputs, outputs)
        };
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
        Decoder {
            rules: parameters.add("decoder.rules", rules + 1, config.action, Init::Normal(0.3)),
            types: parameters.add("decoder.types", types, config.place, Init::Normal(0.3)),
            parents: parameters.add("decoder.parents", rules + 1, config.place, Init::Normal(0.3)),
            from_state: parameters.add("decoder.from_state", 2 * hidden, 4 * hidden, Init::Xavier),
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

    pub(crate) fn look(&self, tape: &mut Tape, frame: Frame<'_>, memory: &Memory<'_>) -> Views {
        Views {
            keys: self.keys.apply(tape, frame, memory.rows),
            values: self.values.apply(tape, frame, memory.rows),
            pointer_keys: self.pointer_keys.apply(tape, frame, memory.rows),
            fed_back: self.items.apply(tape, frame, memory.rows),
        }
    }

    /// The state before the first action of programs for these questions.
    pub(crate) fn start(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        memory: &Memory<'_>,
        questions: &[usize],
    ) -> State {
        let segments: Vec<Segment> = questions.iter().map(|&question| memory.words[question]).collect();
        let mean = tape.segment_mean(memory.rows, &segments);
        let h = self.first_h.apply(tape, frame, mean);
        let h = tape.tanh(h);
        let c = self.first_c.apply(tape, frame, mean);
        let c = tape.tanh(c);
        State { h, c, z: mean }
    }

    /// What comes from `x_t`, before activation: `[inputs, 4 hidden]`.
    pub(crate) fn gates(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        (memory, views): (&Memory<'_>, &Views),
        inputs: &[Input],
    ) -> Var {
        let start = frame.scene.rules() as u32;
        let rules: Vec<u32> = inputs
            .iter()
            .map(|input| match input.last {
                Some(Action::Rule(rule)) => rule.index() as u32,
                _ => start,
            })
            .collect();
        let of_rules = tape.embedding(frame.parameters, self.rules, &rules);
        // Rules first, then every row of the memory: each input takes the row of its last action.
        let both = tape.concat_rows(&[of_rules, views.fed_back]);
        let rows: Vec<u32> = inputs
            .iter()
            .enumerate()
            .map(|(row, input)| match input.last {
                Some(Action::Item(item)) if frame.config.has(Ablation::FedBackItems) => {
                    (inputs.len() + memory.items[input.question].start + item.index()) as u32
                }
                _ => row as u32,
            })
            .collect();
        let last = tape.rows(both, &rows);
        let types: Vec<u32> = inputs.iter().map(|input| input.expected.index() as u32).collect();
        let types = tape.embedding(frame.parameters, self.types, &types);
        let parents: Vec<u32> = inputs
            .iter()
            .map(|input| input.parent.filter(|_| frame.config.has(Ablation::Parents)))
            .map(|parent| parent.map_or(start, |parent| parent as u32))
            .collect();
        let parents = tape.embedding(frame.parameters, self.parents, &parents);
        let x = tape.concat_columns(&[last, types, parents]);
        let x = tape.dropout(x, frame.config.dropout);
        self.from_input.apply(tape, frame, x)
    }

    /// What comes from `h_{t−1}` and `z_{t−1}`, before activation: `[rows, 4 hidden]`.
    pub(crate) fn recurrent_gates(&self, tape: &mut Tape, frame: Frame<'_>, h: Var, z: Var) -> Var {
        let before = tape.concat_columns(&[h, z]);
        tape.linear(frame.parameters, before, self.from_state, None)
    }

    /// One step of some half-written programs, a row each: from both parts of the gates, and the `c` before.
    pub(crate) fn step(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        views: &Views,
        (from_input, from_state): (Var, Var),
        c: Var,
        segments: &[Segment],
    ) -> State {
        let gates = tape.add(from_input, from_state);
        let both = tape.lstm_cell(gates, c);
        let h = tape.columns(both, 0, frame.config.hidden);
        let c = tape.columns(both, frame.config.hidden, frame.config.hidden);
        let query = self.query.apply(tape, frame, h);
        let z = tape.memory_attention(query, views.keys, views.values, frame.config.heads, segments);
        State { h, c, z }
    }

    /// The scores of all actions: rules, then items. `[rows, rules + items]`
    pub(crate) fn scores(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        views: &Views,
        (h, z): (Var, Var),
        items: &[Segment],
    ) -> Var {
        let both = tape.concat_columns(&[h, z]);
        let feature = self.feature.apply(tape, frame, both);
        let feature = tape.tanh(feature);
        let feature = tape.dropout(feature, frame.config.dropout);
        let rules = self.rule_scores.apply(tape, frame, feature);
        let pointer = self.pointer.apply(tape, frame, feature);
        let items = tape.pointer_scores(pointer, views.pointer_keys, items);
        tape.concat_columns(&[rules, items])
    }

    /// The log-probabilities of given programs' actions: `[all actions, 1]`, and for each row the program it is of.
    pub(crate) fn score(
        &self,
        tape: &mut Tape,
        frame: Frame<'_>,
        (memory, views): (&Memory<'_>, &Views),
        programs: &[Scored<'_>],
    ) -> (Var, Vec<usize>) {
        // Longest first: those that are not done yet are always the first rows.
        let mut order: Vec<usize> = (0..programs.len()).collect();
        order.sort_by_key(|&program| (std::cmp::Reverse(programs[program].actions.len()), program));
        let longest = order.first().map_or(0, |&program| programs[program].actions.len());
        let question_of = |program: usize| memory.questions[programs[program].question];
        let grammar_of = |program: usize| question_of(program).grammar(frame.scene);
        let mut partials: Vec<Partial> =
            order.iter().map(|&program| Partial::new(grammar_of(program))).collect();
        let mut inputs = Vec::new();
        let mut choices = Vec::new();
        let mut rows_of = Vec::new();
        let mut active_at = Vec::new();
        for step in 0..longest {
            let mut active = 0;
            for (partial, &index) in partials.iter_mut().zip(&order) {
                let program = &programs[index];
                let Some(&action) = program.actions.get(step) else { break };
                let Some(input) = partial.input(program.question) else { break };
                let question = question_of(index);
                let chosen = frame.scene.column(action);
                let mut allowed = question.allowed(frame.scene, input.expected, &partial.named);
                // A program that somebody else wrote may name things in an order of its own.
                if !allowed.contains(&chosen) {
                    allowed = question.allowed_at_all(frame.scene, input.expected);
                }
                choices.push(Choice { allowed, chosen });
                inputs.push(input);
                rows_of.push(index);
                active += 1;
                partial.advance(grammar_of(index), action);
            }
            active_at.push(active);
        }
        let gates = self.gates(tape, frame, (memory, views), &inputs);
        let questions: Vec<usize> = order.iter().map(|&program| programs[program].question).collect();
        let segments: Vec<Segment> =
            questions.iter().map(|&question| memory.attended(frame, question)).collect();
        let mut state = self.start(tape, frame, memory, &questions);
        let (mut hs, mut zs) = (Vec::new(), Vec::new());
        let (mut row, mut before) = (0u32, order.len());
        for &active in &active_at {
            if active < before {
                let rows: Vec<u32> = (0..active as u32).collect();
                state = State {
                    h: tape.rows(state.h, &rows),
                    c: tape.rows(state.c, &rows),
                    z: tape.rows(state.z, &rows),
                };
            }
            before = active;
            let rows: Vec<u32> = (row..row + active as u32).collect();
            row += active as u32;
            let from_input = tape.rows(gates, &rows);
            let from_state = self.recurrent_gates(tape, frame, state.h, state.z);
            state = self.step(tape, frame, views, (from_input, from_state), state.c, &segments[..active]);
            hs.push(state.h);
            zs.push(state.z);
        }
        let (h, z) = (tape.concat_rows(&hs), tape.concat_rows(&zs));
        let items: Vec<Segment> = inputs.iter().map(|input| memory.items[input.question]).collect();
        let scores = self.scores(tape, frame, views, (h, z), &items);
        (tape.choose(scores, choices), rows_of)
    }
}
