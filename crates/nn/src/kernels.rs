//! Inner loops, each compiled twice from the same source: for any CPU, and for CPUs with AVX2 and FMA.
//!
//! The compiler neither reorders floating-point additions nor fuses a multiplication with an addition on its own, so
//! both versions give the same bits. The gradient checks of the layers test that.

/// Returns whether the CPU has 256-bit vectors (AVX2) and fused multiply-add.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// Returns whether functions defined with [`vectorized!`] run their AVX2 version. Implies [`has_avx2`].
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn runs_avx2() -> bool {
    #[cfg(test)]
    if portable::is_forced() {
        return false;
    }
    has_avx2()
}

/// Lets tests run the portable versions on a CPU with AVX2.
#[cfg(test)]
pub(crate) mod portable {
    use std::cell::Cell;

    thread_local! {
        static FORCED: Cell<bool> = const { Cell::new(false) };
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_forced() -> bool {
        FORCED.get()
    }

    /// Runs `compute` with the portable version of every `vectorized!` function, on this thread only.
    pub(crate) fn run<T>(compute: impl FnOnce() -> T) -> T {
        FORCED.set(true);
        let result = compute();
        FORCED.set(false);
        result
    }
}

/// Defines a function whose body is compiled a second time with AVX2; the version is chosen at run time.
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
                if $crate::kernels::runs_avx2() {
                    // SAFETY: the CPU has the features that `wide` was compiled for.
                    return unsafe { wide($($argument),*) };
                }
            }
            body($($argument),*)
        }
    };
}
pub(crate) use vectorized;

/// Returns eˣ, accurate to about 2 units in the last place. The argument is clamped to −87 … 88.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // eˣ = 2^(n + f) with an integer n and |f| ≤ ½: n becomes the exponent bits, 2^f is a polynomial.
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

/// Returns 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// Returns the largest number of a row without NaN; −∞ if the row is empty.
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
        // Separate from the sum below: the sum is sequential, and this loop can be vectorized.
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
    /// Turns the gradient `dp` of probabilities `p` into that of the scores: `p · (dp − Σ p dp) · scale`.
    pub(crate) fn softmax_backward(p: &[f32], dp: &mut [f32], scale: f32) {
        let sum: f32 = p.iter().zip(dp.iter()).map(|(p, dp)| p * dp).sum();
        for (dp, p) in dp.iter_mut().zip(p) {
            *dp = p * (*dp - sum) * scale;
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
    /// Returns the dot product. It is summed in eight interleaved strands, which vectors of any width can do alike.
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
    use crate::layers::check::random_matrix;

    #[test]
    fn approximations_are_close_to_the_exact_functions() {
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

    #[test]
    fn portable_versions_give_the_same_bits() {
        // Lengths below, at and above the width of a vector, with and without a remainder.
        for len in [1, 3, 7, 8, 9, 16, 31, 64, 100] {
            let (x, y) = (random_matrix(1, len), random_matrix(2, len));
            let all = || {
                let mut results = vec![dot(x.data(), y.row(0))];
                for kernel in 0..4 {
                    let mut row = y.row(1).to_vec();
                    match kernel {
                        0 => softmax(&mut row),
                        1 => softmax_backward(x.data(), &mut row, 0.37),
                        2 => add_assign(&mut row, x.data()),
                        _ => add_scaled(&mut row, 0.37, x.data()),
                    }
                    results.extend(row);
                }
                results.into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(portable::run(all), all(), "{len} elements");
        }
    }
}
