//! The paired bootstrap: a confidence interval of a difference in accuracy.
//!
//! Two parsers are asked the same questions. `d_q` is the difference of their accuracies on question q (a mean over seeds
//! and splits). Questions are resampled with replacement many times; the middle 95 % of the mean differences are the
//! interval. It accounts for the choice of test questions, but not for other seeds or splits.
//!
//! With several domains, questions are resampled within each and the domains' means are averaged, as in the paper's tables.

use serde::Serialize;
use xpr_random::Random;

/// A difference and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The difference.
    pub difference: f64,
    /// The lower end: 2.5 % of the resampled differences are below it.
    pub low: f64,
    /// The upper end: 2.5 % of the resampled differences are above it.
    pub high: f64,
}

/// The number of times questions are resampled.
const SAMPLES: usize = 10_000;
const SEED: u64 = 20_210_607;

/// Returns the mean difference and its 95 % confidence interval. `domains` has the differences of each domain, question by
/// question. Returns nothing if there is no domain or one of them has no questions.
pub fn paired(domains: &[Vec<f64>]) -> Option<Interval> {
    if domains.is_empty() || domains.iter().any(Vec::is_empty) {
        return None;
    }
    let over_domains = |total: f64| total / domains.len() as f64;
    let difference = over_domains(domains.iter().map(|values| mean(values)).sum());
    let mut samples: Vec<f64> = Vec::with_capacity(SAMPLES);
    for sample in 0..SAMPLES {
        let random = Random::new(SEED).stream(sample as u64);
        let mut total = 0.0;
        for (domain, values) in domains.iter().enumerate() {
            let random = random.stream(domain as u64);
            let draw = |position: usize| values[random.below(position as u64, values.len())];
            total += (0..values.len()).map(draw).sum::<f64>() / values.len() as f64;
        }
        samples.push(over_domains(total));
    }
    samples.sort_by(f64::total_cmp);
    let quantile = |share: f64| samples[((SAMPLES - 1) as f64 * share).round() as usize];
    Some(Interval { difference, low: quantile(0.025), high: quantile(0.975) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intervals_are_those_computed_by_hand() {
        // The sum of four draws from {0, 0, 0, 1} is binomial (4, 1/4): P(≤ 2) = 0.949 and P(≤ 3) = 0.996, so that
        // 97.5 % are at or below 3/4; P(0) = 0.316.
        let interval = paired(&[vec![0.0, 0.0, 0.0, 1.0]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.25, low: 0.0, high: 0.75 });
        // Without variance the interval is a point.
        let interval = paired(&[vec![0.5; 30]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.5, low: 0.5, high: 0.5 });
        // Domains have equal weight, however many questions they have.
        let interval = paired(&[vec![1.0], vec![0.0; 100]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(paired(&[]), None);
        assert_eq!(paired(&[vec![0.0], vec![]]), None);
    }

    #[test]
    fn the_interval_has_the_width_of_the_normal_approximation_and_is_deterministic() {
        // 400 questions, half of them +1, half −1: standard error 0.05, so ± 0.098.
        let values: Vec<f64> =
            (0..400).map(|index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let interval = paired(std::slice::from_ref(&values)).unwrap();
        assert!(
            (interval.low + 0.098).abs() < 0.005 && (interval.high - 0.098).abs() < 0.005,
            "{interval:?}"
        );
        assert_eq!(paired(&[values]).unwrap(), interval);
    }
}
