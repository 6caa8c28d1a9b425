//! The sum of the gradients of all ranks.
//!
//! The gradient of a weight is a sum of products, one for each shard. Floating-point sums depend on the order, so the sum travels: rank 0 adds the products
//! of its shards and sends it to rank 1, which adds those of its own, and so on. The last rank sends the whole to all. While a rank adds to one weight, the next
//! one adds to the weight before, so all of them work at the same time.
//!
//! ```text
//! rank 0   a b c d                    each letter is a group of weights
//! rank 1     a b c d
//! rank 2       a b c d → all
//! ```
//!
//! What few numbers have for each shard, those of biases and of the rows of tables, is sent to all ranks, and each of them adds all.

use super::{DenseGradient, Gradients};
use crate::{ParameterId, Parameters, Ranks, Tape};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The number of groups of weights that travel. With more, ranks wait less for the first one, and threads of a rank more for each other.
const GROUPS: usize = 12;

impl Gradients {
    pub(super) fn collect_over(&mut self, ranks: &dyn Ranks, parameters: &Parameters, tapes: &[Tape]) {
        let mut used_by_rank: Vec<BTreeSet<ParameterId>> = Vec::new();
        for bytes in ranks.gather(&written(parameters, tapes)) {
            used_by_rank.push(self.merge_written(parameters, &bytes));
        }
        let used = |id: &ParameterId| used_by_rank.iter().any(|used| used.contains(id));
        let ids: Vec<ParameterId> = parameters.ids().collect();
        let size = |id: ParameterId| parameters.value(id).data().len();
        let mut weights: Vec<(ParameterId, &mut DenseGradient)> =
            ids.into_iter().zip(&mut self.dense).filter(|(id, _)| used(id)).collect();
        weights.sort_by_key(|(id, _)| Reverse(size(*id)));
        let total: usize = weights.iter().map(|(id, _)| size(*id)).sum();

        let (rank, last) = (ranks.rank(), ranks.count() - 1);
        // Some rank before has begun the sum, if there is one already or a shard of such a rank uses the weight.
        let is_begun_before = |rank: usize, id: ParameterId, is_set: bool| {
            is_set || used_by_rank[..rank].iter().any(|used| used.contains(&id))
        };
        for group in groups(&mut weights, total, size) {
            let was_set: Vec<bool> = group.iter().map(|(_, dense)| dense.is_set).collect();
            for ((id, dense), was_set) in group.iter_mut().zip(&was_set) {
                if rank > 0 && is_begun_before(rank, *id, *was_set) {
                    ranks.receive(rank - 1, dense.data_mut(size(*id)).0);
                }
            }
            group
                .par_iter_mut()
                .with_max_len(1)
                .for_each(|(id, dense)| dense.add_products(parameters, tapes, *id));
            for ((id, dense), was_set) in group.iter().zip(&was_set) {
                if rank < last && is_begun_before(rank + 1, *id, *was_set) {
                    ranks.send(rank + 1, &dense.data);
                }
            }
        }
        for (id, dense) in weights {
            ranks.broadcast(last, dense.data_mut(size(id)).0);
        }
    }

    /// Adds what the tapes of a rank have besides products, in the order of its shards. Returns the weights that they use.
    fn merge_written(&mut self, parameters: &Parameters, bytes: &[u8]) -> BTreeSet<ParameterId> {
        let (words, _) = bytes.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default() as usize;
        let ids: Vec<ParameterId> = parameters.ids().collect();
        let used = (0..next()).map(|_| ids[next()]).collect();
        for _ in 0..next() {
            for _ in 0..next() {
                let id = ids[next()];
                let gradient: Vec<f32> = (0..next()).map(|_| f32::from_bits(next() as u32)).collect();
                self.add(id, &gradient);
            }
            for _ in 0..next() {
                let (id, row) = (ids[next()], next());
                let gradient: Vec<f32> = (0..next()).map(|_| f32::from_bits(next() as u32)).collect();
                self.add_row(id, row, &gradient);
            }
        }
        used
    }
}

/// Returns the weights that tapes use, and their gradients besides products, as bytes.
fn written(parameters: &Parameters, tapes: &[Tape]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut word = |word: u32| bytes.extend_from_slice(&word.to_le_bytes());
    let used: BTreeSet<ParameterId> = tapes.iter().flat_map(Tape::used_weights).collect();
    word(used.len() as u32);
    used.iter().for_each(|id| word(id.index() as u32));
    word(tapes.len() as u32);
    for gradients in tapes.iter().map(Tape::gradients) {
        let dense: Vec<(ParameterId, &[f32])> =
            parameters.ids().filter_map(|id| Some((id, gradients.dense(id)?))).collect();
        word(dense.len() as u32);
        for (id, gradient) in dense {
            word(id.index() as u32);
            word(gradient.len() as u32);
            gradient.iter().for_each(|number| word(number.to_bits()));
        }
        word(gradients.sparse().count() as u32);
        for (id, row, gradient) in gradients.sparse() {
            word(id.index() as u32);
            word(row as u32);
            word(gradient.len() as u32);
            gradient.iter().for_each(|number| word(number.to_bits()));
        }
    }
    bytes
}

/// Divides weights into groups of about the same size.
fn groups<'w, 'd>(
    weights: &'w mut [(ParameterId, &'d mut DenseGradient)],
    total: usize,
    size: impl Fn(ParameterId) -> usize,
) -> Vec<&'w mut [(ParameterId, &'d mut DenseGradient)]> {
    let (mut groups, mut rest) = (Vec::new(), weights);
    while !rest.is_empty() {
        let mut sum = 0;
        let is_before = |(id, _): &&(ParameterId, &mut DenseGradient)| {
            let begins = sum == 0 || sum + size(*id) <= total.div_ceil(GROUPS);
            sum += size(*id);
            begins
        };
        let count = rest.iter().take_while(is_before).count().max(1);
        let (group, after) = rest.split_at_mut(count);
        groups.push(group);
        rest = after;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Init, Matrix, Random, ThreadRank};
    use std::thread;

    /// Returns the tape of a shard. Each shard uses other weights and rows; the sums depend on the order of the shards.
    fn tape(parameters: &Parameters, ids: &[ParameterId], shard: usize) -> Tape {
        let [table, first, second, bias] = ids else { panic!("four parameters") };
        let mut tape = Tape::new(Random::new(shard as u64));
        let rows: Vec<u32> = (0..300).map(|row| (row * (shard as u32 + 1)) % 7).collect();
        let x = tape.embedding(parameters, *table, &rows);
        let noise =
            Matrix::new(300, 8, (0..2400).map(|i| ((i * 37 + shard * 11) % 97) as f32 / 31.0).collect());
        let noise = tape.input(noise);
        let x = tape.add(x, noise);
        let weight = if shard % 3 == 1 { second } else { first };
        let y = tape.linear(parameters, x, *weight, Some(*bias));
        let gradient = (0..300).map(|i| (i as f32 + 1.7) / (shard as f32 + 3.1)).collect();
        tape.backward(parameters, y, Matrix::new(300, 1, gradient));
        tape
    }

    fn bits(gradients: &Gradients, ids: &[ParameterId]) -> Vec<Vec<u32>> {
        let of = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u32>>();
        let dense = ids.iter().map(|id| gradients.dense(*id).map_or_else(Vec::new, of));
        dense.chain(gradients.sparse().map(|(_, _, row)| of(row))).collect()
    }

    #[test]
    fn the_sum_over_ranks_is_that_of_one_rank_to_the_last_bit() {
        const SHARDS: usize = 8;
        let mut parameters = Parameters::default();
        let table =
            parameters.add_table("table", Matrix::new(7, 8, (0..56).map(|i| i as f32 / 9.0).collect()));
        let ids = [
            table,
            parameters.add("first", 8, 1, Init::Constant(0.3)),
            parameters.add("second", 8, 1, Init::Constant(0.7)),
            parameters.add("bias", 1, 1, Init::Constant(0.0)),
        ];
        let tapes = |shards: std::ops::Range<usize>| -> Vec<Tape> {
            shards.map(|shard| tape(&parameters, &ids, shard)).collect()
        };
        let mut alone = Gradients::default();
        alone.collect(&parameters, &tapes(0..SHARDS));
        let expected = bits(&alone, &ids);
        let mut backwards = Gradients::default();
        backwards.collect(&parameters, &tapes(0..SHARDS).into_iter().rev().collect::<Vec<_>>());
        assert_ne!(bits(&backwards, &ids), expected, "the order of the sum matters");
        for count in [1, 2, 3, 4, 8, 11] {
            let (tapes, expected, parameters, ids) = (&tapes, &expected, &parameters, &ids);
            thread::scope(|scope| {
                for ranks in ThreadRank::all(count) {
                    scope.spawn(move || {
                        let rank = ranks.rank();
                        let mut gradients = Gradients::over(ranks);
                        // Twice: buffers of the first step are used again.
                        for _ in 0..2 {
                            gradients.collect(
                                parameters,
                                &tapes(rank * SHARDS / count..(rank + 1) * SHARDS / count),
                            );
                            assert_eq!(bits(&gradients, ids), *expected, "rank {rank} of {count}");
                        }
                    });
                }
            });
        }
    }
}
