//! Reading the folder of a run.
//!
//! A sweep takes days and spans versions; some of its runs are old, some are unfinished. Only a `config.toml` that cannot be
//! read is an error, because without it nobody knows what the run is about. Whatever else is missing or damaged becomes a
//! message, and the report does without it.

use crate::ReportError;
use crate::metrics::StepMetrics;
use crate::prediction;
use crate::settings::Settings;
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use xpr_run::{Evaluation, Manifest, Prediction, RunError, RunFile, RunFolder, UnlabeledQuestions};

/// A run, as it is read from its folder.
#[derive(Clone, Debug)]
pub(crate) struct LoadedRun {
    /// The name of the folder.
    pub(crate) name: String,
    /// The settings.
    pub(crate) settings: Settings,
    /// How often the parser is right, if the run is finished.
    pub(crate) evaluation: Option<Evaluation>,
    /// A prediction for every question, as [`prediction::prepare`] returns it.
    pub(crate) predictions: Vec<Prediction>,
    /// The metrics of training.
    pub(crate) steps: Vec<StepMetrics>,
    /// Figures of the unlabeled questions, if the run learned from any. Earlier versions did not record them.
    pub(crate) unlabeled: Option<UnlabeledQuestions>,
    /// One message for each missing or unreadable file.
    pub(crate) problems: Vec<String>,
}

/// The folders of a sweep that are not cells.
const SWEEP_FOLDERS: [&str; 3] = ["members", xpr_run::Claims::FOLDER, "slurm"];

/// Reads runs and the runs of sweeps. Also returns one message for each folder of a sweep that holds no run.
///
/// # Errors
/// If a folder is neither a run nor a sweep, or if the settings of a run cannot be read.
pub(crate) fn read_runs(folders: &[PathBuf]) -> Result<(Vec<LoadedRun>, Vec<String>), ReportError> {
    let (mut runs, mut messages) = (Vec::new(), Vec::new());
    for folder in folders {
        if let Ok(run) = RunFolder::open(folder) {
            runs.push(LoadedRun::read(&run)?);
            continue;
        }
        let entries =
            fs::read_dir(folder).map_err(|source| ReportError::File { path: folder.clone(), source })?;
        let mut cells: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        cells.sort();
        let before = runs.len();
        for cell in &cells {
            match RunFolder::open(cell) {
                Ok(run) => runs.push(LoadedRun::read(&run)?),
                // The parsers of ensembles, which the runs of a sweep share, are not evaluated. The others have no runs.
                Err(_)
                    if cell
                        .file_name()
                        .is_some_and(|name| SWEEP_FOLDERS.iter().any(|folder| name == *folder)) => {}
                Err(_) => messages.push(format!("{}: no run was started in it", name_of(cell))),
            }
        }
        if runs.len() == before {
            return Err(ReportError::NoRun(folder.clone()));
        }
    }
    Ok((runs, messages))
}

impl LoadedRun {
    /// Reads the folder of a run.
    ///
    /// # Errors
    /// If its settings cannot be read.
    fn read(folder: &RunFolder) -> Result<LoadedRun, ReportError> {
        let settings_text = folder.read(RunFile::Config).map_err(in_report)?;
        let settings = Settings::read(folder, &settings_text)?;
        let mut files = RunFiles::new(folder);
        if files.manifest.as_ref().is_some_and(|manifest| !manifest.matches(RunFile::Config, &settings_text))
        {
            let message = "it was changed after training, and the run is shown with the settings it has now";
            files.add_message(RunFile::Config, message);
        }
        let mut evaluation: Option<Evaluation> = files.read_json(RunFile::Evaluation);
        let mut predictions = files.read_json_lines(RunFile::Predictions);
        if let Some(found) = &evaluation {
            let count = predictions.len();
            if !found.has_possible_shares() {
                files.add_message(RunFile::Evaluation, "it has a share that is not from 0 to 1");
                evaluation = None;
            } else if found.examples == 0 {
                files.add_message(RunFile::Evaluation, "the parser was evaluated on no questions");
                evaluation = None;
            } else if count > 0 && count != found.examples {
                let message = format!("it has {count} predictions for {} questions", found.examples);
                files.add_message(RunFile::Predictions, &message);
                predictions.clear();
            }
        }
        let steps = files.read_json_lines(RunFile::Metrics);
        let has_unlabeled = folder.has(RunFile::Unlabeled);
        let unlabeled = has_unlabeled.then(|| files.read_json(RunFile::Unlabeled)).flatten();
        Ok(LoadedRun {
            name: name_of(folder.folder()),
            settings,
            evaluation,
            predictions: predictions.into_iter().map(prediction::prepare).collect(),
            steps,
            unlabeled,
            problems: files.problems(),
        })
    }
}

/// Reads the predictions of a run.
///
/// # Errors
/// If there are none, or the file is damaged.
pub(crate) fn read_predictions(folder: &RunFolder) -> Result<Vec<Prediction>, ReportError> {
    let mut files = RunFiles::new(folder);
    let predictions = files.read_json_lines(RunFile::Predictions);
    if predictions.is_empty() {
        let message = files.problems().into_iter().next().unwrap_or("there are no predictions".to_owned());
        return Err(ReportError::Content { path: folder.folder().to_owned(), message });
    }
    Ok(predictions)
}

/// Returns the name of a folder, also of one such as `.`.
fn name_of(folder: &Path) -> String {
    let absolute = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    match absolute.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => folder.display().to_string(),
    }
}

/// The files of a run, and what is wrong with those that were read.
struct RunFiles<'a> {
    folder: &'a RunFolder,
    /// The manifest of the run. Runs of earlier versions and unfinished ones have none.
    manifest: Option<Manifest>,
    missing: Vec<&'static str>,
    messages: Vec<String>,
}

impl<'a> RunFiles<'a> {
    fn new(folder: &'a RunFolder) -> Self {
        let mut files = RunFiles { folder, manifest: None, missing: Vec::new(), messages: Vec::new() };
        match Manifest::read(folder) {
            Ok(manifest) => files.manifest = manifest,
            Err(error) => files.add_message(RunFile::Manifest, &without_path(&error)),
        }
        files
    }

    fn read_json<T: DeserializeOwned>(&mut self, file: RunFile) -> Option<T> {
        let content = self.read(file)?;
        let value = serde_json::from_slice(&content);
        value.map_err(|error| self.add_message(file, &error.to_string())).ok()
    }

    /// Reads a file with one JSON value on a line. Returns nothing if any line is damaged.
    fn read_json_lines<T: DeserializeOwned>(&mut self, file: RunFile) -> Vec<T> {
        let Some(content) = self.read(file) else { return vec![] };
        let mut values = Vec::new();
        for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let message = format!("{}, line {}: {}", file.name(), index + 1, reason(&error));
                    self.messages.push(message);
                    return vec![];
                }
            }
        }
        values
    }

    /// Returns the content of a file, if it is the one that training wrote.
    fn read(&mut self, file: RunFile) -> Option<Vec<u8>> {
        let path = self.folder.path(file);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.missing.push(file.name());
                return None;
            }
            // Opening a pipe would wait for somebody who writes to it.
            Ok(found) if !found.is_file() => {
                self.add_message(file, "this is not a regular file");
                return None;
            }
            _ => {}
        }
        match self.folder.read_checked(file, self.manifest.as_ref()) {
            Ok(content) => Some(content),
            Err(error) => {
                self.add_message(file, &without_path(&error));
                None
            }
        }
    }

    fn add_message(&mut self, file: RunFile, message: &str) {
        self.messages.push(format!("{}: {message}", file.name()));
    }

    /// Returns a message about all missing files, followed by the other messages.
    fn problems(self) -> Vec<String> {
        let missing = match self.missing.as_slice() {
            [] => None,
            [file] => Some(format!("{file} is missing")),
            [files @ .., last] => Some(format!("{} and {last} are missing", files.join(", "))),
        };
        missing.into_iter().chain(self.messages).collect()
    }
}

/// Returns an error about a file of a run as one of a report.
fn in_report(error: RunError) -> ReportError {
    match error {
        RunError::File { path, source } => ReportError::File { path, source },
        RunError::Content { path, message } => ReportError::Content { path, message },
        error => ReportError::Content { path: PathBuf::new(), message: error.to_string() },
    }
}

/// Returns what is wrong with a file, without its path.
fn without_path(error: &RunError) -> String {
    match error {
        RunError::File { source, .. } => source.to_string(),
        RunError::Content { message, .. } => message.clone(),
        error => error.to_string(),
    }
}

/// Returns what is wrong with a line, without the position in it: serde counts every line as the first.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split_once(" at line ").map_or(message.clone(), |(reason, _)| reason.to_owned())
}
