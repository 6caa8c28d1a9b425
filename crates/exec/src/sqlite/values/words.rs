//! The words of a question, with their places.

/// A word in lower case, and the bytes of the text it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a text, exactly as the parser's `tokenize` has them, so that a position means the same to both: split where
/// something is neither letter nor digit, and between letters and digits.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut last = None;
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        // One letter may become several in lower case, not all of them letters.
        for c in c.to_lowercase() {
            let kind = c.is_alphanumeric().then_some(c.is_ascii_digit());
            match (kind, words.last_mut()) {
                (Some(_), Some(word)) if kind == last => {
                    word.text.push(c);
                    word.end = end;
                }
                (Some(_), _) => words.push(Word { text: c.to_string(), start, end }),
                (None, _) => {}
            }
            last = kind;
        }
    }
    words
}

impl Word {
    pub(super) fn is_digits(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}
