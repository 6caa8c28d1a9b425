//! DuckDB files and folders of CSV files through the binary, and GeoQuery in DuckDB. This program is also the child process in
//! which DuckDB runs.
//!
//! It needs a library of DuckDB: `DUCKDB_LIB_DIR=… cargo test --release -p xpr --features duckdb --test duckdb`. The test of GeoQuery
//! also needs `XPR_DATA`.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "../../exec/tests/support/duckdb.rs"]
mod files;

use files::make;
use libtest_mimic::{Arguments, Trial};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use xpr_data::{SplitBy, Text2Sql};
use xpr_exec::Executor;
use xpr_learn::task::{DatabaseWorld, World};

const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name VARCHAR, born DATE);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title VARCHAR, artist_id INTEGER, price DECIMAL(8, 2));
    INSERT INTO artist VALUES (1, 'Nina Simone', '1933-02-21'), (2, 'Bill Evans', '1929-08-16');
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 9.5), (2, 'Wild is the Wind', 1, 12), (3, 'Portrait in Jazz', 2, 8);
";

const PAIRS: &str = "\
how many albums are there\tSELECT count(*) FROM album
when was nina simone born\tSELECT born FROM artist WHERE name = 'Nina Simone'
which albums cost more than 10\tSELECT title FROM album WHERE price > 10
who made wild is the wind\tSELECT a.name FROM artist a JOIN album b ON b.artist_id = a.id WHERE b.title = 'Wild is the Wind'
who was born after 1930\tSELECT name FROM artist WHERE EXTRACT(YEAR FROM born) > 1930
what is half of all prices\tSELECT sum(price) / 2 FROM album
";

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.current_dir(folder).args(arguments).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS");
    command
}

fn xpr(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Makes a DuckDB file, a folder of CSV files with the same content, and questions.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make(&at("music.duckdb"), MUSIC);
    fs::create_dir(at("csv")).unwrap();
    make(
        &at("scratch.duckdb"),
        &format!(
            "{MUSIC}; COPY artist TO '{}'; COPY album TO '{}'",
            at("csv/artist.csv").display(),
            at("csv/album.csv").display()
        ),
    );
    fs::remove_file(at("scratch.duckdb")).unwrap();
    fs::write(at("pairs.tsv"), PAIRS).unwrap();
    fs::write(at("log.txt"), "how many artists are there\nwho sings wild is the wind\n").unwrap();
    folder
}

/// From a file to answers, as the guide shows it.
fn a_file_and_a_folder_are_asked() {
    let folder = folder();
    let before = fs::read(folder.path().join("music.duckdb")).unwrap();
    for (address, project) in [("duckdb:music.duckdb", "file"), ("duckdb:csv/", "folder")] {
        let check =
            printed(&xpr(folder.path(), &["data", "check", "--db", address, "--labeled", "pairs.tsv"]));
        for row in ["run", "can be written by the parser", "return the same rows when the parser writes them"]
        {
            assert!(check.contains(&format!("       6  100.0 %  {row}\n")), "{check}");
        }
        let init =
            ["init", "--db", address, "--labeled", "pairs.tsv", "--unlabeled", "log.txt", "--out", project];
        let made = printed(&xpr(folder.path(), &init));
        assert!(made.contains("2 tables, 7 columns"), "{made}");
        assert!(made.contains("album.artist_id -> artist.id (confidence"), "{made}");
        let settings = fs::read_to_string(folder.path().join(project).join("xpr.toml")).unwrap();
        let expected = if project == "file" { "duckdb:../music.duckdb" } else { "duckdb:../csv" };
        assert!(settings.contains(expected), "{settings}");
        let experiment = format!("{project}/xpr.toml");
        let run = format!("{project}/runs/few");
        let train =
            ["train", &experiment, "--set", "train.steps=3", "--set", "learn.ensemble=0", "--out", &run];
        printed(&xpr(folder.path(), &train));
        let answer = xpr(folder.path(), &["ask", &run, "how many albums are there"]);
        assert!(matches!(answer.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&answer.stderr));
        assert!(String::from_utf8_lossy(&answer.stdout).contains("SELECT"), "{answer:?}");
        printed(&xpr(folder.path(), &["eval", &run]));
        let bench = ["bench", "exec", "--db", address, "--labeled", "pairs.tsv", "--seconds", "0.2"];
        assert!(printed(&xpr(folder.path(), &bench)).contains("6 queries"), "{bench:?}");
    }
    assert_eq!(fs::read(folder.path().join("music.duckdb")).unwrap(), before);
    assert!(!folder.path().join("music.duckdb.wal").exists());
}

/// A process has the lock of a file, so that this needs two.
fn a_file_that_is_written_to_is_an_error() {
    let folder = folder();
    let writer = files::Writer::open(&folder.path().join("music.duckdb"));
    let output = xpr(folder.path(), &["data", "check", "--db", "music.duckdb", "--labeled", "pairs.tsv"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && message.contains("another program has the database open for writing"),
        "{message}"
    );
    drop(writer);
    printed(&xpr(folder.path(), &["data", "check", "--db", "music.duckdb", "--labeled", "pairs.tsv"]));
}

/// Returns the processes that have a file open.
fn readers(file: &Path) -> Vec<String> {
    let has_open = |process: &Path| {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        descriptors.map(|entry| fs::read_link(entry.path())).any(|to| to.is_ok_and(|to| to == file))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|path| has_open(path)).map(|path| path.display().to_string()).collect()
}

/// A child does not outlive its parent, whatever ends that and whatever the child does.
fn killed_programs_leave_no_child_behind() {
    let folder = folder();
    let file = folder.path().join("music.duckdb").canonicalize().unwrap();
    let init = ["init", "--db", "music.duckdb", "--labeled", "pairs.tsv", "--out", "project"];
    printed(&xpr(folder.path(), &init));
    printed(&xpr(
        folder.path(),
        &["train", "project/xpr.toml", "--set", "train.steps=1", "--set", "learn.ensemble=0", "--out", "run"],
    ));
    let mut ask = command(folder.path(), &["ask", "run"]);
    let mut ask = ask.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    ask.stdin.as_mut().unwrap().write_all(b"how many albums are there\n").unwrap();
    let wait_until = |what: &str, holds: &dyn Fn() -> bool| {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    wait_until("no child", &|| !readers(&file).is_empty());
    ask.kill().unwrap();
    ask.wait().unwrap();
    wait_until("a child is left", &|| readers(&file).is_empty());
}

/// The gold queries that DuckDB does not run: a column that is neither grouped nor aggregated has no value there.
const NOT_RUN: usize = 1;

/// The gold queries whose `LIMIT` cuts between rows that are equal in the order.
const TIED: usize = 3;

fn the_gold_queries_of_geoquery_have_the_same_answers_as_in_sqlite() {
    let data = std::env::var_os("XPR_DATA").expect("set XPR_DATA, see CONTRIBUTING.md");
    // A relative path is relative to the workspace, and not to the crate's folder, in which tests run.
    let data = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data);
    let dataset = Text2Sql::open(&data, Some("geography")).unwrap();
    let file = dataset.database().unwrap().to_owned();
    let sqlite = DatabaseWorld::open(&format!("sqlite:{}", file.display()), Path::new("/")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("geography.duckdb");
    make(&copy, &script_of_sqlite(&file));
    let duckdb = DatabaseWorld::open(&format!("duckdb:{}", copy.display()), Path::new("/")).unwrap();
    let mut executors = [sqlite.label_executor().unwrap(), duckdb.label_executor().unwrap()];
    let (mut run, mut not_run, mut tied) = (0, Vec::new(), Vec::new());
    for pair in dataset.labeled_questions(SplitBy::Question, 0).unwrap() {
        let [expected, found] = executors.each_mut().map(|executor| executor.execute(&pair.program));
        if !expected.executes() {
            continue;
        }
        run += 1;
        if !found.executes() {
            not_run.push(format!("{found}: {}", pair.program));
        } else if !(sqlite.is_same_answer(&expected, &found) && sqlite.is_same_answer(&found, &expected)) {
            // Of rows that are equally far in the order, each engine returns others.
            assert!(pair.program.contains("LIMIT"), "{}: {found} instead of {expected}", pair.program);
            tied.push(format!("{found} instead of {expected}: {}", pair.program));
        }
    }
    eprintln!("{run} queries run in SQLite; {} do not in DuckDB:\n{}", not_run.len(), not_run.join("\n"));
    eprintln!("{} have a tie for their limit:\n{}", tied.len(), tied.join("\n"));
    assert!(run >= 870 && not_run.len() <= NOT_RUN && tied.len() <= TIED);
    assert_eq!(sqlite.schema().unwrap().tables.len(), duckdb.schema().unwrap().tables.len());
}

/// Returns the statements that make a copy of an SQLite database. Columns have the types of their cells.
fn script_of_sqlite(file: &Path) -> String {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let source = rusqlite::Connection::open_with_flags(file, flags).unwrap();
    let list = |sql: &str| -> Vec<String> {
        let mut statement = source.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut script = String::new();
    for table in list("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid") {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let ty = |column: &String| {
            let kinds = list(&format!(
                "SELECT DISTINCT typeof(\"{column}\") FROM \"{table}\" WHERE \"{column}\" IS NOT NULL"
            ));
            let all = |allowed: &[&str]| {
                !kinds.is_empty() && kinds.iter().all(|kind| allowed.contains(&kind.as_str()))
            };
            let ty = match () {
                () if all(&["integer"]) => "BIGINT",
                () if all(&["integer", "real"]) => "DOUBLE",
                () => "VARCHAR",
            };
            format!("\"{column}\" {ty}")
        };
        let types: Vec<String> = columns.iter().map(ty).collect();
        script += &format!("CREATE TABLE \"{table}\" ({});\n", types.join(", "));
        let cells: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
        for row in list(&format!("SELECT {} FROM \"{table}\" ORDER BY rowid", cells.join(" || ', ' || "))) {
            script += &format!("INSERT INTO \"{table}\" VALUES ({row});\n");
        }
    }
    script
}

fn main() -> ExitCode {
    xpr_exec::duckdb::prepare_program();
    assert!(xpr_exec::sqlite::prepare_engine());
    let trial = |name: &str, test: fn()| {
        Trial::test(format!("duckdb::{name}"), move || {
            test();
            Ok(())
        })
    };
    let trials = vec![
        trial("a_file_and_a_folder_are_asked", a_file_and_a_folder_are_asked),
        trial("a_file_that_is_written_to_is_an_error", a_file_that_is_written_to_is_an_error),
        trial("killed_programs_leave_no_child_behind", killed_programs_leave_no_child_behind),
        trial(
            "the_gold_queries_of_geoquery_have_the_same_answers_as_in_sqlite",
            the_gold_queries_of_geoquery_have_the_same_answers_as_in_sqlite,
        )
        .with_ignored_flag(true),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
