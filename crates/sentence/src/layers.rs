//! The layers of BERT, forward only.

use crate::SentenceError;
use crate::weights::Weights;
use std::ops::Range;
use xpr_nn::{Matrix, View, ViewMut, gemm};

/// The number of rows that are multiplied with a weight at once.
///
/// A matrix product may add in another order if its shape is another. Every product here has this many rows, so that a
/// row of the result depends on its own row only. More rows are faster per row, and a short text takes as long as this many.
pub(crate) const BLOCK: usize = 64;

/// `y = x W + b`, row by row.
#[derive(Debug)]
pub(crate) struct Linear {
    /// `[in, out]`; files have the transpose.
    weight: Matrix,
    bias: Vec<f32>,
}

impl Linear {
    /// Reads the layers of some names, each `[from, to]`, as one layer whose results are side by side.
    pub(crate) fn read(
        weights: &Weights<'_>,
        names: &[String],
        from: usize,
        to: usize,
    ) -> Result<Self, SentenceError> {
        let columns = to * names.len();
        let mut weight = vec![0.0; from * columns];
        let mut bias = Vec::with_capacity(columns);
        for (index, name) in names.iter().enumerate() {
            let transposed = weights.matrix(&format!("{name}.weight"), to, from)?;
            for output in 0..to {
                for (input, number) in transposed.row(output).iter().enumerate() {
                    weight[input * columns + index * to + output] = *number;
                }
            }
            bias.extend(weights.vector(&format!("{name}.bias"), to)?);
        }
        Ok(Linear { weight: Matrix::new(from, columns, weight), bias })
    }

    /// Returns `x W + b`. The number of rows must be a multiple of [`BLOCK`].
    pub(crate) fn apply(&self, x: &Matrix) -> Matrix {
        let (from, to) = (self.weight.rows(), self.weight.columns());
        let mut y = Matrix::zeros(x.rows(), to);
        for (x, y) in x.data().chunks_exact(BLOCK * from).zip(y.data_mut().chunks_exact_mut(BLOCK * to)) {
            gemm(ViewMut::of(y, BLOCK, to), false, View::of(x, BLOCK, from), self.weight.view());
            for y in y.chunks_exact_mut(to) {
                add_assign(y, &self.bias);
            }
        }
        y
    }
}

/// `y = (x − mean) / √(variance + ε) · gain + bias`, row by row.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    gain: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl LayerNorm {
    pub(crate) fn read(
        weights: &Weights<'_>,
        name: &str,
        size: usize,
        epsilon: f32,
    ) -> Result<Self, SentenceError> {
        let gain = weights.vector(&format!("{name}.weight"), size)?;
        let bias = weights.vector(&format!("{name}.bias"), size)?;
        Ok(LayerNorm { gain, bias, epsilon })
    }

    /// Normalises each row.
    pub(crate) fn apply(&self, x: &mut Matrix) {
        let size = self.gain.len();
        for row in x.data_mut().chunks_exact_mut(size) {
            let mean = strands(row, |x| x) / size as f32;
            let variance = strands(row, |x| (x - mean) * (x - mean)) / size as f32;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            for ((x, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
                *x = (*x - mean) * scale * gain + bias;
            }
        }
    }
}

/// Returns the multi-head attention within each sequence of rows; other rows are 0.
///
/// `projections` has queries, keys and values side by side: `[rows, 3 × heads × d]`. The result is `[rows, heads × d]`.
pub(crate) fn attention(projections: &Matrix, sequences: &[Range<usize>], heads: usize) -> Matrix {
    let columns = projections.columns() / 3;
    let size = columns / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let mut output = Matrix::zeros(projections.rows(), columns);
    let mut scores = Vec::new();
    for sequence in sequences {
        for head in 0..heads {
            let part =
                |row: usize, part: usize| &projections.row(row)[part * columns + head * size..][..size];
            for row in sequence.clone() {
                let query = part(row, 0);
                scores.clear();
                scores.extend(sequence.clone().map(|other| scale * dot(query, part(other, 1))));
                softmax(&mut scores);
                let output = &mut output.row_mut(row)[head * size..][..size];
                for (probability, other) in scores.iter().zip(sequence.clone()) {
                    for (output, value) in output.iter_mut().zip(part(other, 2)) {
                        *output += probability * value;
                    }
                }
            }
        }
    }
    output
}

/// Turns scores into probabilities.
fn softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - max).exp();
        total += *score;
    }
    for score in scores {
        *score /= total;
    }
}

/// Applies `GELU(x) = x · Φ(x)` to each element, where Φ is the distribution function of the normal distribution.
pub(crate) fn gelu(x: &mut Matrix) {
    for x in x.data_mut() {
        *x *= 0.5 + 0.5 * erf(*x * std::f32::consts::FRAC_1_SQRT_2);
    }
}

/// Returns the error function, accurate to about 4 · 10⁻⁷.
///
/// The approximation is the rational function of the Eigen library. It has no branches, so that the compiler vectorises a
/// loop over it. Outside ±4 the error function is ±1 in single precision.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let p = -2.726_142_3e-10_f32;
    let p = p * square + 2.770_681_4e-8;
    let p = p * square - 2.101_024e-6;
    let p = p * square - 5.692_506_4e-5;
    let p = p * square - 7.349_906_3e-4;
    let p = p * square - 2.954_6e-3;
    let p = p * square - 1.609_603_3e-2;
    let q = -1.456_607_2e-5_f32;
    let q = q * square - 2.133_740_6e-4;
    let q = q * square - 1.682_827_e-3;
    let q = q * square - 7.373_329_2e-3;
    let q = q * square - 1.426_473_9e-2;
    x * p / q
}

/// Adds `x` to `y`, element by element.
pub(crate) fn add_assign(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

/// Returns the sum of `of` over a row, as eight sums that the compiler can keep in vectors.
#[inline(always)]
fn strands(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (eights, rest) = row.as_chunks::<8>();
    let mut sums = [0.0f32; 8];
    for eight in eights {
        for (sum, x) in sums.iter_mut().zip(eight) {
            *sum += of(*x);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

/// Returns the dot product of two rows, as eight sums that the compiler can keep in vectors.
#[inline(always)]
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_accurate() {
        // From Abramowitz and Stegun, table 7.1, and, beyond it, erfc.
        let cases = [
            (0.0, 0.0),
            (0.01, 0.011_283_415_6),
            (0.1, 0.112_462_916),
            (0.5, 0.520_499_877_8),
            (1.0, 0.842_700_792_9),
            (1.5, 0.966_105_146_5),
            (2.0, 0.995_322_265_0),
            (3.0, 0.999_977_909_5),
            (3.9, 0.999_999_965_2),
            (5.0, 1.0),
            (1e30, 1.0),
        ];
        for (x, expected) in cases {
            for (x, expected) in [(x, expected), (-x, -expected)] {
                let found = f64::from(erf(x as f32));
                let tolerance = 4e-7 * f64::max(f64::abs(expected), 1e-3);
                assert!((found - expected).abs() <= tolerance, "erf({x}) = {found}, not {expected}");
            }
        }
    }

    #[test]
    fn attention_is_the_mean_of_the_values_if_all_scores_are_equal() {
        // Two sequences of two rows, two heads of size 1. Queries are 0, so all scores are.
        let row = |left: f32, right: f32| [0.0, 0.0, 5.0, -5.0, left, right];
        let projections =
            Matrix::from_rows(&[&row(1.0, 2.0), &row(3.0, 6.0), &row(10.0, 0.0), &row(20.0, 8.0)]);
        let output = attention(&projections, &[0..2, 2..4], 2);
        assert_eq!(output.data(), [2.0, 4.0, 2.0, 4.0, 15.0, 4.0, 15.0, 4.0]);
    }

    #[test]
    fn rows_are_normalised() {
        let norm =
            LayerNorm { gain: vec![1.0, 1.0, 2.0, 1.0], bias: vec![0.0, 0.0, 0.0, 5.0], epsilon: 1e-12 };
        let mut x = Matrix::from_rows(&[&[1.0, -1.0, 3.0, -3.0]]);
        norm.apply(&mut x);
        let root = 5f32.sqrt();
        for (found, expected) in x.data().iter().zip([1.0 / root, -1.0 / root, 6.0 / root, 5.0 - 3.0 / root])
        {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}
