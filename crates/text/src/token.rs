//! The tokenizer.

use unicode_normalization::char::compose;

/// A word in lower case, and the bytes of the text it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word.
    pub text: String,
    /// The position of its first byte in the text.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
}

impl Token {
    /// Returns whether the word is a whole number.
    pub fn is_digits(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// Returns the characters of a text, each with the position of its first byte and the one after its last. A letter and the marks after it
/// are one character, however they are written, so that `é` is the same letter everywhere.
pub(crate) fn composed(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, mut composed) = characters.next()?;
        let mut end = start + composed.len_utf8();
        while let Some(&(position, mark)) = characters.peek()
            && !mark.is_ascii()
            && let Some(whole) = compose(composed, mark)
        {
            (composed, end) = (whole, position + mark.len_utf8());
            characters.next();
        }
        Some((start, end, composed))
    })
}

/// Splits a text into words: at every character that is neither a letter nor a digit, which is dropped, and between letters
/// and digits, so that `10am` and `10 am` are the same.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut last = None;
    for (start, end, c) in composed(text) {
        // A letter may become several characters in lower case, and not all of them need be letters.
        for c in c.to_lowercase() {
            let kind = c.is_alphanumeric().then_some(c.is_ascii_digit());
            match (kind, tokens.last_mut()) {
                (Some(_), Some(token)) if kind == last => {
                    token.text.push(c);
                    token.end = end;
                }
                (Some(_), _) => tokens.push(Token { text: c.to_string(), start, end }),
                (None, _) => {}
            }
            last = kind;
        }
    }
    tokens
}

/// Returns the words of [`tokens`] without their positions.
pub fn tokenize(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_punctuation_and_between_letters_and_digits() {
        let cases = [
            ("When's the 10am meeting?", "when s the 10 am meeting"),
            ("Jan. 2nd,  2015", "jan 2 nd 2015"),
            ("É-mail", "é mail"),
            ("…", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(tokenize(text).join(" "), expected);
        }
    }

    /// Issue 18: a word whose accents were characters of their own was split at them, and was not found in the cells.
    #[test]
    fn a_letter_and_its_marks_are_one_character() {
        for (decomposed, expected) in [
            ("Rene\u{301} and Ko\u{308}ln2", "rené and köln 2"),
            ("Vie\u{323}\u{302}t", "việt"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("x \u{301} \u{338} y", "x y"),
        ] {
            assert!(tokenize(decomposed).join(" ").contains(expected), "{:?}", tokenize(decomposed));
        }
        let text = "from Ko\u{308}ln to Rene\u{301}";
        let places: Vec<&str> = tokens(text).iter().map(|token| &text[token.start..token.end]).collect();
        assert_eq!(places, ["from", "Ko\u{308}ln", "to", "Rene\u{301}"]);
    }

    #[test]
    fn positions_are_those_of_the_text() {
        let text = "İstanbul's 3 bridges";
        for token in tokens(text) {
            let there = &text[token.start..token.end];
            let lower: String = there.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
            assert!(lower.contains(&token.text), "{token:?} at {there:?}");
        }
        assert!(tokens(text).iter().any(|token| token.text == "3" && token.is_digits()));
    }
}
