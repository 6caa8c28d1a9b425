//! The constants of queries.

use std::fmt;

/// A constant. Its canonical text, which `Display` writes, is the symbol of an item.
///
/// Two literals are equal if SQLite cannot distinguish them. So `007` equals `7`, but `7` does not equal `7.0`:
/// division and comparison with text treat them differently.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// A number, in canonical form: an integer in decimal, or a real number with a point or exponent.
    Number(String),
    /// A text, without quotes and escapes.
    Text(String),
}

/// The kind of a literal, which decides what it may be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// A number.
    Number,
    /// A number in quotes: a text, but SQLite converts it when it is compared with a column of numbers.
    QuotedNumber,
    /// A date or time in quotes.
    Time,
    /// Any other text. The grammar does not compare it with numbers.
    Word,
}

impl Literal {
    /// Creates a text.
    pub fn text(text: impl Into<String>) -> Self {
        Literal::Text(text.into())
    }

    /// Creates an integer.
    pub fn integer(number: i64) -> Self {
        Literal::Number(number.to_string())
    }

    /// Parses a number as SQLite does; none if the text is not a number.
    pub fn number(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // Rust would also parse `inf`, `nan` and a second sign.
        if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return None;
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(integer) = text.parse::<i64>()
        {
            return Some(Literal::integer(integer));
        }
        let real: f64 = text.parse().ok()?;
        real.is_finite().then(|| Literal::Number(format!("{real:?}")))
    }

    /// Parses the canonical text of a literal.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        match symbol.strip_prefix('\'') {
            Some(rest) => Some(Literal::Text(rest.strip_suffix('\'')?.replace("''", "'"))),
            None => Literal::number(symbol),
        }
    }

    /// Returns the number with the opposite sign; none for a text.
    pub fn negated(&self) -> Option<Self> {
        match self {
            Literal::Number(number) => match number.strip_prefix('-') {
                Some(positive) => Literal::number(positive),
                None => Literal::number(&format!("-{number}")),
            },
            Literal::Text(_) => None,
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> LiteralKind {
        match self {
            Literal::Number(_) => LiteralKind::Number,
            Literal::Text(text) if Literal::number(text.trim()).is_some() => LiteralKind::QuotedNumber,
            Literal::Text(text) if looks_like_time(text) => LiteralKind::Time,
            Literal::Text(_) => LiteralKind::Word,
        }
    }
}

/// Returns whether a text is made of groups of digits with the separators of dates and times, such as
/// `2014-05-01 10:30` or `5/6/2008`.
fn looks_like_time(text: &str) -> bool {
    let separators = text.bytes().filter(|byte| matches!(byte, b'-' | b'/' | b':')).count();
    text.starts_with(|first: char| first.is_ascii_digit())
        && (1..=5).contains(&separators)
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"-/: .TZ+".contains(&byte))
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Number(number) => f.write_str(number),
            Literal::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_canonical_text() {
        for (text, canonical) in [
            ("7", "7"),
            ("007", "7"),
            ("7.0", "7.0"),
            ("7.50", "7.5"),
            (".5", "0.5"),
            ("1e3", "1000.0"),
            ("-3", "-3"),
            ("9223372036854775808", "9.223372036854776e18"),
        ] {
            let number = Literal::number(text).unwrap();
            assert_eq!(number.to_string(), canonical);
            assert_eq!(Literal::from_symbol(canonical), Some(number));
        }
        for text in ["", "-", "--1", "inf", "nan", "1e999", "0x10", "one", "+1"] {
            assert_eq!(Literal::number(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_escaped_and_unescaped() {
        for text in ["texas", "o'neill", "", "''", "a\"b", "--", "x; drop"] {
            let literal = Literal::text(text);
            assert_eq!(Literal::from_symbol(&literal.to_string()), Some(literal));
        }
        assert_eq!(Literal::text("o'neill").to_string(), "'o''neill'");
    }

    #[test]
    fn the_kind_follows_from_the_text() {
        use LiteralKind::*;
        for (symbol, kind) in [
            ("5", Number),
            ("'5'", QuotedNumber),
            ("'-2.5'", QuotedNumber),
            ("'2010-01-02'", Time),
            ("'10:30'", Time),
            ("'2010-01-02 10:30:00'", Time),
            ("'texas'", Word),
            ("'-'", Word),
            ("''", Word),
            ("'3-for-2'", Word),
        ] {
            assert_eq!(Literal::from_symbol(symbol).unwrap().kind(), kind, "{symbol}");
        }
    }
}
