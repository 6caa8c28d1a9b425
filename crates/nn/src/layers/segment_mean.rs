//! `y_i = mean of x_j over the rows j of segment i`.

use super::{Operation, Segment};
use crate::backward::Backward;
use crate::kernels::add_scaled;
use crate::{Matrix, Tape, Var};

struct SegmentMean {
    input: Var,
    segments: Vec<Segment>,
}

impl Tape {
    /// Returns the mean of the rows of each segment: `[segments, columns]`. No segment may be empty.
    pub fn segment_mean(&mut self, input: Var, segments: &[Segment]) -> Var {
        let mut output = self.buffer(segments.len(), self.value(input).columns());
        output.data_mut().fill(0.0);
        for (row, segment) in segments.iter().enumerate() {
            for index in 0..segment.len {
                let from = self.value(input).row(segment.start + index);
                add_scaled(output.row_mut(row), 1.0 / segment.len as f32, from);
            }
        }
        self.push(output, SegmentMean { input, segments: segments.to_vec() })
    }
}

impl Operation for SegmentMean {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let sum = back.gradient_mut(self.input);
        for (row, segment) in self.segments.iter().enumerate() {
            for index in 0..segment.len {
                add_scaled(sum.row_mut(segment.start + index), 1.0 / segment.len as f32, gradient.row(row));
            }
        }
        back.release(gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};
    use super::*;

    #[test]
    fn gradient_matches_difference_quotients() {
        let segments = [Segment { start: 1, len: 3 }, Segment { start: 0, len: 1 }];
        check_input_gradients(&[random_matrix(4, 3)], |tape, inputs| tape.segment_mean(inputs[0], &segments));
    }
}
