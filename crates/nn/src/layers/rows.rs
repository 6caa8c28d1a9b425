//! Selection of rows, in any order and with repetitions, and concatenation of rows.

use super::Operation;
use crate::backward::Backward;
use crate::kernels::add_assign;
use crate::{Matrix, Tape, Var};

struct SelectRows(Var, Vec<u32>);
struct ConcatRows(Vec<Var>);

impl Tape {
    /// Returns the rows with these indices.
    pub fn rows(&mut self, input: Var, indices: &[u32]) -> Var {
        let mut output = self.buffer(indices.len(), self.value(input).columns());
        for (row, &index) in indices.iter().enumerate() {
            output.row_mut(row).copy_from_slice(self.value(input).row(index as usize));
        }
        self.push(output, SelectRows(input, indices.to_vec()))
    }

    /// Returns the rows of all parts one after another.
    pub fn concat_rows(&mut self, parts: &[Var]) -> Var {
        let rows = parts.iter().map(|&part| self.value(part).rows()).sum();
        let mut output = self.buffer(rows, self.value(parts[0]).columns());
        let mut start = 0;
        for &part in parts {
            let part = self.value(part).data();
            output.data_mut()[start..start + part.len()].copy_from_slice(part);
            start += part.len();
        }
        self.push(output, ConcatRows(parts.to_vec()))
    }
}

impl Operation for SelectRows {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let sum = back.gradient_mut(self.0);
        for (row, &index) in self.1.iter().enumerate() {
            add_assign(sum.row_mut(index as usize), gradient.row(row));
        }
        back.release(gradient);
    }
}

impl Operation for ConcatRows {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let mut start = 0;
        for &part in &self.0 {
            let (rows, columns) = (back.value(part).rows(), gradient.columns());
            let mut to_part = back.buffer(rows, columns);
            to_part.data_mut().copy_from_slice(&gradient.data()[start..start + rows * columns]);
            start += rows * columns;
            back.add(part, to_part);
        }
        back.release(gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};

    #[test]
    fn gradient_matches_difference_quotients() {
        let inputs = [random_matrix(3, 4), random_matrix(2, 4)];
        check_input_gradients(&inputs, |tape, inputs| {
            let all = tape.concat_rows(&[inputs[0], inputs[1], inputs[0]]);
            let some = tape.rows(all, &[7, 0, 0, 4]);
            tape.tanh(some)
        });
    }
}
