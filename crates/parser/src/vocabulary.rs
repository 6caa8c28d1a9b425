//! Words and their vectors.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use xpr_nn::{Matrix, Random};
use xpr_text::stem;

/// The word that stands for all words outside of the vocabulary.
pub(crate) const UNKNOWN_WORD: &str = "<unknown>";

/// The shortest name that is divided into words, and the shortest of these words, in characters.
const SHORTEST_COMPOUND: usize = 5;
const SHORTEST_PART: usize = 3;
/// Shorter words that names often end with.
const SHORT_PARTS: [&str; 2] = ["id", "no"];

/// The words that have their own vector. All other words share the vector of the unknown word.
///
/// A word's id is the row of its vector in the table of word vectors, so the same vocabulary must be used to make a
/// model and its questions. Clones share the words.
///
/// ```
/// use xpr_parser::Vocabulary;
///
/// let vocabulary = Vocabulary::new(["city", "river", "city"].map(str::to_owned));
/// assert_eq!(vocabulary.words(), ["<unknown>", "city", "river"]);
/// assert_eq!(vocabulary.id("river"), 2);
/// assert_eq!(vocabulary.id("lake"), Vocabulary::UNKNOWN);
/// ```
///
/// An open vocabulary is for databases that it was not made for. A word that it does not have gets the vector of a word
/// with the same stem, and a name that it does not have is divided into words that it has:
///
/// ```
/// use xpr_parser::Vocabulary;
///
/// let vocabulary = Vocabulary::open(["river", "airport", "code"].map(str::to_owned));
/// assert_eq!(vocabulary.id("rivers"), vocabulary.id("river"));
/// assert_eq!(vocabulary.parts("airportcode"), ["airport", "code"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary(Arc<Words>);

#[derive(Debug, PartialEq)]
struct Words {
    words: Vec<String>,
    ids: FxHashMap<String, u32>,
    /// In an open vocabulary, the first word of each stem.
    of_stem: Option<FxHashMap<String, u32>>,
}

impl Vocabulary {
    /// The id of the unknown word.
    pub const UNKNOWN: u32 = 0;

    /// Returns the vocabulary of these words, with ids in their order. Repetitions are ignored.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        Vocabulary(Arc::new(Words::new(words)))
    }

    /// Returns the open vocabulary of these words, with ids in their order. More frequent words should come first.
    pub fn open(words: impl IntoIterator<Item = String>) -> Self {
        let mut all = Words::new(words);
        let mut of_stem = FxHashMap::default();
        for (id, word) in (0..).zip(&all.words).skip(1) {
            of_stem.entry(stem(word)).or_insert(id);
        }
        all.of_stem = Some(of_stem);
        Vocabulary(Arc::new(all))
    }

    /// Returns all words in the order of their ids; the first is the unknown word.
    pub fn words(&self) -> &[String] {
        &self.0.words
    }

    /// Returns the id of a word, or [`Vocabulary::UNKNOWN`]. An open vocabulary returns the id of a word with the same stem
    /// before that.
    pub fn id(&self, word: &str) -> u32 {
        let own = self.0.ids.get(word).copied();
        let related = || self.0.of_stem.as_ref()?.get(&stem(word)).copied();
        own.or_else(related).unwrap_or(Vocabulary::UNKNOWN)
    }

    /// Returns whether a word has its own vector.
    pub fn knows(&self, word: &str) -> bool {
        self.0.ids.contains_key(word)
    }

    /// Returns the words that a word of a name consists of. That is the word itself, unless the vocabulary is open and has
    /// no vector for it, but for words that it can be divided into.
    pub fn parts(&self, word: &str) -> Vec<String> {
        let is_known = self.0.of_stem.is_none() || self.id(word) != Vocabulary::UNKNOWN;
        let parts = if is_known { None } else { self.divided(word) };
        parts.unwrap_or_else(|| vec![word.to_owned()])
    }

    /// Returns the division of a word into the fewest known words. Among several, those whose words come first in the
    /// vocabulary have precedence.
    fn divided(&self, word: &str) -> Option<Vec<String>> {
        let ends: Vec<usize> = word.char_indices().map(|(index, _)| index).chain([word.len()]).collect();
        let last = ends.len() - 1;
        if last < SHORTEST_COMPOUND {
            return None;
        }
        // For each prefix, the number of words, the sum of their ids, and where the last of them begins.
        let mut best: Vec<Option<(usize, u64, usize)>> = vec![None; last + 1];
        best[0] = Some((0, 0, 0));
        for end in 1..=last {
            for start in 0..end {
                let part = &word[ends[start]..ends[end]];
                let is_part = end - start >= SHORTEST_PART || SHORT_PARTS.contains(&part);
                if let (true, Some((count, sum, _)), Some(&id)) = (is_part, best[start], self.0.ids.get(part))
                {
                    let division = (count + 1, sum + u64::from(id), start);
                    best[end] = Some(best[end].map_or(division, |other| other.min(division)));
                }
            }
        }
        let mut parts = Vec::new();
        let mut end = last;
        while end > 0 {
            let (_, _, start) = best[end]?;
            parts.push(word[ends[start]..ends[end]].to_owned());
            end = start;
        }
        parts.reverse();
        Some(parts)
    }

    /// Returns the table of word vectors, a row for each id. Words that are not in `vectors` get small random vectors;
    /// each row has its own random stream.
    ///
    /// # Panics
    /// Panics if a vector of `vectors` does not have `size` elements.
    pub fn table(&self, size: usize, vectors: &FxHashMap<String, Vec<f32>>, random: Random) -> Matrix {
        let mut table = Matrix::zeros(self.words().len(), size);
        for (row, word) in self.words().iter().enumerate() {
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

impl Words {
    fn new(words: impl IntoIterator<Item = String>) -> Self {
        let mut all =
            Words { words: vec![UNKNOWN_WORD.to_owned()], ids: FxHashMap::default(), of_stem: None };
        for word in words {
            let id = all.words.len() as u32;
            if !all.ids.contains_key(&word) && word != UNKNOWN_WORD {
                all.ids.insert(word.clone(), id);
                all.words.push(word);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_divided_into_as_few_frequent_words_as_possible() {
        let words = ["id", "name", "air", "port", "airport", "code", "semester", "student", "amen"];
        let vocabulary = Vocabulary::open(words.map(str::to_owned));
        for (word, parts) in [
            ("airportcode", "airport code"),
            ("studentid", "student id"),
            ("portair", "port air"),
            ("airport", "airport"),
            ("semesters", "semesters"), // has the stem of a known word
            ("amenid", "amen id"),
            ("fname", "fname"), // a single letter is no word
            ("flüsse", "flüsse"),
            ("nooo", "nooo"),
        ] {
            assert_eq!(vocabulary.parts(word).join(" "), parts);
        }
        assert_eq!(vocabulary.id("semesters"), vocabulary.id("semester"));
        assert_eq!(vocabulary.id("fname"), Vocabulary::UNKNOWN);
        assert!(!vocabulary.knows("semesters"));
    }

    #[test]
    fn a_vocabulary_that_is_not_open_has_its_words_only() {
        let vocabulary = Vocabulary::new(["airport", "code"].map(str::to_owned));
        assert_eq!(vocabulary.id("airports"), Vocabulary::UNKNOWN);
        assert_eq!(vocabulary.parts("airportcode"), ["airportcode"]);
    }
}
