//! Numbers and dates in a question, in digits and in words.

use super::CandidateKind;
use std::ops::RangeInclusive;
use xpr_text::Token;

/// A number or a date, and the words it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) kind: CandidateKind,
    /// The text of the quantity in SQL.
    pub(super) text: String,
    pub(super) number: Option<f64>,
    /// The index of the first word, and that after the last.
    pub(super) span: (usize, usize),
    /// Whether the question has the quantity as SQL writes it, and not in words.
    pub(super) literal: bool,
}

/// The numbers of four digits that count as years.
const YEARS: RangeInclusive<f64> = 1000.0..=2100.0;

/// Returns all quantities in a text, from left to right. They do not overlap: `3 january 2015` is a date, and its `3` is
/// not a number of its own.
pub(super) fn quantities(text: &str, words: &[Token]) -> Vec<Quantity> {
    let reader = QuantityReader { text, words };
    let mut quantities = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = reader.date(at).or_else(|| reader.digits(at)).or_else(|| reader.number_in_words(at));
        at = next.as_ref().map_or(at + 1, |quantity| quantity.span.1);
        quantities.extend(next);
    }
    quantities
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

fn position_in(list: &[&str], word: &str) -> Option<u32> {
    list.iter().position(|&entry| entry == word).map(|position| position as u32)
}

fn scale(word: &str) -> Option<f64> {
    SCALES.iter().find(|(name, _)| *name == word).map(|&(_, scale)| scale)
}

/// Returns the number of a month. It may be abbreviated to its first three or four letters.
fn month(word: &str) -> Option<u32> {
    let short = (3..=4).contains(&word.len());
    MONTHS
        .iter()
        .position(|name| *name == word || short && name.starts_with(word))
        .map(|month| month as u32 + 1)
}

/// Reads quantities that begin at a given word. Each method returns `None` if there is no such quantity.
struct QuantityReader<'a> {
    text: &'a str,
    words: &'a [Token],
}

impl QuantityReader<'_> {
    /// Returns a word; empty after the last one.
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    /// Returns the text between a word and the next.
    fn gap(&self, at: usize) -> &str {
        match (self.words.get(at), self.words.get(at + 1)) {
            (Some(word), Some(next)) => &self.text[word.end..next.start],
            _ => "",
        }
    }

    /// Returns the number that a word of so many digits is.
    fn digits_word(&self, at: usize, digits: RangeInclusive<usize>) -> Option<u32> {
        let word = self.words.get(at)?;
        if word.is_digits() && digits.contains(&word.text.len()) { word.text.parse().ok() } else { None }
    }

    /// Returns whether a word is followed by an ending such as `rd`, without a gap.
    fn ordinal_ending(&self, at: usize) -> bool {
        self.gap(at).is_empty() && matches!(self.word(at + 1), "st" | "nd" | "rd" | "th")
    }

    /// `2015-01-03`, `jan 3 2015`, `3rd of january, 2015`, `january 2015`.
    fn date(&self, start: usize) -> Option<Quantity> {
        let day_quantity = |year: u32, month: u32, day: u32, end: usize, literal: bool| {
            let text = format!("{year:04}-{month:02}-{day:02}");
            let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
            let span = (start, end);
            valid.then_some(Quantity { kind: CandidateKind::Date, text, number: None, span, literal })
        };
        if let Some(year) = self.digits_word(start, 4..=4) {
            let separated = matches!(self.gap(start), "-" | "/") && self.gap(start) == self.gap(start + 1);
            let (month, day) = (self.digits_word(start + 1, 1..=2)?, self.digits_word(start + 2, 1..=2)?);
            return if separated {
                day_quantity(year, month, day, start + 3, self.gap(start) == "-")
            } else {
                None
            };
        }
        if let Some(month) = month(self.word(start)) {
            if let Some(day) = self.digits_word(start + 1, 1..=2) {
                let year = start + 2 + usize::from(self.ordinal_ending(start + 1));
                return day_quantity(self.digits_word(year, 4..=4)?, month, day, year + 1, false);
            }
            let year = self.digits_word(start + 1, 4..=4)?;
            let text = format!("{year:04}-{month:02}");
            let span = (start, start + 2);
            return Some(Quantity { kind: CandidateKind::Date, text, number: None, span, literal: false });
        }
        let day = self.digits_word(start, 1..=2)?;
        let mut at = start + 1 + usize::from(self.ordinal_ending(start));
        at += usize::from(self.word(at) == "of");
        let month = month(self.word(at))?;
        day_quantity(self.digits_word(at + 1, 4..=4)?, month, day, at + 2, false)
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
        let has_no_commas = end == start + 1;
        if has_no_commas && self.ordinal_ending(start) {
            return number_quantity(CandidateKind::Ordinal, digits.parse().ok()?, (start, start + 2), true);
        }
        let mut literal = has_no_commas;
        if self.gap(end - 1) == "." && is_digits(end) {
            digits.push('.');
            digits.push_str(self.word(end));
            end += 1;
            literal = true;
        }
        let mut before = self.text[..first.start].chars().rev();
        let negative = before.next() == Some('-') && before.next().is_none_or(char::is_whitespace);
        let mut number: f64 = digits.parse().ok()?;
        let is_one_word = end == start + 1;
        let is_year = is_one_word && digits.len() == 4 && YEARS.contains(&number);
        if negative {
            number = -number;
        }
        if let Some(scale) = scale(self.word(end)) {
            return number_quantity(CandidateKind::Number, number * scale, (start, end + 1), false);
        }
        let kind = if is_year && !negative { CandidateKind::Year } else { CandidateKind::Number };
        number_quantity(kind, number, (start, end), literal)
    }

    /// `three`, `twenty five`, `two hundred and six thousand`, `a million`, `twenty first`.
    fn number_in_words(&self, start: usize) -> Option<Quantity> {
        let mut at = start;
        if matches!(self.word(at), "a" | "an") {
            let next = self.word(at + 1);
            if next == "dozen" {
                return number_quantity(CandidateKind::Number, 12.0, (start, at + 2), false);
            }
            if next != "hundred" && scale(next).is_none() {
                return None;
            }
            at += 1;
        }
        // `two million six hundred` is read as a total of 2e6, and a current part of 600 that may still get a scale, which
        // must be smaller than the last one.
        let (mut total, mut current, mut last_scale) = (0.0, None::<f64>, f64::INFINITY);
        let mut end = start;
        loop {
            // Punctuation ends a number.
            if end > start && !self.gap(at - 1).chars().all(|c| c.is_whitespace() || c == '-') {
                break;
            }
            let word = self.word(at);
            // `and` continues a number after `hundred`, `thousand` or `million`.
            if word == "and" && end > start && matches!(self.word(at - 1), "hundred" | "thousand" | "million")
            {
                at += 1;
                continue;
            }
            let last_two_digits = current.unwrap_or(0.0) % 100.0;
            if let Some((below, ordinal)) = below_hundred(word) {
                let fits = current.is_none()
                    || last_two_digits == 0.0 && current != Some(0.0)
                    || takes_units(last_two_digits) && below < 10;
                if !fits || (takes_units(last_two_digits) && below == 0) {
                    break;
                }
                current = Some(current.unwrap_or(0.0) + f64::from(below));
                at += 1;
                end = at;
                if ordinal {
                    return number_quantity(
                        CandidateKind::Ordinal,
                        total + current.unwrap_or(0.0),
                        (start, end),
                        false,
                    );
                }
            } else if word == "hundred" && current.unwrap_or(1.0) < 100.0 {
                current = Some(current.unwrap_or(1.0) * 100.0);
                at += 1;
                end = at;
            } else if let Some(scale) = scale(word).filter(|&scale| scale < last_scale) {
                // A scale is part of a number only after an article or a number.
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
        number_quantity(CandidateKind::Number, total + current.unwrap_or(0.0), (start, end), false)
    }
}

/// Returns whether units can follow a number, as they can after twenty, thirty and so on.
fn takes_units(below_hundred: f64) -> bool {
    below_hundred >= 20.0 && below_hundred % 10.0 == 0.0
}

/// Returns the number below a hundred that a word names, and whether it is an ordinal.
fn below_hundred(word: &str) -> Option<(u32, bool)> {
    None.or_else(|| position_in(&UNITS, word).map(|unit| (unit, false)))
        .or_else(|| position_in(&TENS, word).map(|ten| (ten * 10 + 20, false)))
        .or_else(|| position_in(&ORDINAL_UNITS, word).map(|unit| (unit, true)))
        .or_else(|| position_in(&ORDINAL_TENS, word).map(|ten| (ten * 10 + 20, true)))
}

fn number_quantity(
    kind: CandidateKind,
    number: f64,
    span: (usize, usize),
    literal: bool,
) -> Option<Quantity> {
    let text = format!("{number}");
    number.is_finite().then_some(Quantity { kind, text, number: Some(number), span, literal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_text::tokens;

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
