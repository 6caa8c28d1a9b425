//! Errors of model files.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error of a folder that is not a model this crate can run.
#[derive(Debug, Error)]
pub enum SentenceError {
    /// A file is missing or cannot be read.
    #[error("{path}: {source}; the folder of a model has config.json, tokenizer.json and model.safetensors")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is not in the expected format.
    #[error("{path}: {message}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong and what was expected.
        message: String,
    },
    /// The model, or a part of it, is of a kind that this crate does not have.
    #[error("{path}: {setting} is `{found}`, and only `{supported}` is supported")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The setting in the file, such as `model_type`.
        setting: &'static str,
        /// Its value in the file.
        found: String,
        /// The value that is supported.
        supported: &'static str,
    },
    /// A tensor is missing.
    #[error("{path}: there is no tensor `{name}`")]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The name of the tensor.
        name: String,
    },
    /// A tensor has the wrong shape.
    #[error("{path}: the tensor `{name}` has the shape {found:?}, but {expected:?} follows from config.json")]
    Shape {
        /// The file.
        path: PathBuf,
        /// The name of the tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The shape that the settings of the model imply.
        expected: Vec<usize>,
    },
}
