//! The backward pass through a tape.
//!
//! Gradients of values flow from operation to operation. The gradient of a weight `W` with `Y = X W` is `Xᵀ dY`; the
//! pass only records the two factors, and joins the factors of all uses of a weight at its end.

use crate::buffers::BufferPool;
use crate::kernels::add_assign;
use crate::{Gradients, Matrix, ParameterId, Parameters, Var};
use std::collections::BTreeMap;

/// A backward pass that is under way.
pub(crate) struct Backward<'a> {
    pub(crate) values: &'a [Matrix],
    pub(crate) parameters: &'a Parameters,
    pub(crate) gradients: &'a mut Gradients,
    /// The gradient of each value, as far as it is known.
    pub(crate) value_gradients: Vec<Option<Matrix>>,
    /// The factors of the gradient of each weight, one pair for each use.
    pub(crate) weights: BTreeMap<ParameterId, Vec<(Factor, Factor)>>,
    /// The matrices of [`Factor::Stored`].
    pub(crate) stored: Vec<Matrix>,
    pub(crate) pool: BufferPool,
}

/// One of the two factors of a weight's gradient: the inputs, or the gradients of the outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// A value of the tape.
    Value(Var),
    /// A matrix that the backward pass stored, by index.
    Stored(usize),
}

impl Factor {
    pub(crate) fn find<'m>(self, values: &'m [Matrix], stored: &'m [Matrix]) -> &'m Matrix {
        match self {
            Factor::Value(var) => &values[var.index()],
            Factor::Stored(index) => &stored[index],
        }
    }
}

/// The result of a backward pass that a tape keeps.
pub(crate) struct WeightUses {
    /// For each weight, the two factors of its gradient.
    pub(crate) factors: BTreeMap<ParameterId, (Factor, Factor)>,
    /// The matrices of [`Factor::Stored`].
    pub(crate) stored: Vec<Matrix>,
    pub(crate) pool: BufferPool,
}

impl<'a> Backward<'a> {
    /// Returns a value of the forward pass.
    pub(crate) fn value(&self, var: Var) -> &'a Matrix {
        &self.values[var.index()]
    }

    /// Returns a matrix with unspecified contents.
    pub(crate) fn buffer(&mut self, rows: usize, columns: usize) -> Matrix {
        self.pool.take(rows, columns)
    }

    /// Returns a matrix of zeros.
    pub(crate) fn zeros(&mut self, rows: usize, columns: usize) -> Matrix {
        let mut matrix = self.buffer(rows, columns);
        matrix.data_mut().fill(0.0);
        matrix
    }

    /// Takes a matrix back, so that its buffer can be reused.
    pub(crate) fn release(&mut self, matrix: Matrix) {
        self.pool.put(matrix);
    }

    /// Returns `gradient × Wᵀ`: the gradient of the input of a product with `weight`.
    pub(crate) fn input_gradient(&mut self, weight: ParameterId, gradient: &Matrix) -> Matrix {
        let value = self.parameters.value(weight);
        let mut result = self.pool.take(gradient.rows(), value.rows());
        self.parameters.multiply_transposed(gradient.data(), weight, result.data_mut());
        result
    }

    /// Adds to the gradient of a value.
    pub(crate) fn add(&mut self, var: Var, gradient: Matrix) {
        match &mut self.value_gradients[var.index()] {
            Some(sum) => {
                add_assign(sum.data_mut(), gradient.data());
                self.pool.put(gradient);
            }
            none => *none = Some(gradient),
        }
    }

    /// Returns the gradient of a value, to be added to in place.
    pub(crate) fn gradient_mut(&mut self, var: Var) -> &mut Matrix {
        let (values, pool) = (self.values, &mut self.pool);
        self.value_gradients[var.index()].get_or_insert_with(|| {
            let value = &values[var.index()];
            let mut zeros = pool.take(value.rows(), value.columns());
            zeros.data_mut().fill(0.0);
            zeros
        })
    }

    /// Stores a matrix until weight gradients are computed.
    pub(crate) fn store(&mut self, matrix: Matrix) -> Factor {
        self.stored.push(matrix);
        Factor::Stored(self.stored.len() - 1)
    }

    /// Records that the rows of `inputs` were multiplied with `weight`, and that the results have the gradient
    /// `outputs`.
    pub(crate) fn use_weight(&mut self, weight: ParameterId, inputs: Factor, outputs: Factor) {
        self.weights.entry(weight).or_default().push((inputs, outputs));
    }

    /// Joins the factors of all uses of each weight, so that its gradient is one product.
    pub(crate) fn finish(mut self) -> WeightUses {
        let mut factors = BTreeMap::new();
        for (weight, uses) in std::mem::take(&mut self.weights) {
            if let [only] = uses[..] {
                factors.insert(weight, only);
                continue;
            }
            let (inputs, outputs): (Vec<Factor>, Vec<Factor>) = uses.into_iter().unzip();
            let joined = (self.join(&inputs), self.join(&outputs));
            factors.insert(weight, joined);
        }
        for gradient in self.value_gradients.drain(..).flatten() {
            self.pool.put(gradient);
        }
        WeightUses { factors, stored: self.stored, pool: self.pool }
    }

    /// Stores the rows of several matrices one after another.
    fn join(&mut self, factors: &[Factor]) -> Factor {
        let (values, stored) = (self.values, &self.stored);
        let parts = || factors.iter().map(|factor| factor.find(values, stored));
        let columns = parts().next().map_or(0, Matrix::columns);
        let mut all = self.pool.take(parts().map(Matrix::rows).sum(), columns);
        let mut end = 0;
        for part in parts() {
            all.data_mut()[end..][..part.data().len()].copy_from_slice(part.data());
            end += part.data().len();
        }
        self.store(all)
    }
}
