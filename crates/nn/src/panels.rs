//! Products of a few rows with a weight.
//!
//! A recurrence multiplies a handful of rows with the same weight step after step. A general product then spends its time
//! walking down the weight's columns, a page apart. Here the weight is laid out once in *panels* of 16 columns, each
//! contiguous; a panel fits the first cache, and six rows of results fit the registers:
//!
//! ```text
//! y[r, 16p + j] = Σ_k x[r, k] · panel_p[k, j]
//! ```

use crate::Matrix;
use crate::matrix::count;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Columns of a panel: two registers of eight.
const WIDTH: usize = 16;
/// Rows computed at once: with two registers each, twelve of sixteen.
const ROWS: usize = 6;

/// Numbers in a line of the cache.
const LINE: usize = 16;
/// Numbers of the left side that are multiplied with all panels before the next are looked at: half of a second cache.
const LEFT: usize = 1 << 16;

/// A matrix laid out for products with few rows on its left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    rows: usize,
    columns: usize,
    /// For each panel its rows, one behind the other; the last panel is filled up with zeros.
    data: Vec<f32>,
}

/// Whether products with so many rows on the left are taken with panels. The general product lays a weight out anew for each
/// use, but it has 512-bit vectors where the CPU has them.
pub(crate) fn pay(rows: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return rows <= 32;
    }
    rows > 0
}

/// The panels of a value that changes now and then: laid out when they are first asked for, by one thread for all.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    panels: OnceLock<Panels>,
    /// Those of the value before, for their space.
    spare: Mutex<Panels>,
}

impl Kept {
    /// The panels, laid out by `fill` if they are not.
    pub(crate) fn get(&self, fill: impl FnOnce(&mut Panels)) -> &Panels {
        self.panels.get_or_init(|| {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let mut panels = std::mem::take(&mut *spare);
            fill(&mut panels);
            panels
        })
    }

    /// Whether they are there.
    pub(crate) fn is_laid_out(&self) -> bool {
        self.panels.get().is_some()
    }

    /// Forgets them: the value is about to change.
    pub(crate) fn forget(&mut self) {
        if let Some(panels) = self.panels.take() {
            self.spare = Mutex::new(panels);
        }
    }
}

impl Panels {
    /// Lays out a matrix.
    pub(crate) fn fill(&mut self, matrix: &Matrix) {
        self.reshape(matrix.rows(), matrix.columns());
        for (panel, to) in self.data.chunks_exact_mut((WIDTH * self.rows).max(1)).enumerate() {
            let first = panel * WIDTH;
            let width = WIDTH.min(self.columns - first);
            for (row, to) in to.chunks_exact_mut(WIDTH).enumerate() {
                to[..width].copy_from_slice(&matrix.row(row)[first..first + width]);
            }
        }
    }

    /// Lays out a matrix with its rows and columns exchanged.
    pub(crate) fn fill_turned(&mut self, matrix: &Matrix) {
        self.reshape(matrix.columns(), matrix.rows());
        for (panel, to) in self.data.chunks_exact_mut((WIDTH * self.rows).max(1)).enumerate() {
            let first = panel * WIDTH;
            let width = WIDTH.min(self.columns - first);
            // A line of the cache of each of the panel's columns at a time.
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

    /// `y = x × matrix`, where `x` and `y` lie row by row.
    pub(crate) fn multiply(&self, x: &[f32], y: &mut [f32]) {
        count(x.len(), self.columns);
        if self.rows == 0 || self.columns == 0 {
            y.fill(0.0);
            return;
        }
        let rows = (LEFT / self.rows / ROWS).max(1) * ROWS;
        for (x, y) in x.chunks(rows * self.rows).zip(y.chunks_mut(rows * self.columns)) {
            for (panel, weights) in self.data.chunks_exact(WIDTH * self.rows).enumerate() {
                let place = (panel * WIDTH, self.columns);
                for (x, y) in x.chunks(ROWS * self.rows).zip(y.chunks_mut(ROWS * self.columns)) {
                    product(x, weights, place, y);
                }
            }
        }
    }
}

/// Up to six rows times a panel.
fn product(x: &[f32], panel: &[f32], place: (usize, usize), y: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide(x: &[f32], panel: &[f32], place: (usize, usize), y: &mut [f32]) {
            of_rows::<true>(x, panel, place, y);
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has what the function was compiled for.
            return unsafe { wide(x, panel, place, y) };
        }
    }
    of_rows::<false>(x, panel, place, y);
}

/// `FUSED` where the CPU multiplies and adds in one instruction.
#[inline(always)]
fn of_rows<const FUSED: bool>(x: &[f32], panel: &[f32], place: (usize, usize), y: &mut [f32]) {
    let depth = panel.len() / WIDTH;
    match x.len() / depth {
        6 => block::<6, FUSED>(x, panel, place, y),
        5 => block::<5, FUSED>(x, panel, place, y),
        4 => block::<4, FUSED>(x, panel, place, y),
        3 => block::<3, FUSED>(x, panel, place, y),
        2 => block::<2, FUSED>(x, panel, place, y),
        _ => block::<1, FUSED>(x, panel, place, y),
    }
}

#[inline(always)]
fn block<const N: usize, const FUSED: bool>(
    x: &[f32],
    panel: &[f32],
    (first, columns): (usize, usize),
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
    let width = WIDTH.min(columns - first);
    for (row, sums) in sums.iter().enumerate() {
        let y = &mut y[row * columns + first..];
        match y.first_chunk_mut() {
            // Of a known length: two stores.
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

    #[test]
    fn agrees_with_the_general_product() {
        for (rows, depth, columns) in [(1, 1, 1), (6, 5, 16), (7, 33, 40), (13, 64, 15), (16, 100, 128)] {
            let (x, weight) = (random_matrix(rows, depth), random_matrix(depth, columns));
            let mut expected = Matrix::zeros(rows, columns);
            gemm(expected.view_mut(), false, x.view(), weight.view());
            let mut turned = Matrix::zeros(columns, depth);
            for row in 0..depth {
                for column in 0..columns {
                    turned.row_mut(column)[row] = weight.row(row)[column];
                }
            }
            let mut panels = Panels::default();
            for upright in [true, false] {
                if upright {
                    panels.fill(&weight);
                } else {
                    panels.fill_turned(&turned);
                }
                let mut y = vec![9.0; rows * columns];
                panels.multiply(x.data(), &mut y);
                for (found, expected) in y.iter().zip(expected.data()) {
                    assert!((found - expected).abs() <= 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
                }
            }
        }
    }
}
