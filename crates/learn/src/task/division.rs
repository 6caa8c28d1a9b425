//! Which training examples are labeled, held out, and unlabeled.

use super::dataset::Examples;
use super::error::TaskError;
use xpr_data::Example;
use xpr_run::{DataConfig, HeldOut};

/// The training examples in three parts, in their order: labeled, held out, unlabeled.
pub(crate) struct Division {
    /// The number of labeled examples to train on.
    pub(crate) labeled: usize,
    /// The index of the first unlabeled example.
    pub(crate) rest: usize,
}

impl Division {
    pub(crate) fn new(config: &DataConfig, examples: usize) -> Result<Self, TaskError> {
        let labeled = (examples as f64 * config.fraction).floor() as usize;
        if labeled == 0 {
            return Err(TaskError::NoExamples { fraction: config.fraction, examples });
        }
        let held_out = config.held_out;
        let (first, rest) = match config.held_out_from {
            HeldOut::Labeled => (labeled.saturating_sub(held_out), labeled),
            HeldOut::Rest => (labeled, labeled + held_out),
        };
        if first == 0 || rest > examples {
            return Err(TaskError::NothingHeldOut { held_out, labeled, rest: examples - labeled });
        }
        Ok(Division { labeled: first, rest })
    }
}

/// Returns the examples to evaluate on: the test examples, or the held-out ones.
pub(crate) fn evaluated_examples<'e>(
    config: &DataConfig,
    examples: &'e Examples,
) -> Result<&'e [Example], TaskError> {
    let Division { labeled, .. } = Division::new(config, examples.train.len())?;
    Ok(match config.held_out {
        0 => &examples.test,
        held_out => &examples.train[labeled..labeled + held_out],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn division(fraction: f64, held_out: usize, held_out_from: HeldOut) -> Result<(usize, usize), String> {
        let config = DataConfig { fraction, held_out, held_out_from, ..DataConfig::default() };
        let division = Division::new(&config, 10).map_err(|error| error.to_string())?;
        Ok((division.labeled, division.rest))
    }

    #[test]
    fn examples_are_held_out_of_the_labeled_or_of_the_rest() {
        assert_eq!(division(0.5, 0, HeldOut::Rest), Ok((5, 5)));
        assert_eq!(division(0.5, 2, HeldOut::Rest), Ok((5, 7)));
        assert_eq!(division(0.5, 2, HeldOut::Labeled), Ok((3, 5)));
        for (fraction, held_out, from) in [(0.5, 6, HeldOut::Rest), (0.5, 5, HeldOut::Labeled)] {
            let error = division(fraction, held_out, from).unwrap_err();
            assert!(error.contains("5 training examples are labeled and 5 are not"), "{error}");
        }
        assert!(division(0.05, 0, HeldOut::Rest).unwrap_err().contains("no labeled examples"));
    }
}
