//! What was computed, so that it can be gone back through.

use crate::layers::Operation;
use crate::{Gradients, Matrix, ParameterId, Parameters, Random, View};
use std::collections::BTreeMap;

/// A value on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(usize);

/// A place on a tape.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

/// Buffers to be used again, by size.
type Pool = BTreeMap<usize, Vec<Vec<f32>>>;

/// The operations of one shard of one step, in order.
///
/// Kept from step to step for its buffers: see [`Tape::reset`].
pub struct Tape {
    values: Vec<Matrix>,
    operations: Vec<Option<Box<dyn Operation>>>,
    random: Random,
    /// How many results there were, those forgotten included: each draws random numbers of its own.
    results: u64,
    /// Buffers of earlier steps.
    pool: Pool,
    /// Whether dropout drops.
    training: bool,
    /// What the way back brought, apart from the gradients of weights.
    gradients: Gradients,
    /// For each weight, the inputs it met and the gradients of what came of them.
    weights: BTreeMap<ParameterId, (Source, Source)>,
    /// Matrices that `weights` speaks of.
    kept: Vec<Matrix>,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tape").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl Tape {
    /// An empty tape for training, with the numbers its dropout draws.
    pub fn new(random: Random) -> Self {
        Tape {
            values: vec![],
            operations: vec![],
            random,
            results: 0,
            pool: BTreeMap::new(),
            training: true,
            gradients: Gradients::default(),
            weights: BTreeMap::new(),
            kept: vec![],
        }
    }

    /// Empties the tape and keeps its buffers. Without `training`, nothing is dropped.
    pub fn reset(&mut self, random: Random, training: bool) {
        for value in self.values.drain(..).chain(self.kept.drain(..)) {
            put(&mut self.pool, value);
        }
        self.operations.clear();
        self.weights.clear();
        self.gradients.clear();
        self.random = random;
        self.results = 0;
        self.training = training;
    }

    /// A value that has no past.
    pub fn input(&mut self, value: Matrix) -> Var {
        self.results += 1;
        self.aside(value)
    }

    /// Keeps what an operation will want to know on the way back.
    pub(crate) fn aside(&mut self, value: Matrix) -> Var {
        self.values.push(value);
        self.operations.push(None);
        Var(self.values.len() - 1)
    }

    /// Where the tape is, for [`Tape::forget_since`].
    pub fn mark(&self) -> Mark {
        Mark(self.values.len())
    }

    /// Forgets what came since, but for some different values of it, whose past is forgotten. Who will not go back needs a step's values no
    /// longer than the next, and buffers used again at once are still in the cache.
    pub fn forget_since<const N: usize>(&mut self, mark: Mark, keep: [Var; N]) -> [Var; N] {
        let kept = keep.map(|var| std::mem::take(&mut self.values[var.0]));
        for value in self.values.drain(mark.0..) {
            put(&mut self.pool, value);
        }
        self.operations.truncate(mark.0);
        kept.map(|value| self.aside(value))
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
        self.random.stream(self.results)
    }

    /// Notes the result of an operation.
    pub(crate) fn push(&mut self, value: Matrix, operation: impl Operation + 'static) -> Var {
        self.results += 1;
        self.values.push(value);
        self.operations.push(Some(Box::new(operation)));
        Var(self.values.len() - 1)
    }

    /// A matrix to be overwritten.
    pub(crate) fn space(&mut self, rows: usize, columns: usize) -> Matrix {
        take(&mut self.pool, rows, columns)
    }

    /// Gives a matrix back for others to use.
    pub(crate) fn release(&mut self, matrix: Matrix) {
        put(&mut self.pool, matrix);
    }

    /// Goes back from `output`, whose gradient is given. [`Gradients::collect`] then makes of it the gradients of all
    /// parameters that the output depends on.
    pub fn backward(&mut self, parameters: &Parameters, output: Var, gradient: Matrix) {
        let mut back = Backward {
            values: &self.values,
            parameters,
            gradients: &mut self.gradients,
            of_values: (0..self.values.len()).map(|_| None).collect(),
            weights: BTreeMap::new(),
            kept: std::mem::take(&mut self.kept),
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
        (self.weights, self.kept, self.pool) = back.finish();
    }

    /// What the way back brought, apart from the gradients of weights.
    pub(crate) fn gradients(&self) -> &Gradients {
        &self.gradients
    }

    /// The weights that were met.
    pub(crate) fn weights(&self) -> impl Iterator<Item = ParameterId> {
        self.weights.keys().copied()
    }

    /// The rows a weight met and the gradients of what came of them; its gradient is the product of the two.
    pub(crate) fn factors(&self, weight: ParameterId) -> Option<(View<'_>, View<'_>)> {
        let find = |source: Source| match source {
            Source::Value(var) => self.values[var.0].view(),
            Source::Kept(index) => self.kept[index].view(),
        };
        self.weights.get(&weight).map(|&(inputs, outputs)| (find(inputs), find(outputs)))
    }
}

fn take(pool: &mut Pool, rows: usize, columns: usize) -> Matrix {
    let len = rows * columns;
    // The smallest buffer that is large enough, but not one that somebody large will want.
    let size = pool.range(len..=4 * len + 64).find(|(_, buffers)| !buffers.is_empty()).map(|(&size, _)| size);
    let mut data = size.and_then(|size| pool.get_mut(&size)?.pop()).unwrap_or_default();
    data.resize(len, 0.0);
    Matrix::new(rows, columns, data)
}

fn put(pool: &mut Pool, matrix: Matrix) {
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
    pool: Pool,
}

/// Where the rows for a weight's gradient are.
#[derive(Clone, Copy, Debug)]
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
        self.parameters.multiply_turned(gradient.data(), weight, result.data_mut());
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

    /// Joins the uses of each weight, so that its gradient is one product, and gives back what the tape keeps.
    fn finish(mut self) -> (BTreeMap<ParameterId, (Source, Source)>, Vec<Matrix>, Pool) {
        let mut weights = BTreeMap::new();
        for (weight, uses) in std::mem::take(&mut self.weights) {
            if let [only] = uses[..] {
                weights.insert(weight, only);
                continue;
            }
            let (inputs, outputs): (Vec<Source>, Vec<Source>) = uses.into_iter().unzip();
            let joined = (self.join(&inputs), self.join(&outputs));
            weights.insert(weight, joined);
        }
        for gradient in self.of_values.drain(..).flatten() {
            put(&mut self.pool, gradient);
        }
        (weights, self.kept, self.pool)
    }

    /// The rows of several matrices, one behind the other.
    fn join(&mut self, sources: &[Source]) -> Source {
        let (values, kept) = (self.values, &self.kept);
        let parts = || {
            sources.iter().map(|&source| match source {
                Source::Value(var) => &values[var.0],
                Source::Kept(index) => &kept[index],
            })
        };
        let columns = parts().next().map_or(0, Matrix::columns);
        let mut all = take(&mut self.pool, parts().map(Matrix::rows).sum(), columns);
        let mut end = 0;
        for part in parts() {
            all.data_mut()[end..][..part.data().len()].copy_from_slice(part.data());
            end += part.data().len();
        }
        self.keep(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_gone_and_what_is_kept_is_as_it_was() {
        let mut tape = Tape::new(Random::new(1));
        let ones = tape.input(Matrix::new(1, 64, vec![1.0; 64]));
        let mark = tape.mark();
        let dropped = tape.dropout(ones, 0.5);
        let sum = tape.add(dropped, ones);
        let expected = tape.value(sum).clone();
        let [kept] = tape.forget_since(mark, [sum]);
        assert_eq!(tape.value(kept), &expected);
        assert_eq!(tape.values.len(), 2);
        // What comes next drops other elements than what was forgotten.
        let again = tape.dropout(ones, 0.5);
        let again = tape.add(again, ones);
        assert_ne!(tape.value(again), &expected);
        // The way back ends at what was kept.
        let both = tape.add(kept, again);
        tape.backward(&Parameters::default(), both, Matrix::new(1, 64, vec![1.0; 64]));
        assert!(tape.forget_since(mark, []).is_empty());
        assert_eq!(tape.value(ones).data(), [1.0; 64]);
    }
}
