//! What the words of a question may mean, as a program says it.

use super::{ValueCandidate, ValueIndex};
use xpr_lang::sql::{Literal, Value};
use xpr_text::tokens;

/// Values a question is seen with, at most: each is one more item to choose from.
const MOST_VALUES: usize = 24;

impl ValueIndex {
    /// The values of a question for [`SqlEnvironment::with_values`](xpr_lang::sql::SqlEnvironment::with_values): its best
    /// candidates, each literal once with all the columns it was found in.
    pub fn values(&self, question: &str) -> Vec<Value> {
        let words = tokens(question);
        let mut values: Vec<Value> = Vec::new();
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
                None => values.push(Value { literal, phrase: phrase.join(" "), columns: candidate.columns }),
            }
        }
        values.truncate(MOST_VALUES);
        values
    }
}

impl ValueCandidate {
    /// The literal of the value: a number is one without quotes.
    pub fn literal(&self) -> Literal {
        let number = self.number.and_then(|_| Literal::number(&self.text));
        number.unwrap_or_else(|| Literal::text(self.text.as_str()))
    }
}
