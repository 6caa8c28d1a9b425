//! The relations between the words of a question and the items of an environment.
//!
//! The encoder gets a kind of relation from each element of [words ; items] to each:
//!
//! - between two words, their distance;
//! - between a word and an item, whether the word occurs in the item's phrase, and whether the whole phrase occurs at
//!   that point of the question (an exact match, which takes precedence over a partial one);
//! - between two items, the relation that the environment lists.

use xpr_lang::Relation;
use xpr_text::is_function_word;

/// Between two words: their distance, clipped to −2 … 2.
const DISTANCE: u8 = 0;
const DISTANCES: u8 = 5;
/// From a word to an item: for each class of item, no match, a partial match, an exact match.
const WORD_ITEM: u8 = DISTANCE + DISTANCES;
const CLASSES: u8 = 8;
const MATCHES: u8 = 3;
/// From an item to a word: the same.
const ITEM_WORD: u8 = WORD_ITEM + CLASSES * MATCHES;
/// From an item to itself.
const SAME: u8 = ITEM_WORD + CLASSES * MATCHES;
/// Between two items that the environment lists no relation for.
const UNRELATED: u8 = SAME + 1;
/// Between two items: the first of the environment's relations.
const ENVIRONMENT: u8 = UNRELATED + 1;

/// Returns the number of relation kinds for an environment that has `environment` kinds of its own.
pub(crate) fn kinds(environment: usize) -> usize {
    ENVIRONMENT as usize + environment
}

/// Returns the class of an item, which is its kind; kinds after the last class share that one.
fn class(kind: usize) -> u8 {
    kind.min(CLASSES as usize - 1) as u8
}

/// Returns the kind of relation from each item to each, which no question changes: `[items, items]`.
pub(crate) fn among_items(items: usize, relations: &[Relation]) -> Vec<u8> {
    let mut kinds = vec![UNRELATED; items * items];
    for item in 0..items {
        kinds[item * items + item] = SAME;
    }
    // If two items have several relations, the first one counts: it is written last.
    for relation in relations.iter().rev() {
        if relation.from != relation.to {
            kinds[relation.from.index() * items + relation.to.index()] = ENVIRONMENT + relation.kind.0;
        }
    }
    kinds
}

/// The phrase of an item, prepared for matching.
#[derive(Clone, Debug)]
pub(crate) struct StemmedPhrase {
    /// The stem of each word.
    pub(crate) stems: Vec<String>,
    /// The kind of the item, by index.
    pub(crate) class: usize,
}

/// Returns how well each word matches each item's phrase: 0 not at all, 1 partially, 2 exactly. `[words, items]`
///
/// Function words match only as part of a whole phrase.
fn matches(words: &[String], stems: &[String], phrases: &[&StemmedPhrase]) -> Vec<u8> {
    let mut matched = vec![0; words.len() * phrases.len()];
    for (item, phrase) in phrases.iter().enumerate() {
        let len = phrase.stems.len();
        for (word, stem) in stems.iter().enumerate() {
            if phrase.stems.contains(stem) && !is_function_word(&words[word]) {
                matched[word * phrases.len() + item] = 1;
            }
        }
        if len == 0 || len > stems.len() {
            continue;
        }
        for start in 0..=stems.len() - len {
            if stems[start..start + len] == phrase.stems[..] {
                for word in start..start + len {
                    matched[word * phrases.len() + item] = 2;
                }
            }
        }
    }
    matched
}

/// Returns the kind of relation from each of [words ; items] to each, in row-major order.
pub(crate) fn relate(
    words: &[String],
    stems: &[String],
    phrases: &[&StemmedPhrase],
    among_items: &[u8],
) -> Vec<u8> {
    let (t, m) = (words.len(), phrases.len());
    let n = t + m;
    let matched = matches(words, stems, phrases);
    let mut kinds = vec![0; n * n];
    for i in 0..t {
        for j in 0..t {
            let distance = (j as i64 - i as i64).clamp(-2, 2) + 2;
            kinds[i * n + j] = DISTANCE + distance as u8;
        }
        for j in 0..m {
            let offset = class(phrases[j].class) * MATCHES + matched[i * m + j];
            kinds[i * n + t + j] = WORD_ITEM + offset;
            kinds[(t + j) * n + i] = ITEM_WORD + offset;
        }
    }
    for i in 0..m {
        kinds[(t + i) * n + t..][..m].copy_from_slice(&among_items[i * m..][..m]);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_text::{stem, tokenize};

    #[test]
    fn a_whole_phrase_takes_precedence_over_a_part() {
        let phrase = |text: &str| StemmedPhrase {
            stems: tokenize(text).iter().map(|word| stem(word)).collect(),
            class: 0,
        };
        let phrases =
            [phrase("start time"), phrase("end time"), phrase("three hours"), phrase("is important")];
        let words = tokenize("is the start times 3 hours");
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let matched = matches(&words, &stems, &phrases.iter().collect::<Vec<_>>());
        let of = |word: usize| &matched[word * 4..][..4];
        assert_eq!(of(0), [0, 0, 0, 0]); // a function word alone matches nothing
        assert_eq!(of(2), [2, 0, 0, 0]);
        assert_eq!(of(3), [2, 1, 0, 0]);
        assert_eq!(of(4), [0, 0, 2, 0]);
        assert_eq!(of(5), [0, 0, 2, 0]);
    }
}
