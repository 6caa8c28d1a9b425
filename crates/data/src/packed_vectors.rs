//! Word vectors in 8 bits, as a safetensors file: a fifth of the text format, and read in milliseconds.
//!
//! Each vector has its own scale, so the error of a number is at most 1/254 of the largest number of its vector.

use crate::{DataError, Embeddings};
use rustc_hash::FxHashMap;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use std::path::Path;
use thiserror::Error;

/// The ending of a file of word vectors in 8 bits.
pub(crate) const PACKED_ENDING: &str = "safetensors";
/// The largest number of a vector becomes this one.
const LARGEST: f32 = 127.0;

/// An error in a file of word vectors in 8 bits.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not word vectors in 8 bits, or damaged ones: {0}")]
pub struct PackedVectorsError(String);

impl Embeddings {
    /// Returns the content of a file with these vectors, rounded to 8 bits.
    pub fn to_packed(&self) -> Vec<u8> {
        let (mut numbers, mut scales) = (Vec::new(), Vec::new());
        for word in &self.words {
            let vector = &self.vectors[word];
            let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
            let scale = largest / LARGEST;
            let inverse = if scale > 0.0 { scale.recip() } else { 0.0 };
            // A conversion to `i8` saturates.
            numbers.extend(vector.iter().map(|x| (x * inverse).round_ties_even() as i8 as u8));
            scales.extend(scale.to_le_bytes());
        }
        let count = self.words.len();
        let view = |dtype, shape, bytes| {
            TensorView::new(dtype, shape, bytes).expect("the bytes are those of the shape")
        };
        let tensors = [
            ("vectors", view(Dtype::I8, vec![count, self.size], &numbers)),
            ("scales", view(Dtype::F32, vec![count], &scales)),
        ];
        // Only one entry: the order of several would differ between equal files.
        let metadata = HashMap::from([("words".to_owned(), self.words.join("\n"))]);
        safetensors::serialize(tensors, Some(metadata)).expect("names are unique and shapes fit")
    }

    /// Reads the content of a file that [`Embeddings::to_packed`] returned.
    ///
    /// # Errors
    /// If it is not such a file.
    pub fn from_packed(content: &[u8]) -> Result<Self, PackedVectorsError> {
        let error = |message: &str| PackedVectorsError(message.to_owned());
        let failed = |failed: safetensors::SafeTensorError| PackedVectorsError(failed.to_string());
        let file = SafeTensors::deserialize(content).map_err(failed)?;
        let (_, metadata) = SafeTensors::read_metadata(content).map_err(failed)?;
        let words = metadata.metadata().as_ref().and_then(|metadata| metadata.get("words"));
        let words: Vec<String> =
            words.ok_or_else(|| error("it has no words"))?.lines().map(str::to_owned).collect();
        let (vectors, scales) =
            (file.tensor("vectors").map_err(failed)?, file.tensor("scales").map_err(failed)?);
        let &[rows, size] = vectors.shape() else { return Err(error("`vectors` has not two dimensions")) };
        if vectors.dtype() != Dtype::I8 || scales.dtype() != Dtype::F32 {
            return Err(error("its numbers have another type"));
        }
        if rows != words.len() || scales.shape() != [rows] || rows == 0 || size == 0 {
            return Err(error("there are not as many vectors and scales as words"));
        }
        let scales = scales.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let mut table = FxHashMap::with_capacity_and_hasher(rows, rustc_hash::FxBuildHasher);
        for ((word, scale), vector) in words.iter().zip(scales).zip(vectors.data().chunks_exact(size)) {
            if !scale.is_finite() {
                return Err(error("a scale is not a finite number"));
            }
            let numbers = vector.iter().map(|byte| f32::from(*byte as i8) * scale).collect();
            if table.insert(word.clone(), numbers).is_some() {
                return Err(PackedVectorsError(format!("the word `{word}` occurs twice")));
            }
        }
        Ok(Embeddings { words, vectors: table, size })
    }

    /// Reads a file of word vectors in 8 bits.
    pub(crate) fn open_packed(path: &Path) -> Result<Self, DataError> {
        let content =
            crate::read_bytes(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
        Embeddings::from_packed(&content)
            .map_err(|error| DataError::Content { path: path.to_owned(), message: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embeddings() -> Embeddings {
        let vectors: [(&str, [f32; 3]); 3] =
            [("the", [0.5, -0.25, 0.001]), ("é", [0.0, 0.0, 0.0]), ("of", [-3.0, 2.999, 1e-9])];
        Embeddings {
            words: vectors.iter().map(|(word, _)| (*word).to_owned()).collect(),
            vectors: vectors.iter().map(|(word, vector)| ((*word).to_owned(), vector.to_vec())).collect(),
            size: 3,
        }
    }

    #[test]
    fn vectors_are_read_as_they_were_rounded() {
        let exact = embeddings();
        let rounded = Embeddings::from_packed(&exact.to_packed()).unwrap();
        assert_eq!((&rounded.words, rounded.size), (&exact.words, 3));
        for word in &exact.words {
            let largest = exact.vectors[word].iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
            for (exact, rounded) in exact.vectors[word].iter().zip(&rounded.vectors[word]) {
                assert!((exact - rounded).abs() <= largest / 253.9, "{exact} became {rounded}");
            }
        }
        assert_eq!(
            Embeddings::from_packed(&rounded.to_packed()).unwrap(),
            rounded,
            "rounding twice changes nothing"
        );
    }

    #[test]
    fn a_file_in_8_bits_is_opened_by_its_ending_and_damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.safetensors");
        let content = embeddings().to_packed();
        std::fs::write(&path, &content).unwrap();
        assert_eq!(Embeddings::open(&path).unwrap(), Embeddings::from_packed(&content).unwrap());
        for damaged in [&content[..content.len() - 1], b"", b"the 1 2\n", &[0xff; 100]] {
            std::fs::write(&path, damaged).unwrap();
            let error = Embeddings::open(&path).unwrap_err().to_string();
            assert!(error.contains("vectors.safetensors: not word vectors in 8 bits"), "{error}");
        }
        let mut twice = embeddings();
        twice.words[1] = "the".to_owned();
        let error = Embeddings::from_packed(&twice.to_packed()).unwrap_err().to_string();
        assert!(error.contains("the word `the` occurs twice"), "{error}");
    }
}
