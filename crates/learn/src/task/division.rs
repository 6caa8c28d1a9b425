//! Which training examples are labeled, held out, and unlabeled.

use super::dataset::Examples;
use super::error::TaskError;
use std::ops::Range;
use xpr_data::Example;
use xpr_run::{Config, DataConfig, HeldOut};

/// The examples of a dataset by their use in an experiment.
pub(crate) struct Division {
    /// The examples whose programs are trained on.
    pub(crate) labeled: Vec<Example>,
    /// The examples whose questions are trained on without their programs.
    pub(crate) unlabeled: Vec<Example>,
    /// The examples to evaluate on: the test examples, or the held-out ones.
    pub(crate) evaluated: Vec<Example>,
}

impl Division {
    /// Divides the examples by `data.fraction`, `data.held_out`, `data.held_out_from` and `data.fold`.
    ///
    /// # Errors
    /// If there are too few examples, or none is labeled.
    pub(crate) fn new(config: &DataConfig, examples: Examples) -> Result<Self, TaskError> {
        let labeled = labeled_examples(config, examples.train.len())?;
        if labeled + examples.canonical.len() == 0 {
            let DataConfig { fraction, label_count, .. } = *config;
            return Err(TaskError::NoExamples { fraction, label_count, examples: examples.train.len() });
        }
        Division::with_labels(config, examples, labeled)
    }

    /// Divides the examples of an experiment, which needs labels unless it starts from a base.
    ///
    /// # Errors
    /// If there are too few examples, or none is labeled and some must be.
    pub(crate) fn of_experiment(config: &Config, examples: Examples) -> Result<Self, TaskError> {
        match config.base.is_given() {
            true => Division::without_need_of_labels(&config.data, examples),
            false => Division::new(&config.data, examples),
        }
    }

    /// Divides the examples as [`Division::new`] does, for a parser that starts from a base and needs no labels.
    ///
    /// # Errors
    /// If there are too few examples.
    fn without_need_of_labels(config: &DataConfig, examples: Examples) -> Result<Self, TaskError> {
        let labeled = labeled_examples(config, examples.train.len())?;
        Division::with_labels(config, examples, labeled)
    }

    fn with_labels(config: &DataConfig, examples: Examples, labeled: usize) -> Result<Self, TaskError> {
        let Examples { mut train, test, canonical, .. } = examples;
        let mut unlabeled = train.split_off(labeled);
        let evaluated = match (config.held_out, config.held_out_from) {
            (0, _) => test,
            (_, HeldOut::Labeled) => {
                // The first fold is the last of the labeled examples, as in the paper.
                let block = block(config, labeled, unlabeled.len(), labeled.saturating_sub(1))?;
                train.drain(labeled - block.end..labeled - block.start).collect()
            }
            (_, HeldOut::Rest) => {
                let rest = unlabeled.len();
                unlabeled.drain(block(config, labeled, rest, rest)?).collect()
            }
            (_, HeldOut::Transductive) => {
                let rest = unlabeled.len();
                unlabeled[block(config, labeled, rest, rest)?].to_vec()
            }
        };
        let labeled = canonical.into_iter().chain(train).collect();
        Ok(Division { labeled, unlabeled, evaluated })
    }
}

/// Returns how many training examples are labeled, before some of them are held out.
///
/// # Errors
/// If there are fewer examples than the settings ask for.
pub(crate) fn labeled_examples(config: &DataConfig, examples: usize) -> Result<usize, TaskError> {
    match config.label_count {
        Some(label_count) if label_count > examples => {
            Err(TaskError::TooFewExamples { label_count, examples })
        }
        Some(label_count) => Ok(label_count),
        None => Ok((examples as f64 * config.fraction).floor() as usize),
    }
}

/// Returns the positions of the held-out examples: the block with the number of the fold. They must end at `most`.
fn block(config: &DataConfig, labeled: usize, rest: usize, most: usize) -> Result<Range<usize>, TaskError> {
    let DataConfig { held_out, fold, .. } = *config;
    let end = fold.checked_add(1).and_then(|folds| folds.checked_mul(held_out));
    match end.filter(|end| *end <= most) {
        Some(end) => Ok(end - held_out..end),
        None => Err(TaskError::NothingHeldOut { held_out, fold, labeled, rest }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divides ten examples, named 0 to 9, and a test example `t`. Returns the names of each part.
    fn division(
        fraction: f64,
        held_out: usize,
        held_out_from: HeldOut,
        fold: usize,
    ) -> Result<[String; 3], String> {
        let example = |name: char| Example { utterance: name.to_string(), program: String::new() };
        let examples = Examples {
            train: ('0'..='9').map(example).collect(),
            canonical: vec![],
            test: vec![example('t')],
            bare: vec![],
        };
        let config = DataConfig { fraction, held_out, held_out_from, fold, ..DataConfig::default() };
        let Division { labeled, unlabeled, evaluated } =
            Division::new(&config, examples).map_err(|error| error.to_string())?;
        let names =
            |part: Vec<Example>| part.into_iter().map(|example| example.utterance).collect::<String>();
        Ok([labeled, unlabeled, evaluated].map(names))
    }

    #[test]
    fn labeled_examples_that_are_held_out_are_not_trained_on() {
        let parts = |held_out, fold| division(0.5, held_out, HeldOut::Labeled, fold).unwrap();
        assert_eq!(parts(0, 0), ["01234", "56789", "t"]);
        assert_eq!(parts(2, 0), ["012", "56789", "34"]);
        assert_eq!(parts(2, 1), ["034", "56789", "12"]);
        assert_eq!(parts(4, 0), ["0", "56789", "1234"]);
    }

    #[test]
    fn unlabeled_examples_that_are_held_out_are_trained_on_only_if_asked_for() {
        let parts = |held_out, fold| division(0.5, held_out, HeldOut::Rest, fold).unwrap();
        assert_eq!(parts(2, 0), ["01234", "789", "56"]);
        assert_eq!(parts(2, 1), ["01234", "569", "78"]);
        let parts = |held_out, fold| division(0.5, held_out, HeldOut::Transductive, fold).unwrap();
        assert_eq!(parts(2, 0), ["01234", "56789", "56"]);
        assert_eq!(parts(2, 1), ["01234", "56789", "78"]);
        assert_eq!(parts(5, 0), ["01234", "56789", "56789"]);
    }

    #[test]
    fn labels_are_counted_or_canonical_or_none_at_all() {
        let example = |name: char| Example { utterance: name.to_string(), program: String::new() };
        let divide = |label_count, canonical: &str, needs_labels: bool| {
            let examples = Examples {
                train: ('0'..='5').map(example).collect(),
                canonical: canonical.chars().map(example).collect(),
                test: vec![],
                bare: vec![],
            };
            let config = DataConfig { label_count: Some(label_count), ..DataConfig::default() };
            let division = match needs_labels {
                true => Division::new(&config, examples),
                false => Division::without_need_of_labels(&config, examples),
            };
            let names = |part: Vec<Example>| part.into_iter().map(|e| e.utterance).collect::<String>();
            let division = division.map_err(|error| error.to_string())?;
            Ok([division.labeled, division.unlabeled].map(names))
        };
        let parts = |labeled: &str, unlabeled: &str| -> Result<[String; 2], String> {
            Ok([labeled.to_owned(), unlabeled.to_owned()])
        };
        assert_eq!(divide(2, "", true), parts("01", "2345"));
        assert_eq!(divide(0, "ab", true), parts("ab", "012345"));
        assert_eq!(divide(1, "ab", true), parts("ab0", "12345"));
        assert_eq!(divide(0, "", false), parts("", "012345"));
        assert!(divide(0, "", true).unwrap_err().contains("no labeled examples: 0 of 6"));
        assert!(divide(7, "", false).unwrap_err().contains("label_count is 7, but there are 6"));
    }

    #[test]
    fn too_few_examples_are_an_error_with_the_numbers() {
        use HeldOut::{Labeled, Rest};
        for (held_out, from, fold) in [(6, Rest, 0), (3, Rest, 1), (5, Labeled, 0), (2, Labeled, 2)] {
            let error = division(0.5, held_out, from, fold).unwrap_err();
            assert!(error.contains("5 training examples are labeled and 5 are not"), "{error}");
        }
        assert!(division(0.5, usize::MAX, Rest, 1).unwrap_err().contains("fold 1"));
        assert!(division(0.05, 0, Rest, 0).unwrap_err().contains("no labeled examples"));
    }
}
