//! Weights and optimiser state as safetensors. Names in the file are names in the code.

use super::trainer::Trainer;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use thiserror::Error;
use xpr_nn::{AdamState, Matrix, ParameterAverage, Parameters, half_to_single, single_to_half};
use xpr_parser::TrainableParser;

/// An error of a file that is not a checkpoint of the model.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// The file is not in the safetensors format, or incomplete.
    #[error("not a safetensors file, or a damaged one: {0}")]
    Damaged(String),
    /// A tensor is missing.
    #[error("there is no tensor `{0}`; is this the file of another model?")]
    Missing(String),
    /// A tensor has the wrong shape or type.
    #[error(
        "the tensor `{name}` is {found}, and this model's is {expected}; is this the file of another model?"
    )]
    Shape {
        /// The name of the tensor.
        name: String,
        /// Its type and shape in the file.
        found: String,
        /// Its type and shape in the model.
        expected: String,
    },
    /// A number is infinite or not a number.
    #[error("the tensor `{0}` has a number that is not finite; the file is damaged, or training diverged")]
    NotFinite(String),
    /// The number of steps is missing.
    #[error("it has no number of steps; is this a checkpoint?")]
    NoStep,
}

/// Returns the numbers as little-endian bytes.
fn bytes(matrix: &Matrix) -> Vec<u8> {
    matrix.data().iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn shape(matrix: &Matrix) -> Vec<usize> {
    vec![matrix.rows(), matrix.columns()]
}

fn serialize(tensors: &[(String, &Matrix)], metadata: HashMap<String, String>) -> Vec<u8> {
    serialize_as(Dtype::F32, bytes, tensors, metadata)
}

/// Returns the file of some matrices, whose numbers `bytes` turns into those of a type.
fn serialize_as(
    dtype: Dtype,
    bytes: impl Fn(&Matrix) -> Vec<u8>,
    tensors: &[(String, &Matrix)],
    metadata: HashMap<String, String>,
) -> Vec<u8> {
    let data: Vec<(String, Vec<u8>, Vec<usize>)> =
        tensors.iter().map(|(name, matrix)| (name.clone(), bytes(matrix), shape(matrix))).collect();
    let views = data.iter().map(|(name, bytes, shape)| {
        let view = TensorView::new(dtype, shape.clone(), bytes).expect("the bytes are those of the shape");
        (name.clone(), view)
    });
    safetensors::serialize(views, Some(metadata)).expect("names are unique and shapes fit")
}

/// Returns a file of matrices in half precision with an entry of metadata.
pub(crate) fn write_halves(tensors: &[(String, &Matrix)], (key, value): (&str, String)) -> Vec<u8> {
    let bytes =
        |matrix: &Matrix| matrix.data().iter().flat_map(|x| single_to_half(*x).to_le_bytes()).collect();
    serialize_as(Dtype::F16, bytes, tensors, HashMap::from([(key.to_owned(), value)]))
}

/// Reads an entry of a file's metadata.
pub(crate) fn metadata(content: &[u8], key: &str) -> Result<Option<String>, CheckpointError> {
    let (_, metadata) =
        SafeTensors::read_metadata(content).map_err(|error| CheckpointError::Damaged(error.to_string()))?;
    Ok(metadata.metadata().as_ref().and_then(|metadata| metadata.get(key).cloned()))
}

/// Returns the names of the tensors of a file, in order.
pub(crate) fn names(content: &[u8]) -> Result<Vec<String>, CheckpointError> {
    let file = open(content)?;
    let mut names: Vec<String> = file.names().into_iter().map(str::to_owned).collect();
    names.sort();
    Ok(names)
}

/// Returns the file of a model's weights.
pub(crate) fn write_model(parameters: &Parameters) -> Vec<u8> {
    let tensors: Vec<(String, &Matrix)> =
        parameters.ids().map(|id| (parameters.name(id).to_owned(), parameters.value(id))).collect();
    serialize(&tensors, HashMap::from([("format".to_owned(), "xpr".to_owned())]))
}

/// Returns the file from which training resumes: weights, both moments of Adam, the numbers of updates, and the average of the
/// weights if there is one.
pub(crate) fn write_checkpoint(
    parameters: &Parameters,
    state: &AdamState,
    average: Option<&ParameterAverage>,
) -> Vec<u8> {
    let mut tensors = Vec::new();
    for (id, value) in parameters.ids().zip(average.iter().flat_map(|average| &average.values)) {
        tensors.push((format!("average.{}", parameters.name(id)), value));
    }
    for ((id, (first, second)), updates) in parameters.ids().zip(&state.moments).zip(&state.row_updates) {
        let name = parameters.name(id);
        if parameters.is_sparse(id) {
            tensors.push((format!("adam.updates.{name}"), updates));
        }
        tensors.push((name.to_owned(), parameters.value(id)));
        tensors.push((format!("adam.first.{name}"), first));
        tensors.push((format!("adam.second.{name}"), second));
    }
    // Only one entry: the order of several would differ between equal runs.
    serialize(&tensors, HashMap::from([("step".to_owned(), state.step.to_string())]))
}

fn open(content: &[u8]) -> Result<SafeTensors<'_>, CheckpointError> {
    SafeTensors::deserialize(content).map_err(|error| CheckpointError::Damaged(error.to_string()))
}

/// Copies a tensor into a matrix of the same shape.
fn load(file: &SafeTensors<'_>, name: &str, into: &mut Matrix) -> Result<(), CheckpointError> {
    let tensor = file.tensor(name).map_err(|_| CheckpointError::Missing(name.to_owned()))?;
    if !matches!(tensor.dtype(), Dtype::F16 | Dtype::F32) || tensor.shape() != shape(into) {
        return Err(CheckpointError::Shape {
            name: name.to_owned(),
            found: format!("{:?} {:?}", tensor.dtype(), tensor.shape()),
            expected: format!("F16 or F32 {:?}", shape(into)),
        });
    }
    let (data, numbers) = (tensor.data(), into.data_mut().iter_mut());
    match tensor.dtype() {
        Dtype::F16 => {
            let halves = data.as_chunks().0.iter().map(|bytes| half_to_single(u16::from_le_bytes(*bytes)));
            numbers.zip(halves).for_each(|(x, number)| *x = number);
        }
        _ => {
            let singles = data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            numbers.zip(singles).for_each(|(x, number)| *x = number);
        }
    }
    match into.data().iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(CheckpointError::NotFinite(name.to_owned())),
    }
}

/// Reads a model's weights.
pub(crate) fn read_model(content: &[u8], parameters: &mut Parameters) -> Result<(), CheckpointError> {
    read_model_except(content, parameters, "")
}

/// Reads a model's weights except for the parameter with a name.
pub(crate) fn read_model_except(
    content: &[u8],
    parameters: &mut Parameters,
    except: &str,
) -> Result<(), CheckpointError> {
    let file = open(content)?;
    let ids: Vec<_> = parameters.ids().collect();
    for id in ids {
        let name = parameters.name(id).to_owned();
        if name != except {
            load(&file, &name, parameters.value_mut(id))?;
        }
    }
    Ok(())
}

/// Reads a tensor of two dimensions.
pub(crate) fn matrix(content: &[u8], name: &str) -> Result<Matrix, CheckpointError> {
    let file = open(content)?;
    let tensor = file.tensor(name).map_err(|_| CheckpointError::Missing(name.to_owned()))?;
    let &[rows, columns] = tensor.shape() else {
        return Err(CheckpointError::Shape {
            name: name.to_owned(),
            found: format!("{:?} {:?}", tensor.dtype(), tensor.shape()),
            expected: "F16 or F32 with two dimensions".to_owned(),
        });
    };
    let mut matrix = Matrix::zeros(rows, columns);
    load(&file, name, &mut matrix)?;
    Ok(matrix)
}

/// Reads the state from which training resumes.
pub(crate) fn read_checkpoint(
    content: &[u8],
    parameters: &mut Parameters,
    state: &mut AdamState,
    average: Option<&mut ParameterAverage>,
) -> Result<(), CheckpointError> {
    read_model(content, parameters)?;
    let file = open(content)?;
    for (id, value) in parameters.ids().zip(average.into_iter().flat_map(|average| &mut average.values)) {
        load(&file, &format!("average.{}", parameters.name(id)), value)?;
    }
    let moments = state.moments.iter_mut().zip(&mut state.row_updates);
    for (id, ((first, second), updates)) in parameters.ids().zip(moments) {
        let name = parameters.name(id);
        if parameters.is_sparse(id) {
            load(&file, &format!("adam.updates.{name}"), updates)?;
        }
        load(&file, &format!("adam.first.{name}"), first)?;
        load(&file, &format!("adam.second.{name}"), second)?;
    }
    let step = metadata(content, "step")?.and_then(|step| step.parse().ok());
    state.step = step.ok_or(CheckpointError::NoStep)?;
    Ok(())
}

impl<P: TrainableParser> Trainer<P> {
    /// Returns the content of a checkpoint from which training can resume.
    pub fn checkpoint(&self) -> Vec<u8> {
        write_checkpoint(self.parser.parameters(), &self.state, self.average.as_ref())
    }

    /// Returns whether all weights are finite numbers.
    pub fn has_finite_weights(&self) -> bool {
        let parameters = self.parser.parameters();
        parameters.ids().all(|id| parameters.value(id).data().iter().all(|x| x.is_finite()))
    }

    /// Restores the state of a checkpoint.
    ///
    /// # Errors
    /// If it is not a checkpoint of this parser. The trainer cannot be used any more then.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), CheckpointError> {
        read_checkpoint(checkpoint, self.parser.parameters_mut(), &mut self.state, self.average.as_mut())
    }
}

/// Returns the number of columns of a tensor in a file of weights, if it has that tensor and the number is plausible.
pub(crate) fn columns(content: &[u8], name: &str) -> Option<usize> {
    let file = SafeTensors::deserialize(content).ok()?;
    file.tensor(name).ok()?.shape().get(1).copied().filter(|columns| *columns <= 4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_nn::Init;

    fn parameters(columns: usize) -> Parameters {
        let mut parameters = Parameters::default();
        parameters.add("a", 2, columns, Init::Normal(1.0));
        parameters.add("b", 1, 1, Init::Constant(0.5));
        parameters
    }

    #[test]
    fn a_checkpoint_is_read_back_and_other_files_are_refused() {
        let original = parameters(3);
        let mut state = AdamState::new(&original);
        state.step = 7;
        state.moments[0].0.data_mut()[1] = 0.25;
        let mut average = ParameterAverage::new(&original, 0.9);
        average.values[0].data_mut()[2] = 0.75;
        let file = write_checkpoint(&original, &state, Some(&average));

        let mut read = parameters(3);
        let id = read.ids().next().unwrap();
        read.value_mut(id).data_mut().fill(9.0);
        let mut read_state = AdamState::new(&read);
        let mut read_average = ParameterAverage::new(&read, 0.9);
        read_checkpoint(&file, &mut read, &mut read_state, Some(&mut read_average)).unwrap();
        assert_eq!(read_average.values, average.values);
        assert_eq!(read.value(id), original.value(id));
        assert_eq!((read_state.step, &read_state.moments[0].0), (7, &state.moments[0].0));

        // Equal states are equal files.
        assert_eq!(write_checkpoint(&original, &state, Some(&average)), file);
        let mut broken = parameters(3);
        broken.value_mut(id).data_mut()[2] = f32::NAN;
        assert_eq!(read_model(&write_model(&broken), &mut read), Err(CheckpointError::NotFinite("a".into())));

        let mut other = parameters(4);
        assert!(matches!(read_model(&file, &mut other), Err(CheckpointError::Shape { .. })));
        other.add("c", 1, 1, Init::Constant(0.0));
        let model = write_model(&original);
        assert_eq!(
            read_checkpoint(&model, &mut read, &mut read_state, None),
            Err(CheckpointError::Missing("adam.first.a".into()))
        );
        let without_average = write_checkpoint(&original, &state, None);
        assert_eq!(
            read_checkpoint(&without_average, &mut read, &mut read_state, Some(&mut read_average)),
            Err(CheckpointError::Missing("average.a".into()))
        );
        for cut in [0, 4, 20, file.len() - 1] {
            assert!(matches!(read_model(&file[..cut], &mut read), Err(CheckpointError::Damaged(_))), "{cut}");
        }
        let mut flipped = file.clone();
        flipped[9] ^= 0x40;
        assert!(read_model(&flipped, &mut read).is_err());
        assert!(read_model(b"PK\x03\x04 something else entirely", &mut read).is_err());
    }
}
