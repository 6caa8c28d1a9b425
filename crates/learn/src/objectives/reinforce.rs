//! REINFORCE, from the paper's appendix: the expected reward, summed over the seen programs.
//!
//! ```text
//! loss = −Σ [p_i] l_i on P_SE     q_i = p_i     c_i = −p_i         brackets constant
//! ```

use super::{Candidates, Credit, Objective, Seen};

/// REINFORCE.
#[derive(Clone, Copy, Debug)]
pub struct Reinforce;

impl Objective for Reinforce {
    fn name(&self) -> &'static str {
        "reinforce"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let seen = Seen::new(candidates);
        let q = seen.each(|log, rewarded| if rewarded { log.exp() } else { 0.0 });
        let loss =
            seen.each(|log, rewarded| if rewarded && log.exp() > 0.0 { -log.exp() * log } else { 0.0 });
        seen.has_executable().then(|| Credit {
            loss: loss.iter().sum(),
            credit: q.iter().map(|q| -q).collect(),
            q,
        })
    }
}
