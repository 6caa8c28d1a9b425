//! Which settings have no influence on a run, because of other settings.

use super::{BUILT_IN, Config, ConfigError, Reward};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A setting that was given and has no influence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredSetting {
    /// The key of the setting.
    pub key: String,
    /// Why it has no influence.
    pub reason: &'static str,
}

impl Display for IgnoredSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the setting `{}` is ignored: {}", self.key, self.reason)
    }
}

/// A setting whose value differs between two experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingSetting {
    /// The key of the setting.
    pub key: String,
    /// The first value.
    pub left: String,
    /// The second value.
    pub right: String,
}

/// When a setting of [`LearnConfig`](super::LearnConfig) is ignored although there is an objective.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IgnoredIf {
    Ensemble,
    NoEnsemble,
}

/// Settings that are ignored with an ensemble or without one, and the reason.
const IGNORED: [(&str, IgnoredIf, &str); 8] = [
    (
        "learn.steps",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and train.steps is the number of all steps; learn.start says when joint training begins",
    ),
    (
        "learn.rounds",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and a parser's own search goes on all the time",
    ),
    (
        "learn.noisy_channel",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and only an ensemble's candidates are re-ranked in training",
    ),
    (
        "learn.encoder",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and only an ensemble's candidates are compared with the question",
    ),
    (
        "learn.paraphrase",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and only an ensemble's candidates are compared with the question",
    ),
    (
        "learn.temperature",
        IgnoredIf::NoEnsemble,
        "learn.ensemble is 0, and it is the temperature of an ensemble's members",
    ),
    (
        "learn.start",
        IgnoredIf::Ensemble,
        "with an ensemble, unlabeled questions are learned from the first step on; it needs learn.ensemble = 0",
    ),
    (
        "learn.search_dropout",
        IgnoredIf::Ensemble,
        "with an ensemble, training does not search; it needs learn.ensemble = 0",
    ),
];

/// Why settings of unlabeled questions are ignored if the labels are all that is learned from.
const NO_OBJECTIVE: &str =
    "learn.objective is `none`, so unlabeled questions are not learned from; set it to `sparse`, for example";

/// Settings that do not change the result of a run.
const NO_INFLUENCE: [&str; 2] = ["data.folder", "train.checkpoint"];

impl Config {
    /// Checks that the settings do not contradict each other. A finished run of an earlier version may have such settings
    /// and can still be read; an experiment that has them is not worth training.
    ///
    /// # Errors
    /// If a parser would be rewarded for agreeing with itself.
    pub fn check_consistency(&self) -> Result<(), ConfigError> {
        let learn = &self.learn;
        if learn.objective.is_some() && learn.ensemble == 0 && learn.reward == Reward::Agreement {
            return Err(ConfigError::Value {
                key: "learn.reward",
                value: learn.reward.name().to_owned(),
                expected: "without an ensemble (learn.ensemble is 0) a parser would be rewarded for agreeing with itself; \
                           set learn.reward to `auto`, `non-empty` or `executes`, or learn.ensemble to 3",
            });
        }
        Ok(())
    }

    /// Returns why a setting has no influence, or nothing if it may have some.
    fn ignored(&self, key: &str) -> Option<&'static str> {
        if self.base.is_given() && key.starts_with("model.") {
            return Some("the sizes of the model are those of the base that base.folder names");
        }
        // Projects name the built-in vectors for a parser that starts from nothing.
        if self.base.is_given() && key == "data.embeddings" && self.data.embeddings != Path::new(BUILT_IN) {
            return Some(
                "the base that base.folder names has its own word vectors; --no-base starts without it",
            );
        }
        if key == "data.test" && self.data.held_out > 0 {
            return Some(
                "data.held_out is above 0, so the parser is evaluated on training examples that are held out",
            );
        }
        if !key.starts_with("learn.") || key == "learn.objective" {
            return None;
        }
        if self.learn.objective.is_none() {
            return Some(NO_OBJECTIVE);
        }
        if key == "learn.paraphrase" && self.learn.ensemble > 0 && !self.learn.uses_encoder() {
            return Some("there is no sentence encoder; set learn.encoder to the folder of one");
        }
        let condition = if self.learn.ensemble > 0 { IgnoredIf::Ensemble } else { IgnoredIf::NoEnsemble };
        IGNORED.iter().find(|row| row.0 == key && row.1 == condition).map(|row| row.2)
    }

    /// Returns whether a setting may change the result of a run.
    pub(super) fn influences(&self, key: &str) -> bool {
        !NO_INFLUENCE.contains(&key) && self.ignored(key).is_none()
    }

    /// Returns those of the given settings that have no influence. Experiment files have settings for objectives beside
    /// `none`, so without an objective only the flags and the settings of the data are reported.
    pub(super) fn ignored_settings(&self, in_file: &[String], in_flags: &[String]) -> Vec<IgnoredSetting> {
        let is_meant = |key: &str| self.learn.objective.is_some() || key.starts_with("data.");
        let in_file = in_file.iter().filter(|key| is_meant(key) && !in_flags.contains(key));
        let ignored =
            |key: &String| self.ignored(key).map(|reason| IgnoredSetting { key: key.clone(), reason });
        // Projects name no test file.
        let is_nothing = |key: &str| key == "data.test" && self.data.test.as_os_str().is_empty();
        in_file.chain(in_flags).filter(|key| !is_nothing(key)).filter_map(ignored).collect()
    }

    /// Returns the settings in which two experiments differ and that have an influence on their results. Word vectors are
    /// the same wherever their file is.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn differences(&self, other: &Config) -> Result<Vec<DifferingSetting>, ConfigError> {
        let (left, right) = (self.values()?, other.values()?);
        let influences = |key: &str| self.influences(key) || other.influences(key);
        // A setting that is off may be left out on one side.
        let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        let value = |values: &BTreeMap<String, String>, key: &String| {
            values.get(key).cloned().unwrap_or_else(|| "not set".to_owned())
        };
        let differing = keys.into_iter().filter(|key| left.get(*key) != right.get(*key) && influences(key));
        Ok(differing
            .map(|key| DifferingSetting {
                key: key.clone(),
                left: value(&left, key),
                right: value(&right, key),
            })
            .collect())
    }

    /// Returns the values of all settings by their keys, and of the word vectors only the name of their file.
    fn values(&self) -> Result<BTreeMap<String, String>, ConfigError> {
        let mut config = self.clone();
        let embeddings = &mut config.data.embeddings;
        *embeddings = embeddings.file_name().map(PathBuf::from).unwrap_or_default();
        values(&config)
    }
}

/// Returns the values of all settings by their keys.
pub(super) fn values(config: &impl Serialize) -> Result<BTreeMap<String, String>, ConfigError> {
    let table = Table::try_from(config)
        .map_err(|error| ConfigError::Toml { origin: "settings".to_owned(), message: error.to_string() })?;
    let section = |(section, values): (String, Value)| {
        let values = values.as_table().cloned().unwrap_or_default();
        values.into_iter().map(move |(key, value)| (format!("{section}.{key}"), value.to_string()))
    };
    Ok(table.into_iter().flat_map(section).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(file: &str, settings: &[&str]) -> Config {
        read_with_ignored(file, settings).0
    }

    /// Returns the settings, and the keys of those that are ignored.
    fn read_with_ignored(file: &str, settings: &[&str]) -> (Config, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        fs::write(&path, file).unwrap();
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let read = Config::read(Some(&path), &settings).unwrap();
        (read.config, read.ignored.into_iter().map(|setting| setting.key).collect())
    }

    #[test]
    fn a_parser_is_not_rewarded_for_agreeing_with_itself() {
        let check =
            |settings: &[&str]| read("[learn]\nreward = \"agreement\"\n", settings).check_consistency();
        let error = check(&["learn.objective=sparse", "learn.ensemble=0"]).unwrap_err().to_string();
        assert!(error.contains("rewarded for agreeing with itself; set learn.reward to `auto`"), "{error}");
        for settings in [
            &["learn.objective=sparse"][..],
            &["learn.objective=none", "learn.ensemble=0"],
            &["learn.objective=sparse", "learn.ensemble=0", "learn.reward=auto"],
        ] {
            assert!(check(settings).is_ok(), "{settings:?}");
        }
    }

    #[test]
    fn settings_that_are_given_and_ignored_are_reported() {
        let file = "[learn]\nsteps = 5\nstart = 5\nweight = 0.5\n";
        for (settings, expected) in [
            (&["learn.objective=sparse"][..], &["learn.start"][..]),
            (&["learn.objective=sparse", "learn.ensemble=0"], &["learn.steps"]),
            (
                &["learn.objective=sparse", "learn.ensemble=0", "learn.channel=2", "learn.temperature=2"],
                &["learn.steps", "learn.noisy_channel", "learn.temperature"],
            ),
            (
                &["learn.objective=sparse", "learn.search_dropout=true", "learn.start=7", "learn.start=8"],
                &["learn.search_dropout", "learn.start"],
            ),
            // Experiment files have settings for objectives.
            (&[], &[]),
            (&["learn.objective=none", "learn.weight=0.1", "train.steps=3"], &["learn.weight"]),
        ] {
            assert_eq!(read_with_ignored(file, settings).1, expected, "{settings:?}");
        }
    }

    /// Issue 18: the questions for testing that a project names were not read, because it also holds some out, and nothing said so.
    #[test]
    fn test_questions_beside_held_out_ones_are_reported() {
        let file = "[data]\ntest = \"test.tsv\"\nheld_out = 5\n";
        assert_eq!(read_with_ignored(file, &[]).1, ["data.test"]);
        assert_eq!(read_with_ignored(file, &["data.held_out=0"]).1, [""; 0]);
        assert_eq!(read_with_ignored("[data]\ntest = \"\"\nheld_out = 5\n", &[]).1, [""; 0]);
        assert_eq!(read_with_ignored("[data]\nheld_out = 5\n", &["data.test=test.tsv"]).1, ["data.test"]);
    }

    #[test]
    fn settings_differ_if_they_have_an_influence() {
        let differences = |left: &[&str], right: &[&str]| -> Vec<String> {
            let differing = read("", left).differences(&read("", right)).unwrap();
            differing
                .iter()
                .map(|setting| format!("{}: {}, {}", setting.key, setting.left, setting.right))
                .collect()
        };
        assert_eq!(
            differences(&["train.steps=3", "data.domain=housing"], &["data.domain=recipes"]),
            ["data.domain: \"housing\", \"recipes\"", "train.steps: 3, 2000"]
        );
        // Neither the weight of an objective that is not used, nor the place of a file.
        assert_eq!(differences(&["learn.weight=0.1", "data.folder=a"], &["data.folder=b"]), [""; 0]);
        assert_eq!(
            differences(&["data.label_count=3"], &["data.loose_values=true"]),
            ["data.label_count: 3, not set", "data.loose_values: not set, true"]
        );
        assert_eq!(differences(&["data.embeddings=a/x.txt"], &["data.embeddings=b/x.txt"]), [""; 0]);
        let sparse = "learn.objective=sparse";
        assert_eq!(differences(&[sparse, "learn.weight=0.1"], &[sparse]), ["learn.weight: 0.1, 1.0"]);
        assert_eq!(differences(&[sparse, "learn.start=1"], &[sparse, "learn.start=2"]), [""; 0]);
    }
}
