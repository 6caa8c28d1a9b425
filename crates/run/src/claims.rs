//! Claims: which process trains which cell of a sweep.
//!
//! Processes of several machines share nothing but the folder of the sweep. A process that wants a cell creates a file, which succeeds for one of
//! them only, also on network file systems:
//!
//! ```text
//! claims/CELL.1              the first process that trained the cell, and how that ended
//! claims/CELL.2              the one that took over, because the first was stopped, failed or died; and so on
//! claims/processes/ID.json   a process: its machine, its part of the sweep, and a heartbeat
//! ```
//!
//! A process that holds claims writes to its own file every few seconds. If it stops doing so, others take over its cells by creating the next file.
//! Files of claims are never removed, so of two processes that find the same process dead only one takes over.
//!
//! *Architecture invariant:* a cell is held by the process of its last claim. A process that was only slow finds a later claim and stops training.

use crate::fingerprint;
use crate::folder::RunError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time between two heartbeats.
const BEAT: Duration = Duration::from_secs(10);
/// A process whose last heartbeat is older than this is dead. Network file systems may show a file as it was up to a minute ago.
const DEAD_AFTER: Duration = Duration::from_secs(90);

/// The part of a sweep that a process trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepPart {
    /// The number of the part, from 0.
    pub index: usize,
    /// The number of parts.
    pub of: usize,
}

impl SweepPart {
    /// Returns whether a cell belongs to the part. Cells are dealt to the parts in turn.
    pub fn has(&self, cell: usize) -> bool {
        cell % self.of == self.index
    }
}

/// A process that trains cells, as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepProcess {
    /// The name of its machine.
    pub host: String,
    /// The number of the process on its machine.
    pub pid: u32,
    /// Its part of the sweep, unless it trains all cells.
    pub part: Option<SweepPart>,
    /// What distinguishes the process from all others since the machine was started; empty where that is not known.
    identity: Option<ProcessIdentity>,
    /// Whether it ended by itself.
    ended: bool,
}

/// A process of a running machine. Numbers of processes are used again, and containers number theirs anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProcessIdentity {
    /// A number that is drawn when the machine is started.
    boot: String,
    /// The namespace of process numbers.
    namespace: String,
    /// When the process was started, in ticks since the machine was.
    start: u64,
}

impl ProcessIdentity {
    /// Returns the identity of a process, or nothing if there is none with this number, or no `/proc`.
    fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program, in parentheses, may have spaces. A zombie has ended.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let start = fields.nth(18)?.parse().ok()?;
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        (state != "Z").then_some(ProcessIdentity { boot, namespace, start })
    }
}

/// How a claim on a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimEnd {
    /// The cell is trained and evaluated.
    Finished,
    /// The process was told to stop. Training can be resumed.
    Stopped,
    /// Training failed.
    Failed,
}

/// What training a cell took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellCost {
    /// The time, in seconds.
    pub seconds: f64,
    /// The largest memory, in megabytes; 0 if it is not known.
    pub memory_mb: f64,
}

/// The content of the file of a claim.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ClaimRecord {
    /// The name of the process's file, without its ending.
    process: String,
    /// How the claim ended, if it did.
    end: Option<ClaimEnd>,
    cost: CellCost,
}

/// A cell that this process may train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    cell: String,
    number: u32,
}

/// Who has a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Nobody has claimed it.
    Unclaimed,
    /// A process trains it. The process is unknown in the moment after it created its claim.
    Held(Option<SweepProcess>),
    /// The process that trained it died.
    LeftBehind,
    /// The last claim ended.
    Ended(ClaimEnd),
}

/// The claims in the folder of a sweep, as one process sees them.
#[derive(Debug)]
pub struct Claims {
    folder: PathBuf,
    /// The process that claims cells, and the name of its file; nothing if this value only looks.
    own: Option<(SweepProcess, String)>,
    last_beat: Instant,
}

impl Claims {
    /// The name of the folder of the claims, inside that of the sweep.
    pub const FOLDER: &str = "claims";

    /// Looks at the claims of a sweep without making any.
    pub fn watch(sweep: &Path) -> Self {
        Claims { folder: sweep.join(Self::FOLDER), own: None, last_beat: Instant::now() }
    }

    /// Announces this process as one that trains cells.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub fn join(sweep: &Path, part: Option<SweepPart>) -> Result<Self, RunError> {
        let pid = std::process::id();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
        let identity = ProcessIdentity::of(pid);
        let process = SweepProcess { host, pid, part, identity, ended: false };
        // A process that joins twice is two processes to the others.
        let now = format!("{:?}", SystemTime::now());
        let name = fingerprint([format!("{process:?}").as_str(), &now]);
        let mut claims = Claims::watch(sweep);
        claims.own = Some((process, name));
        let processes = claims.folder.join("processes");
        fs::create_dir_all(&processes).map_err(|source| RunError::File { path: processes, source })?;
        claims.write_own()?;
        Ok(claims)
    }

    /// Writes the heartbeat of this process, if it is due. Returns whether it was.
    pub fn beat(&mut self) -> bool {
        let Some((_, name)) = &self.own else { return false };
        let is_due = self.last_beat.elapsed() >= BEAT;
        if is_due {
            self.last_beat = Instant::now();
            // In place, because network file systems know the time of an open file best. Should it fail, the next one may succeed.
            let _ = File::options()
                .append(true)
                .open(self.process_file(name))
                .and_then(|mut file| file.write_all(b"\n"));
        }
        is_due
    }

    /// Claims a cell that no living process has. Returns nothing if another process has it, or is faster.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn take(&self, cell: &str) -> Result<Option<Claim>, RunError> {
        let Some((_, own)) = &self.own else { return Ok(None) };
        let (number, state) = self.last(cell)?;
        if matches!(state, CellState::Held(_)) {
            return Ok(None);
        }
        let claim = Claim { cell: cell.to_owned(), number: number + 1 };
        let path = self.claim_file(cell, claim.number);
        let record = ClaimRecord { process: own.clone(), end: None, cost: CellCost::default() };
        let content = json(&path, &record)?;
        let error = |source| RunError::File { path: path.clone(), source };
        match File::create_new(&path) {
            Err(source) if source.kind() == ErrorKind::AlreadyExists => Ok(None),
            file => file.and_then(|mut file| file.write_all(&content)).map_err(error).map(|()| Some(claim)),
        }
    }

    /// Returns whether another process has taken over, because this one seemed to be dead.
    pub fn is_lost(&self, claim: &Claim) -> bool {
        self.claim_file(&claim.cell, claim.number + 1).exists()
    }

    /// Records how a claim ended, and what it took.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn end(&self, claim: &Claim, end: ClaimEnd, cost: CellCost) -> Result<(), RunError> {
        let Some((_, own)) = &self.own else { return Ok(()) };
        let path = self.claim_file(&claim.cell, claim.number);
        let record = ClaimRecord { process: own.clone(), end: Some(end), cost };
        let content = json(&path, &record)?;
        xpr_data::write_file(&path, &content).map_err(|source| RunError::File { path, source })
    }

    /// Returns who has a cell.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn state(&self, cell: &str) -> Result<CellState, RunError> {
        Ok(self.last(cell)?.1)
    }

    /// Returns whether some process has begun a part, and none of those that have is alive.
    pub fn is_dead(&self, part: SweepPart) -> bool {
        let mut all = self.processes().filter(|(process, _)| process.part == Some(part)).peekable();
        all.peek().is_some() && all.all(|(_, is_alive)| !is_alive)
    }

    /// Returns the processes that have announced themselves, and whether each is alive.
    pub fn processes(&self) -> impl Iterator<Item = (SweepProcess, bool)> {
        let files = fs::read_dir(self.folder.join("processes")).into_iter().flatten().flatten();
        files.filter_map(|file| {
            let name = file.file_name().to_str()?.strip_suffix(".json")?.to_owned();
            let (process, beat) = self.process(&name)?;
            let is_alive = self.is_alive(&process, beat);
            Some((process, is_alive))
        })
    }

    /// Returns what all claims on a finished cell took together, if that is known.
    pub fn cost(&self, cell: &str) -> Option<CellCost> {
        let records = (1..).map_while(|number| self.record(cell, number).ok().flatten());
        let (mut cost, mut is_finished) = (CellCost::default(), false);
        for (record, _) in records {
            let record = record?;
            cost.seconds += record.cost.seconds;
            cost.memory_mb = cost.memory_mb.max(record.cost.memory_mb);
            is_finished = record.end == Some(ClaimEnd::Finished);
        }
        is_finished.then_some(cost)
    }

    /// Returns the number of the last claim on a cell, or 0, and who has the cell.
    fn last(&self, cell: &str) -> Result<(u32, CellState), RunError> {
        let (mut number, mut last) = (0, None);
        while let Some(record) = self.record(cell, number + 1)? {
            (number, last) = (number + 1, Some(record));
        }
        let state = match last {
            None => CellState::Unclaimed,
            Some((Some(ClaimRecord { end: Some(end), .. }), _)) => CellState::Ended(end),
            Some((record, written)) => match record.and_then(|record| self.process(&record.process)) {
                Some((process, beat)) if self.is_alive(&process, beat) => CellState::Held(Some(process)),
                // The claim is being written, or its process died before it was.
                None if self.is_recent(written) => CellState::Held(None),
                _ => CellState::LeftBehind,
            },
        };
        Ok((number, state))
    }

    /// Returns a claim and when it was written, if it exists. The claim is missing if it is not completely written.
    fn record(&self, cell: &str, number: u32) -> Result<Option<(Option<ClaimRecord>, SystemTime)>, RunError> {
        let path = self.claim_file(cell, number);
        match read(&path) {
            Ok((content, written)) => Ok(Some((serde_json::from_str(&content).ok(), written))),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(RunError::File { path, source }),
        }
    }

    /// Returns a process and the time of its last heartbeat, if its file is there and complete.
    fn process(&self, name: &str) -> Option<(SweepProcess, SystemTime)> {
        let (content, beat) = read(&self.process_file(name)).ok()?;
        Some((serde_json::from_str(&content).ok()?, beat))
    }

    /// Returns whether a process is alive: for certain if it is one of this machine, else by its heartbeat.
    fn is_alive(&self, process: &SweepProcess, beat: SystemTime) -> bool {
        if process.ended {
            return false;
        }
        let here = ProcessIdentity::of(std::process::id());
        match (&process.identity, here) {
            (Some(its), Some(here)) if its.boot == here.boot && its.namespace == here.namespace => {
                ProcessIdentity::of(process.pid).as_ref() == Some(its)
            }
            _ => self.is_recent(beat),
        }
    }

    /// Returns whether a process that wrote a file at this time may be alive.
    fn is_recent(&self, written: SystemTime) -> bool {
        self.now().duration_since(written).unwrap_or_default() < DEAD_AFTER
    }

    /// Returns the time by the clock that files are written with, because clocks of machines differ; or that of this machine if nothing can be
    /// written.
    fn now(&self) -> SystemTime {
        let probe = tempfile::tempfile_in(&self.folder).and_then(|mut file| {
            file.write_all(b"\n")?;
            file.metadata()?.modified()
        });
        probe.unwrap_or_else(|_| SystemTime::now())
    }

    fn write_own(&self) -> Result<(), RunError> {
        let Some((process, name)) = &self.own else { return Ok(()) };
        let path = self.process_file(name);
        let content = json(&path, process)?;
        xpr_data::write_file(&path, &content).map_err(|source| RunError::File { path, source })
    }

    fn claim_file(&self, cell: &str, number: u32) -> PathBuf {
        self.folder.join(format!("{cell}.{number}"))
    }

    fn process_file(&self, name: &str) -> PathBuf {
        self.folder.join("processes").join(format!("{name}.json"))
    }
}

/// Returns the content of a file, and when it was written.
fn read(path: &Path) -> std::io::Result<(String, SystemTime)> {
    Ok((xpr_data::read_utf8(path)?, fs::metadata(path)?.modified()?))
}

fn json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, RunError> {
    serde_json::to_vec(value)
        .map_err(|error| RunError::Content { path: path.to_owned(), message: error.to_string() })
}

impl Drop for Claims {
    /// Records that this process ended by itself.
    fn drop(&mut self) {
        if let Some((process, _)) = &mut self.own {
            process.ended = true;
        }
        // Others find out without it, later.
        let _ = self.write_own();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns claims of another machine, whose process was last heard of some time ago.
    fn elsewhere(sweep: &Path, part: Option<SweepPart>, silent_for: Duration) -> Claims {
        let mut claims = Claims::join(sweep, part).unwrap();
        let (process, name) = claims.own.as_mut().unwrap();
        (process.host, process.identity) = ("elsewhere".to_owned(), None);
        let file = claims.folder.join("processes").join(format!("{name}.json"));
        claims.write_own().unwrap();
        File::options()
            .append(true)
            .open(file)
            .unwrap()
            .set_modified(SystemTime::now() - silent_for)
            .unwrap();
        claims
    }

    #[test]
    fn of_many_processes_one_gets_a_cell() {
        let sweep = tempfile::tempdir().unwrap();
        for cell in 0..20 {
            let cell = format!("cell,{cell}");
            let takers: Vec<Claims> = (0..8).map(|_| Claims::join(sweep.path(), None).unwrap()).collect();
            let taken = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    takers.iter().map(|claims| scope.spawn(|| claims.take(&cell).unwrap())).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).count()
            });
            assert_eq!(taken, 1);
        }
    }

    #[test]
    fn cells_of_processes_that_stopped_failed_or_died_are_taken_over_once() {
        let sweep = tempfile::tempdir().unwrap();
        let ours = Claims::join(sweep.path(), None).unwrap();
        let cost = CellCost { seconds: 2.0, memory_mb: 30.0 };
        for end in [ClaimEnd::Stopped, ClaimEnd::Failed, ClaimEnd::Finished] {
            let theirs = Claims::join(sweep.path(), None).unwrap();
            let cell = format!("{end:?}");
            let claim = theirs.take(&cell).unwrap().unwrap();
            assert!(
                matches!(ours.state(&cell).unwrap(), CellState::Held(Some(process)) if process.pid == std::process::id())
            );
            assert_eq!(ours.take(&cell).unwrap(), None);
            theirs.end(&claim, end, cost).unwrap();
            assert_eq!(ours.state(&cell).unwrap(), CellState::Ended(end));
            assert_eq!(ours.cost(&cell), (end == ClaimEnd::Finished).then_some(cost));
            let later = ours.take(&cell).unwrap().unwrap();
            assert!(theirs.is_lost(&claim) && !ours.is_lost(&later));
            ours.end(&later, ClaimEnd::Finished, CellCost { seconds: 1.0, memory_mb: 40.0 }).unwrap();
            assert_eq!(ours.cost(&cell), Some(CellCost { seconds: 3.0, memory_mb: 40.0 }));
        }
    }

    #[test]
    fn a_process_of_another_machine_is_dead_when_its_heartbeat_stops() {
        let sweep = tempfile::tempdir().unwrap();
        let ours = Claims::join(sweep.path(), None).unwrap();
        let part = |index| SweepPart { index, of: 2 };
        let mut living = elsewhere(sweep.path(), Some(part(0)), Duration::from_secs(60));
        let dead = elsewhere(sweep.path(), Some(part(1)), Duration::from_secs(120));
        let claim = dead.take("left").unwrap().unwrap();
        living.take("held").unwrap().unwrap();
        assert!(
            matches!(ours.state("held").unwrap(), CellState::Held(Some(process)) if process.host == "elsewhere")
        );
        assert_eq!(ours.state("left").unwrap(), CellState::LeftBehind);
        assert!(
            !ours.is_dead(part(0)) && ours.is_dead(part(1)) && !ours.is_dead(SweepPart { index: 0, of: 3 })
        );
        // It was only slow, and finds out.
        assert!(!dead.is_lost(&claim));
        assert!(ours.take("left").unwrap().is_some() && dead.is_lost(&claim));
        // A heartbeat is a write to the file of the process.
        let file = living.process_file(&living.own.as_ref().unwrap().1);
        File::options()
            .append(true)
            .open(&file)
            .unwrap()
            .set_modified(SystemTime::now() - 2 * DEAD_AFTER)
            .unwrap();
        assert!(ours.is_dead(part(0)));
        living.last_beat = Instant::now().checked_sub(BEAT).unwrap();
        living.beat();
        assert!(!ours.is_dead(part(0)));
    }

    #[test]
    fn processes_of_this_machine_are_alive_while_they_run() {
        let sweep = tempfile::tempdir().unwrap();
        let part = SweepPart { index: 0, of: 1 };
        let mut other = Claims::join(sweep.path(), Some(part)).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (process, _) = other.own.as_mut().unwrap();
        (process.pid, process.identity) = (child.id(), ProcessIdentity::of(child.id()));
        other.write_own().unwrap();
        other.take("cell").unwrap().unwrap();
        let ours = Claims::join(sweep.path(), None).unwrap();
        assert!(!ours.is_dead(part) && matches!(ours.state("cell").unwrap(), CellState::Held(Some(_))));
        child.kill().unwrap();
        // It is dead at once, and need not have been waited for.
        while ProcessIdentity::of(child.id()).is_some() {}
        assert!(ours.is_dead(part));
        assert_eq!(ours.state("cell").unwrap(), CellState::LeftBehind);
        child.wait().unwrap();
    }

    /// The machine may die between creating a claim and writing it.
    #[test]
    fn a_claim_without_content_is_held_for_a_while() {
        let sweep = tempfile::tempdir().unwrap();
        let ours = Claims::join(sweep.path(), None).unwrap();
        let file = File::create(ours.claim_file("cell", 1)).unwrap();
        assert_eq!(ours.state("cell").unwrap(), CellState::Held(None));
        assert_eq!(ours.take("cell").unwrap(), None);
        file.set_modified(SystemTime::now() - 2 * DEAD_AFTER).unwrap();
        assert!(ours.take("cell").unwrap().is_some());
    }

    #[test]
    fn every_cell_belongs_to_one_part() {
        for of in 1..6 {
            for cell in 0..20 {
                assert_eq!((0..of).filter(|&index| SweepPart { index, of }.has(cell)).count(), 1);
            }
        }
    }
}
