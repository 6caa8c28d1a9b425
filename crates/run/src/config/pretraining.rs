//! The settings of pretraining.

use super::checks::{
    check_dropout, check_eval, check_fraction, check_model_sizes, check_train_counts, check_train_numbers,
    holds,
};
use super::reading::{GivenSettings, change_settings, found_in, read_settings};
use super::{ConfigError, EvalConfig, TrainConfig};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xpr_parser::ModelConfig;

/// Every setting of pretraining: a parser for many databases, which other parsers start from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PretrainConfig {
    /// The databases.
    pub data: PretrainDataConfig,
    /// The sizes of the model.
    pub model: ModelConfig,
    /// Training.
    pub train: TrainConfig,
    /// Choosing an answer, and evaluation.
    pub eval: EvalConfig,
}

/// The data of pretraining.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PretrainDataConfig {
    /// The folders of databases. Each folder in them that has a database and a file of
    /// questions is a database to train on.
    pub folders: Vec<PathBuf>,
    /// The name of the file of questions with programs, beside each database.
    pub labeled: PathBuf,
    /// The number of databases that are held out, for choosing settings. Which these are depends on their names only.
    pub held_out: usize,
    /// Domains of Overnight to train on, instead of folders of databases.
    pub domains: Vec<String>,
    /// The folder that has the files of Overnight.
    pub folder: PathBuf,
    /// The order of a domain's training examples, as in `data.split` of an experiment.
    pub split: u64,
    /// The share of a domain's training examples that are trained on, counted from the first.
    pub fraction: f64,
    /// Whether to train on the canonical utterances of the domains only, instead of natural questions.
    pub canonical: bool,
    /// The file of word vectors in the text format of GloVe; empty for random vectors.
    pub embeddings: PathBuf,
}

impl Default for PretrainDataConfig {
    fn default() -> Self {
        PretrainDataConfig {
            folders: vec![],
            labeled: "pairs.tsv".into(),
            held_out: 0,
            domains: vec![],
            folder: PathBuf::new(),
            split: 0,
            fraction: 1.0,
            canonical: false,
            embeddings: PathBuf::new(),
        }
    }
}

impl PretrainConfig {
    /// Reads the settings of a file, and then settings such as `train.steps=100`. The folders of databases are relative to
    /// `data`, or to the file if it is not given.
    ///
    /// # Errors
    /// If a key does not exist, or a value is not of its kind or out of its range.
    pub fn read(path: &Path, settings: &[String], data: Option<&Path>) -> Result<Self, ConfigError> {
        let GivenSettings { mut config, .. }: GivenSettings<PretrainConfig> =
            read_settings(Some(path), settings)?;
        config.check()?;
        let place = data.or(path.parent()).unwrap_or(Path::new(""));
        for folder in config.data.folders.iter_mut().chain([&mut config.data.folder]) {
            *folder = found_in(place, folder);
        }
        Ok(config)
    }

    /// Returns these settings after others were set, such as `eval.beam=16`.
    ///
    /// # Errors
    /// If a key does not exist, or a value is not of its kind or out of its range.
    pub fn with_settings(&self, settings: &[String]) -> Result<Self, ConfigError> {
        let GivenSettings { config, .. }: GivenSettings<PretrainConfig> =
            change_settings(&self.to_toml()?, settings)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let PretrainConfig { data, model, train, eval } = self;
        check_fraction(data.fraction)?;
        check_model_sizes(model)?;
        check_dropout(model)?;
        check_train_counts(train)?;
        check_train_numbers(train)?;
        holds(train.steps > 0, "train.steps", train.steps, "expected at least 1")?;
        check_eval(eval)
    }

    /// Returns the settings as the text of a file.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self)
            .map_err(|error| ConfigError::Toml { origin: "settings".to_owned(), message: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn folders_are_relative_to_the_file_and_mistakes_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pretrain.toml");
        fs::write(&path, "[data]\nfolders = [\"dbs\"]\nheld_out = 2\n[train]\nsteps = 5\n").unwrap();
        let read = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
            PretrainConfig::read(&path, &settings, None).map_err(|error| error.to_string())
        };
        fs::create_dir(folder.path().join("dbs")).unwrap();
        let config = read(&["train.rate=1"]).unwrap();
        assert_eq!(config.data.folders, [fs::canonicalize(folder.path().join("dbs")).unwrap()]);
        assert_eq!((config.data.held_out, config.train.steps, config.train.rate), (2, 5, 1.0));
        fs::write(folder.path().join("config.toml"), config.to_toml().unwrap()).unwrap();
        assert_eq!(PretrainConfig::read(&folder.path().join("config.toml"), &[], None).unwrap(), config);
        let changed = config.with_settings(&["eval.beam=3".to_owned()]).unwrap();
        assert_eq!((changed.eval.beam, &changed.data), (3, &config.data));
        assert_eq!(config.with_settings(&[]).unwrap(), config);
        for (setting, expected) in [
            ("train.steps=0", "`train.steps` is 0; expected at least 1"),
            (
                "data.heldout=1",
                "--set data.heldout=1: there is no setting `data.heldout`; did you mean `data.held_out`?",
            ),
            ("learn.weight=1", "--set learn.weight=1: there is no setting `learn.weight`"),
        ] {
            assert_eq!(read(&[setting]).unwrap_err(), expected);
        }
    }

    /// Issue 18: pretraining took these settings, with which nothing is evaluated as it should be.
    #[test]
    fn values_out_of_their_range_are_refused_as_in_experiments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pretrain.toml");
        fs::write(&path, "").unwrap();
        for (key, values) in [
            ("eval.noisy_channel", &["nan", "inf", "-5"][..]),
            ("eval.temperature", &["0", "nan", "-1"]),
            ("eval.prefer", &["agreement", "denotation"]),
            ("eval.beam", &["0"]),
            ("data.fraction", &["nan", "-1", "0", "7"]),
        ] {
            for value in values {
                let settings = [format!("{key}={value}")];
                let error = PretrainConfig::read(&path, &settings, None).unwrap_err().to_string();
                assert!(error.starts_with(&format!("`{key}` is ")), "{error}");
                assert_eq!(crate::Config::read(None, &settings).unwrap_err().to_string(), error);
            }
        }
    }
}
