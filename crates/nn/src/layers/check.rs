//! Gradient checks: every derivative is compared with a difference quotient.

use crate::kernels::portable;
use crate::{Gradients, Matrix, ParameterId, Parameters, Random, Tape, Var};

/// Returns a matrix of normally distributed numbers that depend on its shape only.
pub(crate) fn random_matrix(rows: usize, columns: usize) -> Matrix {
    let random = Random::new((rows * 1000 + columns) as u64);
    Matrix::new(rows, columns, (0..(rows * columns) as u64).map(|i| random.normal(i) as f32).collect())
}

/// Checks an operation without parameters: see [`check_gradients`].
pub(crate) fn check_input_gradients(inputs: &[Matrix], compute: impl Fn(&mut Tape, &[Var]) -> Var) {
    check_gradients(&mut Parameters::default(), inputs, |tape, _, inputs| compute(tape, inputs));
}

/// Checks the derivatives of a weighted sum of the outputs with respect to every parameter and every input, and that
/// the portable kernels give exactly the same gradients as those that the CPU runs.
pub(crate) fn check_gradients(
    parameters: &mut Parameters,
    inputs: &[Matrix],
    compute: impl Fn(&mut Tape, &Parameters, &[Var]) -> Var,
) {
    let function = WeightedSum::new(parameters, inputs, compute);
    let gradients = function.gradients(parameters);
    assert_eq!(portable::run(|| function.gradients(parameters)), gradients, "the portable kernels differ");
    assert!(gradients.iter().any(|gradient| !gradient.is_empty()), "there is nothing to check");

    for (id, gradient) in parameters.ids().zip(gradients) {
        for (index, found) in gradient.into_iter().enumerate() {
            let original = parameters.value(id).data()[index];
            let mut at = |value: f32| {
                parameters.value_mut(id).data_mut()[index] = value;
                function.value(parameters)
            };
            let step = 1e-2;
            // A five-point quotient, because single precision does not allow a small step.
            let near = at(original + step) - at(original - step);
            let far = at(original + 2.0 * step) - at(original - 2.0 * step);
            parameters.value_mut(id).data_mut()[index] = original;
            let expected = (8.0 * near - far) / (12.0 * f64::from(step));
            let error = (f64::from(found) - expected).abs() / (1.0 + expected.abs());
            let name = parameters.name(id);
            assert!(error < 5e-3, "{name} [{index}]: {found} but the quotient is {expected}");
        }
    }
}

/// A weighted sum of the outputs of a computation, as a function of parameters and inputs.
struct WeightedSum<F> {
    compute: F,
    /// The inputs, added to the parameters as tables: so there is only one kind of gradient to check.
    inputs: Vec<ParameterId>,
}

impl<F: Fn(&mut Tape, &Parameters, &[Var]) -> Var> WeightedSum<F> {
    fn new(parameters: &mut Parameters, inputs: &[Matrix], compute: F) -> Self {
        let add = |(i, input): (usize, &Matrix)| parameters.add_table(&format!("input {i}"), input.clone());
        WeightedSum { compute, inputs: inputs.iter().enumerate().map(add).collect() }
    }

    /// Returns the tape, the output, and the weights of its elements.
    fn run(&self, parameters: &Parameters) -> (Tape, Var, Matrix) {
        let mut tape = Tape::new(Random::new(5));
        let inputs: Vec<Var> = self
            .inputs
            .iter()
            .map(|&table| {
                let rows: Vec<u32> = (0..parameters.value(table).rows() as u32).collect();
                tape.embedding(parameters, table, &rows)
            })
            .collect();
        let output = (self.compute)(&mut tape, parameters, &inputs);
        let (rows, columns) = (tape.value(output).rows(), tape.value(output).columns());
        (tape, output, random_matrix(rows, columns))
    }

    fn value(&self, parameters: &Parameters) -> f64 {
        let (tape, output, weights) = self.run(parameters);
        let outputs = tape.value(output).data().iter();
        outputs.zip(weights.data()).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum()
    }

    /// Returns the gradient of every parameter; 0 for what is not used.
    fn gradients(&self, parameters: &Parameters) -> Vec<Vec<f32>> {
        let (mut tape, output, weights) = self.run(parameters);
        let mut gradients = Gradients::default();
        tape.backward(parameters, output, weights);
        gradients.collect(parameters, &[tape]);
        let mut all: Vec<Vec<f32>> =
            parameters.ids().map(|id| vec![0.0; parameters.value(id).data().len()]).collect();
        for (id, gradient) in parameters.ids().zip(&mut all) {
            if let Some(dense) = gradients.dense(id) {
                gradient.copy_from_slice(dense);
            }
        }
        for (table, row, gradient) in gradients.sparse() {
            all[table.index()][row * gradient.len()..][..gradient.len()].copy_from_slice(gradient);
        }
        all
    }
}

/// The gradient checks use rows of a few elements; this uses rows longer than a vector, with a remainder.
#[test]
fn portable_kernels_give_the_same_gradients_for_long_rows() {
    use super::{Choice, LstmParameters, Relations, Segment};
    use crate::Init::{Normal, Xavier};

    const SIZE: usize = 36;
    let mut parameters = Parameters::default();
    let gain = parameters.add("gain", 1, SIZE, Normal(1.0));
    let bias = parameters.add("bias", 1, SIZE, Normal(1.0));
    let keys = parameters.add("keys", 3, SIZE / 2, Normal(1.0));
    let values = parameters.add("values", 3, SIZE / 2, Normal(1.0));
    let lstm = LstmParameters {
        input: parameters.add("lstm.input", SIZE, 4 * SIZE, Xavier),
        hidden: parameters.add("lstm.hidden", SIZE, 4 * SIZE, Xavier),
        bias: parameters.add("lstm.bias", 1, 4 * SIZE, Normal(0.5)),
    };
    let kinds: Vec<u8> = (0..25).map(|pair| pair % 3).collect();
    let relations = [Relations { start: 0, len: 5, kinds: kinds.into() }];
    let all = Segment { start: 0, len: 5 };
    let inputs = [random_matrix(5, SIZE), random_matrix(5, SIZE), random_matrix(5, 4 * SIZE)];
    let function = WeightedSum::new(&mut parameters, &inputs, |tape, parameters, inputs| {
        let x = tape.dropout(inputs[0], 0.3);
        let x = tape.layer_norm(parameters, x, gain, bias);
        let x = tape.relation_attention(parameters, (x, inputs[1], x), (keys, values), 2, &relations);
        let x = tape.lstm(parameters, x, lstm, &[(0..5).collect()]);
        let both = tape.lstm_cell(inputs[2], x);
        let h = tape.columns(both, 0, SIZE);
        let x = tape.add(h, x);
        let x = tape.memory_attention(x, inputs[0], inputs[1], 2, &[all; 5]);
        let x = tape.relu(x);
        let mean = tape.segment_mean(x, &[all; 5]);
        let x = tape.tanh(mean);
        let scores = tape.pointer_scores(x, inputs[1], &[all; 5]);
        tape.choose(scores, vec![Choice { allowed: [0, 2, 3].into(), chosen: 2 }; 5])
    });
    let gradients = function.gradients(&parameters);
    assert!(gradients.iter().flatten().filter(|x| **x != 0.0).count() > 1000);
    assert_eq!(portable::run(|| function.gradients(&parameters)), gradients);
}
