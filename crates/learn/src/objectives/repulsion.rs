//! Repulsion MML: none of the seen non-executable programs is right; any other program may be.
//!
//! ```text
//! loss = −log(1 − P_SN)     q_i = p_i / (1 − P_SN) outside P_SN     c_i = p_i / (1 − P_SN) on P_SN
//! ```
//!
//! Unseen programs keep their share, so a program is not preferred for being seen.

use super::{Candidates, Credit, Objective, Seen, log_one_minus_exp};

/// Repulsion MML.
#[derive(Clone, Copy, Debug)]
pub struct Repulsion;

impl Objective for Repulsion {
    fn name(&self) -> &'static str {
        "repulsion"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let seen = Seen::new(candidates);
        let rest = log_one_minus_exp(seen.other);
        let share = |log: f64| (log - rest).exp();
        Some(Credit {
            loss: -rest,
            q: seen.each(|log, rewarded| if rewarded { share(log) } else { 0.0 }),
            credit: seen.each(|log, rewarded| if rewarded { 0.0 } else { share(log) }),
        })
    }
}
