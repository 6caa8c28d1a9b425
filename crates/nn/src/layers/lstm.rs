//! Long short-term memory.
//!
//! ```text
//! i, f, o = σ(…)   g = tanh(…)   of   x W_x + h W_h + b
//! c ← f c + i g    h ← o tanh c
//! ```
//!
//! [`Tape::lstm`] runs whole sequences: what comes from the inputs is one product for all steps, and the sequences
//! step side by side. [`Tape::lstm_cell`] is one step, for recurrences whose input depends on the last output.

use super::Operation;
use crate::kernels::{add_assign, sigmoid, tanh, vectorized};
use crate::tape::{Backward, Source};
use crate::{Matrix, ParameterId, Parameters, Tape, Var};

vectorized! {
    /// One step of one row: gates before activation become gates after it; `h` and `c` are written.
    pub(crate) fn cell(gates: &mut [f32], c_before: &[f32], h: &mut [f32], c: &mut [f32]) {
        let size = h.len();
        let (i, rest) = gates.split_at_mut(size);
        let (f, rest) = rest.split_at_mut(size);
        let (g, o) = rest.split_at_mut(size);
        let (g, o, c_before, c) = (&mut g[..size], &mut o[..size], &c_before[..size], &mut c[..size]);
        for k in 0..size {
            i[k] = sigmoid(i[k]);
            f[k] = sigmoid(f[k]);
            g[k] = tanh(g[k]);
            o[k] = sigmoid(o[k]);
            c[k] = f[k] * c_before[k] + i[k] * g[k];
            h[k] = o[k] * tanh(c[k]);
        }
    }
}

vectorized! {
    /// Back through one step of one row: from the gradients of `h` and `c` to those of the gates before activation;
    /// `dc` becomes the gradient of the `c` before.
    fn cell_back(gates: &[f32], c_before: &[f32], c: &[f32], dh: &[f32], dc: &mut [f32], dgates: &mut [f32]) {
        let size = c.len();
        let (di, rest) = dgates.split_at_mut(size);
        let (df, rest) = rest.split_at_mut(size);
        let (dg, d_o) = rest.split_at_mut(size);
        let (i, f) = (&gates[..size], &gates[size..2 * size]);
        let (g, o) = (&gates[2 * size..3 * size], &gates[3 * size..4 * size]);
        let (d_o, c_before, dh, dc) = (&mut d_o[..size], &c_before[..size], &dh[..size], &mut dc[..size]);
        for k in 0..size {
            let t = tanh(c[k]);
            let dck = dc[k] + dh[k] * o[k] * (1.0 - t * t);
            d_o[k] = dh[k] * t * o[k] * (1.0 - o[k]);
            di[k] = dck * g[k] * i[k] * (1.0 - i[k]);
            df[k] = dck * c_before[k] * f[k] * (1.0 - f[k]);
            dg[k] = dck * i[k] * (1.0 - g[k] * g[k]);
            dc[k] = dck * f[k];
        }
    }
}

/// The parameters of an LSTM.
#[derive(Clone, Copy, Debug)]
pub struct LstmParameters {
    /// From input to gates.
    pub input: ParameterId,
    /// From the last output to gates.
    pub hidden: ParameterId,
    /// Of the gates.
    pub bias: ParameterId,
}

struct Sequences {
    input: Var,
    lstm: LstmParameters,
    /// For each step, the rows of the sequences that have it, and the row each had before.
    steps: Vec<Vec<(u32, Option<u32>)>>,
    /// After activation.
    gates: Var,
    cells: Var,
}

impl Tape {
    /// Runs sequences of rows, each given as the rows it visits in order; longest first. The output of a step stands
    /// in the row of its input; rows that no sequence visits stay 0.
    pub fn lstm(
        &mut self,
        parameters: &Parameters,
        input: Var,
        lstm: LstmParameters,
        sequences: &[Vec<u32>],
    ) -> Var {
        let size = parameters.value(lstm.hidden).rows();
        let rows = self.value(input).rows();
        let steps = steps(sequences);
        let mut gates = self.space(rows, 4 * size);
        super::linear::linear(parameters, self.value(input), lstm.input, Some(lstm.bias), &mut gates);
        let mut output = self.space(rows, size);
        output.data_mut().fill(0.0);
        let mut cells = self.space(rows, size);
        cells.data_mut().fill(0.0);

        let mut before = self.space(sequences.len(), size);
        let mut recurrent = self.space(sequences.len(), 4 * size);
        let zeros = vec![0.0; size];
        let mut c_before = vec![0.0; size];
        for step in &steps {
            let active = step.len();
            if step.iter().any(|(_, before)| before.is_some()) {
                for (index, &(_, row)) in step.iter().enumerate() {
                    let row = row.map_or(zeros.as_slice(), |row| output.row(row as usize));
                    before.row_mut(index).copy_from_slice(row);
                }
                let result = &mut recurrent.data_mut()[..active * 4 * size];
                parameters.multiply(&before.data()[..active * size], lstm.hidden, result);
                for (index, &(row, _)) in step.iter().enumerate() {
                    add_assign(gates.row_mut(row as usize), recurrent.row(index));
                }
            }
            for &(row, row_before) in step {
                match row_before {
                    Some(row_before) => c_before.copy_from_slice(cells.row(row_before as usize)),
                    None => c_before.fill(0.0),
                }
                let row = row as usize;
                cell(gates.row_mut(row), &c_before, output.row_mut(row), cells.row_mut(row));
            }
        }
        for space in [before, recurrent] {
            self.release(space);
        }
        let (gates, cells) = (self.aside(gates), self.aside(cells));
        self.push(output, Sequences { input, lstm, steps, gates, cells })
    }

    /// One step: gates before activation `[rows, 4 size]` and the `c` before `[rows, size]` give `[h, c]` side by side.
    pub fn lstm_cell(&mut self, gates: Var, c_before: Var) -> Var {
        let (rows, size) = (self.value(c_before).rows(), self.value(c_before).columns());
        let mut activated = self.copy(gates);
        let mut output = self.space(rows, 2 * size);
        for row in 0..rows {
            let (h, c) = output.row_mut(row).split_at_mut(size);
            cell(activated.row_mut(row), self.value(c_before).row(row), h, c);
        }
        let activated = self.aside(activated);
        self.push(output, Cell { gates, c_before, activated })
    }
}

/// For each step, the rows that take it and the rows before.
fn steps(sequences: &[Vec<u32>]) -> Vec<Vec<(u32, Option<u32>)>> {
    let longest = sequences.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .map(|step| {
            sequences
                .iter()
                .filter(|sequence| sequence.len() > step)
                .map(|sequence| (sequence[step], step.checked_sub(1).map(|before| sequence[before])))
                .collect()
        })
        .collect()
}

impl Operation for Sequences {
    fn backward(&self, back: &mut Backward<'_>, output: Var, gradient: Matrix) {
        let (output, gates, cells) = (back.value(output), back.value(self.gates), back.value(self.cells));
        let (rows, size) = (output.rows(), output.columns());
        let mut dgates = back.zeros(rows, 4 * size);
        let mut before = back.zeros(rows, size);
        let mut dh = gradient;
        let mut dc = back.zeros(rows, size);
        let zeros = vec![0.0; size];
        for step in self.steps.iter().rev() {
            let active = step.len();
            let mut step_gates = back.space(active, 4 * size);
            for (index, &(row, row_before)) in step.iter().enumerate() {
                let row = row as usize;
                let c_before = row_before.map_or(zeros.as_slice(), |before| cells.row(before as usize));
                cell_back(
                    gates.row(row),
                    c_before,
                    cells.row(row),
                    dh.row(row),
                    dc.row_mut(row),
                    step_gates.row_mut(index),
                );
                dgates.row_mut(row).copy_from_slice(step_gates.row(index));
            }
            if step.iter().any(|(_, before)| before.is_some()) {
                let to_before = back.through(self.lstm.hidden, &step_gates);
                for (index, &(row, row_before)) in step.iter().enumerate() {
                    if let Some(row_before) = row_before.map(|row| row as usize) {
                        add_assign(dh.row_mut(row_before), to_before.row(index));
                        let passed = dc.row(row as usize).to_vec();
                        add_assign(dc.row_mut(row_before), &passed);
                        before.row_mut(row as usize).copy_from_slice(output.row(row_before));
                    }
                }
                back.release(to_before);
            }
            back.release(step_gates);
        }
        back.release(dh);
        back.release(dc);

        let mut to_bias = vec![0.0; 4 * size];
        for row in 0..rows {
            add_assign(&mut to_bias, dgates.row(row));
        }
        back.gradients.add(self.lstm.bias, &to_bias);
        let to_input = back.through(self.lstm.input, &dgates);
        back.add(self.input, to_input);
        let (dgates, before) = (back.keep(dgates), back.keep(before));
        back.weight(self.lstm.input, Source::Value(self.input), dgates);
        back.weight(self.lstm.hidden, before, dgates);
    }
}

struct Cell {
    gates: Var,
    c_before: Var,
    /// The gates after activation.
    activated: Var,
}

impl Operation for Cell {
    fn backward(&self, back: &mut Backward<'_>, output: Var, gradient: Matrix) {
        let (output, c_before) = (back.value(output), back.value(self.c_before));
        let activated = back.value(self.activated);
        let (rows, size) = (c_before.rows(), c_before.columns());
        let mut dgates = back.space(rows, 4 * size);
        let mut dc = back.space(rows, size);
        for row in 0..rows {
            dc.row_mut(row).copy_from_slice(&gradient.row(row)[size..]);
            cell_back(
                activated.row(row),
                c_before.row(row),
                &output.row(row)[size..],
                &gradient.row(row)[..size],
                dc.row_mut(row),
                dgates.row_mut(row),
            );
        }
        back.release(gradient);
        back.add(self.gates, dgates);
        back.add(self.c_before, dc);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, random_matrix};
    use super::*;
    use crate::Init;

    fn parameters(inputs: usize, size: usize) -> (Parameters, LstmParameters) {
        let mut parameters = Parameters::default();
        let lstm = LstmParameters {
            input: parameters.add("input", inputs, 4 * size, Init::Xavier),
            hidden: parameters.add("hidden", size, 4 * size, Init::Xavier),
            bias: parameters.add("bias", 1, 4 * size, Init::Normal(0.5)),
        };
        (parameters, lstm)
    }

    #[test]
    fn gradient_of_sequences() {
        let (mut parameters, lstm) = parameters(3, 2);
        // Two sequences of different length, one backwards, and a row that neither visits.
        let sequences = [vec![0, 1, 2], vec![5, 4]];
        check(&mut parameters, &[random_matrix(6, 3)], |tape, parameters, inputs| {
            tape.lstm(parameters, inputs[0], lstm, &sequences)
        });
    }

    #[test]
    fn gradient_of_a_cell() {
        check(&mut Parameters::default(), &[random_matrix(3, 8), random_matrix(3, 2)], |tape, _, inputs| {
            tape.lstm_cell(inputs[0], inputs[1])
        });
    }

    #[test]
    fn a_sequence_is_its_cells() {
        let (parameters, lstm) = parameters(3, 2);
        let mut tape = Tape::new(crate::Random::new(0));
        let input = tape.input(random_matrix(2, 3));
        let whole = tape.lstm(&parameters, input, lstm, &[vec![0, 1]]);
        let mut c = tape.input(Matrix::zeros(1, 2));
        let mut h = tape.input(Matrix::zeros(1, 2));
        for row in 0..2 {
            let x = tape.rows(input, &[row]);
            let from_x = tape.linear(&parameters, x, lstm.input, Some(lstm.bias));
            let from_h = tape.linear(&parameters, h, lstm.hidden, None);
            let gates = tape.add(from_x, from_h);
            let both = tape.lstm_cell(gates, c);
            (h, c) = (tape.columns(both, 0, 2), tape.columns(both, 2, 2));
            for (x, y) in tape.value(h).data().iter().zip(tape.value(whole).row(row as usize)) {
                assert!((x - y).abs() < 1e-6);
            }
        }
    }
}
