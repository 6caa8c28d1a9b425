//! The training loop: Eq. 1 of the paper.
//!
//! ```text
//! loss = −1/B Σ log p(y | x)  +  λ/B' Σ unlabeled loss of x        B labeled and B' unlabeled examples a step
//! ```
//!
//! A [`Teacher`] turns unlabeled questions into lessons, which are programs with weights (the E-step). The gradient is that of a weighted sum
//! of log-probabilities, whether a program comes from a label or from a lesson (the M-step).

use super::batches::batch;
use super::random_streams::RandomStream;
use super::schedule::schedule;
use super::step_report::{StepTiming, unlabeled_report};
use crate::task::{LabeledExample, UnlabeledExample};
use crate::teacher::exchange::exchanged;
use crate::teacher::{Lesson, Student, Teacher};
use std::sync::Arc;
use std::time::Instant;
use xpr_nn::{Adam, AdamState, Gradients, ParameterAverage, Ranks, any_rank};
use xpr_parser::{Model, Shards, TrainableParser, WeightedProgram};
use xpr_run::{LearnConfig, StepReport, TrainConfig};

/// A parser in training.
#[derive(Debug)]
pub struct Trainer<P = Model> {
    config: TrainConfig,
    unlabeled_batch: usize,
    pub(super) parser: P,
    adam: Adam,
    pub(super) state: AdamState,
    /// The moving average of the parameters, unless `train.average` is 0.
    pub(super) average: Option<ParameterAverage>,
    gradients: Gradients,
    /// The ranks that train together, if there are several.
    ranks: Option<Arc<dyn Ranks>>,
}

impl<P: TrainableParser> Trainer<P> {
    /// Creates a trainer before its first step, with `learn.batch` of the settings.
    pub fn new(config: TrainConfig, learn: &LearnConfig, parser: P) -> Self {
        let state = AdamState::new(parser.parameters());
        let adam = Adam { clip: config.clip, row_correction: config.row_correction, ..Adam::default() };
        let average =
            (config.average > 0.0).then(|| ParameterAverage::new(parser.parameters(), config.average));
        let unlabeled_batch = learn.batch;
        Trainer {
            config,
            unlabeled_batch,
            parser,
            adam,
            state,
            average,
            gradients: Gradients::default(),
            ranks: None,
        }
    }

    /// Trains together with other ranks, which must have the same settings, data and parser.
    pub fn with_ranks(self, ranks: Option<Arc<dyn Ranks>>) -> Self {
        let gradients = ranks.clone().map_or_else(Gradients::default, Gradients::over);
        Trainer { ranks, gradients, ..self }
    }

    /// Returns whether something is so on any rank.
    pub(crate) fn is_on_any_rank(&self, is_so: bool) -> bool {
        self.ranks.as_ref().map_or(is_so, |ranks| any_rank(&**ranks, is_so))
    }

    /// Returns the shards of this rank.
    fn shards(&self) -> Shards {
        let count = self.config.shards;
        match &self.ranks {
            Some(ranks) => Shards::of_rank(count, ranks.rank(), ranks.count()),
            None => Shards::all(count),
        }
    }

    /// Returns the parser.
    pub fn parser(&self) -> &P {
        &self.parser
    }

    /// Returns the trained parser. With `train.average`, its parameters are the average.
    pub fn into_parser(mut self) -> P {
        if let Some(average) = self.average {
            average.copy_to(self.parser.parameters_mut());
        }
        self.parser
    }

    /// Returns the number of steps taken.
    pub fn steps_taken(&self) -> usize {
        self.state.step as usize
    }

    /// Takes a step on the next batch of labeled examples and, if there is a teacher whose time has come, of unlabeled ones.
    pub fn step(
        &mut self,
        labeled: &[LabeledExample],
        unlabeled: &[UnlabeledExample],
        teacher: Option<&mut dyn Teacher>,
    ) -> (StepReport, StepTiming) {
        let begin = Instant::now();
        let (step, seed, size) = (self.steps_taken(), self.config.seed, self.config.batch);
        let rate = schedule(&self.config).rate(step);
        let teacher = teacher.and_then(|teacher| Some((step.checked_sub(teacher.start())?, teacher)));

        // The batch. It depends on the number of the step only, and so does dropout.
        let labeled = batch(labeled, size, step, RandomStream::LabeledOrder.of(seed));
        let asked = match &teacher {
            Some((joint_step, _)) => {
                batch(unlabeled, self.unlabeled_batch, *joint_step, RandomStream::UnlabeledOrder.of(seed))
            }
            None => vec![],
        };
        let dropout = RandomStream::Dropout.of(seed).stream(step as u64);
        let mut student = Student::new(
            step,
            &self.parser,
            labeled.iter().map(|(_, example)| (&example.question, example.program.actions().len())),
            asked.iter().map(|(_, example)| &example.question),
            (dropout, self.shards()),
        );

        // The E-step: what do the unlabeled questions teach?
        let (weight, lessons, cached) = match teacher {
            Some((_, teacher)) if !asked.is_empty() => {
                let lessons = self.of_all_ranks(teacher.lessons(&asked, &mut student), &asked, &student);
                (teacher.weight(step), lessons, teacher.cache_hit_rate())
            }
            _ => (0.0, vec![], None),
        };
        let taught = Instant::now();

        // The M-step: the gradient of Eq. 1, and an update.
        let programs = weighted(&labeled, &lessons, weight);
        let logs = student.gradient(&programs, &mut self.gradients);
        let logs = match self.ranks.as_deref() {
            Some(ranks) => logs_of_all(ranks, &logs),
            None => logs,
        };
        let differentiated = Instant::now();
        let gradient = self.adam.step(self.parser.parameters_mut(), &mut self.state, &self.gradients, rate);
        if let Some(average) = &mut self.average {
            average.add(self.parser.parameters(), self.state.step);
        }

        let losses: Vec<f64> =
            logs.iter().zip(&programs).map(|(log, program)| f64::from(*log * program.weight)).collect();
        let (of_labeled, of_unlabeled) = losses.split_at(labeled.len());
        let report = StepReport {
            step: step + 1,
            loss: of_labeled.iter().sum(),
            rate,
            gradient,
            unlabeled: unlabeled_report(&lessons, of_unlabeled, weight, cached),
        };
        (report, StepTiming::new(&lessons, begin, taught, differentiated))
    }

    /// Returns lessons with those of other ranks in the place of those for questions that this rank does not search for.
    fn of_all_ranks(
        &self,
        lessons: Vec<Lesson>,
        asked: &[(usize, &UnlabeledExample)],
        student: &Student<'_>,
    ) -> Vec<Lesson> {
        let Some(ranks) = self.ranks.as_deref().filter(|_| student.is_divided()) else {
            return lessons;
        };
        let examples: Vec<&UnlabeledExample> = asked.iter().map(|(_, example)| *example).collect();
        exchanged(ranks, lessons, |question| student.searches(question), &examples)
    }
}

/// Returns the log-probability of each program, which one rank knows and the others take for 0.
fn logs_of_all(ranks: &dyn Ranks, own: &[f32]) -> Vec<f32> {
    let bytes: Vec<u8> = own.iter().flat_map(|log| log.to_le_bytes()).collect();
    let mut all = own.to_vec();
    for bytes in ranks.gather(&bytes) {
        let (logs, _) = bytes.as_chunks::<4>();
        for (log, other) in all.iter_mut().zip(logs) {
            let other = f32::from_le_bytes(*other);
            // Zero has two signs.
            if other != 0.0 {
                *log = other;
            }
        }
    }
    all
}

/// Returns the programs of the batch with the derivatives of Eq. 1 by their log-probabilities: −1/B for a label, and λ/B' times
/// its weight for a program of a lesson. Labeled questions come first in the batch.
fn weighted<'p>(
    labeled: &[(usize, &'p LabeledExample)],
    lessons: &'p [Lesson],
    lambda: f64,
) -> Vec<WeightedProgram<'p>> {
    let mut programs = Vec::new();
    let weight = -1.0 / labeled.len().max(1) as f32;
    for (question, (_, example)) in labeled.iter().enumerate() {
        programs.push(WeightedProgram { question, program: &example.program, weight });
    }
    let factor = lambda / lessons.len().max(1) as f64;
    for (lesson, question) in lessons.iter().zip(labeled.len()..) {
        for (program, weight) in &lesson.programs {
            programs.push(WeightedProgram { question, program, weight: (factor * weight) as f32 });
        }
    }
    programs
}
