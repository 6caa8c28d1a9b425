//! Matrices in row-major order, and their product.

use gemm_common::Parallelism;
use std::sync::atomic::{AtomicU64, Ordering};

/// A matrix of `rows` × `columns` numbers in row-major order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// Returns a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, data: vec![0.0; rows * columns] }
    }

    /// Returns the matrix with these elements in row-major order.
    ///
    /// # Panics
    /// Panics if the number of elements is not `rows` × `columns`.
    pub fn new(rows: usize, columns: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * columns, "a {rows} × {columns} matrix has another number of elements");
        Matrix { rows, columns, data }
    }

    /// Returns the matrix with these rows.
    ///
    /// # Panics
    /// Panics if the rows differ in length.
    pub fn from_rows(rows: &[&[f32]]) -> Self {
        let columns = rows.first().map_or(0, |row| row.len());
        assert!(rows.iter().all(|row| row.len() == columns), "rows differ in length");
        Matrix { rows: rows.len(), columns, data: rows.concat() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the elements in row-major order.
    pub fn data(&self) -> &[f32] {
        &self.data
    }

    /// Returns the elements in row-major order, mutably.
    pub fn data_mut(&mut self) -> &mut [f32] {
        &mut self.data
    }

    /// Returns a row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.data[index * self.columns..][..self.columns]
    }

    /// Returns a row, mutably.
    pub fn row_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.data[index * self.columns..][..self.columns]
    }

    /// Returns the elements, so that their buffer can be reused.
    pub(crate) fn into_data(self) -> Vec<f32> {
        self.data
    }

    /// Returns a view of the whole matrix.
    pub fn view(&self) -> View<'_> {
        View {
            data: &self.data,
            rows: self.rows,
            columns: self.columns,
            row_stride: self.columns,
            column_stride: 1,
        }
    }

    /// Returns a mutable view of the whole matrix.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut { rows: self.rows, columns: self.columns, row_stride: self.columns, data: &mut self.data }
    }
}

/// A read-only view of a block of a matrix, possibly transposed: an operand of [`gemm`].
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> View<'a> {
    /// Returns a view of `rows` × `columns` elements in row-major order.
    pub fn of(data: &'a [f32], rows: usize, columns: usize) -> Self {
        View { data, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the transpose.
    pub fn transposed(self) -> Self {
        View {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// Returns the block of `rows` × `columns` elements whose first element is at (`row`, `column`).
    pub fn block(self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Self {
        let start = row * self.row_stride + column * self.column_stride;
        View { data: &self.data[start.min(self.data.len())..], rows, columns, ..self }
    }
}

/// A mutable view of a block of a matrix: the result of [`gemm`].
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
}

impl<'a> ViewMut<'a> {
    /// Returns a view of `rows` × `columns` elements in row-major order.
    pub fn of(data: &'a mut [f32], rows: usize, columns: usize) -> Self {
        ViewMut { data, rows, columns, row_stride: columns }
    }

    /// Returns the block of `rows` × `columns` elements whose first element is at (`row`, `column`).
    pub fn block(self, (row, rows): (usize, usize), (column, columns): (usize, usize)) -> Self {
        let start = (row * self.row_stride + column).min(self.data.len());
        ViewMut { data: &mut self.data[start..], rows, columns, row_stride: self.row_stride }
    }
}

/// Returns the number of elements from the first to the last element of a strided matrix.
fn extent(rows: usize, columns: usize, row_stride: usize, column_stride: usize) -> usize {
    if rows == 0 || columns == 0 { 0 } else { (rows - 1) * row_stride + (columns - 1) * column_stride + 1 }
}

/// The floating-point operations of matrix products, on all threads.
static FLOPS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of floating-point operations in all matrix products of this process so far.
pub fn total_flops() -> u64 {
    FLOPS.load(Ordering::Relaxed)
}

/// Counts the operations of a product: `left` elements on the left, `columns` columns on the right.
pub(crate) fn count_product(left: usize, columns: usize) {
    FLOPS.fetch_add(2 * (left * columns) as u64, Ordering::Relaxed);
}

/// Computes `result = left × right`, or `result += left × right` if `add`, on one thread.
///
/// # Panics
/// Panics if the shapes do not match.
#[allow(
    clippy::needless_pass_by_value,
    reason = "taking the view by value ends the mutable borrow with the call"
)]
pub fn gemm(result: ViewMut<'_>, add: bool, left: View<'_>, right: View<'_>) {
    let (m, n, k) = (result.rows, result.columns, left.columns);
    assert!(left.rows == m && right.columns == n && right.rows == k, "the shapes of a product do not match");
    assert!(extent(m, n, result.row_stride, 1) <= result.data.len());
    assert!(extent(m, k, left.row_stride, left.column_stride) <= left.data.len());
    assert!(extent(k, n, right.row_stride, right.column_stride) <= right.data.len());
    count_product(m * k, n);
    if m == 0 || n == 0 {
        return;
    }
    // The kernel needs the longer stride of the result last, so it computes `resultᵀ = rightᵀ leftᵀ`, unless the
    // result is a single column.
    let result_strides = (1, result.row_stride as isize);
    let (left, right) = (Operand::new(left), Operand::new(right));
    let (m, n, (column_stride, row_stride), left, right) = match result.row_stride > 1 {
        true => (n, m, (result_strides.1, result_strides.0), right.transposed(), left.transposed()),
        false => (m, n, result_strides, left, right),
    };
    // SAFETY: the three assertions above ensure that every element reached by the strides is inside its slice, and
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

/// An operand in the form the kernel takes.
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
    fn products_of_blocks_and_transposes_are_exact() {
        let a = Matrix::from_rows(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]);
        let mut square = Matrix::zeros(2, 2);
        gemm(square.view_mut(), false, a.view(), a.view().transposed());
        assert_eq!(square.data(), [14.0, 32.0, 32.0, 77.0]);
        // The last two numbers of `a` times their transpose, added to the bottom right corner.
        let last_two = a.view().block((1, 1), (1, 2));
        gemm(square.view_mut().block((1, 1), (1, 1)), true, last_two, last_two.transposed());
        assert_eq!(square.data(), [14.0, 32.0, 32.0, 138.0]);
        let mut nothing = Matrix::zeros(2, 2);
        gemm(nothing.view_mut(), false, Matrix::zeros(2, 0).view(), Matrix::zeros(0, 2).view());
        assert_eq!(nothing.data(), [0.0; 4]);
    }
}
