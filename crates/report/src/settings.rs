//! What a run was told, and in what runs differ.

use crate::ReportError;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use toml::{Table, Value};
use xpr_learn::Config;

/// The settings of a run, key by key. Those that an older version did not know have their defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    values: BTreeMap<String, String>,
    /// Whether the weight of unlabeled questions was chosen on held-out labels.
    pub tuned: bool,
}

/// What a run is about and how it was tested: runs that differ in it are never compared.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Topic {
    /// The domain or the database.
    pub name: String,
    /// Whether it is one of Overnight's domains.
    pub is_overnight: bool,
    /// The labeled share of the training examples.
    pub fraction: f64,
    /// How many held-out training examples it was evaluated on; 0 for the test examples.
    pub held_out: u64,
}

/// What decides neither what a run is nor how good it can be: places, or what groups and pairs are made by.
const NOT_COMPARED: [&str; 10] = [
    "data.dataset",
    "data.domain",
    "data.database",
    "data.folder",
    "data.fraction",
    "data.held_out",
    "data.split",
    "train.seed",
    "train.checkpoint",
    "learn.objective",
];

/// Files belong to a database: they tell runs apart only where these are about the same.
const FILES: [&str; 3] = ["data.labeled", "data.unlabeled", "data.test"];

impl Settings {
    pub(crate) fn read(path: &Path, tuned: bool) -> Result<Settings, ReportError> {
        let text =
            fs::read_to_string(path).map_err(|source| ReportError::File { path: path.to_owned(), source })?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| ReportError::Content {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        let mut values = BTreeMap::new();
        let defaults = Table::try_from(Config::default()).unwrap_or_default();
        for table in [&defaults, &table] {
            for (section, inner) in table {
                for (key, value) in inner.as_table().into_iter().flatten() {
                    values.insert(format!("{section}.{key}"), plain(value));
                }
            }
        }
        if let Some(embeddings) = values.get_mut("data.embeddings") {
            let name = Path::new(embeddings.as_str()).file_name().and_then(|name| name.to_str());
            *embeddings = name.unwrap_or("none").to_owned();
        }
        Ok(Settings { values, tuned })
    }

    /// A setting as text; empty if there is none.
    pub fn get(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    fn number<T: std::str::FromStr + Default>(&self, key: &str) -> T {
        self.get(key).parse().unwrap_or_default()
    }

    /// What the run is about.
    pub fn topic(&self) -> Topic {
        let is_overnight = self.get("data.dataset") == "overnight";
        let name = if is_overnight {
            self.get("data.domain").to_owned()
        } else {
            let database = self.get("data.database");
            let path = Path::new(database.strip_prefix("sqlite:").unwrap_or(database));
            path.file_stem().map_or_else(|| "database".to_owned(), |stem| stem.to_string_lossy().into_owned())
        };
        let held_out = self.number("data.held_out");
        Topic { name, is_overnight, fraction: self.number("data.fraction"), held_out }
    }

    /// The objective, `none` for labels only.
    pub fn objective(&self) -> &str {
        self.get("learn.objective")
    }

    /// The split and the seed.
    pub fn draw(&self) -> (u64, u64) {
        (self.number("data.split"), self.number("train.seed"))
    }

    /// Whether a setting changes anything in this run.
    fn matters(&self, key: &str) -> bool {
        match key {
            key if NOT_COMPARED.contains(&key) => false,
            key if key.starts_with("learn.") && self.objective() == "none" => false,
            "learn.weight" => !self.tuned,
            "learn.start" | "learn.noise" => self.get("learn.committee") == "0",
            "learn.steps" | "learn.channel" => self.get("learn.committee") != "0",
            "data.held_out_from" => self.get("data.held_out") != "0",
            _ => true,
        }
    }

    /// The values of these settings where they matter.
    pub(crate) fn variant(&self, keys: &BTreeSet<String>) -> Vec<(String, String)> {
        let of_interest = keys.iter().filter(|key| self.matters(key));
        of_interest.map(|key| (key.clone(), self.get(key).to_owned())).collect()
    }
}

/// The settings in which runs differ, other than those that say what they are about.
pub(crate) fn differing<'a>(all: impl Iterator<Item = &'a Settings> + Clone) -> BTreeSet<String> {
    let mut seen: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for settings in all {
        for (key, value) in &settings.values {
            if settings.matters(key) {
                let topic = if FILES.contains(&key.as_str()) { settings.topic().name } else { String::new() };
                seen.entry((key.clone(), topic)).or_default().insert(value);
            }
        }
    }
    seen.into_iter().filter(|(_, values)| values.len() > 1).map(|((key, _), _)| key).collect()
}

/// A value without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
