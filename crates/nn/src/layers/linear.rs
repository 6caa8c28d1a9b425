//! `y = x W + b`, row by row.

use super::Operation;
use crate::backward::{Backward, Factor};
use crate::kernels::add_assign;
use crate::{Matrix, ParameterId, Parameters, Tape, Var};

struct Linear {
    input: Var,
    weight: ParameterId,
    bias: Option<ParameterId>,
}

/// Computes `y = x W + b` on matrices.
pub(super) fn linear(
    parameters: &Parameters,
    x: &Matrix,
    weight: ParameterId,
    bias: Option<ParameterId>,
    y: &mut Matrix,
) {
    parameters.multiply(x.data(), weight, y.data_mut());
    if let Some(bias) = bias {
        let bias = parameters.value(bias).data();
        for row in 0..y.rows() {
            add_assign(y.row_mut(row), bias);
        }
    }
}

impl Tape {
    /// Returns `x W + b`: `[rows, in] → [rows, out]`.
    pub fn linear(
        &mut self,
        parameters: &Parameters,
        input: Var,
        weight: ParameterId,
        bias: Option<ParameterId>,
    ) -> Var {
        let mut output = self.buffer(self.value(input).rows(), parameters.value(weight).columns());
        linear(parameters, self.value(input), weight, bias, &mut output);
        self.push(output, Linear { input, weight, bias })
    }
}

impl Operation for Linear {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        if let Some(bias) = self.bias {
            back.gradients.add_row_sum(bias, &gradient);
        }
        let to_input = back.input_gradient(self.weight, &gradient);
        back.add(self.input, to_input);
        let gradient = back.store(gradient);
        back.use_weight(self.weight, Factor::Value(self.input), gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_gradients, random_matrix};
    use crate::{Init, Parameters};

    #[test]
    fn gradient_matches_difference_quotients() {
        let mut parameters = Parameters::default();
        let weight = parameters.add("weight", 3, 4, Init::Xavier);
        let bias = parameters.add("bias", 1, 4, Init::Normal(1.0));
        check_gradients(&mut parameters, &[random_matrix(5, 3)], |tape, parameters, inputs| {
            let once = tape.linear(parameters, inputs[0], weight, Some(bias));
            let half = tape.rows(inputs[0], &[0, 2]);
            // A second use of the same weight.
            let twice = tape.linear(parameters, half, weight, None);
            tape.concat_rows(&[once, twice])
        });
    }
}
