//! Element by element: `x + y`, `max(x, 0)`, `tanh x`, and columns put together or taken apart.

use super::Operation;
use crate::kernels::{add_assign, tanh, vectorized};
use crate::tape::Backward;
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
    /// `max(x, 0)`
    pub(crate) fn relu_in_place(x: &mut [f32]) {
        for x in x {
            *x = x.max(0.0);
        }
    }
}

vectorized! {
    pub(crate) fn tanh_in_place(x: &mut [f32]) {
        for x in x {
            *x = tanh(*x);
        }
    }
}

struct Add(Var, Var);
struct Relu(Var);
struct Tanh(Var);
struct ConcatColumns(Vec<Var>);
struct Columns(Var, usize);

impl Tape {
    /// `x + y`
    pub fn add(&mut self, left: Var, right: Var) -> Var {
        let (rows, columns) = (self.value(left).rows(), self.value(left).columns());
        let mut sum = self.space(rows, columns);
        add_into(self.value(left).data(), self.value(right).data(), sum.data_mut());
        self.push(sum, Add(left, right))
    }

    /// `max(x, 0)`
    pub fn relu(&mut self, input: Var) -> Var {
        let mut output = self.copy(input);
        relu_in_place(output.data_mut());
        self.push(output, Relu(input))
    }

    /// `tanh x`
    pub fn tanh(&mut self, input: Var) -> Var {
        let mut output = self.copy(input);
        tanh_in_place(output.data_mut());
        self.push(output, Tanh(input))
    }

    /// Side by side.
    pub fn concat_columns(&mut self, parts: &[Var]) -> Var {
        let rows = self.value(parts[0]).rows();
        let columns = parts.iter().map(|&part| self.value(part).columns()).sum();
        let mut output = self.space(rows, columns);
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

    /// Some of the columns, from `start` on.
    pub fn columns(&mut self, input: Var, start: usize, count: usize) -> Var {
        let rows = self.value(input).rows();
        let mut output = self.space(rows, count);
        for row in 0..rows {
            output.row_mut(row).copy_from_slice(&self.value(input).row(row)[start..start + count]);
        }
        self.push(output, Columns(input, start))
    }

    pub(crate) fn copy(&mut self, input: Var) -> Matrix {
        let (rows, columns) = (self.value(input).rows(), self.value(input).columns());
        let mut copy = self.space(rows, columns);
        copy.data_mut().copy_from_slice(self.value(input).data());
        copy
    }
}

impl Operation for Add {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        let mut copy = back.space(gradient.rows(), gradient.columns());
        copy.data_mut().copy_from_slice(gradient.data());
        back.add(self.0, copy);
        back.add(self.1, gradient);
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
            let mut to_part = back.space(gradient.rows(), columns);
            for row in 0..gradient.rows() {
                to_part.row_mut(row).copy_from_slice(&gradient.row(row)[start..start + columns]);
            }
            start += columns;
            back.add(part, to_part);
        }
        back.release(gradient);
    }
}

impl Operation for Columns {
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
    use super::super::check::{check, random_matrix};
    use crate::Parameters;

    #[test]
    fn gradient() {
        let inputs = [random_matrix(3, 4), random_matrix(3, 4)];
        check(&mut Parameters::default(), &inputs, |tape, _, inputs| {
            let sum = tape.add(inputs[0], inputs[1]);
            let (relu, tanh) = (tape.relu(sum), tape.tanh(sum));
            let all = tape.concat_columns(&[relu, tanh, inputs[1]]);
            let some = tape.columns(all, 2, 7);
            tape.tanh(some)
        });
    }
}
