//! What the rest of the workspace knows about a parser.

use crate::Question;
use std::ops::Range;
use xpr_lang::Program;
use xpr_nn::{Gradients, Parameters, Random};

/// A program that a parser found for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The program.
    pub program: Program,
    /// The log-probability of the program given the question.
    pub log_probability: f32,
}

/// A program for a question of a batch, and the weight of its log-probability in the loss.
#[derive(Clone, Copy, Debug)]
pub struct WeightedProgram<'a> {
    /// The index of the question in the batch.
    pub question: usize,
    /// The program.
    pub program: &'a Program,
    /// The weight. Training minimises the loss, so a negative weight makes the program more probable.
    pub weight: f32,
}

/// Finds programs for questions. Inference needs nothing else of a parser.
pub trait Parser {
    /// Returns the programs found for each question, in the order of the questions, each list most probable first.
    ///
    /// A list has up to `beam` programs and may be empty. Its programs are different from each other and belong to the
    /// question's grammar ([`Question::grammar`]). They do not depend on the other questions or on the number of
    /// threads.
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>>;
}

/// The shards into which a batch is split, and which of them this process works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    /// The number of shards. It is part of what determines the bits of a result.
    pub count: usize,
    /// The shards of this process. The others are those of other ranks.
    pub own: Range<usize>,
}

impl Shards {
    /// Returns shards that are all of this process.
    pub fn all(count: usize) -> Self {
        Shards { count, own: 0..count }
    }

    /// Returns shards of which each of some ranks has about the same number, those of a rank before those of the next.
    pub fn of_rank(count: usize, rank: usize, ranks: usize) -> Self {
        Shards { count, own: rank * count / ranks..(rank + 1) * count / ranks }
    }
}

/// A parser that a trainer can improve by gradient steps. A trainer needs nothing else of a parser.
///
/// One step of training reads a batch of questions, optionally searches candidates for some of them, decides which
/// programs get which weight, and asks for the gradient:
///
/// ```
/// use xpr_nn::{Adam, AdamState, Gradients, Random};
/// use xpr_parser::{Question, Shards, TrainableParser, WeightedProgram};
///
/// /// Makes the best candidate of each question more probable.
/// fn step(parser: &mut dyn TrainableParser, questions: &[&Question], state: &mut AdamState) {
///     let mut gradients = Gradients::default();
///     let mut reading = parser.read(questions, &vec![1; questions.len()], Random::new(0), Shards::all(4));
///     let candidates = reading.candidates(0..questions.len(), 10);
///     let best = candidates.iter().enumerate().filter_map(|(question, candidates)| {
///         candidates.first().map(|best| WeightedProgram { question, program: &best.program, weight: -1.0 })
///     });
///     let best: Vec<_> = best.collect();
///     reading.gradient(&best, &mut gradients);
///     Adam::default().step(parser.parameters_mut(), state, &gradients, 1e-3);
/// }
/// ```
pub trait TrainableParser: Parser {
    /// Returns all numbers that training changes. Their names are the keys of a checkpoint.
    fn parameters(&self) -> &Parameters;

    /// Returns all numbers that training changes, mutably: for the optimiser, and to load a checkpoint.
    fn parameters_mut(&mut self) -> &mut Parameters;

    /// Reads a batch of questions for one training step. Dropout masks are drawn from `random`.
    ///
    /// Splits the batch into `shards` of roughly equal estimated work, which are processed in parallel. `work` has an
    /// estimate for each question, in any unit; a question whose work is 0 is left out, and so is one in a shard of
    /// another rank. Results depend on the number of shards, but not on the number of threads or ranks.
    fn read<'a>(
        &'a self,
        questions: &[&'a Question],
        work: &[usize],
        random: Random,
        shards: Shards,
    ) -> Box<dyn Reading + 'a>;
}

/// A batch of questions that was read for one training step.
///
/// Each question is encoded once; search and gradient use the same encoding with the same dropout masks.
pub trait Reading {
    /// Returns whether a question of the batch is in a shard of this process.
    fn has(&self, question: usize) -> bool;

    /// Returns the programs found for some questions of the batch, as [`Parser::candidates`] does, but with dropout. A
    /// question that was left out gets an empty list. Does not change the result of [`Reading::gradient`].
    fn candidates(&mut self, questions: Range<usize>, beam: usize) -> Vec<Vec<Candidate>>;

    /// Writes the gradient of `Σ weight · log p(program | question)` to `gradients`, replacing what was there, and
    /// returns the log-probability of each program.
    ///
    /// A program of a question that was left out contributes nothing and gets 0.
    fn gradient(self: Box<Self>, programs: &[WeightedProgram<'_>], gradients: &mut Gradients) -> Vec<f32>;
}
