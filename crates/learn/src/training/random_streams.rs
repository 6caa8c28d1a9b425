//! The independent random streams of a run.

use xpr_nn::Random;

/// A use of random numbers. Each has a stream of its own, so that one use more does not change the numbers of the others. The
/// numbers are part of what determines the bits of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RandomStream {
    /// The order of labeled examples.
    LabeledOrder = 1,
    /// Dropout.
    Dropout = 2,
    /// The order of unlabeled questions.
    UnlabeledOrder = 3,
    /// Vectors of words that have no pretrained one.
    WordVectors = 10,
    /// Initial weights.
    Weights = 11,
}

impl RandomStream {
    /// Returns the generator of this use in a run with the given seed.
    pub(crate) fn of(self, seed: u64) -> Random {
        Random::new(seed).stream(self as u64)
    }
}
