//! Element-wise `x + y`, `max(x, 0)` and `tanh x`, and concatenation, slicing and addition of columns.

use super::Operation;
use crate::backward::Backward;
use crate::kernels::{add_assign, tanh, vectorized};
use crate::{Matrix, Tape, Var};

vectorized! {
    /// `sum = x + y`
    fn add_into(x: &[f32], y: &[f32], sum: &mut [f32]) {
        for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
            *sum = x + y;
        }
    }
}

vectorized! {
    /// `x = max(x, 0)`
    fn relu_in_place(x: &mut [f32]) {
        for x in x {
            *x = x.max(0.0);
        }
    }
}

vectorized! {
    /// `x = tanh x`
    fn tanh_in_place(x: &mut [f32]) {
        for x in x {
            *x = tanh(*x);
        }
    }
}

struct Add(Var, Var);
struct Relu(Var);
struct Tanh(Var);
struct ConcatColumns(Vec<Var>);
/// The input and the first column taken from it.
struct SliceColumns(Var, usize);
/// Both inputs, and for each column of the first the column of the second that is added.
struct AddColumns(Var, Var, Vec<Option<u32>>);
/// Both inputs, and for each row which elements of the second are added to which of the first.
struct AddElements(Var, Var, Vec<Vec<(u32, u32)>>);

impl Tape {
    /// Returns `x + y`.
    pub fn add(&mut self, left: Var, right: Var) -> Var {
        let (rows, columns) = (self.value(left).rows(), self.value(left).columns());
        let mut sum = self.buffer(rows, columns);
        add_into(self.value(left).data(), self.value(right).data(), sum.data_mut());
        self.push(sum, Add(left, right))
    }

    /// Returns `max(x, 0)`.
    pub fn relu(&mut self, input: Var) -> Var {
        let mut output = self.copy(input);
        relu_in_place(output.data_mut());
        self.push(output, Relu(input))
    }

    /// Returns `tanh x`.
    pub fn tanh(&mut self, input: Var) -> Var {
        let mut output = self.copy(input);
        tanh_in_place(output.data_mut());
        self.push(output, Tanh(input))
    }

    /// Returns matrices with the same number of rows side by side.
    pub fn concat_columns(&mut self, parts: &[Var]) -> Var {
        let rows = self.value(parts[0]).rows();
        let columns = parts.iter().map(|&part| self.value(part).columns()).sum();
        let mut output = self.buffer(rows, columns);
        let mut start = 0;
        for &part in parts {
            let part = self.value(part);
            for row in 0..rows {
                output.row_mut(row)[start..start + part.columns()].copy_from_slice(part.row(row));
            }
            start += part.columns();
        }
        self.push(output, ConcatColumns(parts.to_vec()))
    }

    /// Returns `count` columns, starting at column `start`.
    pub fn columns(&mut self, input: Var, start: usize, count: usize) -> Var {
        let rows = self.value(input).rows();
        let mut output = self.buffer(rows, count);
        for row in 0..rows {
            output.row_mut(row).copy_from_slice(&self.value(input).row(row)[start..start + count]);
        }
        self.push(output, SliceColumns(input, start))
    }

    /// Returns `x`, with a column of `y` added to each column for which `column_of` names one.
    pub fn add_columns(&mut self, x: Var, y: Var, column_of: &[Option<u32>]) -> Var {
        let mut sum = self.copy(x);
        for row in 0..sum.rows() {
            let y = self.value(y).row(row);
            for (sum, column) in sum.row_mut(row).iter_mut().zip(column_of) {
                *sum += column.map_or(0.0, |column| y[column as usize]);
            }
        }
        self.push(sum, AddColumns(x, y, column_of.to_vec()))
    }

    /// Returns `x`, with columns of `y` added to some of its elements: an entry `(a, b)` of `added` for a row adds the row's
    /// element of `y` in column `b` to that of `x` in column `a`.
    pub fn add_elements(&mut self, x: Var, y: Var, added: Vec<Vec<(u32, u32)>>) -> Var {
        let mut sum = self.copy(x);
        for (row, added) in added.iter().enumerate() {
            let y = self.value(y).row(row);
            for &(to, from) in added {
                sum.row_mut(row)[to as usize] += y[from as usize];
            }
        }
        self.push(sum, AddElements(x, y, added))
    }

    /// Returns a copy of a value that is not on the tape.
    pub(crate) fn copy(&mut self, input: Var) -> Matrix {
        let (rows, columns) = (self.value(input).rows(), self.value(input).columns());
        let mut copy = self.buffer(rows, columns);
        copy.data_mut().copy_from_slice(self.value(input).data());
        copy
    }
}

impl Operation for Add {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let mut copy = back.buffer(gradient.rows(), gradient.columns());
        copy.data_mut().copy_from_slice(gradient.data());
        back.add(self.0, copy);
        back.add(self.1, gradient);
    }
}

impl Operation for AddColumns {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let to_columns = back.gradient_mut(self.1);
        for row in 0..gradient.rows() {
            let to_columns = to_columns.row_mut(row);
            for (gradient, column) in gradient.row(row).iter().zip(&self.2) {
                if let Some(column) = column {
                    to_columns[*column as usize] += gradient;
                }
            }
        }
        back.add(self.0, gradient);
    }
}

impl Operation for AddElements {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let to_elements = back.gradient_mut(self.1);
        for (row, added) in self.2.iter().enumerate() {
            let (to_elements, gradient) = (to_elements.row_mut(row), gradient.row(row));
            for &(to, from) in added {
                to_elements[from as usize] += gradient[to as usize];
            }
        }
        back.add(self.0, gradient);
    }
}

impl Operation for Relu {
    fn backward(&self, back: &mut Backward<'_>, output: Var, mut gradient: Matrix) {
        for (gradient, output) in gradient.data_mut().iter_mut().zip(back.value(output).data()) {
            *gradient = if *output > 0.0 { *gradient } else { 0.0 };
        }
        back.add(self.0, gradient);
    }
}

impl Operation for Tanh {
    fn backward(&self, back: &mut Backward<'_>, output: Var, mut gradient: Matrix) {
        for (gradient, output) in gradient.data_mut().iter_mut().zip(back.value(output).data()) {
            *gradient *= 1.0 - output * output;
        }
        back.add(self.0, gradient);
    }
}

impl Operation for ConcatColumns {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let mut start = 0;
        for &part in &self.0 {
            let columns = back.value(part).columns();
            let mut to_part = back.buffer(gradient.rows(), columns);
            for row in 0..gradient.rows() {
                to_part.row_mut(row).copy_from_slice(&gradient.row(row)[start..start + columns]);
            }
            start += columns;
            back.add(part, to_part);
        }
        back.release(gradient);
    }
}

impl Operation for SliceColumns {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let sum = back.gradient_mut(self.0);
        for row in 0..gradient.rows() {
            add_assign(&mut sum.row_mut(row)[self.1..self.1 + gradient.columns()], gradient.row(row));
        }
        back.release(gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};

    #[test]
    fn gradient_matches_difference_quotients() {
        let inputs = [random_matrix(3, 4), random_matrix(3, 4)];
        check_input_gradients(&inputs, |tape, inputs| {
            let sum = tape.add(inputs[0], inputs[1]);
            let (relu, tanh) = (tape.relu(sum), tape.tanh(sum));
            let all = tape.concat_columns(&[relu, tanh, inputs[1]]);
            let some = tape.columns(all, 2, 7);
            let more =
                tape.add_columns(some, inputs[0], &[None, Some(2), Some(0), None, Some(2), None, None]);
            let added = vec![vec![(0, 2), (6, 2), (6, 0)], vec![], vec![(3, 1), (4, 0)]];
            let more = tape.add_elements(more, inputs[0], added);
            tape.tanh(more)
        });
    }
}
