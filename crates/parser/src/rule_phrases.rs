//! Rules that people have words for.
//!
//! A rule such as `<` is learned from labels, and few labels show few of its words: `before`, but not `earlier than`. So a
//! language lists phrases for such rules, and the encoder reads them as it reads the phrases of items. The decoder scores a
//! rule by what it learned about the rule and, like an item, by how well its encoding fits.

use crate::Vocabulary;
use rustc_hash::FxHashMap;
use xpr_lang::Signatures;
use xpr_text::{stem, tokenize};

/// The phrases of the rules that have some. Rules with the same phrases are read once: the `<` of values and the `<` of
/// counts.
#[derive(Clone, Debug)]
pub(crate) struct RulePhrases {
    /// For each list of phrases, the stems of each phrase.
    stems: Vec<Vec<Vec<String>>>,
    /// For each list of phrases, the word ids of each phrase.
    words: Vec<Vec<Vec<u32>>>,
    /// For each rule of the language, the index of its list of phrases.
    of_rule: Vec<Option<u32>>,
}

impl RulePhrases {
    pub(crate) fn new(signatures: &Signatures, vocabulary: &Vocabulary) -> Self {
        let mut phrases = RulePhrases { stems: vec![], words: vec![], of_rule: vec![] };
        let mut index_of: FxHashMap<&[&str], u32> = FxHashMap::default();
        for rule in signatures.rules() {
            let of_rule = (!rule.phrases.is_empty()).then(|| {
                *index_of.entry(rule.phrases).or_insert_with(|| {
                    let words: Vec<Vec<String>> = rule.phrases.iter().map(|text| tokenize(text)).collect();
                    let ids = |words: &Vec<String>| words.iter().map(|word| vocabulary.id(word)).collect();
                    let stems = |words: &Vec<String>| words.iter().map(|word| stem(word)).collect();
                    phrases.words.push(words.iter().map(ids).collect());
                    phrases.stems.push(words.iter().map(stems).collect());
                    phrases.words.len() as u32 - 1
                })
            });
            phrases.of_rule.push(of_rule);
        }
        phrases
    }

    /// Returns whether no rule has phrases.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the stems of each phrase of each list.
    pub(crate) fn stems(&self) -> &[Vec<Vec<String>>] {
        &self.stems
    }

    /// Returns the word ids of each phrase of each list.
    pub(crate) fn words(&self) -> &[Vec<Vec<u32>>] {
        &self.words
    }

    /// Returns, for each rule of the language, the index of its list of phrases.
    pub(crate) fn of_rule(&self) -> &[Option<u32>] {
        &self.of_rule
    }
}
