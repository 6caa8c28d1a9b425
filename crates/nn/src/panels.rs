//! Products of a few rows with a weight.
//!
//! A recurrence multiplies a handful of rows with the same weight in step after step. A general product then spends
//! its time walking down the weight's columns, a page of memory apart. Here the weight is packed once into *panels*
//! of 16 columns, each contiguous; a panel fits into the first-level cache, and six rows of results fit into the
//! registers:
//!
//! ```text
//! y[r, 16p + j] = Σ_k x[r, k] · panel_p[k, j]
//! ```

use crate::Matrix;
#[cfg(target_arch = "x86_64")]
use crate::kernels::has_avx2;
use crate::matrix::count_product;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The number of columns of a panel: two registers of eight.
const WIDTH: usize = 16;
/// The number of rows computed at once: with two registers each, they take twelve of the sixteen registers.
const ROWS: usize = 6;

/// The number of floats in a cache line.
const LINE: usize = 16;
/// The number of floats on the left that are multiplied with all panels before the next ones: half of a second-level
/// cache.
const LEFT: usize = 1 << 16;

/// A matrix packed for products with few rows on the left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    rows: usize,
    columns: usize,
    /// The panels one after another, each in row-major order; the last panel is padded with zeros.
    data: Vec<f32>,
}

/// Returns whether panels are faster than the general product for this many rows on the left. The general product
/// packs the weight again for each use, but uses 512-bit vectors where the CPU has them.
pub(crate) fn are_faster(rows: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return rows <= 32;
    }
    rows > 0
}

/// The panels of a weight, packed on first use by one thread and shared by all.
#[derive(Debug, Default)]
pub(crate) struct PackedWeights {
    panels: OnceLock<Panels>,
    /// The panels of the previous value, whose buffer is reused.
    spare: Mutex<Panels>,
}

impl PackedWeights {
    /// Returns the panels; the first call packs them with `pack`.
    pub(crate) fn get(&self, pack: impl FnOnce(&mut Panels)) -> &Panels {
        self.panels.get_or_init(|| {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let mut panels = std::mem::take(&mut *spare);
            pack(&mut panels);
            panels
        })
    }

    /// Returns whether the panels are packed.
    pub(crate) fn is_packed(&self) -> bool {
        self.panels.get().is_some()
    }

    /// Drops the panels, because the weight is about to change.
    pub(crate) fn invalidate(&mut self) {
        if let Some(panels) = self.panels.take() {
            self.spare = Mutex::new(panels);
        }
    }
}

impl Panels {
    /// Packs a matrix.
    pub(crate) fn pack(&mut self, matrix: &Matrix) {
        self.reshape(matrix.rows(), matrix.columns());
        for (panel, to) in self.data.chunks_exact_mut((WIDTH * self.rows).max(1)).enumerate() {
            let first = panel * WIDTH;
            let width = WIDTH.min(self.columns - first);
            for (row, to) in to.chunks_exact_mut(WIDTH).enumerate() {
                to[..width].copy_from_slice(&matrix.row(row)[first..first + width]);
            }
        }
    }

    /// Packs the transpose of a matrix.
    pub(crate) fn pack_transposed(&mut self, matrix: &Matrix) {
        self.reshape(matrix.columns(), matrix.rows());
        for (panel, to) in self.data.chunks_exact_mut((WIDTH * self.rows).max(1)).enumerate() {
            let first = panel * WIDTH;
            let width = WIDTH.min(self.columns - first);
            // Reads one cache line of each of the panel's columns at a time.
            for (start, to) in to.chunks_mut(LINE * WIDTH).enumerate() {
                let mut block = [[0f32; LINE]; WIDTH];
                let len = to.len() / WIDTH;
                for (column, line) in block[..width].iter_mut().enumerate() {
                    line[..len].copy_from_slice(&matrix.row(first + column)[start * LINE..][..len]);
                }
                for (row, to) in to.chunks_exact_mut(WIDTH).enumerate() {
                    for (to, line) in to.iter_mut().zip(&block) {
                        *to = line[row];
                    }
                }
            }
        }
    }

    fn reshape(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.data.clear();
        self.data.resize(columns.div_ceil(WIDTH) * WIDTH * rows, 0.0);
    }

    /// Computes `y = x × matrix`, with `x` and `y` in row-major order.
    pub(crate) fn multiply(&self, x: &[f32], y: &mut [f32]) {
        self.multiply_with(x, y, multiply_panel);
    }

    /// Computes `y = x × matrix`; `kernel` computes up to six rows with one panel.
    fn multiply_with(
        &self,
        x: &[f32],
        y: &mut [f32],
        kernel: impl Fn(&[f32], &[f32], PanelColumns, &mut [f32]),
    ) {
        count_product(x.len(), self.columns);
        if self.rows == 0 || self.columns == 0 {
            y.fill(0.0);
            return;
        }
        let rows = (LEFT / self.rows / ROWS).max(1) * ROWS;
        for (x, y) in x.chunks(rows * self.rows).zip(y.chunks_mut(rows * self.columns)) {
            for (panel, weights) in self.data.chunks_exact(WIDTH * self.rows).enumerate() {
                let columns = PanelColumns { first: panel * WIDTH, total: self.columns };
                for (x, y) in x.chunks(ROWS * self.rows).zip(y.chunks_mut(ROWS * self.columns)) {
                    kernel(x, weights, columns, y);
                }
            }
        }
    }
}

/// The columns of the result that a panel contributes.
#[derive(Clone, Copy)]
struct PanelColumns {
    first: usize,
    /// The number of columns of the whole result.
    total: usize,
}

/// Multiplies up to six rows with a panel.
fn multiply_panel(x: &[f32], panel: &[f32], columns: PanelColumns, y: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide(x: &[f32], panel: &[f32], columns: PanelColumns, y: &mut [f32]) {
            multiply_rows::<true>(x, panel, columns, y);
        }
        if has_avx2() {
            // SAFETY: the CPU has the features that `wide` was compiled for.
            return unsafe { wide(x, panel, columns, y) };
        }
    }
    multiply_rows::<false>(x, panel, columns, y);
}

/// Multiplies up to six rows with a panel. With `FUSED`, each multiplication and addition is one rounded operation,
/// which is only fast on CPUs that have the instruction.
#[inline(always)]
fn multiply_rows<const FUSED: bool>(x: &[f32], panel: &[f32], columns: PanelColumns, y: &mut [f32]) {
    let depth = panel.len() / WIDTH;
    match x.len() / depth {
        6 => multiply_block::<6, FUSED>(x, panel, columns, y),
        5 => multiply_block::<5, FUSED>(x, panel, columns, y),
        4 => multiply_block::<4, FUSED>(x, panel, columns, y),
        3 => multiply_block::<3, FUSED>(x, panel, columns, y),
        2 => multiply_block::<2, FUSED>(x, panel, columns, y),
        _ => multiply_block::<1, FUSED>(x, panel, columns, y),
    }
}

/// Multiplies `N` rows with a panel; the sums stay in registers.
#[inline(always)]
fn multiply_block<const N: usize, const FUSED: bool>(
    x: &[f32],
    panel: &[f32],
    columns: PanelColumns,
    y: &mut [f32],
) {
    let depth = panel.len() / WIDTH;
    let rows: [&[f32]; N] = std::array::from_fn(|row| &x[row * depth..][..depth]);
    let mut sums = [[0f32; WIDTH]; N];
    for (k, weights) in panel.chunks_exact(WIDTH).enumerate() {
        for (sums, row) in sums.iter_mut().zip(rows) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = if FUSED { row[k].mul_add(*weight, *sum) } else { *sum + row[k] * *weight };
            }
        }
    }
    let width = WIDTH.min(columns.total - columns.first);
    for (row, sums) in sums.iter().enumerate() {
        let y = &mut y[row * columns.total + columns.first..];
        match y.first_chunk_mut() {
            // A copy of constant length compiles to two stores.
            Some(y) if width == WIDTH => *y = *sums,
            _ => y[..width].copy_from_slice(&sums[..width]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm;
    use crate::layers::check::random_matrix;

    fn transposed(matrix: &Matrix) -> Matrix {
        let mut transposed = Matrix::zeros(matrix.columns(), matrix.rows());
        for row in 0..matrix.rows() {
            for column in 0..matrix.columns() {
                transposed.row_mut(column)[row] = matrix.row(row)[column];
            }
        }
        transposed
    }

    /// Both the version that the CPU runs and the portable one, with a weight packed directly and from its transpose.
    #[test]
    fn products_agree_with_the_general_product() {
        for (rows, depth, columns) in [(1, 1, 1), (6, 5, 16), (7, 33, 40), (13, 64, 15), (16, 100, 128)] {
            let (x, weight) = (random_matrix(rows, depth), random_matrix(depth, columns));
            let mut expected = Matrix::zeros(rows, columns);
            gemm(expected.view_mut(), false, x.view(), weight.view());
            let (mut packed, mut from_transpose) = (Panels::default(), Panels::default());
            packed.pack(&weight);
            from_transpose.pack_transposed(&transposed(&weight));
            assert_eq!(packed.data, from_transpose.data);
            let mut y = vec![9.0; rows * columns];
            let mut portable = vec![9.0; rows * columns];
            packed.multiply(x.data(), &mut y);
            packed.multiply_with(x.data(), &mut portable, multiply_rows::<false>);
            for found in [y, portable] {
                for (found, expected) in found.iter().zip(expected.data()) {
                    assert!((found - expected).abs() <= 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
                }
            }
        }
    }
}
