//! The log-probability of a chosen column under a softmax over the allowed columns.
//!
//! ```text
//! l = s_* − log Σ_{a allowed} exp s_a        ∂l/∂s_a = [a = *] − p_a
//! ```

use super::Operation;
use crate::backward::Backward;
use crate::{Matrix, Tape, Var};
use std::sync::Arc;

/// The allowed columns of a row, and the chosen one.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The columns that the softmax is over.
    pub allowed: Arc<[u32]>,
    /// The chosen column.
    pub chosen: u32,
}

/// Writes the log-probabilities of the allowed columns of a row of scores to `out`, in the order of `allowed`.
pub fn log_softmax(scores: &[f32], allowed: &[u32], out: &mut Vec<f32>) {
    out.clear();
    let max = allowed.iter().map(|&column| scores[column as usize]).fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = allowed.iter().map(|&column| (scores[column as usize] - max).exp()).sum();
    let log_sum = max + sum.ln();
    out.extend(allowed.iter().map(|&column| scores[column as usize] - log_sum));
}

struct Choose {
    scores: Var,
    choices: Vec<Choice>,
}

impl Tape {
    /// Returns the log-probability of each row's choice: `[rows, 1]`. It is −∞ for a column that is not allowed.
    pub fn choose(&mut self, scores: Var, choices: Vec<Choice>) -> Var {
        let mut output = self.buffer(choices.len(), 1);
        let mut logs = Vec::new();
        for (row, choice) in choices.iter().enumerate() {
            log_softmax(self.value(scores).row(row), &choice.allowed, &mut logs);
            let index = choice.allowed.iter().position(|&column| column == choice.chosen);
            output.row_mut(row)[0] = index.map_or(f32::NEG_INFINITY, |index| logs[index]);
        }
        self.push(output, Choose { scores, choices })
    }
}

impl Operation for Choose {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let scores = back.value(self.scores);
        let mut to_scores = back.zeros(scores.rows(), scores.columns());
        let mut logs = Vec::new();
        for (row, choice) in self.choices.iter().enumerate() {
            log_softmax(scores.row(row), &choice.allowed, &mut logs);
            let weight = gradient.row(row)[0];
            let to_row = to_scores.row_mut(row);
            for (&column, log) in choice.allowed.iter().zip(&logs) {
                to_row[column as usize] = -weight * log.exp();
            }
            to_row[choice.chosen as usize] += weight;
        }
        back.release(gradient);
        back.add(self.scores, to_scores);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};
    use super::*;

    #[test]
    fn gradient_matches_difference_quotients() {
        check_input_gradients(&[random_matrix(2, 5)], |tape, inputs| {
            let choices = vec![
                Choice { allowed: [0, 2, 3].into(), chosen: 2 },
                Choice { allowed: [4].into(), chosen: 4 },
            ];
            tape.choose(inputs[0], choices)
        });
    }
}
