//! Attention from single rows to segments of a memory, and pointer scores for the rows of a segment.
//!
//! ```text
//! α = softmax_j q · k_j / √d        z = Σ_j α_j v_j            (attention, for each head)
//! s_j = q · k_j / √d                                            (pointer scores)
//! ```

use super::Operation;
use crate::backward::Backward;
use crate::kernels::{add_scaled, dot, softmax, softmax_backward, vectorized};
use crate::{Matrix, Tape, Var};

/// A range of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first row.
    pub start: usize,
    /// The number of rows.
    pub len: usize,
}

struct MemoryAttention {
    query: Var,
    keys: Var,
    values: Var,
    heads: usize,
    segments: Vec<Segment>,
    /// For each row and head, the attention probabilities of the rows of its segment.
    probabilities: Var,
}

vectorized! {
    /// Computes the attention of each row of `query` to its segment of `keys` and `values`; writes the result and the
    /// probabilities.
    pub(super) fn memory_attention(
        query: &Matrix,
        memory: (&Matrix, &Matrix),
        heads: usize,
        segments: &[Segment],
        results: (&mut Matrix, &mut [f32]),
    ) {
        let ((keys, values), (output, mut probabilities)) = (memory, results);
        let size = query.columns() / heads;
        let scale = 1.0 / (size as f32).sqrt();
        for (row, segment) in segments.iter().enumerate() {
            for head in 0..heads {
                let columns = head * size..(head + 1) * size;
                let (scores, rest) = probabilities.split_at_mut(segment.len);
                probabilities = rest;
                let query = &query.row(row)[columns.clone()];
                for (index, score) in scores.iter_mut().enumerate() {
                    *score = scale * dot(query, &keys.row(segment.start + index)[columns.clone()]);
                }
                softmax(scores);
                let output = &mut output.row_mut(row)[columns.clone()];
                output.fill(0.0);
                for (index, &probability) in scores.iter().enumerate() {
                    add_scaled(output, probability, &values.row(segment.start + index)[columns.clone()]);
                }
            }
        }
    }
}

/// Computes the scores of each row of `query` for the rows of its segment: `[rows, longest segment]`, 0 after the end
/// of a shorter segment.
pub(super) fn pointer_scores(query: &Matrix, keys: &Matrix, segments: &[Segment], output: &mut Matrix) {
    let scale = 1.0 / (query.columns() as f32).sqrt();
    for (row, segment) in segments.iter().enumerate() {
        let scores = output.row_mut(row);
        scores.fill(0.0);
        for (index, score) in scores.iter_mut().take(segment.len).enumerate() {
            *score = scale * dot(query.row(row), keys.row(segment.start + index));
        }
    }
}

struct PointerScores {
    query: Var,
    keys: Var,
    segments: Vec<Segment>,
}

impl Tape {
    /// Returns the multi-head attention of each row of `query` to its segment of the rows of `keys` and `values`.
    pub fn memory_attention(
        &mut self,
        query: Var,
        keys: Var,
        values: Var,
        heads: usize,
        segments: &[Segment],
    ) -> Var {
        let (rows, columns) = (self.value(query).rows(), self.value(query).columns());
        let mut output = self.buffer(rows, columns);
        let mut probabilities = self.buffer(1, segments.iter().map(|segment| heads * segment.len).sum());
        let memory = (self.value(keys), self.value(values));
        let results = (&mut output, probabilities.data_mut());
        memory_attention(self.value(query), memory, heads, segments, results);
        let probabilities = self.push_leaf(probabilities);
        let segments = segments.to_vec();
        self.push(output, MemoryAttention { query, keys, values, heads, segments, probabilities })
    }

    /// Returns the scores of each row of `query` for its segment of the rows of `keys`: `[rows, longest segment]`, 0
    /// after the end of a shorter segment.
    pub fn pointer_scores(&mut self, query: Var, keys: Var, segments: &[Segment]) -> Var {
        let longest = segments.iter().map(|segment| segment.len).max().unwrap_or(0);
        let mut output = self.buffer(self.value(query).rows(), longest);
        pointer_scores(self.value(query), self.value(keys), segments, &mut output);
        self.push(output, PointerScores { query, keys, segments: segments.to_vec() })
    }
}

impl Operation for MemoryAttention {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let (query, keys, values) = (back.value(self.query), back.value(self.keys), back.value(self.values));
        let size = query.columns() / self.heads;
        let scale = 1.0 / (size as f32).sqrt();
        let mut to_query = back.zeros(query.rows(), query.columns());
        let mut scores = Vec::new();
        let mut start = 0;
        let all_probabilities = back.value(self.probabilities).data();
        let mut all_scores = back.buffer(1, all_probabilities.len());
        for (row, segment) in self.segments.iter().enumerate() {
            for head in 0..self.heads {
                let columns = head * size..(head + 1) * size;
                let probabilities = &all_probabilities[start..start + segment.len];
                let gradient = &gradient.row(row)[columns.clone()];
                scores.clear();
                scores.extend(
                    (0..segment.len)
                        .map(|index| dot(gradient, &values.row(segment.start + index)[columns.clone()])),
                );
                softmax_backward(probabilities, &mut scores, scale);
                let to_query = &mut to_query.row_mut(row)[columns.clone()];
                for (index, &score) in scores.iter().enumerate() {
                    add_scaled(to_query, score, &keys.row(segment.start + index)[columns.clone()]);
                }
                all_scores.data_mut()[start..start + segment.len].copy_from_slice(&scores);
                start += segment.len;
            }
        }
        // `back` owns the gradients of keys and values, so they are updated one after the other.
        add_to_segments(
            back.gradient_mut(self.values),
            &gradient,
            &self.segments,
            self.heads,
            all_probabilities,
        );
        add_to_segments(back.gradient_mut(self.keys), query, &self.segments, self.heads, all_scores.data());
        back.release(all_scores);
        back.release(gradient);
        back.add(self.query, to_query);
    }
}

/// Adds each row of `from`, weighted, to the rows of its segment, separately for each head.
fn add_to_segments(to: &mut Matrix, from: &Matrix, segments: &[Segment], heads: usize, weights: &[f32]) {
    let size = from.columns() / heads;
    let mut start = 0;
    for (row, segment) in segments.iter().enumerate() {
        for head in 0..heads {
            let columns = head * size..(head + 1) * size;
            for index in 0..segment.len {
                let to = &mut to.row_mut(segment.start + index)[columns.clone()];
                add_scaled(to, weights[start + index], &from.row(row)[columns.clone()]);
            }
            start += segment.len;
        }
    }
}

impl Operation for PointerScores {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let (query, keys) = (back.value(self.query), back.value(self.keys));
        let scale = 1.0 / (query.columns() as f32).sqrt();
        let mut to_query = back.zeros(query.rows(), query.columns());
        for (row, segment) in self.segments.iter().enumerate() {
            for index in 0..segment.len {
                add_scaled(
                    to_query.row_mut(row),
                    scale * gradient.row(row)[index],
                    keys.row(segment.start + index),
                );
            }
        }
        let to_keys = back.gradient_mut(self.keys);
        for (row, segment) in self.segments.iter().enumerate() {
            for index in 0..segment.len {
                add_scaled(
                    to_keys.row_mut(segment.start + index),
                    scale * gradient.row(row)[index],
                    query.row(row),
                );
            }
        }
        back.release(gradient);
        back.add(self.query, to_query);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};
    use super::*;

    const SEGMENTS: [Segment; 3] =
        [Segment { start: 0, len: 3 }, Segment { start: 2, len: 2 }, Segment { start: 0, len: 3 }];

    #[test]
    fn gradient_of_attention_matches_difference_quotients() {
        let inputs = [random_matrix(3, 4), random_matrix(5, 4), random_matrix(5, 4)];
        check_input_gradients(&inputs, |tape, inputs| {
            tape.memory_attention(inputs[0], inputs[1], inputs[2], 2, &SEGMENTS)
        });
    }

    #[test]
    fn gradient_of_pointer_scores_matches_difference_quotients() {
        let inputs = [random_matrix(3, 4), random_matrix(5, 4)];
        check_input_gradients(&inputs, |tape, inputs| {
            let scores = tape.pointer_scores(inputs[0], inputs[1], &SEGMENTS);
            tape.tanh(scores)
        });
    }
}
