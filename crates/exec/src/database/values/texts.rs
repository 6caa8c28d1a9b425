//! Texts that a question says to look for, whether a cell is equal to them or not: `names that contain "son"`, `the letter a`.

use xpr_text::Token;

/// Quotation marks, and what closes them.
const QUOTES: [(char, &[char]); 6] = [
    ('"', &['"']),
    ('\'', &['\'']),
    ('`', &['`', '\'']),
    ('“', &['”', '"']),
    ('‘', &['’', '\'']),
    ('’', &['’']),
];

/// Nouns before a text: `the letter a`.
const NOUNS: [&str; 10] =
    ["letter", "letters", "word", "words", "phrase", "prefix", "string", "substring", "suffix", "characters"];
/// Verbs before a text: `names that contain son`.
const CONTAINS: [&str; 6] = ["contain", "contains", "containing", "include", "includes", "including"];
/// Verbs before `with` and a text: `names that start with M`.
const STARTS_OR_ENDS: [&str; 10] =
    ["start", "starts", "starting", "begin", "begins", "beginning", "end", "ends", "ending", "begun"];

/// A text, and the words it consists of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SaidText {
    /// The text as the question spells it.
    pub(super) text: String,
    /// The index of the first word, and that after the last.
    pub(super) span: (usize, usize),
}

/// Returns the texts of at most `longest` words that are in quotation marks or that a question says to look for. Numbers are no
/// texts.
pub(super) fn said_texts(question: &str, words: &[Token], longest: usize) -> Vec<SaidText> {
    let mut texts: Vec<SaidText> = Vec::new();
    for start in 0..words.len() {
        let end = quoted_until(question, words, start, longest);
        if let Some(end) = end.or_else(|| is_looked_for(words, start).then_some(start + 1)) {
            let text = question[words[start].start..words[end - 1].end].to_owned();
            if words[start..end].iter().any(|word| !word.is_digits()) {
                texts.push(SaidText { text, span: (start, end) });
            }
        }
    }
    texts
}

/// Returns the end of the quotation that starts with a word, if one does.
fn quoted_until(question: &str, words: &[Token], start: usize, longest: usize) -> Option<usize> {
    let mark = question[..words[start].start].chars().next_back()?;
    let (_, closing) = QUOTES.iter().find(|(opening, _)| *opening == mark)?;
    // An apostrophe inside a word opens nothing.
    let before = question[..words[start].start - mark.len_utf8()].chars().next_back();
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let is_closed = |end: &usize| {
        let mut after = question[words[end - 1].end..].chars();
        let is_mark = after.next().is_some_and(|c| closing.contains(&c));
        is_mark && !after.next().is_some_and(char::is_alphanumeric)
    };
    (start + 1..=words.len().min(start + longest)).find(is_closed)
}

/// Returns whether the words before a word say to look for it.
fn is_looked_for(words: &[Token], index: usize) -> bool {
    let before = |distance: usize| index.checked_sub(distance).map_or("", |at| words[at].text.as_str());
    let is_with_verb = |distance: usize| {
        CONTAINS.contains(&before(distance))
            || before(distance) == "with" && STARTS_OR_ENDS.contains(&before(distance + 1))
    };
    if NOUNS.contains(&words[index].text.as_str()) || words[index].text == "the" {
        return false;
    }
    NOUNS.contains(&before(1)) || is_with_verb(1) || before(1) == "the" && is_with_verb(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_text::tokens;

    #[test]
    fn quotations_and_what_is_looked_for_are_texts() {
        for (question, expected) in [
            ("Which names contain \"son\"?", &["son"][..]),
            ("emails with 'gmail.com' in them", &["gmail.com"]),
            ("customers whose name has the letter a", &["a"]),
            ("names starting with the letter S", &["S"]),
            ("names that begin with Orbit", &["Orbit"]),
            ("titles that include the word “Deep Sea” today", &["Deep Sea"]),
            ("the head's name and the students' ages", &[]),
            ("the head's 'Ha' and Tom's", &["Ha"]),
            ("names that contain 12", &[]),
            ("\"unclosed", &[]),
            ("products in category \"a b c d e f g\"", &[]),
        ] {
            let texts = said_texts(question, &tokens(question), 6);
            let texts: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
            assert_eq!(texts, expected, "{question}");
        }
    }
}
