//! The pretrained parser that training starts from, and what settings are by default because of it.

use super::Config;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the base and of the word vectors that are part of the program.
pub const BUILT_IN: &str = "built-in";

/// The pretrained parser that training starts from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BaseConfig {
    /// The folder that `xpr pretrain` or `xpr base` wrote; `built-in` for the base of the program, and empty to start from
    /// nothing. The sizes of the model and the word vectors are those of the base.
    pub folder: PathBuf,
}

impl BaseConfig {
    /// Returns whether training starts from a base.
    pub fn is_given(&self) -> bool {
        !self.folder.as_os_str().is_empty()
    }

    /// Returns whether training starts from the base that is part of the program.
    pub fn is_built_in(&self) -> bool {
        self.folder == Path::new(BUILT_IN)
    }
}

impl Config {
    /// Returns whether names that the vocabulary does not have are divided into words that it has.
    pub fn has_open_vocabulary(&self) -> bool {
        self.base.is_given() || self.data.embeddings == Path::new(BUILT_IN)
    }

    /// Gives settings the defaults of a parser that starts from a base, if it does. `is_given` tells which settings have a value
    /// of their own.
    pub(super) fn default_from_base(&mut self, is_given: impl Fn(&str) -> bool) {
        if !self.base.is_given() {
            return;
        }
        let Config { train, learn, eval, .. } = self;
        let default = |key: &str, set: &mut dyn FnMut()| {
            if !is_given(key) {
                set();
            }
        };
        // Few steps at a low rate, so that the parser keeps what it knows.
        default("train.steps", &mut || train.steps = 200);
        default("train.rate", &mut || train.rate = 3e-4);
        default("train.warmup", &mut || train.warmup = 10);
        default("train.average", &mut || train.average = 0.95);
        // The base, after it has learned the labels, suggests programs for questions without labels.
        default("learn.ensemble", &mut || learn.ensemble = 1);
        default("learn.steps", &mut || learn.steps = 100);
        default("learn.temperature", &mut || learn.temperature = 2.0);
        default("learn.noisy_channel", &mut || learn.noisy_channel = 0.5);
        default("eval.noisy_channel", &mut || eval.noisy_channel = 0.5);
        // Training is short, so that there is time for parsers that know nearly all labels.
        default("eval.confidence_folds", &mut || eval.confidence_folds = 6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_not_given_depend_on_the_base() {
        let read = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
            Config::read(None, &settings).unwrap().config
        };
        let (from_nothing, from_base) = (read(&[]), read(&["base.folder=built-in"]));
        assert_eq!(from_nothing, Config::default());
        assert_eq!((from_base.train.steps, from_base.learn.ensemble), (200, 1));
        assert!(from_base.base.is_built_in() && from_base.has_open_vocabulary());
        let given = read(&["base.folder=b", "train.steps=2000", "learn.ensemble=3", "eval.noisy_channel=1"]);
        assert_eq!((given.train.steps, given.train.rate), (2000, 3e-4));
        assert_eq!((given.learn.ensemble, given.eval.noisy_channel), (3, 1.0));
        assert!(!given.base.is_built_in());
    }

    #[test]
    fn a_recorded_run_is_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let mut config = Config::read(None, &["base.folder=built-in".to_owned()]).unwrap().config;
        config.train.steps = 7;
        config.eval.noisy_channel = 0.5;
        std::fs::write(&path, config.to_toml().unwrap()).unwrap();
        assert_eq!(Config::read(Some(&path), &[]).unwrap().config, config);
    }
}
