//! A batch of questions, read by a [`Model`] in shards.

use crate::decoder::{DecoderMemory, TargetProgram};
use crate::{Candidate, Model, Question, Reading, Shards, TrainableParser, WeightedProgram};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;
use xpr_nn::{Gradients, Matrix, Random, Tape};

/// A batch of questions in shards, each with its own tape.
pub(crate) struct ShardedReading<'a> {
    model: &'a Model,
    shards: Vec<Shard<'a>>,
}

/// Some questions of a batch, encoded.
struct Shard<'a> {
    /// The indices of the questions in the batch.
    members: Vec<usize>,
    tape: Tape,
    memory: DecoderMemory<'a>,
}

impl<'a> ShardedReading<'a> {
    /// Encodes a batch; see [`TrainableParser::read`]. Each shard has the random stream of its index.
    pub(crate) fn new(
        model: &'a Model,
        questions: &[&'a Question],
        work: &[usize],
        random: Random,
        shards: Shards,
    ) -> Self {
        model.parameters().prepare(true);
        let encode = |(shard, members): (usize, Vec<usize>)| {
            let mut tape = model.take_tape(random.stream(shard as u64), true);
            let questions: Vec<&Question> = members.iter().map(|&member| questions[member]).collect();
            let memory = model.encode(&mut tape, &questions);
            Shard { members, tape, memory }
        };
        let Shards { count, own } = shards;
        let shards = split_by_work(work, count).into_par_iter().enumerate();
        let is_read = |(shard, members): &(usize, Vec<usize>)| own.contains(shard) && !members.is_empty();
        ShardedReading { model, shards: shards.filter(is_read).map(encode).collect() }
    }
}

/// Splits the batch into `shards` of roughly equal estimated work. Questions without work are left out.
///
/// Questions are dealt to the shards in order of decreasing work, forwards and backwards in turn: 0 1 2, 2 1 0, 0 1 2.
fn split_by_work(work: &[usize], shards: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..work.len()).filter(|&question| work[question] > 0).collect();
    order.sort_by_key(|&question| (Reverse(work[question]), question));
    let mut split = vec![vec![]; shards.max(1)];
    let count = split.len();
    for (index, question) in order.into_iter().enumerate() {
        let (round, turn) = (index / count, index % count);
        split[if round % 2 == 0 { turn } else { count - 1 - turn }].push(question);
    }
    split
}

impl Reading for ShardedReading<'_> {
    fn has(&self, question: usize) -> bool {
        self.shards.iter().any(|shard| shard.members.contains(&question))
    }

    fn candidates(&mut self, questions: Range<usize>, beam: usize) -> Vec<Vec<Candidate>> {
        let search = self.model.search(beam);
        let found: Vec<(usize, Vec<Candidate>)> = self
            .shards
            .par_iter_mut()
            .flat_map_iter(|shard| {
                // The indices of questions in the shard, and in the result.
                let (in_shard, in_result): (Vec<usize>, Vec<usize>) = (0..)
                    .zip(&shard.members)
                    .filter(|(_, question)| questions.contains(question))
                    .map(|(index, question)| (index, question - questions.start))
                    .unzip();
                let found = search.run(&mut shard.tape, &shard.memory, &in_shard);
                in_result.into_iter().zip(found)
            })
            .collect();
        let mut all = vec![vec![]; questions.len()];
        for (index, candidates) in found {
            all[index] = candidates;
        }
        all
    }

    fn gradient(self: Box<Self>, programs: &[WeightedProgram<'_>], gradients: &mut Gradients) -> Vec<f32> {
        let ShardedReading { model, shards } = *self;
        let (mut tapes, scored): (Vec<Tape>, Vec<Vec<(usize, f32)>>) =
            shards.into_par_iter().map(|shard| shard.backward(model, programs)).unzip();
        gradients.collect(model.parameters(), &tapes);
        model.unused_tapes().append(&mut tapes);
        let mut log_probabilities = vec![0.0; programs.len()];
        for (program, log_probability) in scored.into_iter().flatten() {
            log_probabilities[program] = log_probability;
        }
        log_probabilities
    }
}

impl Shard<'_> {
    /// Runs the backward pass for those of the programs whose question is in this shard. Returns the tape, and the
    /// index and log-probability of each of these programs.
    fn backward(mut self, model: &Model, programs: &[WeightedProgram<'_>]) -> (Tape, Vec<(usize, f32)>) {
        let mut indices = Vec::new();
        let mut targets = Vec::new();
        for (index, program) in programs.iter().enumerate() {
            if let Some(question) = self.members.iter().position(|&member| member == program.question) {
                indices.push(index);
                targets.push(TargetProgram { question, actions: program.program.actions() });
            }
        }
        if indices.is_empty() {
            return (self.tape, vec![]);
        }
        let scores = model.decoder().score(&mut self.tape, model.context(), &self.memory, &targets);
        let sums = scores.sums(&self.tape, targets.len());
        let weights: Vec<f32> =
            scores.program_of.iter().map(|&program| programs[indices[program]].weight).collect();
        let gradient = Matrix::new(weights.len(), 1, weights);
        self.tape.backward(model.parameters(), scores.log_probabilities, gradient);
        (self.tape, indices.into_iter().zip(sums).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_similar_work_and_no_question_without_work() {
        let work = [5, 0, 9, 1, 7, 7, 0, 3, 2];
        assert_eq!(split_by_work(&work, 3), [vec![2, 8, 3], vec![4, 7], vec![5, 0]]);
        assert_eq!(split_by_work(&work, 1), [vec![2, 4, 5, 0, 7, 8, 3]]);
        assert_eq!(split_by_work(&work, 0).len(), 1, "there is at least one shard");
        assert_eq!(split_by_work(&[0, 4], 3), [vec![1], vec![], vec![]]);
    }
}
