//! What can come of running a program.

use std::fmt;

/// How much a single run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elementary steps, each a few nanoseconds.
    pub steps: u64,
    /// Elements of lists alive at once, each a few bytes.
    pub elements: usize,
    /// Bytes of the printed answer.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000_000, elements: 1 << 18, output: 1 << 24 }
    }
}

/// What came of running a program, graded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It found something: its denotation, in canonical printed form.
    Value(String),
    /// It ran and found nothing.
    Empty,
    /// It put something of one type where another belongs.
    TypeError(String),
    /// It failed for another reason.
    RuntimeError(String),
    /// It did not end within the limits.
    Timeout(String),
}

impl Outcome {
    /// The denotation, if the program ran.
    pub fn denotation(&self) -> Option<&str> {
        match self {
            Outcome::Value(denotation) => Some(denotation),
            Outcome::Empty => Some("(list)"),
            Outcome::TypeError(_) | Outcome::RuntimeError(_) | Outcome::Timeout(_) => None,
        }
    }

    /// Whether the program ran to its end; it may have found nothing.
    pub fn executes(&self) -> bool {
        self.denotation().is_some()
    }
}

/// One line: the grade, a tab, the denotation or the message.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (grade, rest) = match self {
            Outcome::Value(denotation) => ("value", denotation.as_str()),
            Outcome::Empty => ("empty", "(list)"),
            Outcome::TypeError(message) => ("type-error", message.as_str()),
            Outcome::RuntimeError(message) | Outcome::Timeout(message) => ("error", message.as_str()),
        };
        write!(f, "{grade}\t{rest}")
    }
}

/// Why a run did not come to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something of one type stood where another belongs.
    Type(String),
    /// Anything else the program did wrong.
    Runtime(String),
    /// It used more than it may.
    Limit(&'static str),
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Type(message) => Outcome::TypeError(message),
            Fault::Runtime(message) => Outcome::RuntimeError(message),
            Fault::Limit(what) => Outcome::Timeout(format!("stopped: more {what} than allowed")),
        }
    }
}

/// A world that runs programs.
pub trait Executor {
    /// Runs the program with this text. Never panics, never hangs, never changes the world.
    fn execute(&mut self, program: &str) -> Outcome;
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn execute(&mut self, program: &str) -> Outcome {
        (**self).execute(program)
    }
}
