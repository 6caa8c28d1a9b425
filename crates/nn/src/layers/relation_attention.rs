//! Relation-aware self-attention: each pair of elements has a kind of relation, and each kind has a key and a value.
//!
//! ```text
//! e_ij = q_i · (k_j + K[r_ij]) / √d      α_i = softmax_j e_ij      z_i = Σ_j α_ij (v_j + V[r_ij])
//! ```
//!
//! Relations are factorised: `q_i · K[r]` is computed once for each kind `r` and looked up for each pair, and the
//! probabilities of each kind are added up before they are multiplied with `V[r]`. No vector is ever computed for a
//! pair.

use super::Operation;
use crate::backward::Backward;
use crate::kernels::{softmax, softmax_backward, vectorized};
use crate::{Matrix, ParameterId, Parameters, Tape, Var, View, ViewMut, gemm};
use std::sync::Arc;

/// A sequence of rows that attend to each other, and their relations.
#[derive(Clone, Debug)]
pub struct Relations {
    /// The first row.
    pub start: usize,
    /// The number of rows.
    pub len: usize,
    /// The kind of relation from each row to each row: `[len, len]`.
    pub kinds: Arc<[u8]>,
}

struct RelationAttention {
    query: Var,
    key: Var,
    value: Var,
    key_table: ParameterId,
    value_table: ParameterId,
    heads: usize,
    sequences: Vec<Relations>,
    /// For each sequence and head, the attention probabilities: `[len, len]`.
    probabilities: Var,
    /// For each row and head, the total probability of each kind of relation: `[rows × heads, kinds]`.
    by_kind: Var,
}

vectorized! {
    /// Adds the score of its relation to each element of a row, then multiplies with `scale`.
    fn add_relation_scores(scores: &mut [f32], kinds: &[u8], by_kind: &[f32], scale: f32) {
        for (score, &kind) in scores.iter_mut().zip(kinds) {
            *score = (*score + by_kind[kind as usize]) * scale;
        }
    }
}

/// Adds up each row of a square block by kind; the sums of successive rows are `stride` apart.
///
/// Four rows are summed at the same time, because additions to the same sum have to wait for each other.
fn sum_by_kind(block: &[f32], kinds: &[u8], len: usize, by_kind: &mut [f32], stride: usize) {
    let quads = len / 4 * 4;
    for row in (0..quads).step_by(4) {
        sum_rows_by_kind::<4>(
            &block[row * len..],
            &kinds[row * len..],
            len,
            &mut by_kind[row * stride..],
            stride,
        );
    }
    for row in quads..len {
        sum_rows_by_kind::<1>(
            &block[row * len..],
            &kinds[row * len..],
            len,
            &mut by_kind[row * stride..],
            stride,
        );
    }
}

/// Adds up `ROWS` rows by kind.
#[inline(always)]
fn sum_rows_by_kind<const ROWS: usize>(
    block: &[f32],
    kinds: &[u8],
    len: usize,
    by_kind: &mut [f32],
    stride: usize,
) {
    let rows: [(&[f32], &[u8]); ROWS] =
        std::array::from_fn(|row| (&block[row * len..][..len], &kinds[row * len..][..len]));
    for column in 0..len {
        for (row, (scores, kinds)) in rows.iter().enumerate() {
            by_kind[row * stride + kinds[column] as usize] += scores[column];
        }
    }
}

impl Tape {
    /// Returns the multi-head attention within each sequence. Queries, keys and values are `[rows, heads × d]`;
    /// `key_table` and `value_table` are `[kinds, d]` and shared by the heads.
    #[allow(clippy::too_many_arguments, reason = "they are the symbols of the formula")]
    pub fn relation_attention(
        &mut self,
        parameters: &Parameters,
        (query, key, value): (Var, Var, Var),
        (key_table, value_table): (ParameterId, ParameterId),
        heads: usize,
        sequences: &[Relations],
    ) -> Var {
        let (rows, columns) = (self.value(query).rows(), self.value(query).columns());
        let kinds = parameters.value(key_table).rows();
        let size = columns / heads;
        let scale = 1.0 / (size as f32).sqrt();

        // [rows × heads, kinds]
        let mut query_by_kind = self.buffer(rows * heads, kinds);
        let table = parameters.value(key_table).view().transposed();
        gemm(query_by_kind.view_mut(), false, View::of(self.value(query).data(), rows * heads, size), table);

        let mut by_kind = self.buffer(rows * heads, kinds);
        by_kind.data_mut().fill(0.0);
        let mut output = self.buffer(rows, columns);
        let total: usize = sequences.iter().map(|sequence| heads * sequence.len * sequence.len).sum();
        let mut probabilities = self.buffer(1, total);
        let mut start = 0;
        for sequence in sequences {
            let len = sequence.len;
            for head in 0..heads {
                let block = &mut probabilities.data_mut()[start..start + len * len];
                start += len * len;
                let head_of = |var| self.value(var).view().block((sequence.start, len), (head * size, size));
                gemm(ViewMut::of(block, len, len), false, head_of(query), head_of(key).transposed());
                for (index, scores) in block.chunks_mut(len).enumerate() {
                    let kinds = &sequence.kinds[index * len..][..len];
                    let row = (sequence.start + index) * heads + head;
                    add_relation_scores(scores, kinds, query_by_kind.row(row), scale);
                    softmax(scores);
                }
                let sums = &mut by_kind.data_mut()[(sequence.start * heads + head) * kinds..];
                sum_by_kind(block, &sequence.kinds, len, sums, heads * kinds);
                let result = output.view_mut().block((sequence.start, len), (head * size, size));
                gemm(result, false, View::of(block, len, len), head_of(value));
            }
        }
        let result = ViewMut::of(output.data_mut(), rows * heads, size);
        gemm(result, true, by_kind.view(), parameters.value(value_table).view());
        self.release(query_by_kind);
        let (probabilities, by_kind) = (self.push_leaf(probabilities), self.push_leaf(by_kind));
        let sequences = sequences.to_vec();
        self.push(
            output,
            RelationAttention {
                query,
                key,
                value,
                key_table,
                value_table,
                heads,
                sequences,
                probabilities,
                by_kind,
            },
        )
    }
}

impl Operation for RelationAttention {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let (rows, columns) = (gradient.rows(), gradient.columns());
        let heads = self.heads;
        let size = columns / heads;
        let scale = 1.0 / (size as f32).sqrt();
        let (query, key, value) = (back.value(self.query), back.value(self.key), back.value(self.value));
        let key_table = back.parameters.value(self.key_table);
        let value_table = back.parameters.value(self.value_table);
        let all_probabilities = back.value(self.probabilities).data();
        let kinds = key_table.rows();
        let split = View::of(gradient.data(), rows * heads, size);

        // The gradient of each kind's probability.
        let mut kind_gradient = back.buffer(rows * heads, kinds);
        gemm(kind_gradient.view_mut(), false, split, value_table.view().transposed());
        back.gradients.add_product(self.value_table, back.value(self.by_kind).view(), split, (kinds, size));

        let mut to_query = back.buffer(rows, columns);
        let mut to_key = back.buffer(rows, columns);
        let mut to_value = back.buffer(rows, columns);
        let mut by_kind = back.zeros(rows * heads, kinds);
        let longest = self.sequences.iter().map(|sequence| sequence.len).max().unwrap_or(0);
        let mut scores = vec![0.0; longest * longest];
        let mut start = 0;
        for sequence in &self.sequences {
            let len = sequence.len;
            let rows = (sequence.start, len);
            for head in 0..heads {
                let columns = (head * size, size);
                let probabilities = &all_probabilities[start..start + len * len];
                start += len * len;
                let to_output = gradient.view().block(rows, columns);
                let scores = &mut scores[..len * len];
                gemm(
                    ViewMut::of(scores, len, len),
                    false,
                    to_output,
                    value.view().block(rows, columns).transposed(),
                );
                for (index, scores) in scores.chunks_mut(len).enumerate() {
                    let kinds = &sequence.kinds[index * len..][..len];
                    let row = (sequence.start + index) * heads + head;
                    add_relation_scores(scores, kinds, kind_gradient.row(row), 1.0);
                    softmax_backward(&probabilities[index * len..][..len], scores, scale);
                }
                let sums = &mut by_kind.data_mut()[(sequence.start * heads + head) * kinds..];
                sum_by_kind(scores, &sequence.kinds, len, sums, heads * kinds);
                let probabilities = View::of(probabilities, len, len).transposed();
                gemm(to_value.view_mut().block(rows, columns), false, probabilities, to_output);
                let scores = View::of(scores, len, len);
                gemm(
                    to_query.view_mut().block(rows, columns),
                    false,
                    scores,
                    key.view().block(rows, columns),
                );
                let queries = query.view().block(rows, columns);
                gemm(to_key.view_mut().block(rows, columns), false, scores.transposed(), queries);
            }
        }
        let result = ViewMut::of(to_query.data_mut(), rows * heads, size);
        gemm(result, true, by_kind.view(), key_table.view());
        let queries = View::of(query.data(), rows * heads, size);
        back.gradients.add_product(self.key_table, by_kind.view(), queries, (kinds, size));
        back.release(kind_gradient);
        back.release(by_kind);
        back.release(gradient);
        back.add(self.query, to_query);
        back.add(self.key, to_key);
        back.add(self.value, to_value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_gradients, random_matrix};
    use super::*;
    use crate::Init;

    #[test]
    fn gradient_matches_difference_quotients() {
        let mut parameters = Parameters::default();
        let keys = parameters.add("keys", 3, 2, Init::Normal(1.0));
        let values = parameters.add("values", 3, 2, Init::Normal(1.0));
        let sequences = [
            Relations { start: 0, len: 3, kinds: [0, 1, 2, 1, 0, 2, 2, 2, 0].into() },
            Relations { start: 3, len: 2, kinds: [1, 0, 2, 1].into() },
        ];
        let inputs = [random_matrix(5, 4), random_matrix(5, 4), random_matrix(5, 4)];
        check_gradients(&mut parameters, &inputs, |tape, parameters, inputs| {
            let all = (inputs[0], inputs[1], inputs[2]);
            tape.relation_attention(parameters, all, (keys, values), 2, &sequences)
        });
    }
}
