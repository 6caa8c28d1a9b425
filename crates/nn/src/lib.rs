//! Fused layers with their gradients, for small models on a CPU.
//!
//! Training a parser of a few million parameters on sentences of ten words is made of many small
//! operations, and general engines spend their time between them. The key decisions here:
//!
//! - **Few, fat operations.** A layer is one entry on the [`Tape`]: relation-aware attention, a whole LSTM
//!   sequence, a masked softmax with its loss. Forward and backward stand side by side in one file.
//! - **Weight gradients last.** The backward pass only notes which inputs met which output gradients; when it is done,
//!   each weight's gradient is *one* matrix product over all rows of all uses (of a recurrence: all time steps).
//! - **No padding.** Sequences of different length lie one behind the other as rows; attention and recurrences know
//!   where each begins.
//! - **Parallel over shards, not inside operations.** A batch is split into a fixed number of shards, each with a tape
//!   of its own; what they bring is added in a fixed order, weight by weight: the bits do not depend on the number of threads.
//!
//! *Architecture invariant:* knows nothing of language. Every operation has a gradient check. No randomness but
//! [`Random`], whose numbers depend on seed and position alone.
//!
//! ```
//! use xpr_nn::{Gradients, Matrix, Parameters, Random, Tape};
//!
//! let mut parameters = Parameters::default();
//! let weight = parameters.add("weight", 2, 1, xpr_nn::Init::Constant(0.5));
//! let mut gradients = Gradients::default();
//! let mut tape = Tape::new(Random::new(0));
//! let input = tape.input(Matrix::from_rows(&[&[1.0, 2.0]]));
//! let output = tape.linear(&parameters, input, weight, None);
//! assert_eq!(tape.value(output).data(), [1.5]);
//! tape.backward(&parameters, output, Matrix::from_rows(&[&[1.0]]));
//! gradients.collect(&parameters, &[tape]);
//! assert_eq!(gradients.dense(weight), Some(&[1.0, 2.0][..]));
//! ```

mod adam;
mod kernels;
pub mod layers;
mod matrix;
mod panels;
mod parameters;
mod tape;

pub use adam::{Adam, AdamState, Schedule};
pub use matrix::{Matrix, View, ViewMut, gemm, total_flops};
pub use parameters::{Gradients, Init, ParameterId, Parameters};
pub use xpr_random::Random;
pub use tape::{Mark, Tape, Var};
