//! The layers, one file each: formula, forward pass, backward pass and gradient check.

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

use crate::backward::Backward;
use crate::{Matrix, Var};

/// An operation on a tape.
pub(crate) trait Operation: Send + Sync {
    /// Adds to the gradients of the operation's inputs, given the gradient of its output.
    fn backward(&self, back: &mut Backward<'_>, output: Var, gradient: Matrix);
}

#[cfg(test)]
pub(crate) mod check;
