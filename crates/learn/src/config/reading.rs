//! An experiment's file and `--set key=value` into settings. A key that does not exist is an error that names the nearest.

use super::{Config, Dataset};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};

/// Why an experiment's file or settings are no experiment.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not TOML, or a value is of the wrong kind.
    #[error("{origin}: {message}")]
    Toml {
        /// The file or flag.
        origin: String,
        /// What is wrong, and where.
        message: String,
    },
    /// There is no such setting.
    #[error("{origin}: there is no setting `{key}`{hint}")]
    UnknownKey {
        /// The file or flag.
        origin: String,
        /// The key.
        key: String,
        /// The nearest one there is.
        hint: String,
    },
    /// A value makes no sense.
    #[error("`{key}` is {value}; {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl Config {
    /// Reads an experiment: a file, or the defaults if there is none, then settings such as `train.steps=100`.
    ///
    /// # Errors
    /// If a key does not exist or a value is not of its kind.
    pub fn read(path: Option<&Path>, settings: &[String]) -> Result<Config, ConfigError> {
        let mut table = Table::new();
        if let Some(path) = path {
            let origin = path.display().to_string();
            let text = fs::read_to_string(path)
                .map_err(|source| ConfigError::File { path: path.to_owned(), source })?;
            table = text.parse().map_err(|error: toml::de::Error| ConfigError::Toml {
                origin: origin.clone(),
                message: error.to_string().trim_end().to_owned(),
            })?;
            check_keys(&table, &origin)?;
        }
        for setting in settings {
            let origin = format!("--set {setting}");
            let Some((key, value)) = setting.split_once('=') else {
                let message = "expected key=value, such as train.steps=100".to_owned();
                return Err(ConfigError::Toml { origin, message });
            };
            set(&mut table, key.trim(), value.trim());
            check_keys(&table, &origin)?;
        }
        let config: Config = table.try_into().map_err(|error: toml::de::Error| ConfigError::Toml {
            origin: path.map_or_else(|| "--set".to_owned(), |path| path.display().to_string()),
            message: error.to_string().trim_end().to_owned(),
        })?;
        config.check()?;
        Ok(config.found_from(path))
    }

    /// The same with the files of a database found from where the experiment's file is.
    fn found_from(mut self, path: Option<&Path>) -> Config {
        if let (Dataset::Database, Some(place)) = (self.data.dataset, path.and_then(Path::parent)) {
            let folder = place.join(&self.data.folder);
            // Whole, so that it is found from a run's folder too.
            self.data.folder = fs::canonicalize(&folder).unwrap_or(folder);
        }
        self
    }

    /// The text of the file that says all of this.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

/// Puts a value at a dotted key. What is not TOML is a string.
fn set(table: &mut Table, key: &str, value: &str) {
    let parsed: Option<Value> =
        format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    let mut value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    let mut place = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            // 1 is a fine number where 1.0 is meant.
            if let (Value::Integer(whole), Some(Value::Float(_))) = (&value, default_at(key)) {
                value = Value::Float(*whole as f64);
            }
            place.insert(part.to_owned(), value);
            return;
        }
        let next = place.entry(part.to_owned()).or_insert_with(|| Value::Table(Table::new()));
        match next {
            Value::Table(table) => place = table,
            // The check of keys will say what is wrong.
            other => {
                *other = Value::Table(Table::new());
                match other {
                    Value::Table(table) => place = table,
                    _ => return,
                }
            }
        }
    }
}

fn defaults() -> Table {
    Table::try_from(Config::default()).unwrap_or_default()
}

fn default_at(key: &str) -> Option<Value> {
    key.split('.').try_fold(Value::Table(defaults()), |value, part| value.as_table()?.get(part).cloned())
}

/// That every key exists.
fn check_keys(table: &Table, origin: &str) -> Result<(), ConfigError> {
    let known = keys(&defaults(), "");
    for key in keys(table, "") {
        if !known.contains(&key) {
            let nearest = known.iter().min_by_key(|known| distance(known, &key));
            let hint = nearest
                .filter(|known| distance(known, &key) <= 2 + key.len() / 4)
                .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
            return Err(ConfigError::UnknownKey { origin: origin.to_owned(), key, hint });
        }
    }
    Ok(())
}

/// The dotted keys of all values.
fn keys(table: &Table, prefix: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => all.extend(keys(inner, &format!("{prefix}{key}."))),
            Value::Table(_) if prefix.is_empty() && defaults().contains_key(key) => {}
            _ => all.push(format!("{prefix}{key}")),
        }
    }
    all
}

/// How many characters must change to make one word of another.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[&str]) -> Result<Config, String> {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        Config::read(None, &settings).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_change_the_defaults() {
        let config =
            read(&["train.steps=7", "data.domain=housing", "train.rate=1", "data.folder=../x y"]).unwrap();
        assert_eq!((config.train.steps, config.data.domain.as_str()), (7, "housing"));
        assert_eq!((config.train.rate, config.data.folder.to_str()), (1.0, Some("../x y")));
        let written: Config = toml::from_str(&config.to_toml()).unwrap();
        assert_eq!(written, config);
    }

    #[test]
    fn the_experiments_and_sweeps_that_come_along_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let (mut count, mut noted_sweeps) = (0, 0);
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            if text.contains("[[part]]") {
                let sweep = crate::sweep::Sweep::read(&path).unwrap_or_else(|error| panic!("{error}"));
                let words: Vec<&str> = text.split_whitespace().collect();
                let noted = words.windows(2).find(|pair| pair[1].starts_with("cells"));
                if let Some(noted) = noted.and_then(|pair| pair[0].parse::<usize>().ok()) {
                    assert_eq!(sweep.cells.len(), noted, "{}", path.display());
                    noted_sweeps += 1;
                }
            } else {
                Config::read(Some(&path), &[]).unwrap_or_else(|error| panic!("{error}"));
            }
            count += 1;
        }
        assert!(count > 0 && noted_sweeps > 0);
    }

    #[test]
    fn mistakes_are_explained() {
        let cases = [
            (
                &["train.stesp=7"][..],
                "--set train.stesp=7: there is no setting `train.stesp`; did you mean `train.steps`?",
            ),
            (&["xyz=7"], "--set xyz=7: there is no setting `xyz`"),
            (&["train=7"], "--set train=7: there is no setting `train`"),
            (&["train.steps"], "--set train.steps: expected key=value, such as train.steps=100"),
            (&["train.steps=0"], "`train.steps` is 0; expected at least 1"),
            (
                &["model.hidden=100"],
                "`model.hidden` is 100; expected a multiple of twice model.heads, at most 4096",
            ),
            (&["data.fraction=1.5"], "`data.fraction` is 1.5; expected a share above 0 and up to 1"),
        ];
        for (settings, expected) in cases {
            assert_eq!(read(settings).unwrap_err(), expected);
        }
        let error = read(&["learn.objective=sparce"]).unwrap_err();
        assert!(
            error.contains("there is no objective `sparce`; there are none, self-training, top-k"),
            "{error}"
        );
        assert_eq!(
            read(&["learn.objective=top-k"]).unwrap().learn.objective,
            Some(crate::objectives::Objective::TopK)
        );
        assert!(read(&["train.steps=many"]).unwrap_err().contains("invalid type: string \"many\""));
    }
}
