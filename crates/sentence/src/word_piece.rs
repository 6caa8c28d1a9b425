//! BERT's tokenizer: `tokenizer.json`.
//!
//! A text is split at white space, and its words are normalised: control characters and accents are dropped, and letters
//! become lower case. Punctuation marks and Chinese characters are words of their own. Each word is then the longest
//! entry of the vocabulary that it starts with, followed by the longest one for the rest, and so on. Entries that
//! continue a word have a prefix, `##`. A word without such a division is unknown.
//!
//! A text cannot contain special tokens: `[SEP]` in a question is punctuation and letters.

use crate::SentenceError;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::path::Path;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

#[derive(Deserialize)]
struct TokenizerFile {
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<TypeOnly>,
    model: ModelSection,
}

/// What happens to the characters of a text.
#[derive(Clone, Debug, Deserialize)]
struct Normalizer {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default = "yes")]
    clean_text: bool,
    #[serde(default = "yes")]
    handle_chinese_chars: bool,
    /// If not given, accents are stripped if `lowercase`.
    #[serde(default)]
    strip_accents: Option<bool>,
    #[serde(default = "yes")]
    lowercase: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct TypeOnly {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct ModelSection {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    unk_token: String,
    #[serde(default)]
    continuing_subword_prefix: String,
    #[serde(default)]
    max_input_chars_per_word: usize,
    #[serde(default)]
    vocab: serde_json::Value,
}

/// A piece of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its index in the vocabulary.
    pub(crate) id: u32,
    /// The index of the word of the text, counted between white space.
    pub(crate) word: usize,
}

/// The tokenizer of a model.
#[derive(Debug)]
pub(crate) struct WordPiece {
    normalizer: Normalizer,
    vocabulary: FxHashMap<String, u32>,
    /// The prefix of pieces that continue a word.
    prefix: String,
    max_word: usize,
    unknown: u32,
    /// The piece before every text.
    pub(crate) start: u32,
    /// The piece after every text.
    pub(crate) end: u32,
}

impl WordPiece {
    /// Reads the text of `tokenizer.json`; `path` is for errors. The vocabulary of the model has `size` entries.
    pub(crate) fn read(text: &str, size: usize, path: &Path) -> Result<Self, SentenceError> {
        let format = |message: String| SentenceError::Format { path: path.to_owned(), message };
        let file: TokenizerFile = serde_json::from_str(text).map_err(|error| format(error.to_string()))?;
        let supported = |setting, found: Option<&str>, supported| match found {
            Some(found) if found == supported => Ok(()),
            found => Err(SentenceError::Unsupported {
                path: path.to_owned(),
                setting,
                found: found.unwrap_or("null").to_owned(),
                supported,
            }),
        };
        supported("model.type", file.model.kind.as_deref(), "WordPiece")?;
        let kind = file.pre_tokenizer.as_ref().map(|section| section.kind.as_str());
        supported("pre_tokenizer.type", kind, "BertPreTokenizer")?;
        supported(
            "normalizer.type",
            file.normalizer.as_ref().map(|section| section.kind.as_str()),
            "BertNormalizer",
        )?;
        let Some(normalizer) = file.normalizer else { return Err(format("there is no normalizer".into())) };
        let vocabulary: FxHashMap<String, u32> = serde_json::from_value(file.model.vocab)
            .map_err(|error| format(format!("model.vocab: {error}")))?;
        if let Some((piece, id)) = vocabulary.iter().filter(|(_, id)| **id as usize >= size).min() {
            let message = format!("`{piece}` has the index {id}, but config.json has a vocab_size of {size}");
            return Err(format(message));
        }
        let special = |piece: &str| {
            let id = vocabulary.get(piece).copied();
            id.ok_or_else(|| format(format!("model.vocab has no `{piece}`")))
        };
        Ok(WordPiece {
            normalizer,
            unknown: special(&file.model.unk_token)?,
            start: special("[CLS]")?,
            end: special("[SEP]")?,
            prefix: file.model.continuing_subword_prefix,
            max_word: file.model.max_input_chars_per_word,
            vocabulary,
        })
    }

    /// Returns the pieces of a text, without those that mark its start and end.
    pub(crate) fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (word, text) in text.split_whitespace().enumerate() {
            for token in self.normalizer.tokens(text) {
                self.divide(&token, |id| pieces.push(Piece { id, word }));
            }
        }
        pieces
    }

    /// Divides a word into pieces.
    fn divide(&self, word: &str, mut add: impl FnMut(u32)) {
        let Some(ids) = self.division(word) else { return add(self.unknown) };
        ids.into_iter().for_each(add);
    }

    /// Returns the pieces of a word; `None` if the word is unknown.
    fn division(&self, word: &str) -> Option<Vec<u32>> {
        if word.chars().count() > self.max_word {
            return None;
        }
        let mut ids = Vec::new();
        let mut rest = word;
        let mut piece = String::new();
        while !rest.is_empty() {
            piece.clear();
            if !ids.is_empty() {
                piece.push_str(&self.prefix);
            }
            let prefix = piece.len();
            piece.push_str(rest);
            let id = loop {
                if let Some(id) = self.vocabulary.get(&piece) {
                    break *id;
                }
                piece.pop();
                if piece.len() <= prefix {
                    return None;
                }
            };
            ids.push(id);
            rest = &rest[piece.len() - prefix..];
        }
        Some(ids)
    }
}

impl Normalizer {
    /// Normalises a text without white space, and separates punctuation marks and Chinese characters.
    fn tokens(&self, text: &str) -> Vec<String> {
        let strip_accents = self.strip_accents.unwrap_or(self.lowercase);
        let mut text: String = text.chars().filter(|&c| !self.clean_text || !is_control(c)).collect();
        if strip_accents {
            let is_accent = |c: &char| c.general_category() == GeneralCategory::NonspacingMark;
            text = text.nfd().filter(|c| !is_accent(c)).collect();
        }
        if self.lowercase {
            text = text.chars().flat_map(char::to_lowercase).collect();
        }
        let mut tokens: Vec<String> = Vec::new();
        let mut ends = true;
        for c in text.chars() {
            let alone = is_punctuation(c) || self.handle_chinese_chars && is_chinese(c);
            match tokens.last_mut() {
                Some(token) if !ends && !alone => token.push(c),
                _ => tokens.push(c.to_string()),
            }
            ends = alone;
        }
        tokens
    }
}

fn is_control(c: char) -> bool {
    let control = [GeneralCategory::Control, GeneralCategory::Format, GeneralCategory::PrivateUse];
    c == char::REPLACEMENT_CHARACTER || control.contains(&c.general_category())
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Returns whether a character is a Chinese one, as BERT defines it.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f | 0x2b740..=0x2b81f
        | 0x2b820..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCABULARY: [&str; 16] = [
        "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "##ff", "film", "##s", "?", "café", "cafe",
        "中", "[", "]",
    ];

    fn file(vocabulary: &[&str]) -> String {
        let vocabulary: serde_json::Map<String, serde_json::Value> =
            vocabulary.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), id.into())).collect();
        serde_json::json!({
            "normalizer": {"type": "BertNormalizer", "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 20,
                "vocab": vocabulary,
            },
        })
        .to_string()
    }

    fn read(text: &str, size: usize) -> Result<WordPiece, SentenceError> {
        WordPiece::read(text, size, Path::new("tokenizer.json"))
    }

    #[test]
    fn words_are_divided_into_their_longest_pieces() {
        let tokenizer = read(&file(&VOCABULARY), VOCABULARY.len()).unwrap();
        let cases = [
            ("unaffable", "un ##aff ##able"),
            ("Films?", "film ##s ?"),
            ("  un\taff\u{a0}a ", "un a ##ff a"),
            ("CAFÉ cafe\u{301}", "cafe cafe"),
            ("unun", "[UNK]"),
            ("a中a", "a 中 a"),
            ("un\u{0}\u{200b}affable", "un ##aff ##able"),
            ("[SEP]", "[ [UNK] ]"),
            (&"a".repeat(21), "[UNK]"),
            ("\u{0}", ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            let pieces = tokenizer.pieces(text);
            let pieces: Vec<&str> = pieces.iter().map(|piece| VOCABULARY[piece.id as usize]).collect();
            assert_eq!(pieces.join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn pieces_know_their_word() {
        let tokenizer = read(&file(&VOCABULARY), VOCABULARY.len()).unwrap();
        let words = |text: &str| tokenizer.pieces(text).iter().map(|piece| piece.word).collect::<Vec<_>>();
        assert_eq!(words("films? a\n\u{0} unaffable"), [0, 0, 0, 1, 3, 3, 3]);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let whole = file(&VOCABULARY);
        let cases = [
            ("{", 16, "tokenizer.json: EOF while parsing an object at line 1 column 1"),
            (&whole, 15, "tokenizer.json: `]` has the index 15, but config.json has a vocab_size of 15"),
            (&whole.replace("\"[CLS]\"", "\"[BOS]\""), 16, "tokenizer.json: model.vocab has no `[CLS]`"),
            (
                &whole.replace("\"WordPiece\"", "\"BPE\""),
                16,
                "tokenizer.json: model.type is `BPE`, and only `WordPiece` is supported",
            ),
            (
                r#"{"normalizer": null, "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece"}}"#,
                16,
                "tokenizer.json: normalizer.type is `null`, and only `BertNormalizer` is supported",
            ),
        ];
        for (text, size, expected) in cases {
            assert_eq!(read(text, size).unwrap_err().to_string(), expected);
        }
    }
}
