//! Inner loops, compiled twice: for every CPU, and for those with 256-bit vectors.

/// Defines a function whose body is also compiled with AVX2 and chosen at run time.
macro_rules! vectorized {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn body($($argument: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $type),*) $(-> $result)? {
                    body($($argument),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the CPU has what the function was compiled for.
                    return unsafe { wide($($argument),*) };
                }
            }
            body($($argument),*)
        }
    };
}
pub(crate) use vectorized;

/// eˣ to about 2 units in the last place; 0 far below zero.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // 2^(n + f) with n whole and |f| ≤ ½: the power of two goes into the exponent bits.
    let y = x.clamp(-87.0, 88.0) * std::f32::consts::LOG2_E;
    let n = (y + 12_582_912.0) - 12_582_912.0;
    let f = y - n;
    let p = 1.535_336_2e-4_f32;
    let p = p * f + 1.339_887_5e-3;
    let p = p * f + 9.618_437e-3;
    let p = p * f + 5.550_332_5e-2;
    let p = p * f + 2.402_264_8e-1;
    let p = p * f + 6.931_472e-1;
    let p = p * f + 1.0;
    p * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

/// 1 / (1 + e⁻ˣ)
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// The largest of some numbers, none of which is NaN; −∞ if there are none.
#[inline(always)]
fn max(row: &[f32]) -> f32 {
    let larger = |left: f32, right: f32| if left > right { left } else { right };
    let mut strands = [f32::NEG_INFINITY; 8];
    let eights = row.chunks_exact(8);
    let rest = eights.remainder().iter().copied().fold(f32::NEG_INFINITY, larger);
    for eight in eights {
        for (strand, x) in strands.iter_mut().zip(eight) {
            *strand = larger(*strand, *x);
        }
    }
    strands.into_iter().fold(rest, larger)
}

vectorized! {
    /// Turns a row of scores into probabilities.
    pub(crate) fn softmax(row: &mut [f32]) {
        let max = max(row);
        // A loop of its own, since adding up goes one by one.
        for x in row.iter_mut() {
            *x = exp(*x - max);
        }
        let scale = 1.0 / row.iter().sum::<f32>();
        for x in row.iter_mut() {
            *x *= scale;
        }
    }
}

vectorized! {
    /// `to += from`
    pub(crate) fn add_assign(to: &mut [f32], from: &[f32]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += from;
        }
    }
}

vectorized! {
    /// `to += factor × from`
    pub(crate) fn add_scaled(to: &mut [f32], factor: f32, from: &[f32]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += factor * from;
        }
    }
}

vectorized! {
    /// The sum of products; in eight strands, so that it is the same on every CPU.
    pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
        let mut strands = [0f32; 8];
        let (left_eights, right_eights) = (left.chunks_exact(8), right.chunks_exact(8));
        let rest: f32 =
            left_eights.remainder().iter().zip(right_eights.remainder()).map(|(left, right)| left * right).sum();
        for (left, right) in left_eights.zip(right_eights) {
            for strand in 0..8 {
                strands[strand] += left[strand] * right[strand];
            }
        }
        strands.iter().sum::<f32>() + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close_to_the_exact_ones() {
        for i in -2000..2000 {
            let x = i as f32 * 0.02;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 3e-6, "exp {x}");
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-6, "tanh {x}");
        }
        assert_eq!(exp(-1000.0), exp(-87.0));
        assert!(exp(-1000.0) < 1e-37);
        let mut row = vec![1000.0, 999.0, -1000.0];
        softmax(&mut row);
        assert!((row[0] - 0.731_058_6).abs() < 1e-5 && row[2] < 1e-30);
        let x: Vec<f32> = (0..19).map(|i| i as f32).collect();
        assert_eq!(dot(&x, &x), 2109.0);
    }
}
