//! Words and their vectors.

use rustc_hash::FxHashMap;
use xpr_nn::{Matrix, Random};

/// The word that stands for all words outside of the vocabulary.
pub(crate) const UNKNOWN_WORD: &str = "<unknown>";

/// The words that have their own vector. All other words share the vector of the unknown word.
///
/// A word's id is the row of its vector in the table of word vectors, so the same vocabulary must be used to make a
/// model and its questions.
///
/// ```
/// use xpr_parser::Vocabulary;
///
/// let vocabulary = Vocabulary::new(["city", "river", "city"].map(str::to_owned));
/// assert_eq!(vocabulary.words(), ["<unknown>", "city", "river"]);
/// assert_eq!(vocabulary.id("river"), 2);
/// assert_eq!(vocabulary.id("lake"), Vocabulary::UNKNOWN);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    words: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Vocabulary {
    /// The id of the unknown word.
    pub const UNKNOWN: u32 = 0;

    /// Returns the vocabulary of these words, with ids in their order. Repetitions are ignored.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let mut vocabulary = Vocabulary { words: vec![UNKNOWN_WORD.to_owned()], ids: FxHashMap::default() };
        for word in words {
            let id = vocabulary.words.len() as u32;
            if !vocabulary.ids.contains_key(&word) && word != UNKNOWN_WORD {
                vocabulary.ids.insert(word.clone(), id);
                vocabulary.words.push(word);
            }
        }
        vocabulary
    }

    /// Returns all words in the order of their ids; the first is the unknown word.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the id of a word, or [`Vocabulary::UNKNOWN`].
    pub fn id(&self, word: &str) -> u32 {
        self.ids.get(word).copied().unwrap_or(Vocabulary::UNKNOWN)
    }

    /// Returns whether a word has its own vector.
    pub fn knows(&self, word: &str) -> bool {
        self.ids.contains_key(word)
    }

    /// Returns the table of word vectors, a row for each id. Words that are not in `vectors` get small random vectors;
    /// each row has its own random stream.
    ///
    /// # Panics
    /// Panics if a vector of `vectors` does not have `size` elements.
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
