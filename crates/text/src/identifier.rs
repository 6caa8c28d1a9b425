//! Names of tables and columns as people would say them.

use crate::token::composed;

/// Splits an identifier into words in lower case: at punctuation, between letters and digits, and where `camelCase` does.
pub fn split_identifier(name: &str) -> Vec<String> {
    let characters: Vec<char> = composed(name).map(|(_, _, c)| c).collect();
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for (index, &here) in characters.iter().enumerate() {
        if !here.is_alphanumeric() {
            is_open = false;
            continue;
        }
        let before = index.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(index + 1);
        let starts_word = before.is_some_and(|before| {
            here.is_numeric() != before.is_numeric()
                || here.is_uppercase() && before.is_lowercase()
                // The last capital of `HTMLPage` begins `Page`.
                || here.is_uppercase() && before.is_uppercase() && after.is_some_and(|next| next.is_lowercase())
        });
        match words.last_mut() {
            Some(word) if is_open && !starts_word => word.extend(here.to_lowercase()),
            _ => words.push(here.to_lowercase().collect()),
        }
        is_open = true;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_into_words() {
        for (name, words) in [
            ("state_name", "state name"),
            ("stateName", "state name"),
            ("homeStates_ID", "home states id"),
            ("HTMLPage", "html page"),
            ("Address1", "address 1"),
            ("STATE", "state"),
            ("first name", "first name"),
            ("_id_", "id"),
            ("Gro\u{308}ße_cm", "größe cm"),
            ("", ""),
        ] {
            assert_eq!(split_identifier(name).join(" "), words);
        }
    }
}
