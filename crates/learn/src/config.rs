//! An experiment as one TOML file.

use crate::Reward;
use crate::objectives::Objective;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};
use xpr_parser::ModelConfig;

/// An experiment: what to learn from, what to learn, how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What to learn from.
    pub data: DataConfig,
    /// The sizes of the model.
    pub model: ModelConfig,
    /// How to train it.
    pub train: TrainConfig,
    /// What to learn from questions without labels.
    pub learn: LearnConfig,
    /// How to evaluate it.
    pub eval: EvalConfig,
}

/// What to learn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// The kind of dataset.
    pub dataset: Dataset,
    /// Its folder. In an experiment's file it is found from where the file is.
    pub folder: PathBuf,
    /// Which domain of Overnight.
    pub domain: String,
    /// The database that questions are about: `sqlite:music.db`, found from the folder.
    pub database: String,
    /// Questions with programs, to learn from.
    pub labeled: PathBuf,
    /// Questions without; none if empty.
    pub unlabeled: PathBuf,
    /// Questions with programs, to test with; none if empty.
    pub test: PathBuf,
    /// The order of the training examples: 0 for the authors' split 0, anything else for a random order of its own.
    pub split: u64,
    /// The share of the training examples that are labeled: the first ones.
    pub fraction: f64,
    /// The share of the other ones whose answers are known; see the reward `denotation`.
    pub answered: f64,
    /// Evaluate on so many training examples, which are then not trained on, instead of the test examples: for
    /// choosing settings, which must never see the test file. 0 for the test examples.
    pub held_out: usize,
    /// Which they are: the last `labeled` ones, or the first of the `rest`.
    pub held_out_from: HeldOut,
    /// Word vectors in GloVe's text format; empty for none.
    pub embeddings: PathBuf,
}

/// Kinds of datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// A domain of the Overnight benchmark.
    Overnight,
    /// A database, and files of questions about it.
    Database,
}

/// Which training examples are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOut {
    /// The last of the labeled ones, as the paper does to choose λ.
    Labeled,
    /// The first of the others, so that as many are labeled as without.
    Rest,
}

impl DataConfig {
    /// What the questions are about, in a word.
    pub fn name(&self) -> &str {
        match self.dataset {
            Dataset::Overnight => &self.domain,
            Dataset::Database => &self.database,
        }
    }
}

impl DataConfig {
    /// The database's name: that of its file without the ending.
    pub(crate) fn database_name(&self) -> &str {
        let path = Path::new(self.database.strip_prefix("sqlite:").unwrap_or(&self.database));
        path.file_stem().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

impl Default for DataConfig {
    fn default() -> Self {
        DataConfig {
            dataset: Dataset::Overnight,
            folder: PathBuf::new(),
            domain: "calendar".into(),
            database: String::new(),
            labeled: PathBuf::new(),
            unlabeled: PathBuf::new(),
            test: PathBuf::new(),
            split: 0,
            fraction: 1.0,
            answered: 0.0,
            held_out: 0,
            held_out_from: HeldOut::Rest,
            embeddings: PathBuf::new(),
        }
    }
}

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Decides everything that is random.
    pub seed: u64,
    /// How many steps.
    pub steps: usize,
    /// Labeled examples a step.
    pub batch: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// The learning rate at the end.
    pub end_rate: f64,
    /// Steps until the highest rate.
    pub warmup: usize,
    /// The power by which it falls from there.
    pub power: f64,
    /// The longest gradient; longer ones are scaled down. 0 for none.
    pub clip: f32,
    /// Into how many parts a batch is split for parallel work; part of what decides the bits of a result.
    pub shards: usize,
    /// Steps between checkpoints.
    pub checkpoint: usize,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            seed: 0,
            steps: 2000,
            batch: 12,
            rate: 1e-3,
            end_rate: 1e-5,
            warmup: 100,
            power: 0.5,
            clip: 5.0,
            shards: 2,
            checkpoint: 500,
        }
    }
}

/// What to learn from questions without labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// The objective; `none` for supervised training alone.
    #[serde(with = "objective_name")]
    pub objective: Option<Objective>,
    /// What counts as success: `non-empty`, `executes`, `denotation`, `agreement`, or `auto`: with a committee
    /// `agreement`, without the first or second as labels decide.
    pub reward: Reward,
    /// What to do where no candidate is rewarded and the objective has nothing to aim at.
    pub fallback: Fallback,
    /// How much the unlabeled loss counts: λ of Eq. 1.
    pub weight: f64,
    /// So many parsers, trained on the labels alone as the settings of `train` say, suggest the candidates for another, which learns
    /// labels and suggestions. 0: the parser finds candidates itself, as in the paper.
    pub committee: usize,
    /// With a committee, the steps of the parser that it teaches.
    pub steps: usize,
    /// Without a committee, after how many steps on the labels alone the parser also learns from what it finds.
    pub start: usize,
    /// With a committee, how much counts how well a program explains the words of its question: the exponent of the channel. 0: not at all.
    pub channel: f64,
    /// Unlabeled questions a step.
    pub batch: usize,
    /// Candidates a question.
    pub beam: usize,
    /// Without a committee, whether search drops elements too, as the authors' does: candidates then differ from time to time.
    pub noise: bool,
}

impl Default for LearnConfig {
    fn default() -> Self {
        LearnConfig {
            objective: None,
            reward: Reward::Auto,
            fallback: Fallback::Repulsion,
            weight: 1.0,
            committee: 3,
            steps: 1500,
            start: 1000,
            channel: 1.0,
            batch: 12,
            beam: 16,
            noise: true,
        }
    }
}

/// An objective by its name, or `none`.
mod objective_name {
    use crate::objectives::Objective;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        objective: &Option<Objective>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(objective.map_or("none", Objective::name))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Option<Objective>, D::Error> {
        let name = String::deserialize(deserializer)?;
        match Objective::from_name(&name) {
            None if name != "none" => {
                let known: Vec<&str> = Objective::ALL.into_iter().map(Objective::name).collect();
                Err(D::Error::custom(format!(
                    "there is no objective `{name}`; there are none, {}",
                    known.join(", ")
                )))
            }
            objective => Ok(objective),
        }
    }
}

/// What to do where an objective has nothing to aim at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Push the candidates away, as the authors' code does.
    Repulsion,
    /// Leave the question out.
    Skip,
}

/// How to evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalConfig {
    /// Programs to look for.
    pub beam: usize,
    /// How much counts how well a program explains the words of its question, when one is chosen as when a committee is asked: the
    /// exponent of the channel. 0: the parser answers alone.
    pub channel: f64,
    /// What a program must do to be chosen before others: find something, `non-empty`, or run, `executes`. `auto`: as labels decide.
    pub least: Reward,
}

impl Default for EvalConfig {
    fn default() -> Self {
        EvalConfig { beam: 8, channel: 1.0, least: Reward::Auto }
    }
}

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

    fn check(&self) -> Result<(), ConfigError> {
        let (model, train) = (&self.model, &self.train);
        let checks: [(&'static str, String, bool, &'static str); 15] = [
            (
                "data.fraction",
                self.data.fraction.to_string(),
                self.data.fraction > 0.0 && self.data.fraction <= 1.0,
                "expected a share above 0 and up to 1",
            ),
            (
                "model.hidden",
                model.hidden.to_string(),
                model.heads > 0
                    && model.hidden > 0
                    && model.hidden.is_multiple_of(2 * model.heads)
                    && model.hidden <= 4096,
                "expected a multiple of twice model.heads, at most 4096",
            ),
            ("model.layers", model.layers.to_string(), model.layers <= 24, "expected at most 24"),
            (
                "model.feed_forward",
                model.feed_forward.to_string(),
                (1..=16_384).contains(&model.feed_forward),
                "expected 1 to 16384",
            ),
            ("model.word", model.word.to_string(), (1..=4096).contains(&model.word), "expected 1 to 4096"),
            (
                "model.action",
                model.action.to_string(),
                (1..=4096).contains(&model.action),
                "expected 1 to 4096",
            ),
            ("model.place", model.place.to_string(), (1..=4096).contains(&model.place), "expected 1 to 4096"),
            (
                "model.dropout",
                model.dropout.to_string(),
                (0.0..1.0).contains(&model.dropout) && (0.0..1.0).contains(&model.word_dropout),
                "it and model.word_dropout are shares from 0 to below 1",
            ),
            (
                "data.answered",
                self.data.answered.to_string(),
                (0.0..=1.0).contains(&self.data.answered),
                "expected a share from 0 to 1",
            ),
            ("train.steps", train.steps.to_string(), train.steps > 0, "expected at least 1"),
            ("learn.steps", self.learn.steps.to_string(), self.learn.steps > 0, "expected at least 1"),
            ("train.batch", train.batch.to_string(), (1..=4096).contains(&train.batch), "expected 1 to 4096"),
            ("train.shards", train.shards.to_string(), (1..=64).contains(&train.shards), "expected 1 to 64"),
            (
                "eval.beam",
                self.eval.beam.to_string(),
                (1..=1024).contains(&self.eval.beam),
                "expected 1 to 1024",
            ),
            (
                "eval.least",
                self.eval.least.name().to_owned(),
                !matches!(self.eval.least, Reward::Denotation | Reward::Agreement),
                "expected `auto`, `non-empty` or `executes`",
            ),
        ];
        for (key, value, holds, expected) in checks {
            if !holds {
                return Err(ConfigError::Value { key, value, expected });
            }
        }
        if !(train.rate > 0.0
            && train.rate.is_finite()
            && train.end_rate >= 0.0
            && train.end_rate <= train.rate)
        {
            let value = format!("{} with train.end_rate {}", train.rate, train.end_rate);
            return Err(ConfigError::Value {
                key: "train.rate",
                value,
                expected: "expected rate > 0 and 0 ≤ end_rate ≤ rate",
            });
        }
        let learn = &self.learn;
        let exponents = [("learn.channel", learn.channel), ("eval.channel", self.eval.channel)];
        for (key, value) in exponents.into_iter().chain([("learn.weight", learn.weight)]) {
            if !(value >= 0.0 && value.is_finite()) {
                let (value, expected) = (value.to_string(), "expected a number from 0 on");
                return Err(ConfigError::Value { key, value, expected });
            }
        }
        if learn.committee > 64 {
            let (value, expected) = (learn.committee.to_string(), "expected at most 64");
            return Err(ConfigError::Value { key: "learn.committee", value, expected });
        }
        if learn.reward == Reward::Denotation && self.data.answered == 0.0 {
            return Err(ConfigError::Value {
                key: "data.answered",
                value: "0".into(),
                expected: "with learn.reward `denotation` some questions must have answers: expected a share above 0",
            });
        }
        for (key, value) in [("learn.batch", learn.batch), ("learn.beam", learn.beam)] {
            if !(1..=1024).contains(&value) {
                return Err(ConfigError::Value {
                    key,
                    value: value.to_string(),
                    expected: "expected 1 to 1024",
                });
            }
        }
        if train.checkpoint == 0 {
            return Err(ConfigError::Value {
                key: "train.checkpoint",
                value: "0".into(),
                expected: "expected at least 1",
            });
        }
        Ok(())
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
        assert_eq!(read(&["learn.objective=top-k"]).unwrap().learn.objective, Some(Objective::TopK));
        assert!(read(&["train.steps=many"]).unwrap_err().contains("invalid type: string \"many\""));
    }
}
