//! Spelling correction.
//!
//! Two words that differ by one letter, or by a swap of two adjacent letters, become equal if the right letter is deleted
//! from each. So every word of the vocabulary is indexed under itself and under each of its deletions, and a misspelt
//! word is corrected by looking up its own deletions instead of comparing it with the whole vocabulary.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use xpr_text::edit_distance;

// These constants decide which misspelt words are corrected, and to what.

/// The fewest characters of a word that is corrected: shorter words have too many neighbours.
const SHORTEST: usize = 5;
/// The fewest characters of a word with up to two mistakes; shorter ones may have one.
const LONG: usize = 8;
/// The most characters of a word that is corrected.
const LONGEST: usize = 24;
/// The most words of the vocabulary that are compared with a misspelt word.
const MAX_COMPARED: usize = 64;
/// The most corrections of a word.
const MAX_CORRECTIONS: usize = 3;

/// A vocabulary, indexed for spelling correction.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    words: Vec<Box<str>>,
    /// The hash of a word or of one of its deletions, and the index of the word; sorted.
    deletions: Vec<(u64, u32)>,
}

impl Spelling {
    /// Indexes a vocabulary.
    pub(super) fn new(words: impl Iterator<Item = Box<str>>) -> Spelling {
        let mut words: Vec<Box<str>> =
            words.filter(|word| (SHORTEST..=LONGEST).contains(&word.chars().count())).collect();
        words.sort_unstable();
        words.dedup();
        let mut deletions = Vec::new();
        for (index, word) in words.iter().enumerate() {
            for_each_deletion(word, |hash| deletions.push((hash, index as u32)));
        }
        deletions.sort_unstable();
        deletions.dedup();
        Spelling { words, deletions }
    }

    /// Returns the words of the vocabulary that a word may be a misspelling of, the nearest first.
    pub(super) fn neighbours(&self, word: &str) -> Vec<&str> {
        let length = word.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) {
            return Vec::new();
        }
        let mut near: Vec<u32> = Vec::new();
        for_each_deletion(word, |hash| {
            let first = self.deletions.partition_point(|&(other, _)| other < hash);
            let same = self.deletions[first..].iter().take_while(|&&(other, _)| other == hash);
            near.extend(same.map(|&(_, index)| index).take(MAX_COMPARED.saturating_sub(near.len())));
        });
        near.sort_unstable();
        near.dedup();
        let allowed = if length >= LONG { 2 } else { 1 };
        let mut measured: Vec<(usize, &str)> = near
            .iter()
            .map(|&index| &*self.words[index as usize])
            .map(|other| (edit_distance(word, other), other))
            .filter(|&(distance, _)| distance > 0 && distance <= allowed)
            .collect();
        measured.sort_unstable();
        measured.into_iter().take(MAX_CORRECTIONS).map(|(_, other)| other).collect()
    }
}

/// Calls `each` with the hash of a word, and of the word without each of its characters.
fn for_each_deletion(word: &str, mut each: impl FnMut(u64)) {
    let hash = |parts: [&str; 2]| {
        let mut hasher = FxHasher::default();
        // Byte by byte, so that the hash does not depend on where the parts meet.
        parts.iter().flat_map(|part| part.bytes()).for_each(|byte| hasher.write_u8(byte));
        hasher.finish()
    };
    each(hash([word, ""]));
    for (at, c) in word.char_indices() {
        each(hash([&word[..at], &word[at + c.len_utf8()..]]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_are_corrected() {
        let words = ["mississippi", "colorado", "texas", "maine", "main", "zürich"];
        let spelling = Spelling::new(words.into_iter().map(Box::from));
        let cases: [(&str, &[&str]); 9] = [
            ("missisippi", &["mississippi"]),
            ("misisippi", &[]),
            ("misissippis", &["mississippi"]),
            ("colroado", &["colorado"]),
            ("texsa", &["texas"]),
            ("taxes", &[]),
            ("mains", &["maine"]),
            ("zurich", &["zürich"]),
            ("texas", &[]),
        ];
        for (word, expected) in cases {
            assert_eq!(spelling.neighbours(word), expected, "{word}");
        }
    }
}
