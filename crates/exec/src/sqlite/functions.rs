//! Replacements for SQL functions that can take very long in a single step.
//!
//! SQLite consults the meter between steps, and a function call is one step. SQLite's `LIKE` and `GLOB` backtrack to every
//! wildcard, so that `%a%a%a%b` on a long text practically never ends; its `instr` and two-argument `trim` take
//! quadratic time. The functions here give the same results in time proportional to text × pattern at most, and charge
//! the meter for it.

use super::guard::Meter;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::sync::Arc;

/// The maximum number of characters of a pattern.
const LONGEST_PATTERN: usize = 200;
/// The number of character comparisons that take about as long as a step of SQLite's machine.
const COMPARISONS_A_STEP: u64 = 16;
/// The number of comparisons after which the meter is charged.
const COMPARISONS_A_CHARGE: u64 = 1 << 14;

/// Replaces the functions of SQLite on a connection.
pub(super) fn install(connection: &Connection, meter: &Arc<Meter>) -> rusqlite::Result<()> {
    // Views of a schema that is not trusted can only use functions that are marked as innocuous.
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for arguments in [2, 3] {
        let meter = Arc::clone(meter);
        connection.create_scalar_function("like", arguments, flags, move |context| {
            matches(context, &meter, Dialect::Like)
        })?;
    }
    let glob_meter = Arc::clone(meter);
    connection.create_scalar_function("glob", 2, flags, move |context| {
        matches(context, &glob_meter, Dialect::Glob)
    })?;
    let instr_meter = Arc::clone(meter);
    connection.create_scalar_function("instr", 2, flags, move |context| position(context, &instr_meter))?;
    for (name, start, end) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        let meter = Arc::clone(meter);
        connection
            .create_scalar_function(name, 2, flags, move |context| trimmed(context, &meter, start, end))?;
    }
    // SQLite looks these up when a query reads a column that has one as its default, but does not call it then.
    for name in ["current_date", "current_time", "current_timestamp"] {
        connection.create_scalar_function(name, 0, flags, move |_| -> rusqlite::Result<i64> {
            let message = format!("refused: {name} has another value at each run");
            Err(rusqlite::Error::UserFunctionError(message.into()))
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Like,
    Glob,
}

/// An element of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum PatternElement {
    /// Any text, including the empty one.
    AnyText,
    /// Any one character.
    AnyCharacter,
    /// This character.
    Character(char),
    /// A character in one of these inclusive ranges; in none of them if `negated`.
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl PatternElement {
    fn accepts(&self, c: char, dialect: Dialect) -> bool {
        match self {
            PatternElement::AnyText => false,
            PatternElement::AnyCharacter => true,
            PatternElement::Character(expected) if dialect == Dialect::Like => {
                expected.eq_ignore_ascii_case(&c)
            }
            PatternElement::Character(expected) => *expected == c,
            PatternElement::Set { ranges, negated } => {
                ranges.iter().any(|&(from, to)| (from..=to).contains(&c)) != *negated
            }
        }
    }
}

/// `like(pattern, text, escape?)` and `glob(pattern, text)`.
fn matches(context: &Context<'_>, meter: &Meter, dialect: Dialect) -> rusqlite::Result<Option<bool>> {
    let (Some(pattern), Some(text)) = (text_of(context.get_raw(0)), text_of(context.get_raw(1))) else {
        return Ok(None);
    };
    let escape = match (context.len(), context.len() == 3 && context.get_raw(2) == ValueRef::Null) {
        (3, true) => return Ok(None),
        (3, false) => {
            let escape = text_of(context.get_raw(2)).unwrap_or_default();
            let mut characters = escape.chars();
            match (characters.next(), characters.next()) {
                (Some(escape), None) => Some(escape),
                _ => return Err(failure("ESCAPE expression must be a single character")),
            }
        }
        _ => None,
    };
    if pattern.chars().nth(LONGEST_PATTERN).is_some() {
        return Err(failure("LIKE or GLOB pattern too complex"));
    }
    let elements = match dialect {
        Dialect::Like => Some(like_pattern(&pattern, escape)),
        Dialect::Glob => glob_pattern(&pattern),
    };
    // A pattern with a set that is not closed matches nothing.
    let Some(elements) = elements else { return Ok(Some(false)) };
    matches_whole(&elements, &text, dialect, meter).map(Some)
}

fn like_pattern(pattern: &str, escape: Option<char>) -> Vec<PatternElement> {
    let mut elements = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        elements.push(match c {
            // An escape at the end of a pattern matches nothing, like a set without members.
            _ if Some(c) == escape => characters.next().map_or(
                PatternElement::Set { ranges: Vec::new(), negated: false },
                PatternElement::Character,
            ),
            '%' => PatternElement::AnyText,
            '_' => PatternElement::AnyCharacter,
            _ => PatternElement::Character(c),
        });
    }
    elements
}

fn glob_pattern(pattern: &str) -> Option<Vec<PatternElement>> {
    let mut elements = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    while let Some(c) = characters.next() {
        elements.push(match c {
            '*' => PatternElement::AnyText,
            '?' => PatternElement::AnyCharacter,
            '[' => {
                let negated = characters.next_if_eq(&'^').is_some();
                let mut ranges: Vec<(char, char)> = Vec::new();
                // A closing bracket right after the opening one is a member.
                if characters.next_if_eq(&']').is_some() {
                    ranges.push((']', ']'));
                }
                loop {
                    match characters.next()? {
                        ']' => break,
                        '-' if !ranges.is_empty() && characters.peek().is_some_and(|&next| next != ']') => {
                            if let (Some(last), Some(to)) = (ranges.last_mut(), characters.next()) {
                                last.1 = to;
                            }
                        }
                        member => ranges.push((member, member)),
                    }
                }
                PatternElement::Set { ranges, negated }
            }
            _ => PatternElement::Character(c),
        });
    }
    Some(elements)
}

/// Returns whether the pattern matches the whole text. It backtracks only to the last `AnyText`: if the rest of the
/// pattern does not match after that one, a longer match of an earlier one does not help.
fn matches_whole(
    elements: &[PatternElement],
    text: &str,
    dialect: Dialect,
    meter: &Meter,
) -> rusqlite::Result<bool> {
    // Positions in the pattern and in the text.
    let (mut element, mut at) = (0, 0);
    // The element after the last wildcard, and the last position in the text where it was tried.
    let mut wildcard: Option<(usize, usize)> = None;
    let mut comparisons: u64 = 0;
    let is_match = loop {
        comparisons += 1;
        if comparisons.is_multiple_of(COMPARISONS_A_CHARGE)
            && meter.charge(COMPARISONS_A_CHARGE / COMPARISONS_A_STEP)
        {
            return Err(failure("interrupted"));
        }
        let next = text[at..].chars().next();
        match (elements.get(element), next) {
            (Some(PatternElement::AnyText), _) => {
                element += 1;
                wildcard = Some((element, at));
            }
            (Some(expected), Some(c)) if expected.accepts(c, dialect) => {
                element += 1;
                at += c.len_utf8();
            }
            (None, None) => break true,
            (None, Some(_)) if elements.last() == Some(&PatternElement::AnyText) => break true,
            // The text has ended, and the rest of the pattern needs more of it, wherever the wildcard ends.
            (Some(_), None) => break false,
            _ => match wildcard {
                None => break false,
                Some((after, tried)) => {
                    let Some(skipped) = text[tried..].chars().next() else { break false };
                    at = tried + skipped.len_utf8();
                    element = after;
                    wildcard = Some((after, at));
                }
            },
        }
    };
    meter.charge(comparisons % COMPARISONS_A_CHARGE / COMPARISONS_A_STEP);
    Ok(is_match)
}

/// `instr(text, part)`: the position of the part in the text, counted from 1; 0 if it is not there.
fn position(context: &Context<'_>, meter: &Meter) -> rusqlite::Result<Option<i64>> {
    let (Some(text), Some(part)) = (text_of(context.get_raw(0)), text_of(context.get_raw(1))) else {
        return Ok(None);
    };
    charge(meter, text.len())?;
    let found = text.find(&*part).map_or(0, |at| text[..at].chars().count() + 1);
    Ok(Some(found as i64))
}

/// `trim(text, characters)`, `ltrim` and `rtrim`.
fn trimmed(context: &Context<'_>, meter: &Meter, start: bool, end: bool) -> rusqlite::Result<Option<String>> {
    let (Some(text), Some(characters)) = (text_of(context.get_raw(0)), text_of(context.get_raw(1))) else {
        return Ok(None);
    };
    charge(meter, text.len() + characters.len())?;
    let characters: rustc_hash::FxHashSet<char> = characters.chars().collect();
    let mut rest = &*text;
    if start {
        rest = rest.trim_start_matches(|c| characters.contains(&c));
    }
    if end {
        rest = rest.trim_end_matches(|c| characters.contains(&c));
    }
    Ok(Some(rest.to_owned()))
}

/// Charges the meter, and returns an error if the run must stop.
fn charge(meter: &Meter, comparisons: usize) -> rusqlite::Result<()> {
    if meter.charge(comparisons as u64 / COMPARISONS_A_STEP) { Err(failure("interrupted")) } else { Ok(()) }
}

fn failure(message: &str) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(message.into())
}

/// Converts a value to text as SQLite does; `None` for NULL.
fn text_of(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string().into()),
        ValueRef::Real(real) => Some(text_of_real(real).into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
    }
}

/// Converts a number to text with SQLite itself, which has rules of its own for digits and exponents.
fn text_of_real(real: f64) -> String {
    let mut text = [0_u8; 64];
    let size = text.len() as c_int;
    // SAFETY: SQLite writes at most `size` bytes, the last of them a NUL, and this format takes one double.
    unsafe { ffi::sqlite3_snprintf(size, text.as_mut_ptr().cast(), c"%!.17g".as_ptr(), real) };
    CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned()
}
