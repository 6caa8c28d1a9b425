//! The layers, one a file: the formula, forward, backward.

mod dropout;
mod embedding;
mod layer_norm;
mod linear;
mod lstm;
mod memory;
mod pointwise;
mod relation_attention;
mod rows;
mod segment_mean;
mod softmax;

pub use lstm::LstmParameters;
pub use memory::Segment;
pub use relation_attention::Relations;
pub use softmax::{Choice, log_softmax};

use crate::Matrix;
use crate::tape::{Backward, Var};

/// Something on a tape that can be gone back through.
pub(crate) trait Operation: Send + Sync {
    /// Adds to the gradients of what it was computed from, given the gradient of what it computed.
    fn backward(&self, back: &mut Backward<'_>, output: Var, gradient: Matrix);
}

#[cfg(test)]
pub(crate) mod check;
