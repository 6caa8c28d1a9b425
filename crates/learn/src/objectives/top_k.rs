//! Top-k MML: one of the seen executable programs is right.
//!
//! ```text
//! loss = −log P_SE     q_i = p_i / P_SE     c_i = −q_i         on P_SE
//! ```

use super::{Credit, Seen};

pub(super) fn credit(seen: &Seen<'_>) -> Option<Credit> {
    let q = seen.posterior();
    seen.has_executable().then(|| Credit {
        loss: -seen.executable,
        credit: q.iter().map(|q| -q).collect(),
        q,
    })
}
