//! Gentle MML: the seen executable programs share the seen mass; the unseen mass does not change.
//!
//! ```text
//! loss = −[P_S] log P_SE − [1 − P_S] log(1 − P_S)              brackets constant
//! q_i = P_S p_i / P_SE on P_SE      c_i = p_i − q_i on P_SE, p_i on P_SN
//! ```

use super::{Candidates, Credit, Objective, Seen, log_one_minus_exp};

/// Gentle MML.
#[derive(Clone, Copy, Debug)]
pub struct Gentle;

impl Objective for Gentle {
    fn name(&self) -> &'static str {
        "gentle"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let seen = Seen::new(candidates);
        if !seen.has_executable() {
            return None;
        }
        let (mass, rest) = (seen.all.exp(), log_one_minus_exp(seen.all));
        let q: Vec<f64> = seen.posterior().iter().map(|share| mass * share).collect();
        let probabilities = seen.each(|log, _| log.exp());
        let credit = probabilities.iter().zip(&q).map(|(p, q)| p - q).collect();
        Some(Credit { loss: -mass * seen.executable - rest.exp() * rest, q, credit })
    }
}
