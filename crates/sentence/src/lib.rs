//! Vectors of words and sentences from a pretrained BERT encoder.
//!
//! [`SentenceEncoder`] reads a model in the format of Hugging Face: `config.json`, `tokenizer.json` and
//! `model.safetensors`. It has the forward pass only. [`word_vectors`] encodes
//! words one by one, for a parser that takes word vectors, and a [`Projection`] reduces the vectors to their principal
//! components.
//!
//! The key decisions:
//!
//! - **Nothing is padded.** The pieces of all texts are rows, one text after another, and attention sees one text at a time.
//! - **Products have a fixed shape.** Rows are multiplied with a weight in blocks of the same size. So a vector depends on
//!   its text alone, to the last bit, and not on the other texts of a batch or on the number of threads.
//!
//! ```no_run
//! use std::path::Path;
//! use xpr_sentence::SentenceEncoder;
//!
//! let encoder = SentenceEncoder::open(Path::new("models/all-MiniLM-L6-v2"))?;
//! let vectors = encoder.encode(&["which films are longer than two hours", "movies of more than 120 minutes"]);
//! assert_eq!((vectors.rows(), vectors.columns()), (2, encoder.size()));
//! # Ok::<(), xpr_sentence::SentenceError>(())
//! ```

mod config;
mod encoder;
mod error;
mod layers;
#[cfg(test)]
mod minilm;
mod projection;
mod weights;
mod word_piece;
mod word_vectors;

pub use encoder::SentenceEncoder;
pub use error::SentenceError;
pub use projection::{Projection, ProjectionError};
pub use word_vectors::{NORM, word_vectors};
