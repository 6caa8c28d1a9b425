//! Reading settings from an experiment's file and from `--set key=value`. An unknown key is an error that names the nearest one.

use super::{Config, Dataset, IgnoredSetting};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};
use xpr_text::edit_distance;

/// An error in an experiment's file or in a `--set` flag.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The text is not TOML, or a value has the wrong type.
    #[error("{origin}: {message}")]
    Toml {
        /// The file or flag.
        origin: String,
        /// What is wrong, and where.
        message: String,
    },
    /// A key is not a setting.
    #[error("{origin}: there is no setting `{key}`{hint}")]
    UnknownKey {
        /// The file or flag.
        origin: String,
        /// The key.
        key: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// A value is out of its range.
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

/// Settings as they were read.
#[derive(Clone, Debug)]
pub struct ReadConfig {
    /// The settings.
    pub config: Config,
    /// The settings that were given by a name they no longer have.
    pub renamed: Vec<RenamedSetting>,
    /// The settings that were given and have no influence, because of other settings.
    pub ignored: Vec<IgnoredSetting>,
}

/// A setting that was given by a name it no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenamedSetting {
    /// The name it was given by.
    pub old: &'static str,
    /// The name it has now.
    pub new: &'static str,
}

impl Display for RenamedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the setting `{}` is now `{}`", self.old, self.new)
    }
}

/// Old names of settings. They are accepted, so that experiments and runs of earlier versions can be read.
const RENAMED: [RenamedSetting; 5] = [
    RenamedSetting { old: "learn.committee", new: "learn.ensemble" },
    RenamedSetting { old: "learn.channel", new: "learn.noisy_channel" },
    RenamedSetting { old: "learn.noise", new: "learn.search_dropout" },
    RenamedSetting { old: "eval.channel", new: "eval.noisy_channel" },
    RenamedSetting { old: "eval.least", new: "eval.prefer" },
];

/// Gives settings with old names their new names, and returns which these are. A setting that also has its new name is left as it is.
pub fn rename_settings(table: &mut Table) -> Vec<RenamedSetting> {
    let mut renamed = Vec::new();
    for setting in RENAMED {
        let [(section, old), (_, new)] =
            [setting.old, setting.new].map(|key| key.split_once('.').unwrap_or_default());
        let Some(Value::Table(section)) = table.get_mut(section) else { continue };
        if section.contains_key(new) {
            continue;
        }
        if let Some(value) = section.remove(old) {
            section.insert(new.to_owned(), value);
            renamed.push(setting);
        }
    }
    renamed
}

impl Config {
    /// Reads an experiment: a file, or the defaults if there is none, then settings such as `train.steps=100`.
    ///
    /// # Errors
    /// If a key does not exist or a value is not of its kind.
    pub fn read(path: Option<&Path>, settings: &[String]) -> Result<ReadConfig, ConfigError> {
        let GivenSettings { mut config, in_file, in_flags, renamed }: GivenSettings<Config> =
            read_settings(path, settings)?;
        config.default_from_base(|key| in_file.iter().chain(&in_flags).any(|given| given == key));
        config.check()?;
        let ignored = config.ignored_settings(&in_file, &in_flags);
        Ok(ReadConfig { config: config.found_from(path), renamed, ignored })
    }

    /// Makes the folders of a database, a base and a sentence encoder absolute. They are relative to the experiment's file, or to the
    /// current folder if there is none.
    fn found_from(mut self, path: Option<&Path>) -> Config {
        let place = path.and_then(Path::parent).unwrap_or(Path::new(""));
        if self.data.dataset == Dataset::Database {
            self.data.folder = found_in(place, &self.data.folder);
        }
        if self.base.is_given() && !self.base.is_built_in() {
            self.base.folder = found_in(place, &self.base.folder);
        }
        if !self.learn.encoder.as_os_str().is_empty() {
            self.learn.encoder = found_in(place, &self.learn.encoder);
        }
        self
    }

    /// Returns the settings as the text of an experiment's file.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self)
            .map_err(|error| ConfigError::Toml { origin: "settings".to_owned(), message: error.to_string() })
    }
}

/// Returns a folder that is relative to a place, as an absolute path. It need not exist.
pub(super) fn found_in(place: &Path, folder: &Path) -> PathBuf {
    let folder = place.join(folder);
    // The parent of a file in the current folder is empty, which no system call takes for the current folder.
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    fs::canonicalize(&folder).or_else(|_| std::path::absolute(&folder)).unwrap_or(folder)
}

/// Settings as a file and flags give them.
pub(super) struct GivenSettings<C> {
    /// The settings. Those that are not given have their defaults.
    pub(super) config: C,
    /// The keys that the file has.
    in_file: Vec<String>,
    /// The keys that the flags have.
    in_flags: Vec<String>,
    renamed: Vec<RenamedSetting>,
}

/// Reads settings from a file, if there is one, and then from flags such as `train.steps=100`. The keys are those of `C`.
pub(super) fn read_settings<C: Settings>(
    path: Option<&Path>,
    settings: &[String],
) -> Result<GivenSettings<C>, ConfigError> {
    let Some(path) = path else { return given_settings("", "--set", settings) };
    let text =
        xpr_data::read_utf8(path).map_err(|source| ConfigError::File { path: path.to_owned(), source })?;
    given_settings(&text, &path.display().to_string(), settings)
}

/// Reads settings from the text that a program wrote, and then from flags.
pub(super) fn change_settings<C: Settings>(
    text: &str,
    settings: &[String],
) -> Result<GivenSettings<C>, ConfigError> {
    given_settings(text, "settings", settings)
}

/// Reads settings from a text in TOML, and then from flags. `origin` is the name of the text in errors.
fn given_settings<C: Settings>(
    text: &str,
    origin: &str,
    settings: &[String],
) -> Result<GivenSettings<C>, ConfigError> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Toml {
        origin: origin.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })?;
    let mut renamed = rename_settings(&mut table);
    check_names(&table, origin)?;
    check_keys::<C>(&table, origin)?;
    let in_file = keys::<C>(&table, "");
    let file_table = table.clone();
    let mut in_flags = Vec::new();
    for setting in settings {
        let origin = format!("--set {setting}");
        let Some((key, value)) = setting.split_once('=') else {
            let message = "expected key=value, such as train.steps=100".to_owned();
            return Err(ConfigError::Toml { origin, message });
        };
        let key = key.trim();
        let old = RENAMED.into_iter().find(|setting| setting.old == key);
        renamed.extend(old);
        let key = old.map_or(key, |old| old.new);
        let section = defaults::<C>().remove(key).and_then(|section| section.as_table().cloned());
        if let Some(setting) = section.and_then(|section| section.keys().next().cloned()) {
            let message = format!("`{key}` is a section; set one of its settings, such as {key}.{setting}");
            return Err(ConfigError::Toml { origin, message });
        }
        set::<C>(&mut table, key, value.trim());
        check_keys::<C>(&table, &origin)?;
        if !in_flags.iter().any(|earlier| earlier == key) {
            in_flags.push(key.to_owned());
        }
    }
    let config = table.try_into().map_err(|error: toml::de::Error| ConfigError::Toml {
        origin: wrong_setting::<C>(&file_table, settings).unwrap_or_else(|| origin.to_owned()),
        message: error.to_string().trim_end().to_owned(),
    })?;
    Ok(GivenSettings { config, in_file, in_flags, renamed })
}

/// A set of settings, in sections, all of which have a default.
pub(super) trait Settings: Default + Serialize + DeserializeOwned {}

impl<C: Default + Serialize + DeserializeOwned> Settings for C {}

/// Returns the flag with the first setting whose value is not of its kind, if the file alone has no such value.
fn wrong_setting<C: Settings>(file: &Table, settings: &[String]) -> Option<String> {
    let is_wrong = |table: &Table| C::deserialize(table.clone()).is_err();
    if is_wrong(file) {
        return None;
    }
    let alone = |setting: &&String| {
        let mut table = file.clone();
        let (key, value) = setting.split_once('=').unwrap_or_default();
        let old = RENAMED.into_iter().find(|renamed| renamed.old == key.trim());
        set::<C>(&mut table, old.map_or(key.trim(), |old| old.new), value.trim());
        is_wrong(&table)
    };
    settings.iter().find(alone).map(|setting| format!("--set {setting}"))
}

/// Sets the value at a dotted key. A text that is not TOML is taken as a string.
fn set<C: Settings>(table: &mut Table, key: &str, value: &str) {
    let parsed = format!("value = {value}").parse::<Table>().ok();
    // More than one value is no value.
    let parsed = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    let mut value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    let mut place = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            // A whole number stands for itself where a number with a fraction is expected.
            if let (Value::Integer(whole), Some(Value::Float(_))) = (&value, default_at::<C>(key)) {
                value = Value::Float(*whole as f64);
            }
            place.insert(part.to_owned(), value);
            return;
        }
        let next = place.entry(part.to_owned()).or_insert_with(|| Value::Table(Table::new()));
        match next {
            Value::Table(table) => place = table,
            // `check_keys` reports it.
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

fn defaults<C: Settings>() -> Table {
    Table::try_from(C::default()).expect("the defaults are TOML")
}

fn default_at<C: Settings>(key: &str) -> Option<Value> {
    key.split('.').try_fold(Value::Table(defaults::<C>()), |value, part| value.as_table()?.get(part).cloned())
}

/// Settings that are not written if they are empty or off, so that they are not among the defaults.
pub(super) const LEFT_OUT_IF_EMPTY: [&str; 8] = [
    "data.words",
    "data.without_tables",
    "data.keys",
    "data.loose_values",
    "data.label_count",
    "data.canonical",
    "learn.encoder",
    "learn.paraphrase",
];

/// Checks that no setting has both its old and its new name.
fn check_names(table: &Table, origin: &str) -> Result<(), ConfigError> {
    let has = |key: &str| {
        let (section, key) = key.split_once('.').unwrap_or_default();
        table.get(section).and_then(Value::as_table).is_some_and(|section| section.contains_key(key))
    };
    match RENAMED.into_iter().find(|setting| has(setting.old) && has(setting.new)) {
        Some(RenamedSetting { old, new }) => {
            let message = format!("`{old}` is the old name of `{new}`, and both are set; leave out `{old}`");
            Err(ConfigError::Toml { origin: origin.to_owned(), message })
        }
        None => Ok(()),
    }
}

/// Checks that every key is a setting.
fn check_keys<C: Settings>(table: &Table, origin: &str) -> Result<(), ConfigError> {
    let mut known = keys::<C>(&defaults::<C>(), "");
    known.extend(LEFT_OUT_IF_EMPTY.map(str::to_owned));
    for key in keys::<C>(table, "") {
        if !known.contains(&key) {
            let nearest = known.iter().min_by_key(|known| edit_distance(known, &key));
            let hint = nearest
                .filter(|known| edit_distance(known, &key) <= 2 + key.len() / 4)
                .map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
            return Err(ConfigError::UnknownKey { origin: origin.to_owned(), key, hint });
        }
    }
    Ok(())
}

/// Returns the dotted keys of all values.
fn keys<C: Settings>(table: &Table, prefix: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if !inner.is_empty() => {
                all.extend(keys::<C>(inner, &format!("{prefix}{key}.")));
            }
            Value::Table(_) if prefix.is_empty() && defaults::<C>().contains_key(key) => {}
            _ => all.push(format!("{prefix}{key}")),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OvernightGrammar;

    fn read(settings: &[&str]) -> Result<Config, String> {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        Config::read(None, &settings).map(|read| read.config).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_change_the_defaults() {
        let config =
            read(&["train.steps=7", "data.domain=housing", "train.rate=1", "data.folder=../x y"]).unwrap();
        assert_eq!((config.train.steps, config.data.domain.as_str()), (7, "housing"));
        assert_eq!((config.train.rate, config.data.folder.to_str()), (1.0, Some("../x y")));
        let written: Config = toml::from_str(&config.to_toml().unwrap()).unwrap();
        assert_eq!(written, config);
    }

    #[test]
    fn old_names_are_accepted_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.toml");
        fs::write(&path, "[learn]\ncommittee = 5\nnoise = false\n[eval]\nchannel = 0.5\n").unwrap();
        let read = Config::read(Some(&path), &["learn.channel=2".to_owned()]).unwrap();
        let learn = &read.config.learn;
        assert_eq!((learn.ensemble, learn.search_dropout, learn.noisy_channel), (5, false, 2.0));
        assert_eq!(read.config.eval.noisy_channel, 0.5);
        let old: Vec<&str> = read.renamed.iter().map(|setting| setting.old).collect();
        assert_eq!(old, ["learn.committee", "learn.noise", "eval.channel", "learn.channel"]);
        assert!(Config::read(None, &["learn.ensemble=5".to_owned()]).unwrap().renamed.is_empty());
    }

    /// Issue 18: of a setting with its old and its new name, the old one counted.
    #[test]
    fn a_setting_with_both_names_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("both.toml");
        fs::write(&path, "[learn]\ncommittee = 2\nensemble = 1\n").unwrap();
        let error = Config::read(Some(&path), &[]).unwrap_err().to_string();
        let expected = "`learn.committee` is the old name of `learn.ensemble`, and both are set; leave out `learn.committee`";
        assert!(error.ends_with(expected), "{error}");
        // A flag counts more than a file, by whatever name.
        fs::write(&path, "[learn]\nensemble = 1\n").unwrap();
        let read = Config::read(Some(&path), &["learn.committee=2".to_owned()]).unwrap();
        assert_eq!(read.config.learn.ensemble, 2);
    }

    #[test]
    fn mistakes_are_explained() {
        let cases = [
            (
                &["train.stesp=7"][..],
                "--set train.stesp=7: there is no setting `train.stesp`; did you mean `train.steps`?",
            ),
            (&["xyz=7"], "--set xyz=7: there is no setting `xyz`"),
            // Issue 18: the other settings of the section were dropped.
            (
                &["train={steps=3}"],
                "--set train={steps=3}: `train` is a section; set one of its settings, such as train.seed",
            ),
            (
                &["train={}"],
                "--set train={}: `train` is a section; set one of its settings, such as train.seed",
            ),
            (&["train.steps"], "--set train.steps: expected key=value, such as train.steps=100"),
            (
                &["train.steps=0"],
                "`train.steps` is 0; expected at least 1; 0 is for a parser that starts from a base (base.folder)",
            ),
            (
                &["model.hidden=100"],
                "`model.hidden` is 100; expected a multiple of twice model.heads, at most 4096",
            ),
            (
                &["data.dataset=database", "data.grammar=signatures"],
                "`data.grammar` is signatures; a database has one grammar only: leave the setting out",
            ),
            (&["data.fraction=1.5"], "`data.fraction` is 1.5; expected a share above 0 and up to 1"),
        ];
        for (settings, expected) in cases {
            assert_eq!(read(settings).unwrap_err(), expected);
        }
        assert_eq!(read(&["learn.objective=top-k"]).unwrap().learn.objective.as_deref(), Some("top-k"));
        assert_eq!(read(&["train.steps=0", "base.folder=b"]).unwrap().train.steps, 0);
        assert_eq!(read(&["learn.objective=none"]).unwrap().learn.objective, None);
        assert_eq!(read(&["data.grammar=signatures"]).unwrap().data.grammar, OvernightGrammar::Signatures);
        assert!(read(&["data.grammar=loose"]).unwrap_err().contains("expected `typed` or `signatures`"));
        assert!(read(&["train.steps=many"]).unwrap_err().contains("invalid type: string \"many\""));
        // Issue 18: the second line was ignored.
        assert!(read(&["train.steps=3\nx = 1"]).unwrap_err().contains("invalid type: string"));
        // A flag is not blamed on the file (issue 18).
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        for (file, settings, origin) in [
            ("[train]\nsteps = 5\n", ["train.batch=3", "train.steps=many"], "--set train.steps=many: "),
            ("[train]\nsteps = \"x\"\n", ["train.batch=3", "train.seed=1"], path.to_str().unwrap()),
        ] {
            fs::write(&path, file).unwrap();
            let error = Config::read(Some(&path), &settings.map(str::to_owned)).unwrap_err().to_string();
            assert!(error.starts_with(origin), "{error}");
        }
    }
}
