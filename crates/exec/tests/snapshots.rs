//! Databases that other programs write to: every command sees one state of them, and leaves no trace (issue 18).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

mod support;

use rusqlite::Connection;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use support::TestDatabase;
use xpr_exec::database::{DatabaseError, QueryLimits};
use xpr_exec::sqlite::{SnapshotKind, SqliteDatabase, SqliteRunner};
use xpr_exec::{Executor, Outcome};

/// Names the database for the process of [`writer`].
const WRITER: &str = "XPR_TEST_WRITER";
/// The number of accounts, which fill some hundred pages, and the sum of their amounts.
const ACCOUNTS: u64 = 2000;
const SUM: u64 = 100 * ACCOUNTS;

fn accounts(mode: &'static str) -> TestDatabase {
    TestDatabase::with(|connection| {
        connection.pragma_update(None, "journal_mode", mode).unwrap();
        connection
            .execute_batch(&format!(
                "CREATE TABLE account (id INTEGER PRIMARY KEY, amount INT, note TEXT);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ACCOUNTS})
                 INSERT INTO account SELECT i, 100, hex(zeroblob(100)) FROM n;"
            ))
            .unwrap();
    })
}

/// The other program: moves amounts between accounts until it is killed. As a test of its own it does nothing.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection.pragma_update(None, "synchronous", false).unwrap();
    // Pages move from the log into the file often.
    connection.pragma_update(None, "wal_autocheckpoint", 20).unwrap();
    for turn in 0u64.. {
        let (from, to) = (1 + turn * 7 % ACCOUNTS, 1 + (turn * 7 + ACCOUNTS / 2) % ACCOUNTS);
        // A reader may hold the database for a moment.
        let _ = connection.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             UPDATE account SET amount = amount - 1 WHERE id = {from};
             UPDATE account SET amount = amount + 1 WHERE id = {to};
             COMMIT;"
        ));
        if turn == 0 {
            println!("writing");
        }
    }
}

/// A process of [`writer`], killed when it is dropped.
struct Writer(Child);

impl Writer {
    fn start(path: &Path) -> Writer {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writer", "--nocapture"])
            .env(WRITER, path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut seen = String::new();
        let mut output = child.stdout.take().unwrap();
        while !seen.contains("writing") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            seen.push(char::from(byte[0]));
        }
        Writer(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the path of a file beside a database.
fn beside(database: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", database.display()))
}

fn runner(database: &SqliteDatabase) -> SqliteRunner {
    SqliteRunner::new(database, database.schema().unwrap(), QueryLimits::interactive()).unwrap()
}

#[test]
fn all_queries_of_a_command_see_one_state_beside_a_writer() {
    for mode in ["wal", "delete"] {
        let test = accounts(mode);
        let writer = Writer::start(&test.path());
        for _ in 0..20 {
            let database = match SqliteDatabase::open(test.path()) {
                Ok(database) => database,
                // A writer that never pauses may keep a reader of a database without a log away.
                Err(DatabaseError::Busy { .. }) if mode == "delete" => continue,
                Err(error) => panic!("{mode}: {error}"),
            };
            assert_eq!(database.snapshot_kind(), SnapshotKind::Memory);
            let each = "SELECT amount FROM account ORDER BY id";
            let first = runner(&database).execute(each);
            assert_eq!(runner(&database).execute(each), first, "{mode}");
            let sum = runner(&database).execute("SELECT sum(amount) FROM account");
            assert_eq!(sum, Outcome::Value(format!("(bag ({SUM}))")), "{mode}");
        }
        drop(writer);
        let mut names = names(test.folder());
        names.retain(|name| !name.ends_with("-journal"));
        let expected: &[&str] =
            if mode == "wal" { &["test.db", "test.db-shm", "test.db-wal"] } else { &["test.db"] };
        assert_eq!(names, expected, "{mode}");
    }
}

#[test]
fn a_database_that_is_replaced_or_changed_stays_the_same_for_a_command() {
    let test = accounts("delete");
    let database = test.open();
    let count = "SELECT count(*) FROM account";
    let expected = Outcome::Value(format!("(bag ({ACCOUNTS}))"));
    let mut early = runner(&database);
    let other = TestDatabase::new("CREATE TABLE account (id INTEGER PRIMARY KEY, amount INT, note TEXT)");
    std::fs::rename(other.path(), test.path()).unwrap();
    assert_eq!([early.execute(count), runner(&database).execute(count)], [expected.clone(), expected]);
    Connection::open(test.path()).unwrap().execute_batch("INSERT INTO account VALUES (1, 2, 'x')").unwrap();
    assert_eq!(runner(&test.open()).execute(count), Outcome::Value("(bag (1))".to_owned()));
}

/// Issue 18: between the look at a file and its opening, another one with another journal mode may take its place.
#[test]
fn a_database_that_is_replaced_all_the_time_is_opened() {
    let databases = [accounts("delete"), accounts("wal")];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("database");
    let replace = |by: &TestDatabase| {
        let next = folder.path().join("next");
        std::fs::hard_link(by.path(), &next).unwrap();
        std::fs::rename(&next, &path).unwrap();
        // Two names of one file are not renamed to each other.
        let _ = std::fs::remove_file(next);
    };
    replace(&databases[0]);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for database in databases.iter().cycle() {
                if is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                replace(database);
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
        });
        let failed = (0..300).find_map(|_| SqliteDatabase::open(&path).err());
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(failed.is_none(), "{failed:?}");
    });
}

#[test]
fn a_large_database_that_changes_is_an_error() {
    let test = TestDatabase::new(
        "CREATE TABLE filler (bytes BLOB);
         INSERT INTO filler VALUES (zeroblob(70000000));
         CREATE TABLE account (id INTEGER PRIMARY KEY);
         INSERT INTO account VALUES (1);",
    );
    let before = names(test.folder());
    let database = test.open();
    assert_eq!(database.snapshot_kind(), SnapshotKind::InPlace);
    let mut runner = runner(&database);
    let count = "SELECT count(*) FROM account";
    assert_eq!(runner.execute(count), Outcome::Value("(bag (1))".to_owned()));
    database.check_unchanged().unwrap();
    assert_eq!(names(test.folder()), before);
    Connection::open(test.path()).unwrap().execute_batch("INSERT INTO account VALUES (2)").unwrap();
    assert!(!runner.execute(count).executes());
    assert!(matches!(database.check_unchanged(), Err(DatabaseError::Changed { .. })));
    assert!(matches!(database.schema(), Err(DatabaseError::Changed { .. })));
}

/// Issue 18: a file that was overwritten by another one with the same counter of changes was taken for the same.
#[test]
fn a_large_database_that_is_overwritten_is_an_error() {
    let [test, other] = [1, 2].map(|amount| {
        TestDatabase::new(&format!(
            "CREATE TABLE filler (bytes BLOB);
             INSERT INTO filler VALUES (zeroblob(70000000));
             CREATE TABLE account (amount INT);
             INSERT INTO account VALUES ({amount});"
        ))
    });
    let counter = |test: &TestDatabase| {
        let mut header = [0; 28];
        File::open(test.path()).unwrap().read_exact(&mut header).unwrap();
        header[24..].to_vec()
    };
    assert_eq!(counter(&test), counter(&other));
    let database = test.open();
    assert_eq!(database.snapshot_kind(), SnapshotKind::InPlace);
    let mut runner = runner(&database);
    let sum = "SELECT sum(amount) FROM account";
    assert_eq!(runner.execute(sum), Outcome::Value("(bag (1))".to_owned()));
    std::fs::copy(other.path(), test.path()).unwrap();
    assert!(!runner.execute(sum).executes());
    assert!(matches!(database.check_unchanged(), Err(DatabaseError::Changed { .. })));
}

#[test]
fn a_large_database_with_a_log_is_copied() {
    let test = TestDatabase::with(|connection| {
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection
            .execute_batch("CREATE TABLE t (a BLOB); INSERT INTO t VALUES (zeroblob(70000000))")
            .unwrap();
    });
    let before = names(test.folder());
    assert_eq!(test.open().snapshot_kind(), SnapshotKind::TemporaryFile);
    let mut runner = test.runner(QueryLimits::default());
    assert_eq!(runner.execute("SELECT count(*) FROM t"), Outcome::Value("(bag (1))".to_owned()));
    assert_eq!(names(test.folder()), before);
}

/// A log can be beside a database in any state. None of them makes a file appear or a byte change.
#[test]
fn any_log_beside_a_database_is_read_or_refused_without_a_trace() {
    let with_log = accounts("wal");
    let other = accounts("wal");
    let kept = tempfile::tempdir().unwrap();
    for (from, to) in [(&with_log, "crashed"), (&other, "other")] {
        let connection = Connection::open(from.path()).unwrap();
        connection.execute_batch("DELETE FROM account WHERE id > 10").unwrap();
        // As after a crash: the log has what the file has not.
        for (ending, kept_ending) in [("", ""), ("-wal", "-wal"), ("-shm", "-shm")] {
            let path = format!("{}{ending}", from.path().display());
            std::fs::copy(path, kept.path().join(format!("{to}{kept_ending}"))).unwrap();
        }
    }
    let plain = accounts("delete");
    let read = |name: &str| std::fs::read(kept.path().join(name)).unwrap();
    let (log, index) = (read("crashed-wal"), read("crashed-shm"));
    let rollback = std::fs::read(plain.path()).unwrap();
    // Behind its frames are those of an earlier log, which have another salt.
    let mut begun_anew = log.clone();
    begun_anew.extend_from_slice(&read("other-wal")[32..]);
    let all = Some(ACCOUNTS);
    // The file, its log, the index of the log, and the number of rows; `None` where only the absence of harm is asked for.
    type Case = (&'static str, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>, Option<u64>);
    let cases: [Case; 12] = [
        ("a log of a crash", read("crashed"), Some(log.clone()), None, Some(10)),
        ("a log and an index of a crash", read("crashed"), Some(log.clone()), Some(index.clone()), Some(10)),
        ("a log that began anew", read("crashed"), Some(begun_anew), None, Some(10)),
        ("no log", read("crashed"), None, None, None),
        ("an index alone", read("crashed"), None, Some(index.clone()), None),
        ("an empty log", read("crashed"), Some(vec![]), None, None),
        ("half a log", read("crashed"), Some(log[..log.len() / 2].to_vec()), Some(index.clone()), None),
        ("garbage", read("crashed"), Some(vec![7; 5000]), Some(vec![9; 32768]), None),
        ("a stray empty log", rollback.clone(), Some(vec![]), None, all),
        ("a stray log of garbage", rollback.clone(), Some(vec![7; 5000]), None, all),
        ("a stray index", rollback.clone(), None, Some(index.clone()), all),
        ("a stray log of garbage and an index", rollback, Some(vec![7; 5000]), Some(index), all),
    ];
    for (what, file, log, index, rows) in cases {
        let test = TestDatabase::new("");
        std::fs::write(test.path(), file).unwrap();
        for (ending, content) in [("-wal", log), ("-shm", index)] {
            if let Some(content) = content {
                std::fs::write(format!("{}{ending}", test.path().display()), content).unwrap();
            }
        }
        let before = test.fingerprint();
        let outcome = SqliteDatabase::open(test.path()).map(|database| {
            let outcome = runner(&database).execute("SELECT count(*) FROM account");
            (outcome, database)
        });
        if let Some(rows) = rows {
            let (outcome, _) = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(outcome, Outcome::Value(format!("(bag ({rows}))")), "{what}");
        }
        assert_eq!(test.fingerprint(), before, "{what}");
    }
}

/// Issue 18: a stray log turned off locks and the look at the journal, so that sums of unfinished changes were answered.
#[test]
fn an_unfinished_change_is_not_read_whatever_log_is_beside_the_database() {
    let begin = |database: &TestDatabase, journal_mode: &str| {
        let connection = Connection::open(database.path()).unwrap();
        connection.pragma_update(None, "journal_mode", journal_mode).unwrap();
        // Changed pages do not fit in memory, and are written before the change is committed.
        connection
            .execute_batch("PRAGMA cache_size = 10; BEGIN; UPDATE account SET amount = amount * 7")
            .unwrap();
        connection
    };
    std::thread::scope(|scope| {
        for log in [vec![], vec![7; 5000]] {
            for journal_mode in ["delete", "memory"] {
                let log = log.clone();
                scope.spawn(move || {
                    let database = accounts("delete");
                    std::fs::write(beside(&database.path(), "-wal"), log).unwrap();
                    let _writer = begin(&database, journal_mode);
                    let error = SqliteDatabase::open(database.path()).err().unwrap();
                    assert!(matches!(error, DatabaseError::Busy { .. }), "{error}");
                });
            }
            scope.spawn(move || {
                let (database, killed) = (accounts("delete"), TestDatabase::new(""));
                let _writer = begin(&database, "delete");
                let [mut file, journal] =
                    ["", "-journal"].map(|ending| std::fs::read(beside(&database.path(), ending)).unwrap());
                std::fs::write(beside(&killed.path(), "-journal"), journal).unwrap();
                // It may have been killed while it began to use a log, too.
                for (log_mode, log) in [(1, Some(log)), (2, None)] {
                    file[18..20].fill(log_mode);
                    std::fs::write(killed.path(), &file).unwrap();
                    let path = beside(&killed.path(), "-wal");
                    match log {
                        Some(log) => std::fs::write(path, log).unwrap(),
                        None => std::fs::remove_file(path).unwrap(),
                    }
                    let before = killed.fingerprint();
                    let error = SqliteDatabase::open(killed.path()).err().unwrap();
                    assert!(matches!(error, DatabaseError::Unfinished { .. }), "{error}");
                    assert_eq!(killed.fingerprint(), before);
                }
            });
        }
    });
}

/// Issue 18: the log of a database that was named by a link was looked for beside the link.
#[cfg(unix)]
#[test]
fn the_log_of_a_linked_database_is_beside_the_file_that_the_link_points_to() {
    let database = accounts("wal");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.db");
    std::os::unix::fs::symlink(database.path(), &link).unwrap();
    let writer = Connection::open(database.path()).unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.execute_batch("CREATE TABLE new (a); DELETE FROM account WHERE id > 10").unwrap();
    let database = SqliteDatabase::open(&link).unwrap();
    assert_eq!(database.schema().unwrap().tables.len(), 2);
    let count = runner(&database).execute("SELECT count(*) FROM account");
    assert_eq!(count, Outcome::Value("(bag (10))".to_owned()));
}

/// Issue 18: files with holes, and logs that speak of pages which are not there, filled the disk with zeros.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn what_is_not_stored_is_not_copied() {
    let lengthen = |path: &Path, length: u64| {
        File::options().write(true).open(path).unwrap().set_len(length).unwrap();
    };
    let is_hollow = |database: &TestDatabase| match SqliteDatabase::open(database.path()) {
        Err(DatabaseError::Corrupt { message, .. }) => message.contains("little of that is there"),
        _ => false,
    };
    let hole = accounts("wal");
    lengthen(&hole.path(), 1 << 40);
    assert!(is_hollow(&hole));

    let from = accounts("wal");
    let writer = Connection::open(from.path()).unwrap();
    writer.execute_batch("UPDATE account SET amount = amount + 1").unwrap();
    let [file, mut log] = ["", "-wal"].map(|ending| std::fs::read(beside(&from.path(), ending)).unwrap());
    let bomb = TestDatabase::new("");
    let pages = 500_000_u32.to_be_bytes();
    let mut header = file[..100].to_vec();
    header[28..32].copy_from_slice(&pages);
    // The number of pages is that of this change.
    header.copy_within(24..28, 92);
    std::fs::write(bomb.path(), [&header, &file[100..]].concat()).unwrap();
    // Too large for a copy in memory.
    lengthen(&bomb.path(), 65 << 20);
    let frame = 24 + 4096;
    let last = log.len() - frame;
    log[last + 4..last + 8].copy_from_slice(&pages);
    seal(&mut log, frame);
    std::fs::write(beside(&bomb.path(), "-wal"), &log).unwrap();
    assert!(is_hollow(&bomb));

    // A log that ends in a hole has only what is before that.
    let sparse = TestDatabase::new("");
    std::fs::write(sparse.path(), &file).unwrap();
    log[16..24].fill(0);
    std::fs::write(beside(&sparse.path(), "-wal"), &log[..32]).unwrap();
    lengthen(&beside(&sparse.path(), "-wal"), 1 << 40);
    let count = runner(&sparse.open()).execute("SELECT count(*) FROM account");
    assert_eq!(count, Outcome::Value(format!("(bag ({ACCOUNTS}))")));
}

/// Computes the checksums of a log anew.
fn seal(log: &mut [u8], frame: usize) {
    let add = |sums: &mut [u32; 2], bytes: &[u8]| {
        for pair in bytes.chunks(8) {
            let word = |at: usize| u32::from_be_bytes(pair[at..at + 4].try_into().unwrap());
            sums[0] = sums[0].wrapping_add(word(0)).wrapping_add(sums[1]);
            sums[1] = sums[1].wrapping_add(word(4)).wrapping_add(sums[0]);
        }
    };
    let write = |at: &mut [u8], sums: [u32; 2]| {
        at[..4].copy_from_slice(&sums[0].to_be_bytes());
        at[4..8].copy_from_slice(&sums[1].to_be_bytes());
    };
    let mut sums = [0; 2];
    // The sums are of words in this order of bytes.
    log[3] = 0x83;
    add(&mut sums, &log[..24]);
    write(&mut log[24..32], sums);
    for frame in log[32..].chunks_mut(frame) {
        add(&mut sums, &frame[..8]);
        add(&mut sums, &frame[24..]);
        write(&mut frame[16..24], sums);
    }
}

/// Issue 18: a log that may not be read was said to need space for a copy.
#[cfg(unix)]
#[test]
fn what_is_beside_a_database_and_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    for ending in ["-wal", "-journal"] {
        let database = accounts("wal");
        let beside = beside(&database.path(), ending);
        std::fs::write(&beside, [7; 100]).unwrap();
        std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o000)).unwrap();
        if File::open(&beside).is_ok() {
            // Root may read everything.
            return;
        }
        let error = SqliteDatabase::open(database.path()).err().unwrap();
        assert!(matches!(&error, DatabaseError::Permission { path } if *path == beside), "{error}");
    }
}

/// Issue 18: SQLite waited for a journal that is a pipe, and the file was said to be damaged after ten seconds.
#[cfg(unix)]
#[test]
fn what_is_beside_a_database_and_no_file_is_refused_at_once() {
    for mode in ["delete", "wal"] {
        let database = accounts(mode);
        let link = database.folder().join("link");
        std::os::unix::fs::symlink(database.path(), &link).unwrap();
        for ending in ["-journal", "-wal", "-shm"] {
            let beside = beside(&database.path(), ending);
            let _ = std::fs::remove_file(&beside);
            for make in ["mkfifo", "mkdir"] {
                assert!(Command::new(make).arg(&beside).status().unwrap().success());
                for name in [&database.path(), &link] {
                    let error = SqliteDatabase::open(name).err().unwrap();
                    let DatabaseError::NotASidecar { path } = error else { panic!("{error}") };
                    assert_eq!(path.canonicalize().unwrap(), beside.canonicalize().unwrap());
                }
                assert!(Command::new("rm").arg("-r").arg(&beside).status().unwrap().success());
            }
        }
    }
}
