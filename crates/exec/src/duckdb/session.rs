//! One child process and the queries that it runs.
//!
//! The parent waits for an answer until a deadline. A child that is late is killed, and the next query starts another one. What a
//! child sends is not trusted: it may be in the hands of a hostile file.

use super::error::DuckDbError;
use super::wire::{self, Failure, FailureKind, Opening, Request, Response};
use crate::Fault;
use crate::database::Cell;
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The argument by which the program knows that it is a child.
pub(super) const CHILD: &str = "xpr-duckdb-child";
/// How long after its limit a query is given up that the child should have stopped.
const GRACE: Duration = Duration::from_millis(25);
/// The signals of a process that aborts, and of one that the system kills.
const ABORTED: i32 = 6;
const KILLED: i32 = 9;
/// How long opening a database may take.
const OPENING_TIME: Duration = Duration::from_secs(20);

/// A function that is called with each row of an answer.
pub(super) type EachRow<'e> = dyn FnMut(&[Cell<'_>]) -> Result<(), Fault> + 'e;

/// The limits of one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunLimits {
    pub(super) time: Duration,
    pub(super) rows: usize,
    /// The bytes of all cells.
    pub(super) output: usize,
}

/// A database file, as all children that read it know it.
pub(super) struct Source {
    /// What users call the database.
    pub(super) label: PathBuf,
    /// The file.
    pub(super) path: PathBuf,
    /// Files that views of the database read.
    pub(super) readable: Vec<PathBuf>,
    /// What the files were when they were first opened.
    states: Vec<FileState>,
    /// Whether that was once found to be so no more.
    has_changed: AtomicBool,
}

/// What tells one content of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl FileState {
    fn of(found: &Metadata) -> FileState {
        FileState { inode: found.ino(), size: found.size(), changed: (found.mtime(), found.mtime_nsec()) }
    }
}

impl Source {
    pub(super) fn new(label: PathBuf, path: PathBuf, readable: Vec<PathBuf>) -> io::Result<Source> {
        let mut source =
            Source { label, path, readable, states: vec![], has_changed: AtomicBool::new(false) };
        source.states = source.current_states()?;
        Ok(source)
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.path).chain(&self.readable).map(PathBuf::as_path)
    }

    fn current_states(&self) -> io::Result<Vec<FileState>> {
        self.files().map(|path| Ok(FileState::of(&fs::metadata(path)?))).collect()
    }

    /// Returns an error if another program changed the files since they were opened.
    pub(super) fn check_unchanged(&self) -> Result<(), DuckDbError> {
        let is_same = || self.current_states().is_ok_and(|states| states == self.states);
        if !self.has_changed.load(Ordering::Relaxed) && is_same() {
            return Ok(());
        }
        self.has_changed.store(true, Ordering::Relaxed);
        Err(DuckDbError::Changed { path: self.label.clone() })
    }
}

/// A child process that can be asked.
struct Process {
    /// It is there until this is dropped.
    child: Option<Child>,
    socket: UnixStream,
}

impl Process {
    /// Starts this program as a child.
    fn start() -> io::Result<Process> {
        let (socket, for_child) = UnixStream::pair()?;
        // The program may have been replaced since it was started; this is the one that runs.
        let running = Path::new("/proc/self/exe");
        let program = if running.exists() { running.to_owned() } else { std::env::current_exe()? };
        let mut command = Command::new(program);
        command.arg(CHILD).stdin(OwnedFd::from(for_child)).stdout(Stdio::null()).stderr(Stdio::null());
        command.current_dir("/").env_clear();
        // Each arena of the system's allocator would reserve memory.
        command.env("MALLOC_ARENA_MAX", "1");
        // Where the library of DuckDB is.
        for variable in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
            command.envs(std::env::var_os(variable).map(|value| (variable, value)));
        }
        Ok(Process { child: Some(command.spawn()?), socket })
    }

    fn ask(&self, request: &Request) -> io::Result<()> {
        self.socket.set_write_timeout(Some(OPENING_TIME))?;
        wire::send(&mut &self.socket, &request.to_bytes())
    }

    /// Returns the next response. It is an error if none comes until the deadline.
    fn response(&self, deadline: Instant) -> io::Result<Response> {
        let content = wire::receive(&mut UntilDeadline { socket: &self.socket, deadline })?;
        Response::read(&content).ok_or_else(|| io::Error::other("it sent what is no response"))
    }
}

impl Process {
    /// Returns the fault of a query whose child ended while it ran, and whether something killed it.
    fn cause_of_end(mut self) -> (Fault, bool) {
        let began = Instant::now();
        let mut status = None;
        // It closes its end of the socket just before it ends. One that only closes the socket is killed.
        while status.is_none() && began.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(1));
            status = self.child.as_mut().and_then(|child| child.try_wait().ok()?);
        }
        let signal = status.and_then(|status| status.signal());
        let fault = match signal {
            // A program that cannot allocate what it needs aborts, or the system kills it.
            None | Some(ABORTED | KILLED) => Fault::Limit("memory"),
            Some(signal) => Fault::Runtime(format!(
                "DuckDB's process crashed (signal {signal}); the file may be damaged, or made to crash its readers"
            )),
        };
        (fault, signal == Some(KILLED))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // It fails if the child has ended already.
        let _ = child.kill();
        // A large process takes a while to end, for which a query that is over need not wait.
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

/// Reads from a socket until a deadline.
struct UntilDeadline<'s> {
    socket: &'s UnixStream,
    deadline: Instant,
}

impl io::Read for UntilDeadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(Some(left))?;
        let mut socket = self.socket;
        socket.read(buffer)
    }
}

/// A database that queries read, each in a child that is started when it is needed.
pub(super) struct Session {
    source: Arc<Source>,
    /// The bytes that a query can use.
    memory: usize,
    process: Option<Process>,
    /// Whether something else than this program killed the last child.
    was_killed: bool,
    /// What the child was asked since it was started.
    asked: usize,
}

impl Session {
    /// Opens the database in a child.
    pub(super) fn open(source: &Arc<Source>, memory: usize) -> Result<Session, DuckDbError> {
        let mut session =
            Session { source: Arc::clone(source), memory, process: None, was_killed: false, asked: 0 };
        session.start()?;
        Ok(session)
    }

    /// Fills a new database from files, by statements of this crate. An error is about the database or, with its index, about a file.
    pub(super) fn load(opening: Opening, time: Duration) -> Result<(), LoadError> {
        let process = Process::start().map_err(|source| LoadError::NoChild { source })?;
        opened(&process, opening, time).map_err(LoadError::Failed)
    }

    fn start(&mut self) -> Result<&Process, DuckDbError> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let opening = Opening {
            path: path(&self.source.path),
            memory: self.memory as u64,
            readable: self.source.readable.iter().map(|readable| path(readable)).collect(),
            loading: vec![],
        };
        let process = Process::start().map_err(|source| DuckDbError::NoChild { source })?;
        opened(&process, opening, OPENING_TIME)
            .map_err(|(_, failure)| failure)
            .map_err(|failure| DuckDbError::from_message(&self.source.label, &failure.message))?;
        // The child has a lock now that keeps other programs from writing.
        self.source.check_unchanged()?;
        self.asked = 0;
        Ok(self.process.insert(process))
    }

    /// Starts a child if there is none, so that the next query does not wait for that.
    pub(super) fn make_ready(&mut self) -> Result<(), Fault> {
        if self.process.is_none() {
            self.start().map_err(|error| Fault::Runtime(error.to_string()))?;
        }
        Ok(())
    }

    /// Returns the child to ask next.
    fn process(&mut self) -> Result<&Process, Fault> {
        self.make_ready()?;
        self.asked += 1;
        self.process.as_ref().ok_or_else(|| Fault::Runtime("there is no child process".to_owned()))
    }

    /// Runs one query and calls `each_row` with each row.
    pub(super) fn run(
        &mut self,
        text: &str,
        limits: RunLimits,
        each_row: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let mut has_rows = false;
        let began = Instant::now();
        let outcome = self.run_once(text, limits, &mut |row| {
            has_rows = true;
            each_row(row)
        });
        if has_rows || !self.is_worth_another_child(&outcome) {
            return outcome;
        }
        let time = limits.time.saturating_sub(began.elapsed());
        self.make_ready()?;
        self.run_once(text, RunLimits { time, ..limits }, each_row)
    }

    /// Returns whether a query may come to another outcome in a new child: something killed this one, or there was no memory in a child that
    /// had run others before. DuckDB does not return all of its memory, and outcomes must not depend on the queries before.
    fn is_worth_another_child<T>(&self, outcome: &Result<T, Fault>) -> bool {
        self.was_killed || self.asked > 1 && matches!(outcome, Err(Fault::Limit("memory")))
    }

    fn run_once(&mut self, text: &str, limits: RunLimits, each_row: &mut EachRow<'_>) -> Result<(), Fault> {
        self.was_killed = false;
        let request = Request::Query {
            text: text.to_owned(),
            time: limits.time.as_millis() as u64,
            rows: limits.rows as u64,
            output: limits.output as u64,
        };
        let process = self.process()?;
        let deadline = Instant::now() + limits.time + GRACE;
        let mut outcome = process.ask(&request).map_err(Silence::Socket);
        while outcome.is_ok() {
            outcome = match process.response(deadline) {
                Ok(Response::Rows { columns, cells }) => match wire::rows(columns, &cells, each_row) {
                    Some(outcome) => outcome.map_err(Silence::Stopped),
                    None => Err(unexpected()),
                },
                Ok(Response::End) => return Ok(()),
                Ok(Response::Failed(failure)) => {
                    self.end_if_broken(&failure);
                    return Err(fault(failure));
                }
                Ok(_) => Err(unexpected()),
                Err(error) => Err(Silence::Socket(error)),
            };
        }
        outcome.map_err(|silence| self.end(silence))
    }

    /// Returns the names of the columns of a query, which does not run.
    pub(super) fn column_names(&mut self, text: &str, time: Duration) -> Result<Vec<String>, Fault> {
        let request = Request::Columns { text: text.to_owned() };
        self.ask_once(&request, time, |response| match response {
            Response::Names(names) => Some(names),
            _ => None,
        })
    }

    /// Returns the plan of a query in JSON. The query does not run.
    pub(super) fn plan(&mut self, text: &str, time: Duration) -> Result<String, Fault> {
        let request = Request::Plan { text: text.to_owned(), time: time.as_millis() as u64 };
        self.ask_once(&request, time, |response| match response {
            Response::Plan(plan) => Some(plan),
            _ => None,
        })
    }

    /// Asks for something that is one response, and once more if another child may have another.
    fn ask_once<T>(
        &mut self,
        request: &Request,
        time: Duration,
        expected: impl Fn(Response) -> Option<T>,
    ) -> Result<T, Fault> {
        let outcome = self.ask_this_child(request, time, &expected);
        match self.is_worth_another_child(&outcome) {
            true => self.ask_this_child(request, time, &expected),
            false => outcome,
        }
    }

    fn ask_this_child<T>(
        &mut self,
        request: &Request,
        time: Duration,
        expected: &impl Fn(Response) -> Option<T>,
    ) -> Result<T, Fault> {
        self.was_killed = false;
        let process = self.process()?;
        let deadline = Instant::now() + time + GRACE;
        let silence = match process.ask(request).and_then(|()| process.response(deadline)) {
            Ok(Response::Failed(failure)) => {
                self.end_if_broken(&failure);
                return Err(fault(failure));
            }
            Ok(response) => match expected(response) {
                Some(found) => return Ok(found),
                None => unexpected(),
            },
            Err(error) => Silence::Socket(error),
        };
        Err(self.end(silence))
    }

    /// Ends the child if no query will run in it any more: where memory ran out, or something failed that must not, DuckDB refuses
    /// all that comes after.
    fn end_if_broken(&mut self, failure: &Failure) {
        let is_broken = failure.kind == FailureKind::Memory
            || ["FATAL Error", "INTERNAL Error"].iter().any(|kind| failure.message.starts_with(kind));
        if is_broken {
            self.process = None;
        }
    }

    /// Ends the child, because what it would send next is not the answer to the next query. Returns the fault of this one.
    fn end(&mut self, silence: Silence) -> Fault {
        let process = self.process.take();
        let error = match silence {
            Silence::Stopped(fault) => return fault,
            Silence::Socket(error) => error,
        };
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Fault::Limit("time"),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                let (fault, was_killed) =
                    process.map_or((Fault::Limit("memory"), false), Process::cause_of_end);
                self.was_killed = was_killed;
                fault
            }
            _ => Fault::Runtime(format!("DuckDB's process: {error}")),
        }
    }
}

/// Why files cannot be loaded.
pub(super) enum LoadError {
    NoChild { source: io::Error },
    Failed(OpeningFailure),
}

/// Why a database cannot be opened, with the table that cannot be loaded.
type OpeningFailure = (Option<u64>, Failure);

/// Asks a child to open a database.
fn opened(process: &Process, opening: Opening, time: Duration) -> Result<(), OpeningFailure> {
    let failed = |message: String| (None, Failure { kind: FailureKind::Runtime, message });
    let response = process
        .ask(&Request::Open(opening))
        .and_then(|()| process.response(Instant::now() + time))
        .map_err(|error| failed(format!("opening it ended the process that reads it ({error})")))?;
    match response {
        Response::Ready => Ok(()),
        Response::Failed(failure) => Err((None, failure)),
        Response::NotLoaded { table, failure } => Err((Some(table), failure)),
        _ => Err(failed("DuckDB's process sent what was not asked for".to_owned())),
    }
}

/// Why no more of an answer is read.
enum Silence {
    /// A limit of this side, or an error of the child.
    Stopped(Fault),
    /// The child sends nothing, or what is no message.
    Socket(io::Error),
}

fn unexpected() -> Silence {
    Silence::Stopped(Fault::Runtime("DuckDB's process sent what was not asked for".to_owned()))
}

fn fault(failure: Failure) -> Fault {
    match failure.kind {
        FailureKind::Type => Fault::Type(failure.message),
        FailureKind::Runtime => Fault::Runtime(failure.message),
        FailureKind::Time => Fault::Limit("time"),
        FailureKind::Memory => Fault::Limit("memory"),
        FailureKind::Rows => Fault::Limit("rows"),
        FailureKind::Output => Fault::Limit("output"),
    }
}
