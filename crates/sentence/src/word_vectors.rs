//! Word vectors: each word is a text of its own.

use crate::SentenceEncoder;
use xpr_nn::Matrix;

/// The length of the vectors of [`word_vectors`]. Their elements are then about as large as those of GloVe.
pub const NORM: f32 = 4.0;

/// The number of words that are encoded between two reports of progress. It does not change the result.
const BATCH: usize = 1024;

/// Returns the vector of each word, one per row, scaled to the length [`NORM`]. Each word is encoded as a text of its own.
/// Calls `progress` with the number of words that are done.
pub fn word_vectors(encoder: &SentenceEncoder, words: &[&str], mut progress: impl FnMut(usize)) -> Matrix {
    let mut data = Vec::with_capacity(words.len() * encoder.size());
    let mut done = 0;
    for words in words.chunks(BATCH) {
        let vectors = encoder.encode(words);
        for vector in vectors.data().chunks_exact(encoder.size()) {
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            // A model can give a word a vector of zeros, which has no direction.
            let scale = if norm > 0.0 { NORM / norm } else { 0.0 };
            data.extend(vector.iter().map(|x| x * scale));
        }
        done += words.len();
        progress(done);
    }
    Matrix::new(words.len(), encoder.size(), data)
}
