//! Rows of a table, looked up by index: `y_i = table[index_i]`.

use super::Operation;
use crate::backward::Backward;
use crate::{Matrix, ParameterId, Parameters, Tape, Var};

struct Embedding {
    table: ParameterId,
    indices: Vec<u32>,
}

impl Tape {
    /// Returns the rows of `table` with these indices: `[indices, columns]`.
    pub fn embedding(&mut self, parameters: &Parameters, table: ParameterId, indices: &[u32]) -> Var {
        let value = parameters.value(table);
        let mut output = self.buffer(indices.len(), value.columns());
        for (row, &index) in indices.iter().enumerate() {
            output.row_mut(row).copy_from_slice(value.row(index as usize));
        }
        self.push(output, Embedding { table, indices: indices.to_vec() })
    }
}

impl Operation for Embedding {
    fn backward(&self, back: &mut Backward<'_>, _: Var, gradient: Matrix) {
        if back.parameters.is_sparse(self.table) {
            let rows = self.indices.iter().enumerate();
            for (row, &index) in
                rows.filter(|(_, index)| !back.parameters.is_frozen(self.table, **index as usize))
            {
                back.gradients.add_row(self.table, index as usize, gradient.row(row));
            }
        } else {
            let value = back.parameters.value(self.table);
            let mut sum = back.zeros(value.rows(), value.columns());
            for (row, &index) in self.indices.iter().enumerate() {
                crate::kernels::add_assign(sum.row_mut(index as usize), gradient.row(row));
            }
            back.gradients.add(self.table, sum.data());
            back.release(sum);
        }
        back.release(gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_gradients, random_matrix};
    use crate::{Init, Matrix, Parameters, Random, Tape};

    #[test]
    fn frozen_rows_have_no_gradient() {
        let mut parameters = Parameters::default();
        let table = parameters.add_table("table", random_matrix(3, 2));
        parameters.freeze_rows(table, vec![false, true, false]);
        let mut tape = Tape::new(Random::new(0));
        let rows = tape.embedding(&parameters, table, &[0, 1, 2, 1]);
        tape.backward(&parameters, rows, Matrix::new(4, 2, vec![1.0; 8]));
        let used: Vec<usize> = tape.gradients().sparse().map(|(_, row, _)| row).collect();
        assert_eq!(used, [0, 2]);
    }

    #[test]
    fn gradient_matches_difference_quotients() {
        let mut parameters = Parameters::default();
        let table = parameters.add_table("sparse", random_matrix(4, 3));
        let dense = parameters.add("dense", 4, 3, Init::Normal(1.0));
        check_gradients(&mut parameters, &[], |tape, parameters, _| {
            let one = tape.embedding(parameters, table, &[3, 0, 3]);
            let two = tape.embedding(parameters, dense, &[1, 1, 2]);
            let sum = tape.add(one, two);
            tape.tanh(sum)
        });
    }
}
