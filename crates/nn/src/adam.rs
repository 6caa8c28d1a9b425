//! Adam, fused: one pass over a parameter, its gradient, and its two moments.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g        v ← β₂ v + (1 − β₂) g²
//! p ← p − η · m / (1 − β₁ᵗ) / (√(v / (1 − β₂ᵗ)) + ε)
//! ```
//!
//! Of tables only the rows with a gradient move, and only their moments decay.

use crate::kernels::vectorized;
use crate::{Gradients, Matrix, Parameters};
use rayon::prelude::*;

/// The learning rate over the steps: up in a line, then down by a power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The highest rate.
    pub peak: f64,
    /// The rate at the end.
    pub end: f64,
    /// Steps on the way up.
    pub warmup: usize,
    /// Steps in all.
    pub total: usize,
    /// The power of the way down; 1 is a line, ½ stays high for longer.
    pub power: f64,
}

impl Schedule {
    /// The rate of a step, counted from 0.
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
    /// How long the mean of gradients remembers.
    pub beta1: f32,
    /// How long the mean of their squares remembers.
    pub beta2: f32,
    /// What keeps the division finite.
    pub epsilon: f32,
    /// The largest norm of all gradients together; longer ones are scaled down. 0 for none.
    pub clip: f32,
}

impl Default for Adam {
    fn default() -> Self {
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: 0.0 }
    }
}

/// What the optimiser remembers of each parameter.
#[derive(Clone, Debug, Default)]
pub struct AdamState {
    /// Steps taken.
    pub step: u64,
    /// The two moments of each parameter, in order.
    pub moments: Vec<(Matrix, Matrix)>,
}

impl AdamState {
    /// Before the first step.
    pub fn new(parameters: &Parameters) -> Self {
        let zeros = |id| {
            let value = parameters.value(id);
            Matrix::zeros(value.rows(), value.columns())
        };
        AdamState { step: 0, moments: parameters.ids().map(|id| (zeros(id), zeros(id))).collect() }
    }
}

impl Adam {
    /// Takes a step of rate `rate` against the gradients, and says how long they are if they are clipped.
    pub fn step(
        &self,
        parameters: &mut Parameters,
        state: &mut AdamState,
        gradients: &Gradients,
        rate: f64,
    ) -> f64 {
        state.step += 1;
        let correction1 = 1.0 - f64::from(self.beta1).powi(state.step as i32);
        let correction2 = 1.0 - f64::from(self.beta2).powi(state.step as i32);
        let step = (rate * correction2.sqrt() / correction1) as f32;
        let epsilon = (f64::from(self.epsilon) * correction2.sqrt()) as f32;

        let norm = if self.clip > 0.0 {
            let ids: Vec<_> = parameters.ids().filter(|&id| !parameters.is_sparse(id)).collect();
            // In parallel, but added up in order.
            let dense: Vec<f64> = ids.par_iter().map(|&id| gradients.dense(id).map_or(0.0, square)).collect();
            let sparse = gradients.sparse().map(|(_, _, gradient)| square(gradient));
            dense.into_iter().chain(sparse).sum::<f64>().sqrt()
        } else {
            0.0
        };
        let scale = if self.clip > 0.0 && norm > f64::from(self.clip) {
            (f64::from(self.clip) / norm) as f32
        } else {
            1.0
        };
        let constants = [self.beta1, self.beta2, step, epsilon, scale];

        parameters.values_mut().zip(&mut state.moments).collect::<Vec<_>>().into_par_iter().for_each(
            |((id, is_sparse, value), (first, second))| {
                if let Some(gradient) = gradients.dense(id).filter(|_| !is_sparse) {
                    update(value.data_mut(), first.data_mut(), second.data_mut(), gradient, &constants);
                }
            },
        );
        for (id, row, gradient) in gradients.sparse() {
            let (first, second) = &mut state.moments[id.index()];
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
}

vectorized! {
    /// The square of the length of a gradient.
    fn square(gradient: &[f32]) -> f64 {
        // Short sums in single precision, in strands that do not wait for each other, and these in double.
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
    /// The update of the module's description.
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
    use crate::Init;

    #[test]
    fn the_schedule_rises_and_falls() {
        let schedule = Schedule { peak: 1.0, end: 0.0, warmup: 10, total: 110, power: 0.5 };
        assert!((schedule.rate(0) - 0.1).abs() < 1e-12);
        assert!((schedule.rate(9) - 1.0).abs() < 1e-12);
        assert!((schedule.rate(85) - 0.5).abs() < 1e-12);
        assert_eq!(schedule.rate(1000), 0.0);
    }

    #[test]
    fn the_first_step_has_the_size_of_the_rate() {
        let mut parameters = Parameters::default();
        let dense = parameters.add("dense", 1, 2, Init::Constant(1.0));
        let table = parameters.add_table("table", Matrix::zeros(3, 2));
        let mut state = AdamState::new(&parameters);
        let mut gradients = Gradients::default();
        gradients.add(dense, &[2.0, -6.0]);
        gradients.add_row(table, 2, &[0.5, 0.0]);
        Adam::default().step(&mut parameters, &mut state, &gradients, 0.1);
        let close = |left: &[f32], right: &[f32]| left.iter().zip(right).all(|(x, y)| (x - y).abs() < 1e-5);
        assert!(close(parameters.value(dense).data(), &[0.9, 1.1]));
        assert!(close(parameters.value(table).data(), &[0.0, 0.0, 0.0, 0.0, -0.1, 0.0]));
    }
}
