//! The trait of everything that runs programs, and the limits and errors of a run.

use xpr_lang::Outcome;

/// The limits of one run on a knowledge base.
///
/// They count work rather than time, so that a program is stopped on every machine or on none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elementary steps, each of which takes a few nanoseconds.
    pub steps: u64,
    /// Elements of all lists of the run, each of which takes a few bytes.
    pub elements: usize,
    /// Bytes of the printed answer.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 20_000_000, elements: 1 << 18, output: 1 << 24 }
    }
}

/// The reason why a run has no answer. It converts to an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A value of one type was used where another type is needed.
    Type(String),
    /// The program failed for another reason.
    Runtime(String),
    /// The run was stopped because it exceeded the limit of this name.
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

/// Something that runs programs: a knowledge base, a database, a web service.
///
/// This is the extension point for languages and data of your own. Training, evaluation and the ranking of candidates
/// see nothing else of how programs are run. An implementation must keep these promises:
///
/// - **It answers every text.** The programs are guesses of a model, so most are wrong and some are absurd. `execute`
///   must not panic; a text that is not a program is an [`Outcome::RuntimeError`].
/// - **It ends.** A run that takes too long is stopped and is an [`Outcome::Timeout`]. Limits should count work rather
///   than time, so that results are the same on every machine.
/// - **It changes nothing.** The same text has the same outcome, whatever ran before, and no program can change the data.
/// - **Equal answers are equal texts.** The denotation in [`Outcome::Value`] is compared as text, so print answers in a
///   canonical form: sort what has no order, and print equal numbers alike. An answer without content is
///   [`Outcome::Empty`].
///
/// An executor needs `&mut self` so that it can reuse buffers. Threads have one executor each.
///
/// The programs of this executor are sums:
///
/// ```
/// use xpr_exec::{Executor, Outcome};
///
/// struct Sums;
///
/// impl Executor for Sums {
///     fn execute(&mut self, program: &str) -> Outcome {
///         let mut sum: i64 = 0;
///         for term in program.split('+').map(str::trim).filter(|term| !term.is_empty()) {
///             sum = match term.parse::<i64>() {
///                 Ok(number) => match sum.checked_add(number) {
///                     Some(sum) => sum,
///                     None => return Outcome::RuntimeError(format!("{sum} + {number} is too large")),
///                 },
///                 Err(_) => return Outcome::TypeError(format!("`{term}` is not a number")),
///             };
///         }
///         if program.trim().is_empty() { Outcome::Empty } else { Outcome::Value(sum.to_string()) }
///     }
/// }
///
/// assert_eq!(Sums.execute("1 + 2 + 39"), Outcome::Value("42".into()));
/// assert_eq!(Sums.execute("1 + one"), Outcome::TypeError("`one` is not a number".into()));
/// assert_eq!(Sums.execute(""), Outcome::Empty);
/// ```
///
/// Wrap an executor in a [`CachingExecutor`](crate::CachingExecutor) to run no program twice.
pub trait Executor {
    /// Runs the program with this text and returns its outcome.
    fn execute(&mut self, program: &str) -> Outcome;

    /// Runs several programs and returns the outcome of each. An executor far away takes them all in one trip.
    fn execute_all(&mut self, programs: &[&str]) -> Vec<Outcome> {
        programs.iter().map(|program| self.execute(program)).collect()
    }

    /// Runs the program with this text and returns its answer as people see it. `execute` may leave out what would only make answers differ
    /// that count as equal, such as the last digits of a sum.
    fn full_answer(&mut self, program: &str) -> Outcome {
        self.execute(program)
    }

    /// Returns what the columns of a program's answer are called. Returns `None` if its answers have no columns, or it cannot be run.
    fn column_names(&mut self, _program: &str) -> Option<Vec<String>> {
        None
    }
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn execute(&mut self, program: &str) -> Outcome {
        (**self).execute(program)
    }

    fn execute_all(&mut self, programs: &[&str]) -> Vec<Outcome> {
        (**self).execute_all(programs)
    }

    fn full_answer(&mut self, program: &str) -> Outcome {
        (**self).full_answer(program)
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        (**self).column_names(program)
    }
}
