//! The whole parser, and what a trainer sees of it.

use crate::decoder::{Decoder, Scored};
use crate::encoder::{Encoder, Frame};
use crate::search::Search;
use crate::{ModelConfig, Question, Scene};
use rayon::prelude::*;
use std::sync::Mutex;
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

/// What a trainer sees of a parser.
pub trait Parser {
    /// The likeliest programs for each question, best first. Without gradients, nothing dropped.
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>>;

    /// The gradient of `Σ weight · log p(program | question)`, dropping elements as `random` says, one a shard; and
    /// each program's log-probability.
    fn gradient(
        &self,
        questions: &[&Question],
        programs: &[Weighted<'_>],
        random: Random,
        shards: &mut [Gradients],
    ) -> Vec<f32>;
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
        self.with_tape(Random::new(0), false, |tape| {
            let memory = self.encoder.encode(tape, self.frame(), questions);
            let (logs, rows_of) = self.decoder.score(tape, self.frame(), &memory, programs);
            let mut sums = vec![0.0; programs.len()];
            for (row, &program) in rows_of.iter().enumerate() {
                sums[program] += tape.value(logs).row(row)[0];
            }
            sums
        })
    }

    fn frame(&self) -> Frame<'_> {
        Frame { parameters: &self.parameters, config: &self.config, scene: &self.scene }
    }

    /// Does something with a tape that is ready for use.
    fn with_tape<T>(&self, random: Random, training: bool, work: impl FnOnce(&mut Tape) -> T) -> T {
        let tapes = |tape: Option<Tape>| {
            // A poisoned pool is still a pool.
            let mut pool = self.tapes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match tape {
                Some(tape) => {
                    pool.push(tape);
                    None
                }
                None => pool.pop(),
            }
        };
        let mut tape = tapes(None).unwrap_or_else(|| Tape::new(random));
        tape.reset(random, training);
        let result = work(&mut tape);
        tapes(Some(tape));
        result
    }
}

impl Parser for Model {
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>> {
        let search = |questions: &[&Question]| {
            self.with_tape(Random::new(0), false, |tape| {
                let memory = self.encoder.encode(tape, self.frame(), questions);
                let search =
                    Search { decoder: &self.decoder, frame: self.frame(), beam, max_actions: MAX_ACTIONS };
                search.run(tape, &memory)
            })
        };
        // Groups of a fixed size, whatever the number of threads.
        questions.par_chunks(6).map(search).flatten_iter().collect()
    }

    fn gradient(
        &self,
        questions: &[&Question],
        programs: &[Weighted<'_>],
        random: Random,
        shards: &mut [Gradients],
    ) -> Vec<f32> {
        let per_shard = questions.len().div_ceil(shards.len().max(1)).max(1);
        let mut log_probabilities = vec![0.0; programs.len()];
        let results: Vec<Vec<(usize, f32)>> = shards
            .par_iter_mut()
            .enumerate()
            .map(|(shard, gradients)| {
                gradients.clear();
                let first = (shard * per_shard).min(questions.len());
                let own = &questions[first..(first + per_shard).min(questions.len())];
                let indices: Vec<usize> = (0..programs.len())
                    .filter(|&index| (first..first + own.len()).contains(&programs[index].question))
                    .collect();
                if indices.is_empty() {
                    return vec![];
                }
                let scored: Vec<Scored<'_>> = indices
                    .iter()
                    .map(|&index| Scored {
                        question: programs[index].question - first,
                        actions: programs[index].program.actions(),
                    })
                    .collect();
                self.with_tape(random.stream(shard as u64), true, |tape| {
                    let memory = self.encoder.encode(tape, self.frame(), own);
                    let (logs, rows_of) = self.decoder.score(tape, self.frame(), &memory, &scored);
                    let mut sums = vec![0.0; indices.len()];
                    for (row, &program) in rows_of.iter().enumerate() {
                        sums[program] += tape.value(logs).row(row)[0];
                    }
                    let weights = rows_of.iter().map(|&program| programs[indices[program]].weight).collect();
                    tape.backward(&self.parameters, logs, Matrix::new(rows_of.len(), 1, weights), gradients);
                    indices.iter().copied().zip(sums).collect()
                })
            })
            .collect();
        for (program, log_probability) in results.into_iter().flatten() {
            log_probabilities[program] = log_probability;
        }
        log_probabilities
    }
}
