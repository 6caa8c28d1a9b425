//! Repulsion MML: none of the seen non-executable programs is right; everything else may be.
//!
//! ```text
//! loss = −log(1 − P_SN)     q_i = p_i / (1 − P_SN) outside P_SN     c_i = p_i / (1 − P_SN) on P_SN
//! ```
//!
//! The unseen programs keep their share, so nothing seen is preferred for being seen.

use super::{Credit, Seen, log_one_minus_exp};

pub(super) fn credit(seen: &Seen<'_>) -> Credit {
    let rest = log_one_minus_exp(seen.other);
    let share = |log: f64| (log - rest).exp();
    Credit {
        loss: -rest,
        q: seen.each(|log, rewarded| if rewarded { share(log) } else { 0.0 }),
        credit: seen.each(|log, rewarded| if rewarded { 0.0 } else { share(log) }),
    }
}
