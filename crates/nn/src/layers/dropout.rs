//! Each element 0 with probability p, else divided by 1 − p.

use super::Operation;
use crate::tape::Backward;
use crate::{Matrix, Tape, Var};

struct Dropout {
    input: Var,
    /// What each element was multiplied with.
    mask: Vec<f32>,
}

impl Tape {
    /// Drops elements while training.
    pub fn dropout(&mut self, input: Var, probability: f32) -> Var {
        if !self.is_training() || probability <= 0.0 {
            return input;
        }
        let random = self.random();
        let threshold = (f64::from(probability) * 65_536.0) as u64;
        let scale = 1.0 / (1.0 - probability);
        let mut output = self.copy(input);
        let mut mask = vec![0.0; output.data().len()];
        // Four elements share 64 random bits.
        for (position, (mask, output)) in mask.chunks_mut(4).zip(output.data_mut().chunks_mut(4)).enumerate()
        {
            let bits = random.bits(position as u64);
            for (lane, (mask, output)) in mask.iter_mut().zip(output).enumerate() {
                let kept = (bits >> (16 * lane)) & 0xFFFF >= threshold;
                *mask = if kept { scale } else { 0.0 };
                *output *= *mask;
            }
        }
        self.push(output, Dropout { input, mask })
    }
}

impl Operation for Dropout {
    fn backward(&self, back: &mut Backward<'_>, _: Var, mut gradient: Matrix) {
        for (gradient, mask) in gradient.data_mut().iter_mut().zip(&self.mask) {
            *gradient *= mask;
        }
        back.add(self.input, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check, random_matrix};
    use crate::{Matrix, Parameters, Random, Tape};

    #[test]
    fn gradient() {
        check(&mut Parameters::default(), &[random_matrix(3, 5)], |tape, _, inputs| {
            let dropped = tape.dropout(inputs[0], 0.4);
            tape.tanh(dropped)
        });
    }

    #[test]
    fn the_share_is_right_and_the_mean_is_kept() {
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
