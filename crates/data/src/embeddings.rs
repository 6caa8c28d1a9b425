//! Word vectors, in the text format of GloVe: each line has a word and its numbers, separated by spaces.

use crate::packed_vectors::PACKED_ENDING;
use crate::{DataError, LineError, text_file, write_output_with};
use rustc_hash::FxHashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Word vectors, in the order of their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// The words, in the order of the file.
    pub words: Vec<String>,
    /// The vector of each word.
    pub vectors: FxHashMap<String, Vec<f32>>,
    /// The size of every vector.
    pub size: usize,
}

impl Embeddings {
    /// Reads a file: in the text format of GloVe or, if its name ends in `.safetensors`, in 8 bits.
    ///
    /// # Errors
    /// If the file cannot be read or is in another format, if a line is not a word and as many numbers as the first line has, or if there are no
    /// lines.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        if path.extension().is_some_and(|ending| ending == PACKED_ENDING) {
            return Embeddings::open_packed(path);
        }
        Embeddings::read(&text_file::read(path)?).map_err(DataError::in_file(path))
    }

    /// Reads the text of such a file. If a word occurs twice, its first vector counts.
    ///
    /// # Errors
    /// As [`Embeddings::open`].
    pub fn read(text: &str) -> Result<Self, LineError> {
        let mut embeddings = Embeddings::default();
        for (index, line) in text.lines().enumerate() {
            let error = |message: String| LineError { line: index + 1, message };
            let mut fields = line.split(' ');
            let Some(word) = fields.next().filter(|word| !word.is_empty()) else {
                return Err(error(
                    "there is no word; expected a word and its numbers, spaces between".into(),
                ));
            };
            let vector: Vec<f32> = fields
                .map(|field| match field.parse() {
                    Ok(number) if f32::is_finite(number) => Ok(number),
                    _ => Err(error(format!("`{field}` is not a number"))),
                })
                .collect::<Result<_, _>>()?;
            if index == 0 {
                embeddings.size = vector.len();
            }
            if vector.len() != embeddings.size || vector.is_empty() {
                let message = format!("{} numbers, but the first line has {}", vector.len(), embeddings.size);
                return Err(error(message));
            }
            if !embeddings.vectors.contains_key(word) {
                embeddings.words.push(word.to_owned());
                embeddings.vectors.insert(word.to_owned(), vector);
            }
        }
        if embeddings.words.is_empty() {
            return Err(LineError { line: 1, message: "there are no word vectors".into() });
        }
        Ok(embeddings)
    }

    /// Writes words and their vectors as such a file, completely or not at all. Numbers are rounded to five decimals.
    ///
    /// # Errors
    /// If the file cannot be written; an earlier version of it is then unchanged.
    pub fn write<'a>(
        path: &Path,
        vectors: impl IntoIterator<Item = (&'a str, &'a [f32])>,
    ) -> Result<(), DataError> {
        let written = write_output_with(path, |file| {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            for (word, vector) in vectors {
                file.write_all(word.as_bytes())?;
                for number in vector {
                    write!(file, " {number:.5}")?;
                }
                file.write_all(b"\n")?;
            }
            file.flush()
        });
        written.map_err(|source| DataError::File { path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.txt");
        Embeddings::write(&path, [("the", &[1.0, -2.5][..]), ("é", &[0.123_456_78, 1e-9])]).unwrap();
        let embeddings = Embeddings::open(&path).unwrap();
        assert_eq!(embeddings.words, ["the", "é"]);
        assert_eq!(embeddings.vectors["the"], [1.0, -2.5]);
        assert_eq!(embeddings.vectors["é"], [0.12346, 0.0]);
        let error = Embeddings::write(&folder.path().join("no/vectors.txt"), []).unwrap_err().to_string();
        assert!(error.contains("vectors.txt: "), "{error}");
    }

    #[test]
    fn vectors_are_read_and_errors_name_the_line() {
        let embeddings = Embeddings::read("the 1 -2.5\nof 3 4e-1\n").unwrap();
        assert_eq!((embeddings.size, embeddings.words.len()), (2, 2));
        assert_eq!(embeddings.vectors["of"], [3.0, 0.4]);
        let cases = [
            ("", "line 1: there are no word vectors"),
            ("a 1 2\nb 1", "line 2: 1 numbers, but the first line has 2"),
            ("a 1 x", "line 1: `x` is not a number"),
            ("a 1 inf", "line 1: `inf` is not a number"),
            ("a 1\n 2", "line 2: there is no word; expected a word and its numbers, spaces between"),
            ("a", "line 1: 0 numbers, but the first line has 0"),
        ];
        for (text, expected) in cases {
            assert_eq!(Embeddings::read(text).unwrap_err().to_string(), expected);
        }
    }
}
