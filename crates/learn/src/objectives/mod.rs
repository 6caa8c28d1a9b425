//! The objectives of the paper: what executed candidates say about an unlabeled question.
//!
//! Search finds candidates with log-probabilities `l_i`, `p_i = exp l_i`, and executing them decides which are rewarded. The
//! paper divides the space of programs into four parts: seen executable (`P_SE`), seen non-executable (`P_SN`), and the two
//! unseen ones; `P_S = P_SE + P_SN`. An objective chooses a posterior `q` over the candidates (the E-step). From `q` follow
//! the loss and the *credit* `c_i = ∂loss/∂l_i`, which is all that the backward pass needs.
//!
//! *Architecture invariant:* an objective is a pure function of log-probabilities and rewards.
//!
//! A new objective implements [`Objective`]. This is the meritocratic update of Guu et al. (2017), with `q_i ∝ p_i^β` over the
//! rewarded candidates: `β = 1` is top-k MML, a large `β` is self-training, and `β = 0` weighs all of them equally.
//!
//! ```
//! use xpr_learn::objectives::{Candidates, Credit, Objective, SelfTraining, TopK};
//!
//! #[derive(Debug)]
//! struct Meritocratic {
//!     beta: f64,
//! }
//!
//! impl Objective for Meritocratic {
//!     fn name(&self) -> &'static str {
//!         "meritocratic"
//!     }
//!
//!     fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
//!         let logs = candidates.log_probabilities;
//!         let rewarded = || logs.iter().zip(candidates.rewarded).filter(|(_, rewarded)| **rewarded);
//!         // Weights are relative to the best candidate, so that they do not underflow.
//!         let best = rewarded().map(|(log, _)| *log).reduce(f64::max)?;
//!         let weight = |log: f64| (self.beta * (log - best)).exp();
//!         let total: f64 = rewarded().map(|(log, _)| weight(*log)).sum();
//!         let q: Vec<f64> = (logs.iter().zip(candidates.rewarded))
//!             .map(|(log, rewarded)| if *rewarded { weight(*log) / total } else { 0.0 })
//!             .collect();
//!         // The M-step takes q as constant: loss = −Σ q_i l_i, and so ∂loss/∂l_i = −q_i.
//!         let loss = q.iter().zip(logs).filter(|(q, _)| **q > 0.0).map(|(q, log)| -q * log).sum();
//!         Some(Credit { loss, credit: q.iter().map(|q| -q).collect(), q })
//!     }
//! }
//!
//! let candidates = Candidates { log_probabilities: &[-0.5, -1.2, -2.3], rewarded: &[true, false, true] };
//! let close = |left: &[f64], right: &[f64]| left.iter().zip(right).all(|(l, r)| (l - r).abs() < 1e-9);
//! let credit = |objective: &dyn Objective| objective.credit(candidates).expect("a candidate is rewarded");
//! assert!(close(&credit(&Meritocratic { beta: 1.0 }).credit, &credit(&TopK).credit));
//! assert!(close(&credit(&Meritocratic { beta: 50.0 }).credit, &credit(&SelfTraining).credit));
//! assert!(close(&credit(&Meritocratic { beta: 0.0 }).q, &[0.5, 0.0, 0.5]));
//! ```

mod exact;
mod gentle;
mod reinforce;
mod repulsion;
mod self_training;
mod sparse;
mod top_k;

pub use exact::exact;
pub use gentle::Gentle;
pub use reinforce::Reinforce;
pub use repulsion::Repulsion;
pub use self_training::SelfTraining;
pub use sparse::{Sparse, sparsemax};
pub use top_k::TopK;

use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// The candidates of a question: their log-probabilities, and which are rewarded.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// `l_i`
    pub log_probabilities: &'a [f64],
    /// Whether executing the candidate was a success.
    pub rewarded: &'a [bool],
}

impl Candidates<'_> {
    /// Returns the probability of the rewarded candidates.
    pub fn rewarded_mass(&self) -> f64 {
        let both = self.log_probabilities.iter().zip(self.rewarded);
        both.map(|(log, rewarded)| if *rewarded { log.exp() } else { 0.0 }).sum()
    }
}

/// What an objective says about the candidates of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Credit {
    /// The loss.
    pub loss: f64,
    /// The posterior over the candidates, from the E-step. It sums to less than 1 if unseen programs have a share.
    pub q: Vec<f64>,
    /// `∂loss/∂l_i`
    pub credit: Vec<f64>,
}

/// An objective for unlabeled questions.
pub trait Objective: fmt::Debug + Send + Sync {
    /// Returns the name by which settings and the command line select the objective.
    fn name(&self) -> &'static str;

    /// Returns the credit of each candidate, or nothing if the objective needs a rewarded candidate and there is none.
    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit>;
}

/// The objectives that settings can name: the five of the paper, and REINFORCE from its appendix.
pub const ALL: [&dyn Objective; 6] = [&SelfTraining, &TopK, &Repulsion, &Gentle, &Sparse, &Reinforce];

/// There is no objective with a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no objective `{0}`; there are none, {names}", names = ALL.map(|objective| objective.name()).join(", "))]
pub struct UnknownObjective(String);

/// Returns the objective with a name.
///
/// # Errors
/// If there is none.
pub fn named(name: &str) -> Result<&'static dyn Objective, UnknownObjective> {
    let objective = ALL.into_iter().find(|objective| objective.name() == name);
    objective.ok_or_else(|| UnknownObjective(name.to_owned()))
}

/// The candidates with the masses of their parts, as logarithms.
struct Seen<'a> {
    candidates: Candidates<'a>,
    /// log P_SE
    executable: f64,
    /// log P_SN
    other: f64,
    /// log P_S
    all: f64,
}

/// The largest logarithm of a mass. It is below 0, so that the unseen mass has a logarithm; the model's rounding is larger.
const LARGEST_LOG_MASS: f64 = -1e-7;

impl<'a> Seen<'a> {
    fn new(candidates: Candidates<'a>) -> Self {
        let part = |wanted: bool| {
            let logs = candidates.log_probabilities.iter().zip(candidates.rewarded);
            log_sum(logs.filter(|(_, rewarded)| **rewarded == wanted).map(|(log, _)| *log))
        };
        let (executable, other) = (part(true), part(false));
        Seen {
            candidates,
            executable,
            other: other.min(LARGEST_LOG_MASS),
            all: log_sum([executable, other]).min(LARGEST_LOG_MASS),
        }
    }

    /// Maps each candidate's log-probability and reward to a number.
    fn each(&self, value: impl Fn(f64, bool) -> f64) -> Vec<f64> {
        let both = self.candidates.log_probabilities.iter().zip(self.candidates.rewarded);
        both.map(|(log, rewarded)| value(*log, *rewarded)).collect()
    }

    /// Returns `p_i / P_SE` for the rewarded candidates, and 0 for the others.
    fn posterior(&self) -> Vec<f64> {
        self.each(|log, rewarded| if rewarded { (log - self.executable).exp() } else { 0.0 })
    }

    fn has_executable(&self) -> bool {
        self.candidates.rewarded.contains(&true)
    }
}

/// Returns `log Σ exp x`.
fn log_sum(logs: impl IntoIterator<Item = f64> + Clone) -> f64 {
    let max = logs.clone().into_iter().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + logs.into_iter().map(|log| (log - max).exp()).sum::<f64>().ln()
}

/// Returns `log(1 − exp x)` for `x < 0`, without cancellation at either end.
fn log_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

#[cfg(test)]
mod tests;
