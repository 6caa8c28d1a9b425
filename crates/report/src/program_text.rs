//! The tokens and constructions of a program, read from its text. It works for lambda-DCS and for SQL.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A token of a program's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProgramToken {
    /// The bytes of the text it covers.
    pub(crate) span: Range<usize>,
    /// The token in normal form. Brackets, commas and aliases have none: they mean nothing by themselves.
    pub(crate) normal: Option<String>,
}

/// Words of lambda-DCS that mean nothing by themselves. Some occur only in labels, which may have lambdas where the grammar's
/// programs have none.
const SYNTAX_WORDS: [&str; 8] = ["call", "string", "lambda", "var", "s", "domain", "listvalue", "number"];

/// Splits a program into tokens.
pub(crate) fn tokens(program: &str) -> Vec<ProgramToken> {
    let is_sql = !program.trim_start().starts_with('(');
    let mut all: Vec<ProgramToken> = Vec::new();
    // After `AS` comes an alias. A `!` is part of the relation after it; `reversed` is where it starts.
    let (mut is_alias, mut reversed) = (false, None);
    for span in spans(program) {
        let text = &program[span.clone()];
        let lower = text.to_lowercase();
        let lower = lower.strip_prefix("sw.").unwrap_or(&lower);
        let is_bracket = matches!(text, "(" | ")" | ",");
        let normal = if is_bracket || is_alias {
            None
        } else if is_sql {
            (lower != "as").then(|| column_of(lower))
        } else if lower == "!" {
            reversed = Some(span.start);
            continue;
        } else if reversed.is_some() {
            Some(format!("!{lower}"))
        } else {
            (!SYNTAX_WORDS.contains(&lower)).then(|| lower.to_owned())
        };
        is_alias = is_sql && lower == "as";
        let start = reversed.take().unwrap_or(span.start);
        all.push(ProgramToken { span: start..span.end, normal });
    }
    all
}

/// Returns the spans of the tokens: quoted text, operators, single brackets and commas, and words.
fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        let mut end = start + first.len_utf8();
        let mut take_while = |is_part: &mut dyn FnMut(char) -> bool, end: &mut usize| {
            while let Some((at, next)) = rest.next_if(|(_, next)| is_part(*next)) {
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
                        let is_part = is_open;
                        is_open &= next != '\'';
                        is_part
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
        spans.push(start..end);
    }
    spans
}

/// Returns the column of a qualified name. The qualifier is an alias or a table, depending on who wrote the query.
fn column_of(name: &str) -> String {
    if name.starts_with('\'') || name.parse::<f64>().is_ok() {
        return name.to_owned();
    }
    name.rsplit('.').next().unwrap_or(name).trim_matches(['"', '`', '[', ']', ';']).to_owned()
}

/// Returns how often each token occurs, by its normal form.
pub(crate) fn counts(tokens: &[ProgramToken]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for normal in tokens.iter().filter_map(|token| token.normal.as_deref()) {
        *counts.entry(normal).or_insert(0) += 1;
    }
    counts
}

/// Returns the tokens that occur more often in `counts` than in `other`.
pub(crate) fn surplus<'a>(
    counts: &BTreeMap<&'a str, usize>,
    other: &BTreeMap<&str, usize>,
) -> BTreeSet<&'a str> {
    counts
        .iter()
        .filter(|(token, count)| **count > other.get(*token).copied().unwrap_or(0))
        .map(|(token, _)| *token)
        .collect()
}

/// Returns the constructions that a program uses; `plain` if it uses none.
pub(crate) fn constructions(counts: &BTreeMap<&str, usize>) -> Vec<&'static str> {
    let times = |tokens: &[&str]| tokens.iter().filter_map(|token| counts.get(token)).sum::<usize>();
    let uses = [
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
    let used: Vec<&str> = uses.into_iter().filter(|(_, is_used)| *is_used).map(|(name, _)| name).collect();
    if used.is_empty() { vec!["plain"] } else { used }
}

/// The upper ends of the buckets of program lengths, in tokens that have a normal form.
const LENGTHS: [usize; 6] = [5, 8, 12, 16, 24, usize::MAX];

/// Returns the bucket of a length, and its name.
pub(crate) fn length_bucket(length: usize) -> (usize, String) {
    let bucket = LENGTHS.iter().position(|end| length <= *end).unwrap_or(LENGTHS.len() - 1);
    let start = if bucket == 0 { 1 } else { LENGTHS[bucket - 1] + 1 };
    let name = match LENGTHS[bucket] {
        usize::MAX => format!("{start} tokens and more"),
        end => format!("{start} to {end} tokens"),
    };
    (bucket, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(program: &str) -> Vec<String> {
        tokens(program).into_iter().filter_map(|token| token.normal).collect()
    }

    #[test]
    fn the_normal_form_does_not_depend_on_aliases_case_and_spacing() {
        for (left, right) in [
            (
                "SELECT CITYalias0.CITY_NAME FROM CITY AS CITYalias0 WHERE CITYalias0.POPULATION >= 1.5",
                "SELECT city.city_name FROM city WHERE city.population>=1.5",
            ),
            ("( call SW.getProperty ( string ! type ) )", "(call SW.getProperty (string !type))"),
        ] {
            assert_eq!(normal(left), normal(right));
        }
        assert_eq!(normal("SELECT a FROM b WHERE c = 'It''s, (x)'")[5..], ["c", "=", "'it'", "'s, (x)'"]);
        assert_eq!(normal(""), [""; 0]);
        assert_eq!(normal("SELECT 'é"), ["select", "'é"]);
    }

    #[test]
    fn differences_constructions_and_lengths_are_found() {
        let (gold, chosen) = (tokens("SELECT MAX(a) FROM t"), tokens("SELECT MIN(a) FROM t, t WHERE a = a"));
        let (gold, chosen) = (counts(&gold), counts(&chosen));
        assert_eq!(surplus(&gold, &chosen).into_iter().collect::<Vec<_>>(), ["max"]);
        assert_eq!(surplus(&chosen, &gold).into_iter().collect::<Vec<_>>(), ["=", "a", "min", "t", "where"]);
        assert_eq!(constructions(&gold), ["superlative"]);
        let program = tokens("( call SW.listValue ( call SW.filter ( call SW.filter x ) ( string > ) ) )");
        assert_eq!(constructions(&counts(&program)), ["comparison", "several conditions"]);
        assert_eq!(length_bucket(6), (1, "6 to 8 tokens".to_owned()));
        assert_eq!(length_bucket(99), (5, "25 tokens and more".to_owned()));
    }
}
