//! Fused layers with their gradients, for small models on a CPU.
//!
//! Training a parser of a few million parameters on sentences of ten words consists of many small operations, and
//! general-purpose engines spend most of their time between them. The key decisions here:
//!
//! - **Few, large operations.** A layer is one entry on the [`Tape`]: relation-aware attention, a whole LSTM
//!   sequence, a masked softmax with its loss. Forward and backward pass are next to each other in one file.
//! - **Weight gradients last.** The backward pass only records which inputs and which output gradients belong to a
//!   weight. At its end, each weight's gradient is *one* matrix product over all rows of all uses (for a recurrence:
//!   over all time steps).
//! - **No padding.** Sequences of different lengths are stored one after another as rows; attention and recurrences
//!   are told where each sequence starts.
//! - **Parallel over shards, not inside operations.** A batch is split into a fixed number of shards, each with its
//!   own tape. Their gradients are added weight by weight in a fixed order, so results do not depend on the number
//!   of threads, to the last bit.
//!
//! *Architecture invariant:* knows nothing about language. Every operation has a gradient check. The only randomness
//! is [`Random`], whose numbers depend on a seed and a position alone.
//!
//! ```
//! use xpr_nn::{Gradients, Matrix, Parameters, Random, Tape};
//!
//! let mut parameters = Parameters::new(Random::new(0));
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
mod average;
mod backward;
mod buffers;
mod gradients;
mod half;
mod kernels;
pub mod layers;
mod matrix;
mod panels;
mod parameters;
mod ranks;
mod tape;

pub use adam::{Adam, AdamState, Schedule};
pub use average::ParameterAverage;
pub use gradients::Gradients;
pub use half::{half_to_single, single_to_half};
pub use matrix::{Matrix, View, ViewMut, gemm, total_flops};
pub use parameters::{Init, ParameterId, Parameters};
pub use ranks::{Ranks, ThreadRank, any_rank};
pub use tape::{Mark, Tape, Var};
pub use xpr_random::Random;
