//! Top-k MML: one of the seen executable programs is right.
//!
//! ```text
//! loss = −log P_SE     q_i = p_i / P_SE     c_i = −q_i         on P_SE
//! ```

use super::{Candidates, Credit, Objective, Seen};

/// Top-k MML.
#[derive(Clone, Copy, Debug)]
pub struct TopK;

impl Objective for TopK {
    fn name(&self) -> &'static str {
        "top-k"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let seen = Seen::new(candidates);
        let q = seen.posterior();
        seen.has_executable().then(|| Credit {
            loss: -seen.executable,
            credit: q.iter().map(|q| -q).collect(),
            q,
        })
    }
}
