//! What runs a program, and within which limits.

use xpr_lang::Outcome;

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
