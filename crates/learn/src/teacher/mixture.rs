//! Mixtures of parsers' probabilities.

use super::noisy_channel::NoisyChannel;
use crate::task::Task;
use std::collections::HashMap;
use std::hash::Hash;
use xpr_lang::Program;
use xpr_parser::{Candidate, Question};

/// Returns the candidates of a beam with `p^(1/T)`, normalised over the beam. A temperature above 1 flattens the probabilities.
pub(crate) fn tempered(candidates: Vec<Candidate>, temperature: f64) -> Vec<(Program, f64)> {
    let logs: Vec<f64> =
        candidates.iter().map(|candidate| f64::from(candidate.log_probability) / temperature).collect();
    candidates.into_iter().map(|candidate| candidate.program).zip(normalised(&logs)).collect()
}

/// Returns the probability of all candidates of a beam under the same temperature, with the unseen programs counted as one more
/// candidate. It is below 1 if the beam does not hold all of the probability.
pub(crate) fn seen_mass(candidates: &[Candidate], temperature: f64) -> f64 {
    let log = |candidate: &Candidate| f64::from(candidate.log_probability);
    let unseen = (1.0 - candidates.iter().map(|candidate| log(candidate).exp()).sum::<f64>()).max(0.0);
    let seen: f64 = candidates.iter().map(|candidate| (log(candidate) / temperature).exp()).sum();
    if seen > 0.0 { seen / (seen + unseen.powf(1.0 / temperature)) } else { 0.0 }
}

/// Sums the weights of each program, in the order in which programs first occur.
pub(crate) fn summed<P: Clone + Eq + Hash>(weights: impl IntoIterator<Item = (P, f64)>) -> Vec<(P, f64)> {
    let mut indices: HashMap<P, usize> = HashMap::new();
    let mut sums: Vec<(P, f64)> = Vec::new();
    for (program, weight) in weights {
        let index = *indices.entry(program).or_insert_with_key(|program| {
            sums.push((program.clone(), 0.0));
            sums.len() - 1
        });
        sums[index].1 += weight;
    }
    sums
}

/// Multiplies the weights of programs by `p(x | y)^α`, with α the weight of the noisy channel, and returns them as candidates
/// whose probabilities sum to 1, most probable first.
pub(crate) fn reranked(
    programs: Vec<(Program, f64)>,
    (channel, weight): (&mut NoisyChannel, f64),
    task: &Task,
    question: &Question,
) -> Vec<Candidate> {
    let score = |(program, given): (Program, f64)| {
        let channel_score = match weight {
            0.0 => 0.0,
            weight => weight * channel.log_probability(task, question, &program),
        };
        (program, given.ln() + channel_score)
    };
    let mut scored: Vec<(Program, f64)> = programs.into_iter().map(score).collect();
    scored.sort_by(|(_, left), (_, right)| right.total_cmp(left));
    let logs: Vec<f64> = scored.iter().map(|(_, log)| *log).collect();
    let candidate = |((program, _), share): ((Program, f64), f64)| {
        let log_probability = share.max(f64::MIN_POSITIVE).ln() as f32;
        Candidate { program, log_probability }
    };
    let shares = normalised(&logs);
    scored.into_iter().zip(shares).map(candidate).collect()
}

/// Returns the softmax of logarithms.
fn normalised(logs: &[f64]) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    logs.iter().map(|log| (log - most).exp() / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_program_are_summed() {
        let sums = summed([("a", 0.5), ("b", 0.25), ("b", 0.75), ("c", 0.125)]);
        assert_eq!(sums, [("a", 0.5), ("b", 1.0), ("c", 0.125)]);
    }

    #[test]
    fn the_seen_mass_counts_unseen_programs_as_one() {
        let world = xpr_exec::overnight::world("calendar").unwrap();
        let task = Task::new(Box::new(crate::task::KnowledgeWorld::new(world, &[])), []).unwrap();
        let programs = task.scene().grammar().programs(5);
        let candidates: Vec<Candidate> = programs
            .zip([0.5f32, 0.25])
            .map(|(program, p)| Candidate { program, log_probability: p.ln() })
            .collect();
        let close = |left: f64, right: f64| (left - right).abs() < 1e-6;
        assert!(close(seen_mass(&candidates, 1.0), 0.75));
        // The square roots of 1/2 and 1/4, and of the 1/4 that is unseen.
        assert!(close(seen_mass(&candidates, 2.0), (0.5f64.sqrt() + 0.5) / (0.5f64.sqrt() + 1.0)));
        assert!(close(seen_mass(&[], 2.0), 0.0));
    }

    #[test]
    fn normalised_weights_sum_to_one_without_underflow() {
        assert_eq!(normalised(&[-1000.0, -1000.0]), [0.5, 0.5]);
        assert_eq!(normalised(&[0.0, -5000.0]), [1.0, 0.0]);
        assert_eq!(normalised(&[]), [0.0; 0]);
    }
}
