//! The folder of a run.
//!
//! ```text
//! config.toml            the experiment, every setting spelled out
//! grammar.json           the rules and items the model was made for
//! vocabulary.json        its words
//! checkpoint.safetensors what is needed to go on: weights, moments, step
//! metrics.jsonl          a line a report
//! model.safetensors      the weights, once training is done
//! evaluation.json        how good it is
//! predictions.jsonl      what it answered, question by question
//! card.md                what it is, for whoever is to rely on it
//! lock                   held while a process trains here
//! members/               the parsers of its committee, a folder each; they are not evaluated
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What is wrong with a run folder.
#[derive(Debug, Error)]
pub enum RunError {
    /// There is a run already.
    #[error("{0} already holds a run; go on with it with --resume, or name another folder")]
    Exists(PathBuf),
    /// Another process is training in it.
    #[error("{0} is in use: another process is training in it")]
    InUse(PathBuf),
    /// There is none.
    #[error("{0} holds no run: there is no config.toml in it")]
    Missing(PathBuf),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {message}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
}

impl RunFolder {
    /// A new run's folder, made if need be.
    ///
    /// # Errors
    /// If there is a run in it, or it cannot be made.
    pub fn create(folder: &Path) -> Result<Self, RunError> {
        let run = RunFolder { folder: folder.to_owned() };
        if run.path("config.toml").exists() {
            return Err(RunError::Exists(folder.to_owned()));
        }
        fs::create_dir_all(folder).map_err(|source| RunError::File { path: folder.to_owned(), source })?;
        Ok(run)
    }

    /// An existing run's folder.
    ///
    /// # Errors
    /// If there is no run in it.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let run = RunFolder { folder: folder.to_owned() };
        if !run.path("config.toml").is_file() {
            return Err(RunError::Missing(folder.to_owned()));
        }
        Ok(run)
    }

    /// Keeps others from training here until the lock is dropped, or this process ends.
    ///
    /// # Errors
    /// If somebody else is.
    pub fn lock(&self) -> Result<File, RunError> {
        let path = self.path("lock");
        let lock = File::create(&path).map_err(|source| RunError::File { path: path.clone(), source })?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(RunError::InUse(self.folder.clone())),
            Err(TryLockError::Error(source)) => Err(RunError::File { path, source }),
        }
    }

    /// The same, waiting for as long as somebody else is training here.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub(crate) fn wait(&self) -> Result<File, RunError> {
        let path = self.path("lock");
        let lock = File::create(&path).map_err(|source| RunError::File { path: path.clone(), source })?;
        lock.lock().map_err(|source| RunError::File { path, source })?;
        Ok(lock)
    }

    /// Where a file of the run is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether there is such a file.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// Writes a file whole or not at all: aside, to the disk, then under its name.
    ///
    /// # Errors
    /// If that fails; what was there before is then untouched.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), RunError> {
        let path = self.path(name);
        let write = || -> io::Result<()> {
            let mut aside =
                tempfile::Builder::new().prefix(&format!(".{name}.")).tempfile_in(&self.folder)?;
            aside.write_all(content)?;
            aside.as_file().sync_all()?;
            aside.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|source| RunError::File { path: path.clone(), source })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, RunError> {
        let path = self.path(name);
        fs::read(&path).map_err(|source| RunError::File { path, source })
    }

    /// The error of a file whose content is wrong.
    pub(crate) fn content_error(&self, name: &str, message: impl Into<String>) -> RunError {
        RunError::Content { path: self.path(name), message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_runs_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/run");
        assert!(RunFolder::open(&path).unwrap_err().to_string().contains("holds no run"));
        let run = RunFolder::create(&path).unwrap();
        run.write("config.toml", b"one").unwrap();
        run.write("config.toml", b"two").unwrap();
        assert_eq!(run.read("config.toml").unwrap(), b"two");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "nothing is left aside");
        assert!(RunFolder::create(&path).unwrap_err().to_string().contains("already holds a run"));
        assert!(RunFolder::open(&path).is_ok());
        assert!(run.write("no/such/folder", b"").is_err());
        let lock = run.lock().unwrap();
        assert!(run.lock().unwrap_err().to_string().contains("in use"));
        drop(lock);
        assert!(run.lock().is_ok());
    }
}
