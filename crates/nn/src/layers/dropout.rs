//! `y = 0` with probability p, else `y = x / (1 − p)`, element by element.

use super::Operation;
use crate::backward::Backward;
use crate::kernels::vectorized;
use crate::{Matrix, Random, Tape, Var};

struct Dropout {
    input: Var,
    /// The factor of each element: 0 or 1 / (1 − p).
    mask: Var,
}

vectorized! {
    /// Multiplies each element with 0 or 1 / (1 − p), chosen by a hash of key and position. The hash has 32 bits, so
    /// that it is computed for eight elements at once.
    fn drop_elements(data: &mut [f32], mask: &mut [f32], key: u64, probability: f32) {
        let threshold = (f64::from(probability) * 4_294_967_296.0) as u32;
        let scale = 1.0 / (1.0 - probability);
        let (low, high) = (key as u32, (key >> 32) as u32);
        for (position, (x, mask)) in data.iter_mut().zip(mask).enumerate() {
            let mut h = (position as u32).wrapping_mul(0x9E37_79B1) ^ low;
            h = (h ^ (h >> 15)).wrapping_mul(0x85EB_CA77);
            h = (h ^ (h >> 13)).wrapping_add(high).wrapping_mul(0xC2B2_AE3D);
            h ^= h >> 16;
            *mask = if h >= threshold { scale } else { 0.0 };
            *x *= *mask;
        }
    }
}

impl Tape {
    /// Sets each element to 0 with this probability and scales the others up, so that the mean stays the same.
    /// Returns `input` itself if the tape is not for training.
    pub fn dropout(&mut self, input: Var, probability: f32) -> Var {
        if !self.is_training() || probability <= 0.0 {
            return input;
        }
        let key = self.random().bits(0);
        let mut output = self.copy(input);
        let mut mask = self.buffer(1, output.data().len());
        drop_elements(output.data_mut(), mask.data_mut(), key, probability);
        let mask = self.push_leaf(mask);
        self.push(output, Dropout { input, mask })
    }

    /// Drops elements as [`Tape::dropout`] does, but rows with the same key lose the same elements (variational dropout).
    /// The masks are drawn from `random` instead of the tape, so operations with the same `random` share them.
    pub fn shared_dropout(&mut self, input: Var, probability: f32, random: Random, keys: &[u32]) -> Var {
        if !self.is_training() || probability <= 0.0 {
            return input;
        }
        let mut output = self.copy(input);
        let columns = output.columns();
        let mut mask = self.buffer(1, output.data().len());
        let rows = output.data_mut().chunks_exact_mut(columns).zip(mask.data_mut().chunks_exact_mut(columns));
        for ((row, mask), &key) in rows.zip(keys) {
            drop_elements(row, mask, random.bits(u64::from(key)), probability);
        }
        let mask = self.push_leaf(mask);
        self.push(output, Dropout { input, mask })
    }
}

impl Operation for Dropout {
    fn backward(&self, back: &mut Backward<'_>, _: Var, mut gradient: Matrix) {
        for (gradient, mask) in gradient.data_mut().iter_mut().zip(back.value(self.mask).data()) {
            *gradient *= mask;
        }
        back.add(self.input, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_input_gradients, random_matrix};
    use crate::{Matrix, Random, Tape};

    #[test]
    fn gradient_matches_difference_quotients() {
        check_input_gradients(&[random_matrix(3, 5)], |tape, inputs| {
            let dropped = tape.dropout(inputs[0], 0.4);
            tape.tanh(dropped)
        });
    }

    #[test]
    fn gradient_of_shared_masks_matches_difference_quotients() {
        check_input_gradients(&[random_matrix(4, 5)], |tape, inputs| {
            let dropped = tape.shared_dropout(inputs[0], 0.4, Random::new(2), &[3, 0, 3, 1]);
            tape.tanh(dropped)
        });
    }

    #[test]
    fn rows_with_the_same_key_lose_the_same_elements() {
        let mut tape = Tape::new(Random::new(3));
        let input = tape.input(Matrix::new(3, 64, vec![1.0; 192]));
        let first = tape.shared_dropout(input, 0.25, Random::new(7), &[0, 5, 0]);
        let second = tape.shared_dropout(input, 0.25, Random::new(7), &[5, 5, 5]);
        let row = |output, row| tape.value(output).row(row).to_vec();
        assert_eq!(row(first, 0), row(first, 2));
        assert_ne!(row(first, 0), row(first, 1));
        assert_eq!(row(first, 1), row(second, 0), "the masks do not depend on the operation");
        assert!(row(first, 0).contains(&0.0));
    }

    #[test]
    fn the_right_share_is_dropped_and_the_mean_stays_the_same() {
        let mut tape = Tape::new(Random::new(3));
        let input = tape.input(Matrix::new(100, 100, vec![1.0; 10_000]));
        let output = tape.dropout(input, 0.25);
        let data = tape.value(output).data();
        let dropped = data.iter().filter(|x| **x == 0.0).count();
        assert!((2_300..2_700).contains(&dropped), "{dropped}");
        assert!((data.iter().sum::<f32>() / 10_000.0 - 1.0).abs() < 0.03);
        tape.reset(Random::new(3), false);
        let input = tape.input(random_matrix(1, 1));
        assert_eq!(tape.dropout(input, 0.25), input);
    }
}
