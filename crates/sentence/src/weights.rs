//! The weights of a model: `model.safetensors`, in half or full precision.

use crate::SentenceError;
use safetensors::tensor::{Dtype, SafeTensors};
use std::path::Path;
use xpr_nn::Matrix;

/// The tensors of a file.
pub(crate) struct Weights<'a> {
    file: SafeTensors<'a>,
    path: &'a Path,
}

impl<'a> Weights<'a> {
    /// Reads the content of a file; `path` is for errors.
    pub(crate) fn read(content: &'a [u8], path: &'a Path) -> Result<Self, SentenceError> {
        let file = SafeTensors::deserialize(content).map_err(|error| SentenceError::Format {
            path: path.to_owned(),
            message: format!("not a safetensors file, or a damaged one: {error}"),
        })?;
        Ok(Weights { file, path })
    }

    /// Returns the numbers of a tensor of a given shape, in row-major order.
    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, SentenceError> {
        let path = || self.path.to_owned();
        let tensor = self
            .file
            .tensor(name)
            .map_err(|_| SentenceError::MissingTensor { path: path(), name: name.to_owned() })?;
        if tensor.shape() != shape {
            return Err(SentenceError::Shape {
                path: path(),
                name: name.to_owned(),
                found: tensor.shape().to_vec(),
                expected: shape.to_vec(),
            });
        }
        let numbers: Vec<f32> = match tensor.dtype() {
            Dtype::F16 => tensor
                .data()
                .as_chunks()
                .0
                .iter()
                .map(|bytes| half_to_single(u16::from_le_bytes(*bytes)))
                .collect(),
            Dtype::F32 => {
                tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
            other => {
                let message =
                    format!("the tensor `{name}` has numbers of type {other:?}; expected F16 or F32");
                return Err(SentenceError::Format { path: path(), message });
            }
        };
        if !numbers.iter().all(|number| number.is_finite()) {
            let message = format!("the tensor `{name}` has numbers that are not finite");
            return Err(SentenceError::Format { path: path(), message });
        }
        Ok(numbers)
    }

    /// Returns a tensor with one dimension.
    pub(crate) fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, SentenceError> {
        self.numbers(name, &[len])
    }

    /// Returns a tensor with two dimensions.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, SentenceError> {
        Ok(Matrix::new(rows, columns, self.numbers(name, &[rows, columns])?))
    }
}

/// Returns the number with these bits in half precision.
fn half_to_single(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits & 0x3ff));
    match exponent {
        // Subnormal numbers are multiples of 2⁻²⁴.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        // The bias of the exponent is 15 in half precision and 127 in single precision.
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_exact() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, expected) in cases {
            assert_eq!(half_to_single(bits), expected, "{bits:#06x}");
        }
        assert!(half_to_single(0x8000).is_sign_negative());
        assert!(half_to_single(0x7e00).is_nan());
    }
}
