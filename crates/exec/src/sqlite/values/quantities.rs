//! Numbers and dates in a question, in digits and in words.

use super::ValueKind;
use xpr_text::Token;

/// A number or a date, and the words it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) kind: ValueKind,
    /// As SQL has it.
    pub(super) text: String,
    pub(super) number: Option<f64>,
    /// First word, and the one behind the last.
    pub(super) span: (usize, usize),
    /// Whether it was written in digits, or as SQL has it.
    pub(super) literal: bool,
}

/// All of them, from left to right; where one is within another (`3` in `3 january 2015`), the longest.
pub(super) fn quantities(text: &str, words: &[Token]) -> Vec<Quantity> {
    let reader = Reader { text, words };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = reader.date(at).or_else(|| reader.digits(at)).or_else(|| reader.spelled(at));
        at = next.as_ref().map_or(at + 1, |quantity| quantity.span.1);
        found.extend(next);
    }
    found
}

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ORDINAL_UNITS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINAL_TENS: [&str; 8] =
    ["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"];
const SCALES: [(&str, f64); 4] = [("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("trillion", 1e12)];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn place(list: &[&str], word: &str) -> Option<u32> {
    list.iter().position(|&entry| entry == word).map(|place| place as u32)
}

fn scale(word: &str) -> Option<f64> {
    SCALES.iter().find(|(name, _)| *name == word).map(|&(_, scale)| scale)
}

/// The number of a month by its name, or by its first letters, at least three.
fn month(word: &str) -> Option<u32> {
    let short = (3..=4).contains(&word.len());
    MONTHS
        .iter()
        .position(|name| *name == word || short && name.starts_with(word))
        .map(|month| month as u32 + 1)
}

struct Reader<'a> {
    text: &'a str,
    words: &'a [Token],
}

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    /// What stands between a word and the next.
    fn gap(&self, at: usize) -> &str {
        match (self.words.get(at), self.words.get(at + 1)) {
            (Some(word), Some(next)) => &self.text[word.end..next.start],
            _ => "",
        }
    }

    /// A word of so many digits, as a number.
    fn number_of(&self, at: usize, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
        let word = self.words.get(at)?;
        if word.is_digits() && digits.contains(&word.text.len()) { word.text.parse().ok() } else { None }
    }

    /// Whether an ending such as `rd` follows right behind.
    fn ordinal_ending(&self, at: usize) -> bool {
        self.gap(at).is_empty() && matches!(self.word(at + 1), "st" | "nd" | "rd" | "th")
    }

    /// `2015-01-03`, `jan 3 2015`, `3rd of january, 2015`, `january 2015`.
    fn date(&self, start: usize) -> Option<Quantity> {
        let made = |year: u32, month: u32, day: u32, end: usize, literal: bool| {
            let text = format!("{year:04}-{month:02}-{day:02}");
            let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
            let span = (start, end);
            valid.then_some(Quantity { kind: ValueKind::Date, text, number: None, span, literal })
        };
        if let Some(year) = self.number_of(start, 4..=4) {
            let separated = matches!(self.gap(start), "-" | "/") && self.gap(start) == self.gap(start + 1);
            let (month, day) = (self.number_of(start + 1, 1..=2)?, self.number_of(start + 2, 1..=2)?);
            return if separated { made(year, month, day, start + 3, self.gap(start) == "-") } else { None };
        }
        if let Some(month) = month(self.word(start)) {
            if let Some(day) = self.number_of(start + 1, 1..=2) {
                let year = start + 2 + usize::from(self.ordinal_ending(start + 1));
                return made(self.number_of(year, 4..=4)?, month, day, year + 1, false);
            }
            let year = self.number_of(start + 1, 4..=4)?;
            let text = format!("{year:04}-{month:02}");
            let span = (start, start + 2);
            return Some(Quantity { kind: ValueKind::Date, text, number: None, span, literal: false });
        }
        let day = self.number_of(start, 1..=2)?;
        let mut at = start + 1 + usize::from(self.ordinal_ending(start));
        at += usize::from(self.word(at) == "of");
        let month = month(self.word(at))?;
        made(self.number_of(at + 1, 4..=4)?, month, day, at + 2, false)
    }

    /// `42`, `1,500,000`, `3.5`, `-2`, `2 million`, `3rd`, `2015`.
    fn digits(&self, start: usize) -> Option<Quantity> {
        let first = self.words.get(start).filter(|word| word.is_digits())?;
        let mut digits = first.text.clone();
        let mut end = start + 1;
        let is_digits = |at: usize| self.words.get(at).is_some_and(Token::is_digits);
        while digits.len() - (end - start - 1) * 3 <= 3
            && self.gap(end - 1) == ","
            && is_digits(end)
            && self.word(end).len() == 3
        {
            digits.push_str(self.word(end));
            end += 1;
        }
        let whole = end == start + 1;
        if whole && self.ordinal_ending(start) {
            return made(ValueKind::Ordinal, digits.parse().ok()?, (start, start + 2), true);
        }
        let mut literal = whole;
        if self.gap(end - 1) == "." && is_digits(end) {
            digits.push('.');
            digits.push_str(self.word(end));
            end += 1;
            literal = true;
        }
        let mut before = self.text[..first.start].chars().rev();
        let negative = before.next() == Some('-') && before.next().is_none_or(char::is_whitespace);
        let mut number: f64 = digits.parse().ok()?;
        let year = whole && end == start + 1 && digits.len() == 4 && (1000.0..=2100.0).contains(&number);
        if negative {
            number = -number;
        }
        if let Some(scale) = scale(self.word(end)) {
            return made(ValueKind::Number, number * scale, (start, end + 1), false);
        }
        let kind = if year && !negative { ValueKind::Year } else { ValueKind::Number };
        made(kind, number, (start, end), literal)
    }

    /// `three`, `twenty five`, `two hundred and six thousand`, `a million`, `twenty first`.
    fn spelled(&self, start: usize) -> Option<Quantity> {
        let mut at = start;
        if matches!(self.word(at), "a" | "an") {
            let next = self.word(at + 1);
            if next == "dozen" {
                return made(ValueKind::Number, 12.0, (start, at + 2), false);
            }
            if next != "hundred" && scale(next).is_none() {
                return None;
            }
            at += 1;
        }
        // What is complete, what is being counted, and the last scale: scales fall.
        let (mut total, mut current, mut last_scale) = (0.0, None::<f64>, f64::INFINITY);
        let mut end = start;
        loop {
            // A comma or the like ends a number.
            if end > start && !self.gap(at - 1).chars().all(|c| c.is_whitespace() || c == '-') {
                break;
            }
            let word = self.word(at);
            // `and` joins after a hundred or a thousand, if something follows that can.
            if word == "and" && end > start && matches!(self.word(at - 1), "hundred" | "thousand" | "million")
            {
                at += 1;
                continue;
            }
            let open = current.unwrap_or(0.0) % 100.0;
            if let Some((below, ordinal)) = small(word) {
                let fits =
                    current.is_none() || open == 0.0 && current != Some(0.0) || tens_open(open) && below < 10;
                if !fits || (tens_open(open) && below == 0) {
                    break;
                }
                current = Some(current.unwrap_or(0.0) + f64::from(below));
                at += 1;
                end = at;
                if ordinal {
                    return made(ValueKind::Ordinal, total + current.unwrap_or(0.0), (start, end), false);
                }
            } else if word == "hundred" && current.unwrap_or(1.0) < 100.0 {
                current = Some(current.unwrap_or(1.0) * 100.0);
                at += 1;
                end = at;
            } else if let Some(scale) = scale(word).filter(|&scale| scale < last_scale) {
                // A scale by itself is a word; after an article, or a number, it is a number.
                if current.is_none() && at == start {
                    break;
                }
                total += current.take().unwrap_or(1.0) * scale;
                last_scale = scale;
                at += 1;
                end = at;
            } else {
                break;
            }
        }
        if end == start || (end == start + 1 && matches!(self.word(start), "a" | "an" | "hundred")) {
            return None;
        }
        made(ValueKind::Number, total + current.unwrap_or(0.0), (start, end), false)
    }
}

/// Whether a unit may follow: twenty, thirty, ….
fn tens_open(below_hundred: f64) -> bool {
    below_hundred >= 20.0 && below_hundred % 10.0 == 0.0
}

/// The number below a hundred that one word names, and whether it is an ordinal.
fn small(word: &str) -> Option<(u32, bool)> {
    None.or_else(|| place(&UNITS, word).map(|unit| (unit, false)))
        .or_else(|| place(&TENS, word).map(|ten| (ten * 10 + 20, false)))
        .or_else(|| place(&ORDINAL_UNITS, word).map(|unit| (unit, true)))
        .or_else(|| place(&ORDINAL_TENS, word).map(|ten| (ten * 10 + 20, true)))
}

fn made(kind: ValueKind, number: f64, span: (usize, usize), literal: bool) -> Option<Quantity> {
    let text = format!("{number}");
    number.is_finite().then_some(Quantity { kind, text, number: Some(number), span, literal })
}

#[cfg(test)]
mod tests {
    use xpr_text::tokens;
    use super::*;

    #[test]
    fn numbers_and_dates_are_read() {
        let cases = [
            ("more than 42 rivers", "Number 42 2..3"),
            ("over 1,500,000 people", "Number 1500000 1..4"),
            ("1,500,00 people", "Number 1500 0..2; Number 0 2..3"),
            ("longer than 3.5 km", "Number 3.5 2..4"),
            ("below -2 degrees, 5-3", "Number -2 1..2; Number 5 3..4; Number 3 4..5"),
            ("2 million or 1.5 billion", "Number 2000000 0..2; Number 1500000000 3..6"),
            ("the three cities", "Number 3 1..2"),
            ("twenty five and two", "Number 25 0..2; Number 2 3..4"),
            ("two hundred and six thousand and one", "Number 206001 0..7"),
            ("a million, a hundred and a dozen", "Number 1000000 0..2; Number 100 2..4; Number 12 5..7"),
            ("five six", "Number 5 0..1; Number 6 1..2"),
            ("hundred, million, an", ""),
            ("the 3rd and twenty first and second", "Ordinal 3 1..3; Ordinal 21 4..6; Ordinal 2 7..8"),
            ("in 1999", "Year 1999 1..2"),
            ("2015-01-03", "Date 2015-01-03 0..3"),
            ("2015-13-03", "Year 2015 0..1; Number 13 1..2; Number 3 2..3"),
            ("on Jan. 3 2015", "Date 2015-01-03 1..4"),
            ("January 3rd, 2015", "Date 2015-01-03 0..4"),
            ("3 january 2015", "Date 2015-01-03 0..3"),
            ("the 3rd of may 2015", "Date 2015-05-03 1..6"),
            ("sept 2015", "Date 2015-09 0..2"),
            ("may i ask", ""),
            ("", ""),
        ];
        for (text, expected) in cases {
            let found: Vec<String> = quantities(text, &tokens(text))
                .iter()
                .map(|q| format!("{:?} {} {}..{}", q.kind, q.text, q.span.0, q.span.1))
                .collect();
            assert_eq!(found.join("; "), expected, "{text}");
        }
    }
}
