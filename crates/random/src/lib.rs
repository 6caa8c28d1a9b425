//! Random numbers that depend on a seed and a position alone.
//!
//! A generator with a state makes results depend on the order of draws, and so on the number of threads and on where a run
//! was interrupted. Here the number at a position is a hash, and any part of a computation can draw its numbers at any time.
//!
//! ```
//! use xpr_random::Random;
//!
//! let random = Random::new(7);
//! assert_eq!(random.bits(3), Random::new(7).bits(3));
//! assert_ne!(random.bits(3), random.stream(1).bits(3));
//! ```

/// A counter-based generator: the number at a position is a hash of the seed and the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    key: u64,
}

impl Random {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Self {
        Random { key: mix(seed ^ 0x9E37_79B9_7F4A_7C15) }
    }

    /// Returns an independent generator for a part of the computation. Parts have different numbers.
    pub fn stream(self, stream: u64) -> Self {
        Random { key: mix(self.key ^ mix(stream.wrapping_add(0xD1B5_4A32_D192_ED03))) }
    }

    /// Returns 64 random bits.
    #[inline(always)]
    pub fn bits(self, position: u64) -> u64 {
        mix(self.key.wrapping_add(position.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// Returns a number drawn uniformly from `[0, 1)`.
    pub fn uniform(self, position: u64) -> f64 {
        (self.bits(position) >> 11) as f64 * 2f64.powi(-53)
    }

    /// Returns a whole number drawn uniformly from `0..bound`; `bound` must be positive.
    pub fn below(self, position: u64, bound: usize) -> usize {
        ((u128::from(self.bits(position)) * bound as u128) >> 64) as usize
    }

    /// Returns a number drawn from the standard normal distribution.
    pub fn normal(self, position: u64) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(2 * position)).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform(2 * position + 1)).cos()
    }

    /// Returns a random permutation of `0..len`.
    pub fn permutation(self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for last in (1..len).rev() {
            order.swap(last, self.below(last as u64, last + 1));
        }
        order
    }
}

/// The finaliser of SplitMix64.
#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_permutations() {
        let random = Random::new(7).stream(3);
        let n = 20_000;
        let uniform: f64 = (0..n).map(|i| random.uniform(i)).sum::<f64>() / n as f64;
        assert!((uniform - 0.5).abs() < 0.01);
        let square: f64 = (0..n).map(|i| random.normal(i).powi(2)).sum::<f64>() / n as f64;
        assert!((square - 1.0).abs() < 0.05);
        let mut order = random.permutation(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
        assert_ne!(random.bits(0), Random::new(8).stream(3).bits(0));
    }
}
