//! Functions of SQL whose own version can take very long in a single step.
//!
//! SQLite looks at the meter between steps, and a call of a function is one. Its `LIKE` and `GLOB` try the rest of the pattern
//! from every place a wildcard could end, which for `%a%a%a%b` on a long text does not finish; its `instr` and two-argument `trim`
//! compare everything with everything. These here mean the same, take time in proportion to text × pattern
//! at most, and charge the meter for it.

use super::guard::Meter;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};
use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::sync::Arc;

/// Characters of a pattern.
const LONGEST_PATTERN: usize = 200;
/// Comparisons of characters that cost about as much as a step of SQLite's machine.
const COMPARISONS_A_STEP: u64 = 16;

/// Puts them in the place of SQLite's.
pub(super) fn install(connection: &Connection, meter: &Arc<Meter>) -> rusqlite::Result<()> {
    // They may be used in views, which a schema that is not trusted allows only for functions said to be harmless.
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
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Like,
    Glob,
}

/// A part of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Any text, also none.
    Anything,
    /// One character, whichever.
    One,
    /// This character.
    Character(char),
    /// One of these, from and to; or none of them.
    Set { ranges: Vec<(char, char)>, negated: bool },
}

impl Part {
    fn accepts(&self, c: char, dialect: Dialect) -> bool {
        match self {
            Part::Anything => false,
            Part::One => true,
            Part::Character(expected) if dialect == Dialect::Like => expected.eq_ignore_ascii_case(&c),
            Part::Character(expected) => *expected == c,
            Part::Set { ranges, negated } => {
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
    let parts = match dialect {
        Dialect::Like => Some(like_parts(&pattern, escape)),
        Dialect::Glob => glob_parts(&pattern),
    };
    // A set that is not closed matches nothing.
    let Some(parts) = parts else { return Ok(Some(false)) };
    walk(&parts, &text, dialect, meter).map(Some)
}

fn like_parts(pattern: &str, escape: Option<char>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        parts.push(match c {
            // A set without members: an escape with nothing after it matches nothing.
            _ if Some(c) == escape => {
                characters.next().map_or(Part::Set { ranges: Vec::new(), negated: false }, Part::Character)
            }
            '%' => Part::Anything,
            '_' => Part::One,
            _ => Part::Character(c),
        });
    }
    parts
}

fn glob_parts(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    while let Some(c) = characters.next() {
        parts.push(match c {
            '*' => Part::Anything,
            '?' => Part::One,
            '[' => {
                let negated = characters.next_if_eq(&'^').is_some();
                let mut ranges: Vec<(char, char)> = Vec::new();
                // A bracket right after the opening one is a member.
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
                Part::Set { ranges, negated }
            }
            _ => Part::Character(c),
        });
    }
    Some(parts)
}

/// Whether the whole text fits. Only the last wildcard is ever gone back to: an earlier one could do no better.
fn walk(parts: &[Part], text: &str, dialect: Dialect, meter: &Meter) -> rusqlite::Result<bool> {
    let (mut part, mut at) = (0, 0);
    // The part after the last wildcard, and where it was tried last.
    let mut wildcard: Option<(usize, usize)> = None;
    let mut comparisons: u64 = 0;
    let fits = loop {
        comparisons += 1;
        if comparisons.is_multiple_of(1 << 14) && meter.charge((1 << 14) / COMPARISONS_A_STEP) {
            return Err(failure("interrupted"));
        }
        let next = text[at..].chars().next();
        match (parts.get(part), next) {
            (Some(Part::Anything), _) => {
                part += 1;
                wildcard = Some((part, at));
            }
            (Some(expected), Some(c)) if expected.accepts(c, dialect) => {
                part += 1;
                at += c.len_utf8();
            }
            (None, None) => break true,
            (None, Some(_)) if parts.last() == Some(&Part::Anything) => break true,
            // Out of text: what is left of the pattern needs some, wherever the wildcard ends.
            (Some(_), None) => break false,
            _ => match wildcard {
                None => break false,
                Some((after, tried)) => {
                    let Some(skipped) = text[tried..].chars().next() else { break false };
                    at = tried + skipped.len_utf8();
                    part = after;
                    wildcard = Some((after, at));
                }
            },
        }
    };
    meter.charge(comparisons % (1 << 14) / COMPARISONS_A_STEP);
    Ok(fits)
}

/// `instr(text, part)`: where the part begins, from 1; 0 if it is not there.
fn position(context: &Context<'_>, meter: &Meter) -> rusqlite::Result<Option<i64>> {
    let (Some(text), Some(part)) = (text_of(context.get_raw(0)), text_of(context.get_raw(1))) else {
        return Ok(None);
    };
    charge(meter, text.len())?;
    let found = text.find(&*part).map_or(0, |at| text[..at].chars().count() + 1);
    Ok(Some(found as i64))
}

/// `trim(text, characters)` and its halves.
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

fn charge(meter: &Meter, comparisons: usize) -> rusqlite::Result<()> {
    if meter.charge(comparisons as u64 / COMPARISONS_A_STEP) { Err(failure("interrupted")) } else { Ok(()) }
}

fn failure(message: &str) -> rusqlite::Error {
    rusqlite::Error::UserFunctionError(message.into())
}

/// A value as text, the way SQLite converts it; `None` for NULL.
fn text_of(value: ValueRef<'_>) -> Option<Cow<'_, str>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string().into()),
        ValueRef::Real(real) => Some(text_of_real(real).into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes)),
    }
}

/// A number as SQLite's own functions see it; it has rules of its own for digits and exponents.
fn text_of_real(real: f64) -> String {
    let mut text = [0_u8; 64];
    let size = text.len() as c_int;
    // SAFETY: SQLite writes at most `size` bytes, the last of them a NUL, and this format takes one double.
    unsafe { ffi::sqlite3_snprintf(size, text.as_mut_ptr().cast(), c"%!.17g".as_ptr(), real) };
    CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned()
}
