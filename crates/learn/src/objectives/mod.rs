//! The objectives: what candidates and their rewards say about an unlabeled question.
//!
//! Search gives candidates with log-probabilities `l_i`, `p_i = exp l_i`; running them tells which are rewarded. In the
//! paper's words the program space has four parts: seen and executable (`P_SE`, here `executable`), seen and
//! not, and the two unseen ones. An objective says what the model should believe instead, `q` (the E-step), and from it
//! a loss and the *credit* `c_i = ∂loss/∂l_i`; the backward pass needs nothing more.
//!
//! *Architecture invariant:* an objective is a pure function of log-probabilities and rewards.
//!
//! A new one is a function from [`Candidates`] to [`Credit`]. Here is the meritocratic update of Guu et al. (2017), with weights
//! `q_i ∝ p_i^β` on the rewarded: `β = 1` is top-k MML, a large `β` self-training, and `β = 0` trusts all of them alike.
//!
//! ```
//! use xpr_learn::objectives::{Candidates, Credit, Objective};
//!
//! fn meritocratic(candidates: Candidates<'_>, beta: f64) -> Option<Credit> {
//!     let logs = candidates.log_probabilities;
//!     let rewarded = || logs.iter().zip(candidates.rewarded).filter(|(_, rewarded)| **rewarded);
//!     // Relative to the best, so that nothing underflows; none is rewarded: nothing to aim at.
//!     let best = rewarded().map(|(log, _)| *log).reduce(f64::max)?;
//!     let weight = |log: f64| (beta * (log - best)).exp();
//!     let total: f64 = rewarded().map(|(log, _)| weight(*log)).sum();
//!     let q: Vec<f64> = (logs.iter().zip(candidates.rewarded))
//!         .map(|(log, rewarded)| if *rewarded { weight(*log) / total } else { 0.0 })
//!         .collect();
//!     // q is the E-step's, and constant: loss = −Σ q_i l_i, and its derivative by l_i is −q_i.
//!     let loss = q.iter().zip(logs).filter(|(q, _)| **q > 0.0).map(|(q, log)| -q * log).sum();
//!     Some(Credit { loss, credit: q.iter().map(|q| -q).collect(), q })
//! }
//!
//! let candidates = Candidates { log_probabilities: &[-0.5, -1.2, -2.3], rewarded: &[true, false, true] };
//! let close = |left: &[f64], right: &[f64]| left.iter().zip(right).all(|(l, r)| (l - r).abs() < 1e-9);
//! let top_k = Objective::TopK.credit(candidates).expect("something is rewarded");
//! let best_only = Objective::SelfTraining.credit(candidates).expect("something is rewarded");
//! assert!(close(&meritocratic(candidates, 1.0).unwrap().credit, &top_k.credit));
//! assert!(close(&meritocratic(candidates, 50.0).unwrap().credit, &best_only.credit));
//! assert!(close(&meritocratic(candidates, 0.0).unwrap().q, &[0.5, 0.0, 0.5]));
//! ```

mod exact;
mod gentle;
mod reinforce;
mod repulsion;
mod self_training;
mod sparse;
mod top_k;

pub use exact::exact;
pub use sparse::sparsemax;

use serde::Serialize;

/// Candidates of one question: log-probabilities, and which are rewarded.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// `l_i`
    pub log_probabilities: &'a [f64],
    /// Whether running it came to what is wanted.
    pub rewarded: &'a [bool],
}

/// What an objective says of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Credit {
    /// The loss.
    pub loss: f64,
    /// What the model should believe of each candidate: the E-step's posterior.
    pub q: Vec<f64>,
    /// `∂loss/∂l_i`
    pub credit: Vec<f64>,
}

/// The objectives of the paper, and REINFORCE from its appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The best executable program is right.
    SelfTraining,
    /// One of the seen executable programs is right.
    TopK,
    /// None of the seen non-executable programs is right.
    Repulsion,
    /// The seen mass belongs to the seen executable programs; the unseen mass stays where it is.
    Gentle,
    /// A few of the seen executable programs are right.
    Sparse,
    /// The expected reward.
    Reinforce,
}

impl Objective {
    /// All of them.
    pub const ALL: [Objective; 6] = [
        Objective::SelfTraining,
        Objective::TopK,
        Objective::Repulsion,
        Objective::Gentle,
        Objective::Sparse,
        Objective::Reinforce,
    ];

    /// Its name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Objective::SelfTraining => "self-training",
            Objective::TopK => "top-k",
            Objective::Repulsion => "repulsion",
            Objective::Gentle => "gentle",
            Objective::Sparse => "sparse",
            Objective::Reinforce => "reinforce",
        }
    }

    /// The objective of a name.
    pub fn from_name(name: &str) -> Option<Objective> {
        Objective::ALL.into_iter().find(|objective| objective.name() == name)
    }

    /// What it says of some candidates; none if it has nothing to aim at.
    pub fn credit(self, candidates: Candidates<'_>) -> Option<Credit> {
        let seen = Seen::new(candidates);
        match self {
            Objective::SelfTraining => self_training::credit(&seen),
            Objective::TopK => top_k::credit(&seen),
            Objective::Repulsion => Some(repulsion::credit(&seen)),
            Objective::Gentle => gentle::credit(&seen),
            Objective::Sparse => sparse::credit(&seen),
            Objective::Reinforce => reinforce::credit(&seen),
        }
    }
}

/// The seen programs and their masses, in logarithms.
struct Seen<'a> {
    candidates: Candidates<'a>,
    /// log P_SE
    executable: f64,
    /// log P_SN
    other: f64,
    /// log P_S
    all: f64,
}

/// Masses stay this far below 1, so that what is unseen has a logarithm: the model's own rounding is larger.
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

    /// Something for each candidate: from its log-probability and whether it is rewarded.
    fn each(&self, value: impl Fn(f64, bool) -> f64) -> Vec<f64> {
        let both = self.candidates.log_probabilities.iter().zip(self.candidates.rewarded);
        both.map(|(log, rewarded)| value(*log, *rewarded)).collect()
    }

    /// The share of each executable candidate among them: `p_i / P_SE`.
    fn posterior(&self) -> Vec<f64> {
        self.each(|log, rewarded| if rewarded { (log - self.executable).exp() } else { 0.0 })
    }

    fn has_executable(&self) -> bool {
        self.candidates.rewarded.contains(&true)
    }
}

/// log Σ exp
fn log_sum(logs: impl IntoIterator<Item = f64> + Clone) -> f64 {
    let max = logs.clone().into_iter().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + logs.into_iter().map(|log| (log - max).exp()).sum::<f64>().ln()
}

/// log(1 − exp x) for x < 0, without cancellation at either end.
fn log_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

#[cfg(test)]
mod tests;
