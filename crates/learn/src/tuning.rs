//! Choosing λ, the weight of unlabeled questions, as the paper does: on labeled examples that are held out.
//!
//! Each weight gets an ordinary run in `tuning/` of the run's folder, so tuning that was killed goes on where it was.

use crate::{Config, Evaluation, Experiment, ExperimentError, HeldOut, Observer, RunFolder};
use std::path::Path;

/// Labeled examples that are held out, if at most half of them are that many.
const HELD_OUT: usize = 100;

/// A weight, and how good a parser it gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// λ
    pub weight: f64,
    /// On the labeled examples held out.
    pub evaluation: Evaluation,
}

/// Tries weights, and says how good each is; `start` hears of each before it is tried, and says who watches it.
///
/// # Errors
/// If an experiment fails.
pub fn tune<O: Observer>(
    config: &Config,
    weights: &[f64],
    folder: &Path,
    mut start: impl FnMut(f64, &Experiment) -> O,
) -> Result<Vec<Tried>, ExperimentError> {
    let mut tried = Vec::new();
    for &weight in weights {
        let mut config = config.clone();
        config.learn.weight = weight;
        let labeled = Experiment::load(config.clone())?.train_examples().len();
        config.data.held_out = HELD_OUT.min(labeled / 2);
        config.data.held_out_from = HeldOut::Labeled;
        let tuning = folder.join("tuning");
        // Weights are for the student: all of them hear the same committee.
        let experiment = Experiment::load(config)?.with_members(Some(tuning.join("members")));
        let folder = tuning.join(format!("weight-{weight}"));
        let (run, resume) = match RunFolder::open(&folder) {
            Ok(run) => (run, true),
            Err(_) => (RunFolder::create(&folder)?, false),
        };
        let evaluation = experiment.run(&run, resume, &mut start(weight, &experiment))?;
        tried.push(Tried { weight, evaluation });
    }
    Ok(tried)
}

/// The best of the weights; of equal ones the smallest.
pub fn best(tried: &[Tried]) -> Option<f64> {
    let by_accuracy = |left: &&Tried, right: &&Tried| {
        let accuracy = left.evaluation.accuracy.total_cmp(&right.evaluation.accuracy);
        accuracy.then(right.weight.total_cmp(&left.weight))
    };
    tried.iter().max_by(by_accuracy).map(|tried| tried.weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_weight_is_the_smallest_of_the_most_accurate() {
        let tried =
            |weight, accuracy| Tried { weight, evaluation: Evaluation { accuracy, ..Evaluation::default() } };
        assert_eq!(best(&[tried(0.1, 0.5), tried(0.5, 0.7), tried(0.3, 0.7)]), Some(0.3));
        assert_eq!(best(&[]), None);
    }
}
