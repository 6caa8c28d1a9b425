//! Self-training: the most probable executable program is right.
//!
//! ```text
//! loss = −l_*     q = 1 at *     c = −1 at *         * the most probable program in P_SE
//! ```

use super::{Candidates, Credit, Objective};

/// Self-training.
#[derive(Clone, Copy, Debug)]
pub struct SelfTraining;

impl Objective for SelfTraining {
    fn name(&self) -> &'static str {
        "self-training"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let logs = candidates.log_probabilities;
        let rewarded = (0..logs.len()).filter(|&index| candidates.rewarded[index]);
        // Of equally probable candidates the first, which search ranks higher.
        let best = rewarded.reduce(|best, index| if logs[index] > logs[best] { index } else { best })?;
        let mut q = vec![0.0; logs.len()];
        q[best] = 1.0;
        Some(Credit { loss: -logs[best], credit: q.iter().map(|q| 0.0 - q).collect(), q })
    }
}
