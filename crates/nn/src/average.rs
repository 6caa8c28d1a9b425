//! The exponential moving average of parameters.
//!
//! ```text
//! a ← d a + (1 − d) p        d = min(decay, (1 + t) / (10 + t)) at step t
//! ```
//!
//! Steps of stochastic gradient descent jump around a minimum. The average of the last steps is closer to it than each of
//! them.

use crate::kernels::vectorized;
use crate::{Matrix, Parameters};
use rayon::prelude::*;

/// A moving average of all parameters; part of a checkpoint.
#[derive(Clone, Debug)]
pub struct ParameterAverage {
    /// The share of the average that a step keeps, close to 1.
    pub decay: f64,
    /// The average of each parameter, in the order of [`Parameters::ids`].
    pub values: Vec<Matrix>,
}

impl ParameterAverage {
    /// Returns the average before the first step, which is the initial value.
    pub fn new(parameters: &Parameters, decay: f64) -> Self {
        ParameterAverage { decay, values: parameters.ids().map(|id| parameters.value(id).clone()).collect() }
    }

    /// Adds the parameters after a step, counted from 1. The first steps count more than `1 − decay`, so that the initial
    /// values are soon forgotten.
    pub fn add(&mut self, parameters: &Parameters, step: u64) {
        let step = step as f64;
        let share = (1.0 - self.decay.min((1.0 + step) / (10.0 + step))) as f32;
        let all: Vec<_> = parameters.ids().zip(&mut self.values).collect();
        all.into_par_iter().for_each(|(id, average)| {
            let value = parameters.value(id);
            match parameters.has_frozen_rows(id) {
                false => move_towards(average.data_mut(), value.data(), share),
                // Frozen rows are their own average. A table of all words has few others.
                true => (0..value.rows()).filter(|&row| !parameters.is_frozen(id, row)).for_each(|row| {
                    move_towards(average.row_mut(row), value.row(row), share);
                }),
            }
        });
    }

    /// Makes the average the value of the parameters.
    pub fn copy_to(&self, parameters: &mut Parameters) {
        let ids: Vec<_> = parameters.ids().collect();
        for (id, average) in ids.into_iter().zip(&self.values) {
            parameters.value_mut(id).data_mut().copy_from_slice(average.data());
        }
    }
}

vectorized! {
    /// `a = a + share (p − a)`
    fn move_towards(average: &mut [f32], value: &[f32], share: f32) {
        for (average, value) in average.iter_mut().zip(value) {
            *average += share * (value - *average);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Init;

    #[test]
    fn the_average_forgets_its_start_and_follows_the_parameters() {
        let mut parameters = Parameters::default();
        let id = parameters.add("p", 1, 2, Init::Constant(4.0));
        let mut average = ParameterAverage::new(&parameters, 0.9);
        parameters.value_mut(id).data_mut().copy_from_slice(&[0.0, 4.0]);
        // The shares of the new value are 9 / 11 and 9 / 12 at the first steps.
        average.add(&parameters, 1);
        assert!((average.values[0].data()[0] - 4.0 * 2.0 / 11.0).abs() < 1e-6);
        average.add(&parameters, 2);
        assert!((average.values[0].data()[0] - 4.0 * 2.0 / 11.0 * 0.25).abs() < 1e-6);
        // Late steps have the share 1 − decay.
        let before = average.values[0].data()[0];
        average.add(&parameters, 1000);
        assert!((average.values[0].data()[0] - 0.9 * before).abs() < 1e-6);
        average.copy_to(&mut parameters);
        assert_eq!(parameters.value(id).data(), [average.values[0].data()[0], 4.0]);
    }

    #[test]
    fn the_average_of_a_table_is_the_same_whether_rows_that_do_not_change_are_frozen() {
        let averages = [vec![], vec![true, false, true]].map(|frozen| {
            let mut parameters = Parameters::default();
            let table = parameters.add_table("t", Matrix::new(3, 2, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
            parameters.freeze_rows(table, frozen);
            let mut average = ParameterAverage::new(&parameters, 0.9);
            parameters.value_mut(table).row_mut(1)[0] = 0.7;
            average.add(&parameters, 1);
            average.values[0].clone()
        });
        assert_eq!(averages[0], averages[1]);
        assert!(averages[0].row(1)[0] > 0.5);
    }
}
