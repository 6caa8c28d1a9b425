//! English for the explanations of programs: lists, articles, singular and plural.

/// Returns the parts as a list: `a`, `a and b`, `a, b and c`.
pub(crate) fn enumeration(parts: &[String], conjunction: &str) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} {conjunction} {last}", rest.join(", ")),
    }
}

/// Returns a noun with its indefinite article.
pub(crate) fn with_article(noun: &str) -> String {
    let is_vowel = noun.trim_start_matches('"').starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']);
    format!("{} {noun}", if is_vowel { "an" } else { "a" })
}

/// Words that the rules below get wrong, with their plurals.
const IRREGULAR: [(&str, &str); 8] = [
    ("child", "children"),
    ("foot", "feet"),
    ("man", "men"),
    ("person", "people"),
    ("series", "series"),
    ("species", "species"),
    ("status", "statuses"),
    ("woman", "women"),
];

/// Returns the plural of a noun in the singular: `films`, `singers in concert`.
pub fn plural(noun: &str) -> String {
    let (noun, rest) = split_preposition(noun);
    format!("{}{rest}", simple_plural(noun))
}

fn simple_plural(noun: &str) -> String {
    let (before, last) = split_last(noun);
    if let Some((_, plural)) = IRREGULAR.iter().find(|(singular, _)| *singular == last) {
        return format!("{before}{plural}");
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    match last.strip_suffix('y') {
        Some(stem) if !stem.is_empty() && !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            format!("{before}{stem}ies")
        }
        _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{before}{last}es"),
        _ => format!("{before}{last}s"),
    }
}

/// Returns the singular of a noun, which may be in the singular or the plural.
pub fn singular(noun: &str) -> String {
    let (noun, rest) = split_preposition(noun);
    format!("{}{rest}", simple_singular(noun))
}

fn simple_singular(noun: &str) -> String {
    let (before, last) = split_last(noun);
    if let Some((singular, _)) = IRREGULAR.iter().find(|(one, many)| *one == last || *many == last) {
        return format!("{before}{singular}");
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    match last {
        _ if last.len() > 4 && ends(&["ies"]) => format!("{before}{}y", &last[..last.len() - 3]),
        _ if ends(&["sses", "shes", "ches", "xes"]) => format!("{before}{}", &last[..last.len() - 2]),
        _ if last.len() < 4 || ends(&["ss", "us", "is"]) => noun.to_owned(),
        _ => format!("{before}{}", last.strip_suffix('s').unwrap_or(last)),
    }
}

/// Returns the question how many rows a table has; none if its name is not made of words.
pub fn how_many(table: &str) -> Option<String> {
    let words = xpr_text::split_identifier(table);
    let is_word = |word: &String| word.chars().all(char::is_alphabetic);
    let is_named = !words.is_empty() && words.iter().all(is_word);
    is_named.then(|| format!("how many {} are there", plural(&singular(&words.join(" ")))))
}

/// Splits a noun before its first preposition: only what is before it has a plural.
fn split_preposition(noun: &str) -> (&str, &str) {
    let positions =
        [" at ", " for ", " from ", " in ", " of ", " on ", " to "].iter().filter_map(|word| noun.find(word));
    noun.split_at(positions.min().unwrap_or(noun.len()))
}

/// Splits a text before its last word.
fn split_last(text: &str) -> (&str, &str) {
    text.rfind(' ').map_or(("", text), |space| text.split_at(space + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_have_a_singular_and_a_plural() {
        for (one, many) in [
            ("film", "films"),
            ("country", "countries"),
            ("class", "classes"),
            ("box", "boxes"),
            ("match", "matches"),
            ("course", "courses"),
            ("person", "people"),
            ("tv series", "tv series"),
            ("pet type", "pet types"),
            ("day", "days"),
            ("singer in concert", "singers in concert"),
        ] {
            assert_eq!((plural(one), singular(many)), (many.to_owned(), one.to_owned()));
            assert_eq!(singular(one), one);
        }
        assert_eq!(singular("status"), "status");
        assert_eq!(singular("address"), "address");
    }

    /// Issue 19: "how many patient are there" was suggested.
    #[test]
    fn a_table_is_asked_about_in_the_plural() {
        for (table, question) in [
            ("patient", Some("how many patients are there")),
            ("singers", Some("how many singers are there")),
            ("visit-log", Some("how many visit logs are there")),
            ("PersonInCity", Some("how many people in city are there")),
            ("t1", None),
            ("_", None),
        ] {
            assert_eq!(how_many(table).as_deref(), question);
        }
    }

    #[test]
    fn lists_and_articles() {
        let parts = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>();
        assert_eq!(enumeration(&parts(&["a"]), "and"), "a");
        assert_eq!(enumeration(&parts(&["a", "b", "c"]), "or"), "a, b or c");
        assert_eq!((with_article("actor"), with_article("film")), ("an actor".into(), "a film".into()));
    }
}
