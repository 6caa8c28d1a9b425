//! The settings of runs, and those in which runs differ.

use crate::ReportError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;
use toml::{Table, Value};
use xpr_run::{Config, DataConfig, Dataset, RunFile, RunFolder, rename_settings};

/// The settings of a run by their dotted keys. Settings that the run's version did not have are at their defaults.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    values: BTreeMap<String, String>,
    /// Whether the weight of the unlabeled loss was chosen on held-out labels.
    is_tuned: bool,
}

/// The data of a run and the examples it was evaluated on. Runs that differ in them are never compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conditions {
    /// The name of the domain or the database.
    pub(crate) name: String,
    /// Whether the data is a domain of Overnight.
    pub(crate) is_overnight: bool,
    /// The share of the training examples that are labeled.
    pub(crate) fraction: f64,
    /// The number of held-out training examples the run was evaluated on; 0 for the test examples.
    pub(crate) held_out: u64,
}

/// Settings by which runs are never told apart: those of [`Conditions`], split, fold and seed, which vary within a group,
/// the objective, which is compared separately, the base, which the word vectors name, and those without influence on a result.
const NOT_COMPARED: [&str; 13] = [
    BASE,
    "data.dataset",
    "data.domain",
    "data.database",
    "data.folder",
    "data.fraction",
    "data.held_out",
    "data.split",
    "data.fold",
    "eval.confidence_folds",
    "train.seed",
    "train.checkpoint",
    "learn.objective",
];

/// The setting that names the file of word vectors.
pub(crate) const VECTORS: &str = "data.embeddings";

/// The setting that names the folder of the pretrained parser that training starts from.
const BASE: &str = "base.folder";

/// Files that belong to a database. They tell runs apart only if these are about the same database.
pub(crate) const FILES: [&str; 3] = ["data.labeled", "data.unlabeled", "data.test"];

impl Settings {
    /// Reads the settings of a run of this or an earlier version from the content of their file.
    ///
    /// # Errors
    /// If it is not TOML.
    pub(crate) fn read(folder: &RunFolder, content: &[u8]) -> Result<Settings, ReportError> {
        let in_file = |message: String| ReportError::Content { path: folder.path(RunFile::Config), message };
        let text = std::str::from_utf8(content).map_err(|_| in_file("this is not UTF-8".to_owned()))?;
        let mut table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| in_file(error.to_string().trim_end().to_owned()))?;
        rename_settings(&mut table);
        Ok(Settings::of(&table, folder.tuning().is_dir()))
    }

    /// Merges a table into the defaults.
    pub(crate) fn of(table: &Table, is_tuned: bool) -> Settings {
        let defaults = Table::try_from(Config::default()).expect("the defaults are TOML");
        let mut values = BTreeMap::new();
        for table in [&defaults, table] {
            for (section, inner) in table {
                for (key, value) in inner.as_table().into_iter().flatten() {
                    values.insert(format!("{section}.{key}"), without_quotes(value));
                }
            }
        }
        // Word vectors and bases are the same wherever their files are.
        for key in [VECTORS, BASE] {
            if let Some(path) = values.get_mut(key) {
                let name = Path::new(path.as_str()).file_name().and_then(|name| name.to_str());
                *path = name.unwrap_or("none").to_owned();
            }
        }
        // A base has its own word vectors, so its name stands for both.
        if let Some(base) = values.get(BASE).filter(|base| *base != "none") {
            let vectors = format!("base {base}");
            values.insert(VECTORS.to_owned(), vectors);
        }
        Settings { values, is_tuned }
    }

    /// Returns a setting as text; empty if it does not exist.
    fn get(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    fn number<T: FromStr + Default>(&self, key: &str) -> T {
        self.get(key).parse().unwrap_or_default()
    }

    /// Returns the data of the run and what it was evaluated on.
    pub(crate) fn conditions(&self) -> Conditions {
        let is_overnight = self.get("data.dataset") == "overnight";
        // Only the settings that name the data: others may have values that this version does not know.
        let data = DataConfig {
            dataset: if is_overnight { Dataset::Overnight } else { Dataset::Database },
            domain: self.get("data.domain").to_owned(),
            database: self.get("data.database").to_owned(),
            ..DataConfig::default()
        };
        Conditions {
            name: data.short_name().to_owned(),
            is_overnight,
            fraction: match self.get("data.label_count") {
                "0" => 0.0,
                _ => self.number("data.fraction"),
            },
            held_out: self.number("data.held_out"),
        }
    }

    /// Returns whether training starts from a pretrained parser.
    pub(crate) fn starts_from_base(&self) -> bool {
        !matches!(self.get(BASE), "" | "none")
    }

    /// Returns the name of the objective; `none` for labels only.
    pub(crate) fn objective(&self) -> &str {
        self.get("learn.objective")
    }

    /// Returns the file name of the word vectors; `none` for random vectors.
    pub(crate) fn vectors(&self) -> &str {
        self.get(VECTORS)
    }

    /// Returns the number of parsers in the ensemble; 0 for the parser's own search.
    pub(crate) fn ensemble(&self) -> u64 {
        self.number("learn.ensemble")
    }

    /// Returns the weight of the noisy channel when answering.
    pub(crate) fn noisy_channel(&self) -> f64 {
        self.number("eval.noisy_channel")
    }

    /// Returns whether candidates with the same answer add up their probabilities.
    pub(crate) fn counts_votes(&self) -> bool {
        self.get("eval.votes") == "true"
    }

    /// Returns the split and the seed.
    pub(crate) fn split_and_seed(&self) -> (u64, u64) {
        (self.number("data.split"), self.number("train.seed"))
    }

    /// Returns whether a setting has an influence on the result of this run.
    fn matters(&self, key: &str) -> bool {
        let has_ensemble = self.ensemble() > 0;
        match key {
            key if NOT_COMPARED.contains(&key) => false,
            key if !is_supervised(key) && self.objective() == "none" => false,
            "learn.weight" => !self.is_tuned,
            "learn.start" | "learn.search_dropout" => !has_ensemble,
            "learn.steps" | "learn.noisy_channel" | "learn.temperature" => has_ensemble,
            "eval.temperature" => self.noisy_channel() > 0.0,
            "data.held_out_from" => self.get("data.held_out") != "0",
            _ => true,
        }
    }

    /// Returns the values of those `keys` that have an influence on the result of this run.
    pub(crate) fn variant(&self, keys: &BTreeSet<String>) -> Vec<(String, String)> {
        let relevant = keys.iter().filter(|key| self.matters(key));
        relevant.map(|key| (key.clone(), self.get(key).to_owned())).collect()
    }
}

/// Returns the keys of the settings in which runs differ, apart from [`NOT_COMPARED`].
pub(crate) fn differing<'a>(all: impl Iterator<Item = &'a Settings>) -> BTreeSet<String> {
    let mut seen: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for settings in all {
        for (key, value) in &settings.values {
            if settings.matters(key) {
                let is_file = FILES.contains(&key.as_str());
                let database = if is_file { settings.conditions().name } else { String::new() };
                seen.entry((key.clone(), database)).or_default().insert(value);
            }
        }
    }
    seen.into_iter().filter(|(_, values)| values.len() > 1).map(|((key, _), _)| key).collect()
}

/// Returns whether a setting also has an influence on training on the labels only.
pub(crate) fn is_supervised(key: &str) -> bool {
    !key.starts_with("learn.") && key != "data.answered" && key != "data.unlabeled"
}

/// Names of settings that two sections have.
const AMBIGUOUS: [&str; 6] = ["batch", "beam", "folder", "noisy_channel", "steps", "temperature"];

/// Returns the key without its section, if no other section has the same setting.
pub(crate) fn short_key(key: &str) -> &str {
    match key.rsplit_once('.') {
        Some((_, name)) if !AMBIGUOUS.contains(&name) => name,
        _ => key,
    }
}

fn without_quotes(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::of(&text.parse().unwrap(), false)
    }

    fn differ(left: &str, right: &str) -> Vec<String> {
        differing([settings(left), settings(right)].iter()).into_iter().collect()
    }

    #[test]
    fn settings_without_influence_do_not_tell_runs_apart() {
        let joint = "[learn]\nobjective = \"sparse\"\n";
        let [search, ensemble] = [0, 3].map(|size| format!("{joint}ensemble = {size}\n"));
        for (settings, change, expected) in [
            ("[learn]\n", "temperature = 9.0", &[][..]),
            (search.as_str(), "temperature = 9.0", &[]),
            (&ensemble, "temperature = 9.0", &["learn.temperature"]),
            (&search, "noisy_channel = 9.0", &[]),
            (&ensemble, "noisy_channel = 9.0", &["learn.noisy_channel"]),
            (&search, "search_dropout = false", &["learn.search_dropout"]),
            (&ensemble, "search_dropout = false", &[]),
            ("[eval]\nnoisy_channel = 0.0\n", "temperature = 9.0", &[]),
            ("[eval]\nnoisy_channel = 0.5\n", "temperature = 9.0", &["eval.temperature"]),
            ("[data]\n", "answered = 0.5", &[]),
            ("[learn]\nobjective = \"sparse\"\n[data]\n", "answered = 0.5", &["data.answered"]),
            ("[data]\n", "held_out_from = \"labeled\"", &[]),
            ("[data]\nheld_out = 5\n", "held_out_from = \"labeled\"", &["data.held_out_from"]),
        ] {
            assert_eq!(differ(settings, &format!("{settings}{change}\n")), expected, "{settings}{change}");
        }
        // Of the word vectors, the name of the file matters but not its folder.
        let [here, there, other] = ["here/a.txt", "there/a.txt", "here/b.txt"]
            .map(|path| format!("[data]\nembeddings = \"{path}\"\n"));
        assert_eq!(differ(&here, &there), [""; 0]);
        assert_eq!(differ(&here, &other), ["data.embeddings"]);
    }

    #[test]
    fn a_run_without_natural_labels_has_none_of_them() {
        let share = |data: &str| settings(&format!("[data]\n{data}\n")).conditions().fraction;
        assert_eq!(share("fraction = 0.3"), 0.3);
        assert_eq!(share("fraction = 1.0\nlabel_count = 0\ncanonical = true"), 0.0);
    }

    #[test]
    fn a_setting_is_shortened_unless_two_sections_have_its_name() {
        let mut sections: BTreeMap<String, usize> = BTreeMap::new();
        for key in settings("").values.keys() {
            let (_, name) = key.split_once('.').unwrap();
            *sections.entry(name.to_owned()).or_default() += 1;
        }
        let ambiguous: Vec<String> =
            sections.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
        assert_eq!(ambiguous, AMBIGUOUS);
        assert_eq!((short_key("learn.weight"), short_key("train.steps")), ("weight", "train.steps"));
    }
}
