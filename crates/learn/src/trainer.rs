//! The training loop: labeled programs, and what running programs says of unlabeled questions (Eq. 1 of the paper).

use crate::checkpoint::{self, CheckpointError};
use crate::committee::Committee;
use crate::explore::{Explorer, Found, UnlabeledReport, report};
use crate::{Judge, LabeledExample, LearnConfig, TrainConfig, UnlabeledExample};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use xpr_nn::{Adam, AdamState, Gradients, Random, Schedule};
use xpr_parser::{Model, Parser, Question, TrainableParser, Weighted};

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    learn: LearnConfig,
    model: Model,
    /// Who suggests programs for unlabeled questions; the model itself if there is none.
    committee: Option<Committee>,
    adam: Adam,
    state: AdamState,
    gradients: Gradients,
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
    /// What unlabeled questions brought, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlabeled: Option<UnlabeledReport>,
}

/// Where the time of a step went.
#[derive(Clone, Copy, Debug)]
pub struct StepTiming {
    /// Searching programs for unlabeled questions, with reading the batch for it.
    pub search: Duration,
    /// Running them.
    pub execution: Duration,
    /// Forward and backward.
    pub gradient: Duration,
    /// The optimiser.
    pub update: Duration,
}

impl Trainer {
    /// Before the first step.
    pub fn new(config: TrainConfig, learn: LearnConfig, model: Model) -> Self {
        let state = AdamState::new(model.parameters());
        let adam = Adam { clip: config.clip, ..Adam::default() };
        Trainer { config, learn, model, committee: None, adam, state, gradients: Gradients::default() }
    }

    /// The same, learning from what a committee suggests instead of what the model itself finds, from the first step on.
    pub(crate) fn taught_by(self, committee: Option<Committee>) -> Self {
        Trainer { committee, ..self }
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

    /// Takes a step on the next batch; `judge` is asked about unlabeled questions once their time has come.
    pub fn step(
        &mut self,
        labeled: &[LabeledExample],
        unlabeled: &[UnlabeledExample],
        judge: &mut Judge<'_>,
    ) -> (StepReport, StepTiming) {
        let start = Instant::now();
        let step = self.steps_taken();
        let rate = self.schedule().rate(step);
        let random = Random::new(self.config.seed);
        let dropped = random.stream(2).stream(step as u64);

        // Labeled: −1/B each.
        let batch = batch_of(labeled.len(), self.config.batch, step, random.stream(1));
        let mut questions: Vec<&Question> = batch.iter().map(|&index| &labeled[index].question).collect();
        let weight = -1.0 / batch.len().max(1) as f32;
        let mut programs: Vec<Weighted<'_>> = batch
            .iter()
            .enumerate()
            .map(|(question, &index)| Weighted { question, program: &labeled[index].program, weight })
            .collect();

        // Unlabeled: λ c_i/B each, where there is credit.
        let start_of_joint = if self.committee.is_some() { 0 } else { self.learn.start };
        let joint = step.checked_sub(start_of_joint).filter(|_| !unlabeled.is_empty());
        let explored = Explorer::new(&self.learn).zip(joint).map(|(explorer, joint_step)| {
            let asked = batch_of(unlabeled.len(), self.learn.batch, joint_step, random.stream(3));
            questions.extend(asked.iter().map(|&index| &unlabeled[index].question));
            if let Some(committee) = &self.committee {
                let lesson = |&index| Cow::Borrowed(committee.lesson(index));
                return (None, asked.iter().map(lesson).collect());
            }
            let (reading, candidates) = if self.learn.noise {
                // To be searched: a beam of programs, about as long as the question.
                let searched = questions[batch.len()..].iter();
                let mut work = work_of(&programs, batch.len());
                work.extend(searched.map(|question| explorer.beam * question.words().max(1)));
                let mut reading = self.model.read(&questions, &work, dropped, self.config.shards);
                let candidates = reading.candidates(batch.len()..questions.len(), explorer.beam);
                (Some(reading), candidates)
            } else {
                (None, self.model.candidates(&questions[batch.len()..], explorer.beam))
            };
            let look = |(&index, candidates)| explorer.look(&unlabeled[index], candidates, judge);
            (reading, asked.iter().zip(candidates).map(look).map(Cow::Owned).collect::<Vec<Cow<'_, Found>>>())
        });
        let (reading, found) = explored.map_or((None, None), |(reading, found)| (reading, Some(found)));
        let searched = start.elapsed();
        if let Some(found) = &found {
            let factor = self.learn.weight / found.len().max(1) as f64;
            for (found, question) in found.iter().zip(batch.len()..) {
                programs.extend(found.credited(self.committee.is_some()).map(|(program, credit)| Weighted {
                    question,
                    program,
                    weight: (factor * credit) as f32,
                }));
            }
        }
        let reading = reading.unwrap_or_else(|| {
            self.model.read(&questions, &work_of(&programs, questions.len()), dropped, self.config.shards)
        });
        let logs = reading.gradient(&programs, &mut self.gradients);
        let between = Instant::now();
        let gradient = self.adam.step(self.model.parameters_mut(), &mut self.state, &self.gradients, rate);
        let execution = match (&found, &self.committee) {
            (Some(found), None) => found.iter().map(|found| found.execution).sum(),
            _ => Duration::ZERO,
        };
        let timing = StepTiming {
            search: searched - execution,
            execution,
            gradient: between - start - searched,
            update: between.elapsed(),
        };
        let weighted: Vec<f64> =
            logs.iter().zip(&programs).map(|(log, program)| f64::from(*log * program.weight)).collect();
        let (of_labeled, of_unlabeled) = weighted.split_at(batch.len());
        let unlabeled = found.as_ref().map(|found| {
            let report = report(found.iter().map(|found| &**found), judge);
            match &self.committee {
                // How far the model is from what the committee believes.
                Some(_) => {
                    let loss = of_unlabeled.iter().sum::<f64>() / self.learn.weight.max(f64::MIN_POSITIVE);
                    UnlabeledReport { loss, ..report }
                }
                None => report,
            }
        });
        (StepReport { step: step + 1, loss: of_labeled.iter().sum(), rate, gradient, unlabeled }, timing)
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            peak: self.config.rate,
            end: self.config.end_rate,
            warmup: self.config.warmup,
            total: self.config.steps,
            power: self.config.power,
        }
    }
}

/// How many actions there are to score for each question.
fn work_of(programs: &[Weighted<'_>], questions: usize) -> Vec<usize> {
    let mut work = vec![0; questions];
    for program in programs {
        work[program.question] += program.program.actions().len();
    }
    work
}

/// The examples of a step: passes over all of them, each in an order of its own.
fn batch_of(examples: usize, size: usize, step: usize, random: Random) -> Vec<usize> {
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
