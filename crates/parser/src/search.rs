//! Beam search for many questions at once.
//!
//! A finished program leaves the beam, which gets narrower by one. The search for a question ends when as many programs
//! are finished as the beam is wide, or when no hypothesis is left.
//!
//! With [`MentionPenalties`], hypotheses compete by their log-probability less the penalties that they can no longer avoid.
//! Finished programs have the model's probability; whoever ranks them adds the penalties.

use crate::decoder::{Decoder, DecoderMemory, DecoderState};
use crate::layers::ModelContext;
use crate::mentions::NextPenalty;
use crate::parser::Candidate;
use crate::partial::{PartialProgram, StepInput};
use crate::{DecoderDropout, MentionPenalties, Mentions, Question};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::Hash;
use xpr_lang::{Action, ItemId, Program, TypeId};
use xpr_nn::layers::log_softmax;
use xpr_nn::{Matrix, Tape};

/// A search with a fixed beam width.
pub(crate) struct Search<'a> {
    pub(crate) decoder: &'a Decoder,
    pub(crate) context: ModelContext<'a>,
    /// The number of programs to find for each question.
    pub(crate) beam: usize,
    /// The length of the longest program to find.
    pub(crate) max_actions: usize,
    /// What programs lose for values that they do not use and constants that they invent.
    pub(crate) penalties: Option<MentionPenalties>,
}

/// An incomplete program in the beam.
struct Hypothesis {
    partial: PartialProgram,
    actions: Vec<Action>,
    /// Actions that complete the program and make sense, if the language has rules about that.
    completion: Vec<Action>,
    log_probability: f32,
    /// The row of the previous decoder state that this hypothesis continues.
    parent_row: u32,
}

/// The beam of one question.
struct Beam<'q> {
    /// The index of the question in the batch.
    index: usize,
    question: &'q Question,
    hypotheses: Vec<Hypothesis>,
    finished: Vec<Candidate>,
    /// The meanings of the finished programs, if the language has rules of sense.
    meanings: FxHashSet<String>,
    /// The values of the question, if programs are penalised.
    mentions: Option<(Mentions, MentionPenalties)>,
}

/// A hypothesis of a beam with one more action.
#[derive(Clone, Copy)]
struct Extension {
    log_probability: f32,
    /// The log-probability less the penalties that the longer program cannot avoid.
    score: f32,
    /// The index of the hypothesis.
    hypothesis: usize,
    /// The column of the action.
    column: u32,
}

/// The greatest extension has the best score. Ties are decided by hypothesis and column, so that the order is always
/// the same.
impl Ord for Extension {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| (other.hypothesis, other.column).cmp(&(self.hypothesis, self.column)))
    }
}

impl PartialOrd for Extension {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Extension {}

impl Search<'_> {
    /// Returns the programs found for some questions of a batch, most probable first. Leaves the tape as it was.
    pub(crate) fn run(
        &self,
        tape: &mut Tape,
        memory: &DecoderMemory<'_>,
        questions: &[usize],
    ) -> Vec<Vec<Candidate>> {
        let start = tape.mark();
        // The rows of the state are the hypotheses of all beams, one beam after another.
        let mut state = self.decoder.start(tape, self.context, memory, questions);
        let mut beams: Vec<Beam<'_>> = (0..)
            .zip(questions)
            .map(|(row, &index)| self.start_beam(index, memory.batch.questions[index], row))
            .collect();
        let mut logs = Vec::new();
        let first_step = tape.mark();
        while beams.iter().any(|beam| !beam.hypotheses.is_empty()) {
            let inputs: Vec<StepInput> = beams.iter().flat_map(Beam::inputs).collect();
            let parents: Vec<u32> = beams.iter().flat_map(Beam::parent_rows).collect();
            state = self.step(tape, memory, state, &inputs, &parents);
            let named: Vec<&[ItemId]> = beams.iter().flat_map(Beam::named).collect();
            let scores =
                self.decoder.scores(tape, self.context, memory, (state.h, state.z), (&inputs, &named));
            let mut first_row = 0;
            for beam in &mut beams {
                let rows = beam.hypotheses.len();
                self.advance(beam, tape.value(scores), first_row, &mut logs);
                first_row += rows;
            }
            let [h, c, z] = tape.rewind(first_step, [state.h, state.c, state.z]);
            state = DecoderState { h, c, z };
        }
        tape.rewind(start, []);
        beams.into_iter().map(Beam::into_candidates).collect()
    }

    fn start_beam<'q>(&self, index: usize, question: &'q Question, row: u32) -> Beam<'q> {
        let partial = PartialProgram::new(question.grammar());
        let empty = Hypothesis {
            partial,
            actions: vec![],
            completion: vec![],
            log_probability: 0.0,
            parent_row: row,
        };
        let mentions = self.penalties.map(|penalties| (Mentions::new(question), penalties));
        let mentions = mentions.filter(|(mentions, _)| !mentions.is_empty());
        let meanings = FxHashSet::default();
        Beam { index, question, hypotheses: vec![empty], finished: vec![], meanings, mentions }
    }

    /// Computes the decoder's next state. Many hypotheses continue the same one or have the same input, so products are
    /// computed for distinct rows only and copied.
    fn step(
        &self,
        tape: &mut Tape,
        memory: &DecoderMemory<'_>,
        state: DecoderState,
        inputs: &[StepInput],
        parents: &[u32],
    ) -> DecoderState {
        let (decoder, context) = (self.decoder, self.context);
        // With a mask for each question, inputs of different questions differ.
        let shares_masks = tape.is_training() && context.config.decoder_dropout == DecoderDropout::Question;
        let comparable = |input: &StepInput| match shares_masks {
            true => *input,
            false => input.without_irrelevant_question(),
        };
        let (different, row_of) = distinct(inputs.iter().map(comparable));
        let input_gates = decoder.input_gates(tape, context, memory, &different);
        let input_gates = tape.rows(input_gates, &row_of);
        let (different, row_of) = distinct(parents.iter().copied());
        let (h, z) = (tape.rows(state.h, &different), tape.rows(state.z, &different));
        let state_gates = decoder.state_gates(tape, context, h, z);
        let state_gates = tape.rows(state_gates, &row_of);
        let c = tape.rows(state.c, parents);
        decoder.step(tape, context, memory, (input_gates, state_gates, c), inputs)
    }

    /// Replaces the hypotheses of a beam by their best extensions, and moves finished programs out of the beam.
    /// `first_row` is the row of the beam's first hypothesis in `scores`; `logs` is a buffer.
    fn advance(&self, beam: &mut Beam<'_>, scores: &Matrix, first_row: usize, logs: &mut Vec<f32>) {
        let grammar = beam.question.grammar();
        let mut extensions = self.extensions(beam, scores, first_row, logs);
        let mut next = Vec::new();
        // Extensions that make no sense take no place.
        let mut places = self.beam - beam.finished.len();
        while places > 0
            && let Some(extension) = extensions.pop()
        {
            let Some(extended) = self.extend(beam, &extension, first_row) else { continue };
            places -= 1;
            let derivation = &extended.partial.derivation;
            if derivation.is_complete() {
                let Ok(program) = Program::from_actions(grammar, &extended.actions) else { continue };
                beam.finished.push(Candidate { program, log_probability: extended.log_probability });
            } else if derivation.len() + derivation.shortest_rest(grammar) <= self.max_actions {
                next.push(extended);
            }
        }
        if beam.finished.len() >= self.beam {
            next.clear();
        }
        beam.hypotheses = next;
    }

    /// Returns a hypothesis with one more action; none if that makes no sense.
    fn extend(&self, beam: &mut Beam<'_>, extension: &Extension, first_row: usize) -> Option<Hypothesis> {
        let scene = self.context.scene;
        let grammar = beam.question.grammar();
        let hypothesis = &beam.hypotheses[extension.hypothesis];
        let action = scene.action(extension.column);
        let mut partial = hypothesis.partial.clone();
        if !partial.advance(grammar, action) {
            return None;
        }
        let mut actions = hypothesis.actions.clone();
        actions.push(action);
        let mut completion = Vec::new();
        if let Some(sense) = beam.question.sense() {
            if partial.derivation.is_complete() {
                let meaning = sense.meaning(&Program::from_actions(grammar, &actions).ok()?)?;
                // Another spelling of a finished program is less probable than it.
                if !beam.meanings.insert(meaning) {
                    return None;
                }
            } else {
                completion = match hypothesis.completion.split_first() {
                    Some((first, rest)) if *first == action => rest.to_vec(),
                    _ => xpr_lang::completion(sense, grammar, &partial.derivation, &actions)?,
                };
            }
        }
        let parent_row = (first_row + extension.hypothesis) as u32;
        Some(Hypothesis {
            partial,
            actions,
            completion,
            log_probability: extension.log_probability,
            parent_row,
        })
    }

    /// Returns the extensions of a beam's hypotheses, the most probable on top.
    fn extensions(
        &self,
        beam: &Beam<'_>,
        scores: &Matrix,
        first_row: usize,
        logs: &mut Vec<f32>,
    ) -> BinaryHeap<Extension> {
        let scene = self.context.scene;
        let grammar = beam.question.grammar();
        let mut extensions: Vec<Extension> = Vec::new();
        for (index, hypothesis) in beam.hypotheses.iter().enumerate() {
            let partial = &hypothesis.partial;
            let Some(expected) = partial.derivation.expected() else { continue };
            let offered = beam.question.offered(expected, &partial.named);
            log_softmax(scores.row(first_row + index), &offered, logs);
            let penalty = beam.penalty(&partial.named, partial.derivation.open());
            let extension = |(&column, log): (&u32, &f32)| {
                let log_probability = hypothesis.log_probability + log;
                let penalty = penalty.as_ref().map_or(0.0, |penalty| penalty.with(scene.action(column)));
                Extension { log_probability, score: log_probability - penalty, hypothesis: index, column }
            };
            let all = offered.iter().zip(&*logs);
            if let Some(sense) = beam.question.sense() {
                let next = sense.next_action(grammar, &hypothesis.actions);
                extensions.extend(
                    all.filter(|(column, _)| next.makes_sense(scene.action(**column))).map(extension),
                );
                continue;
            }
            let place = partial.place();
            let fits = |column: u32| beam.question.fits(column, place);
            // If no action fits, the program is continued with one that does not.
            let some_fit = offered.iter().any(|&column| fits(column));
            extensions.extend(all.filter(|(column, _)| !some_fit || fits(**column)).map(extension));
        }
        extensions.into()
    }
}

impl Beam<'_> {
    /// Returns the decoder's input for each hypothesis.
    fn inputs(&self) -> impl Iterator<Item = StepInput> {
        self.hypotheses.iter().filter_map(|hypothesis| hypothesis.partial.input(self.index))
    }

    /// Returns the penalty of a partial program by its next action, if programs are penalised.
    fn penalty<'b>(&'b self, named: &[ItemId], open: &'b [TypeId]) -> Option<NextPenalty<'b>> {
        let (mentions, penalties) = self.mentions.as_ref()?;
        let (sense, grammar) = (self.question.sense(), self.question.grammar());
        Some(NextPenalty::new((mentions, *penalties), named, open, (sense, grammar)))
    }

    /// Returns the items that each hypothesis names.
    fn named(&self) -> impl Iterator<Item = &[ItemId]> {
        self.hypotheses.iter().map(|hypothesis| hypothesis.partial.named.as_slice())
    }

    /// Returns, for each hypothesis, the row of the previous state that it continues.
    fn parent_rows(&self) -> impl Iterator<Item = u32> {
        self.hypotheses.iter().map(|hypothesis| hypothesis.parent_row)
    }

    /// Returns the finished programs, most probable first.
    fn into_candidates(mut self) -> Vec<Candidate> {
        self.finished.sort_by(|left, right| right.log_probability.total_cmp(&left.log_probability));
        self.finished
    }
}

/// Returns the distinct elements in order of first appearance, and for each element its index among them.
fn distinct<T: Copy + Eq + Hash>(all: impl Iterator<Item = T>) -> (Vec<T>, Vec<u32>) {
    let (mut different, mut index_of) = (Vec::new(), FxHashMap::default());
    let indices = all
        .map(|element| {
            *index_of.entry(element).or_insert_with(|| {
                different.push(element);
                different.len() as u32 - 1
            })
        })
        .collect();
    (different, indices)
}

#[cfg(test)]
mod tests;
