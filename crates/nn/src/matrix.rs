//! Matrices, row by row, and their product.

use gemm_common::Parallelism;
use std::sync::atomic::{AtomicU64, Ordering};

/// A matrix of `rows` × `columns`, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// All zero.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// With these elements, row by row.
    ///
    /// # Panics
    /// If their number is not `rows` × `columns`.
    pub fn new(rows: usize, columns: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * columns, "a matrix of {rows} × {columns}");
        Matrix { rows, columns, data }
    }

    /// With these rows.
    ///
    /// # Panics
    /// If they differ in length.
    pub fn from_rows(rows: &[&[f32]]) -> Self {
        let columns = rows.first().map_or(0, |row| row.len());
        assert!(rows.iter().all(|row| row.len() == columns), "rows differ in length");
        Matrix { rows: rows.len(), columns, data: rows.concat() }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The elements, row by row.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// The elements, row by row.
    pub fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// A row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.data[index * self.columns..][..self.columns]
    }

    /// A row.
    pub fn row_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.data[index * self.columns..][..self.columns]
    }

    /// Its elements, to be used again.
    pub(crate) fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// The whole matrix.
    pub fn view(&self) -> View<'_> {
        View {
            data: &self.data,
            rows: self.rows,
            columns: self.columns,
            row_stride: self.columns,
            column_stride: 1,
        }
    }

    /// The whole matrix.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut { rows: self.rows, columns: self.columns, row_stride: self.columns, data: &mut self.data }
    }
}

/// A part of a matrix, perhaps transposed, to multiply with.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> View<'a> {
    /// `rows` × `columns` elements lying row by row.
    pub fn of(data: &'a [f32], rows: usize, columns: usize) -> Self {
        View { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The same with rows and columns exchanged.
    pub fn transposed(self) -> Self {
        View {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// Some of the rows and columns, counted from a first of each.
    pub fn part(self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Self {
        let start = row * self.row_stride + column * self.column_stride;
        View { data: &self.data[start.min(self.data.len())..], rows, columns, ..self }
    }
}

/// A part of a matrix to write a product into.
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
}

impl<'a> ViewMut<'a> {
    /// `rows` × `columns` elements lying row by row.
    pub fn of(data: &'a mut [f32], rows: usize, columns: usize) -> Self {
        ViewMut { data, rows, columns, row_stride: columns }
    }

    /// Some of the rows and columns, counted from a first of each.
    pub fn part(self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Self {
        let start = (row * self.row_stride + column).min(self.data.len());
        ViewMut { data: &mut self.data[start..], rows, columns, row_stride: self.row_stride }
    }
}

/// The index behind the last element of a strided matrix.
fn extent(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    if rows == 0 || columns == 0 { 0 } else { (rows - 1) * row_stride + (columns - 1) * column_stride + 1 }
}

/// Floating-point operations of matrix products, on all threads.
static FLOPS: AtomicU64 = AtomicU64::new(0);

/// The floating-point operations of all matrix products of this process so far.
pub fn total_flops() -> u64 {
    FLOPS.load(Ordering::Relaxed)
}

/// Notes a product of so many numbers on the left with so many columns on the right.
pub(crate) fn count(left: usize, columns: usize) {
    FLOPS.fetch_add(2 * (left * columns) as u64, Ordering::Relaxed);
}

/// `result = left × right`, or `result += left × right` if `add`. On one thread.
///
/// # Panics
/// If the shapes do not fit.
#[allow(clippy::needless_pass_by_value, reason = "a view is used up by writing through it")]
pub fn gemm(result: ViewMut<'_>, add: bool, left: View<'_>, right: View<'_>) {
    let (m, n, k) = (result.rows, result.columns, left.columns);
    assert!(left.rows == m && right.columns == n && right.rows == k, "shapes of a product do not fit");
    assert!(extent(m, n, result.row_stride, 1) <= result.data.len());
    assert!(extent(m, k, left.row_stride, left.column_stride) <= left.data.len());
    assert!(extent(k, n, right.row_stride, right.column_stride) <= right.data.len());
    count(m * k, n);
    if m == 0 || n == 0 {
        return;
    }
    // The kernel wants the longer stride of the result last, so it computes `resultᵀ = rightᵀ leftᵀ`, unless the result is
    // a single column.
    let result_strides = (1, result.row_stride as isize);
    let (left, right) = (Operand::new(left), Operand::new(right));
    let (m, n, (column_stride, row_stride), left, right) = match result.row_stride > 1 {
        true => (n, m, (result_strides.1, result_strides.0), right.transposed(), left.transposed()),
        false => (m, n, result_strides, left, right),
    };
    // SAFETY: the three assertions above keep every element that the strides reach inside its slice, and
    // `result` is borrowed mutably, so it overlaps neither operand.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            m,
            n,
            k,
            result.data.as_mut_ptr(),
            column_stride,
            row_stride,
            add,
            left.data,
            left.column_stride,
            left.row_stride,
            right.data,
            right.column_stride,
            right.row_stride,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// An operand as the kernel takes it.
struct Operand {
    data: *const f32,
    column_stride: isize,
    row_stride: isize,
}

impl Operand {
    fn new(view: View<'_>) -> Self {
        Operand {
            data: view.data.as_ptr(),
            column_stride: view.column_stride as isize,
            row_stride: view.row_stride as isize,
        }
    }

    fn transposed(self) -> Self {
        Operand { column_stride: self.row_stride, row_stride: self.column_stride, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_parts_and_transposes() {
        let a = Matrix::from_rows(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
        let mut square = Matrix::zeros(2, 2);
        gemm(square.view_mut(), false, a.view(), a.view().transposed());
        assert_eq!(square.data(), [14.0, 32.0, 32.0, 77.0]);
        // The last two columns of `a`, times themselves, added to the corner.
        let part = a.view().part((1, 1), (1, 2));
        gemm(square.view_mut().part((1, 1), (1, 1)), true, part, part.transposed());
        assert_eq!(square.data(), [14.0, 32.0, 32.0, 138.0]);
        let mut nothing = Matrix::zeros(2, 2);
        gemm(nothing.view_mut(), false, Matrix::zeros(2, 0).view(), Matrix::zeros(0, 2).view());
        assert_eq!(nothing.data(), [0.0; 4]);
    }
}
