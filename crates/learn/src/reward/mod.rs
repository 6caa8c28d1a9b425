//! Rewards: which programs of an unlabeled question count as a success.
//!
//! [`RewardPolicy`] decides, and nothing else does; [`Judge`] runs the programs and asks it.

mod judge;
mod policy;

pub use judge::Judge;
pub use policy::{JudgedCandidate, RewardPolicy, Success};
