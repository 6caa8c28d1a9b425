//! The folder of a run.
//!
//! ```text
//! config.toml             every setting of the experiment
//! data.json               fingerprints of the data the run is trained on, and the settings of training
//! questions.jsonl         a line for every labeled question: its fingerprints, and what it is for
//! grammar.json            the rules and items the model was made for
//! vocabulary.json         its words
//! checkpoint.safetensors  weights, optimiser moments and step: what resuming needs
//! metrics.jsonl           a line for every tenth step
//! unlabeled.json          figures of the unlabeled questions, if the run learns from any
//! model.safetensors       the weights of the trained model
//! channel.json            the noisy channel, if the run re-ranks with it
//! confidence.json         how the confidence of answers is estimated and what candidates lose, with votes or penalties
//! predictions.jsonl       a line for every test question
//! databases.json          the databases of pretraining, and the accuracy on those that are held out
//! card.md                 the model card
//! manifest.json           a checksum of every file of a finished run
//! evaluation.json         how often it is right; written last, so a run that has it is finished
//! lock                    held while a process trains in the folder
//! progress.json           how far training is; removed when the run is finished
//! parsers.json            the parsers that came after this one, and which of them is current
//! parsers/                a run folder for each of them
//! asked.jsonl             the questions people asked that the parser learned from, with what they said
//! members/                the ensemble, a folder for each parser; members are not evaluated
//! tuning/                 a run for each weight that `--tune` tried
//! ```

use crate::Manifest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// An error about a run folder.
#[derive(Debug, Error)]
pub enum RunError {
    /// The folder holds a file of a run, but no settings that say whose.
    #[error("{folder} holds the {} of a run whose config.toml is gone; restore it, or name another folder", .file.name())]
    Leftover {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: RunFile,
    },
    /// The lock of a folder is not a regular file.
    #[error("{0} is not a regular file; remove it if no process is training in the folder")]
    Lock(PathBuf),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunFile {
    /// Every setting of the experiment. A folder that has it holds a run.
    Config,
    /// Fingerprints of the data the run is trained on, and the settings of training.
    Data,
    /// What each labeled question is for: a line with its fingerprints.
    Questions,
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
    /// How the confidence of answers is estimated.
    Confidence,
    /// A [`Prediction`](crate::Prediction) for every test question.
    Predictions,
    /// The databases of pretraining.
    Databases,
    /// The model card.
    Card,
    /// The [`Manifest`] of a finished run.
    Manifest,
    /// The [`Evaluation`](crate::Evaluation). It is written last: a run that has it is finished.
    Evaluation,
    /// The file that is locked while a process trains in the folder.
    Lock,
    /// The [`Progress`](crate::Progress) of training. It is removed when the run is finished.
    Progress,
    /// The [`ParserList`](crate::ParserList): the parsers that came after this one.
    Parsers,
    /// An [`AskedQuestion`](crate::AskedQuestion) for every question of the log that the parser learned from.
    Asked,
}

impl RunFile {
    /// All files of a run folder.
    pub const ALL: [RunFile; 20] = [
        RunFile::Config,
        RunFile::Data,
        RunFile::Questions,
        RunFile::Grammar,
        RunFile::Vocabulary,
        RunFile::Checkpoint,
        RunFile::Metrics,
        RunFile::Unlabeled,
        RunFile::Model,
        RunFile::NoisyChannel,
        RunFile::Confidence,
        RunFile::Predictions,
        RunFile::Databases,
        RunFile::Card,
        RunFile::Manifest,
        RunFile::Evaluation,
        RunFile::Lock,
        RunFile::Progress,
        RunFile::Parsers,
        RunFile::Asked,
    ];

    /// Returns the name of the file.
    pub fn name(self) -> &'static str {
        match self {
            RunFile::Config => "config.toml",
            RunFile::Data => "data.json",
            RunFile::Questions => "questions.jsonl",
            RunFile::Grammar => "grammar.json",
            RunFile::Vocabulary => "vocabulary.json",
            RunFile::Checkpoint => "checkpoint.safetensors",
            RunFile::Metrics => "metrics.jsonl",
            RunFile::Unlabeled => "unlabeled.json",
            RunFile::Model => "model.safetensors",
            RunFile::NoisyChannel => "channel.json",
            RunFile::Confidence => "confidence.json",
            RunFile::Predictions => "predictions.jsonl",
            RunFile::Databases => "databases.json",
            RunFile::Card => "card.md",
            RunFile::Manifest => "manifest.json",
            RunFile::Evaluation => "evaluation.json",
            RunFile::Lock => "lock",
            RunFile::Progress => "progress.json",
            RunFile::Parsers => "parsers.json",
            RunFile::Asked => "asked.jsonl",
        }
    }

    /// Returns whether only the owner of the file may read it, as the log that it comes from.
    fn is_private(self) -> bool {
        self == RunFile::Asked
    }
}

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
    /// The lock, if this value or one it was cloned from holds it.
    lock: Option<Arc<File>>,
    /// Whether another process writes the run, and this one trains with it.
    follows: bool,
    /// The files that were written with this value or its clones.
    written: Arc<Mutex<BTreeSet<RunFile>>>,
}

impl RunFolder {
    /// Creates the folder of a new run, with its parents, and locks it for training as long as the value and its clones
    /// exist.
    ///
    /// # Errors
    /// If it already holds a run, if another process is training in it, or if it cannot be created.
    pub fn create(folder: &Path) -> Result<Self, RunError> {
        // Locked before looking: another process could begin a run in between.
        let run = RunFolder::unlocked(folder)?.locked()?;
        match run.is_begun()? {
            true => Err(RunError::Exists(folder.to_owned())),
            false => Ok(run),
        }
    }

    /// Returns whether the folder holds a run. This is certain only while the folder is locked.
    ///
    /// # Errors
    /// If it holds a file of a run, but no settings that say whose: a new run would adopt it.
    pub fn is_begun(&self) -> Result<bool, RunError> {
        if self.path(RunFile::Config).exists() {
            return Ok(true);
        }
        // A run that was killed before it had settings may have the first ones.
        let first = [RunFile::Lock, RunFile::Data, RunFile::Questions];
        let is_left = |file: &RunFile| !first.contains(file) && self.path(*file).exists();
        match RunFile::ALL.into_iter().find(is_left) {
            Some(file) => Err(RunError::Leftover { folder: self.folder.clone(), file }),
            None => Ok(false),
        }
    }

    /// Opens the folder of an existing run.
    ///
    /// # Errors
    /// If it does not hold a run, or may not be entered.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let run = RunFolder::at(folder);
        match fs::metadata(run.path(RunFile::Config)) {
            Ok(found) if found.is_file() => Ok(run),
            Err(error) if !matches!(error.kind(), NotFound | NotADirectory) => {
                Err(run.file_error(RunFile::Config, error))
            }
            _ => Err(RunError::Missing(folder.to_owned())),
        }
    }

    /// Returns a folder that need not hold a run, or exist.
    pub(crate) fn at(folder: &Path) -> Self {
        RunFolder { folder: folder.to_owned(), lock: None, follows: false, written: Arc::default() }
    }

    /// Opens the folder of an existing run, and locks it for training as long as the value and its clones exist.
    ///
    /// # Errors
    /// If it does not hold a run, or another process is training in it.
    pub fn open_locked(folder: &Path) -> Result<Self, RunError> {
        RunFolder::open(folder)?.locked()
    }

    /// Locks the folder for training as long as the returned value and its clones exist.
    ///
    /// # Errors
    /// If another process is training in it.
    pub fn locked(self) -> Result<Self, RunError> {
        Ok(RunFolder { lock: Some(self.lock()?), ..self })
    }

    /// Returns the folder of a run that another process writes, while this one trains with it. Whatever is written here is left out.
    pub fn followed(folder: &Path) -> Self {
        RunFolder { follows: true, ..RunFolder::at(folder) }
    }

    /// Returns whether another process writes the run.
    pub fn is_followed(&self) -> bool {
        self.follows
    }

    /// Opens the folder of a run, or creates it if it does not hold one. It is not locked.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open_or_create(folder: &Path) -> Result<Self, RunError> {
        RunFolder::open(folder).or_else(|_| RunFolder::unlocked(folder))
    }

    fn unlocked(folder: &Path) -> Result<Self, RunError> {
        fs::create_dir_all(folder).map_err(|source| RunError::File { path: folder.to_owned(), source })?;
        Ok(RunFolder::at(folder))
    }

    /// Locks the folder for training, until the lock is dropped or the process ends. If this value holds the lock, returns
    /// that.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn lock(&self) -> Result<Arc<File>, RunError> {
        if let Some(lock) = &self.lock {
            return Ok(Arc::clone(lock));
        }
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => Ok(self.cleaned(lock)),
            Err(TryLockError::WouldBlock) => Err(RunError::InUse(self.folder.clone())),
            Err(TryLockError::Error(source)) => Err(self.file_error(RunFile::Lock, source)),
        }
    }

    /// Locks the folder for training, and waits while another process holds the lock.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn wait_for_lock(&self) -> Result<Arc<File>, RunError> {
        if let Some(lock) = &self.lock {
            return Ok(Arc::clone(lock));
        }
        let lock = self.lock_file()?;
        lock.lock().map_err(|source| self.file_error(RunFile::Lock, source))?;
        Ok(self.cleaned(lock))
    }

    /// Removes what a killed process left behind. Whoever has the lock is the only one who writes.
    fn cleaned(&self, lock: File) -> Arc<File> {
        xpr_data::remove_temporary_files(&self.folder, RunFile::ALL.map(RunFile::name));
        Arc::new(lock)
    }

    /// Opens the file of the lock. Whatever else has its name, such as a link to another file, is refused. The file is not
    /// truncated, so that not even a link that is made at this moment does harm.
    fn lock_file(&self) -> Result<File, RunError> {
        let path = self.path(RunFile::Lock);
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(RunError::Lock(path));
        }
        let file = File::options().create(true).truncate(false).write(true).open(path);
        file.map_err(|source| self.file_error(RunFile::Lock, source))
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
        if self.follows {
            return Ok(());
        }
        let write = if file.is_private() { xpr_data::write_private_file } else { xpr_data::write_file };
        write(&self.path(file), content).map_err(|source| self.file_error(file, source))?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
        Ok(())
    }

    /// Returns whether a file was written with this value or its clones.
    pub(crate) fn wrote(&self, file: RunFile) -> bool {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).contains(&file)
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
        xpr_data::read_bytes(&self.path(file)).map_err(|source| self.file_error(file, source))
    }

    /// Reads a file that [`RunFolder::write_json`] wrote.
    ///
    /// # Errors
    /// If it cannot be read, or is not such a file.
    pub fn read_json<T: DeserializeOwned>(&self, file: RunFile) -> Result<T, RunError> {
        self.parse_json(file, &self.read(file)?)
    }

    /// Reads a file, and checks that it is the one its manifest lists.
    ///
    /// # Errors
    /// If it cannot be read, or is another one.
    pub fn read_checked(&self, file: RunFile, manifest: Option<&Manifest>) -> Result<Vec<u8>, RunError> {
        let Some(manifest) = manifest else { return self.read(file) };
        if manifest.lists(file) && !self.has(file) {
            let message = "it is missing, and the manifest of the run lists it; restore it, or train again";
            return Err(self.content_error(file, message));
        }
        let content = self.read(file)?;
        if manifest.lists(file) && !manifest.matches(file, &content) {
            let message = "this is not the file that training wrote: it was damaged or replaced, as its checksum in \
                           manifest.json tells; restore it, or train again";
            return Err(self.content_error(file, message));
        }
        Ok(content)
    }

    /// Reads a JSON file, and checks that it is the one its manifest lists.
    ///
    /// # Errors
    /// If it cannot be read, or is another one.
    pub fn read_checked_json<T: DeserializeOwned>(
        &self,
        file: RunFile,
        manifest: Option<&Manifest>,
    ) -> Result<T, RunError> {
        self.parse_json(file, &self.read_checked(file, manifest)?)
    }

    /// Reads a JSON file that not every run has, and checks that it is the one its manifest lists, if it lists one.
    ///
    /// # Errors
    /// If it cannot be read, is another one, or is listed and not there.
    pub fn read_optional_json<T: DeserializeOwned>(
        &self,
        file: RunFile,
        manifest: Option<&Manifest>,
    ) -> Result<Option<T>, RunError> {
        let content = self.read_optional(file, manifest)?;
        content.map(|content| self.parse_json(file, &content)).transpose()
    }

    /// Reads a file that not every run has, and checks that it is the one its manifest lists, if it lists one.
    ///
    /// # Errors
    /// If it cannot be read, is another one, or is listed and not there.
    pub fn read_optional(
        &self,
        file: RunFile,
        manifest: Option<&Manifest>,
    ) -> Result<Option<Vec<u8>>, RunError> {
        let is_expected = self.has(file) || manifest.is_some_and(|manifest| manifest.lists(file));
        is_expected.then(|| self.read_checked(file, manifest)).transpose()
    }

    /// Copies those of some files that the run has to another folder, and checks that they are the ones its manifest lists.
    ///
    /// # Errors
    /// If one cannot be read or written, is another one, or is listed and not there.
    pub fn copy_to(&self, other: &RunFolder, files: &[RunFile]) -> Result<(), RunError> {
        let manifest = Manifest::read(self)?;
        for &file in files {
            if let Some(content) = self.read_optional(file, manifest.as_ref())? {
                other.write(file, &content)?;
            }
        }
        Ok(())
    }

    /// Reads a file that [`RunFolder::write_json_lines`] wrote, and checks that it is the one its manifest lists.
    ///
    /// # Errors
    /// If it cannot be read, or is another one.
    pub fn read_checked_json_lines<T: DeserializeOwned>(
        &self,
        file: RunFile,
        manifest: Option<&Manifest>,
    ) -> Result<Vec<T>, RunError> {
        let content = self.read_checked(file, manifest)?;
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let value = |(index, line): (usize, &[u8])| {
            serde_json::from_slice(line).map_err(|error| {
                let message =
                    format!("line {}: it is not what xpr wrote: {error}; restore the file", index + 1);
                self.content_error(file, message)
            })
        };
        lines.enumerate().map(value).collect()
    }

    fn parse_json<T: DeserializeOwned>(&self, file: RunFile, content: &[u8]) -> Result<T, RunError> {
        serde_json::from_slice(content)
            .map_err(|error| self.content_error(file, format!("it is not what xpr wrote: {error}")))
    }

    /// Writes the manifest of all files so far.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn write_manifest(&self) -> Result<(), RunError> {
        self.write_json(RunFile::Manifest, &Manifest::of(self, None)?)
    }

    /// Writes the manifest and, last, the evaluation, with which the run is finished.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn finish(&self, evaluation: &impl Serialize) -> Result<(), RunError> {
        let file = RunFile::Evaluation;
        let content = serde_json::to_vec_pretty(evaluation)
            .map_err(|error| self.content_error(file, error.to_string()))?;
        self.write_json(RunFile::Manifest, &Manifest::of(self, Some((file, &content)))?)?;
        self.write(file, &content)
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
    fn the_list_of_all_files_has_every_file_once() {
        for (index, file) in RunFile::ALL.into_iter().enumerate() {
            assert_eq!(file as usize, index, "{file:?}");
        }
        // The last variant of the enum.
        assert_eq!(RunFile::ALL.len(), RunFile::Asked as usize + 1);
    }

    #[test]
    fn files_are_replaced_whole_and_runs_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/run");
        assert!(RunFolder::open(&path).unwrap_err().to_string().contains("holds no run"));
        let run = RunFolder::create(&path).unwrap();
        run.write(RunFile::Config, b"one").unwrap();
        run.write(RunFile::Config, b"two").unwrap();
        assert_eq!(run.read(RunFile::Config).unwrap(), b"two");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2, "no temporary file is left beside the lock");
        // A new run is locked from its first moment.
        assert!(matches!(RunFolder::create(&path), Err(RunError::InUse(_))));
        assert!(RunFolder::open_locked(&path).unwrap_err().to_string().contains("in use"));
        drop(run);
        assert!(RunFolder::create(&path).unwrap_err().to_string().contains("already holds a run"));
        let run = RunFolder::open(&path).unwrap();
        let lock = run.lock().unwrap();
        assert!(run.lock().unwrap_err().to_string().contains("in use"));
        drop(lock);
        assert!(RunFolder::open_locked(&path).unwrap().lock().is_ok());
    }

    /// Issue 18: a new run went on from a checkpoint in its folder, and later its questions were answered by a parser that the run before had
    /// been taught.
    #[test]
    fn files_of_nobody_are_not_adopted() {
        for file in
            ["checkpoint.safetensors", "parsers.json", "channel.json", "asked.jsonl", "evaluation.json"]
        {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(file), "x").unwrap();
            let error = RunFolder::create(folder.path()).unwrap_err().to_string();
            assert!(
                error.contains(&format!("holds the {file} of a run whose config.toml is gone")),
                "{error}"
            );
            fs::remove_file(folder.path().join(file)).unwrap();
            // What a run that was killed before it had settings leaves.
            fs::write(folder.path().join("data.json"), "x").unwrap();
            RunFolder::create(folder.path()).unwrap();
        }
    }

    /// Issue 18: a folder that may not be entered was said to hold no run.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_looked_into_is_not_said_to_hold_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let missing = |path: &str| RunFolder::open(&folder.path().join(path)).unwrap_err().to_string();
        // Whoever runs the tests as root may enter any folder, but not a link to itself.
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        assert!(missing("loop").contains("loop/config.toml: "), "{}", missing("loop"));
        fs::write(folder.path().join("file"), "").unwrap();
        fs::create_dir_all(folder.path().join("folder/config.toml")).unwrap();
        for path in ["nowhere", "file", "folder"] {
            assert!(missing(path).contains("holds no run: there is no config.toml in it"), "{path}");
        }
    }

    /// Issue 18: the lock of a folder was opened through a link, and truncated what the link points to.
    #[cfg(unix)]
    #[test]
    fn a_lock_that_is_a_link_or_a_pipe_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, lock) = (folder.path().join("precious"), folder.path().join("lock"));
        fs::write(&precious, "content").unwrap();
        for target in [precious.as_path(), Path::new("/dev/null"), Path::new("nowhere")] {
            std::os::unix::fs::symlink(target, &lock).unwrap();
            let run = RunFolder::open_or_create(folder.path()).unwrap();
            assert!(matches!(run.lock(), Err(RunError::Lock(_))), "{}", target.display());
            assert!(matches!(run.wait_for_lock(), Err(RunError::Lock(_))));
            fs::remove_file(&lock).unwrap();
        }
        assert_eq!(fs::read_to_string(&precious).unwrap(), "content");
        // A file with content is locked, and keeps it.
        fs::rename(&precious, &lock).unwrap();
        drop(RunFolder::create(folder.path()).unwrap());
        assert_eq!(fs::read_to_string(&lock).unwrap(), "content");
    }

    /// Issue 19: everybody could read the questions of a log that only its owner can read.
    #[cfg(unix)]
    #[test]
    fn only_their_owner_can_read_what_people_asked() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let mode = |file| fs::metadata(run.path(file)).unwrap().permissions().mode() & 0o777;
        for file in [RunFile::Asked, RunFile::Config] {
            run.write(file, b"").unwrap();
            // What an earlier version wrote does not stay readable when it is written again.
            fs::set_permissions(run.path(file), PermissionsExt::from_mode(0o644)).unwrap();
            run.write(file, b"").unwrap();
        }
        fs::write(folder.path().join("other"), "").unwrap();
        let other = fs::metadata(folder.path().join("other")).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(RunFile::Asked), mode(RunFile::Config)), (0o600, other));
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
