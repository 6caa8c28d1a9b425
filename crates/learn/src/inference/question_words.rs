//! Words of questions that say nothing about their topic. All are in lower case.

/// Returns whether a word asks to change something.
pub(super) fn is_change_verb(word: &str) -> bool {
    has(
        "add adjust alter append archive assign cancel change clear copy correct create deactivate \
        decrease delete disable drop edit empty enable erase fill fix increase insert lower make mark \
        merge modify move overwrite purge put raise register remove rename replace reset save set swap \
        truncate update wipe",
        word,
    )
}

/// Returns whether a word may come before the verb of a request.
pub(super) fn is_politeness(word: &str) -> bool {
    has(
        "a ahead all and can could d do go have help hey hi i it just kindly let like m me must need now \
        ok please quickly s should then to us want we will would you",
        word,
    )
}

/// Returns whether a word asks for an aggregate, an order, a comparison or a negation. Such words are in questions about anything, but a
/// program that does not heed them is wrong.
pub(super) fn is_operator_word(word: &str) -> bool {
    has(
        "above after average before below biggest both count different distinct each every except fewer \
        fewest greater highest larger largest least less longer longest lowest many maximum mean \
        minimum more most neither never no not number oldest only over per shorter shortest smaller \
        smallest sum total under without youngest",
        word,
    )
}

/// Returns whether a word says nothing about the topic unless labels or data have it, such as "order" and "details".
pub(super) fn is_general_word(word: &str) -> bool {
    has(
        "alphabetical alphabetically among ascending contain containing contains data descending detail \
        details entries entry got higher include includes including information lower old older order \
        ordered provided record records row rows sort sorted table tables taller used value values word \
        words young younger",
        word,
    )
}

/// Returns whether a list of words, separated by blanks, has a word.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_at_the_ends_and_within_the_lists() {
        assert!(is_change_verb("add") && is_change_verb("wipe") && is_change_verb("delete"));
        assert!(is_politeness("a") && is_politeness("you") && is_politeness("please"));
        assert!(["above", "number", "most", "youngest", "not"].into_iter().all(is_operator_word));
        assert!(is_general_word("alphabetical") && is_general_word("younger"));
        assert!(!["", "film", "dele"].into_iter().any(is_change_verb) && !is_operator_word("film"));
    }
}
