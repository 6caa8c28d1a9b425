//! Numbers in half precision, in which weights are stored where size matters. Nothing computes with them.

/// Returns the number with these bits in half precision.
pub fn half_to_single(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits & 0x3ff));
    match exponent {
        // Subnormal numbers are multiples of 2⁻²⁴.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        // The bias of the exponent is 15 in half precision and 127 in single precision.
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Returns the bits of the number in half precision that is nearest to `number`; of two that are as near, the one whose last
/// bit is 0. Numbers beyond the range become infinite.
pub fn single_to_half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    match magnitude {
        // Not a number.
        0x7f80_0001.. => sign | 0x7e00,
        // Rounds beyond the largest number, 65504, or is infinite.
        0x477f_f000.. => sign | 0x7c00,
        // Normal numbers: the fraction loses 13 bits, and what is rounded up may carry into the exponent.
        0x3880_0000.. => {
            let rebased = magnitude - (112 << 23);
            let odd = rebased >> 13 & 1;
            sign | ((rebased + 0xfff + odd) >> 13) as u16
        }
        // Subnormal numbers are multiples of 2⁻²⁴. The product is exact.
        _ => sign | (f32::from_bits(magnitude) * 16_777_216.0).round_ties_even() as u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_exact() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, expected) in cases {
            assert_eq!(half_to_single(bits), expected, "{bits:#06x}");
        }
        assert!(half_to_single(0x8000).is_sign_negative());
        assert!(half_to_single(0x7e00).is_nan());
    }

    #[test]
    fn every_half_is_its_own_nearest() {
        for bits in 0..=u16::MAX {
            let number = half_to_single(bits);
            match number.is_nan() {
                true => assert!(half_to_single(single_to_half(number)).is_nan()),
                false => assert_eq!(single_to_half(number), bits, "{number}"),
            }
        }
    }

    #[test]
    fn numbers_between_halves_are_rounded_to_the_nearest_and_ties_to_even() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (half_to_single(bits), half_to_single(bits + 1));
            // Exact in single precision, which has 13 bits more.
            let middle = f32::midpoint(low, high);
            let even = if bits % 2 == 0 { bits } else { bits + 1 };
            assert_eq!(single_to_half(middle), even);
            assert_eq!(single_to_half(middle.next_down()), bits);
            assert_eq!(single_to_half(middle.next_up()), bits + 1);
            assert_eq!(single_to_half(-middle.next_up()), 0x8000 | (bits + 1));
        }
        assert_eq!(single_to_half(65519.9), 0x7bff);
        assert_eq!(single_to_half(65520.0), 0x7c00);
        assert_eq!(single_to_half(1e-10), 0);
    }
}
