//! The outcome of running a program.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The outcome of running a program.
///
/// Its text is one line, the grade and the answer or the message, and [`FromStr`] reads what [`Display`](fmt::Display) wrote:
///
/// ```
/// use xpr_lang::Outcome;
///
/// let outcome: Outcome = "timeout\tstopped: more steps than allowed".parse()?;
/// assert_eq!(outcome, Outcome::Timeout("stopped: more steps than allowed".into()));
/// assert!(!outcome.executes());
/// # Ok::<(), xpr_lang::OutcomeSyntaxError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Outcome {
    /// It ran and found something: the denotation, in canonical printed form.
    Value(String),
    /// It ran and found nothing.
    Empty,
    /// It used a value of one type where another is needed.
    TypeError(String),
    /// It failed for another reason.
    RuntimeError(String),
    /// It was stopped at a limit.
    Timeout(String),
}

/// A text is not the line of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not an outcome: expected a grade (value, empty, type-error, error or timeout), a tab and a text"
)]
pub struct OutcomeSyntaxError(String);

impl Outcome {
    /// Returns the denotation if the program ran.
    pub fn denotation(&self) -> Option<&str> {
        match self {
            Outcome::Value(denotation) => Some(denotation),
            Outcome::Empty => Some(EMPTY),
            Outcome::TypeError(_) | Outcome::RuntimeError(_) | Outcome::Timeout(_) => None,
        }
    }

    /// Returns whether the program ran to its end; it may have found nothing.
    pub fn executes(&self) -> bool {
        self.denotation().is_some()
    }

    /// Returns the word for the kind of outcome.
    pub fn grade(&self) -> &'static str {
        match self {
            Outcome::Value(_) => "value",
            Outcome::Empty => "empty",
            Outcome::TypeError(_) => "type-error",
            Outcome::RuntimeError(_) => "error",
            Outcome::Timeout(_) => "timeout",
        }
    }

    /// Returns the denotation if the program ran, and else the message.
    pub fn text(&self) -> &str {
        match self {
            Outcome::Empty => EMPTY,
            Outcome::Value(text)
            | Outcome::TypeError(text)
            | Outcome::RuntimeError(text)
            | Outcome::Timeout(text) => text,
        }
    }
}

/// The denotation of a program that found nothing.
const EMPTY: &str = "(list)";

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}", self.grade(), self.text())
    }
}

impl FromStr for Outcome {
    type Err = OutcomeSyntaxError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let (grade, text) = line.split_once('\t').ok_or_else(|| OutcomeSyntaxError(line.to_owned()))?;
        let make = match grade {
            "value" => Outcome::Value,
            "empty" => |_| Outcome::Empty,
            "type-error" => Outcome::TypeError,
            "error" => Outcome::RuntimeError,
            "timeout" => Outcome::Timeout,
            _ => return Err(OutcomeSyntaxError(line.to_owned())),
        };
        Ok(make(text.to_owned()))
    }
}

impl From<Outcome> for String {
    fn from(outcome: Outcome) -> Self {
        outcome.to_string()
    }
}

impl TryFrom<String> for Outcome {
    type Error = OutcomeSyntaxError;

    fn try_from(line: String) -> Result<Self, Self::Error> {
        line.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_back_as_it_was_written() {
        let text = || "a\tb".to_owned();
        for outcome in [
            Outcome::Value(text()),
            Outcome::Empty,
            Outcome::TypeError(text()),
            Outcome::RuntimeError(text()),
            Outcome::Timeout(text()),
        ] {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
        for wrong in ["", "value", "values\t1"] {
            assert!(wrong.parse::<Outcome>().is_err(), "{wrong:?}");
        }
    }
}
