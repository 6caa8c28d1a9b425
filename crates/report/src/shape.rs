//! What a program is made of, read from its text alone: the same for lambda-DCS and SQL.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A piece of a program's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// Where it is.
    pub(crate) place: Range<usize>,
    /// What it says, written one way; none of brackets, commas and made-up names, which say nothing.
    pub(crate) meaning: Option<String>,
}

/// Words that only labels as people wrote them have: the grammar's own programs have no lambdas.
const EMPTY_WORDS: [&str; 8] = ["call", "string", "lambda", "var", "s", "domain", "listvalue", "number"];

/// Takes a program apart.
pub(crate) fn tokens(program: &str) -> Vec<Token> {
    let is_sql = !program.trim_start().starts_with('(');
    let mut all: Vec<Token> = Vec::new();
    // The word before: `AS` makes the next a name that means nothing, and `!` belongs to the next.
    let (mut is_alias, mut reversed) = (false, None);
    for place in pieces(program) {
        let text = &program[place.clone()];
        let lower = text.to_lowercase();
        let lower = lower.strip_prefix("sw.").unwrap_or(&lower);
        let is_bracket = matches!(text, "(" | ")" | ",");
        let meaning = if is_bracket || is_alias {
            None
        } else if is_sql {
            (lower != "as").then(|| column_of(lower))
        } else if lower == "!" {
            reversed = Some(place.start);
            continue;
        } else if reversed.is_some() {
            Some(format!("!{lower}"))
        } else {
            (!EMPTY_WORDS.contains(&lower)).then(|| lower.to_owned())
        };
        is_alias = is_sql && lower == "as";
        let start = reversed.take().unwrap_or(place.start);
        all.push(Token { place: start..place.end, meaning });
    }
    all
}

/// What stands together: quoted text, signs, and everything else up to white space or a bracket.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        let mut end = start + first.len_utf8();
        let mut take_while = |goes_on: &mut dyn FnMut(char) -> bool, end: &mut usize| {
            while let Some((at, next)) = rest.next_if(|(_, next)| goes_on(*next)) {
                *end = at + next.len_utf8();
            }
        };
        match first {
            _ if first.is_whitespace() => continue,
            '(' | ')' | ',' => {}
            '\'' => {
                let mut is_open = true;
                take_while(
                    &mut |next| {
                        let goes_on = is_open;
                        is_open &= next != '\'';
                        goes_on
                    },
                    &mut end,
                );
            }
            '<' | '>' | '=' | '!' => take_while(&mut |next| matches!(next, '<' | '>' | '='), &mut end),
            _ => take_while(
                &mut |next| {
                    !next.is_whitespace() && !matches!(next, '(' | ')' | ',' | '\'' | '<' | '>' | '=')
                },
                &mut end,
            ),
        }
        pieces.push(start..end);
    }
    pieces
}

/// The column of a qualified name: which source it is called by depends on who wrote the query.
fn column_of(name: &str) -> String {
    if name.starts_with('\'') || name.parse::<f64>().is_ok() {
        return name.to_owned();
    }
    name.rsplit('.').next().unwrap_or(name).trim_matches(['"', '`', '[', ']', ';']).to_owned()
}

/// How often each meaning occurs.
pub(crate) fn counts(tokens: &[Token]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for meaning in tokens.iter().filter_map(|token| token.meaning.as_deref()) {
        *counts.entry(meaning).or_insert(0) += 1;
    }
    counts
}

/// The meanings that one has more often than the other.
pub(crate) fn beyond<'a>(
    counts: &BTreeMap<&'a str, usize>,
    other: &BTreeMap<&str, usize>,
) -> BTreeSet<&'a str> {
    counts
        .iter()
        .filter(|(meaning, count)| **count > other.get(*meaning).copied().unwrap_or(0))
        .map(|(meaning, _)| *meaning)
        .collect()
}

/// The kinds of construction that a program has; `plain` if none.
pub(crate) fn constructions(counts: &BTreeMap<&str, usize>) -> Vec<&'static str> {
    let times = |words: &[&str]| words.iter().filter_map(|word| counts.get(word)).sum::<usize>();
    let found = [
        ("superlative", times(&["superlative", "countsuperlative", "order", "max", "min"]) > 0),
        ("count", times(&[".size", "count", "countcomparative", "countsuperlative"]) > 0),
        ("sum or average", times(&["sum", "avg"]) > 0),
        ("comparison", times(&["<", ">", "<=", ">=", "between"]) > 0),
        ("negation", times(&["!=", "<>", "not", "except"]) > 0),
        ("or", times(&["concat", "or", "union", "in"]) > 0),
        ("several conditions", times(&["filter"]) > 1 || times(&["and"]) > 0),
        ("join", times(&["join"]) > 0),
        ("group by", times(&["group"]) > 0),
        ("nested query", times(&["select"]) > 1),
        ("inverse relation", times(&["reverse"]) > 0),
    ];
    let found: Vec<&str> = found.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
    if found.is_empty() { vec!["plain"] } else { found }
}

/// Upper ends of the buckets of program lengths, in words that mean something.
const LENGTHS: [usize; 6] = [5, 8, 12, 16, 24, usize::MAX];

/// The bucket of a length, and its name.
pub(crate) fn length_bucket(length: usize) -> (usize, String) {
    let bucket = LENGTHS.iter().position(|end| length <= *end).unwrap_or(LENGTHS.len() - 1);
    let start = if bucket == 0 { 1 } else { LENGTHS[bucket - 1] + 1 };
    let name = match LENGTHS[bucket] {
        usize::MAX => format!("{start} words and more"),
        end => format!("{start} to {end} words"),
    };
    (bucket, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings(program: &str) -> Vec<String> {
        tokens(program).into_iter().filter_map(|token| token.meaning).collect()
    }

    #[test]
    fn the_same_program_means_the_same_however_it_is_written() {
        for (left, right) in [
            (
                "SELECT CITYalias0.CITY_NAME FROM CITY AS CITYalias0 WHERE CITYalias0.POPULATION >= 1.5",
                "SELECT city.city_name FROM city WHERE city.population>=1.5",
            ),
            ("( call SW.getProperty ( string ! type ) )", "(call SW.getProperty (string !type))"),
        ] {
            assert_eq!(meanings(left), meanings(right));
        }
        assert_eq!(meanings("SELECT a FROM b WHERE c = 'It''s, (x)'")[5..], ["c", "=", "'it'", "'s, (x)'"]);
        assert_eq!(meanings(""), [""; 0]);
        assert_eq!(meanings("SELECT 'é"), ["select", "'é"]);
    }

    #[test]
    fn differences_and_constructions() {
        let (gold, guess) = (tokens("SELECT MAX(a) FROM t"), tokens("SELECT MIN(a) FROM t, t WHERE a = a"));
        let (gold, guess) = (counts(&gold), counts(&guess));
        assert_eq!(beyond(&gold, &guess).into_iter().collect::<Vec<_>>(), ["max"]);
        assert_eq!(beyond(&guess, &gold).into_iter().collect::<Vec<_>>(), ["=", "a", "min", "t", "where"]);
        assert_eq!(constructions(&gold), ["superlative"]);
        let program = tokens("( call SW.listValue ( call SW.filter ( call SW.filter x ) ( string > ) ) )");
        assert_eq!(constructions(&counts(&program)), ["comparison", "several conditions"]);
        assert_eq!(length_bucket(6), (1, "6 to 8 words".to_owned()));
        assert_eq!(length_bucket(99), (5, "25 words and more".to_owned()));
    }
}
