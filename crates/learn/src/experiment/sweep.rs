//! Sweeps: grids of settings over one or more experiment files.
//!
//! ```toml
//! [[part]]
//! experiment = "overnight.toml"            # relative to this file
//! [part.grid]
//! "data.domain" = ["calendar", "housing"]
//! "learn.objective" = ["none", "sparse"]
//! "train.seed" = [0, 1, 2]
//! ```
//!
//! A *cell* is one choice of settings for an experiment. It is an ordinary run in a folder named after the settings, so a sweep that was
//! interrupted finds the finished cells and resumes the others.

use crate::objectives::{self, UnknownObjective};
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};
use xpr_run::{Config, ConfigError, Dataset, Evaluation, RunError, RunFolder};

/// An error in the file of a sweep.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file has the wrong content.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },
    /// The settings of a cell have an error.
    #[error("cell {cell}: {source}")]
    Cell {
        /// The name of the cell.
        cell: String,
        /// What is wrong.
        source: ConfigError,
    },
    /// The objective of a cell does not exist.
    #[error("cell {cell}: {source}")]
    Objective {
        /// The name of the cell.
        cell: String,
        /// What is wrong.
        source: UnknownObjective,
    },
}

/// One experiment of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The name of the cell and of its folder.
    pub name: String,
    /// The file of the experiment.
    pub experiment: PathBuf,
    /// The keys and values of the choice, in the order of the grid.
    pub settings: Vec<(String, String)>,
}

/// The progress of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellProgress {
    /// It was not begun.
    New,
    /// It was begun and can be resumed.
    Begun,
    /// It is trained and evaluated.
    Finished,
}

/// A grid of experiments.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The cells, in the order of the file.
    pub cells: Vec<Cell>,
}

/// The largest number of cells. More than that is a mistake in the grid.
const MOST_CELLS: usize = 10_000;

/// A folder that a cell needs and that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingFolder {
    /// The project folder of a database.
    Project(PathBuf),
    /// A pretrained parser.
    Base(PathBuf),
}

impl Sweep {
    /// Reads a sweep, and checks the settings of every cell.
    ///
    /// # Errors
    /// If the file is not a sweep, or an experiment it speaks of has no such settings.
    pub fn read(path: &Path) -> Result<Sweep, SweepError> {
        let text =
            xpr_data::read_utf8(path).map_err(|source| SweepError::File { path: path.to_owned(), source })?;
        let error = |message: String| SweepError::Content { path: path.to_owned(), message };
        let table: Table = text.parse().map_err(|e: toml::de::Error| error(e.to_string()))?;
        if let Some(key) = table.keys().find(|key| *key != "part") {
            return Err(error(format!("there is no `{key}` in a sweep; it is made of [[part]]")));
        }
        let parts = table.get("part").and_then(Value::as_array).filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| error("a sweep needs at least one [[part]]".to_owned()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut cells = Vec::new();
        for part in parts {
            cells.extend(cells_of(part, folder).map_err(&error)?);
            if cells.len() > MOST_CELLS {
                return Err(error(format!("more than {MOST_CELLS} cells; give shorter lists")));
            }
        }
        for (index, cell) in cells.iter().enumerate() {
            if cells[..index].iter().any(|earlier| earlier.name == cell.name) {
                return Err(error(format!("the cell {} is there twice", cell.name)));
            }
            let name = || cell.name.clone();
            let config = cell.config().and_then(|config| config.check_consistency().map(|()| config));
            let config = config.map_err(|source| SweepError::Cell { cell: name(), source })?;
            if let Some(objective) = &config.learn.objective {
                objectives::named(objective)
                    .map_err(|source| SweepError::Objective { cell: name(), source })?;
            }
        }
        Ok(Sweep { cells })
    }
}

impl Cell {
    /// Reads the settings of the cell.
    fn config(&self) -> Result<Config, ConfigError> {
        let arguments: Vec<String> = self.arguments().collect();
        Ok(Config::read(Some(&self.experiment), &arguments)?.config)
    }

    /// Returns the settings in the form of `--set`.
    pub fn arguments(&self) -> impl Iterator<Item = String> {
        self.settings.iter().map(|(key, value)| format!("{key}={value}"))
    }

    /// Returns the project folder of the cell's database or the folder of its base, if it does not exist yet.
    pub fn missing_folder(&self) -> Option<MissingFolder> {
        let Config { data, base, .. } = self.config().ok()?;
        if data.dataset == Dataset::Database && !data.folder.join(&data.labeled).is_file() {
            return Some(MissingFolder::Project(data.folder));
        }
        let is_missing = base.is_given() && !base.is_built_in() && !base.folder.is_dir();
        is_missing.then_some(MissingFolder::Base(base.folder))
    }

    /// Returns the cell's folder, inside that of the sweep.
    pub fn folder(&self, sweep: &Path) -> PathBuf {
        sweep.join(&self.name)
    }

    /// Returns the progress of the cell.
    pub fn progress(&self, sweep: &Path) -> CellProgress {
        match RunFolder::open(&self.folder(sweep)) {
            Ok(run) if run.is_finished() => CellProgress::Finished,
            Ok(_) => CellProgress::Begun,
            Err(_) => CellProgress::New,
        }
    }

    /// Returns whether a process is training the cell.
    pub fn is_in_use(&self, sweep: &Path) -> bool {
        RunFolder::open(&self.folder(sweep)).is_ok_and(|run| matches!(run.lock(), Err(RunError::InUse(_))))
    }

    /// Returns the accuracy of the cell, if it is finished.
    ///
    /// # Errors
    /// If it is finished, and its evaluation is not what training wrote.
    pub fn accuracy(&self, sweep: &Path) -> Result<Option<f64>, RunError> {
        match RunFolder::open(&self.folder(sweep)) {
            Ok(run) if run.is_finished() => Ok(Some(Evaluation::read(&run)?.accuracy)),
            _ => Ok(None),
        }
    }
}

/// Returns the cells of a part: every combination of the grid, with the last key varying fastest.
fn cells_of(part: &Value, folder: &Path) -> Result<Vec<Cell>, String> {
    let part = part.as_table().ok_or("a [[part]] is a table")?;
    if let Some(key) = part.keys().find(|key| *key != "experiment" && *key != "grid") {
        return Err(format!("there is no `{key}` in a [[part]]; there are `experiment` and `grid`"));
    }
    let experiment = part.get("experiment").and_then(Value::as_str);
    let experiment = experiment.ok_or("a [[part]] needs `experiment`, the file it is about")?;
    let stem = file_stem(Path::new(experiment));
    let table = part.get("grid").map_or(Some(Table::new()), |grid| grid.as_table().cloned());
    let mut grid: Vec<(String, Vec<String>)> = Vec::new();
    for (key, values) in table.ok_or("`grid` is a table of lists")? {
        let values = values.as_array().filter(|values| !values.is_empty());
        let values = values.ok_or_else(|| format!("`{key}` in the grid needs a list of values"))?;
        grid.push((key, values.iter().map(plain).collect()));
    }
    let choices =
        combinations(&grid).ok_or_else(|| format!("more than {MOST_CELLS} cells; give shorter lists"))?;
    let cell = |settings: Vec<(String, String)>| Cell {
        name: cell_name(stem, &settings),
        experiment: folder.join(experiment),
        settings,
    };
    Ok(choices.into_iter().map(cell).collect())
}

/// Returns every choice of one value for each key, with the last key varying fastest, or nothing if there are too many.
pub(super) fn combinations(grid: &[(String, Vec<String>)]) -> Option<Vec<Vec<(String, String)>>> {
    let mut choices: Vec<Vec<(String, String)>> = vec![vec![]];
    for (key, values) in grid {
        if choices.len().checked_mul(values.len())? > MOST_CELLS {
            return None;
        }
        let with = |choice: &Vec<(String, String)>, value: &String| {
            choice.iter().cloned().chain([(key.clone(), value.clone())]).collect()
        };
        choices =
            choices.iter().flat_map(|choice| values.iter().map(move |value| with(choice, value))).collect();
    }
    Some(choices)
}

/// Returns a name for some settings of an experiment that can name a folder, such as `overnight,objective=sparse`.
pub(super) fn cell_name(stem: &str, settings: &[(String, String)]) -> String {
    let chosen = settings.iter().map(|(key, value)| {
        let key = key.rsplit('.').next().unwrap_or(key);
        format!("{key}={}", value.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-', "_"))
    });
    std::iter::once(stem.to_owned()).chain(chosen).collect::<Vec<_>>().join(",")
}

/// Returns the name of a file without its ending.
pub(super) fn file_stem(file: &Path) -> &str {
    file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("cell")
}

/// Returns a value in the form of `--set`: a string without its quotes.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xpr_run::PretrainConfig;

    fn read(text: &str) -> Result<Sweep, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.toml"), "[train]\nsteps = 5\n").unwrap();
        fs::write(folder.path().join("sweep.toml"), text).unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        Sweep::read(&folder.path().join("sweep.toml"))
            .map_err(|error| error.to_string().replace(&path, "DIR"))
    }

    #[test]
    fn a_grid_is_every_combination() {
        let sweep = read(
            "[[part]]\nexperiment = \"a.toml\"\n[part.grid]\n\"data.domain\" = [\"calendar\", \"housing\"]\n\"train.seed\" = [0, 1]\n",
        )
        .unwrap();
        let names: Vec<&str> = sweep.cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "a,domain=calendar,seed=0",
                "a,domain=calendar,seed=1",
                "a,domain=housing,seed=0",
                "a,domain=housing,seed=1"
            ]
        );
        let arguments: Vec<String> = sweep.cells[3].arguments().collect();
        assert_eq!(arguments, ["data.domain=housing", "train.seed=1"]);
        assert_eq!(sweep.cells[0].progress(Path::new("nowhere")), CellProgress::New);
    }

    #[test]
    fn a_missing_project_folder_or_base_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(
            at("geo.toml"),
            "[data]\ndataset = \"database\"\nfolder = \"geo\"\nlabeled = \"train.tsv\"\n",
        )
        .unwrap();
        fs::write(at("sweep.toml"), "[[part]]\nexperiment = \"geo.toml\"\n").unwrap();
        let cell = Sweep::read(&at("sweep.toml")).unwrap().cells.remove(0);
        assert_eq!(cell.missing_folder(), Some(MissingFolder::Project(at("geo"))));
        fs::create_dir(at("geo")).unwrap();
        fs::write(at("geo/train.tsv"), "").unwrap();
        assert_eq!(cell.missing_folder(), None);
        let part = "[[part]]\nexperiment = \"geo.toml\"\n[part.grid]\n\"base.folder\" = [\"base\"]\n";
        fs::write(at("sweep.toml"), part).unwrap();
        let cell = Sweep::read(&at("sweep.toml")).unwrap().cells.remove(0);
        assert_eq!(cell.missing_folder(), Some(MissingFolder::Base(at("base"))));
        fs::write(at("sweep.toml"), part.replace("\"base\"]", "\"built-in\"]")).unwrap();
        assert_eq!(Sweep::read(&at("sweep.toml")).unwrap().cells[0].missing_folder(), None);
    }

    #[test]
    fn the_experiments_and_sweeps_of_the_repository_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let (mut count, mut noted_sweeps) = (0, 0);
        for file in fs::read_dir(format!("{folder}/pretraining")).unwrap() {
            let path = file.unwrap().path();
            PretrainConfig::read(&path, &[], None).unwrap_or_else(|error| panic!("{error}"));
        }
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        for path in files.filter(|path| path.is_file()) {
            let text = fs::read_to_string(&path).unwrap();
            if text.contains("[[part]]") {
                let sweep = Sweep::read(&path).unwrap_or_else(|error| panic!("{error}"));
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
    fn errors_in_a_sweep_say_what_to_do() {
        for (text, expected) in [
            ("", "at least one [[part]]"),
            ("[grid]\n", "there is no `grid` in a sweep"),
            ("[[part]]\n", "needs `experiment`"),
            ("[[part]]\nexperiment = \"a.toml\"\nseeds = 3\n", "there is no `seeds` in a [[part]]"),
            ("[[part]]\nexperiment = \"a.toml\"\n[part.grid]\n\"train.seed\" = 3\n", "needs a list"),
            (
                "[[part]]\nexperiment = \"a.toml\"\n[part.grid]\n\"train.sed\" = [3]\n",
                "did you mean `train.seed`?",
            ),
            (
                "[[part]]\nexperiment = \"a.toml\"\n[part.grid]\n\"learn.objective\" = [\"sparce\"]\n",
                "there is no objective `sparce`; there are none, self-training, top-k",
            ),
            ("[[part]]\nexperiment = \"a.toml\"\n[[part]]\nexperiment = \"a.toml\"\n", "is there twice"),
            ("[[part]]\nexperiment = \"b.toml\"\n", "b.toml"),
            ("[[part]\n", "TOML parse error"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
