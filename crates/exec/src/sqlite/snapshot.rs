//! The state of a database that all connections read.
//!
//! A command opens a database several times: for the schema, for the values, and for the queries of each thread. If
//! another program wrote in between, their results would not fit together. So a database of ordinary size is copied into
//! memory when it is opened, within one transaction, and all connections share the copy. How it is read depends on what
//! is beside it:
//!
//! | beside the file | how it is read |
//! |---|---|
//! | no write-ahead log | with SQLite's locks |
//! | no log, but its header says it uses one | without locks |
//! | a log | from a private copy of both files, because SQLite would create an index for the log |
//! | a log that changes, and its index `-shm` | with SQLite's locks in the index, which is not written to |
//!
//! A log without content counts as none, as for SQLite, and what is beside a file is beside the one that a link points to.
//!
//! What is read without locks counts only if the files did not change meanwhile. Otherwise it is read again. If there is a
//! journal, or a log that the header does not speak of, another program may be changing the file itself, or was killed
//! while it did. SQLite is asked about that first.
//!
//! A larger database that uses a log is copied into a temporary file. Any other larger database is read in place, because
//! a copy would take longer than many commands. SQLite's locks make each of its queries consistent, and the counter of
//! changes in its header tells whether another program wrote between two queries. That is an error then.

use super::database::{LOCK_TIMEOUT, OPENING};
use super::files::READ_ONLY;
use super::guard::Meter;
use crate::database::DatabaseError;
use crate::database::PrivateFolder;
use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, ffi};
use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// The first bytes of every database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The positions of the journal mode in the header: for writers and for readers.
const MODES: std::ops::RangeInclusive<usize> = 18..=19;
/// The journal mode of databases with a write-ahead log.
const WRITE_AHEAD: u8 = 2;
/// The journal mode of other databases.
const ROLLBACK: u8 = 1;
/// The bytes of the header that change with every transaction of a database without a log.
const CHANGE_COUNTER: std::ops::Range<usize> = 24..28;
/// The maximum bytes of a copy in memory. Copying them takes some hundredths of a second.
const LARGEST_IN_MEMORY: u64 = 64 << 20;
/// How often to try again while other programs change the files, and how long to wait before that.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);
/// How many times larger a copy may be than what its files store. A file system stores large blocks: a log that says
/// something every 64 KiB takes a sixteenth of its length.
const EXPANSION: u64 = 16;
/// The age from which a file's time of change distinguishes it from a later change. Clocks of file systems tick every few
/// milliseconds.
const DISTINCT_AGE: Duration = Duration::from_millis(40);
/// The state of a database that all connections read.
pub(super) enum Snapshot {
    /// A copy in memory.
    Memory(Box<[u8]>),
    /// A copy in a private folder, which is deleted with this.
    Copy(PrivateFolder),
    /// The file itself, which is not supposed to change.
    InPlace(Watched),
}

/// How a [`SqliteDatabase`](super::SqliteDatabase) is read, so that all queries of a command see one state of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotKind {
    /// From a copy in memory, made when it was opened.
    Memory,
    /// From a copy in a temporary file, made when it was opened.
    TemporaryFile,
    /// In place. That another program changes it is an error.
    InPlace,
}

impl fmt::Display for SnapshotKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SnapshotKind::Memory => {
                "from a copy in memory, made when it was opened; later changes are not seen"
            }
            SnapshotKind::TemporaryFile => {
                "from a copy in a temporary file, made when it was opened, because it is large and uses a write-ahead \
                 log; later changes are not seen"
            }
            SnapshotKind::InPlace => "in place, because it is large; if another program changes it, this fails",
        })
    }
}

/// A file that is read in place.
pub(super) struct Watched {
    path: PathBuf,
    /// Stays open, because closing any handle of a file drops the locks that SQLite holds on it.
    file: Mutex<File>,
    /// What the file was when it was opened.
    state: FileState,
    change_counter: [u8; 4],
    changed: AtomicBool,
}

impl Snapshot {
    /// Takes a snapshot of a database.
    ///
    /// # Errors
    /// If the file is not a database, cannot be read, or is written to all the time.
    pub(super) fn take(path: &Path) -> Result<Snapshot, DatabaseError> {
        let mut attempts = 0;
        loop {
            match take_once(path, attempts) {
                Ok(snapshot) => return Ok(snapshot),
                Err(Failure::Passing(_)) if attempts < ATTEMPTS => attempts += 1,
                Err(Failure::Passing(error) | Failure::Lasting(error)) => return Err(error),
            }
            sleep(PAUSE);
        }
    }

    pub(super) fn kind(&self) -> SnapshotKind {
        match self {
            Snapshot::Memory(_) => SnapshotKind::Memory,
            Snapshot::Copy(_) => SnapshotKind::TemporaryFile,
            Snapshot::InPlace(_) => SnapshotKind::InPlace,
        }
    }

    /// Returns a connection on which no statement was run yet.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        match self {
            Snapshot::Memory(content) => {
                let connection = Connection::open_in_memory_with_flags_and_vfs(
                    OpenFlags::SQLITE_OPEN_READ_WRITE
                        | OpenFlags::SQLITE_OPEN_NO_MUTEX
                        | OpenFlags::SQLITE_OPEN_EXRESCODE,
                    READ_ONLY,
                )?;
                let size = content.len() as i64;
                // SAFETY: every connection is in a `ReadConnection`, which keeps the content. A read-only database is not
                // written to.
                let code = unsafe {
                    ffi::sqlite3_deserialize(
                        connection.handle(),
                        c"main".as_ptr(),
                        content.as_ptr().cast_mut(),
                        size,
                        size,
                        ffi::SQLITE_DESERIALIZE_READONLY,
                    )
                };
                match code {
                    ffi::SQLITE_OK => Ok(connection),
                    code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
                }
            }
            Snapshot::Copy(folder) => open(&uri(&folder.copy(), "immutable=1")),
            Snapshot::InPlace(watched) => open(&uri(&watched.path, "readonly_shm=1")),
        }
    }

    /// Returns an error if another program changed a database that is read in place.
    pub(super) fn check_unchanged(&self) -> Result<(), DatabaseError> {
        match self {
            Snapshot::InPlace(watched) if watched.has_changed() => {
                Err(DatabaseError::Changed { path: watched.path.clone() })
            }
            _ => Ok(()),
        }
    }
}

impl Watched {
    fn has_changed(&self) -> bool {
        let is_same = || -> io::Result<bool> {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(CHANGE_COUNTER.start as u64))?;
            let mut counter = [0; 4];
            file.read_exact(&mut counter)?;
            // A file that is overwritten by another one can have the same counter.
            Ok(counter == self.change_counter && FileState::of(&fs::metadata(&self.path)?) == self.state)
        };
        // Once changed, it stays so, also if somebody restores the file.
        if !self.changed.load(Relaxed) && !is_same().unwrap_or(false) {
            self.changed.store(true, Relaxed);
        }
        self.changed.load(Relaxed)
    }
}

/// The reason why there is no snapshot.
enum Failure {
    /// It will fail again.
    Lasting(DatabaseError),
    /// Another program changed the files meanwhile, so it may succeed the next time.
    Passing(DatabaseError),
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Failure {
        Failure::Lasting(error)
    }
}

/// Tries to take a snapshot. Only the first attempt assumes that nobody is writing to a log.
fn take_once(path: &Path, attempt: u32) -> Result<Snapshot, Failure> {
    let (file, header) = open_file(path)?;
    check_sidecars(path)?;
    let before = Files::look(path)?;
    let is_of_log_mode = header[*MODES.end()] == WRITE_AHEAD;
    let uses_log = is_of_log_mode || before.log.is_some();
    let size = before.database.len + before.log.as_ref().map_or(0, |log| log.len);
    if !uses_log && size > LARGEST_IN_MEMORY {
        before.settle();
        return Ok(Snapshot::InPlace(Watched {
            path: path.to_owned(),
            file: Mutex::new(file),
            state: before.database,
            change_counter: change_counter(&header),
            changed: AtomicBool::new(false),
        }));
    }
    let has_index = before.log.is_some() && before.index.is_some();
    let locks = !uses_log || (has_index && attempt > 0);
    let stored = stored_bytes(&file) + File::open(sidecar(path, LOG)).map_or(0, |log| stored_bytes(&log));
    let most = LARGEST_IN_MEMORY.saturating_add(stored.saturating_mul(EXPANSION));
    let copied = if before.database.len > most {
        Err(CopyError::Hollow(before.database.len))
    } else if locks {
        copy(path, &uri(path, "readonly_shm=1"), size, most)
    } else {
        before.settle();
        let checked = match is_of_log_mode && before.journal.is_none() {
            true => Ok(()),
            false => check_finished(path),
        };
        let copied = checked.and_then(|()| match before.log {
            Some(_) => {
                let folder = private_copy(path).map_err(CopyError::File)?;
                copy(path, &plain_uri(&folder.copy()), size, most)
            }
            None => copy(path, &uri(path, "immutable=1"), size, most),
        });
        if Files::look(path)? != before {
            return Err(Failure::Passing(DatabaseError::Busy { path: path.to_owned() }));
        }
        copied
    };
    copied.map_err(|error| {
        let is_passing = match &error {
            // The log or its index may be gone, or just being made, or another database may have taken the place of this one.
            CopyError::Engine(engine) => {
                is_about_log(engine) || Files::look(path).is_ok_and(|now| now != before)
            }
            _ => false,
        };
        match is_passing {
            true => Failure::Passing(error.explain(path)),
            false => Failure::Lasting(error.explain(path)),
        }
    })
}

/// Returns whether an error may come from a log that is created or deleted at this moment.
fn is_about_log(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, ReadOnly};
    error.sqlite_error_code().is_some_and(|code| matches!(code, CannotOpen | DatabaseBusy | ReadOnly))
}

/// Returns an error if a change of the file itself is unfinished: another program holds a lock, or was killed and left a journal.
fn check_finished(path: &Path) -> Result<(), CopyError> {
    let read = || -> rusqlite::Result<()> {
        let connection = open(&uri(path, "readonly_shm=1"))?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        // Begins to read, and does not read the schema.
        connection.pragma_query_value(None, "schema_version", |_| Ok(()))
    };
    let is_unfinished = |error: &ffi::Error| {
        error.code == ErrorCode::DatabaseBusy || error.extended_code == ffi::SQLITE_READONLY_ROLLBACK
    };
    match read() {
        Err(error) if error.sqlite_error().is_some_and(is_unfinished) => Err(error.into()),
        // Other errors are about the log, which SQLite looks at later, or come again when the copy is made.
        _ => Ok(()),
    }
}

/// The reason why a database cannot be copied.
enum CopyError {
    Engine(rusqlite::Error),
    /// The temporary file cannot be made.
    File(io::Error),
    /// Reading the schema takes too long.
    Endless,
    /// The copy would have this many bytes, and little of that is stored.
    Hollow(u64),
}

impl From<rusqlite::Error> for CopyError {
    fn from(error: rusqlite::Error) -> CopyError {
        CopyError::Engine(error)
    }
}

impl CopyError {
    fn explain(self, path: &Path) -> DatabaseError {
        match self {
            CopyError::Engine(error) => explain(path, &error),
            CopyError::Endless => DatabaseError::Endless { path: path.to_owned(), limit: OPENING.time },
            CopyError::Hollow(bytes) => DatabaseError::Corrupt {
                path: path.to_owned(),
                message: format!("its length is said to be {} MB, and little of that is there", bytes >> 20),
            },
            CopyError::File(source) => {
                DatabaseError::NoCopy { path: path.to_owned(), folder: std::env::temp_dir(), source }
            }
        }
    }
}

/// Copies a database, which SQLite opens with an address, in one transaction. `path` is where users see it. The copy of one
/// whose files have `size` bytes has at most `most`.
fn copy(path: &Path, address: &str, size: u64, most: u64) -> Result<Snapshot, CopyError> {
    let mut connection = open(address)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    let meter = Meter::of(&connection, path);
    {
        let _metered = meter.start(OPENING);
        // The first statement begins the transaction in which all pages are read.
        connection.execute_batch("BEGIN")?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    if meter.is_out_of_time() {
        return Err(CopyError::Endless);
    }
    if size <= LARGEST_IN_MEMORY {
        let mut content: Box<[u8]> = connection.serialize(MAIN_DB)?.as_ref().into();
        // The copy has no log. A header that speaks of one would make SQLite look for it.
        if let Some(modes) = content.get_mut(MODES) {
            modes.fill(ROLLBACK);
        }
        return Ok(Snapshot::Memory(content));
    }
    // A log can speak of more pages than there are.
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let bytes = number("page_count")?.saturating_mul(number("page_size")?).unsigned_abs();
    if bytes > most {
        return Err(CopyError::Hollow(bytes));
    }
    let folder = PrivateFolder::new().map_err(CopyError::File)?;
    let mut target = Connection::open(folder.copy())?;
    target.pragma_update(None, "synchronous", false)?;
    // Copying all pages at once either succeeds or fails.
    Backup::new(&connection, &mut target)?.step(-1)?;
    target.close().map_err(|(_, error)| error)?;
    Ok(Snapshot::Copy(folder))
}

/// Copies a database and its log into a private folder.
fn private_copy(path: &Path) -> io::Result<PrivateFolder> {
    let folder = PrivateFolder::new()?;
    let copy = folder.copy();
    fs::copy(path, &copy)?;
    let mut log = File::open(sidecar(path, LOG))?;
    let used = used_length(&mut log)?;
    log.rewind()?;
    io::copy(&mut log.take(used), &mut File::create(sidecar(&copy, LOG))?)?;
    Ok(folder)
}

/// Returns how many bytes of a write-ahead log SQLite may read. When a log begins anew, SQLite overwrites it from its start and does not
/// make it shorter. The frames of the earlier log, which may be gigabytes, have another salt than the header. A frame of
/// page 0 ends a log too, whatever its salt.
fn used_length(log: &mut File) -> io::Result<u64> {
    const HEADER: usize = 32;
    const FRAME_HEADER: u64 = 24;
    let mut header = [0; HEADER];
    match log.read_exact(&mut header) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
        read => read?,
    }
    let page = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
    // The magic number, whose last bit says how checksums are computed. SQLite ignores a log with another one, and so is a page of
    // another size.
    let is_log = header.starts_with(&[0x37, 0x7f, 0x06]) && matches!(header[3], 0x82 | 0x83);
    if !is_log || !page.is_power_of_two() || !(512..=65536).contains(&page) {
        return Ok(0);
    }
    let salt = &header[16..24];
    let mut used = HEADER as u64;
    let mut frame_start = [0; 16];
    loop {
        log.seek(SeekFrom::Start(used))?;
        match log.read_exact(&mut frame_start) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(used),
            read => read?,
        }
        if frame_start[8..] != *salt || frame_start[..4] == [0; 4] {
            return Ok(used);
        }
        used += FRAME_HEADER + u64::from(page);
    }
}

/// The ending of the name of a write-ahead log.
const LOG: &str = "-wal";
/// The ending of the name of the index of a log.
const INDEX: &str = "-shm";
/// The ending of the name of a journal.
const JOURNAL: &str = "-journal";

/// Checks that the files beside a database, as far as they exist, are regular ones, because SQLite would wait for a pipe, and
/// may be read.
fn check_sidecars(path: &Path) -> Result<(), DatabaseError> {
    for ending in [LOG, INDEX, JOURNAL] {
        let path = sidecar(path, ending);
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(DatabaseError::NotASidecar { path });
        }
        // An index is not opened: to close it would drop the locks that SQLite holds on it. A log can be read without.
        let is_refused = |error: io::Error| error.kind() == ErrorKind::PermissionDenied;
        if ending != INDEX && File::open(&path).is_err_and(is_refused) {
            return Err(DatabaseError::Permission { path });
        }
    }
    Ok(())
}

/// Returns how many bytes of a file are stored. The holes of a sparse file take no space until they are copied.
fn stored_bytes(file: &File) -> u64 {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{SeekFrom, seek};
        let (mut position, mut stored) = (0, 0);
        loop {
            match seek(file, SeekFrom::Data(position)) {
                Ok(start) => {
                    let Ok(end) = seek(file, SeekFrom::Hole(start)) else { break };
                    stored += end.saturating_sub(start);
                    position = end;
                }
                // There is only a hole behind.
                Err(rustix::io::Errno::NXIO) => return stored,
                // The file system does not say where holes are.
                Err(_) => break,
            }
        }
    }
    file.metadata().map_or(0, |metadata| metadata.len())
}

/// What can be seen of a database from outside. Two looks are equal if nobody wrote in between.
#[derive(PartialEq, Eq)]
struct Files {
    database: FileState,
    // Those beside it have no state if they have no content.
    log: Option<FileState>,
    index: Option<FileState>,
    journal: Option<FileState>,
}

#[derive(PartialEq, Eq)]
struct FileState {
    identity: (u64, u64),
    len: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    fn of(metadata: &Metadata) -> FileState {
        FileState { identity: identity(metadata), len: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Files {
    fn look(path: &Path) -> Result<Files, DatabaseError> {
        let beside = |ending: &str| {
            let state = FileState::of(&fs::metadata(sidecar(path, ending)).ok()?);
            (state.len > 0).then_some(state)
        };
        let database =
            fs::metadata(path).map_err(|source| DatabaseError::Io { path: path.to_owned(), source })?;
        Ok(Files {
            database: FileState::of(&database),
            log: beside(LOG),
            index: beside(INDEX),
            journal: beside(JOURNAL),
        })
    }

    /// Waits until the times of change are so long ago that a later change has another time.
    fn settle(&self) {
        let files = [Some(&self.database), self.log.as_ref(), self.journal.as_ref()];
        let is_settled = files.into_iter().flatten().all(|file| {
            let age = file.modified.and_then(|modified| modified.elapsed().ok());
            age.is_none_or(|age| age > DISTINCT_AGE)
        });
        if !is_settled {
            sleep(DISTINCT_AGE);
        }
    }
}

/// Returns numbers that distinguish a file from others, also from one that replaces it under its name.
fn identity(metadata: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    return (std::os::unix::fs::MetadataExt::dev(metadata), std::os::unix::fs::MetadataExt::ino(metadata));
    #[cfg(not(unix))]
    return (
        0,
        metadata.created().map_or(0, |created| {
            created.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_nanos() as u64)
        }),
    );
}

/// Returns the path of a file beside the database, whose name is the database's with an ending. Of a database that is named by
/// a link, SQLite looks for it beside the file that the link points to.
fn sidecar(path: &Path, ending: &str) -> PathBuf {
    let target = if path.is_symlink() { fs::canonicalize(path).ok() } else { None };
    let mut sidecar: OsString = target.unwrap_or_else(|| path.to_owned()).into();
    sidecar.push(ending);
    sidecar.into()
}

fn change_counter(header: &[u8; 100]) -> [u8; 4] {
    let mut counter = [0; 4];
    counter.copy_from_slice(&header[CHANGE_COUNTER]);
    counter
}

/// Opens the file of a database and reads its header.
fn open_file(path: &Path) -> Result<(File, [u8; 100]), DatabaseError> {
    let path_buf = || path.to_owned();
    let refused = |source: io::Error| match source.kind() {
        ErrorKind::NotFound => DatabaseError::Missing { path: path_buf() },
        ErrorKind::PermissionDenied => DatabaseError::Permission { path: path_buf() },
        _ => DatabaseError::Io { path: path_buf(), source },
    };
    // Checked before opening the file, which would block on a pipe.
    let metadata = fs::metadata(path).map_err(refused)?;
    if metadata.is_dir() {
        return Err(DatabaseError::Directory { path: path_buf() });
    }
    if !metadata.is_file() {
        return Err(DatabaseError::NotAFile { path: path_buf() });
    }
    if metadata.len() == 0 {
        return Err(DatabaseError::NoTables { path: path_buf() });
    }
    let mut header = [0; 100];
    let mut file = File::open(path).map_err(refused)?;
    match file.read_exact(&mut header) {
        Ok(()) if header.starts_with(MAGIC) => Ok((file, header)),
        Ok(()) => Err(DatabaseError::NotADatabase { path: path_buf() }),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(DatabaseError::NotADatabase { path: path_buf() })
        }
        Err(error) => Err(refused(error)),
    }
}

/// Opens a database for reading at an address.
fn open(address: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    Connection::open_with_flags(address, flags)
}

/// Returns the address of a file that is opened with [`READ_ONLY`] and a parameter.
fn uri(path: &Path, parameter: &str) -> String {
    format!("{}&vfs={READ_ONLY}&{parameter}", plain_uri(path))
}

/// Returns the `file:` URI with which SQLite opens a file for reading. All bytes that could have a meaning in a URI are
/// escaped.
fn plain_uri(path: &Path) -> String {
    // An absolute path needs an empty host before it, or its first folder could be taken for the host.
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?mode=ro");
    uri
}

/// Translates an error of SQLite to one that tells users what to do.
pub(super) fn explain(path: &Path, error: &rusqlite::Error) -> DatabaseError {
    let path = path.to_owned();
    let message = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => DatabaseError::NotADatabase { path },
        Some(ErrorCode::DatabaseCorrupt) => DatabaseError::Corrupt { path, message },
        Some(ErrorCode::PermissionDenied) => DatabaseError::Permission { path },
        Some(ErrorCode::OperationInterrupted) => DatabaseError::Endless { path, limit: OPENING.time },
        Some(ErrorCode::OutOfMemory) => DatabaseError::TooLarge { path, megabytes: OPENING.memory >> 20 },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseError::Busy { path },
        // A program that crashed left a journal. To roll it back would be a write.
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => {
            let sidecar = sidecar(&path, JOURNAL);
            if sidecar.exists() {
                DatabaseError::Unfinished { path, sidecar }
            } else {
                DatabaseError::Engine { path, message }
            }
        }
        _ => DatabaseError::Engine { path, message },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_become_part_of_the_address() {
        assert_eq!(plain_uri(Path::new("a b?mode=rwc#%.db")), "file:a%20b%3Fmode%3Drwc%23%25.db?mode=ro");
        assert_eq!(
            uri(Path::new("//host/x"), "immutable=1"),
            "file:////host/x?mode=ro&vfs=xpr-read-only&immutable=1"
        );
    }
    /// Issue 18: a log that SQLite had begun anew, or of zeros, was copied in its whole length.
    #[test]
    fn of_a_log_only_what_sqlite_reads_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("database");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (1);")
            .unwrap();
        let log = fs::read(sidecar(&path, LOG)).unwrap();
        let length = log.len() as u64;
        let used = |content: &[u8], length: u64| {
            let path = folder.path().join("log");
            fs::write(&path, content).unwrap();
            // What is added takes no space on the disk.
            File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
            used_length(&mut File::open(path).unwrap()).unwrap()
        };
        assert_eq!(used(&log, length), length);
        assert_eq!(used(&log, 1 << 36), length);
        // A frame of an earlier log is left over.
        let mut begun_anew = log.clone();
        begun_anew.extend_from_slice(&log[32..]);
        begun_anew[log.len() + 8] ^= 1;
        assert_eq!(used(&begun_anew, 1 << 36), length);
        assert!(used(&log[..log.len() - 1], length - 1) >= length - 1);
        assert_eq!([used(&[], 1 << 36), used(&[7; 100], 100), used(&log[..31], 31)], [0, 0, 0]);
        // A log whose salt is 0 does not go on in what was never written.
        let mut without_salt = log[..32].to_vec();
        without_salt[16..24].fill(0);
        assert_eq!(used(&without_salt, 1 << 40), 32);
    }
}
