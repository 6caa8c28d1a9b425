//! Stems: the form under which two words count as the same.

use rust_stemmers::{Algorithm, Stemmer};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Returns the Snowball stem of an English word in lower case.
pub fn snowball_stem(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// Returns the form by which the words of questions and phrases are compared: digits for a number up to twelve, the short
/// name of a month, and otherwise the Snowball stem.
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
    snowball_stem(word)
}

/// Returns whether a word in lower case is a function word, which does not help to tell what a phrase names.
pub fn is_function_word(word: &str) -> bool {
    const WORDS: [&str; 40] = [
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "did", "do", "does", "for", "from", "had",
        "has", "have", "how", "in", "is", "it", "its", "many", "me", "of", "on", "or", "that", "the", "this",
        "to", "was", "were", "what", "when", "where", "which", "who", "whose", "with",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// Words with which questions about anything are asked, in lower case. [`is_function_word`] has more.
const COMMON_WORDS: &str = "\
    about all also am any been being but could count d different display each find get give he her his i if ll list \
    m must my name names no not number our please print re return s she should show so some t tell than their them \
    then there these they those us ve we why will would yes you your";

/// Returns whether a word in lower case is one with which questions about anything are asked.
pub fn is_common_word(word: &str) -> bool {
    COMMON_WORDS.split(' ').any(|common| common == word)
}

/// Returns whether a stem is that of a function word, or of a word with which questions about anything are asked.
pub fn is_common_stem(of_word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| COMMON_WORDS.split(' ').map(stem).collect());
    is_function_word(of_word) || STEMS.contains(of_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_the_same_have_one_stem() {
        for (word, expected) in
            [("meetings", "meet"), ("three", "3"), ("january", "jan"), ("standup", "standup")]
        {
            assert_eq!(stem(word), expected);
        }
        assert!(is_common_word("please") && is_common_stem(&stem("please")) && is_common_stem("the"));
        assert!(!is_common_word("state") && !is_common_stem(&stem("state")));
        assert!(is_function_word("whose") && is_function_word("a") && !is_function_word("start"));
    }
}
