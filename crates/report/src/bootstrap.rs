//! The paired bootstrap: a confidence interval of a difference in accuracy.
//!
//! Two parsers are asked the same questions. `d_q` is the difference of their accuracies on question q (a mean over seeds
//! and splits). Questions are resampled with replacement many times; the middle 95 % of the mean differences are the
//! interval. It accounts for the choice of test questions, but not for other seeds or splits.
//!
//! With several domains, questions are resampled within each and the domains' means are averaged, as in the paper's tables.
//!
//! [`nested`] is for experiments that were trained with the same seeds. It also resamples the seeds, so its interval accounts
//! for other seeds too.

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
    let resampled = |sample: usize| {
        let random = Random::new(SEED).stream(sample as u64);
        let mut total = 0.0;
        for (domain, values) in domains.iter().enumerate() {
            total += resampled_mean(values, random.stream(domain as u64));
        }
        over_domains(total)
    };
    Some(interval(difference, resampled))
}

/// The differences between two experiments on a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct SeededDifferences {
    /// For each seed, the difference of the two parsers with that seed, question by question.
    pub seeds: Vec<Vec<f64>>,
    /// Whether all seeds were evaluated on the same questions, in the same order.
    pub same_questions: bool,
}

/// Returns the mean difference and its 95 % confidence interval, if the domains have the same seeds and each seed has
/// questions.
///
/// Seeds are resampled with replacement, the same for all domains. For each drawn seed and each domain, questions are
/// resampled. If all seeds of a domain have the same questions, they are resampled once for all of them: seeds then say
/// nothing more about the choice of questions. Domains are not resampled.
pub fn nested(domains: &[SeededDifferences]) -> Option<Interval> {
    let seeds = domains.first()?.seeds.len();
    let is_complete = |domain: &SeededDifferences| {
        let lengths = || domain.seeds.iter().map(Vec::len);
        let is_paired = !domain.same_questions || lengths().all(|length| Some(length) == lengths().next());
        domain.seeds.len() == seeds && lengths().all(|length| length > 0) && is_paired
    };
    if seeds == 0 || !domains.iter().all(is_complete) {
        return None;
    }
    let mean_over_seeds = |domain: &SeededDifferences| {
        domain.seeds.iter().map(|values| mean(values)).sum::<f64>() / seeds as f64
    };
    let difference = domains.iter().map(mean_over_seeds).sum::<f64>() / domains.len() as f64;
    let resampled = |sample: usize| {
        let random = Random::new(SEED).stream(sample as u64);
        let mut total = 0.0;
        for (index, domain) in domains.iter().enumerate() {
            let of_domain = random.stream(index as u64);
            for draw in 0..seeds {
                let questions = if domain.same_questions { 0 } else { draw as u64 };
                let values = &domain.seeds[random.below(draw as u64, seeds)];
                total += resampled_mean(values, of_domain.stream(questions));
            }
        }
        total / (domains.len() * seeds) as f64
    };
    Some(interval(difference, resampled))
}

/// Returns a difference with the middle 95 % of what `resampled` returns for many samples.
fn interval(difference: f64, resampled: impl Fn(usize) -> f64) -> Interval {
    let mut samples: Vec<f64> = (0..SAMPLES).map(resampled).collect();
    samples.sort_by(f64::total_cmp);
    let quantile = |share: f64| samples[((SAMPLES - 1) as f64 * share).round() as usize];
    Interval { difference, low: quantile(0.025), high: quantile(0.975) }
}

/// Returns the mean of as many values as there are, drawn with replacement.
fn resampled_mean(values: &[f64], random: Random) -> f64 {
    let draw = |position: usize| values[random.below(position as u64, values.len())];
    (0..values.len()).map(draw).sum::<f64>() / values.len() as f64
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

    fn different(seeds: &[&[f64]]) -> SeededDifferences {
        let seeds = seeds.iter().map(|values| values.to_vec()).collect();
        SeededDifferences { seeds, same_questions: false }
    }

    fn assert_interval(domains: &[SeededDifferences], difference: f64, low: f64, high: f64) {
        let interval = nested(domains).unwrap();
        let ends = [interval.difference - difference, interval.low - low, interval.high - high];
        assert!(ends.iter().all(|end| end.abs() < 1e-12), "{interval:?}");
    }

    #[test]
    fn seeds_are_resampled_and_domains_are_not() {
        // With one seed, only questions vary: binomial (4, 1/4), as above.
        assert_interval(&[different(&[&[0.0, 0.0, 0.0, 1.0]])], 0.25, 0.0, 0.75);
        // Seeds with 0 and 1: the mean of two draws is 0 or 1 with probability 1/4 each.
        assert_interval(&[different(&[&[0.0], &[1.0]])], 0.5, 0.0, 1.0);
        // Three draws from seeds with 0, 0 and 1: P(3 of 3) = 1/27 = 0.037 and P(0) = 0.296.
        assert_interval(&[different(&[&[0.0; 5], &[0.0; 5], &[1.0; 5]])], 1.0 / 3.0, 0.0, 1.0);
        // Domains are fixed.
        assert_interval(&[different(&[&[0.0; 9]]), different(&[&[1.0]])], 0.5, 0.5, 0.5);
        // A seed is drawn for all domains at once: if it is good for one and bad for another, their average is constant.
        assert_interval(&[different(&[&[0.0], &[1.0]]), different(&[&[1.0], &[0.0]])], 0.5, 0.5, 0.5);
    }

    #[test]
    fn questions_that_seeds_share_are_resampled_once() {
        let seed: &[f64] = &[0.0, 0.0, 0.0, 1.0];
        // Eight questions: binomial (8, 1/4) with P(≤ 4) = 0.973 and P(≤ 5) = 0.996.
        assert_interval(&[different(&[seed, seed])], 0.25, 0.0, 0.625);
        // Four questions, asked twice: binomial (4, 1/4).
        let same = SeededDifferences { same_questions: true, ..different(&[seed, seed]) };
        assert_interval(&[same], 0.25, 0.0, 0.75);
    }

    #[test]
    fn incomplete_differences_have_no_interval() {
        let unequal = different(&[&[0.0], &[0.0, 1.0]]);
        assert!(nested(std::slice::from_ref(&unequal)).is_some());
        for domains in [
            vec![],
            vec![different(&[])],
            vec![different(&[&[0.0], &[]])],
            vec![different(&[&[0.0]]), different(&[&[0.0], &[0.0]])],
            vec![SeededDifferences { same_questions: true, ..unequal }],
        ] {
            assert_eq!(nested(&domains), None, "{domains:?}");
        }
    }
}
