//! Choosing λ, the weight of the unlabeled loss, on held-out labeled examples, as the paper does.
//!
//! Each weight is an ordinary run in the folder `tuning/` of the run, so tuning that was interrupted resumes where it was.

use super::error::ExperimentError;
use super::load::Experiment;
use super::observer::Observer;
use super::recorded_settings::check_settings;
use crate::hyperparameters::TUNING_EXAMPLES;
use xpr_run::{Config, Evaluation, HeldOut, RunFolder};

/// A weight that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The weight λ.
    pub weight: f64,
    /// The evaluation on the held-out labeled examples.
    pub evaluation: Evaluation,
}

/// Trains a parser with each weight and evaluates it on held-out labeled examples. `start` is called before each training and returns
/// its observer.
///
/// # Errors
/// If an experiment fails.
pub fn tune<O: Observer>(
    config: &Config,
    weights: &[f64],
    folder: &RunFolder,
    mut start: impl FnMut(f64, &Experiment) -> O,
) -> Result<Vec<Tried>, ExperimentError> {
    let mut tried = Vec::new();
    for &weight in weights {
        let mut config = config.clone();
        config.learn.weight = weight;
        let labeled = Experiment::load(config.clone())?.train_examples().len();
        config.data.held_out = TUNING_EXAMPLES.min(labeled / 2);
        config.data.held_out_from = HeldOut::Labeled;
        let tuning = folder.tuning();
        // The weight does not change the ensemble, so all runs share it.
        let experiment = Experiment::load(config)?.with_members(Some(tuning.join("members")));
        let path = tuning.join(format!("weight-{weight}"));
        let run = RunFolder::open_or_create(&path)?.locked()?;
        let resume = run.is_begun()?;
        if resume {
            check_settings(&run, experiment.config(), &[])?;
        }
        let evaluation = experiment.run(&run, resume, &mut start(weight, &experiment))?;
        tried.push(Tried { weight, evaluation });
    }
    Ok(tried)
}

/// Returns the weight with the highest accuracy, and of several the smallest.
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
