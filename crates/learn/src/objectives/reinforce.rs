//! REINFORCE, as in the paper's appendix: the expected reward, by the seen programs.
//!
//! ```text
//! loss = −Σ [p_i] l_i on P_SE     q_i = p_i     c_i = −p_i
//! ```

use super::{Credit, Seen};

pub(super) fn credit(seen: &Seen<'_>) -> Option<Credit> {
    let q = seen.each(|log, rewarded| if rewarded { log.exp() } else { 0.0 });
    let loss = seen.each(|log, rewarded| if rewarded && log.exp() > 0.0 { -log.exp() * log } else { 0.0 });
    seen.has_executable().then(|| Credit {
        loss: loss.iter().sum(),
        credit: q.iter().map(|q| -q).collect(),
        q,
    })
}
