//! How the words of a question and the items of an environment relate.
//!
//! The kinds of relations of the encoder, from each element of [words ; items] to each:
//! words know how far apart they are; a word and an item whether the word names it (with the whole of its phrase: an
//! exact match, which wins over a part); items how the environment's facts connect them.

use xpr_text::is_function_word;
use xpr_lang::Relation;

/// Words apart, clipped: from −2 to 2.
const DISTANCE: u8 = 0;
const DISTANCES: u8 = 5;
/// From word to item: for each class of item, no match, partial, exact.
const WORD_ITEM: u8 = DISTANCE + DISTANCES;
const CLASSES: u8 = 8;
const MATCHES: u8 = 3;
/// The same from item to word.
const ITEM_WORD: u8 = WORD_ITEM + CLASSES * MATCHES;
/// An item and itself, and an item and another it has nothing to do with.
const SAME: u8 = ITEM_WORD + CLASSES * MATCHES;
const UNRELATED: u8 = SAME + 1;
/// From here on, the environment's own relations.
const ENVIRONMENT: u8 = UNRELATED + 1;

/// How many kinds there are, with so many of the environment's.
pub(crate) fn kinds(environment: usize) -> usize {
    ENVIRONMENT as usize + environment
}

/// The classes of items are their kinds; what is beyond the last shares it.
fn class(kind: usize) -> u8 {
    kind.min(CLASSES as usize - 1) as u8
}

/// The relations among items, which no question changes.
pub(crate) fn among_items(items: usize, relations: &[Relation]) -> Vec<u8> {
    let mut kinds = vec![UNRELATED; items * items];
    for item in 0..items {
        kinds[item * items + item] = SAME;
    }
    // Of several relations between two items the first kind counts.
    for relation in relations.iter().rev() {
        if relation.from != relation.to {
            kinds[relation.from.index() * items + relation.to.index()] = ENVIRONMENT + relation.kind.0;
        }
    }
    kinds
}

/// The phrase of an item, ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    pub(crate) stems: Vec<String>,
    pub(crate) class: usize,
}

/// How well each word names each item: 0 not, 1 in part, 2 wholly. `[words, items]`
fn matches(words: &[String], stems: &[String], phrases: &[&Phrase]) -> Vec<u8> {
    let mut found = vec![0; words.len() * phrases.len()];
    for (item, phrase) in phrases.iter().enumerate() {
        let len = phrase.stems.len();
        for (word, stem) in stems.iter().enumerate() {
            if phrase.stems.contains(stem) && !is_function_word(&words[word]) {
                found[word * phrases.len() + item] = 1;
            }
        }
        if len == 0 || len > stems.len() {
            continue;
        }
        for start in 0..=stems.len() - len {
            if stems[start..start + len] == phrase.stems[..] {
                for word in start..start + len {
                    found[word * phrases.len() + item] = 2;
                }
            }
        }
    }
    found
}

/// The kind of relation from each of [words ; items] to each, row by row.
pub(crate) fn relate(words: &[String], stems: &[String], phrases: &[&Phrase], among_items: &[u8]) -> Vec<u8> {
    let (t, m) = (words.len(), phrases.len());
    let n = t + m;
    let found = matches(words, stems, phrases);
    let mut kinds = vec![0; n * n];
    for i in 0..t {
        for j in 0..t {
            let distance = (j as i64 - i as i64).clamp(-2, 2) + 2;
            kinds[i * n + j] = DISTANCE + distance as u8;
        }
        for j in 0..m {
            let offset = class(phrases[j].class) * MATCHES + found[i * m + j];
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
    fn a_whole_phrase_wins_over_a_part() {
        let phrase =
            |text: &str| Phrase { stems: tokenize(text).iter().map(|word| stem(word)).collect(), class: 0 };
        let phrases =
            [phrase("start time"), phrase("end time"), phrase("three hours"), phrase("is important")];
        let words = tokenize("is the start times 3 hours");
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let found = matches(&words, &stems, &phrases.iter().collect::<Vec<_>>());
        let of = |word: usize| &found[word * 4..][..4];
        assert_eq!(of(0), [0, 0, 0, 0]); // a function word alone names nothing
        assert_eq!(of(2), [2, 0, 0, 0]);
        assert_eq!(of(3), [2, 1, 0, 0]);
        assert_eq!(of(4), [0, 0, 2, 0]);
        assert_eq!(of(5), [0, 0, 2, 0]);
    }
}
