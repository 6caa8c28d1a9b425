//! The numbers that are learned.

use crate::panels::{self, PackedWeights, Panels};
use crate::{Matrix, Random, View, ViewMut, gemm};
use rayon::prelude::*;

/// Identifies a parameter of [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterId(usize);

impl ParameterId {
    /// Returns the index among all parameters, in the order they were added.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The initial value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Every element has this value.
    Constant(f32),
    /// Elements are drawn uniformly from ±√(6 / (rows + columns)).
    Xavier,
    /// Elements are drawn from a normal distribution with mean 0 and this standard deviation.
    Normal(f32),
}

#[derive(Debug)]
struct Parameter {
    name: String,
    value: Matrix,
    /// Whether only the rows that were used have gradients.
    is_sparse: bool,
    /// The rows that are never updated; empty for none.
    frozen: Vec<bool>,
    /// The value packed for the products of the forward pass.
    packed: PackedWeights,
    /// The transpose packed for the products of the backward pass.
    packed_transpose: PackedWeights,
}

impl Parameter {
    fn new(name: &str, value: Matrix, is_sparse: bool) -> Self {
        let (packed, packed_transpose) = (PackedWeights::default(), PackedWeights::default());
        Parameter { name: name.to_owned(), value, is_sparse, frozen: vec![], packed, packed_transpose }
    }

    fn value_mut(&mut self) -> &mut Matrix {
        self.packed.invalidate();
        self.packed_transpose.invalidate();
        &mut self.value
    }

    fn panels(&self) -> &Panels {
        self.packed.get(|panels| panels.pack(&self.value))
    }

    fn transposed_panels(&self) -> &Panels {
        self.packed_transpose.get(|panels| panels.pack_transposed(&self.value))
    }
}

/// All parameters of a model, by name.
///
/// A parameter's name is also its key in a checkpoint.
#[derive(Debug)]
pub struct Parameters {
    all: Vec<Parameter>,
    /// Draws the initial values: the parameter with index i has stream i.
    random: Random,
}

impl Default for Parameters {
    /// Returns no parameters; initial values will be drawn with seed 0.
    fn default() -> Self {
        Parameters::new(Random::new(0))
    }
}

impl Parameters {
    /// Returns no parameters; initial values will be drawn from `random`.
    pub fn new(random: Random) -> Self {
        Parameters { all: vec![], random }
    }

    /// Adds a parameter.
    pub fn add(&mut self, name: &str, rows: usize, columns: usize, init: Init) -> ParameterId {
        let random = self.random.stream(self.all.len() as u64);
        let value = initial_value(rows, columns, init, random);
        self.all.push(Parameter::new(name, value, false));
        ParameterId(self.all.len() - 1)
    }

    /// Adds a table, such as word vectors, of which a step uses few rows. Only rows in use get gradients and are
    /// updated.
    pub fn add_table(&mut self, name: &str, value: Matrix) -> ParameterId {
        self.all.push(Parameter::new(name, value, true));
        ParameterId(self.all.len() - 1)
    }

    /// Returns the ids of all parameters, in the order they were added.
    pub fn ids(&self) -> impl Iterator<Item = ParameterId> + use<> {
        (0..self.all.len()).map(ParameterId)
    }

    /// Returns the name of a parameter.
    pub fn name(&self, id: ParameterId) -> &str {
        &self.all[id.0].name
    }

    /// Returns whether a parameter was added by [`Parameters::add_table`].
    pub fn is_sparse(&self, id: ParameterId) -> bool {
        self.all[id.0].is_sparse
    }

    /// Freezes rows of a table: they get no gradient and are never updated. `frozen` has an element for each row.
    pub fn freeze_rows(&mut self, table: ParameterId, frozen: Vec<bool>) {
        self.all[table.0].frozen = frozen;
    }

    /// Returns whether rows of a table were frozen.
    pub(crate) fn has_frozen_rows(&self, table: ParameterId) -> bool {
        !self.all[table.0].frozen.is_empty()
    }

    /// Returns whether a row of a table is frozen.
    pub(crate) fn is_frozen(&self, table: ParameterId, row: usize) -> bool {
        self.all[table.0].frozen.get(row).is_some_and(|frozen| *frozen)
    }

    /// Returns the value of a parameter.
    pub fn value(&self, id: ParameterId) -> &Matrix {
        &self.all[id.0].value
    }

    /// Returns the value of a parameter, mutably.
    pub fn value_mut(&mut self, id: ParameterId) -> &mut Matrix {
        self.all[id.0].value_mut()
    }

    /// Computes `y = x W`, with `x` and `y` in row-major order.
    pub(crate) fn multiply(&self, x: &[f32], weight: ParameterId, y: &mut [f32]) {
        let parameter = &self.all[weight.0];
        multiply(x, parameter.value.view(), || parameter.panels(), y);
    }

    /// Computes `dx = dy Wᵀ`, with `dy` and `dx` in row-major order.
    pub(crate) fn multiply_transposed(&self, dy: &[f32], weight: ParameterId, dx: &mut [f32]) {
        let parameter = &self.all[weight.0];
        multiply(dy, parameter.value.view().transposed(), || parameter.transposed_panels(), dx);
    }

    /// Packs every weight for products, in parallel, so that no shard waits for another. With `backward`, also packs
    /// the transposes, which the backward pass needs.
    pub fn prepare(&self, backward: bool) {
        let is_ready = |weight: &Parameter| {
            weight.packed.is_packed() && (!backward || weight.packed_transpose.is_packed())
        };
        let mut weights: Vec<&Parameter> = self
            .all
            .iter()
            .filter(|parameter| !parameter.is_sparse && parameter.value.rows() > 1 && !is_ready(parameter))
            .collect();
        weights.sort_by_key(|weight| std::cmp::Reverse(weight.value.data().len()));
        weights.into_par_iter().with_max_len(1).for_each(|weight| {
            weight.panels();
            if backward {
                weight.transposed_panels();
            }
        });
    }

    /// Returns the id of every parameter, whether it is sparse, and its value, mutably.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = (ParameterId, bool, &mut Matrix)> {
        self.all
            .iter_mut()
            .enumerate()
            .map(|(index, parameter)| (ParameterId(index), parameter.is_sparse, parameter.value_mut()))
    }

    /// Returns the number of learned numbers: the elements of all parameters.
    pub fn len(&self) -> usize {
        self.all.iter().map(|parameter| parameter.value.data().len()).sum()
    }

    /// Returns whether [`Parameters::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Computes `y = x × weight`, with `x` and `y` in row-major order. `panels` returns the packed weight.
fn multiply<'a>(x: &[f32], weight: View<'_>, panels: impl FnOnce() -> &'a Panels, y: &mut [f32]) {
    let rows = y.len() / weight.columns().max(1);
    if panels::are_faster(rows) {
        panels().multiply(x, y);
    } else {
        let (x, y) = (View::of(x, rows, weight.rows()), ViewMut::of(y, rows, weight.columns()));
        gemm(y, false, x, weight);
    }
}

fn initial_value(rows: usize, columns: usize, init: Init, random: Random) -> Matrix {
    let bound = (6.0 / (rows + columns) as f64).sqrt();
    let element = |index: u64| match init {
        Init::Constant(value) => value,
        Init::Xavier => ((2.0 * random.uniform(index) - 1.0) * bound) as f32,
        Init::Normal(deviation) => random.normal(index) as f32 * deviation,
    };
    Matrix::new(rows, columns, (0..(rows * columns) as u64).map(element).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_values_depend_on_the_generator_and_follow_their_distribution() {
        let drawn = |seed| {
            let mut parameters = Parameters::new(Random::new(seed));
            let ids = [
                parameters.add("constant", 1, 5, Init::Constant(0.25)),
                parameters.add("xavier", 60, 90, Init::Xavier),
                parameters.add("normal", 60, 90, Init::Normal(0.1)),
            ];
            ids.map(|id| parameters.value(id).data().to_vec())
        };
        let [constant, xavier, normal] = drawn(1);
        assert_eq!(constant, [0.25; 5]);
        let bound = (6.0f32 / 150.0).sqrt();
        assert!(xavier.iter().all(|x| x.abs() <= bound) && xavier.iter().any(|x| x.abs() > 0.9 * bound));
        let variance = normal.iter().map(|x| x * x).sum::<f32>() / normal.len() as f32;
        assert!((variance.sqrt() - 0.1).abs() < 0.005, "{variance}");

        assert_eq!(drawn(1), [constant.clone(), xavier.clone(), normal.clone()]);
        let [other_constant, other_xavier, other_normal] = drawn(2);
        assert_eq!(constant, other_constant);
        assert!(xavier != other_xavier && normal != other_normal);
    }

    #[test]
    fn a_changed_weight_is_packed_again() {
        let mut parameters = Parameters::default();
        let weight = parameters.add("weight", 2, 1, Init::Constant(1.0));
        let products = |parameters: &Parameters| {
            let (mut y, mut dx) = ([0.0], [0.0; 2]);
            parameters.multiply(&[3.0, 4.0], weight, &mut y);
            parameters.multiply_transposed(&[5.0], weight, &mut dx);
            (y, dx)
        };
        parameters.prepare(true);
        assert_eq!(products(&parameters), ([7.0], [5.0, 5.0]));
        parameters.value_mut(weight).data_mut()[1] = 2.0;
        assert_eq!(products(&parameters), ([11.0], [5.0, 10.0]));
    }
}
