//! The folder of a run.
//!
//! ```text
//! config.toml             every setting of the experiment
//! grammar.json            the rules and items the model was made for
//! vocabulary.json         its words
//! checkpoint.safetensors  weights, optimiser moments and step: what resuming needs
//! metrics.jsonl           a line for every tenth step
//! unlabeled.json          figures of the unlabeled questions, if the run learns from any
//! model.safetensors       the weights of the trained model
//! channel.json            the noisy channel, if the run re-ranks with it
//! predictions.jsonl       a line for every test question
//! card.md                 the model card
//! evaluation.json         how often it is right; written last, so a run that has it is finished
//! lock                    held while a process trains in the folder
//! progress.json           how far training is; removed when the run is finished
//! members/                the ensemble, a folder for each parser; members are not evaluated
//! tuning/                 a run for each weight that `--tune` tried
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error about a run folder.
#[derive(Debug, Error)]
pub enum RunError {
    /// The folder already holds a run.
    #[error("{0} already holds a run; resume it with --resume, or name another folder")]
    Exists(PathBuf),
    /// Another process is training in the folder.
    #[error("{0} is in use: another process is training in it")]
    InUse(PathBuf),
    /// The folder does not hold a run.
    #[error("{0} holds no run: there is no config.toml in it")]
    Missing(PathBuf),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

/// A file of a run folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFile {
    /// Every setting of the experiment. A folder that has it holds a run.
    Config,
    /// The rules and items the model was made for.
    Grammar,
    /// The words of the model.
    Vocabulary,
    /// What resuming needs: weights, optimiser moments and step.
    Checkpoint,
    /// A [`StepReport`](crate::StepReport) for every tenth step.
    Metrics,
    /// The [`UnlabeledQuestions`](crate::UnlabeledQuestions), if the run learns from any.
    Unlabeled,
    /// The weights of the trained model.
    Model,
    /// The noisy channel.
    NoisyChannel,
    /// A [`Prediction`](crate::Prediction) for every test question.
    Predictions,
    /// The model card.
    Card,
    /// The [`Evaluation`](crate::Evaluation). It is written last: a run that has it is finished.
    Evaluation,
    /// The file that is locked while a process trains in the folder.
    Lock,
    /// The [`Progress`](crate::Progress) of training. It is removed when the run is finished.
    Progress,
}

impl RunFile {
    /// Returns the name of the file.
    pub fn name(self) -> &'static str {
        match self {
            RunFile::Config => "config.toml",
            RunFile::Grammar => "grammar.json",
            RunFile::Vocabulary => "vocabulary.json",
            RunFile::Checkpoint => "checkpoint.safetensors",
            RunFile::Metrics => "metrics.jsonl",
            RunFile::Unlabeled => "unlabeled.json",
            RunFile::Model => "model.safetensors",
            RunFile::NoisyChannel => "channel.json",
            RunFile::Predictions => "predictions.jsonl",
            RunFile::Card => "card.md",
            RunFile::Evaluation => "evaluation.json",
            RunFile::Lock => "lock",
            RunFile::Progress => "progress.json",
        }
    }
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
}

impl RunFolder {
    /// Creates the folder of a new run, with its parents.
    ///
    /// # Errors
    /// If it already holds a run, or cannot be created.
    pub fn create(folder: &Path) -> Result<Self, RunError> {
        let run = RunFolder { folder: folder.to_owned() };
        if run.path(RunFile::Config).exists() {
            return Err(RunError::Exists(folder.to_owned()));
        }
        fs::create_dir_all(folder).map_err(|source| RunError::File { path: folder.to_owned(), source })?;
        Ok(run)
    }

    /// Opens the folder of an existing run.
    ///
    /// # Errors
    /// If it does not hold a run.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let run = RunFolder { folder: folder.to_owned() };
        if !run.has(RunFile::Config) {
            return Err(RunError::Missing(folder.to_owned()));
        }
        Ok(run)
    }

    /// Opens the folder of a run, or creates it if it does not hold one.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open_or_create(folder: &Path) -> Result<Self, RunError> {
        RunFolder::open(folder).or_else(|_| RunFolder::create(folder))
    }

    /// Locks the folder for training, until the lock is dropped or the process ends.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn lock(&self) -> Result<File, RunError> {
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(RunError::InUse(self.folder.clone())),
            Err(TryLockError::Error(source)) => Err(self.file_error(RunFile::Lock, source)),
        }
    }

    /// Locks the folder for training, and waits while another process holds the lock.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn wait_for_lock(&self) -> Result<File, RunError> {
        let lock = self.lock_file()?;
        lock.lock().map_err(|source| self.file_error(RunFile::Lock, source))?;
        Ok(lock)
    }

    fn lock_file(&self) -> Result<File, RunError> {
        File::create(self.path(RunFile::Lock)).map_err(|source| self.file_error(RunFile::Lock, source))
    }

    /// Returns the folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the run's ensemble.
    pub fn members(&self) -> PathBuf {
        self.folder.join("members")
    }

    /// Returns the folder of the runs by which a weight was chosen.
    pub fn tuning(&self) -> PathBuf {
        self.folder.join("tuning")
    }

    /// Returns the path of a file.
    pub fn path(&self, file: RunFile) -> PathBuf {
        self.folder.join(file.name())
    }

    /// Returns whether a file exists.
    pub fn has(&self, file: RunFile) -> bool {
        self.path(file).is_file()
    }

    /// Returns whether the run is trained and evaluated.
    pub fn is_finished(&self) -> bool {
        self.has(RunFile::Evaluation)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// If that fails; an earlier version of the file is then unchanged.
    pub fn write(&self, file: RunFile, content: &[u8]) -> Result<(), RunError> {
        xpr_data::write_file(&self.path(file), content).map_err(|source| self.file_error(file, source))
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// If it has no form in JSON, or as [`RunFolder::write`].
    pub fn write_json(&self, file: RunFile, value: &impl Serialize) -> Result<(), RunError> {
        let json = serde_json::to_vec_pretty(value);
        self.write(file, &json.map_err(|error| self.content_error(file, error.to_string()))?)
    }

    /// Writes values as JSON, one on a line.
    ///
    /// # Errors
    /// As [`RunFolder::write_json`].
    pub fn write_json_lines<T: Serialize>(&self, file: RunFile, values: &[T]) -> Result<(), RunError> {
        let mut lines = Vec::new();
        for value in values {
            serde_json::to_writer(&mut lines, value)
                .map_err(|error| self.content_error(file, error.to_string()))?;
            lines.push(b'\n');
        }
        self.write(file, &lines)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, file: RunFile) -> Result<Vec<u8>, RunError> {
        fs::read(self.path(file)).map_err(|source| self.file_error(file, source))
    }

    /// Reads a file that [`RunFolder::write_json`] wrote.
    ///
    /// # Errors
    /// If it cannot be read, or is not such a file.
    pub fn read_json<T: DeserializeOwned>(&self, file: RunFile) -> Result<T, RunError> {
        serde_json::from_slice(&self.read(file)?)
            .map_err(|error| self.content_error(file, format!("it is not what xpr wrote: {error}")))
    }

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(&self, file: RunFile) -> Result<(), RunError> {
        match fs::remove_file(self.path(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.file_error(file, error)),
            _ => Ok(()),
        }
    }

    /// Returns the error of a file whose content is wrong.
    pub fn content_error(&self, file: RunFile, message: impl Into<String>) -> RunError {
        RunError::Content { path: self.path(file), message: message.into() }
    }

    fn file_error(&self, file: RunFile, source: io::Error) -> RunError {
        RunError::File { path: self.path(file), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serializer;

    #[test]
    fn files_are_replaced_whole_and_runs_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/run");
        assert!(RunFolder::open(&path).unwrap_err().to_string().contains("holds no run"));
        let run = RunFolder::create(&path).unwrap();
        run.write(RunFile::Config, b"one").unwrap();
        run.write(RunFile::Config, b"two").unwrap();
        assert_eq!(run.read(RunFile::Config).unwrap(), b"two");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "no temporary file is left");
        assert!(RunFolder::create(&path).unwrap_err().to_string().contains("already holds a run"));
        assert!(RunFolder::open(&path).is_ok());
        let lock = run.lock().unwrap();
        assert!(run.lock().unwrap_err().to_string().contains("in use"));
        drop(lock);
        assert!(run.lock().is_ok());
    }

    /// A value that cannot be written as JSON.
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("cannot be written"))
        }
    }

    #[test]
    fn a_value_that_cannot_be_written_is_an_error_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let errors = [
            run.write_json(RunFile::Evaluation, &Unwritable).unwrap_err(),
            run.write_json_lines(RunFile::Predictions, &[Unwritable]).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("cannot be written"), "{error}");
        }
        assert!(!run.is_finished() && !run.has(RunFile::Predictions));
    }
}
