//! Self-training: the best executable program is right.
//!
//! ```text
//! loss = −l_*     q = 1 at *     c = −1 at *         * the likeliest in P_SE
//! ```

use super::{Credit, Seen};

pub(super) fn credit(seen: &Seen<'_>) -> Option<Credit> {
    let logs = seen.candidates.log_probabilities;
    let rewarded = (0..logs.len()).filter(|&index| seen.candidates.rewarded[index]);
    // The first of equals, as search ranks them.
    let best = rewarded.reduce(|best, index| if logs[index] > logs[best] { index } else { best })?;
    let mut q = vec![0.0; logs.len()];
    q[best] = 1.0;
    Some(Credit { loss: -logs[best], credit: q.iter().map(|q| 0.0 - q).collect(), q })
}
