//! The whole parser, and what a trainer sees of it.

use crate::decoder::{Decoder, Scored, Views};
use crate::encoder::{Encoder, Frame, Memory};
use crate::search::Search;
use crate::{ModelConfig, Question, Scene};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use xpr_lang::Program;
use xpr_nn::{Gradients, Init, Matrix, Parameters, Random, Tape};

/// A program that search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The program.
    pub program: Program,
    /// Its log-probability.
    pub log_probability: f32,
}

/// A program for a question, and how much its log-probability counts.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'a> {
    /// The question, as an index into the batch.
    pub question: usize,
    /// The program.
    pub program: &'a Program,
    /// Its weight.
    pub weight: f32,
}

/// What those who ask see of a parser.
pub trait Parser {
    /// The likeliest programs for each question, best first.
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>>;
}

/// What a trainer sees of a parser.
pub trait TrainableParser: Parser {
    /// Reads a batch of questions, dropping elements as `random` says, in so many shards with about as much work each: that of
    /// a question is an estimate, and one without is left out.
    fn read<'a>(
        &'a self,
        questions: &[&'a Question],
        work: &[usize],
        random: Random,
        shards: usize,
    ) -> Box<dyn Reading + 'a>;
    /// Returns the parameters.
    fn parameters(&self) -> &Parameters;
    /// Returns the parameters.
    fn parameters_mut(&mut self) -> &mut Parameters;
}

/// Questions that were read once, to be searched and learned from: the encoder dropped the same elements for both.
pub trait Reading {
    /// The likeliest programs for some of the questions, best first.
    fn candidates(&mut self, questions: Range<usize>, beam: usize) -> Vec<Vec<Candidate>>;

    /// The gradient of `Σ weight · log p(program | question)`, and each program's log-probability; those for a question that was
    /// left out count nothing.
    fn gradient(self: Box<Self>, programs: &[Weighted<'_>], gradients: &mut Gradients) -> Vec<f32>;
}

/// A relation-aware encoder and a grammar decoder, in a scene.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    scene: Scene,
    parameters: Parameters,
    encoder: Encoder,
    decoder: Decoder,
    /// Tapes to be used again, with their buffers.
    tapes: Mutex<Vec<Tape>>,
}

/// The longest program that search writes; no gold program of the benchmarks has half as many actions.
const MAX_ACTIONS: usize = 60;

impl Model {
    /// A model that knows nothing yet, with these word vectors.
    pub fn new(config: ModelConfig, scene: Scene, words: Matrix, random: Random) -> Self {
        let mut parameters = Parameters::default();
        let signatures = scene.grammar().signatures();
        let encoder =
            Encoder::new(&mut parameters, &config, words, signatures.kinds(), scene.relation_kinds());
        let decoder = Decoder::new(&mut parameters, &config, signatures.rules().len(), signatures.types());
        let ids: Vec<_> = parameters.ids().collect();
        for id in ids {
            // Weights and tables are drawn; gains, biases and word vectors are as they are.
            let (name, value) = (parameters.name(id), parameters.value(id));
            let init = match name {
                _ if parameters.is_sparse(id) || value.rows() == 1 => continue,
                "encoder.item_kinds" => Init::Normal(0.1),
                "decoder.rules" | "decoder.types" | "decoder.parents" => Init::Normal(0.3),
                _ if name.contains("relation_") => Init::Normal(0.1),
                _ => Init::Xavier,
            };
            parameters.initialize(id, init, random);
        }
        Model { config, scene, parameters, encoder, decoder, tapes: Mutex::new(vec![]) }
    }

    /// Where it is.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Its sizes.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// What it has learned.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What it has learned, to be changed.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// The log-probabilities of programs, nothing dropped.
    #[cfg(test)]
    pub(crate) fn log_probabilities(&self, questions: &[&Question], programs: &[Scored<'_>]) -> Vec<f32> {
        let mut tape = self.take_tape(Random::new(0), false);
        let (memory, views) = self.encode(&mut tape, questions);
        let (logs, rows_of) = self.decoder.score(&mut tape, self.frame(), (&memory, &views), programs);
        let mut sums = vec![0.0; programs.len()];
        for (row, &program) in rows_of.iter().enumerate() {
            sums[program] += tape.value(logs).row(row)[0];
        }
        sums
    }

    fn frame(&self) -> Frame<'_> {
        Frame { parameters: &self.parameters, config: &self.config, scene: &self.scene }
    }

    /// What questions are to the decoder.
    fn encode<'q>(&self, tape: &mut Tape, questions: &[&'q Question]) -> (Memory<'q>, Views) {
        let memory = self.encoder.encode(tape, self.frame(), questions);
        let views = self.decoder.look(tape, self.frame(), &memory);
        (memory, views)
    }

    fn search(&self, beam: usize) -> Search<'_> {
        Search { decoder: &self.decoder, frame: self.frame(), beam, max_actions: MAX_ACTIONS }
    }

    /// A tape that is ready for use, with the buffers of an earlier one if there is one.
    fn take_tape(&self, random: Random, training: bool) -> Tape {
        let mut tape = self.pool().pop().unwrap_or_else(|| Tape::new(random));
        tape.reset(random, training);
        tape
    }

    /// The tapes that nobody is using.
    fn pool(&self) -> MutexGuard<'_, Vec<Tape>> {
        // A poisoned pool is still a pool.
        self.tapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deals the questions out to shards so that each has about as much work: the most first, in turn, and the turn goes back at
/// each end. What has no work is left out.
fn deal(work: &[usize], shards: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..work.len()).filter(|&question| work[question] > 0).collect();
    order.sort_by_key(|&question| (Reverse(work[question]), question));
    let mut dealt = vec![vec![]; shards.max(1)];
    let count = dealt.len();
    for (index, question) in order.into_iter().enumerate() {
        let (round, turn) = (index / count, index % count);
        dealt[if round % 2 == 0 { turn } else { count - 1 - turn }].push(question);
    }
    dealt
}

impl Parser for Model {
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>> {
        self.parameters.prepare(false);
        let search = |questions: &[&Question]| {
            let mut tape = self.take_tape(Random::new(0), false);
            let (memory, views) = self.encode(&mut tape, questions);
            let all: Vec<usize> = (0..questions.len()).collect();
            let candidates = self.search(beam).run(&mut tape, (&memory, &views), &all);
            self.pool().push(tape);
            candidates
        };
        // Groups of a fixed size, whatever the number of threads.
        questions.par_chunks(6).map(search).flatten_iter().collect()
    }
}

impl TrainableParser for Model {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }
    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }
    fn read<'a>(
        &'a self,
        questions: &[&'a Question],
        work: &[usize],
        random: Random,
        shards: usize,
    ) -> Box<dyn Reading + 'a> {
        self.parameters.prepare(true);
        let read = |(shard, members): (usize, Vec<usize>)| {
            let mut tape = self.take_tape(random.stream(shard as u64), true);
            let own: Vec<&Question> = members.iter().map(|&question| questions[question]).collect();
            let (memory, views) = self.encode(&mut tape, &own);
            Shard { members, tape, memory, views }
        };
        let dealt = deal(work, shards).into_par_iter().enumerate();
        Box::new(Shards {
            model: self,
            shards: dealt.filter(|(_, members)| !members.is_empty()).map(read).collect(),
        })
    }
}

/// Questions that were read, in shards.
struct Shards<'a> {
    model: &'a Model,
    shards: Vec<Shard<'a>>,
}

/// Some questions of a batch, and what was made of them.
struct Shard<'a> {
    /// Their places in the batch.
    members: Vec<usize>,
    tape: Tape,
    memory: Memory<'a>,
    views: Views,
}

impl Reading for Shards<'_> {
    fn candidates(&mut self, questions: Range<usize>, beam: usize) -> Vec<Vec<Candidate>> {
        let search = self.model.search(beam);
        let found: Vec<(usize, Vec<Candidate>)> = self
            .shards
            .par_iter_mut()
            .flat_map_iter(|shard| {
                let (own, places): (Vec<usize>, Vec<usize>) = shard
                    .members
                    .iter()
                    .enumerate()
                    .filter(|(_, question)| questions.contains(question))
                    .map(|(own, question)| (own, question - questions.start))
                    .unzip();
                let found = search.run(&mut shard.tape, (&shard.memory, &shard.views), &own);
                places.into_iter().zip(found)
            })
            .collect();
        let mut all = vec![vec![]; questions.len()];
        for (place, candidates) in found {
            all[place] = candidates;
        }
        all
    }

    fn gradient(self: Box<Self>, programs: &[Weighted<'_>], gradients: &mut Gradients) -> Vec<f32> {
        let Shards { model, shards } = *self;
        let gone_back = |shard: Shard<'_>| {
            let Shard { members, mut tape, memory, views } = shard;
            let mut indices = Vec::new();
            let mut scored = Vec::new();
            for (index, program) in programs.iter().enumerate() {
                if let Some(question) = members.iter().position(|&member| member == program.question) {
                    indices.push(index);
                    scored.push(Scored { question, actions: program.program.actions() });
                }
            }
            if indices.is_empty() {
                return (tape, vec![]);
            }
            let (logs, rows_of) = model.decoder.score(&mut tape, model.frame(), (&memory, &views), &scored);
            let mut sums: Vec<(usize, f32)> = indices.iter().map(|&index| (index, 0.0)).collect();
            for (row, &program) in rows_of.iter().enumerate() {
                sums[program].1 += tape.value(logs).row(row)[0];
            }
            let weights = rows_of.iter().map(|&program| programs[indices[program]].weight).collect();
            tape.backward(&model.parameters, logs, Matrix::new(rows_of.len(), 1, weights));
            (tape, sums)
        };
        let (mut tapes, sums): (Vec<Tape>, Vec<Vec<(usize, f32)>>) =
            shards.into_par_iter().map(gone_back).unzip();
        gradients.collect(&model.parameters, &tapes);
        model.pool().append(&mut tapes);
        let mut log_probabilities = vec![0.0; programs.len()];
        for (program, log_probability) in sums.into_iter().flatten() {
            log_probabilities[program] = log_probability;
        }
        log_probabilities
    }
}
