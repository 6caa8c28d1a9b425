//! The printed form of a query's answer. Equal answers have equal texts.
//!
//! ```text
//! (bag ("alaska" 591000) ("texas" 266807))      rows without an order, printed sorted
//! (list ("alaska" 591000) ("texas" 266807))     rows in the order of the query's ORDER BY
//! ```
//!
//! A row is its cells: `null`, a number, `"text"` with control characters, `"` and `\` escaped, or `x'00ff'`. Only text
//! is quoted, so different answers have different texts. A single row is always a bag, so that "the largest" is the same
//! with and without ORDER BY.
//!
//! A real number without fraction is printed as an integer, and any other with [`DIGITS`] significant digits, so that
//! sums in different orders are equal. Two such sums can still differ if a rounding boundary is between them, which is the
//! case for about one pair in a hundred million.
//!
//! People see more digits: an answer that is printed for [`Purpose::Display`] has [`SHOWN_DIGITS`], and is never compared.

use super::cell::Cell;
use crate::Outcome;
use std::cmp::Ordering;
use std::fmt::{self, Write as _};

/// The significant digits of numbers with a fraction. They decide which computed numbers count as equal.
const DIGITS: usize = 9;
/// The significant digits of numbers with a fraction that people see: all that can be trusted of a sum.
const SHOWN_DIGITS: usize = 15;
/// A printed number with fewer digits is not one of many digits that was rounded, up to a part in a hundred million.
const MAYBE_ROUNDED: usize = 8;

/// How an answer whose rows have no order begins, and one whose rows have.
const BAG: &str = "(bag";
const LIST: &str = "(list";

/// What an answer is printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Comparing it with others: numbers have [`DIGITS`] digits, and rows of nothing but NULLs are no answer.
    Comparison,
    /// Showing it: numbers have [`SHOWN_DIGITS`] digits, and every row is there.
    Display,
}

/// Returns whether the outcome of a query may lack something that people would see in its answer: digits of a number, or rows of nothing but
/// NULLs. [`Executor::full_answer`](crate::Executor::full_answer) has them.
pub fn may_be_abridged(outcome: &Outcome) -> bool {
    let has_many_digits = |cell: &AnswerCell| match cell {
        AnswerCell::Number(printed) => {
            let digits = printed.split('e').next().unwrap_or_default().bytes().filter(u8::is_ascii_digit);
            digits.count() >= MAYBE_ROUNDED
        }
        _ => false,
    };
    match outcome {
        Outcome::Empty => true,
        Outcome::Value(answer) => {
            answer_cells(answer).is_some_and(|rows| rows.iter().flatten().any(has_many_digits))
        }
        _ => false,
    }
}

/// Returns whether an answer is a single 0, as a number or as a text.
pub fn is_zero(answer: &str) -> bool {
    // A single row has no order.
    matches!(answer, "(bag (0))" | "(bag (\"0\"))")
}

/// Returns whether two printed answers are the same. The order of rows matters only if `gold` has one.
pub fn same_answer(gold: &str, guess: &str) -> bool {
    if gold == guess {
        return true;
    }
    // Rows have the same text with and without an order, and `list` is one letter longer than `bag`. Most different answers
    // differ in length, so they need not be read.
    let may_differ_in_order = gold.starts_with(BAG)
        && guess.starts_with(LIST)
        && guess.len() == gold.len() + LIST.len() - BAG.len();
    if !may_differ_in_order {
        return false;
    }
    match (rows_of(gold), rows_of(guess)) {
        (Some((false, gold)), Some((true, mut guess))) => {
            guess.sort_unstable();
            gold == guess
        }
        _ => false,
    }
}

/// Returns whether the rows of a printed answer have an order that its query asks for.
pub fn has_order(answer: &str) -> bool {
    answer.starts_with(LIST)
}

/// Splits a printed answer into rows. Also returns whether they have an order.
fn rows_of(answer: &str) -> Option<(bool, Vec<&str>)> {
    let (ordered, rest) = match answer.strip_prefix("(list ") {
        Some(rest) => (true, rest),
        None => (false, answer.strip_prefix("(bag ")?),
    };
    let rest = rest.strip_suffix(')')?;
    let mut rows = Vec::new();
    let (mut quoted, mut escaped, mut start) = (false, false, None);
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => start = Some(at),
            ')' if !quoted => rows.push(&rest[start.take()?..=at]),
            _ => {}
        }
    }
    Some((ordered, rows))
}

/// A cell of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerCell {
    /// `NULL`
    Null,
    /// A number, as it is printed.
    Number(String),
    /// A text.
    Text(String),
    /// Bytes that are no text, as they are printed.
    Bytes(String),
}

/// Writes a cell without quotes. Control characters are escaped, as they would disturb a terminal.
impl fmt::Display for AnswerCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerCell::Null => f.write_str("null"),
            AnswerCell::Number(printed) | AnswerCell::Bytes(printed) => f.write_str(printed),
            AnswerCell::Text(text) => text.chars().try_for_each(|c| match is_escaped(c) {
                true => write!(f, "{}", c.escape_unicode()),
                false => f.write_char(c),
            }),
        }
    }
}

/// Returns the rows of a printed answer, each as a list of cells. Returns `None` if the text is not the answer of a query.
///
/// ```
/// use xpr_exec::database::{AnswerCell, answer_cells};
///
/// let rows = answer_cells(r#"(bag ("8" 8) (null 3.5))"#).expect("an answer");
/// assert_eq!(rows[0], [AnswerCell::Text("8".into()), AnswerCell::Number("8".into())]);
/// assert_eq!(rows[1][0], AnswerCell::Null);
/// ```
pub fn answer_cells(answer: &str) -> Option<Vec<Vec<AnswerCell>>> {
    let (_, rows) = rows_of(answer)?;
    Some(rows.into_iter().map(|row| cells_of(&row[1..row.len() - 1])).collect())
}

/// Returns the rows of a printed answer, each as a list of cells without quotes. Returns `None` if the text is not the
/// answer of a query.
///
/// ```
/// let rows = xpr_exec::database::answer_rows(r#"(bag ("Castle \"Hill\"" 8) (null 3.5))"#).expect("an answer");
/// assert_eq!(rows, [["Castle \"Hill\"", "8"], ["null", "3.5"]]);
/// ```
pub fn answer_rows(answer: &str) -> Option<Vec<Vec<String>>> {
    let rows = answer_cells(answer)?.into_iter();
    Some(rows.map(|row| row.iter().map(ToString::to_string).collect()).collect())
}

/// Splits a row into cells.
fn cells_of(row: &str) -> Vec<AnswerCell> {
    let mut cells = Vec::new();
    let mut rest = row;
    while !rest.is_empty() {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                // Text that is not UTF-8 is printed as `text x'ff'`.
                let start = if rest.starts_with("text x'") { "text ".len() } else { 0 };
                let end = rest[start..].find(' ').map_or(rest.len(), |end| start + end);
                let printed = rest[..end].to_owned();
                let cell = match printed.as_str() {
                    "null" => AnswerCell::Null,
                    _ if printed.ends_with('\'') => AnswerCell::Bytes(printed),
                    _ => AnswerCell::Number(printed),
                };
                (cell, &rest[end..])
            }
        };
        cells.push(cell);
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    cells
}

/// Reads a printed text after its first quote, and returns it with what follows its last one.
fn unquoted(quoted: &str) -> (AnswerCell, &str) {
    let mut text = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (AnswerCell::Text(text), &quoted[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'u')) => {
                    let digits: String =
                        chars.by_ref().map(|(_, c)| c).skip(1).take_while(|&c| c != '}').collect();
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                other => text.extend(other.map(|(_, c)| c)),
            },
            _ => text.push(c),
        }
    }
    (AnswerCell::Text(text), "")
}

/// Returns whether a character of a text is printed as an escape: an answer is a single line.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns the answer with these printed rows.
pub(crate) fn print_rows(mut rows: Vec<String>, ordered: bool) -> String {
    let ordered = ordered && rows.len() > 1;
    if !ordered {
        rows.sort_unstable();
    }
    let length: usize = rows.iter().map(|row| row.len() + 1).sum();
    let mut text = String::with_capacity(length + 6);
    text.push_str(if ordered { LIST } else { BAG });
    for row in rows {
        text.push(' ');
        text.push_str(&row);
    }
    text.push(')');
    text
}

/// Appends a printed cell to `text`.
pub(crate) fn print_cell(text: &mut String, cell: Cell<'_>, purpose: Purpose) {
    let digits = match purpose {
        Purpose::Comparison => DIGITS,
        Purpose::Display => SHOWN_DIGITS,
    };
    // Writing to a string cannot fail.
    match cell {
        Cell::Null => text.push_str("null"),
        Cell::Integer(integer) => {
            let _ = write!(text, "{integer}");
        }
        Cell::Real(real) => print_real(text, real, digits),
        Cell::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(characters) => print_text(text, characters),
            Err(_) => {
                text.push_str("text ");
                print_bytes(text, bytes);
            }
        },
        Cell::Blob(bytes) => print_bytes(text, bytes),
    }
}

fn print_real(text: &mut String, real: f64, digits: usize) {
    const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0; // 2^63
    let _ = match real.partial_cmp(&0.0) {
        None => write!(text, "nan"),
        // Also −0.
        Some(Ordering::Equal) => write!(text, "0"),
        Some(_) if real.fract() == 0.0 && real.abs() < INTEGERS_END => write!(text, "{}", real as i64),
        Some(_) if real.is_infinite() => write!(text, "{real}"),
        Some(_) => {
            let rounded: f64 = format!("{real:.*e}", digits - 1).parse().unwrap_or(real);
            if rounded.fract() == 0.0 && rounded.abs() < INTEGERS_END {
                write!(text, "{}", rounded as i64)
            } else {
                write!(text, "{rounded:?}")
            }
        }
    };
}

fn print_text(text: &mut String, characters: &str) {
    text.push('"');
    for c in characters.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            _ if is_escaped(c) => text.extend(c.escape_unicode()),
            _ => text.push(c),
        }
    }
    text.push('"');
}

fn print_bytes(text: &mut String, bytes: &[u8]) {
    text.push_str("x'");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_have_equal_texts() {
        let cases: [(Cell<'_>, &str); 17] = [
            (Cell::Null, "null"),
            (Cell::Integer(-3), "-3"),
            (Cell::Integer(i64::MIN), "-9223372036854775808"),
            (Cell::Real(3.0), "3"),
            (Cell::Real(-0.0), "0"),
            (Cell::Real(0.1 + 0.2), "0.3"),
            (Cell::Real(75.319_148_936_170_21), "75.3191489"),
            (Cell::Real(2.999_999_999_999), "3"),
            (Cell::Real(1e300), "1e300"),
            (Cell::Real(1.0e-7 / 3.0), "3.33333333e-8"),
            (Cell::Real(f64::INFINITY), "inf"),
            (Cell::Real(f64::NEG_INFINITY), "-inf"),
            (Cell::Text(b"null"), r#""null""#),
            (Cell::Text(b"a\"b\\c)\n(\t"), r#""a\"b\\c)\u{a}(\u{9}""#),
            (Cell::Text("Zürich".as_bytes()), "\"Zürich\""),
            (Cell::Text(&[0xff]), "text x'ff'"),
            (Cell::Blob(&[0, 255]), "x'00ff'"),
        ];
        for (cell, expected) in cases {
            let mut text = String::new();
            print_cell(&mut text, cell, Purpose::Comparison);
            assert_eq!(text, expected);
        }
    }

    /// Issue 19: people saw sums of money without their cents.
    #[test]
    fn people_see_the_digits_that_comparison_leaves_out() {
        for (real, compared, shown) in [
            (12_345_678.95, "12345678.9", "12345678.95"),
            (12_345_678.04, "12345678", "12345678.04"),
            (1_700_000_000.5, "1700000000", "1700000000.5"),
            (52.520_006_599, "52.5200066", "52.520006599"),
            (1.234_567_891e-20, "1.23456789e-20", "1.234567891e-20"),
            (0.1 + 0.2, "0.3", "0.3"),
            (2.5, "2.5", "2.5"),
        ] {
            let printed = |purpose| {
                let mut text = String::new();
                print_cell(&mut text, Cell::Real(real), purpose);
                text
            };
            assert_eq!(printed(Purpose::Comparison), compared);
            assert_eq!(printed(Purpose::Display), shown);
            let outcome = Outcome::Value(print_rows(vec![format!("(1 {compared})")], false));
            assert_eq!(may_be_abridged(&outcome), compared != shown, "{real}");
        }
        assert!(may_be_abridged(&Outcome::Empty));
        assert!(
            !may_be_abridged(&Outcome::Value("(bag (\"123456789\" 7))".into())),
            "a text has all of its digits"
        );
        assert!(!may_be_abridged(&Outcome::Timeout("12345678".into())));
    }

    #[test]
    fn answers_are_split_into_rows() {
        assert_eq!(
            answer_rows("(list (2 \"a)(\") (1 null))"),
            Some(vec![vec!["2".into(), "a)(".into()], vec!["1".into(), "null".into()]])
        );
        assert_eq!(answer_rows("(bag (0))"), Some(vec![vec!["0".into()]]));
        assert_eq!(answer_rows("(list)"), None);
    }

    #[test]
    fn a_single_zero_is_a_number_or_a_text() {
        let answer = |cells: &[Cell<'_>]| {
            let rows = cells.iter().map(|&cell| {
                let mut row = String::from("(");
                print_cell(&mut row, cell, Purpose::Comparison);
                row + ")"
            });
            print_rows(rows.collect(), true)
        };
        let (number, text) = (Cell::Integer(0), Cell::Text(b"0"));
        for zero in [number, text, Cell::Real(-0.0)] {
            assert!(is_zero(&answer(&[zero])));
        }
        for other in [&[number, number][..], &[Cell::Null], &[Cell::Integer(10)], &[Cell::Text(b"00")]] {
            assert!(!is_zero(&answer(other)), "{other:?}");
        }
    }

    #[test]
    fn cells_are_read_as_they_were_printed() {
        for cell in [
            Cell::Null,
            Cell::Integer(7),
            Cell::Real(2.5),
            Cell::Text(b"null"),
            Cell::Text(b"a\"b\\c)\n(\t"),
            Cell::Text(b""),
            Cell::Text(&[0xff]),
            Cell::Blob(&[0, 255]),
        ] {
            let mut row = String::from("(");
            print_cell(&mut row, cell, Purpose::Comparison);
            row.push(' ');
            print_cell(&mut row, cell, Purpose::Comparison);
            row.push(')');
            let rows = answer_cells(&print_rows(vec![row], false)).unwrap();
            let expected = match cell {
                Cell::Null => AnswerCell::Null,
                Cell::Integer(_) => AnswerCell::Number("7".into()),
                Cell::Real(_) => AnswerCell::Number("2.5".into()),
                Cell::Text(&[0xff]) => AnswerCell::Bytes("text x'ff'".into()),
                Cell::Text(text) => AnswerCell::Text(String::from_utf8(text.to_vec()).unwrap()),
                Cell::Blob(_) => AnswerCell::Bytes("x'00ff'".into()),
            };
            assert_eq!(rows, [vec![expected.clone(), expected]]);
        }
    }

    #[test]
    fn order_matters_only_if_the_gold_answer_has_one() {
        let (bag, list, reversed) =
            ("(bag (1 \")(\") (2))", "(list (1 \")(\") (2))", "(list (2) (1 \")(\"))");
        assert!(same_answer(bag, list) && same_answer(bag, reversed) && same_answer(list, list));
        assert!(!same_answer(list, reversed) && !same_answer(list, bag) && !same_answer(bag, "(bag (1))"));
        assert!(!same_answer("(list)", bag) && same_answer("(list)", "(list)"));
        // Different answers of the same length are read.
        assert!(
            !same_answer("(bag (1) (3))", "(list (2) (1))") && same_answer("(bag (1) (2))", "(list (2) (1))")
        );
    }
}
