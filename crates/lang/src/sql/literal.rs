//! Constants in a query.

use std::fmt;

/// A constant: its canonical text is the symbol of a value item.
///
/// Two literals are equal if SQLite cannot tell them apart, so `007` and `7` are one and `7` and `7.0`
/// are two: division and comparison with text see the difference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// A number, in canonical form: an integer in decimal, or a real number with a point or exponent.
    Number(String),
    /// Text, without quotes.
    Text(String),
}

/// What a literal looks like, which decides what it may be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// A number.
    Number,
    /// A number in quotes: text, but as good as a number beside a column of numbers.
    QuotedNumber,
    /// A date or time in quotes.
    Time,
    /// Any other text. Comparing it with a number is a mistake.
    Word,
}

impl Literal {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Literal::Text(text.into())
    }

    /// A whole number.
    pub fn integer(number: i64) -> Self {
        Literal::Number(number.to_string())
    }

    /// The number that SQL writes as `text`, if SQLite would read one.
    pub fn number(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        // Rust also reads `inf`, `nan` and a second sign, which SQL does not.
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

    /// The literal with the canonical text `symbol`, if it is one.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        match symbol.strip_prefix('\'') {
            Some(rest) => Some(Literal::Text(rest.strip_suffix('\'')?.replace("''", "'"))),
            None => Literal::number(symbol),
        }
    }

    /// The same number with the other sign; none for text.
    pub fn negated(&self) -> Option<Self> {
        match self {
            Literal::Number(number) => match number.strip_prefix('-') {
                Some(positive) => Literal::number(positive),
                None => Literal::number(&format!("-{number}")),
            },
            Literal::Text(_) => None,
        }
    }

    /// What it looks like.
    pub fn kind(&self) -> LiteralKind {
        match self {
            Literal::Number(_) => LiteralKind::Number,
            Literal::Text(text) if Literal::number(text.trim()).is_some() => LiteralKind::QuotedNumber,
            Literal::Text(text) if looks_like_time(text) => LiteralKind::Time,
            Literal::Text(_) => LiteralKind::Word,
        }
    }
}

/// Digits in groups, with the separators of dates and times between them: `2014-05-01 10:30`, `5/6/2008`.
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
    fn numbers_are_canonical() {
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
    fn text_is_escaped() {
        for text in ["texas", "o'neill", "", "''", "a\"b", "--", "x; drop"] {
            let literal = Literal::text(text);
            assert_eq!(Literal::from_symbol(&literal.to_string()), Some(literal));
        }
        assert_eq!(Literal::text("o'neill").to_string(), "'o''neill'");
    }

    #[test]
    fn kinds() {
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
