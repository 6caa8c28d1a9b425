//! Confidence: the probability that an answer is right.
//!
//! A parser's own probabilities say how sure it is of its program, and a parser with few labels is too sure. The confidence is a logistic
//! regression on a few [features](AnswerFeatures) of the answer,
//!
//! ```text
//! confidence = 1 / (1 + exp(−w · f))
//! ```
//!
//! whose weights `w` are fitted on labeled questions that the parser did not train on. A penalty holds them near weights that were fitted on
//! other databases, so few labels change little and many labels decide.

use super::features::{AnswerFeatures, FEATURES};
use crate::hyperparameters::{CONFIDENCE_PRIOR, CONFIDENCE_STRENGTH, FEWEST_CALIBRATION_LABELS};
use serde::{Deserialize, Serialize};

/// The steps of Newton's method by which the weights are fitted. It converges in about five.
const NEWTON_STEPS: usize = 30;
/// The number of times that a step of Newton's method is halved before the fit ends.
const HALVINGS: i32 = 40;
/// The threshold without labels to choose it by: an answer is given if it is rather right than wrong.
const DEFAULT_THRESHOLD: f64 = 0.5;

/// The logistic regression, and the confidence below which an answer is not sure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceModel {
    weights: [f64; FEATURES],
    /// The confidence below which an answer is not sure.
    pub threshold: f64,
    /// The number of labeled questions that the weights were fitted on; 0 if they are those of other databases.
    pub labels: usize,
}

impl Default for ConfidenceModel {
    /// Returns the weights that were fitted on other databases.
    fn default() -> Self {
        ConfidenceModel { weights: CONFIDENCE_PRIOR, threshold: DEFAULT_THRESHOLD, labels: 0 }
    }
}

impl ConfidenceModel {
    /// Fits the weights to answers that are right or wrong, starting from a model of other databases. With too few answers, returns that model.
    pub fn fit(prior: &ConfidenceModel, answers: &[(AnswerFeatures, bool)]) -> Self {
        if answers.len() < FEWEST_CALIBRATION_LABELS {
            return ConfidenceModel { labels: 0, ..prior.clone() };
        }
        let weights = fit_weights(prior.weights, CONFIDENCE_STRENGTH, answers);
        let model = ConfidenceModel { weights, threshold: DEFAULT_THRESHOLD, labels: answers.len() };
        let confidences: Vec<(f64, bool)> =
            answers.iter().map(|(features, right)| (model.probability(features), *right)).collect();
        ConfidenceModel { threshold: threshold(&confidences), ..model }
    }

    /// Returns a model with these weights.
    pub fn with_weights(weights: [f64; FEATURES]) -> Self {
        ConfidenceModel { weights, ..ConfidenceModel::default() }
    }

    /// Returns the probability that an answer with these features is right.
    pub fn probability(&self, features: &AnswerFeatures) -> f64 {
        logistic(dot(&self.weights, &features.0))
    }
}

/// Returns the weights with the largest likelihood, less `strength / 2` times the squared distance from `prior`.
pub fn fit_weights(
    prior: [f64; FEATURES],
    strength: f64,
    answers: &[(AnswerFeatures, bool)],
) -> [f64; FEATURES] {
    let mut weights = prior;
    let mut loss = penalised_loss(&weights, &prior, strength, answers);
    for _ in 0..NEWTON_STEPS {
        let step = newton_step(&weights, &prior, strength, answers);
        // Far from the optimum a whole step can go too far.
        let shorter = (0..HALVINGS).map(|halvings| 0.5f64.powi(halvings)).find_map(|length| {
            let mut moved = weights;
            moved.iter_mut().zip(step).for_each(|(weight, step)| *weight -= length * step);
            let lower = penalised_loss(&moved, &prior, strength, answers);
            (lower < loss).then_some((moved, lower))
        });
        let Some((moved, lower)) = shorter else { break };
        (weights, loss) = (moved, lower);
    }
    weights
}

/// Returns the negative log-likelihood, plus `strength / 2` times the squared distance from `prior`.
fn penalised_loss(
    weights: &[f64; FEATURES],
    prior: &[f64; FEATURES],
    strength: f64,
    answers: &[(AnswerFeatures, bool)],
) -> f64 {
    let distance: f64 = weights.iter().zip(prior).map(|(weight, prior)| (weight - prior).powi(2)).sum();
    let loss = |(AnswerFeatures(features), right): &(AnswerFeatures, bool)| {
        let log_odds = dot(weights, features);
        // log(1 + exp(−x)) without overflow.
        let x = if *right { log_odds } else { -log_odds };
        (-x.abs()).exp().ln_1p() + (-x).max(0.0)
    };
    answers.iter().map(loss).sum::<f64>() + strength / 2.0 * distance
}

/// Returns the step of Newton's method, to be subtracted.
fn newton_step(
    weights: &[f64; FEATURES],
    prior: &[f64; FEATURES],
    strength: f64,
    answers: &[(AnswerFeatures, bool)],
) -> [f64; FEATURES] {
    let mut gradient = [0.0; FEATURES];
    let mut hessian = [[0.0; FEATURES]; FEATURES];
    for i in 0..FEATURES {
        gradient[i] = strength * (weights[i] - prior[i]);
        hessian[i][i] = strength;
    }
    for (AnswerFeatures(features), right) in answers {
        let probability = logistic(dot(weights, features));
        let error = probability - f64::from(u8::from(*right));
        let curvature = probability * (1.0 - probability);
        for i in 0..FEATURES {
            gradient[i] += error * features[i];
            for j in 0..FEATURES {
                hessian[i][j] += curvature * features[i] * features[j];
            }
        }
    }
    super::linear::solve(hessian, gradient)
}

/// Returns the confidence from which on answers are given, such that right answers outnumber wrong ones by most. Few labels say little
/// about it, so it stays near one half.
fn threshold(answers: &[(f64, bool)]) -> f64 {
    const CHOICES: [f64; 7] = [0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65];
    let balance = |threshold: f64| {
        let given = answers.iter().filter(|(confidence, _)| *confidence >= threshold);
        given.map(|(_, right)| if *right { 1i64 } else { -1 }).sum::<i64>()
    };
    // The choices nearest to one half come first, and `max_by_key` would return the last of equal ones.
    CHOICES.into_iter().rev().max_by_key(|choice| balance(*choice)).unwrap_or(DEFAULT_THRESHOLD)
}

fn dot(left: &[f64; FEATURES], right: &[f64; FEATURES]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers whose second feature is `x`, of which a share is right.
    fn answers(x: f64, count: usize, right: usize) -> Vec<(AnswerFeatures, bool)> {
        let mut features = [0.0; FEATURES];
        (features[0], features[1]) = (1.0, x);
        (0..count).map(|index| (AnswerFeatures(features), index < right)).collect()
    }

    #[test]
    fn weights_without_a_penalty_reproduce_the_shares() {
        let all = [answers(-1.0, 100, 20), answers(1.0, 100, 90)].concat();
        let weights = fit_weights([0.0; FEATURES], 1e-6, &all);
        for (x, share) in [(-1.0, 0.2), (1.0, 0.9)] {
            let probability = logistic(weights[0] + weights[1] * x);
            assert!((probability - share).abs() < 1e-3, "{x}: {probability}");
        }
        // A feature that never varies has no weight.
        assert_eq!(weights[2], 0.0);
    }

    #[test]
    fn a_prior_that_is_far_off_does_not_lead_astray() {
        let mut prior = [0.0; FEATURES];
        (prior[0], prior[1]) = (-30.0, 20.0);
        let all = [answers(-1.0, 300, 60), answers(1.0, 300, 270)].concat();
        let weights = fit_weights(prior, 1e-6, &all);
        for (x, share) in [(-1.0, 0.2), (1.0, 0.9)] {
            let probability = logistic(weights[0] + weights[1] * x);
            assert!((probability - share).abs() < 1e-3, "{x}: {probability}");
        }
    }

    #[test]
    fn few_labels_stay_near_the_weights_of_other_databases() {
        let distance = |weights: [f64; FEATURES]| {
            weights.iter().zip(CONFIDENCE_PRIOR).map(|(weight, prior)| (weight - prior).powi(2)).sum::<f64>()
        };
        let fitted = |count: usize| {
            fit_weights(CONFIDENCE_PRIOR, CONFIDENCE_STRENGTH, &answers(1.0, count, count / 2))
        };
        assert!(distance(fitted(10)) < distance(fitted(1000)));
        let prior = ConfidenceModel::default();
        assert_eq!(ConfidenceModel::fit(&prior, &answers(1.0, 5, 5)), prior);
    }

    #[test]
    fn the_threshold_is_where_answers_become_rather_right_than_wrong() {
        let with = |confidence: f64, right: bool, count: usize| vec![(confidence, right); count];
        let all = [with(0.9, true, 20), with(0.57, false, 10), with(0.3, false, 20)].concat();
        assert_eq!(threshold(&all), 0.6);
        let all = [with(0.9, true, 20), with(0.42, true, 10), with(0.3, false, 20)].concat();
        assert_eq!(threshold(&all), 0.4);
        assert_eq!(threshold(&with(0.9, true, 5)), 0.5);
    }
}
