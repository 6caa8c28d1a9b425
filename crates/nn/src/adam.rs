//! Adam in one pass over a parameter, its gradient and its two moments.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g        v ← β₂ v + (1 − β₂) g²
//! p ← p − η · m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε)
//! ```
//!
//! In a table, only the rows that have a gradient are updated, and only their moments decay. `t` counts the steps, or with
//! [`Adam::row_correction`] the updates of the row.

use crate::kernels::vectorized;
use crate::{Gradients, Matrix, Parameters};
use rayon::prelude::*;

/// A learning-rate schedule: linear warm-up, then polynomial decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The rate after warm-up, which is the highest.
    pub peak: f64,
    /// The rate after the last step.
    pub end: f64,
    /// The number of warm-up steps.
    pub warmup: usize,
    /// The number of steps, warm-up included.
    pub total: usize,
    /// The exponent of the decay: 1 is linear, ½ stays high for longer.
    pub power: f64,
}

impl Schedule {
    /// Returns the learning rate of a step, counted from 0. After the last step it stays at `end`.
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warmup {
            return self.peak * (step + 1) as f64 / self.warmup as f64;
        }
        let rest = self.total.saturating_sub(self.warmup).max(1);
        let done = (step - self.warmup).min(rest) as f64 / rest as f64;
        self.end + (self.peak - self.end) * (1.0 - done).powf(self.power)
    }
}

/// The settings of the optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The decay of the first moment, the running mean of gradients.
    pub beta1: f32,
    /// The decay of the second moment, the running mean of squared gradients.
    pub beta2: f32,
    /// The term that keeps the denominator positive.
    pub epsilon: f32,
    /// The largest norm of all gradients together; larger gradients are scaled down to it. 0 turns clipping off.
    pub clip: f32,
    /// Whether bias correction of a table's row counts the updates of the row. If it counts steps, a row whose first gradient
    /// comes late first moves three times as far as the rate says.
    pub row_correction: bool,
}

impl Default for Adam {
    fn default() -> Self {
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 0.0, row_correction: false }
    }
}

/// The state of the optimiser; part of a checkpoint.
#[derive(Clone, Debug, Default)]
pub struct AdamState {
    /// The number of steps taken.
    pub step: u64,
    /// The first and second moment of each parameter, in the order of [`Parameters::ids`].
    pub moments: Vec<(Matrix, Matrix)>,
    /// For each table, the number of updates of each row: `[rows, 1]`. Empty for other parameters.
    pub row_updates: Vec<Matrix>,
}

impl AdamState {
    /// Returns the state before the first step.
    pub fn new(parameters: &Parameters) -> Self {
        let zeros = |id| {
            let value = parameters.value(id);
            Matrix::zeros(value.rows(), value.columns())
        };
        let row_updates = |id| match parameters.is_sparse(id) {
            true => Matrix::zeros(parameters.value(id).rows(), 1),
            false => Matrix::default(),
        };
        AdamState {
            step: 0,
            moments: parameters.ids().map(|id| (zeros(id), zeros(id))).collect(),
            row_updates: parameters.ids().map(row_updates).collect(),
        }
    }
}

impl Adam {
    /// Takes a step with learning rate `rate`. Returns the norm of the gradients before clipping, or 0 if clipping is
    /// off.
    pub fn step(
        &self,
        parameters: &mut Parameters,
        state: &mut AdamState,
        gradients: &Gradients,
        rate: f64,
    ) -> f64 {
        state.step += 1;
        let norm = if self.clip > 0.0 { norm(parameters, gradients) } else { 0.0 };
        let scale = if self.clip > 0.0 && norm > f64::from(self.clip) {
            (f64::from(self.clip) / norm) as f32
        } else {
            1.0
        };
        let constants = self.constants(state.step as i32, rate, scale);

        parameters.values_mut().zip(&mut state.moments).collect::<Vec<_>>().into_par_iter().for_each(
            |((id, is_sparse, value), (first, second))| {
                if let Some(gradient) = gradients.dense(id).filter(|_| !is_sparse) {
                    update(value.data_mut(), first.data_mut(), second.data_mut(), gradient, &constants);
                }
            },
        );
        for (id, row, gradient) in gradients.sparse() {
            let (first, second) = &mut state.moments[id.index()];
            // A float counts exactly up to 2²⁴; after so many updates there is nothing left to correct.
            let updates = &mut state.row_updates[id.index()].row_mut(row)[0];
            *updates += 1.0;
            let constants = match self.row_correction {
                true => self.constants(*updates as i32, rate, scale),
                false => constants,
            };
            update(
                parameters.value_mut(id).row_mut(row),
                first.row_mut(row),
                second.row_mut(row),
                gradient,
                &constants,
            );
        }
        norm
    }

    /// Returns what [`update`] needs for the update with number `t`. Bias correction is part of the step size and ε.
    fn constants(&self, t: i32, rate: f64, scale: f32) -> [f32; 5] {
        let correction1 = 1.0 - f64::from(self.beta1).powi(t);
        let correction2 = 1.0 - f64::from(self.beta2).powi(t);
        let step = (rate * correction2.sqrt() / correction1) as f32;
        let epsilon = (f64::from(self.epsilon) * correction2.sqrt()) as f32;
        [self.beta1, self.beta2, step, epsilon, scale]
    }
}

/// Returns the norm of all gradients together.
fn norm(parameters: &Parameters, gradients: &Gradients) -> f64 {
    let ids: Vec<_> = parameters.ids().filter(|&id| !parameters.is_sparse(id)).collect();
    // Squares are computed in parallel and added in order, so the sum does not depend on the number of threads.
    let dense: Vec<f64> = ids.par_iter().map(|&id| gradients.dense(id).map_or(0.0, sum_of_squares)).collect();
    let sparse = gradients.sparse().map(|(_, _, gradient)| sum_of_squares(gradient));
    dense.into_iter().chain(sparse).sum::<f64>().sqrt()
}

vectorized! {
    /// Returns the sum of squares. Short parts are summed in single precision, in strands that vectors can add
    /// independently; the parts are summed in double precision.
    fn sum_of_squares(gradient: &[f32]) -> f64 {
        const STRANDS: usize = 32;
        let mut total = 0.0;
        for part in gradient.chunks(1024) {
            let mut strands = [0f32; STRANDS];
            let whole = part.chunks_exact(STRANDS);
            let rest = whole.remainder();
            for some in whole {
                for (strand, x) in strands.iter_mut().zip(some) {
                    *strand += x * x;
                }
            }
            for (strand, x) in strands.iter_mut().zip(rest) {
                *strand += x * x;
            }
            total += f64::from(strands.iter().sum::<f32>());
        }
        total
    }
}

vectorized! {
    /// Applies the formula at the top of this module; bias correction is part of the step size and ε.
    fn update(p: &mut [f32], m: &mut [f32], v: &mut [f32], gradient: &[f32], constants: &[f32; 5]) {
        let [beta1, beta2, step, epsilon, scale] = *constants;
        for (((p, m), v), g) in p.iter_mut().zip(m).zip(v).zip(gradient) {
            let g = scale * *g;
            *m = beta1 * *m + (1.0 - beta1) * g;
            *v = beta2 * *v + (1.0 - beta2) * g * g;
            *p -= step * *m / (v.sqrt() + epsilon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::portable;
    use crate::layers::check::random_matrix;
    use crate::{Init, ParameterId};

    #[test]
    fn the_schedule_rises_and_falls() {
        let schedule = Schedule { peak: 1.0, end: 0.0, warmup: 10, total: 110, power: 0.5 };
        assert!((schedule.rate(0) - 0.1).abs() < 1e-12);
        assert!((schedule.rate(9) - 1.0).abs() < 1e-12);
        assert!((schedule.rate(85) - 0.5).abs() < 1e-12);
        assert_eq!(schedule.rate(1000), 0.0);
    }

    /// A dense parameter of two numbers and a table of three rows.
    fn dense_and_table() -> (Parameters, ParameterId, ParameterId) {
        let mut parameters = Parameters::default();
        let dense = parameters.add("dense", 1, 2, Init::Constant(1.0));
        let table = parameters.add_table("table", Matrix::zeros(3, 2));
        (parameters, dense, table)
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        let is_close = |(x, y): (&f32, &f32)| (x - y).abs() < 1e-5 * (1.0 + y.abs());
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(is_close),
            "{found:?} is not {expected:?}"
        );
    }

    #[test]
    fn the_first_step_has_the_size_of_the_rate() {
        let (mut parameters, dense, table) = dense_and_table();
        let mut state = AdamState::new(&parameters);
        let mut gradients = Gradients::default();
        gradients.add(dense, &[2.0, -6.0]);
        gradients.add_row(table, 2, &[0.5, 0.0]);
        Adam::default().step(&mut parameters, &mut state, &gradients, 0.1);
        assert_close(parameters.value(dense).data(), &[0.9, 1.1]);
        assert_close(parameters.value(table).data(), &[0.0, 0.0, 0.0, 0.0, -0.1, 0.0]);
    }

    #[test]
    fn a_row_that_is_first_used_late_moves_by_the_rate_if_its_updates_are_counted() {
        let moved = |row_correction: bool| {
            let (mut parameters, dense, table) = dense_and_table();
            let mut state = AdamState::new(&parameters);
            for step in 0..3000 {
                let mut gradients = Gradients::default();
                gradients.add(dense, &[1.0, 1.0]);
                if step == 2999 {
                    gradients.add_row(table, 1, &[0.5, -2.0]);
                }
                let adam = Adam { row_correction, ..Adam::default() };
                adam.step(&mut parameters, &mut state, &gradients, 0.1);
            }
            assert_eq!(state.row_updates[table.index()].data(), [0.0, 1.0, 0.0]);
            parameters.value(table).row(1).to_vec()
        };
        assert_close(&moved(true), &[-0.1, 0.1]);
        // (1 − β₁) / √(1 − β₂) times √(1 − β₂ᵗ), with t = 3000
        assert_close(&moved(false), &[-0.308_27, 0.308_27]);
    }

    /// Takes a step with gradients (2, −6) and (3, 0), whose norm is 7, and returns the reported norm and the
    /// gradients that the optimiser used: after one step the first moment is (1 − β₁) times the gradient.
    fn clipped_at(clip: f32) -> (f64, [Vec<f32>; 2]) {
        let (mut parameters, dense, table) = dense_and_table();
        let mut state = AdamState::new(&parameters);
        let mut gradients = Gradients::default();
        gradients.add(dense, &[2.0, -6.0]);
        gradients.add_row(table, 1, &[3.0, 0.0]);
        let adam = Adam { clip, ..Adam::default() };
        let norm = adam.step(&mut parameters, &mut state, &gradients, 0.1);
        let used = |id: ParameterId| {
            let first = &state.moments[id.index()].0;
            first.data().iter().map(|m| m / (1.0 - adam.beta1)).collect()
        };
        (norm, [used(dense), used(table)])
    }

    #[test]
    fn gradients_above_the_limit_are_scaled_down_to_it() {
        let (norm, [dense, table]) = clipped_at(3.5);
        assert!((norm - 7.0).abs() < 1e-6, "the reported norm is that before clipping: {norm}");
        assert_close(&dense, &[1.0, -3.0]);
        assert_close(&table, &[0.0, 0.0, 1.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn gradients_below_the_limit_are_left_alone() {
        // 7.1 is above the norm, 0 means no limit.
        for (clip, expected_norm) in [(7.1, 7.0), (0.0, 0.0)] {
            let (norm, [dense, table]) = clipped_at(clip);
            assert!((norm - expected_norm).abs() < 1e-6, "{norm}");
            assert_close(&dense, &[2.0, -6.0]);
            assert_close(&table, &[0.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn portable_versions_give_the_same_bits() {
        for len in [1, 31, 32, 33, 1024, 1500] {
            let gradient = random_matrix(1, len);
            let all = || {
                let [mut p, mut m, mut v] = [vec![0.5; len], vec![0.1; len], vec![0.2; len]];
                update(&mut p, &mut m, &mut v, gradient.data(), &[0.9, 0.999, 0.01, 1e-8, 0.5]);
                let bits: Vec<u32> = [p, m, v].concat().into_iter().map(f32::to_bits).collect();
                (sum_of_squares(gradient.data()).to_bits(), bits)
            };
            assert_eq!(portable::run(all), all(), "{len} elements");
        }
    }
}
