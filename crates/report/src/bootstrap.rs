//! How sure a difference is: the paired bootstrap.
//!
//! Two parsers are asked the same questions. `d_q` is how much more often one is right on question q (a mean over seeds
//! and splits). Questions are drawn anew with replacement, many times; the middle 95 % of the mean differences are
//! the interval. It says how much the choice of test questions matters, and nothing of other seeds or splits.
//!
//! Over several domains, questions are drawn within each, and the domains' means averaged, as the table does.

use serde::Serialize;
use xpr_nn::Random;

/// A difference, and the interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The difference.
    pub difference: f64,
    /// Below it in 2.5 % of the draws.
    pub low: f64,
    /// Above it in 2.5 % of the draws.
    pub high: f64,
}

/// How many times questions are drawn.
const DRAWS: usize = 10_000;
const SEED: u64 = 20_210_607;

/// The mean difference and its 95 % interval; `strata` has the differences question by question of each domain.
/// Nothing if there is a domain without questions, or no domain.
pub fn paired(strata: &[Vec<f64>]) -> Option<Interval> {
    if strata.is_empty() || strata.iter().any(Vec::is_empty) {
        return None;
    }
    let random = Random::new(SEED);
    let over_domains = |total: f64| total / strata.len() as f64;
    let difference = over_domains(strata.iter().map(|values| mean(values)).sum());
    let mut drawn: Vec<f64> = Vec::with_capacity(DRAWS);
    for draw in 0..DRAWS {
        let mut total = 0.0;
        for (stratum, values) in strata.iter().enumerate() {
            let random = random.stream(draw as u64).stream(stratum as u64);
            let sum: f64 =
                (0..values.len()).map(|place| values[random.below(place as u64, values.len())]).sum();
            total += sum / values.len() as f64;
        }
        drawn.push(over_domains(total));
    }
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| drawn[((DRAWS - 1) as f64 * share).round() as usize];
    Some(Interval { difference, low: at(0.025), high: at(0.975) })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_computed_by_hand() {
        // The sum of four draws from {0, 0, 0, 1} is binomial (4, 1/4): P(≤ 2) = 0.949 and P(≤ 3) = 0.996, so that
        // 97.5 % lie at or below 3/4; P(0) = 0.316.
        let interval = paired(&[vec![0.0, 0.0, 0.0, 1.0]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.25, low: 0.0, high: 0.75 });
        // Where every question says the same there is no doubt.
        let interval = paired(&[vec![0.5; 30]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.5, low: 0.5, high: 0.5 });
        // Domains count alike, however many questions they have.
        let interval = paired(&[vec![1.0], vec![0.0; 100]]).unwrap();
        assert_eq!(interval, Interval { difference: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(paired(&[]), None);
        assert_eq!(paired(&[vec![0.0], vec![]]), None);
    }

    #[test]
    fn the_interval_is_as_wide_as_theory_says_and_always_the_same() {
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
