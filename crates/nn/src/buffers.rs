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
        let mut data = buffer.unwrap_or_else(|| Vec::with_capacity(capacity_for(len)));
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

/// Returns the capacity of a new buffer of a length: at most a quarter more. Four capacities for each power of two are few
/// enough that buffers for one length serve for others, and a process that meets ever new lengths soon has all that it needs.
fn capacity_for(len: usize) -> usize {
    len.next_multiple_of((len.next_power_of_two() / 8).max(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ever_new_lengths_soon_need_no_new_buffers() {
        let mut pool = BufferPool::default();
        for len in 1..5000 {
            assert!((len..=len + len / 4 + 16).contains(&capacity_for(len)), "{len}");
            let matrices: Vec<Matrix> = (0..10).map(|_| pool.take(1, len)).collect();
            matrices.into_iter().for_each(|matrix| pool.put(matrix));
        }
        let kept: usize = pool.by_capacity.iter().map(|(capacity, buffers)| capacity * buffers.len()).sum();
        assert!(kept <= 8 * 10 * 5000, "{kept} elements for ten buffers of 5000 at a time");
    }

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
