//! `java.util.Random`, as its documentation defines it: a 48-bit linear congruential generator.

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random((seed ^ MULTIPLIER) & MASK)
    }

    fn bits(&mut self, count: u32) -> i32 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        (self.0 >> (48 - count)) as i32
    }

    /// `nextInt(bound)`: uniform below `bound`, which is positive.
    fn below(&mut self, bound: i32) -> i32 {
        if bound & -bound == bound {
            return ((i64::from(bound) * i64::from(self.bits(31))) >> 31) as i32;
        }
        loop {
            let bits = self.bits(31);
            let value = bits % bound;
            // Reject what lies beyond the last whole multiple of the bound.
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }

    /// Uniform from `low` to just below `high`.
    pub(super) fn int(&mut self, low: i32, high: i32) -> i32 {
        self.below(high - low) + low
    }

    /// True with probability `p`.
    pub(super) fn bernoulli(&mut self, p: f64) -> bool {
        let high = i64::from(self.bits(26)) << 27;
        let low = i64::from(self.bits(27));
        ((high + low) as f64) * 2f64.powi(-53) < p
    }

    /// One of a list.
    pub(super) fn one<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.int(0, list.len() as i32) as usize]
    }

    /// The first of a list half of the time, else any of them.
    pub(super) fn focus<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        if self.bernoulli(0.5) { &list[0] } else { self.one(list) }
    }
}
