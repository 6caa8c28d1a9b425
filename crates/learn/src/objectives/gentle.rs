//! Gentle MML: the seen mass belongs to the seen executable programs; the unseen mass stays where it is.
//!
//! ```text
//! loss = −[P_S] log P_SE − [1 − P_S] log(1 − P_S)              brackets constant
//! q_i = P_S p_i / P_SE on P_SE      c_i = p_i − q_i on P_SE, p_i on P_SN
//! ```

use super::{Credit, Seen, log_one_minus_exp};

pub(super) fn credit(seen: &Seen<'_>) -> Option<Credit> {
    if !seen.has_executable() {
        return None;
    }
    let (mass, rest) = (seen.all.exp(), log_one_minus_exp(seen.all));
    let q: Vec<f64> = seen.posterior().iter().map(|share| mass * share).collect();
    let probabilities = seen.each(|log, _| log.exp());
    let credit = probabilities.iter().zip(&q).map(|(p, q)| p - q).collect();
    Some(Credit { loss: -mass * seen.executable - rest.exp() * rest, q, credit })
}
