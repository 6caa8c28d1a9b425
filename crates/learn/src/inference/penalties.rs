//! Penalties for programs that do not use what their question says, or have constants that nobody said.
//!
//! A candidate with the counts `c` keeps a share `exp(−w · c)` of its probability, and the probability of all candidates stays the same. The
//! penalties `w` are those with which right candidates get most of it, on labeled questions that the parser did not train on.

use super::ranked_beam::RankedBeam;
use crate::hyperparameters::PENALTY_STRENGTH;
use xpr_parser::{Candidate, MentionCounts, MentionPenalties, Mentions, Question};

/// The number of penalties.
const PENALTIES: usize = 3;
/// The steps of the fit. It converges in about ten.
const STEPS: usize = 40;

/// A candidate of a labeled question.
#[derive(Clone, Copy, Debug)]
pub struct JudgedCandidate {
    /// The log-probability before penalties.
    pub log_probability: f64,
    /// How it differs from the question.
    pub counts: MentionCounts,
    /// Whether its answer is right.
    pub is_right: bool,
}

/// Returns the penalties with the largest likelihood of the right candidates of each question, less half the squared distance from
/// `prior`, weighted by `PENALTY_STRENGTH`.
pub fn fit_penalties(prior: MentionPenalties, questions: &[Vec<JudgedCandidate>]) -> MentionPenalties {
    let prior = [prior.unused_number, prior.unused_text, prior.unsaid].map(f64::from);
    let mut weights = prior;
    for _ in 0..STEPS {
        let mut gradient = [0.0; PENALTIES];
        let mut curvature = [[0.0; PENALTIES]; PENALTIES];
        for i in 0..PENALTIES {
            gradient[i] = PENALTY_STRENGTH * (prior[i] - weights[i]);
            curvature[i][i] = PENALTY_STRENGTH;
        }
        for candidates in questions {
            let Some([all, right]) = moments(candidates, &weights) else { continue };
            for i in 0..PENALTIES {
                // The log-likelihood is that of the right candidates among all, and a weight lowers a score.
                gradient[i] += all.mean[i] - right.mean[i];
                for (j, entry) in curvature[i].iter_mut().enumerate() {
                    *entry += all.products[i][j] - all.mean[i] * all.mean[j];
                }
            }
        }
        // The curvature of the normaliser bounds that of the likelihood, so that no step goes too far.
        let step = super::linear::solve(curvature, gradient);
        for (weight, step) in weights.iter_mut().zip(step) {
            // A program is never better for what it leaves out.
            *weight = (*weight + step).max(0.0);
        }
    }
    let [unused_number, unused_text, unsaid] = weights.map(|weight| weight as f32);
    MentionPenalties { unused_number, unused_text, unsaid }
}

/// Expectations of the counts of candidates.
#[derive(Default)]
struct Moments {
    mass: f64,
    mean: [f64; PENALTIES],
    products: [[f64; PENALTIES]; PENALTIES],
}

impl Moments {
    fn add(&mut self, weight: f64, counts: &[f64; PENALTIES]) {
        self.mass += weight;
        for i in 0..PENALTIES {
            self.mean[i] += weight * counts[i];
            for j in 0..PENALTIES {
                self.products[i][j] += weight * counts[i] * counts[j];
            }
        }
    }

    fn normalised(mut self) -> Self {
        self.mean.iter_mut().for_each(|mean| *mean /= self.mass);
        self.products.iter_mut().flatten().for_each(|product| *product /= self.mass);
        self
    }
}

/// Returns the expectations over all candidates and over the right ones. Nothing if none is right, or all are: such a question says nothing
/// about the penalties.
fn moments(candidates: &[JudgedCandidate], weights: &[f64; PENALTIES]) -> Option<[Moments; 2]> {
    let right = candidates.iter().filter(|candidate| candidate.is_right).count();
    if right == 0 || right == candidates.len() {
        return None;
    }
    let counts = |counts: MentionCounts| {
        [counts.unused_numbers, counts.unused_texts, counts.unsaid].map(|count| count as f64)
    };
    let score = |candidate: &JudgedCandidate| {
        let penalty: f64 = counts(candidate.counts).iter().zip(weights).map(|(count, w)| count * w).sum();
        candidate.log_probability - penalty
    };
    let most = candidates.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
    let (mut all, mut of_right) = (Moments::default(), Moments::default());
    for candidate in candidates {
        // No weight is 0, so that no mass is.
        let weight = (score(candidate) - most).exp().max(1e-30);
        all.add(weight, &counts(candidate.counts));
        if candidate.is_right {
            of_right.add(weight, &counts(candidate.counts));
        }
    }
    Some([all.normalised(), of_right.normalised()])
}

/// Moves probability from candidates with penalties to the others. The order is by the new probabilities.
pub(super) fn penalised(beam: RankedBeam, question: &Question, penalties: &MentionPenalties) -> RankedBeam {
    let mentions = Mentions::new(question);
    if mentions.is_empty() {
        return beam;
    }
    let RankedBeam { candidates, own } = beam;
    let mass = |logs: &[f64]| logs.iter().map(|log| log.exp()).sum::<f64>().max(f64::MIN_POSITIVE).ln();
    let before: Vec<f64> = candidates.iter().map(|candidate| f64::from(candidate.log_probability)).collect();
    let penalty = |candidate: &Candidate| f64::from(penalties.of(mentions.compare(&candidate.program)));
    let after: Vec<f64> =
        candidates.iter().zip(&before).map(|(candidate, log)| log - penalty(candidate)).collect();
    let shift = mass(&before) - mass(&after);
    let mut ranked: Vec<(Candidate, f32)> = candidates
        .into_iter()
        .zip(after)
        .map(|(candidate, log)| Candidate { log_probability: (log + shift) as f32, ..candidate })
        .zip(own)
        .collect();
    ranked.sort_by(|(left, _), (right, _)| right.log_probability.total_cmp(&left.log_probability));
    let (candidates, own) = ranked.into_iter().unzip();
    RankedBeam { candidates, own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(log_probability: f64, unused_numbers: usize, is_right: bool) -> JudgedCandidate {
        let counts = MentionCounts { unused_numbers, ..MentionCounts::default() };
        JudgedCandidate { log_probability, counts, is_right }
    }

    #[test]
    fn a_penalty_is_learned_if_wrong_candidates_leave_numbers_unused() {
        let prior = MentionPenalties::default();
        let misled = vec![candidate(-0.2, 1, false), candidate(-1.8, 0, true)];
        let fitted = |count: usize| fit_penalties(prior, &vec![misled.clone(); count]).unused_number;
        assert!(fitted(40) > fitted(4) && fitted(4) > 0.5, "{} {}", fitted(4), fitted(40));
        assert!(fitted(40) > 1.6, "the right candidate comes first");
        // Nothing is known about penalties that no candidate has.
        assert_eq!(fit_penalties(prior, &vec![misled.clone(); 9]).unsaid, 0.0);
    }

    #[test]
    fn penalties_are_not_negative_and_do_not_depend_on_hopeless_questions() {
        let prior = MentionPenalties { unused_number: 1.0, ..MentionPenalties::default() };
        let better_unused = vec![candidate(-0.7, 1, true), candidate(-0.7, 0, false)];
        assert_eq!(fit_penalties(prior, &vec![better_unused; 100]).unused_number, 0.0);
        let hopeless = vec![candidate(-0.1, 1, false), candidate(-2.0, 0, false)];
        assert_eq!(fit_penalties(prior, &[hopeless]), prior);
    }

    #[test]
    fn both_classes_of_answers_share_the_blame() {
        // Leaving a number unused is wrong four times in five, so some penalty is right, but not a large one.
        let wrong = vec![candidate(-0.7, 1, false), candidate(-0.7, 0, true)];
        let right = vec![candidate(-0.7, 1, true), candidate(-0.7, 0, false)];
        let questions: Vec<_> =
            (0..500).map(|i| if i % 5 == 0 { right.clone() } else { wrong.clone() }).collect();
        let fitted = fit_penalties(MentionPenalties::default(), &questions).unused_number;
        assert!((f64::from(fitted) - 4f64.ln()).abs() < 0.05, "{fitted}");
    }
}
