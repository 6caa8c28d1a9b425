//! Rows taken, in any order and any number of times, and rows put one behind the other.

use super::Operation;
use crate::kernels::add_assign;
use crate::tape::Backward;
use crate::{Matrix, Tape, Var};

struct Rows(Var, Vec<u32>);
struct ConcatRows(Vec<Var>);

impl Tape {
    /// The rows with these indices.
    pub fn rows(&mut self, input: Var, indices: &[u32]) -> Var {
        let mut output = self.space(indices.len(), self.value(input).columns());
        for (row, &index) in indices.iter().enumerate() {
            output.row_mut(row).copy_from_slice(self.value(input).row(index as usize));
        }
        self.push(output, Rows(input, indices.to_vec()))
    }

    /// One behind the other.
    pub fn concat_rows(&mut self, parts: &[Var]) -> Var {
        let rows = parts.iter().map(|&part| self.value(part).rows()).sum();
        let mut output = self.space(rows, self.value(parts[0]).columns());
        let mut start = 0;
        for &part in parts {
            let part = self.value(part).data();
            output.data_mut()[start..start + part.len()].copy_from_slice(part);
            start += part.len();
        }
        self.push(output, ConcatRows(parts.to_vec()))
    }
}

impl Operation for Rows {
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
            let mut to_part = back.space(rows, columns);
            to_part.data_mut().copy_from_slice(&gradient.data()[start..start + rows * columns]);
            start += rows * columns;
            back.add(part, to_part);
        }
        back.release(gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, random_matrix};
    use crate::Parameters;

    #[test]
    fn gradient() {
        let inputs = [random_matrix(3, 4), random_matrix(2, 4)];
        check(&mut Parameters::default(), &inputs, |tape, _, inputs| {
            let all = tape.concat_rows(&[inputs[0], inputs[1], inputs[0]]);
            let some = tape.rows(all, &[7, 0, 0, 4]);
            tape.tanh(some)
        });
    }
}
