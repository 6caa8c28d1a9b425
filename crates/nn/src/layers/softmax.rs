//! The log-probability of a choice among those allowed.
//!
//! ```text
//! l = s_* − log Σ_{a allowed} exp s_a        ∂l/∂s_a = [a = *] − p_a
//! ```

use super::Operation;
use crate::tape::Backward;
use crate::{Matrix, Tape, Var};
use std::sync::Arc;

/// What may be chosen in a row, and what is.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The columns that may be chosen.
    pub allowed: Arc<[u32]>,
    /// The column that is.
    pub chosen: u32,
}

/// Writes the log-probability of each allowed column of a row of scores to `out`, in their order.
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
    /// The log-probability of each row's choice: `[rows, 1]`.
    pub fn choose(&mut self, scores: Var, choices: Vec<Choice>) -> Var {
        let mut output = self.space(choices.len(), 1);
        let mut row_of = Vec::new();
        for (row, choice) in choices.iter().enumerate() {
            log_softmax(self.value(scores).row(row), &choice.allowed, &mut row_of);
            let place = choice.allowed.iter().position(|&column| column == choice.chosen);
            output.row_mut(row)[0] = place.map_or(f32::NEG_INFINITY, |place| row_of[place]);
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
    use super::super::check::{check, random_matrix};
    use super::*;
    use crate::Parameters;

    #[test]
    fn gradient() {
        check(&mut Parameters::default(), &[random_matrix(2, 5)], |tape, _, inputs| {
            let choices = vec![
                Choice { allowed: [0, 2, 3].into(), chosen: 2 },
                Choice { allowed: [4].into(), chosen: 4 },
            ];
            tape.choose(inputs[0], choices)
        });
    }
}
