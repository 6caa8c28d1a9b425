//! Long short-term memory.
//!
//! ```text
//! i, f, o = σ(…)   g = tanh(…)   of   x W_x + h W_h + b
//! c ← f c + i g    h ← o tanh c
//! ```
//!
//! [`Tape::lstm`] runs whole sequences: `x W_x` is one product for all steps, and `h W_h` one product per step for all
//! sequences. [`Tape::lstm_cell`] is one step, for recurrences whose input depends on the previous output.

use super::Operation;
use crate::backward::{Backward, Factor};
use crate::kernels::{add_assign, sigmoid, tanh, vectorized};
use crate::{Matrix, ParameterId, Parameters, Tape, Var};

vectorized! {
    /// Computes one step of one row: activates the gates in place and writes `h` and `c`.
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
    /// Computes the gradients of one step of one row: from those of `h` and `c` to those of the gates before
    /// activation. `dc` becomes the gradient of `c_before`.
    fn cell_backward(gates: &[f32], c_before: &[f32], c: &[f32], dh: &[f32], dc: &mut [f32], dgates: &mut [f32]) {
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
    /// The weight from the input to the gates.
    pub input: ParameterId,
    /// The weight from the previous output to the gates.
    pub hidden: ParameterId,
    /// The bias of the gates.
    pub bias: ParameterId,
}

struct LstmSequences {
    input: Var,
    lstm: LstmParameters,
    /// For each step, the rows that the sequences visit in it, each with the row visited before.
    steps: Vec<Vec<(u32, Option<u32>)>>,
    /// The gates after activation.
    gates: Var,
    /// The values of `c`.
    cells: Var,
}

impl Tape {
    /// Runs an LSTM over sequences of rows. A sequence is a list of row indices in the order it visits them.
    /// Row `i` of the result is the output of the step that visits row `i` of the input, and 0 if no sequence visits
    /// it.
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
        let mut gates = self.buffer(rows, 4 * size);
        super::linear::linear(parameters, self.value(input), lstm.input, Some(lstm.bias), &mut gates);
        let mut output = self.buffer(rows, size);
        output.data_mut().fill(0.0);
        let mut cells = self.buffer(rows, size);
        cells.data_mut().fill(0.0);

        let mut before = self.buffer(sequences.len(), size);
        let mut recurrent = self.buffer(sequences.len(), 4 * size);
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
        self.release(before);
        self.release(recurrent);
        let (gates, cells) = (self.push_leaf(gates), self.push_leaf(cells));
        self.push(output, LstmSequences { input, lstm, steps, gates, cells })
    }

    /// Runs one step. From the gates before activation `[rows, 4 size]` and the previous `c` `[rows, size]`, it returns
    /// the new `h` and `c` side by side: `[rows, 2 size]`.
    pub fn lstm_cell(&mut self, gates: Var, c_before: Var) -> Var {
        let (rows, size) = (self.value(c_before).rows(), self.value(c_before).columns());
        let mut activated = self.copy(gates);
        let mut output = self.buffer(rows, 2 * size);
        for row in 0..rows {
            let (h, c) = output.row_mut(row).split_at_mut(size);
            cell(activated.row_mut(row), self.value(c_before).row(row), h, c);
        }
        let activated = self.push_leaf(activated);
        self.push(output, LstmCell { gates, c_before, activated })
    }
}

/// Returns, for each step, the rows that the sequences visit in it, each with the row visited before.
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

impl Operation for LstmSequences {
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
            let mut step_gates = back.buffer(active, 4 * size);
            for (index, &(row, row_before)) in step.iter().enumerate() {
                let row = row as usize;
                let c_before = row_before.map_or(zeros.as_slice(), |before| cells.row(before as usize));
                cell_backward(
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
                let to_before = back.input_gradient(self.lstm.hidden, &step_gates);
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

        back.gradients.add_row_sum(self.lstm.bias, &dgates);
        let to_input = back.input_gradient(self.lstm.input, &dgates);
        back.add(self.input, to_input);
        let (dgates, before) = (back.store(dgates), back.store(before));
        back.use_weight(self.lstm.input, Factor::Value(self.input), dgates);
        back.use_weight(self.lstm.hidden, before, dgates);
    }
}

struct LstmCell {
    gates: Var,
    c_before: Var,
    /// The gates after activation.
    activated: Var,
}

impl Operation for LstmCell {
    fn backward(&self, back: &mut Backward<'_>, output: Var, gradient: Matrix) {
        let (output, c_before) = (back.value(output), back.value(self.c_before));
        let activated = back.value(self.activated);
        let (rows, size) = (c_before.rows(), c_before.columns());
        let mut dgates = back.buffer(rows, 4 * size);
        let mut dc = back.buffer(rows, size);
        for row in 0..rows {
            dc.row_mut(row).copy_from_slice(&gradient.row(row)[size..]);
            cell_backward(
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
    use super::super::check::{check_gradients, check_input_gradients, random_matrix};
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
    fn gradient_of_sequences_matches_difference_quotients() {
        let (mut parameters, lstm) = parameters(3, 2);
        // Two sequences of different lengths, one backwards; neither visits row 3.
        let sequences = [vec![0, 1, 2], vec![5, 4]];
        check_gradients(&mut parameters, &[random_matrix(6, 3)], |tape, parameters, inputs| {
            tape.lstm(parameters, inputs[0], lstm, &sequences)
        });
    }

    #[test]
    fn gradient_of_a_cell_matches_difference_quotients() {
        check_input_gradients(&[random_matrix(3, 8), random_matrix(3, 2)], |tape, inputs| {
            tape.lstm_cell(inputs[0], inputs[1])
        });
    }

    #[test]
    fn a_sequence_equals_its_cells_one_by_one() {
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
