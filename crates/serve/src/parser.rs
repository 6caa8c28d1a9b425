//! A parser that is open, and when to open another one.

use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use xpr_learn::{ExperimentError, TrainedRun};
use xpr_run::{Dataset, ParserList, Progress, RunFile, RunFolder, fingerprint_bytes};

use crate::schema::SchemaView;

/// An open parser of a run.
#[derive(Debug)]
pub(crate) struct OpenParser {
    /// Counts the parsers that the server opened for the run.
    pub(crate) generation: u64,
    /// The fingerprint of the parser: another parser has another one.
    pub(crate) fingerprint: String,
    /// The finished run.
    pub(crate) run: TrainedRun,
    /// The state of the files when it was opened.
    pub(crate) state: FileState,
    /// The tables, once somebody asked for them.
    pub(crate) schema: OnceLock<SchemaView>,
}

impl OpenParser {
    /// Opens the current parser of a run.
    ///
    /// # Errors
    /// If there is no finished run, or its data cannot be read.
    pub(crate) fn open(folder: &Path, generation: u64) -> Result<Self, ExperimentError> {
        // Taken first: a file that changes while it is read is read again.
        let before = FileState::of_parser(folder);
        let run = TrainedRun::open(folder)?;
        let state = FileState { data: data_state(&run), ..before };
        let manifest = run.folder.read(RunFile::Manifest).or_else(|_| run.folder.read(RunFile::Model));
        let fingerprint = fingerprint_bytes(&manifest.unwrap_or_default());
        Ok(OpenParser { generation, fingerprint, run, state, schema: OnceLock::new() })
    }

    /// Returns whether the parser that a run names now, or the data, are others than those that are open.
    pub(crate) fn is_outdated(&self, folder: &Path) -> bool {
        let now = FileState { data: data_state(&self.run), ..FileState::of_parser(folder) };
        now != self.state
    }
}

/// What is looked at to notice that another parser was promoted, or that the database changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    /// The number of the current parser; none if the list cannot be read.
    current: Option<usize>,
    /// The manifest of that parser.
    manifest: Option<Stamp>,
    /// The file of the database, and its write-ahead log.
    data: [Option<Stamp>; 2],
}

impl FileState {
    fn of_parser(folder: &Path) -> Self {
        let current = ParserList::read(folder).ok().map(|list| list.current);
        let parser = ParserList::folder(folder, current.unwrap_or(0));
        FileState { current, manifest: stamp(&parser.join(RunFile::Manifest.name())), data: [None; 2] }
    }
}

/// The size of a file, and when it was changed.
type Stamp = (u64, Option<SystemTime>);

fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|file| (file.len(), file.modified().ok()))
}

/// Returns the state of the database of a run.
fn data_state(run: &TrainedRun) -> [Option<Stamp>; 2] {
    let data = &run.config.data;
    if data.dataset != Dataset::Database {
        return [None; 2];
    }
    let path = data.folder.join(data.database_path());
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    [stamp(&path), stamp(&PathBuf::from(log))]
}

/// How far the training of the next parser of a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Improving {
    /// The parser that is being trained.
    pub(crate) parser: String,
    /// The number of steps taken.
    pub(crate) step: usize,
    /// The number of steps in all.
    pub(crate) steps: usize,
}

/// How old the record of the progress can be. It is written every second while a parser is trained, and seldom while parsers are compared.
const FRESH: Duration = Duration::from_secs(60);

/// Returns how far the training of the next parser of a run is, if one is being trained. What a killed process left behind is soon too
/// old. The lock of the run would tell that at once, but asking for it could refuse it to a process that begins to train.
pub(crate) fn improving(folder: &Path) -> Option<Improving> {
    let run = RunFolder::open(folder).ok()?;
    let written = fs::metadata(run.path(RunFile::Progress)).ok()?.modified().ok()?;
    if written.elapsed().unwrap_or_default() > FRESH {
        return None;
    }
    let Progress { parser, step, steps } = run.read_json(RunFile::Progress).ok()?;
    Some(Improving { parser, step, steps })
}
