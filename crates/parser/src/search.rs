//! Beam search over many questions at once.
//!
//! A finished program leaves the beam and takes its place with it, so the beam narrows; the search ends when nothing
//! is left, or nothing that is left can be better than what is finished.

use crate::decoder::{Decoder, Partial, State, Views};
use crate::encoder::{Frame, Memory};
use crate::model::Candidate;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use xpr_lang::{Action, Program};
use xpr_nn::Tape;
use xpr_nn::layers::{Segment, log_softmax};

/// A half-written program in the beam.
struct Hypothesis {
    partial: Partial,
    actions: Vec<Action>,
    log_probability: f32,
}

pub(crate) struct Search<'a> {
    pub(crate) decoder: &'a Decoder,
    pub(crate) frame: Frame<'a>,
    pub(crate) beam: usize,
    pub(crate) max_actions: usize,
}

impl Search<'_> {
    /// The best programs for some questions of a memory, best first. The tape is left as it was.
    pub(crate) fn run(
        &self,
        tape: &mut Tape,
        (memory, views): (&Memory<'_>, &Views),
        questions: &[usize],
    ) -> Vec<Vec<Candidate>> {
        let before = tape.mark();
        let mut state = self.decoder.start(tape, self.frame, memory, questions);
        // The beam of each question; rows of the state are the hypotheses, question by question.
        let scene = self.frame.scene;
        let mut beams: Vec<Vec<Hypothesis>> = questions
            .iter()
            .map(|&question| {
                let partial = Partial::new(memory.questions[question].grammar(scene));
                vec![Hypothesis { partial, actions: vec![], log_probability: 0.0 }]
            })
            .collect();
        let mut finished: Vec<Vec<Candidate>> = questions.iter().map(|_| vec![]).collect();
        // For each hypothesis, the row of the state before that it goes on from.
        let mut from: Vec<u32> = (0..questions.len() as u32).collect();
        let mut logs = Vec::new();
        let mark = tape.mark();
        while beams.iter().any(|beam| !beam.is_empty()) {
            let inputs: Vec<_> = beams
                .iter()
                .zip(questions)
                .flat_map(|(beam, &question)| beam.iter().filter_map(move |h| h.partial.input(question)))
                .collect();
            // Many hypotheses go on from the same one, or with the same action: each is multiplied once.
            let (different, row_of) = distinct(inputs.iter().map(|input| input.as_seen_by_gates()));
            let from_input = self.decoder.gates(tape, self.frame, (memory, views), &different);
            let from_input = tape.rows(from_input, &row_of);
            let (different, row_of) = distinct(from.iter().copied());
            let (h, z) = (tape.rows(state.h, &different), tape.rows(state.z, &different));
            let from_state = self.decoder.recurrent_gates(tape, self.frame, h, z);
            let from_state = tape.rows(from_state, &row_of);
            let c = tape.rows(state.c, &from);
            let segments: Vec<Segment> =
                inputs.iter().map(|input| memory.attended(self.frame, input.question)).collect();
            state = self.decoder.step(tape, self.frame, views, (from_input, from_state), c, &segments);
            let items: Vec<Segment> = inputs.iter().map(|input| memory.items[input.question]).collect();
            let scores = self.decoder.scores(tape, self.frame, views, (state.h, state.z), &items);

            let mut row = 0;
            from.clear();
            for ((beam, finished), &question) in beams.iter_mut().zip(&mut finished).zip(questions) {
                let question = memory.questions[question];
                let grammar = question.grammar(scene);
                let width = self.beam - finished.len();
                // Every way to go on: what it would be worth, from which hypothesis, by which action.
                let mut ways: Vec<(f32, usize, u32)> = Vec::new();
                for (index, hypothesis) in beam.iter().enumerate() {
                    let Some(expected) = hypothesis.partial.derivation.expected() else { continue };
                    let allowed = question.allowed(scene, expected, &hypothesis.partial.named);
                    log_softmax(tape.value(scores).row(row + index), &allowed, &mut logs);
                    let place = hypothesis.partial.place();
                    let fits = |column: u32| question.fits(scene, column, place);
                    // A program must go on, if with something that makes no sense.
                    let some_fit = allowed.iter().any(|&column| fits(column));
                    ways.extend(
                        allowed
                            .iter()
                            .zip(&logs)
                            .filter(|(column, _)| !some_fit || fits(**column))
                            .map(|(&column, log)| (hypothesis.log_probability + log, index, column)),
                    );
                }
                let better = |left: &(f32, usize, u32), right: &(f32, usize, u32)| {
                    right.0.total_cmp(&left.0).then_with(|| (left.1, left.2).cmp(&(right.1, right.2)))
                };
                if width < ways.len() {
                    ways.select_nth_unstable_by(width, better);
                    ways.truncate(width);
                }
                ways.sort_unstable_by(better);
                let mut next = Vec::with_capacity(ways.len());
                for (log_probability, index, column) in ways {
                    let action = scene.action(column);
                    let mut partial = beam[index].partial.clone();
                    if !partial.advance(grammar, action) {
                        continue;
                    }
                    let mut actions = beam[index].actions.clone();
                    actions.push(action);
                    if partial.derivation.is_complete() {
                        if let Ok(program) = Program::from_actions(grammar, &actions) {
                            finished.push(Candidate { program, log_probability });
                        }
                    } else if partial.derivation.len() + partial.derivation.shortest_rest(grammar)
                        <= self.max_actions
                    {
                        next.push((row + index, Hypothesis { partial, actions, log_probability }));
                    }
                }
                row += beam.len();
                if finished.len() >= self.beam {
                    next.clear();
                }
                from.extend(next.iter().map(|(row, _)| *row as u32));
                *beam = next.into_iter().map(|(_, hypothesis)| hypothesis).collect();
            }
            let [h, c, z] = tape.forget_since(mark, [state.h, state.c, state.z]);
            state = State { h, c, z };
        }
        tape.forget_since(before, []);
        for finished in &mut finished {
            finished.sort_by(|left, right| right.log_probability.total_cmp(&left.log_probability));
        }
        finished
    }
}

/// Those that differ, in order of appearance, and for each of all its place among them.
fn distinct<T: Copy + Eq + Hash>(all: impl Iterator<Item = T>) -> (Vec<T>, Vec<u32>) {
    let (mut different, mut place_of) = (Vec::new(), FxHashMap::default());
    let places = all
        .map(|one| {
            *place_of.entry(one).or_insert_with(|| {
                different.push(one);
                different.len() as u32 - 1
            })
        })
        .collect();
    (different, places)
}

#[cfg(test)]
mod tests {
    use crate::scene::tests::cities_and_states;
    use crate::{Model, ModelConfig, Parser, Scene, Surroundings, Vocabulary};
    use xpr_lang::sql::{ColumnId, Literal, SqlEnvironment, TableId, Value};
    use xpr_lang::{Environment, Language};
    use xpr_nn::{Matrix, Random};

    /// Whatever its weights are, a parser looks for Austin among cities only.
    #[test]
    fn words_are_looked_for_where_they_can_be() {
        let language = cities_and_states();
        let fixed = SqlEnvironment::new(&language);
        let of_cities = ColumnId { table: TableId(0), column: 0 };
        let austin =
            Value { literal: Literal::text("austin"), phrase: "austin".into(), columns: vec![of_cities] };
        let environment = fixed.with_values(&language, &[austin]);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let vocabulary = Vocabulary::new(["austin".to_owned(), "where".to_owned()]);
        let base = language.signatures().grammar(fixed.items()).unwrap();
        let scene = Scene::new(base, &fixed, &vocabulary);
        let shared = (0..fixed.items().len() as u32).collect();
        let surroundings =
            Surroundings { environment: Box::new(environment.clone()), grammar: grammar.clone(), shared };
        let question = scene.question_in("where is austin", &vocabulary, surroundings);
        for seed in 0..20 {
            let config = ModelConfig { word: 8, hidden: 16, heads: 2, ..ModelConfig::default() };
            let words = Matrix::zeros(vocabulary.words().len(), 8);
            let model = Model::new(config, scene.clone(), words, Random::new(seed));
            for candidate in model.candidates(&[&question], 64).remove(0) {
                let text = language.write(&candidate.program, &grammar, &environment);
                for nonsense in
                    ["state.name = 'austin'", "SELECT 'austin'", "MAX('austin')", "WHERE 'austin'"]
                {
                    assert!(!text.contains(nonsense), "{text}");
                }
            }
        }
    }
}
