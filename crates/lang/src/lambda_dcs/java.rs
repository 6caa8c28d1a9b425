//! Java's conventions in the text of a form: numbers, white space and quotes.

/// Parses a double as `Double.parseDouble` does. Unlike Rust's parser it accepts `1d`, `0x1p3`, `NaN` and
/// surrounding white space, but neither `inf` nor `nan`.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let value = match magnitude {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        _ => {
            let number = magnitude.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(magnitude);
            match number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
                // In hexadecimal the suffix letters are digits, but an exponent must follow them.
                Some(hexadecimal) => parse_hexadecimal(hexadecimal)?,
                None if number.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                    number.parse().ok()?
                }
                None => return None,
            }
        }
    };
    Some(if negative { -value } else { value })
}

/// Parses hexadecimal digits and a binary exponent, such as `1.8p3`.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut mantissa, mut scale) = (0u64, 0i32);
    for (is_fraction, digit) in whole.bytes().map(|b| (false, b)).chain(fraction.bytes().map(|b| (true, b))) {
        let digit = (digit as char).to_digit(16)?;
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            scale -= if is_fraction { 4 } else { 0 };
        } else {
            // Beyond 60 bits, a digit only decides the direction of rounding.
            mantissa |= u64::from(digit != 0);
            scale += if is_fraction { 0 } else { 4 };
        }
    }
    Some(mantissa as f64 * 2f64.powi(scale.saturating_add(exponent).clamp(-1200, 1200)))
}

/// Parses an integer as `Integer.valueOf` does.
pub(super) fn parse_int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// Writes a double so that parsing it returns the same value, bit for bit.
pub fn write_double(out: &mut String, value: f64) {
    use std::fmt::Write;
    let infinite = if value > 0.0 { "Infinity" } else { "-Infinity" };
    let result = if value.is_infinite() { out.write_str(infinite) } else { write!(out, "{value}") };
    result.expect("writing to a string does not fail");
}

/// Writes a word as SEMPRE does: in quotes where necessary, and as `\0` if it is null.
pub fn write_leaf(out: &mut String, word: Option<&str>) {
    let Some(word) = word else {
        out.push_str("\\0");
        return;
    };
    if word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) && !word.is_empty()
    {
        out.push_str(word);
        return;
    }
    let quoted = word.is_empty() || word.contains(|c| is_whitespace(c) || matches!(c, '(' | ')' | '#'));
    if quoted {
        out.push('"');
    }
    for c in word.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    if quoted {
        out.push('"');
    }
}

/// Returns what `Character.isWhitespace` does: true for Unicode's spaces except the non-breaking ones, and for
/// some control characters.
pub(super) fn is_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1c'..='\x1f' => true,
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        _ => c.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_parsed_as_java_parses_them() {
        let cases = [
            ("3", Some(3.0)),
            ("+5", Some(5.0)),
            ("5.", Some(5.0)),
            (".5", Some(0.5)),
            ("1e10", Some(1e10)),
            ("1d", Some(1.0)),
            ("2f", Some(2.0)),
            (" 7 ", Some(7.0)),
            ("0x1p3", Some(8.0)),
            ("0x.8p1", Some(1.0)),
            ("0x1.8p-1", Some(0.75)),
            ("0xffffffffffffffffffffp0", Some(1208925819614629174706175.0)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("inf", None),
            ("infinity", None),
            ("nan", None),
            ("0x10", None),
            ("0xp1", None),
            ("1_000", None),
            ("1,5", None),
            ("", None),
            ("-", None),
            (".", None),
            ("e5", None),
            ("--5", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_double(text), expected, "{text}");
        }
        assert!(parse_double("NaN").is_some_and(f64::is_nan));
        assert!(parse_double("-0.0").is_some_and(|zero| zero.is_sign_negative()));
    }
}
