//! What is learned, and its gradients.

use crate::panels::{self, Kept, Panels};
use crate::{Matrix, Random, Tape, View, ViewMut, gemm};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A parameter: its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterId(usize);

impl ParameterId {
    /// The index among all parameters, in order of addition.
    pub fn index(self) -> usize {
        self.0
    }
}

/// How a parameter begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Every element alike.
    Constant(f32),
    /// Uniform within ±√(6 / (rows + columns)).
    Xavier,
    /// Normal with this deviation.
    Normal(f32),
}

#[derive(Debug)]
struct Parameter {
    name: String,
    value: Matrix,
    /// Whether only the rows that were used have gradients.
    sparse: bool,
    /// The value laid out for products with few rows.
    upright: Kept,
    /// The same with rows and columns exchanged, for the way back.
    turned: Kept,
}

impl Parameter {
    fn new(name: &str, value: Matrix, sparse: bool) -> Self {
        let (upright, turned) = (Kept::default(), Kept::default());
        Parameter { name: name.to_owned(), value, sparse, upright, turned }
    }

    /// The value, to be changed.
    fn change(&mut self) -> &mut Matrix {
        self.upright.forget();
        self.turned.forget();
        &mut self.value
    }

    fn upright(&self) -> &Panels {
        self.upright.get(|panels| panels.fill(&self.value))
    }

    fn turned(&self) -> &Panels {
        self.turned.get(|panels| panels.fill_turned(&self.value))
    }
}

/// Everything that is learned, by name.
#[derive(Debug, Default)]
pub struct Parameters {
    all: Vec<Parameter>,
}

impl Parameters {
    /// Adds a parameter; random ones are drawn by [`Parameters::initialize`]'s rule with seed 0 until that is called.
    pub fn add(&mut self, name: &str, rows: usize, columns: usize, init: Init) -> ParameterId {
        let random = Random::new(0).stream(self.all.len() as u64);
        let value = initial(rows, columns, init, random);
        self.all.push(Parameter::new(name, value, false));
        ParameterId(self.all.len() - 1)
    }

    /// Adds a table of which each step uses a few rows.
    pub fn add_table(&mut self, name: &str, value: Matrix) -> ParameterId {
        self.all.push(Parameter::new(name, value, true));
        ParameterId(self.all.len() - 1)
    }

    /// Draws a parameter anew.
    pub fn initialize(&mut self, id: ParameterId, init: Init, random: Random) {
        let value = self.all[id.0].change();
        *value = initial(value.rows(), value.columns(), init, random.stream(id.0 as u64));
    }

    /// All parameters.
    pub fn ids(&self) -> impl Iterator<Item = ParameterId> + use<> {
        (0..self.all.len()).map(ParameterId)
    }

    /// The name of a parameter.
    pub fn name(&self, id: ParameterId) -> &str {
        &self.all[id.0].name
    }

    /// Whether it is a table of which only used rows have gradients.
    pub fn is_sparse(&self, id: ParameterId) -> bool {
        self.all[id.0].sparse
    }

    /// The value of a parameter.
    pub fn value(&self, id: ParameterId) -> &Matrix {
        &self.all[id.0].value
    }

    /// The value of a parameter.
    pub fn value_mut(&mut self, id: ParameterId) -> &mut Matrix {
        self.all[id.0].change()
    }

    /// `y = x W`, where `x` and `y` lie row by row.
    pub(crate) fn multiply(&self, x: &[f32], weight: ParameterId, y: &mut [f32]) {
        let parameter = &self.all[weight.0];
        let (depth, columns) = (parameter.value.rows(), parameter.value.columns());
        let rows = y.len() / columns.max(1);
        if panels::pay(rows) {
            parameter.upright().multiply(x, y);
        } else {
            gemm(ViewMut::of(y, rows, columns), false, View::of(x, rows, depth), parameter.value.view());
        }
    }

    /// `dx = dy Wᵀ`, where `dy` and `dx` lie row by row.
    pub(crate) fn multiply_turned(&self, dy: &[f32], weight: ParameterId, dx: &mut [f32]) {
        let parameter = &self.all[weight.0];
        let (columns, depth) = (parameter.value.rows(), parameter.value.columns());
        let rows = dx.len() / columns.max(1);
        if panels::pay(rows) {
            parameter.turned().multiply(dy, dx);
        } else {
            let turned = parameter.value.view().transposed();
            gemm(ViewMut::of(dx, rows, columns), false, View::of(dy, rows, depth), turned);
        }
    }

    /// Lays out every weight for products, in parallel, so that no shard waits for another; for the way back too if there will be
    /// one.
    pub fn prepare(&self, back: bool) {
        let is_ready =
            |weight: &Parameter| weight.upright.is_laid_out() && (!back || weight.turned.is_laid_out());
        let mut weights: Vec<&Parameter> = self
            .all
            .iter()
            .filter(|parameter| !parameter.sparse && parameter.value.rows() > 1 && !is_ready(parameter))
            .collect();
        weights.sort_by_key(|weight| std::cmp::Reverse(weight.value.data().len()));
        weights.into_par_iter().with_max_len(1).for_each(|weight| {
            weight.upright();
            if back {
                weight.turned();
            }
        });
    }

    /// Every parameter with whether it is a table, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (ParameterId, bool, &mut Matrix)> {
        self.all
            .iter_mut()
            .enumerate()
            .map(|(index, parameter)| (ParameterId(index), parameter.sparse, parameter.change()))
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.all.iter().map(|parameter| parameter.value.data().len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn initial(rows: usize, columns: usize, init: Init, random: Random) -> Matrix {
    let bound = (6.0 / (rows + columns) as f64).sqrt();
    let element = |index: u64| match init {
        Init::Constant(value) => value,
        Init::Xavier => ((2.0 * random.uniform(index) - 1.0) * bound) as f32,
        Init::Normal(deviation) => random.normal(index) as f32 * deviation,
    };
    Matrix::new(rows, columns, (0..(rows * columns) as u64).map(element).collect())
}

/// The gradients of a step.
///
/// A parameter that was not used has none. Buffers are kept between steps.
#[derive(Debug, Default)]
pub struct Gradients {
    dense: Vec<Dense>,
    /// Rows of tables that were used, in order.
    sparse: BTreeMap<(ParameterId, usize), Vec<f32>>,
}

#[derive(Debug, Default)]
struct Dense {
    data: Vec<f32>,
    is_set: bool,
}

impl Dense {
    /// Its space, and whether something is in it already.
    fn space(&mut self, len: usize) -> (&mut [f32], bool) {
        self.data.resize(len, 0.0);
        let add = std::mem::replace(&mut self.is_set, true);
        (&mut self.data, add)
    }
}

impl Gradients {
    /// Forgets all gradients, keeping their space.
    pub(crate) fn clear(&mut self) {
        for dense in &mut self.dense {
            dense.is_set = false;
        }
        self.sparse.clear();
    }

    /// The gradient of a parameter that is not a table.
    pub fn dense(&self, id: ParameterId) -> Option<&[f32]> {
        self.dense.get(id.0).filter(|dense| dense.is_set).map(|dense| dense.data.as_slice())
    }

    /// The rows of tables that have gradients.
    pub fn sparse(&self) -> impl Iterator<Item = (ParameterId, usize, &[f32])> {
        self.sparse.iter().map(|(&(id, row), gradient)| (id, row, gradient.as_slice()))
    }

    /// Sums what the ways back through the tapes of all shards brought, in their order: the same bits at any number of
    /// threads. The gradient of a weight is one product a shard, all added up in one place.
    pub fn collect(&mut self, parameters: &Parameters, tapes: &[Tape]) {
        self.clear();
        for tape in tapes {
            self.merge(tape.gradients());
        }
        self.dense.resize_with(parameters.all.len(), Dense::default);
        let met: BTreeSet<ParameterId> = tapes.iter().flat_map(Tape::weights).collect();
        let mut weights: Vec<(ParameterId, &mut Dense)> = self
            .dense
            .iter_mut()
            .enumerate()
            .map(|(index, dense)| (ParameterId(index), dense))
            .filter(|(id, _)| met.contains(id))
            .collect();
        // The largest first, so that no thread is left with one at the end.
        weights.sort_by_key(|(id, _)| std::cmp::Reverse(parameters.value(*id).data().len()));
        weights.into_par_iter().with_max_len(1).for_each(|(id, dense)| {
            let (rows, columns) = (parameters.value(id).rows(), parameters.value(id).columns());
            for (inputs, outputs) in tapes.iter().filter_map(|tape| tape.factors(id)) {
                let (data, add) = dense.space(rows * columns);
                gemm(ViewMut::of(data, rows, columns), add, inputs.transposed(), outputs);
            }
        });
    }

    /// Adds the product of transposed inputs and output gradients: the gradient of a weight.
    pub(crate) fn add_product(
        &mut self,
        id: ParameterId,
        inputs: View<'_>,
        outputs: View<'_>,
        size: (usize, usize),
    ) {
        let (data, add) = self.space(id, size.0 * size.1);
        gemm(ViewMut::of(data, size.0, size.1), add, inputs.transposed(), outputs);
    }

    /// Adds to a gradient that is not a table's.
    pub(crate) fn add(&mut self, id: ParameterId, gradient: &[f32]) {
        let (data, add) = self.space(id, gradient.len());
        if add {
            for (sum, value) in data.iter_mut().zip(gradient) {
                *sum += value;
            }
        } else {
            data.copy_from_slice(gradient);
        }
    }

    /// Adds to the gradient of a row of a table.
    pub(crate) fn add_row(&mut self, id: ParameterId, row: usize, gradient: &[f32]) {
        let sum = self.sparse.entry((id, row)).or_insert_with(|| vec![0.0; gradient.len()]);
        for (sum, value) in sum.iter_mut().zip(gradient) {
            *sum += value;
        }
    }

    /// The space of a gradient, and whether something is in it already.
    fn space(&mut self, id: ParameterId, len: usize) -> (&mut [f32], bool) {
        if self.dense.len() <= id.0 {
            self.dense.resize_with(id.0 + 1, Dense::default);
        }
        self.dense[id.0].space(len)
    }

    /// Adds other gradients.
    fn merge(&mut self, other: &Gradients) {
        for (index, dense) in other.dense.iter().enumerate() {
            if dense.is_set {
                self.add(ParameterId(index), &dense.data);
            }
        }
        for (id, row, gradient) in other.sparse() {
            self.add_row(id, row, gradient);
        }
    }
}
