//! The settings that training depends on, as a run records them.
//!
//! The file of settings of a run that was begun can be edited. Training that goes on with other settings would be a mixture that nobody asked for.

use super::influence::values;
use super::reading::LEFT_OUT_IF_EMPTY;
use super::{Config, ConfigError, DifferingSetting, PretrainConfig};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The settings that training depends on, with their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrainingSettings(BTreeMap<String, String>);

/// Settings that name a place. It is its content that matters.
const PLACES: [&str; 9] = [
    "data.folder",
    "data.folders",
    "data.database",
    "data.labeled",
    "data.unlabeled",
    "data.test",
    "data.embeddings",
    "base.folder",
    "learn.encoder",
];

impl TrainingSettings {
    fn new(mut values: BTreeMap<String, String>, has_influence: impl Fn(&str) -> bool) -> Self {
        values.retain(|key, _| {
            !key.starts_with("eval.") && !PLACES.contains(&key.as_str()) && has_influence(key)
        });
        TrainingSettings(values)
    }

    /// Returns the settings that are not as recorded, with the recorded values second. A setting that another version of xpr does not have is
    /// no difference.
    pub fn differences(&self, recorded: &TrainingSettings) -> Vec<DifferingSetting> {
        let keys: BTreeSet<&String> = self.0.keys().chain(recorded.0.keys()).collect();
        let differing = keys.into_iter().filter_map(|key| {
            let (now, then) = (self.0.get(key), recorded.0.get(key));
            let is_comparable = now.is_some() && then.is_some() || LEFT_OUT_IF_EMPTY.contains(&key.as_str());
            let value = |value: Option<&String>| value.cloned().unwrap_or_else(|| "not set".to_owned());
            let differing = || DifferingSetting { key: key.clone(), left: value(now), right: value(then) };
            (is_comparable && now != then).then(differing)
        });
        differing.collect()
    }
}

impl Config {
    /// Returns the settings that training depends on.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn training_settings(&self) -> Result<TrainingSettings, ConfigError> {
        Ok(TrainingSettings::new(values(self)?, |key| self.influences(key)))
    }
}

impl PretrainConfig {
    /// Returns the settings that training depends on.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn training_settings(&self) -> Result<TrainingSettings, ConfigError> {
        Ok(TrainingSettings::new(values(self)?, |key| key != "train.checkpoint"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_training_differ_wherever_the_data_are() {
        let settings = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&setting| setting.to_owned()).collect();
            Config::read(None, &given).unwrap().config.training_settings().unwrap()
        };
        let differing = |now: &[&str], then: &[&str]| -> Vec<String> {
            let differing = settings(now).differences(&settings(then));
            let text =
                |setting: DifferingSetting| format!("{} {} {}", setting.key, setting.left, setting.right);
            differing.into_iter().map(text).collect()
        };
        let moved = ["data.folder=b", "data.embeddings=c.txt", "data.labeled=d.tsv", "train.checkpoint=7"];
        assert_eq!(differing(&moved, &[]), [""; 0]);
        assert_eq!(differing(&["eval.beam=3", "learn.weight=0.5"], &[]), [""; 0]);
        assert_eq!(
            differing(&["train.seed=7", "search.sense=false"], &["data.label_count=3"]),
            ["data.label_count not set 3", "search.sense false true", "train.seed 7 0"]
        );
        // Another version has other settings.
        let mut other = settings(&[]);
        let earlier = settings(&[]);
        other.0.remove("model.heads");
        other.0.insert("model.new".to_owned(), "1".to_owned());
        assert_eq!(other.differences(&earlier), []);
        let json = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<TrainingSettings>(&json).unwrap(), other);
    }
}
