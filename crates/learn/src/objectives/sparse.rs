//! Sparse MML: a few of the seen executable programs are right.
//!
//! ```text
//! loss = −Σ q_i l_i     q = SparseMax of l over P_SE     c_i = −q_i
//! ```
//!
//! SparseMax is the point of the simplex nearest to `l`. It lies between self-training, which puts all weight on one program, and
//! top-k MML, which gives every program a share.

use super::{Candidates, Credit, Objective};

/// Sparse MML.
#[derive(Clone, Copy, Debug)]
pub struct Sparse;

impl Objective for Sparse {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn credit(&self, candidates: Candidates<'_>) -> Option<Credit> {
        let logs = candidates.log_probabilities;
        let rewarded: Vec<usize> = (0..logs.len()).filter(|&index| candidates.rewarded[index]).collect();
        if rewarded.is_empty() {
            return None;
        }
        let among: Vec<f64> = rewarded.iter().map(|&index| logs[index]).collect();
        let mut q = vec![0.0; logs.len()];
        for (&index, share) in rewarded.iter().zip(sparsemax(&among)) {
            q[index] = share;
        }
        // A log-probability of −∞ has q = 0 and adds nothing.
        let loss = q.iter().zip(logs).filter(|(q, _)| **q > 0.0).map(|(q, log)| -q * log).sum();
        Some(Credit { loss, credit: q.iter().map(|q| 0.0 - q).collect(), q })
    }
}

/// Returns the Euclidean projection of `z` onto the probability simplex: `max(z − τ, 0)`, with τ such that it sums to 1.
pub fn sparsemax(z: &[f64]) -> Vec<f64> {
    let mut sorted = z.to_vec();
    sorted.sort_by(|left, right| right.total_cmp(left));
    let (mut sum, mut threshold) = (0.0, f64::NEG_INFINITY);
    for (index, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (index + 1) as f64;
        if *value > candidate {
            threshold = candidate;
        } else {
            break;
        }
    }
    z.iter().map(|z| (z - threshold).max(0.0)).collect()
}
