//! Gradient checks: every derivative against a difference quotient.

use crate::{Gradients, Matrix, ParameterId, Parameters, Random, Tape, Var};

/// A matrix of normal numbers, a different one for each shape.
pub(crate) fn random_matrix(rows: usize, columns: usize) -> Matrix {
    let random = Random::new((rows * 1000 + columns) as u64);
    Matrix::new(rows, columns, (0..(rows * columns) as u64).map(|i| random.normal(i) as f32).collect())
}

/// Checks the derivatives of a weighted sum of the outputs by every parameter and every input.
///
/// Inputs become parameters of a table each, so that there is one way to ask for gradients.
pub(crate) fn check(
    parameters: &mut Parameters,
    inputs: &[Matrix],
    compute: impl Fn(&mut Tape, &Parameters, &[Var]) -> Var,
) {
    let tables: Vec<ParameterId> = inputs
        .iter()
        .enumerate()
        .map(|(i, input)| parameters.add_table(&format!("input {i}"), input.clone()))
        .collect();
    let run = |parameters: &Parameters| {
        let mut tape = Tape::new(Random::new(5));
        let inputs: Vec<Var> = tables
            .iter()
            .map(|&table| {
                let rows: Vec<u32> = (0..parameters.value(table).rows() as u32).collect();
                tape.embedding(parameters, table, &rows)
            })
            .collect();
        let output = compute(&mut tape, parameters, &inputs);
        let (rows, columns) = (tape.value(output).rows(), tape.value(output).columns());
        let weights = random_matrix(rows, columns);
        let sum: f64 = tape
            .value(output)
            .data()
            .iter()
            .zip(weights.data())
            .map(|(x, w)| f64::from(*x) * f64::from(*w))
            .sum();
        (tape, output, weights, sum)
    };
    let (mut tape, output, weights, _) = run(parameters);
    let mut gradients = Gradients::default();
    tape.backward(parameters, output, weights);
    gradients.collect(parameters, &[tape]);

    let mut checked = 0;
    for id in parameters.ids() {
        for index in 0..parameters.value(id).data().len() {
            let found = if parameters.is_sparse(id) {
                let columns = parameters.value(id).columns();
                let row = gradients.sparse().find(|(table, row, _)| *table == id && *row == index / columns);
                row.map_or(0.0, |(_, _, gradient)| gradient[index % columns])
            } else {
                gradients.dense(id).map_or(0.0, |gradient| gradient[index])
            };
            let original = parameters.value(id).data()[index];
            let mut at = |value: f32| {
                parameters.value_mut(id).data_mut()[index] = value;
                run(parameters).3
            };
            let step = 1e-2;
            // A five-point quotient: single precision leaves no room for a small step.
            let near = at(original + step) - at(original - step);
            let far = at(original + 2.0 * step) - at(original - 2.0 * step);
            parameters.value_mut(id).data_mut()[index] = original;
            let expected = (8.0 * near - far) / (12.0 * f64::from(step));
            let error = (f64::from(found) - expected).abs() / (1.0 + expected.abs());
            assert!(
                error < 5e-3,
                "{} [{index}]: {found} but the quotient is {expected}",
                parameters.name(id)
            );
            checked += 1;
        }
    }
    assert!(checked > 0);
}
