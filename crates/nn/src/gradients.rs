//! The gradients of all parameters.

mod over_ranks;

use crate::{Matrix, ParameterId, Parameters, Ranks, Tape, View, ViewMut, gemm};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The gradients of one training step.
///
/// A parameter that was not used has no gradient. Buffers are reused from step to step.
#[derive(Debug, Default)]
pub struct Gradients {
    dense: Vec<DenseGradient>,
    /// The gradients of table rows that were used.
    sparse: BTreeMap<(ParameterId, usize), Vec<f32>>,
    /// The ranks whose shards are added, if there are several.
    ranks: Option<Arc<dyn Ranks>>,
}

#[derive(Debug, Default)]
struct DenseGradient {
    data: Vec<f32>,
    /// Whether `data` is from this step. If not, it is only a buffer.
    is_set: bool,
}

impl DenseGradient {
    /// Returns the elements, and whether the caller must add to them rather than overwrite them.
    fn data_mut(&mut self, len: usize) -> (&mut [f32], bool) {
        self.data.resize(len, 0.0);
        let add = std::mem::replace(&mut self.is_set, true);
        (&mut self.data, add)
    }

    /// Adds the gradient of a weight: one product for each shard, in the order of the shards.
    fn add_products(&mut self, parameters: &Parameters, tapes: &[Tape], id: ParameterId) {
        let (rows, columns) = (parameters.value(id).rows(), parameters.value(id).columns());
        for (inputs, outputs) in tapes.iter().filter_map(|tape| tape.factors(id)) {
            let (data, add) = self.data_mut(rows * columns);
            gemm(ViewMut::of(data, rows, columns), add, inputs.transposed(), outputs);
        }
    }
}

impl Gradients {
    /// Creates gradients that are the sum over the shards of all ranks.
    pub fn over(ranks: Arc<dyn Ranks>) -> Self {
        Gradients { ranks: Some(ranks), ..Gradients::default() }
    }

    /// Removes all gradients and keeps their buffers.
    pub(crate) fn clear(&mut self) {
        for dense in &mut self.dense {
            dense.is_set = false;
        }
        self.sparse.clear();
    }

    /// Returns the gradient of a parameter that is not a table, if it was used.
    pub fn dense(&self, id: ParameterId) -> Option<&[f32]> {
        self.dense.get(id.index()).filter(|dense| dense.is_set).map(|dense| dense.data.as_slice())
    }

    /// Returns the table rows that were used: table, row index and gradient, in order.
    pub fn sparse(&self) -> impl Iterator<Item = (ParameterId, usize, &[f32])> {
        self.sparse.iter().map(|(&(id, row), gradient)| (id, row, gradient.as_slice()))
    }

    /// Replaces all gradients by the sum over the tapes of all shards, after their backward passes.
    ///
    /// A weight's gradient is one product per shard, added in the order of the shards, so the result does not depend
    /// on the number of threads.
    ///
    /// Over several ranks, each has tapes of some shards, those of a rank before those of the next, and all ranks get the same sum. It is
    /// computed in the same order as on one rank, so it is the same to the last bit.
    pub fn collect(&mut self, parameters: &Parameters, tapes: &[Tape]) {
        self.clear();
        self.dense.resize_with(parameters.ids().count(), DenseGradient::default);
        if let Some(ranks) = self.ranks.clone() {
            return self.collect_over(&*ranks, parameters, tapes);
        }
        for tape in tapes {
            self.merge(parameters, tape.gradients());
        }
        let used: BTreeSet<ParameterId> = tapes.iter().flat_map(Tape::used_weights).collect();
        let mut weights: Vec<(ParameterId, &mut DenseGradient)> =
            parameters.ids().zip(&mut self.dense).filter(|(id, _)| used.contains(id)).collect();
        // Largest first: otherwise one thread could start the largest product when the others are done.
        weights.sort_by_key(|(id, _)| std::cmp::Reverse(parameters.value(*id).data().len()));
        weights
            .into_par_iter()
            .with_max_len(1)
            .for_each(|(id, dense)| dense.add_products(parameters, tapes, id));
    }

    /// Adds `inputsᵀ × outputs`, the gradient of a weight with the shape `rows` × `columns`.
    pub(crate) fn add_product(
        &mut self,
        id: ParameterId,
        inputs: View<'_>,
        outputs: View<'_>,
        (rows, columns): (usize, usize),
    ) {
        let (data, add) = self.dense_mut(id, rows * columns);
        gemm(ViewMut::of(data, rows, columns), add, inputs.transposed(), outputs);
    }

    /// Adds to the gradient of a parameter that is not a table.
    pub(crate) fn add(&mut self, id: ParameterId, gradient: &[f32]) {
        let (data, add) = self.dense_mut(id, gradient.len());
        if add {
            for (sum, value) in data.iter_mut().zip(gradient) {
                *sum += value;
            }
        } else {
            data.copy_from_slice(gradient);
        }
    }

    /// Adds to the gradient of a table row.
    pub(crate) fn add_row(&mut self, id: ParameterId, row: usize, gradient: &[f32]) {
        let sum = self.sparse.entry((id, row)).or_insert_with(|| vec![0.0; gradient.len()]);
        for (sum, value) in sum.iter_mut().zip(gradient) {
            *sum += value;
        }
    }

    /// Adds the sum of all rows of `gradient`: the gradient of a bias.
    pub(crate) fn add_row_sum(&mut self, bias: ParameterId, gradient: &Matrix) {
        let mut sum = vec![0.0; gradient.columns()];
        for row in 0..gradient.rows() {
            crate::kernels::add_assign(&mut sum, gradient.row(row));
        }
        self.add(bias, &sum);
    }

    /// Returns the elements of a gradient, and whether the caller must add to them rather than overwrite them.
    fn dense_mut(&mut self, id: ParameterId, len: usize) -> (&mut [f32], bool) {
        if self.dense.len() <= id.index() {
            self.dense.resize_with(id.index() + 1, DenseGradient::default);
        }
        self.dense[id.index()].data_mut(len)
    }

    /// Adds other gradients.
    fn merge(&mut self, parameters: &Parameters, other: &Gradients) {
        for id in parameters.ids() {
            if let Some(gradient) = other.dense(id) {
                self.add(id, gradient);
            }
        }
        for (id, row, gradient) in other.sparse() {
            self.add_row(id, row, gradient);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Init, Random};

    #[test]
    fn gradients_of_all_shards_are_added_and_those_of_an_earlier_step_are_gone() {
        let mut parameters = Parameters::default();
        let weight = parameters.add("weight", 2, 1, Init::Constant(1.0));
        let bias = parameters.add("bias", 1, 1, Init::Constant(0.0));
        let unused = parameters.add("unused", 2, 2, Init::Constant(1.0));
        let table = parameters.add_table("table", Matrix::zeros(3, 2));
        let tape_of = |rows: &[u32], gradient: f32| {
            let mut tape = Tape::new(Random::new(0));
            let x = tape.embedding(&parameters, table, rows);
            let ones = tape.input(Matrix::new(rows.len(), 2, vec![1.0; 2 * rows.len()]));
            let x = tape.add(x, ones);
            let y = tape.linear(&parameters, x, weight, Some(bias));
            tape.backward(&parameters, y, Matrix::new(rows.len(), 1, vec![gradient; rows.len()]));
            tape
        };
        let mut gradients = Gradients::default();
        gradients.collect(&parameters, &[tape_of(&[2], 5.0)]);
        gradients.collect(&parameters, &[tape_of(&[0, 1], 1.0), tape_of(&[1], 10.0)]);
        assert_eq!(gradients.dense(weight), Some(&[12.0, 12.0][..]));
        assert_eq!(gradients.dense(bias), Some(&[12.0][..]));
        assert_eq!(gradients.dense(unused), None);
        let rows: Vec<_> = gradients.sparse().collect();
        assert_eq!(rows, [(table, 0, &[1.0, 1.0][..]), (table, 1, &[11.0, 11.0])]);
    }
}
