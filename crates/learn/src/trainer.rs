//! The training loop.

use crate::checkpoint::{self, CheckpointError};
use crate::{LabeledExample, TrainConfig};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use xpr_nn::{Adam, AdamState, Gradients, Random, Schedule};
use xpr_parser::{Model, Parser, Question, Weighted};

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    model: Model,
    adam: Adam,
    state: AdamState,
    shards: Vec<Gradients>,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The step, from 1.
    pub step: usize,
    /// The mean negative log-probability of the labeled programs.
    pub loss: f64,
    /// The learning rate.
    pub rate: f64,
    /// The length of the gradient, where it is clipped.
    pub gradient: f64,
}

/// Where the time of a step went.
#[derive(Clone, Copy, Debug)]
pub struct StepTiming {
    /// Forward and backward.
    pub gradient: Duration,
    /// The optimiser.
    pub update: Duration,
}

impl Trainer {
    /// Before the first step.
    pub fn new(config: TrainConfig, model: Model) -> Self {
        let state = AdamState::new(model.parameters());
        let shards = (0..config.shards.max(1)).map(|_| Gradients::default()).collect();
        let adam = Adam { clip: config.clip, ..Adam::default() };
        Trainer { config, model, adam, state, shards }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Steps taken.
    pub fn steps_taken(&self) -> usize {
        self.state.step as usize
    }

    /// The model, training done.
    pub fn into_model(self) -> Model {
        self.model
    }

    /// What is needed to go on from here, as a file.
    pub fn checkpoint(&self) -> Vec<u8> {
        checkpoint::write_checkpoint(self.model.parameters(), &self.state)
    }

    /// Goes back to where such a file was made.
    ///
    /// # Errors
    /// If it is not a checkpoint of this model; the trainer is then of no further use.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), CheckpointError> {
        checkpoint::read_checkpoint(checkpoint, self.model.parameters_mut(), &mut self.state)
    }

    /// Takes a step on the next batch.
    pub fn step(&mut self, examples: &[LabeledExample]) -> StepReport {
        self.timed_step(examples).0
    }

    /// Takes a step on the next batch, and says where the time went.
    pub fn timed_step(&mut self, examples: &[LabeledExample]) -> (StepReport, StepTiming) {
        let schedule = Schedule {
            peak: self.config.rate,
            end: self.config.end_rate,
            warmup: self.config.warmup,
            total: self.config.steps,
            power: self.config.power,
        };
        let step = self.steps_taken();
        let rate = schedule.rate(step);
        let batch = batch(examples.len(), self.config.batch, step, Random::new(self.config.seed).stream(1));
        let questions: Vec<&Question> = batch.iter().map(|&index| &examples[index].question).collect();
        let weight = -1.0 / batch.len().max(1) as f32;
        let programs: Vec<Weighted<'_>> = batch
            .iter()
            .enumerate()
            .map(|(question, &index)| Weighted { question, program: &examples[index].program, weight })
            .collect();
        let random = Random::new(self.config.seed).stream(2).stream(step as u64);
        let start = Instant::now();
        let logs = self.model.gradient(&questions, &programs, random, &mut self.shards);
        let between = Instant::now();
        let gradient = self.adam.step(self.model.parameters_mut(), &mut self.state, &self.shards, rate);
        let timing = StepTiming { gradient: between - start, update: between.elapsed() };
        let loss = -logs.iter().map(|log| f64::from(*log)).sum::<f64>() / logs.len().max(1) as f64;
        (StepReport { step: step + 1, loss, rate, gradient }, timing)
    }
}

/// The examples of a step: passes over all of them, each in an order of its own.
fn batch(examples: usize, size: usize, step: usize, random: Random) -> Vec<usize> {
    let mut orders: Vec<(usize, Vec<usize>)> = Vec::new();
    (step * size..(step + 1) * size)
        .map(|position| {
            let (pass, place) = (position / examples.max(1), position % examples.max(1));
            if orders.last().is_none_or(|(last, _)| *last != pass) {
                orders.push((pass, random.stream(pass as u64).permutation(examples)));
            }
            orders[orders.len() - 1].1[place]
        })
        .collect()
}
