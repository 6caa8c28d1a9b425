//! The forward pass, recorded so that gradients can be computed.

use crate::backward::{Backward, Factor, WeightUses};
use crate::buffers::BufferPool;
use crate::layers::Operation;
use crate::{Gradients, Matrix, ParameterId, Parameters, Random, View};
use std::collections::BTreeMap;

/// A value on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(usize);

impl Var {
    /// Returns the index of the value on its tape.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// A position on a tape, from [`Tape::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

/// The operations of one shard of one training step, in order, with their results.
///
/// A tape is reused from step to step for its buffers: see [`Tape::reset`].
pub struct Tape {
    values: Vec<Matrix>,
    /// The operation that computed each value; none for leaves.
    operations: Vec<Option<Box<dyn Operation>>>,
    random: Random,
    /// The number of inputs and results so far, dropped ones included. It selects the random stream of the next
    /// operation, so that no two operations of a step share one.
    results: u64,
    pool: BufferPool,
    /// Whether dropout is on.
    training: bool,
    /// The gradients from the backward pass, except those of weights.
    gradients: Gradients,
    /// For each weight, the two factors of its gradient.
    weights: BTreeMap<ParameterId, (Factor, Factor)>,
    /// The matrices of [`Factor::Stored`].
    stored: Vec<Matrix>,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tape").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl Tape {
    /// Returns an empty tape for training. Dropout draws its masks from `random`.
    pub fn new(random: Random) -> Self {
        Tape {
            values: vec![],
            operations: vec![],
            random,
            results: 0,
            pool: BufferPool::default(),
            training: true,
            gradients: Gradients::default(),
            weights: BTreeMap::new(),
            stored: vec![],
        }
    }

    /// Empties the tape and keeps its buffers. Dropout is on only if `training`.
    pub fn reset(&mut self, random: Random, training: bool) {
        for value in self.values.drain(..).chain(self.stored.drain(..)) {
            self.pool.put(value);
        }
        self.operations.clear();
        self.weights.clear();
        self.gradients.clear();
        self.random = random;
        self.results = 0;
        self.training = training;
    }

    /// Adds an input: a value without a gradient.
    pub fn input(&mut self, value: Matrix) -> Var {
        self.results += 1;
        self.push_leaf(value)
    }

    /// Adds a value that no operation computed, such as one that an operation saves for its backward pass. Unlike an
    /// input, it does not change the random stream of the next operation.
    pub(crate) fn push_leaf(&mut self, value: Matrix) -> Var {
        self.values.push(value);
        self.operations.push(None);
        Var(self.values.len() - 1)
    }

    /// Returns the current end of the tape, for [`Tape::rewind`].
    pub fn mark(&self) -> Mark {
        Mark(self.values.len())
    }

    /// Drops all values after `mark` except `keep`, which become leaves. Returns the kept values in their new places.
    ///
    /// Search, which has no backward pass, needs the values of a step only until the next step. Rewinding reuses
    /// their buffers while they are still in the CPU's cache.
    pub fn rewind<const N: usize>(&mut self, mark: Mark, keep: [Var; N]) -> [Var; N] {
        let kept = keep.map(|var| std::mem::take(&mut self.values[var.0]));
        for value in self.values.drain(mark.0..) {
            self.pool.put(value);
        }
        self.operations.truncate(mark.0);
        kept.map(|value| self.push_leaf(value))
    }

    /// Returns a value.
    pub fn value(&self, var: Var) -> &Matrix {
        &self.values[var.0]
    }

    /// Returns whether dropout is on.
    pub fn is_training(&self) -> bool {
        self.training
    }

    /// Returns the random numbers of the next operation.
    pub fn random(&self) -> Random {
        self.random.stream(self.results)
    }

    /// Records an operation and its result.
    pub(crate) fn push(&mut self, value: Matrix, operation: impl Operation + 'static) -> Var {
        self.results += 1;
        self.values.push(value);
        self.operations.push(Some(Box::new(operation)));
        Var(self.values.len() - 1)
    }

    /// Returns a matrix with unspecified contents.
    pub(crate) fn buffer(&mut self, rows: usize, columns: usize) -> Matrix {
        self.pool.take(rows, columns)
    }

    /// Takes a matrix back, so that its buffer can be reused.
    pub(crate) fn release(&mut self, matrix: Matrix) {
        self.pool.put(matrix);
    }

    /// Runs the backward pass from `output`, whose gradient is given. [`Gradients::collect`] then computes the
    /// gradients of all parameters that `output` depends on.
    pub fn backward(&mut self, parameters: &Parameters, output: Var, gradient: Matrix) {
        let mut back = Backward {
            values: &self.values,
            parameters,
            gradients: &mut self.gradients,
            value_gradients: (0..self.values.len()).map(|_| None).collect(),
            weights: BTreeMap::new(),
            stored: std::mem::take(&mut self.stored),
            pool: std::mem::take(&mut self.pool),
        };
        back.value_gradients[output.0] = Some(gradient);
        for index in (0..=output.0).rev() {
            let Some(gradient) = back.value_gradients[index].take() else { continue };
            match &self.operations[index] {
                Some(operation) => operation.backward(&mut back, Var(index), gradient),
                None => back.release(gradient),
            }
        }
        WeightUses { factors: self.weights, stored: self.stored, pool: self.pool } = back.finish();
    }

    /// Returns the gradients from the backward pass, except those of weights.
    pub(crate) fn gradients(&self) -> &Gradients {
        &self.gradients
    }

    /// Returns the weights that have a gradient.
    pub(crate) fn used_weights(&self) -> impl Iterator<Item = ParameterId> {
        self.weights.keys().copied()
    }

    /// Returns the rows that were multiplied with a weight and the gradients of the results. The weight's gradient is
    /// the transpose of the first times the second.
    pub(crate) fn factors(&self, weight: ParameterId) -> Option<(View<'_>, View<'_>)> {
        let view = |factor: Factor| factor.find(&self.values, &self.stored).view();
        self.weights.get(&weight).map(|&(inputs, outputs)| (view(inputs), view(outputs)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewinding_drops_values_and_keeps_some_as_leaves() {
        let mut tape = Tape::new(Random::new(1));
        let ones = tape.input(Matrix::new(1, 64, vec![1.0; 64]));
        let mark = tape.mark();
        let dropped = tape.dropout(ones, 0.5);
        let sum = tape.add(dropped, ones);
        let expected = tape.value(sum).clone();
        let [kept] = tape.rewind(mark, [sum]);
        assert_eq!(tape.value(kept), &expected);
        assert_eq!(tape.values.len(), 2);
        // Later operations do not repeat the random numbers of dropped ones.
        let again = tape.dropout(ones, 0.5);
        let again = tape.add(again, ones);
        assert_ne!(tape.value(again), &expected);
        // The backward pass stops at the kept value.
        let both = tape.add(kept, again);
        tape.backward(&Parameters::default(), both, Matrix::new(1, 64, vec![1.0; 64]));
        assert!(tape.rewind(mark, []).is_empty());
        assert_eq!(tape.value(ones).data(), [1.0; 64]);
    }
}
