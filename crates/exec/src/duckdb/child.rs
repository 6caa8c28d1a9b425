//! The child process, in which DuckDB runs.
//!
//! DuckDB's own limits do not hold: a function on long texts ignores an interrupt for many seconds and takes gigabytes. So queries
//! run in a process of their own, which takes its limits before it opens anything, and which its parent ends.
//!
//! The child is this program, started again. Its standard input is a socket, by which it gets requests and sends responses. It
//! ends with its parent: a thread waits for the other end of the socket to be closed.

use super::cells::{Cells, Kind, ReadCell};
use super::engine::{Answer, Connection, Interrupter};
use super::timer::Timer;
use super::wire::{self, Failure, FailureKind, Loading, Opening, Request, Response, put_cell};
use crate::database::Cell;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use std::io::{self, BufWriter};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};
use xpr_lang::sql::DUCKDB_CATALOG;

/// The address space while a database is opened: that of the program and its libraries, and what a large catalogue takes.
const OPENING_MEMORY: u64 = 4 << 30;
/// The writable memory that a query gets in addition to its own, because DuckDB and the system's allocator take more than they use.
const RESERVED: u64 = 64 << 20;
/// The memory that DuckDB needs for any query, in addition to what the query may use.
const ENGINE_MEMORY: u64 = 24 << 20;

/// What DuckDB is told when it starts. Extensions could read other files and the network.
const SETTINGS: [(&str, &str); 10] = [
    ("threads", "1"),
    ("autoinstall_known_extensions", "false"),
    ("autoload_known_extensions", "false"),
    ("allow_community_extensions", "false"),
    ("allow_unsigned_extensions", "false"),
    ("allow_persistent_secrets", "false"),
    ("temp_directory", ""),
    ("max_temp_directory_size", "0B"),
    ("extension_directory", "/nonexistent"),
    ("home_directory", "/nonexistent"),
];

/// What makes DuckDB do what SQLite does, so that a query has the same answer.
const MEANING: &str = "
    SET default_null_order = 'sqlite';
    SET integer_division = true;
    SET ieee_floating_point_ops = false;
    SET old_implicit_casting = true;
    SET scalar_subquery_error_on_multiple_rows = false;";

/// Serves requests until the parent closes the socket.
pub(super) fn serve() {
    let Some(socket) = socket() else { return };
    limit();
    if !end_with_parent(&socket) {
        return;
    }
    // Errors end the child, and the parent sees that.
    let _ = answer(&socket);
}

fn socket() -> Option<UnixStream> {
    io::stdin().as_fd().try_clone_to_owned().ok().map(UnixStream::from)
}

/// Takes the limits that hold for the whole life of the process.
fn limit() {
    let never_more = |most| Rlimit { current: Some(most), maximum: Some(most) };
    // What cannot be limited on some system is limited by the parent.
    let _ = setrlimit(Resource::Core, never_more(0));
    let _ = setrlimit(Resource::As, Rlimit { current: Some(OPENING_MEMORY), maximum: None });
    let _ = setrlimit(Resource::Nofile, never_more(256));
}

/// Starts a thread that ends the process when the other end of the socket is closed. Returns whether that succeeded.
fn end_with_parent(socket: &UnixStream) -> bool {
    let Ok(socket) = socket.try_clone() else { return false };
    let wait = move || {
        loop {
            match poll(&mut [PollFd::new(&socket, PollFlags::empty())], None) {
                Err(Errno::INTR) => {}
                _ => _ = kill_process(getpid(), Signal::KILL),
            }
        }
    };
    thread::Builder::new().stack_size(64 << 10).spawn(wait).is_ok()
}

fn answer(socket: &UnixStream) -> io::Result<()> {
    let mut from = socket;
    let mut to = BufWriter::new(socket);
    let mut respond = |response: &Response| wire::send(&mut to, &response.to_bytes());
    let malformed = || io::Error::other("a request that is none");
    let Some(Request::Open(opening)) = Request::read(&wire::receive(&mut from)?) else {
        return Err(malformed());
    };
    let connection = match open(&opening) {
        Ok(connection) => connection,
        Err(response) => return respond(&response),
    };
    // SAFETY: the connection is closed by the end of the process.
    let timer = Timer::start(unsafe { Interrupter::new(&connection) })?;
    respond(&Response::Ready)?;
    loop {
        let outcome = match Request::read(&wire::receive(&mut from)?) {
            Some(Request::Query { text, time, rows, output }) => {
                let deadline = Instant::now() + Duration::from_millis(time);
                timer.set(Some(deadline));
                let outcome = RunningQuery { rows, output }.run(&connection, &text, &mut respond);
                timer.set(None);
                outcome
            }
            Some(Request::Columns { text }) => connection
                .prepare(&text)
                .map(|query| Response::Names(query.column_names()))
                .map_err(Stop::Failure),
            Some(Request::Plan { text, time }) => {
                timer.set(Some(Instant::now() + Duration::from_millis(time)));
                let plan = plan(&connection, &text).map(Response::Plan).map_err(Stop::Failure);
                timer.set(None);
                plan
            }
            _ => return Err(malformed()),
        };
        match outcome {
            Ok(last) => respond(&last)?,
            Err(Stop::Failure(failure)) => respond(&Response::Failed(failure))?,
            Err(Stop::Socket(error)) => return Err(error),
        }
    }
}

/// Opens a database, or makes one from files. Returns the response that says why not, if that fails.
fn open(opening: &Opening) -> Result<Connection, Response> {
    let connection = attached(opening).map_err(Response::Failed)?;
    for (table, loading) in (0..).zip(&opening.loading) {
        load(&connection, loading).map_err(|failure| Response::NotLoaded { table, failure })?;
    }
    if !opening.loading.is_empty() {
        connection.execute(&format!("DETACH {DUCKDB_CATALOG}")).map_err(Response::Failed)?;
    }
    Ok(connection)
}

/// Makes a table of a file. The types are those of the first rows, or of all rows if others have other types.
fn load(connection: &Connection, Loading { statement, otherwise }: &Loading) -> Result<(), Failure> {
    match connection.execute(statement) {
        Err(failure) if failure.kind == FailureKind::Type && !otherwise.is_empty() => {
            // The first message says which value it is.
            connection.execute(otherwise).map_err(|_| failure)
        }
        outcome => outcome,
    }
}

/// Opens a database, and closes access to all else.
fn attached(opening: &Opening) -> Result<Connection, Failure> {
    let memory = format!("{}B", opening.memory + ENGINE_MEMORY);
    let settings: Vec<(&str, &str)> =
        SETTINGS.iter().copied().chain([("memory_limit", memory.as_str())]).collect();
    let is_loader = !opening.loading.is_empty();
    if !is_loader {
        write_nothing();
    }
    let connection = Connection::open(&settings)?;
    // A library that was built without it has no time zones.
    let _ = connection.execute("SET TimeZone = 'UTC'");
    connection.execute(MEANING)?;
    let mode = if is_loader { "" } else { ", READ_ONLY" };
    connection.execute(&format!(
        "ATTACH {} AS {DUCKDB_CATALOG} (TYPE duckdb{mode})",
        text_literal(&opening.path)
    ))?;
    let readable: Vec<String> = opening.readable.iter().map(|path| text_literal(path)).collect();
    if !readable.is_empty() {
        connection.execute(&format!("SET allowed_paths = [{}]", readable.join(", ")))?;
    }
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")?;
    if !is_loader {
        warm_up(&connection)?;
        limit_memory(opening.memory + RESERVED);
    }
    Ok(connection)
}

/// Forbids to write a byte to any file.
fn write_nothing() {
    let _ = setrlimit(Resource::Fsize, Rlimit { current: Some(0), maximum: Some(0) });
}

/// Runs a first query, so that what every query needs is there before memory is limited.
fn warm_up(connection: &Connection) -> Result<(), Failure> {
    let query =
        connection.prepare("SELECT table_name, count(*) FROM duckdb_tables() GROUP BY 1 ORDER BY 1")?;
    let mut answer = query.run()?;
    while answer.next_chunk()?.is_some() {}
    Ok(())
}

/// Limits the writable memory to what the process has now and so many bytes more.
fn limit_memory(more: u64) {
    #[cfg(target_os = "linux")]
    {
        /// Where the file says how many pages are writable.
        const WRITABLE: usize = 5;
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split(' ').nth(WRITABLE)?.parse::<u64>().ok());
        let Some(pages) = pages else { return };
        let most = Some(pages * rustix::param::page_size() as u64 + more);
        let _ = setrlimit(Resource::Data, Rlimit { current: most, maximum: most });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = more;
}

pub(super) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Why a query has no answer.
enum Stop {
    Failure(Failure),
    Socket(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failure(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Socket(error)
    }
}

/// Returns the plan of a query, in JSON.
fn plan(connection: &Connection, text: &str) -> Result<String, Failure> {
    let query = connection.prepare_plan(text)?;
    let mut answer = query.run()?;
    let kinds: Vec<Kind> = answer.column_types().iter().map(Kind::of).collect();
    let mut plan = String::new();
    while let Some(chunk) = answer.next_chunk()? {
        // The first column is the name of the plan.
        if let (Some(kind), true) = (kinds.get(1), chunk.rows() > 0) {
            // SAFETY: the chunk outlives the cells, the kind is that of the column, and there is a row.
            let cell = unsafe { Cells::new(chunk.vector(1), kind).read(0) };
            if let Some(Cell::Text(text)) = cell.as_ref().map(ReadCell::cell) {
                plan = String::from_utf8_lossy(text).into_owned();
            }
        }
    }
    Ok(plan)
}

fn over(kind: FailureKind) -> Stop {
    Stop::Failure(Failure { kind, message: String::new() })
}

/// The limits of a query while it runs.
struct RunningQuery {
    rows: u64,
    output: u64,
}

impl RunningQuery {
    /// Runs a query and sends its rows. Returns the last response.
    fn run(
        &self,
        connection: &Connection,
        text: &str,
        respond: &mut dyn FnMut(&Response) -> io::Result<()>,
    ) -> Result<Response, Stop> {
        let query = connection.prepare(text)?;
        let mut answer = query.run()?;
        let kinds: Vec<Kind> = answer.column_types().iter().map(Kind::of).collect();
        self.send(&mut answer, &kinds, respond).map_err(|stop| match stop {
            Stopped::Unprintable(column) => {
                let names = query.column_names();
                let name = names.get(column).map_or("", String::as_str);
                let message = format!("the values of {name} cannot be printed; write CAST(… AS VARCHAR)");
                Stop::Failure(Failure { kind: FailureKind::Runtime, message })
            }
            Stopped::Other(stop) => stop,
        })?;
        Ok(Response::End)
    }

    fn send(
        &self,
        answer: &mut Answer<'_>,
        kinds: &[Kind],
        respond: &mut dyn FnMut(&Response) -> io::Result<()>,
    ) -> Result<(), Stopped> {
        let columns = kinds.len() as u32;
        let (mut rows, mut output) = (0, 0);
        let mut cells = Vec::new();
        while let Some(chunk) = answer.next_chunk()? {
            // SAFETY: the chunk outlives the cells, and the kinds are those of its columns.
            let vectors: Vec<Cells<'_>> = (0..kinds.len())
                .map(|column| unsafe { Cells::new(chunk.vector(column), &kinds[column]) })
                .collect();
            for row in 0..chunk.rows() {
                rows += 1;
                if rows > self.rows {
                    return Err(over(FailureKind::Rows).into());
                }
                let before = cells.len();
                for (column, vector) in vectors.iter().enumerate() {
                    // SAFETY: the chunk has so many rows.
                    let cell = unsafe { vector.read(row) }.ok_or(Stopped::Unprintable(column))?;
                    put_cell(&mut cells, cell.cell());
                    if output + (cells.len() - before) as u64 > self.output {
                        return Err(over(FailureKind::Output).into());
                    }
                }
                output += (cells.len() - before) as u64;
                if cells.len() >= wire::BATCH {
                    respond(&Response::Rows { columns, cells: std::mem::take(&mut cells) })?;
                }
            }
        }
        if !cells.is_empty() {
            respond(&Response::Rows { columns, cells })?;
        }
        Ok(())
    }
}

/// Why the rows of an answer are not sent.
enum Stopped {
    /// A value of this column cannot be printed.
    Unprintable(usize),
    Other(Stop),
}

impl<E: Into<Stop>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Stopped::Other(error.into())
    }
}
