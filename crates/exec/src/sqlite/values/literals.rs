//! The candidates of a question as literals of programs.

use super::{ValueCandidate, ValueIndex};
use xpr_lang::sql::{Literal, SuggestedValue};
use xpr_text::tokens;

/// The maximum number of values of a question. It decides which literals a parser can write: each is one more item to
/// choose from, and the worst candidates are dropped.
const MAX_VALUES: usize = 24;

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
            match values.iter_mut().find(|value| value.literal == literal) {
                Some(value) => {
                    value.columns.extend(candidate.columns);
                    value.columns.sort_unstable();
                    value.columns.dedup();
                }
                None => values.push(SuggestedValue {
                    literal,
                    phrase: phrase.join(" "),
                    columns: candidate.columns,
                }),
            }
        }
        values.truncate(MAX_VALUES);
        values
    }
}

impl ValueCandidate {
    /// Returns the literal of the value: a number if it is one, else a text.
    pub fn literal(&self) -> Literal {
        let number = self.number.and_then(|_| Literal::number(&self.text));
        number.unwrap_or_else(|| Literal::text(self.text.as_str()))
    }
}
