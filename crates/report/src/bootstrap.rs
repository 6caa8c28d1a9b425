//! The paired bootstrap: a confidence interval of a difference in accuracy.
//!
//! Two parsers are asked the same questions, in one or several pairs of runs (splits and seeds). `d_rq` is the difference of
//! their accuracies on question q in pair r, and the difference is the mean over r of the mean over q. A sample draws as many
//! pairs as there are, and as many questions, both with replacement; the middle 95 % of the samples are the interval. All pairs
//! of a sample have the same questions: runs that are asked the same questions are not independent, and drawing questions
//! anew for each would make the interval too narrow.
//!
//! With several domains, runs and questions are drawn within each and the domains' means are averaged, as in the paper's
//! tables. With one pair the interval accounts for the choice of questions only. With two or three, it understates how much
//! runs differ.
//!
//! [`Resampled::of_seeds`] is for experiments that were trained with the same seeds in every domain. Seeds may have different
//! questions there, as the folds of held-out questions do.

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

impl Interval {
    /// Returns whether zero is outside of the interval.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The number of samples.
const SAMPLES: usize = 10_000;
const SEED: u64 = 20_210_607;

/// A difference and its samples.
#[derive(Clone, Debug)]
pub struct Resampled {
    difference: f64,
    samples: Vec<f64>,
}

impl Resampled {
    /// Resamples the differences on a domain. `pairs` has the differences of each pair of runs, question by question, and
    /// nothing for a question that the pair was not asked. Random numbers depend on the name of the domain. Returns nothing if
    /// there is no pair, or one without questions.
    ///
    /// # Panics
    /// If pairs have different numbers of questions.
    pub fn new(domain: &str, pairs: &[Vec<Option<f64>>]) -> Option<Resampled> {
        let questions = pairs.first()?.len();
        assert!(pairs.iter().all(|pair| pair.len() == questions), "pairs have a place for each question");
        let all_once = vec![1; questions];
        let means: Vec<f64> =
            pairs.iter().map(|pair| weighted_mean(pair, &all_once)).collect::<Option<_>>()?;
        let random = Random::new(SEED).stream(number_of(domain));
        let sample = |sample: usize| {
            let random = random.stream(sample as u64);
            let (of_pairs, of_questions) = (random.stream(0), random.stream(1));
            let mut counts = vec![0; questions];
            for position in 0..questions {
                counts[of_questions.below(position as u64, questions)] += 1;
            }
            let draw = |position: usize| {
                let pair = of_pairs.below(position as u64, pairs.len());
                weighted_mean(&pairs[pair], &counts).unwrap_or(means[pair])
            };
            mean((0..pairs.len()).map(draw))
        };
        Some(Resampled {
            difference: mean(means.iter().copied()),
            samples: (0..SAMPLES).map(sample).collect(),
        })
    }

    /// Resamples the differences of two experiments on a domain. `seeds` has the differences of each seed, question by question.
    /// Returns nothing if there is no seed, or one without questions.
    ///
    /// A sample draws as many seeds as there are, the same in every domain, and questions for each drawn seed. If all seeds were
    /// asked the same questions, these are drawn once for all of them.
    ///
    /// # Panics
    /// If seeds that were asked the same questions have different numbers of them.
    pub fn of_seeds(domain: &str, seeds: &[Vec<f64>], same_questions: bool) -> Option<Resampled> {
        if seeds.is_empty() || seeds.iter().any(Vec::is_empty) {
            return None;
        }
        let is_paired = seeds.iter().all(|values| values.len() == seeds[0].len());
        assert!(is_paired || !same_questions, "the same questions are as many");
        let sample = |sample: usize| {
            let of_seeds = Random::new(SEED).stream(sample as u64);
            let of_questions = of_seeds.stream(number_of(domain));
            let draw = |position: usize| {
                let values = &seeds[of_seeds.below(position as u64, seeds.len())];
                let random = of_questions.stream(if same_questions { 0 } else { position as u64 });
                mean((0..values.len()).map(|place| values[random.below(place as u64, values.len())]))
            };
            mean((0..seeds.len()).map(draw))
        };
        Some(Resampled {
            difference: mean(seeds.iter().map(|values| mean(values.iter().copied()))),
            samples: (0..SAMPLES).map(sample).collect(),
        })
    }

    /// Returns the average over domains, or nothing if there is none. Each domain has the same weight.
    pub fn average(domains: &[&Resampled]) -> Option<Resampled> {
        let average =
            |value: &dyn Fn(&Resampled) -> f64| mean(domains.iter().map(|resampled| value(resampled)));
        (!domains.is_empty()).then(|| Resampled {
            difference: average(&|resampled| resampled.difference),
            samples: (0..SAMPLES).map(|index| average(&|resampled| resampled.samples[index])).collect(),
        })
    }

    /// Returns the difference and its 95 % confidence interval.
    pub fn interval(&self) -> Interval {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        let quantile = |share: f64| samples[((SAMPLES - 1) as f64 * share).round() as usize];
        Interval { difference: self.difference, low: quantile(0.025), high: quantile(0.975) }
    }
}

/// Returns the mean of values that count several times, or nothing if none counts.
fn weighted_mean(values: &[Option<f64>], counts: &[u32]) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0);
    for (value, count) in values.iter().zip(counts) {
        if let Some(value) = value {
            sum += value * f64::from(*count);
            total += count;
        }
    }
    (total > 0).then(|| sum / f64::from(total))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Returns a number for a name: its FNV-1a hash.
fn number_of(name: &str) -> u64 {
    name.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resampled(domain: &str, pairs: &[&[f64]]) -> Resampled {
        let pairs: Vec<Vec<Option<f64>>> =
            pairs.iter().map(|pair| pair.iter().map(|value| Some(*value)).collect()).collect();
        Resampled::new(domain, &pairs).unwrap()
    }

    fn interval(difference: f64, low: f64, high: f64) -> Interval {
        Interval { difference, low, high }
    }

    #[test]
    fn intervals_over_questions_are_those_computed_by_hand() {
        // The sum of four draws from {0, 0, 0, 1} is binomial (4, 1/4): P(≤ 2) = 0.949 and P(≤ 3) = 0.996, so that
        // 97.5 % are at or below 3/4; P(0) = 0.316.
        assert_eq!(resampled("calendar", &[&[0.0, 0.0, 0.0, 1.0]]).interval(), interval(0.25, 0.0, 0.75));
        // Without variance the interval is a point.
        assert_eq!(resampled("calendar", &[&[0.5; 30]]).interval(), interval(0.5, 0.5, 0.5));
        // Domains have equal weight, however many questions they have.
        let domains = [resampled("calendar", &[&[1.0]]), resampled("housing", &[&[0.0; 100]])];
        let average = Resampled::average(&[&domains[0], &domains[1]]).unwrap();
        assert_eq!(average.interval(), interval(0.5, 0.5, 0.5));
        assert!(Resampled::average(&[]).is_none());
        assert!(Resampled::new("calendar", &[]).is_none() && Resampled::new("calendar", &[vec![]]).is_none());
    }

    #[test]
    fn intervals_over_runs_are_those_computed_by_hand() {
        // Two of two equal runs are drawn: both are 1 or both are 0 in a quarter of the samples each.
        assert_eq!(resampled("calendar", &[&[1.0; 9], &[0.0; 9]]).interval(), interval(0.5, 0.0, 1.0));
        // In six runs, the mean of six draws from {0, 0, 0, 1, 1, 1} is binomial (6, 1/2): P(0) = 0.016, P(≤ 1) = 0.109.
        let runs: [&[f64]; 6] = [&[0.0], &[0.0], &[0.0], &[1.0], &[1.0], &[1.0]];
        let found = resampled("calendar", &runs).interval();
        assert!((found.low - 1.0 / 6.0).abs() < 1e-9 && (found.high - 5.0 / 6.0).abs() < 1e-9, "{found:?}");
        // Runs that agree on every question are as one: questions are drawn for all of them together.
        let questions: &[f64] = &[0.0, 0.0, 0.0, 1.0];
        assert_eq!(
            resampled("calendar", &[questions, questions, questions]).interval(),
            interval(0.25, 0.0, 0.75)
        );
    }

    #[test]
    fn a_pair_counts_by_the_questions_it_was_asked() {
        // The mean over pairs of 1 and 0, though they were asked three questions and one.
        let pairs = [vec![Some(1.0), Some(1.0), Some(1.0), None], vec![None, None, None, Some(0.0)]];
        assert_eq!(Resampled::new("calendar", &pairs).unwrap().interval(), interval(0.5, 0.0, 1.0));
        assert!(Resampled::new("calendar", &[vec![None, None]]).is_none());
    }

    #[test]
    fn the_interval_has_the_width_of_the_normal_approximation_and_is_deterministic() {
        // 400 questions, half of them +1, half −1: standard error 0.05, so ± 0.098.
        let values: Vec<f64> =
            (0..400).map(|index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let found = resampled("calendar", &[&values]).interval();
        assert!((found.low + 0.098).abs() < 0.005 && (found.high - 0.098).abs() < 0.005, "{found:?}");
        assert_eq!(resampled("calendar", &[&values]).interval(), found);
        assert!(!found.excludes_zero() && interval(1.0, 0.5, 1.5).excludes_zero());
    }

    /// Checks the interval of the average over domains, which have the differences of their seeds.
    fn assert_interval_of_seeds(domains: &[&[&[f64]]], same_questions: bool, expected: Interval) {
        let domain = |(index, seeds): (usize, &&[&[f64]])| {
            let seeds: Vec<Vec<f64>> = seeds.iter().map(|values| values.to_vec()).collect();
            Resampled::of_seeds(&format!("domain {index}"), &seeds, same_questions).unwrap()
        };
        let domains: Vec<Resampled> = domains.iter().enumerate().map(domain).collect();
        let found = Resampled::average(&domains.iter().collect::<Vec<_>>()).unwrap().interval();
        let ends =
            [found.difference - expected.difference, found.low - expected.low, found.high - expected.high];
        assert!(ends.iter().all(|end| end.abs() < 1e-12), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn seeds_are_resampled_and_domains_are_not() {
        let assert_interval = |domains: &[&[&[f64]]], expected| {
            assert_interval_of_seeds(domains, false, expected);
        };
        // With one seed, only questions vary: binomial (4, 1/4), as above.
        assert_interval(&[&[&[0.0, 0.0, 0.0, 1.0]]], interval(0.25, 0.0, 0.75));
        // Seeds with 0 and 1: the mean of two draws is 0 or 1 with probability 1/4 each.
        assert_interval(&[&[&[0.0], &[1.0]]], interval(0.5, 0.0, 1.0));
        // Three draws from seeds with 0, 0 and 1: P(3 of 3) = 1/27 = 0.037 and P(0) = 0.296.
        assert_interval(&[&[&[0.0; 5], &[0.0; 5], &[1.0; 5]]], interval(1.0 / 3.0, 0.0, 1.0));
        // Domains are fixed.
        assert_interval(&[&[&[0.0; 9]], &[&[1.0]]], interval(0.5, 0.5, 0.5));
        // A seed is drawn for all domains at once: if it is good for one and bad for another, their average is constant.
        assert_interval(&[&[&[0.0], &[1.0]], &[&[1.0], &[0.0]]], interval(0.5, 0.5, 0.5));
        for seeds in [&[][..], &[vec![0.0], vec![]]] {
            assert!(Resampled::of_seeds("calendar", seeds, false).is_none(), "{seeds:?}");
        }
    }

    #[test]
    fn questions_that_seeds_share_are_resampled_once() {
        let seed: &[f64] = &[0.0, 0.0, 0.0, 1.0];
        // Eight questions: binomial (8, 1/4) with P(≤ 4) = 0.973 and P(≤ 5) = 0.996.
        assert_interval_of_seeds(&[&[seed, seed]], false, interval(0.25, 0.0, 0.625));
        // Four questions, asked twice: binomial (4, 1/4).
        assert_interval_of_seeds(&[&[seed, seed]], true, interval(0.25, 0.0, 0.75));
    }
}
