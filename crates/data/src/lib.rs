//! Reading and writing of files: datasets, splits, lexicons and project folders.
//!
//! The key decision is that **the user can correct a bad file, so every error says where**: a [`DataError`] names the
//! path, the line if there is one, and what to do. Nothing is skipped silently, and nothing panics.
//!
//! - [`Overnight`] is a folder with the Overnight benchmark.
//! - [`Text2Sql`] is a dataset of text2sql-data, such as GeoQuery.
//! - [`labeled`] and [`unlabeled`] read files of questions with and without programs, in several formats.
//! - [`Project`] writes a folder with an experiment and the files it needs.
//! - [`Embeddings`] are word vectors, in the text format of GloVe or in 8 bits.
//! - [`read_lexicon`] reads the phrases of properties, types and values from the grammar files of SEMPRE.
//! - [`read_text`] reads a text file, whatever program wrote it.
//! - [`write_file`] writes a file completely or not at all, and [`write_output`] one that a user named.
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
pub mod feedback;
mod json_list;
pub mod labeled;
mod lexicon;
mod overnight;
mod packed_vectors;
mod project;
mod records;
mod text2sql;
mod text_file;
pub mod unlabeled;

pub use atomic::{
    remove_temporary_files, write_file, write_file_with, write_output, write_output_with, write_private_file,
};
pub use embeddings::Embeddings;
pub use error::{DataError, LineError};
pub use labeled::{LabeledQuestion, Split};
pub use lexicon::{LexiconEntry, read_lexicon};
pub use overnight::{Example, Overnight, OvernightPart, read_examples};
pub use packed_vectors::PackedVectorsError;
pub use project::{
    EXPERIMENT_FILE, Project, ProjectSettings, UnfinishedProject, is_unfinished, relative_path,
};
pub use text_file::{read as read_text, read_bytes, read_utf8, require_regular};
pub use text2sql::{SplitBy, Text2Sql};
pub use unlabeled::UnlabeledQuestion;
