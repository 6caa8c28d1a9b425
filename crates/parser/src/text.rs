//! Words, and what they have in common.

use rust_stemmers::{Algorithm, Stemmer};

/// The words of a text, in lower case: punctuation is left out, and digits part from letters, so that `10am` and
/// `10 am` are the same.
pub fn tokenize(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars().flat_map(char::to_lowercase) {
        let kind = if c.is_ascii_digit() {
            Some(true)
        } else if c.is_alphanumeric() {
            Some(false)
        } else {
            None
        };
        match (kind, tokens.last_mut()) {
            (Some(_), Some(token)) if kind == last => token.push(c),
            (Some(_), _) => tokens.push(c.to_string()),
            (None, _) => {}
        }
        last = kind;
    }
    tokens
}

/// What a word is matched by: its stem, a number as digits, a month's short name.
pub fn stem(word: &str) -> String {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    const MONTHS: [(&str, &str); 11] = [
        ("january", "jan"),
        ("february", "feb"),
        ("march", "mar"),
        ("april", "apr"),
        ("june", "jun"),
        ("july", "jul"),
        ("august", "aug"),
        ("september", "sep"),
        ("october", "oct"),
        ("november", "nov"),
        ("december", "dec"),
    ];
    if let Some(number) = NUMBERS.iter().position(|number| *number == word) {
        return number.to_string();
    }
    if let Some((_, short)) = MONTHS.iter().find(|(long, _)| *long == word) {
        return (*short).to_owned();
    }
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// Words that say nothing about what a phrase names.
pub(crate) fn is_function_word(word: &str) -> bool {
    const WORDS: [&str; 40] = [
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "had",
        "has", "have", "how", "in", "is", "it", "its", "many", "me", "of", "on", "or", "that", "the", "this",
        "to", "was", "were", "what", "when", "where", "which", "who", "whose", "with",
    ];
    WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_words() {
        let cases = [
            ("When's the 10am meeting?", "when s the 10 am meeting"),
            ("Jan. 2nd,  2015", "jan 2 nd 2015"),
            ("É-mail", "é mail"),
            ("…", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(tokenize(text).join(" "), expected);
        }
        for (word, expected) in
            [("meetings", "meet"), ("three", "3"), ("january", "jan"), ("standup", "standup")]
        {
            assert_eq!(stem(word), expected);
        }
        assert!(is_function_word("whose") && is_function_word("a") && !is_function_word("start"));
    }
}
