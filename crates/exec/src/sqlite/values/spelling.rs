//! Words that are nearly right.
//!
//! Two words that differ by one letter, or have two neighbours exchanged, become the same when the right letter is left
//! out of each. So every word is filed under itself and under itself without each of its letters, and a misspelt word finds
//! its neighbours by looking there, without comparing it with the whole vocabulary.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use xpr_text::edit_distance;

/// Shorter words have too many neighbours.
const SHORTEST: usize = 5;
/// From this length, two mistakes are forgiven where they are found.
const LONG: usize = 8;
/// Longer words are not filed.
const LONGEST: usize = 24;
/// Neighbours compared with a word, and kept.
const COMPARED: usize = 64;
const KEPT: usize = 3;

/// Words by what they nearly are.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    words: Vec<Box<str>>,
    /// Hash of a word with a letter left out, or none; and its index.
    filed: Vec<(u64, u32)>,
}

impl Spelling {
    pub(super) fn new(words: impl Iterator<Item = Box<str>>) -> Spelling {
        let mut words: Vec<Box<str>> =
            words.filter(|word| (SHORTEST..=LONGEST).contains(&word.chars().count())).collect();
        words.sort_unstable();
        words.dedup();
        let mut filed = Vec::new();
        for (index, word) in words.iter().enumerate() {
            with_letters_left_out(word, |hash| filed.push((hash, index as u32)));
        }
        filed.sort_unstable();
        filed.dedup();
        Spelling { words, filed }
    }

    /// The words this one could be a misspelling of, the nearest first.
    pub(super) fn neighbours(&self, word: &str) -> Vec<&str> {
        let length = word.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) {
            return Vec::new();
        }
        let mut near: Vec<u32> = Vec::new();
        with_letters_left_out(word, |hash| {
            let first = self.filed.partition_point(|&(filed, _)| filed < hash);
            let same = self.filed[first..].iter().take_while(|&&(filed, _)| filed == hash);
            near.extend(same.map(|&(_, index)| index).take(COMPARED.saturating_sub(near.len())));
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
        measured.into_iter().take(KEPT).map(|(_, other)| other).collect()
    }
}

fn with_letters_left_out(word: &str, mut each: impl FnMut(u64)) {
    let hash = |parts: [&str; 2]| {
        let mut hasher = FxHasher::default();
        // Byte by byte: parts must not matter, only what they make together.
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
    fn misspelt_words_find_theirs() {
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
