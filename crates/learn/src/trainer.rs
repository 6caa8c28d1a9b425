//! The training loop.

use crate::LabeledExample;
use serde::{Deserialize, Serialize};
use xpr_nn::{Adam, AdamState, Gradients, Random, Schedule};
use xpr_parser::{Model, Parser, Question, Weighted};

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Decides everything that is random.
    pub seed: u64,
    /// How many steps.
    pub steps: usize,
    /// Labeled examples a step.
    pub batch: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// The learning rate at the end.
    pub end_rate: f64,
    /// Steps until the highest rate.
    pub warmup: usize,
    /// The power by which it falls from there.
    pub power: f64,
    /// The longest gradient; longer ones are scaled down. 0 for none.
    pub clip: f32,
    /// Into how many parts a batch is split for parallel work; part of what decides the bits of a result.
    pub shards: usize,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            seed: 0,
            steps: 3000,
            batch: 12,
            rate: 1e-3,
            end_rate: 1e-5,
            warmup: 300,
            power: 0.5,
            clip: 5.0,
            shards: 2,
        }
    }
}

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    model: Model,
    adam: Adam,
    state: AdamState,
    shards: Vec<Gradients>,
    step: usize,
}

/// What came of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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

impl Trainer {
    /// Before the first step.
    pub fn new(config: TrainConfig, model: Model) -> Self {
        let state = AdamState::new(model.parameters());
        let shards = (0..config.shards.max(1)).map(|_| Gradients::default()).collect();
        let adam = Adam { clip: config.clip, ..Adam::default() };
        Trainer { config, model, adam, state, shards, step: 0 }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Steps taken.
    pub fn step_count(&self) -> usize {
        self.step
    }

    /// Takes a step on the next batch.
    pub fn step(&mut self, examples: &[LabeledExample]) -> StepReport {
        let schedule = Schedule {
            peak: self.config.rate,
            end: self.config.end_rate,
            warmup: self.config.warmup,
            total: self.config.steps,
            power: self.config.power,
        };
        let rate = schedule.rate(self.step);
        let batch =
            batch(examples.len(), self.config.batch, self.step, Random::new(self.config.seed).stream(1));
        let questions: Vec<&Question> = batch.iter().map(|&index| &examples[index].question).collect();
        let weight = -1.0 / batch.len().max(1) as f32;
        let programs: Vec<Weighted<'_>> = batch
            .iter()
            .enumerate()
            .map(|(question, &index)| Weighted { question, program: &examples[index].program, weight })
            .collect();
        let random = Random::new(self.config.seed).stream(2).stream(self.step as u64);
        let logs = self.model.gradient(&questions, &programs, random, &mut self.shards);
        let gradient = self.adam.step(self.model.parameters_mut(), &mut self.state, &self.shards, rate);
        self.step += 1;
        let loss = -logs.iter().map(|log| f64::from(*log)).sum::<f64>() / logs.len().max(1) as f64;
        StepReport { step: self.step, loss, rate, gradient }
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
