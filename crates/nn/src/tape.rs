//! What was computed, so that it can be gone back through.

use crate::layers::Operation;
use crate::{Gradients, Matrix, ParameterId, Parameters, Random, View, gemm};
use std::collections::BTreeMap;

/// A value on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(usize);

/// The operations of one shard of one step, in order.
///
/// Kept from step to step for its buffers: see [`Tape::reset`].
pub struct Tape {
    values: Vec<Matrix>,
    operations: Vec<Option<Box<dyn Operation>>>,
    random: Random,
    /// Buffers of earlier steps, by size.
    pool: BTreeMap<usize, Vec<Vec<f32>>>,
    /// Whether dropout drops.
    training: bool,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tape").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl Tape {
    /// An empty tape for training, with the numbers its dropout draws.
    pub fn new(random: Random) -> Self {
        Tape { values: vec![], operations: vec![], random, pool: BTreeMap::new(), training: true }
    }

    /// Empties the tape and keeps its buffers. Without `training`, nothing is dropped.
    pub fn reset(&mut self, random: Random, training: bool) {
        for value in self.values.drain(..) {
            put(&mut self.pool, value);
        }
        self.operations.clear();
        self.random = random;
        self.training = training;
    }

    /// A value that has no past.
    pub fn input(&mut self, value: Matrix) -> Var {
        self.values.push(value);
        self.operations.push(None);
        Var(self.values.len() - 1)
    }

    /// What a variable is.
    pub fn value(&self, var: Var) -> &Matrix {
        &self.values[var.0]
    }

    pub(crate) fn is_training(&self) -> bool {
        self.training
    }

    /// Random numbers for the next operation.
    pub(crate) fn random(&self) -> Random {
        self.random.stream(self.values.len() as u64)
    }

    /// Notes the result of an operation.
    pub(crate) fn push(&mut self, value: Matrix, operation: impl Operation + 'static) -> Var {
        self.values.push(value);
        self.operations.push(Some(Box::new(operation)));
        Var(self.values.len() - 1)
    }

    /// A matrix to be overwritten.
    pub(crate) fn space(&mut self, rows: usize, columns: usize) -> Matrix {
        take(&mut self.pool, rows, columns)
    }

    /// Goes back from `output`, whose gradient is given, and adds the gradients of all parameters it depends on.
    pub fn backward(
        &mut self,
        parameters: &Parameters,
        output: Var,
        gradient: Matrix,
        gradients: &mut Gradients,
    ) {
        let mut back = Backward {
            values: &self.values,
            parameters,
            gradients,
            of_values: (0..self.values.len()).map(|_| None).collect(),
            weights: BTreeMap::new(),
            kept: vec![],
            transposed: BTreeMap::new(),
            pool: std::mem::take(&mut self.pool),
        };
        back.of_values[output.0] = Some(gradient);
        for index in (0..=output.0).rev() {
            let Some(gradient) = back.of_values[index].take() else { continue };
            match &self.operations[index] {
                Some(operation) => operation.backward(&mut back, Var(index), gradient),
                None => put(&mut back.pool, gradient),
            }
        }
        self.pool = back.finish();
    }
}

fn take(pool: &mut BTreeMap<usize, Vec<Vec<f32>>>, rows: usize, columns: usize) -> Matrix {
    let len = rows * columns;
    // The smallest buffer that is large enough, but not one that somebody large will want.
    let size = pool.range(len..=4 * len + 64).find(|(_, buffers)| !buffers.is_empty()).map(|(&size, _)| size);
    let mut data = size.and_then(|size| pool.get_mut(&size)?.pop()).unwrap_or_default();
    data.resize(len, 0.0);
    Matrix::new(rows, columns, data)
}

fn put(pool: &mut BTreeMap<usize, Vec<Vec<f32>>>, matrix: Matrix) {
    let data = matrix.into_data();
    if data.capacity() > 0 {
        pool.entry(data.capacity()).or_default().push(data);
    }
}

/// The way back through a tape.
pub(crate) struct Backward<'a> {
    values: &'a [Matrix],
    pub(crate) parameters: &'a Parameters,
    pub(crate) gradients: &'a mut Gradients,
    of_values: Vec<Option<Matrix>>,
    /// For each weight, the inputs it met and the gradients of what came of them.
    weights: BTreeMap<ParameterId, Vec<(Source, Source)>>,
    kept: Vec<Matrix>,
    /// Weights turned over, for products of a few rows.
    transposed: BTreeMap<ParameterId, Matrix>,
    pool: BTreeMap<usize, Vec<Vec<f32>>>,
}

/// Where the rows for a weight's gradient are.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// In a value of the tape.
    Value(Var),
    /// In a matrix kept for the end.
    Kept(usize),
}

impl<'a> Backward<'a> {
    pub(crate) fn value(&self, var: Var) -> &'a Matrix {
        &self.values[var.0]
    }

    /// A matrix to be overwritten.
    pub(crate) fn space(&mut self, rows: usize, columns: usize) -> Matrix {
        take(&mut self.pool, rows, columns)
    }

    /// `gradient × Wᵀ`: the gradient of what met the weight.
    pub(crate) fn through(&mut self, weight: ParameterId, gradient: &Matrix) -> Matrix {
        let value = self.parameters.value(weight);
        let mut result = take(&mut self.pool, gradient.rows(), value.rows());
        // With few rows, turning the weight over each time would cost more than the product; a recurrence does it
        // once for all of its steps.
        if gradient.rows() <= 16 && value.rows() >= 64 {
            let turned = self.transposed.entry(weight).or_insert_with(|| {
                let mut turned = take(&mut self.pool, value.columns(), value.rows());
                transpose(value, &mut turned);
                turned
            });
            multiply(&mut result, gradient, turned.view());
        } else {
            multiply(&mut result, gradient, value.view().transposed());
        }
        result
    }

    /// A matrix of zeros.
    pub(crate) fn zeros(&mut self, rows: usize, columns: usize) -> Matrix {
        let mut matrix = self.space(rows, columns);
        matrix.data_mut().fill(0.0);
        matrix
    }

    /// Gives a matrix back for others to use.
    pub(crate) fn release(&mut self, matrix: Matrix) {
        put(&mut self.pool, matrix);
    }

    /// Adds to the gradient of a value.
    pub(crate) fn add(&mut self, var: Var, gradient: Matrix) {
        match &mut self.of_values[var.0] {
            Some(sum) => {
                crate::kernels::add_assign(sum.data_mut(), gradient.data());
                put(&mut self.pool, gradient);
            }
            empty => *empty = Some(gradient),
        }
    }

    /// The gradient of a value, to be added to in place.
    pub(crate) fn gradient_mut(&mut self, var: Var) -> &mut Matrix {
        if self.of_values[var.0].is_none() {
            let value = &self.values[var.0];
            let zeros = self.zeros(value.rows(), value.columns());
            self.of_values[var.0] = Some(zeros);
        }
        self.of_values[var.0].as_mut().expect("it was just put there")
    }

    /// Keeps a matrix to the end.
    pub(crate) fn keep(&mut self, matrix: Matrix) -> Source {
        self.kept.push(matrix);
        Source::Kept(self.kept.len() - 1)
    }

    /// Notes that `weight` met the rows of `inputs` and that what came of them has the gradient `outputs`.
    pub(crate) fn weight(&mut self, weight: ParameterId, inputs: Source, outputs: Source) {
        self.weights.entry(weight).or_default().push((inputs, outputs));
    }

    /// Computes the gradients of all weights, each as one product.
    fn finish(mut self) -> BTreeMap<usize, Vec<Vec<f32>>> {
        let (values, kept) = (self.values, std::mem::take(&mut self.kept));
        let find = |source: Source| match source {
            Source::Value(var) => &values[var.0],
            Source::Kept(index) => &kept[index],
        };
        for (weight, uses) in std::mem::take(&mut self.weights) {
            let value = self.parameters.value(weight);
            let size = (value.rows(), value.columns());
            if let [(inputs, outputs)] = uses[..] {
                let (inputs, outputs) = (find(inputs).view(), find(outputs).view());
                self.gradients.add_product(weight, inputs, outputs, size);
                continue;
            }
            let rows = uses.iter().map(|&(inputs, _)| find(inputs).rows()).sum();
            let mut all_inputs = take(&mut self.pool, rows, size.0);
            let mut all_outputs = take(&mut self.pool, rows, size.1);
            let (mut input_end, mut output_end) = (0, 0);
            for &(inputs, outputs) in &uses {
                let (inputs, outputs) = (find(inputs).data(), find(outputs).data());
                all_inputs.data_mut()[input_end..][..inputs.len()].copy_from_slice(inputs);
                all_outputs.data_mut()[output_end..][..outputs.len()].copy_from_slice(outputs);
                input_end += inputs.len();
                output_end += outputs.len();
            }
            self.gradients.add_product(weight, all_inputs.view(), all_outputs.view(), size);
            put(&mut self.pool, all_inputs);
            put(&mut self.pool, all_outputs);
        }
        for matrix in kept.into_iter().chain(std::mem::take(&mut self.transposed).into_values()) {
            put(&mut self.pool, matrix);
        }
        for gradient in self.of_values.drain(..).flatten() {
            put(&mut self.pool, gradient);
        }
        self.pool
    }
}

/// Rows become columns, in blocks that fit the cache.
fn transpose(from: &Matrix, to: &mut Matrix) {
    const BLOCK: usize = 16;
    let (rows, columns) = (from.rows(), from.columns());
    let (from, to) = (from.data(), to.data_mut());
    for row in (0..rows).step_by(BLOCK) {
        for column in (0..columns).step_by(BLOCK) {
            for r in row..(row + BLOCK).min(rows) {
                for c in column..(column + BLOCK).min(columns) {
                    to[c * rows + r] = from[r * columns + c];
                }
            }
        }
    }
}

/// `result = left × right`, where `right` is a parameter used as it is or transposed.
pub(crate) fn multiply(result: &mut Matrix, left: &Matrix, right: View<'_>) {
    gemm(result.view_mut(), false, left.view(), right);
}
