//! The weights of a model: `model.safetensors`, in half or full precision.

use crate::SentenceError;
use safetensors::tensor::{Dtype, SafeTensors};
use std::path::Path;
use xpr_nn::{Matrix, half_to_single};

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
