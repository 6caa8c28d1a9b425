//! The random numbers of `java.util.Random`: a 48-bit linear congruential generator.

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

pub(super) struct JavaRandom(u64);

impl JavaRandom {
    pub(super) fn new(seed: u64) -> Self {
        JavaRandom((seed ^ MULTIPLIER) & MASK)
    }

    fn bits(&mut self, count: u32) -> i32 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        (self.0 >> (48 - count)) as i32
    }

    /// Java's `nextInt(bound)`: uniform from 0 to just below `bound`, which must be positive.
    fn below(&mut self, bound: i32) -> i32 {
        if bound & -bound == bound {
            return ((i64::from(bound) * i64::from(self.bits(31))) >> 31) as i32;
        }
        loop {
            let bits = self.bits(31);
            let value = bits % bound;
            // Reject numbers beyond the last whole multiple of the bound.
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }

    /// Returns a number, uniform from `low` to just below `high`.
    pub(super) fn int(&mut self, low: i32, high: i32) -> i32 {
        self.below(high - low) + low
    }

    /// Returns true with probability `p`.
    pub(super) fn bernoulli(&mut self, p: f64) -> bool {
        let high = i64::from(self.bits(26)) << 27;
        let low = i64::from(self.bits(27));
        ((high + low) as f64) * 2f64.powi(-53) < p
    }

    /// Returns one element of a list, uniformly.
    pub(super) fn one<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.int(0, list.len() as i32) as usize]
    }

    /// Returns the first element of a list with probability ½, else any element.
    pub(super) fn focus<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        if self.bernoulli(0.5) { &list[0] } else { self.one(list) }
    }
}
