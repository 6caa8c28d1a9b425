//! The candidates of a question as literals of programs.

use super::{CandidateKind, ValueCandidate, ValueIndex};
use xpr_lang::sql::{Literal, SuggestedValue};
use xpr_text::{Token, tokens};

/// The maximum number of values of a question. It decides which literals a parser can write: each is one more item to
/// choose from, and the worst candidates are dropped.
const MAX_VALUES: usize = 24;

/// Words after which a number is compared with something, or belongs to the noun before it: `more than 3`, `a length of 3`.
/// A number after another word may be a number of things: `the 3 longest`, `top 3`.
const NOT_BEFORE_COUNTS: [&str; 40] = [
    "than",
    "over",
    "above",
    "below",
    "under",
    "least",
    "most",
    "exactly",
    "exceed",
    "exceeds",
    "exceeding",
    "equal",
    "equals",
    "is",
    "was",
    "were",
    "of",
    "in",
    "at",
    "by",
    "past",
    "after",
    "before",
    "since",
    "from",
    "between",
    "to",
    "about",
    "around",
    "until",
    "with",
    "has",
    "have",
    "had",
    "having",
    "than",
    "number",
    "id",
    "level",
    "beyond",
];

impl ValueIndex {
    /// Returns the values of a question for
    /// [`SqlEnvironment::with_values`](xpr_lang::sql::SqlEnvironment::with_values): the literals of its best candidates,
    /// each once and with the columns of all candidates that have it.
    pub fn values(&self, question: &str) -> Vec<SuggestedValue> {
        let words = tokens(question);
        let mut values: Vec<SuggestedValue> = Vec::new();
        for candidate in self.candidates(question) {
            let (start, end) = candidate.span;
            let phrase: Vec<&str> = words[start..end].iter().map(|word| word.text.as_str()).collect();
            let literal = candidate.literal();
            let is_count = candidate.is_count(&words);
            match values.iter_mut().find(|value| value.literal == literal) {
                Some(value) => {
                    value.is_count |= is_count;
                    value.columns.extend(candidate.columns);
                    value.columns.sort_unstable();
                    value.columns.dedup();
                }
                None => values.push(SuggestedValue {
                    literal,
                    phrase: phrase.join(" "),
                    columns: candidate.columns,
                    is_count,
                }),
            }
        }
        values.truncate(MAX_VALUES);
        values
    }
}

impl ValueCandidate {
    /// Returns whether the question may say the value as a number of things.
    fn is_count(&self, words: &[Token]) -> bool {
        let before = self.span.0.checked_sub(1).map_or("", |before| words[before].text.as_str());
        self.kind == CandidateKind::Number
            && self.number.is_some_and(|number| number >= 1.0 && number.fract() == 0.0)
            && !NOT_BEFORE_COUNTS.contains(&before)
    }

    /// Returns the literal of the value: a number if it is one, else a text.
    pub fn literal(&self) -> Literal {
        let number = self.number.and_then(|_| Literal::number(&self.text));
        number.unwrap_or_else(|| Literal::text(self.text.as_str()))
    }
}
