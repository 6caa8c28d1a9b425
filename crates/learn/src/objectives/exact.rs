//! Exact MML: the marginal likelihood over a whole space of programs, which the other objectives approximate.
//!
//! ```text
//! loss = −log (P_E / P)     q_i = p_i / P_E on P_E     c_i = p_i / P − q_i
//! ```
//!
//! `P` is the probability of all programs of the space, and `P_E` of those that execute. Only a small space can be enumerated, such as
//! the programs of a few actions ([`Grammar::programs`](xpr_lang::Grammar::programs)).

use super::{Candidates, Credit, Seen, log_sum};

/// Returns the credit of exact MML for all programs of a space, or nothing if none of them executes.
///
/// ```
/// use xpr_learn::objectives::{Candidates, Objective, TopK, exact};
///
/// let space = Candidates { log_probabilities: &[-1.0, -1.5, -3.0], rewarded: &[true, false, true] };
/// let (all, top_k) = (exact(space).unwrap(), TopK.credit(space).unwrap());
/// assert_eq!(all.q, top_k.q);
/// assert!(all.credit.iter().sum::<f64>().abs() < 1e-12, "the credits cancel");
/// ```
pub fn exact(space: Candidates<'_>) -> Option<Credit> {
    let seen = Seen::new(space);
    let all = log_sum(space.log_probabilities.iter().copied());
    let q = seen.posterior();
    let prior = seen.each(|log, _| (log - all).exp());
    seen.has_executable().then(|| Credit {
        loss: all - seen.executable,
        credit: prior.iter().zip(&q).map(|(prior, q)| prior - q).collect(),
        q,
    })
}
