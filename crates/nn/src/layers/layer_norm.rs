//! `y = (x − mean) / √(variance + ε) · gain + bias`, row by row.

use super::Operation;
use crate::backward::Backward;
use crate::kernels::vectorized;
use crate::{Matrix, ParameterId, Parameters, Tape, Var};

const EPSILON: f32 = 1e-5;

struct LayerNorm {
    input: Var,
    gain: ParameterId,
    bias: ParameterId,
    /// The mean and 1 / √(variance + ε) of each row.
    moments: Vec<(f32, f32)>,
}

vectorized! {
    /// Normalises one row; returns its mean and 1 / √(variance + ε).
    fn normalize(x: &[f32], gain: &[f32], bias: &[f32], y: &mut [f32]) -> (f32, f32) {
        let len = x.len() as f32;
        let mean = x.iter().sum::<f32>() / len;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / len;
        let scale = 1.0 / (variance + EPSILON).sqrt();
        for (((y, x), gain), bias) in y.iter_mut().zip(x).zip(gain).zip(bias) {
            *y = (x - mean) * scale * gain + bias;
        }
        (mean, scale)
    }
}

vectorized! {
    /// Turns the gradient `dy` of one row into `dx = scale · (g − mean(g) − n · mean(g · n))`, where `g = dy · gain`
    /// and `n` is the normalised row. Adds to the gradients of gain and bias.
    fn normalize_backward(x: &[f32], gain: &[f32], moments: &(f32, f32), dy: &mut [f32], dgain: &mut [f32], dbias: &mut [f32]) {
        let (mean, scale) = *moments;
        let len = x.len() as f32;
        let (mut sum, mut product) = (0.0, 0.0);
        for i in 0..x.len() {
            let normal = (x[i] - mean) * scale;
            dgain[i] += dy[i] * normal;
            dbias[i] += dy[i];
            dy[i] *= gain[i];
            sum += dy[i];
            product += dy[i] * normal;
        }
        for i in 0..x.len() {
            let normal = (x[i] - mean) * scale;
            dy[i] = scale * (dy[i] - sum / len - normal * product / len);
        }
    }
}

/// Computes the layer on matrices; returns the mean and 1 / √(variance + ε) of each row.
pub(super) fn layer_norm(
    parameters: &Parameters,
    x: &Matrix,
    gain: ParameterId,
    bias: ParameterId,
    y: &mut Matrix,
) -> Vec<(f32, f32)> {
    let (gain, bias) = (parameters.value(gain).data(), parameters.value(bias).data());
    (0..x.rows()).map(|row| normalize(x.row(row), gain, bias, y.row_mut(row))).collect()
}

impl Tape {
    /// Normalises each row to mean 0 and variance 1, then multiplies with `gain` and adds `bias`.
    pub fn layer_norm(
        &mut self,
        parameters: &Parameters,
        input: Var,
        gain: ParameterId,
        bias: ParameterId,
    ) -> Var {
        let (rows, columns) = (self.value(input).rows(), self.value(input).columns());
        let mut output = self.buffer(rows, columns);
        let moments = layer_norm(parameters, self.value(input), gain, bias, &mut output);
        self.push(output, LayerNorm { input, gain, bias, moments })
    }
}

impl Operation for LayerNorm {
    fn backward(&self, back: &mut Backward<'_>, _: Var, mut gradient: Matrix) {
        let input = back.value(self.input);
        let gain = back.parameters.value(self.gain).data();
        let (mut to_gain, mut to_bias) = (vec![0.0; gain.len()], vec![0.0; gain.len()]);
        for (row, moments) in self.moments.iter().enumerate() {
            normalize_backward(
                input.row(row),
                gain,
                moments,
                gradient.row_mut(row),
                &mut to_gain,
                &mut to_bias,
            );
        }
        back.gradients.add(self.gain, &to_gain);
        back.gradients.add(self.bias, &to_bias);
        back.add(self.input, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_gradients, random_matrix};
    use crate::{Init, Parameters};

    #[test]
    fn gradient_matches_difference_quotients() {
        let mut parameters = Parameters::default();
        let gain = parameters.add("gain", 1, 6, Init::Normal(1.0));
        let bias = parameters.add("bias", 1, 6, Init::Normal(1.0));
        check_gradients(&mut parameters, &[random_matrix(3, 6)], |tape, parameters, inputs| {
            tape.layer_norm(parameters, inputs[0], gain, bias)
        });
    }
}
