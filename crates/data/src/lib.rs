//! Reading datasets: examples, splits and lexicons.
//!
//! The key decision is that **bad input is somebody's file, so the error is about that file**: every
//! [`DataError`] names the path, the line where there is one, and what to do. Nothing is skipped
//! silently and nothing panics.
//!
//! - [`Overnight`] is a folder of the benchmark; see its description for the layout.
//! - [`pairs`] and [`questions`] are somebody's own files, with programs and without, in the formats people have them in.
//! - [`Text2Sql`] is a dataset of text2sql-data: GeoQuery and its sisters.
//! - [`Project`] is a folder with an experiment and the files it is about.
//! - [`Embeddings`] are word vectors in GloVe's text format.
//! - [`read_lexicon`] takes the phrases of properties, types and values from SEMPRE's grammar files.
//!
//! ```
//! use xpr_data::read_lexicon;
//!
//! let entries = read_lexicon("(rule $RelNP (start time) (ConstantFn (string start_time)))")?;
//! assert_eq!(entries[0].phrase, "start time");
//! assert_eq!(entries[0].symbol, "( string start_time )");
//! # Ok::<(), xpr_data::LineError>(())
//! ```

mod atomic;
mod embeddings;
mod error;
mod json_list;
mod lexicon;
mod overnight;
pub mod pairs;
mod project;
pub mod questions;
mod records;
mod text2sql;
mod text_file;

pub use atomic::{write_file, write_file_with};
pub use embeddings::Embeddings;
pub use error::{DataError, LineError};
pub use lexicon::{LexiconEntry, read_lexicon};
pub use overnight::{Example, Overnight, Part, read_examples};
pub use pairs::{Pair, Split};
pub use project::{EXPERIMENT, Project, ProjectSettings, relative_path};
pub use text2sql::{Division, Text2Sql};
