//! Buffers of a tape, reused from step to step.

use crate::Matrix;
use std::collections::BTreeMap;

/// Unused buffers, by capacity.
#[derive(Default)]
pub(crate) struct BufferPool {
    by_capacity: BTreeMap<usize, Vec<Vec<f32>>>,
}

impl BufferPool {
    /// Returns a matrix with unspecified contents.
    pub(crate) fn take(&mut self, rows: usize, columns: usize) -> Matrix {
        let len = rows * columns;
        // The smallest buffer that is large enough, but not a very large one: a later request may need that.
        let mut fitting = self.by_capacity.range_mut(len..=4 * len + 64);
        let buffer = fitting.find_map(|(_, buffers)| buffers.pop());
        let mut data = buffer.unwrap_or_default();
        data.resize(len, 0.0);
        Matrix::new(rows, columns, data)
    }

    /// Takes a matrix back, so that its buffer can be reused.
    pub(crate) fn put(&mut self, matrix: Matrix) {
        let data = matrix.into_data();
        if data.capacity() > 0 {
            self.by_capacity.entry(data.capacity()).or_default().push(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_returned_buffer_is_reused_unless_it_is_far_too_large() {
        let mut pool = BufferPool::default();
        let matrix = pool.take(10, 100);
        let buffer = matrix.data().as_ptr();
        pool.put(matrix);
        assert_ne!(pool.take(1, 200).data().as_ptr(), buffer, "1000 elements for 200 would be a waste");
        let again = pool.take(30, 30);
        assert_eq!((again.rows(), again.columns(), again.data().as_ptr()), (30, 30, buffer));
    }
}
