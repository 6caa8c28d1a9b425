//! Experiments that a command names, with settings that it varies.

use super::ComparisonError;
use crate::experiment::sweep::{cell_name, combinations, file_stem, plain};
use std::path::PathBuf;
use toml::{Table, Value};

/// An experiment of a comparison: a file, and settings that override it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentVariant {
    /// The name: that of the file and the settings.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Keys and values of the settings.
    pub settings: Vec<(String, String)>,
}

impl ExperimentVariant {
    /// Returns the experiments of a command: each file with each combination of the values in `vary`.
    ///
    /// An element of `files` is a path, or a path ending in `.toml`, a colon and settings, such as
    /// `a.toml:train.steps=100,learn.weight=0.1`. An element of `vary` is a key with values, such as `learn.weight=0.1,0.3`.
    ///
    /// # Errors
    /// If an element of `vary` has no values, or there are too many combinations.
    pub fn read_all(files: &[String], vary: &[String]) -> Result<Vec<ExperimentVariant>, ComparisonError> {
        let grid: Result<Vec<(String, Vec<String>)>, ComparisonError> =
            vary.iter().map(|text| varied(text).ok_or_else(|| ComparisonError::Vary(text.clone()))).collect();
        let choices = combinations(&grid?).ok_or(ComparisonError::TooMany)?;
        let mut variants = Vec::new();
        for text in files {
            let (file, own) = file_and_settings(text);
            for choice in &choices {
                let settings: Vec<(String, String)> = own.iter().chain(choice).cloned().collect();
                let name = cell_name(file_stem(&file), &settings);
                variants.push(ExperimentVariant { name, file: file.clone(), settings });
            }
        }
        Ok(variants)
    }

    /// Returns settings common to all experiments and then those of this one, in the form of `--set`.
    pub fn arguments(&self, common: &[String]) -> Vec<String> {
        let own = self.settings.iter().map(|(key, value)| format!("{key}={value}"));
        common.iter().cloned().chain(own).collect()
    }
}

/// Splits `a.toml:key=value,key=value` into a file and settings. A part without `=` continues the value before it.
fn file_and_settings(text: &str) -> (PathBuf, Vec<(String, String)>) {
    const ENDING: &str = ".toml:";
    let Some(position) = text.find(ENDING) else { return (PathBuf::from(text), vec![]) };
    let (file, settings) = text.split_at(position + ENDING.len());
    let mut split: Vec<(String, String)> = Vec::new();
    for part in settings.split(',') {
        match (part.split_once('='), split.last_mut()) {
            (Some((key, value)), _) => split.push((key.trim().to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => *value = format!("{value},{part}"),
            // Reading the settings reports it.
            (None, None) => split.push((part.to_owned(), String::new())),
        }
    }
    (PathBuf::from(file.trim_end_matches(':')), split)
}

/// Returns the key and the values of `key=value,value`. The values are TOML, or texts without commas.
fn varied(text: &str) -> Option<(String, Vec<String>)> {
    let (key, values) = text.split_once('=')?;
    let array =
        format!("values = [{values}]").parse::<Table>().ok().and_then(|mut table| table.remove("values"));
    let values: Vec<String> = match array {
        Some(Value::Array(values)) => values.iter().map(plain).collect(),
        _ => values.split(',').map(|value| value.trim().to_owned()).collect(),
    };
    let is_complete = !values.is_empty() && values.iter().all(|value| !value.is_empty());
    is_complete.then(|| (key.trim().to_owned(), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn variants(files: &[&str], vary: &[&str]) -> Vec<ExperimentVariant> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        ExperimentVariant::read_all(&owned(files), &owned(vary)).unwrap()
    }

    #[test]
    fn an_experiment_is_a_file_with_settings_of_its_own() {
        let [plain, changed]: [ExperimentVariant; 2] = variants(
            &["x/a.toml", "x/a.toml:data.database=sqlite:b.db,model.without=[\"a\",\"b\"],train.steps=3"],
            &[],
        )
        .try_into()
        .unwrap();
        assert_eq!((plain.name.as_str(), plain.settings.len()), ("a", 0));
        assert_eq!(changed.file, Path::new("x/a.toml"));
        assert_eq!(changed.name, "a,database=sqlite_b.db,without=__a___b__,steps=3");
        assert_eq!(
            changed.arguments(&["train.batch=4".to_owned()]),
            ["train.batch=4", "data.database=sqlite:b.db", "model.without=[\"a\",\"b\"]", "train.steps=3"]
        );
    }

    #[test]
    fn settings_are_varied_in_every_combination() {
        let names = |vary: &[&str]| -> Vec<String> {
            variants(&["a.toml"], vary).into_iter().map(|variant| variant.name).collect()
        };
        assert_eq!(names(&["learn.objective=none,sparse"]), ["a,objective=none", "a,objective=sparse"]);
        assert_eq!(
            names(&["learn.weight=0.1, 1", "train.seed=0,1"]),
            ["a,weight=0.1,seed=0", "a,weight=0.1,seed=1", "a,weight=1,seed=0", "a,weight=1,seed=1"]
        );
        // A value may be a list.
        let without = variants(&["a.toml"], &["model.without=[],[\"a\",\"b\"]"]);
        assert_eq!(without[0].settings, [("model.without".to_owned(), "[]".to_owned())]);
        assert_eq!(without[1].settings, [("model.without".to_owned(), "[\"a\", \"b\"]".to_owned())]);
        for wrong in ["learn.weight", "learn.weight=", "learn.objective=none,"] {
            let error = ExperimentVariant::read_all(&["a.toml".to_owned()], &[wrong.to_owned()]).unwrap_err();
            assert!(error.to_string().contains(wrong), "{error}");
        }
    }
}
