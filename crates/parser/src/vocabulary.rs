//! Words and their vectors.

use rustc_hash::FxHashMap;
use xpr_nn::{Matrix, Random};

/// The words that have a vector of their own; all others share one.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    words: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Vocabulary {
    /// The id of all words that are not listed.
    pub const UNKNOWN: u32 = 0;

    /// With these words, in order; a word that comes again keeps its first place.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let mut vocabulary = Vocabulary { words: vec!["<unknown>".to_owned()], ids: FxHashMap::default() };
        for word in words {
            let id = vocabulary.words.len() as u32;
            if !vocabulary.ids.contains_key(&word) && word != "<unknown>" {
                vocabulary.ids.insert(word.clone(), id);
                vocabulary.words.push(word);
            }
        }
        vocabulary
    }

    /// All words; the first stands for those that are not listed.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The id of a word.
    pub fn id(&self, word: &str) -> u32 {
        self.ids.get(word).copied().unwrap_or(Vocabulary::UNKNOWN)
    }

    /// Whether a word has a vector of its own.
    pub fn knows(&self, word: &str) -> bool {
        self.ids.contains_key(word)
    }

    /// A table of vectors: the given ones, small random ones for words that have none.
    pub fn table(&self, size: usize, vectors: &FxHashMap<String, Vec<f32>>, random: Random) -> Matrix {
        let mut table = Matrix::zeros(self.words.len(), size);
        for (row, word) in self.words.iter().enumerate() {
            let random = random.stream(row as u64);
            match vectors.get(word) {
                Some(vector) => table.row_mut(row).copy_from_slice(vector),
                None => {
                    for (index, x) in table.row_mut(row).iter_mut().enumerate() {
                        *x = 0.1 * random.normal(index as u64) as f32;
                    }
                }
            }
        }
        table
    }
}
