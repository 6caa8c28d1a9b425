//! DuckDB: reading schemas, answers, hostile statements and files, and folders of files. This program is also the child process
//! in which DuckDB runs.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "support/duckdb.rs"]
mod files;
mod support;

use files::{Writer, make};
use libtest_mimic::{Arguments, Trial};
use std::fs;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use support::{expand, shortened};
use xpr_exec::database::{self, Database, DatabaseError, QueryLimits, ValueIndex, ValueLimits};
use xpr_exec::duckdb::{DuckDbDatabase, DuckDbError};
use xpr_exec::{Executor, Outcome};
use xpr_lang::sql::{ColumnType, Schema};

const MUSIC: &str = r#"
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name VARCHAR, born DATE);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title VARCHAR, artist_id INTEGER REFERENCES artist (id), price DECIMAL(8, 2),
                        sold BOOLEAN, played TIMESTAMPTZ, rating REAL, tags VARCHAR[], cover BLOB, kind ENUM('lp', 'cd'));
    CREATE TABLE numbers (n INTEGER);
    CREATE TABLE "order" ("select" VARCHAR, "from" VARCHAR, "we""ird" VARCHAR);
    INSERT INTO artist VALUES (1, 'Nina', '1933-02-21'), (2, 'Miles', '1926-05-26');
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 10.50, true, '2015-01-03 10:30:00+02', 0.1, ['soul', 'blues'], '\x00\xff'::BLOB, 'lp'),
                             (2, 'Kind of Blue', 2, 12.00, false, NULL, 3, NULL, NULL, 'cd');
    INSERT INTO "order" VALUES ('a', 'b', 'c');
    INSERT INTO numbers SELECT range FROM range(1, 1001);
    COMMENT ON COLUMN album.kind IS 'medium of the recording';
    CREATE SCHEMA sales;
    CREATE TABLE sales.album (title VARCHAR, copies BIGINT);
    CREATE TABLE sales."Customer" (id INTEGER PRIMARY KEY, "Name" VARCHAR);
    INSERT INTO sales.album VALUES ('Kind of Blue', 5000000);
    INSERT INTO sales."Customer" VALUES (1, 'Ann');
    CREATE VIEW plain_view AS SELECT name FROM artist;
    CREATE VIEW reads_passwords AS SELECT * FROM read_csv('/etc/hostname', header = false, columns = {'line': 'VARCHAR'});
    CREATE VIEW reads_table AS SELECT name FROM plain_view;
    CREATE MACRO lower(x) AS 'shadowed';
    CREATE MACRO "+"(a, b) AS 42;
    CREATE MACRO sum(x) AS 7;
    CREATE MACRO reads_file() AS TABLE SELECT * FROM read_text('/etc/passwd');
    CREATE VIEW calls_macro AS SELECT lower(name) AS name FROM artist;
    CREATE VIEW calls_table_macro AS SELECT * FROM reads_file();
    CREATE VIEW never_ends AS SELECT count(*) AS c FROM range(10000000000) AS a;
    CREATE VIEW grows AS SELECT repeat('x', 1000000000) || repeat('y', 1000000000) AS text;
"#;

/// A file in a temporary folder of its own.
struct TestFile {
    folder: tempfile::TempDir,
}

impl TestFile {
    fn new(script: &str) -> TestFile {
        let test = TestFile { folder: tempfile::tempdir().unwrap() };
        make(&test.path(), script);
        test
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("music.duckdb")
    }

    fn open(&self) -> Box<dyn Database> {
        open(&format!("duckdb:{}", self.path().display())).unwrap()
    }

    /// Returns the names of all files in the folder with their contents and times.
    fn state(&self) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut files: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let changed = fs::metadata(&path).unwrap().modified().unwrap();
                (path.clone(), fs::read(path).unwrap(), changed)
            })
            .collect();
        files.sort();
        files
    }
}

fn open(address: &str) -> Result<Box<dyn Database>, DatabaseError> {
    database::open(address, Path::new("/"))
}

fn schema(database: &dyn Database) -> Schema {
    database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap().schema
}

fn answer(runner: &mut dyn Executor, query: &str) -> String {
    match runner.execute(query) {
        Outcome::Empty => "empty".to_owned(),
        outcome => outcome.text().to_owned(),
    }
}

/// Limits whose time is enough on a busy machine.
fn patient() -> QueryLimits {
    QueryLimits { time: Duration::from_secs(20), ..QueryLimits::default() }
}

fn check_answers(database: &dyn Database, expected: &[(&str, &str)]) {
    let mut runner = database.runner(&schema(database), patient()).unwrap();
    for (query, expected) in expected {
        assert_eq!(answer(&mut *runner, query), *expected, "{query}");
    }
}

fn schemas_have_tables_keys_types_and_comments() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let read = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap();
    let names: Vec<String> = read
        .schema
        .tables
        .iter()
        .map(|table| format!("{}.{}", table.namespace.as_deref().unwrap(), table.name))
        .collect();
    assert_eq!(
        names,
        [
            "main.artist",
            "main.numbers",
            "main.order",
            "main.album",
            "main.calls_macro",
            "main.grows",
            "main.never_ends",
            "main.plain_view",
            "main.reads_table",
            "sales.album",
            "sales.Customer"
        ]
    );
    let left_out: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out[0].contains("main.calls_table_macro is left out: Permission Error"), "{left_out:?}");
    assert!(left_out[1].contains("main.reads_passwords is left out: Permission Error"), "{left_out:?}");
    let album = &read.schema.tables[3];
    let types: Vec<ColumnType> = album.columns.iter().map(|column| column.ty).collect();
    use ColumnType::{Boolean, Number, Other, Text, Time};
    assert_eq!(types, [Number, Text, Number, Number, Boolean, Time, Number, Other, Other, Text]);
    assert_eq!((album.primary_key.as_slice(), album.foreign_keys.len()), (&[0][..], 1));
    assert_eq!(album.foreign_keys[0].columns, [2]);
    assert_eq!(album.columns[9].comment.as_deref(), Some("medium of the recording"));
    assert_eq!(database.name(), "music");
}

fn answers_print_as_those_of_sqlite() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    check_answers(
        &*database,
        &[
            ("SELECT price, sold, rating FROM album", "(bag (10.5 1 0.1) (12 0 3))"),
            (
                "SELECT played, kind, tags, cover FROM album WHERE id = 1",
                r#"(bag ("2015-01-03 08:30:00+00" "lp" "{soul,blues}" x'00ff'))"#,
            ),
            ("SELECT born FROM artist ORDER BY born", r#"(list ("1926-05-26") ("1933-02-21"))"#),
            ("SELECT avg(price), sum(id), count(*) FROM album", "(bag (11.25 3 2))"),
            (
                "SELECT 1.0 / 3, 2 / 3, 7 / 2, -7 / 2, 1 / 0, 1.5 / 0, 5 % 0 FROM artist LIMIT 1",
                "(bag (0.333333333 0 3 -3 null null null))",
            ),
            ("SELECT max(title) FROM album WHERE id > 5", "empty"),
            ("SELECT copies FROM sales.album", "(bag (5000000))"),
            ("SELECT \"Name\" FROM sales.\"Customer\"", r#"(bag ("Ann"))"#),
            // The first row of a subquery is its value.
            ("SELECT (SELECT name FROM artist ORDER BY born), count(*) FROM artist", r#"(bag ("Miles" 2))"#),
            // NULLs are less than all values.
            ("SELECT played FROM album ORDER BY played", r#"(list (null) ("2015-01-03 08:30:00+00"))"#),
            ("SELECT tags FROM album ORDER BY played DESC", r#"(list ("{soul,blues}") (null))"#),
            (
                "SELECT EXTRACT(YEAR FROM born), date_trunc('month', born)::date, strftime(born, '%Y-%m') FROM artist WHERE id = 1",
                r#"(bag (1933 "1933-02-01" "1933-02"))"#,
            ),
            ("SELECT title FROM album WHERE title ILIKE '%BLUES'", r#"(bag ("Pastel Blues"))"#),
            ("SELECT name || id FROM artist WHERE id LIKE '1%'", r#"(bag ("Nina1"))"#),
            // The macros of the file are not those of a query.
            ("SELECT lower(name), 1 + 1, id + id FROM artist", r#"(bag ("miles" 2 4) ("nina" 2 2))"#),
            ("SELECT sum(id) FROM artist", "(bag (3))"),
            ("SELECT name FROM calls_macro", r#"(bag ("shadowed") ("shadowed"))"#),
            ("SELECT name FROM reads_table", r#"(bag ("Miles") ("Nina"))"#),
            (
                "SELECT a.title FROM sales.album AS a JOIN album ON album.title = a.title",
                r#"(bag ("Kind of Blue"))"#,
            ),
            ("SELECT sales.album.title FROM sales.album", r#"(bag ("Kind of Blue"))"#),
            (r#"SELECT "select", "we""ird" FROM "order""#, r#"(bag ("a" "c"))"#),
        ],
    );
    let mut runner = database.runner(&schema(&*database), patient()).unwrap();
    let shown = runner.full_answer("SELECT 12345678.95, max(title) FROM album WHERE id > 5");
    assert_eq!(shown.text(), "(bag (12345678.95 null))");
    assert_eq!(
        runner.column_names("SELECT title, count(*) AS n FROM album GROUP BY title").unwrap(),
        ["title", "n"]
    );
    assert_eq!(runner.column_names("SELECT nothing FROM album"), None);
}

fn values_of_every_type_are_printed() {
    let cases = [
        ("TINYINT", "-128", "-128"),
        ("UBIGINT", "18446744073709551615", "1.84467441e19"),
        ("HUGEINT", "170141183460469231731687303715884105727", "1.70141183e38"),
        ("UHUGEINT", "12", "12"),
        ("DECIMAL(38, 10)", "123456789.25", "123456789"),
        ("DECIMAL(4, 1)", "-0.5", "-0.5"),
        ("FLOAT", "0.1", "0.1"),
        ("DOUBLE", "'inf'", "inf"),
        ("DOUBLE", "'nan'", "nan"),
        ("DOUBLE", "-0.0", "0"),
        ("DATE", "'0044-03-15 (BC)'", "\"0044-03-15 BC\""),
        ("DATE", "'infinity'", "\"infinity\""),
        ("TIME", "'10:30:00.5'", "\"10:30:00.5\""),
        ("TIMETZ", "'10:30:00+02:30'", "\"10:30:00+02:30\""),
        ("TIMESTAMP", "'2015-01-03 10:30:00'", "\"2015-01-03 10:30:00\""),
        ("TIMESTAMP_S", "'1969-12-31 23:59:59'", "\"1969-12-31 23:59:59\""),
        ("TIMESTAMP_MS", "'2015-01-03 10:30:00.125'", "\"2015-01-03 10:30:00.125\""),
        ("TIMESTAMP_NS", "'2015-01-03 10:30:00.000001'", "\"2015-01-03 10:30:00.000001\""),
        ("TIMESTAMPTZ", "'2015-01-03 10:30:00-05'", "\"2015-01-03 15:30:00+00\""),
        ("INTERVAL", "INTERVAL '1 year 2 months 3 days 04:05:06'", "\"1 year 2 mons 3 days 04:05:06\""),
        ("UUID", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\""),
        ("BIT", "'10101'", "\"10101\""),
        ("BLOB", "'\\xAA\\x00'::BLOB", "x'aa00'"),
        ("JSON", "'{\"a\": [1, 2]}'", "\"{\\\"a\\\": [1, 2]}\""),
        ("INTEGER[]", "[1, NULL, 3]", "\"{1,NULL,3}\""),
        ("DATE[2]", "['2015-01-03', '2016-01-03']", "\"{2015-01-03,2016-01-03}\""),
        ("STRUCT(a INTEGER, b VARCHAR)", "{'a': 1, 'b': 'x'}", "\"{'a': 1, 'b': x}\""),
        ("MAP(VARCHAR, INTEGER)", "MAP {'x': 1, 'y': NULL}", "\"{x=1, y=NULL}\""),
        ("VARCHAR[][]", "[['a'], []]", "\"{{a},{}}\""),
        ("VARCHAR", "'größe, of more than twelve bytes'", "\"größe, of more than twelve bytes\""),
        ("VARCHAR", "''", "\"\""),
    ];
    let columns: Vec<String> = cases.iter().enumerate().map(|(at, (ty, ..))| format!("c{at} {ty}")).collect();
    let values: Vec<&str> = cases.iter().map(|(_, value, _)| *value).collect();
    let nulls = vec!["NULL"; cases.len()].join(", ");
    let test = TestFile::new(&format!(
        "CREATE TABLE types ({}); INSERT INTO types VALUES ({}), ({nulls})",
        columns.join(", "),
        values.join(", ")
    ));
    let database = test.open();
    let mut runner = database.runner(&schema(&*database), patient()).unwrap();
    for (at, (ty, value, printed)) in cases.iter().enumerate() {
        let found = answer(&mut *runner, &format!("SELECT c{at} FROM types ORDER BY c{at} NULLS LAST"));
        assert_eq!(found, format!("(list ({printed}) (null))"), "{ty} {value}");
    }
}

fn values_are_found_in_small_tables_and_in_samples_of_large_ones() {
    let test = TestFile::new(MUSIC);
    Writer::open(&test.path()).run(
        "CREATE TABLE large AS SELECT range AS id, CASE WHEN range % 3 = 0 THEN 'frequent town' ELSE 'place ' || range END AS name \
         FROM range(3000000)",
    );
    let database = test.open();
    let schema = schema(&*database);
    let began = Instant::now();
    let index =
        ValueIndex::read(&*database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    eprintln!("values read in {:?}", began.elapsed());
    let large = schema.find_table("large").unwrap();
    // Nothing is known of the size of these views.
    assert!(index.sampled_tables().contains(&large));
    let name = schema.find_column(large, "name").unwrap();
    assert!(index.has_text(name, "frequent town") && index.incomplete_columns().contains(&name));
    let artist = schema.find_column(schema.find_table("artist").unwrap(), "name").unwrap();
    assert!(index.has_text(artist, "Nina") && !index.incomplete_columns().contains(&artist));
}

fn files_that_cannot_be_read_are_errors_that_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error = |name: &str| match open(&format!("duckdb:{}", at(name).display())) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{name} was opened"),
    };
    assert!(error("missing.duckdb").contains("there is no such file"));
    fs::write(at("text.duckdb"), "name,born\nNina,1933\n").unwrap();
    assert!(error("text.duckdb").contains("this is not a DuckDB database"));
    fs::write(at("empty.duckdb"), "").unwrap();
    assert!(error("empty.duckdb").contains("this is not a DuckDB database"));
    make(&at("nothing.duckdb"), "SELECT 1");
    assert!(error("nothing.duckdb").contains("no tables"));
    assert!(
        std::process::Command::new("mkfifo").arg(at("pipe.duckdb")).status().unwrap().success()
            && error("pipe.duckdb").contains("not a regular file")
    );
    std::os::unix::fs::symlink(at("pipe.duckdb"), at("link.duckdb")).unwrap();
    assert!(error("link.duckdb").contains("not a regular file"));
    std::os::unix::fs::symlink(at("nowhere"), at("broken.duckdb")).unwrap();
    assert!(error("broken.duckdb").contains("there is no such file"));
    make(
        &at("plain.duckdb"),
        &format!(
            "CREATE TABLE t (a INTEGER); SET force_mbedtls_unsafe = 'true'; ATTACH '{}' AS secret (ENCRYPTION_KEY 'key'); CREATE TABLE secret.t (a INTEGER)",
            at("encrypted.duckdb").display()
        ),
    );
    let message = error("encrypted.duckdb");
    assert!(message.contains("the database is encrypted; use a copy"), "{message}");

    let writer = Writer::open(&at("plain.duckdb"));
    writer.run("INSERT INTO t VALUES (1)");
    fs::copy(at("plain.duckdb"), at("unfinished.duckdb")).unwrap();
    fs::copy(at("plain.duckdb.wal"), at("unfinished.duckdb.wal")).unwrap();
    let message = error("unfinished.duckdb");
    assert!(message.contains("let DuckDB write them with `duckdb FILE CHECKPOINT`"), "{message}");
    drop(writer);
    assert!(open(&format!("duckdb:{}", at("plain.duckdb").display())).is_ok());
    fs::create_dir(at("empty")).unwrap();
    assert!(error("empty").contains("no file here that ends in .csv"));
}

fn damaged_files_do_no_harm() {
    let test = TestFile::new(MUSIC);
    let whole = fs::read(test.path()).unwrap();
    let path = test.folder.path().join("damaged.duckdb");
    let mut opened = 0;
    let mut try_it = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let Ok(database) = open(&format!("duckdb:{}", path.display())) else { return };
        let Ok(read) = database.read_schema(&mut |_| ControlFlow::Continue(())) else { return };
        opened += 1;
        let Ok(mut runner) = database.runner(&read.schema, QueryLimits::default()) else { return };
        for query in
            ["SELECT * FROM artist", "SELECT sum(n) FROM numbers", "SELECT * FROM album ORDER BY price"]
        {
            let _ = runner.execute(query);
        }
    };
    for part in 0..8 {
        try_it(&whole[..whole.len() * part / 8]);
    }
    // A fixed sequence of pseudorandom positions.
    let mut state: u64 = 7;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..40 {
        let mut bytes = whole.clone();
        // A changed byte in a block is found by its checksum, and the rest of a block is empty.
        for _ in 0..1 + round % 20 {
            let at = if round % 4 == 0 { next(12_288) } else { next(bytes.len()) };
            bytes[at] ^= 1 << next(8);
        }
        try_it(&bytes);
    }
    eprintln!("{opened} of 48 damaged files could be opened");
    fs::remove_file(path).unwrap();
    assert_eq!(test.state().len(), 1, "a file appeared");
}

fn other_programs_and_changes_are_noticed() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let state = test.state();
    let mut runner = database.runner(&schema(&*database), patient()).unwrap();
    assert_eq!(answer(&mut *runner, "SELECT count(*) FROM artist"), "(bag (2))");
    database.check_unchanged().unwrap();
    assert_eq!(test.state(), state, "reading left a trace");
    // The lock is that of a process, and is not for this one.
    let mut bytes = state[0].1.clone();
    bytes[100] ^= 1;
    fs::write(test.path(), bytes).unwrap();
    let error = database.check_unchanged().unwrap_err();
    assert!(matches!(error, DatabaseError::DuckDb(DuckDbError::Changed { .. })), "{error}");
    assert!(error.to_string().contains("another program changed the database while it was read"));
}

fn folders_of_files_are_databases() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("artist.csv"), "id,name,born\n1,Nina,1933-02-21\n2,Miles,1926-05-26\n").unwrap();
    fs::write(at("Sold Copies.tsv"), "artist_id\tcopies\n1\t10\n2\t5000000\n").unwrap();
    fs::write(at("README.md"), "these are files").unwrap();
    make(
        &folder.path().join("scratch.duckdb"),
        &format!(
            "COPY (SELECT range AS artist_id, range * 1.5 AS price FROM range(1, 3)) TO '{}' (FORMAT parquet)",
            at("album.parquet").display()
        ),
    );
    fs::remove_file(at("scratch.duckdb")).unwrap();
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let database = open(&format!("duckdb:{}/", folder.path().display())).unwrap();
    assert_eq!(database.access(), "from a private copy of 2 CSV files, and 1 Parquet file in place");
    check_answers(
        &*database,
        &[
            ("SELECT name FROM artist WHERE born < '1930-01-01'", r#"(bag ("Miles"))"#),
            ("SELECT copies FROM \"Sold Copies\" ORDER BY copies DESC LIMIT 1", "(bag (5000000))"),
            (
                "SELECT name, price FROM artist JOIN album ON id = artist_id",
                r#"(bag ("Miles" 3) ("Nina" 1.5))"#,
            ),
            ("SELECT * FROM read_csv('artist.csv')", "refused: read_csv('artist.csv') in FROM"),
        ],
    );
    let schema = schema(&*database);
    let artist = schema.find_table("artist").unwrap();
    let types: Vec<ColumnType> = schema.table(artist).columns.iter().map(|column| column.ty).collect();
    assert_eq!(types, [ColumnType::Number, ColumnType::Text, ColumnType::Time]);
    assert_eq!(names(), before);
    drop(database);
    // One file is a database too.
    let single = DuckDbDatabase::open(at("artist.csv")).unwrap();
    assert_eq!((single.name(), single.declared_schema().unwrap().schema.tables.len()), ("artist", 1));
    fs::write(at("ARTIST.parquet"), "no Parquet").unwrap();
    let error = DuckDbDatabase::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("would be the same table; rename one of them"), "{error}");
    fs::remove_file(at("ARTIST.parquet")).unwrap();
    fs::write(at("broken.parquet"), "no Parquet").unwrap();
    let error = DuckDbDatabase::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("broken.parquet"), "{error}");
}

/// Issue 20: a name such as `report[1].csv` was a pattern, so that another file was read.
fn files_of_any_name_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "report1",
        "report[1]",
        "a*b",
        "axb",
        "q?",
        "a b (1)",
        "größe",
        "it's",
        "dou\"ble",
        "back\\slash",
        "select",
    ];
    for (index, name) in names.iter().enumerate() {
        fs::write(folder.path().join(format!("{name}.csv")), format!("x\n{index}\n")).unwrap();
    }
    let no_unicode = std::os::unix::ffi::OsStrExt::from_bytes(b"no\xffunicode.csv");
    fs::write(folder.path().join::<&std::ffi::OsStr>(no_unicode), "x\n99\n").unwrap();
    make(
        &folder.path().join("scratch.duckdb"),
        &format!(
            "COPY (SELECT 7 AS x) TO '{}' (FORMAT parquet)",
            folder.path().join("p[2].parquet").display()
        ),
    );
    fs::write(folder.path().join("p2.parquet"), fs::read(folder.path().join("p[2].parquet")).unwrap())
        .unwrap();
    fs::remove_file(folder.path().join("scratch.duckdb")).unwrap();
    let database = open(&format!("duckdb:{}/", folder.path().display())).unwrap();
    let mut runner = database.runner(&schema(&*database), patient()).unwrap();
    for (index, name) in names.iter().enumerate() {
        let query = format!("SELECT x FROM \"{}\"", name.replace('"', "\"\""));
        assert_eq!(answer(&mut *runner, &query), format!("(bag ({index}))"), "{name}");
    }
    assert_eq!(answer(&mut *runner, "SELECT x FROM \"no\u{fffd}unicode\""), "(bag (99))");
    assert_eq!(answer(&mut *runner, "SELECT x FROM \"p[2]\""), "(bag (7))");
}

/// Issue 20: an error about one of many files did not name it, and a value of another type behind the first rows was one.
fn messy_files_are_read_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let numbers: String = (0..30_000).map(|index| format!("{index},a\n")).collect();
    fs::write(at("late.csv"), format!("id,name\n{numbers}none,b\n")).unwrap();
    fs::write(at("bom.csv"), "\u{feff}id;name\r\n1;\"a;b\"\r\n").unwrap();
    fs::write(at("twice.csv"), "id,name,name\n1,a,b\n").unwrap();
    fs::create_dir_all(at("events/y=2020")).unwrap();
    fs::write(at("events/y=2020/part.csv"), "v\n1\n").unwrap();
    let address = format!("duckdb:{}/", folder.path().display());
    let database = open(&address).unwrap();
    let read = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap();
    let left_out: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].starts_with("the table events is left out: files in subfolders"), "{left_out:?}");
    check_answers(
        &*database,
        &[
            ("SELECT name FROM late WHERE id = 'none'", r#"(bag ("b"))"#),
            ("SELECT count(*) FROM late", "(bag (30001))"),
            ("SELECT id, name FROM bom", r#"(bag (1 "a;b"))"#),
            ("SELECT name, name_1 FROM twice", r#"(bag ("a" "b"))"#),
        ],
    );
    let error = open(&format!("duckdb:{}/", at("events").display())).err().unwrap().to_string();
    assert!(error.contains("in subfolders, which are not read"), "{error}");
    for (name, content, expected) in [
        ("latin.csv", &b"id,name\n1,M\xfcller\n"[..], "latin.csv: this file is not UTF-8"),
        ("ragged.csv", format!("id,name\n{numbers}1\n").as_bytes(), "Expected Number of Columns: 2 Found: 1"),
        ("cut.parquet", b"PAR1PAR1PAR1PAR1", "cut.parquet: this file cannot be read as a table"),
    ] {
        fs::write(at(name), content).unwrap();
        let error = open(&address).err().unwrap().to_string();
        assert!(error.contains(expected) && error.contains(name), "{error}");
        fs::remove_file(at(name)).unwrap();
    }
}

/// Issue 20: a view that cannot be read was a table on which every query failed, and unions could not be printed.
fn views_that_fail_are_left_out_and_unions_are_printed() {
    let test = TestFile::new(
        "CREATE TABLE odd (id INTEGER, u UNION(num INTEGER, str VARCHAR, list VARCHAR[])); \
         INSERT INTO odd VALUES (1, 7), (2, 'x'), (3, ['a', 'b']), (4, NULL); \
         CREATE SEQUENCE s; CREATE VIEW counts AS SELECT nextval('s') AS n; \
         CREATE TABLE large (b BIGNUM); INSERT INTO large VALUES ('123456789012345678901234567890'::BIGNUM)",
    );
    let database = test.open();
    let read = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(read.left_out.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["main.counts"]);
    check_answers(
        &*database,
        &[
            ("SELECT u FROM odd WHERE id < 4 ORDER BY id", r#"(list (7) ("x") ("{a,b}"))"#),
            ("SELECT id FROM odd WHERE u IS NULL", "(bag (4))"),
            ("SELECT b FROM large", "the values of b cannot be printed; write CAST(… AS VARCHAR)"),
        ],
    );
}

/// What must not change: the file, and what could appear beside it or where statements write to.
fn traces(test: &TestFile) -> (Vec<(PathBuf, Vec<u8>, std::time::SystemTime)>, bool) {
    (test.state(), Path::new("/tmp/xpr-attack-duckdb").exists())
}

fn hostile_statements_do_no_harm() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let schema = schema(&*database);
    let limits = QueryLimits::default();
    let mut runner = database.runner(&schema, limits).unwrap();
    let before = traces(&test);
    assert!(!before.1, "remove /tmp/xpr-attack-duckdb first");
    // A child that ended has no peak: the operating system kept it within its limit.
    let peak = || peaks(&test.path()).into_iter().max().unwrap_or_default();
    assert_eq!(answer(&mut *runner, "SELECT count(*) FROM artist"), "(bag (2))");
    let (at_first, mut greatest) = (peak(), 0);
    let (mut count, mut own, mut late, mut failures) = (0, 0, 0, Vec::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks");
    for (name, is_own) in ["duckdb", "postgres", "sql"].into_iter().flat_map(|engine| {
        let mut names: Vec<PathBuf> =
            fs::read_dir(folder.join(engine)).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names.into_iter().map(move |name| (name, engine == "duckdb"))
    }) {
        let text = fs::read_to_string(&name).unwrap();
        let name = name.display();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (expected, statement) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            let statement = expand(statement);
            count += 1;
            own += usize::from(is_own);
            let began = Instant::now();
            let outcome = runner.execute(&statement);
            let took = began.elapsed();
            greatest = greatest.max(peak());
            let is_expected = match expected {
                _ if !is_own => true,
                "refused" => matches!(outcome, Outcome::RuntimeError(_) | Outcome::TypeError(_)),
                "stopped" => matches!(outcome, Outcome::Timeout(_)),
                "runs" => outcome.executes(),
                "ends" => true,
                other => panic!("{name}: `{other}` is not an expected outcome"),
            };
            if !is_expected {
                let found = shortened(&outcome.to_string());
                failures.push(format!("{}: {found} instead of {expected}", shortened(&statement)));
            }
            if took > limits.time + Duration::from_millis(50) {
                late += 1;
                eprintln!("{took:?} {} {}", shortened(&statement), shortened(&outcome.to_string()));
            }
            // The machine may be busy with other tests, and a child that was killed is started again.
            if took > limits.time + Duration::from_millis(1500) {
                failures.push(format!("{}: took {took:?}", shortened(&statement)));
            }
        }
        assert_eq!(answer(&mut *runner, "SELECT count(*) FROM artist"), "(bag (2))", "{name}");
        // No setting is left behind.
        assert_eq!(answer(&mut *runner, "SELECT 7 / 2 FROM artist LIMIT 1"), "(bag (3))", "{name}");
        assert_eq!(traces(&test), before, "{name} left a trace");
    }
    let beyond = greatest.saturating_sub(at_first + (limits.memory >> 20) as u64);
    eprintln!(
        "{count} statements, {own} of them for DuckDB; {late} took more than the limit and 50 ms; the most memory beyond \
         what a child has at first and the limit was {beyond} MB"
    );
    assert!(beyond <= 64, "{beyond} MB, from {at_first} to {greatest}");
    assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(own >= 60, "{own}");
}

/// A child that is asked without the guard, as if it had accepted everything.
struct Unguarded {
    child: std::process::Child,
    socket: UnixStream,
}

impl Unguarded {
    fn open(path: &Path) -> Unguarded {
        let (socket, for_child) = UnixStream::pair().unwrap();
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .arg("xpr-duckdb-child")
            .stdin(OwnedFd::from(for_child))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut opening = vec![0];
        put_text(&mut opening, path.to_str().unwrap());
        [8_u64 << 20, 0, 0].into_iter().for_each(|number| opening.extend(number.to_le_bytes()));
        let mut unguarded = Unguarded { child, socket };
        assert_eq!(unguarded.ask(&opening).as_deref(), Some(&[0][..]));
        unguarded
    }

    /// Returns the last response to a query; `None` if the child ended.
    fn run(&mut self, query: &str) -> Option<Vec<u8>> {
        let mut request = vec![1];
        put_text(&mut request, query);
        [200_u64, 10_000, 1 << 20].into_iter().for_each(|number| request.extend(number.to_le_bytes()));
        let mut response = self.ask(&request)?;
        while response.first() == Some(&1) {
            response = self.response()?;
        }
        Some(response)
    }

    fn ask(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        self.socket.write_all(&(request.len() as u32).to_le_bytes()).ok()?;
        self.socket.write_all(request).ok()?;
        self.response()
    }

    fn response(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.socket.read_exact(&mut length).ok()?;
        let mut response = vec![0; u32::from_le_bytes(length) as usize];
        self.socket.read_exact(&mut response).ok()?;
        Some(response)
    }
}

impl Drop for Unguarded {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// Behind the guard, the child itself reads no other file, writes nothing and keeps its settings.
fn the_child_does_no_harm_without_the_guard() {
    let test = TestFile::new(MUSIC);
    let before = traces(&test);
    let mut child = Unguarded::open(&test.path());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/duckdb");
    let (mut count, mut ended) = (0, 0);
    for name in ["reach.tsv", "writes.tsv", "settings.tsv", "bombs.tsv", "text.tsv", "rare.tsv"] {
        for line in
            fs::read_to_string(folder.join(name)).unwrap().lines().filter(|line| !line.starts_with('#'))
        {
            let statement = expand(line.split_once('\t').unwrap().1).replace('\0', "");
            count += 1;
            let began = Instant::now();
            let response = child.run(&statement);
            let took = began.elapsed();
            let response = response.unwrap_or_else(|| {
                ended += 1;
                child = Unguarded::open(&test.path());
                vec![]
            });
            if took > Duration::from_millis(300) {
                eprintln!("{took:?} {}", shortened(&statement));
            }
            let text = String::from_utf8_lossy(&response);
            assert!(!text.contains("root:"), "{statement}: {text}");
        }
        assert_eq!(traces(&test), before, "{name} left a trace");
    }
    // What is allowed is still allowed, and nothing else.
    assert_eq!(
        child.run("SELECT CASE WHEN 7 / 2 = 3 THEN error('three') END").map(|response| response[1]),
        Some(1)
    );
    for query in ["SELECT * FROM read_text('/etc/passwd')", "COPY (SELECT 1) TO '/tmp/xpr-attack-duckdb'"] {
        assert_eq!(child.run(query).map(|response| response[0]), Some(4), "{query}");
    }
    eprintln!("{count} statements without the guard, of which {ended} ended the child");
    assert_eq!(traces(&test), before);
}

/// Issue 20: a query whose child was killed came to another outcome, which was kept.
fn a_child_that_is_killed_is_replaced() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let schema = schema(&*database);
    let mut runner = database.runner(&schema, patient()).unwrap();
    let slow = "SELECT count(*) FROM numbers a, numbers b WHERE a.n % 7 = b.n % 5";
    let expected = answer(&mut *runner, slow);
    let kill = || {
        for (process, _) in readers(&test.path()) {
            std::process::Command::new("kill").args(["-9", &process]).status().unwrap();
        }
    };
    for _ in 0..3 {
        kill();
        assert_eq!(answer(&mut *runner, slow), expected);
        kill();
        assert_eq!(runner.column_names("SELECT name FROM artist").unwrap(), ["name"]);
        let mut runner = database.checked_runner(&schema, QueryLimits::default()).unwrap();
        kill();
        assert_eq!(answer(&mut *runner, slow), expected);
    }
}

/// Issue 20: after a query for which there was no memory, all queries of the same runner failed.
fn queries_run_after_one_for_which_there_was_no_memory() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let limits = QueryLimits { steps: u64::MAX, time: Duration::from_secs(20), ..QueryLimits::default() };
    let mut runner = database.runner(&schema(&*database), limits).unwrap();
    for greedy in [
        "SELECT DISTINCT a.n * 1000 + b.n FROM numbers a, numbers b WHERE a.n < {} ORDER BY 1",
        "SELECT max(a.n) FROM numbers a WHERE a.n < {} AND a.n = (SELECT count(b.n) FROM numbers b WHERE a.n = \
         (SELECT max(c.n) FROM numbers c WHERE c.n >= b.n AND c.n = a.n))",
        "SELECT count(*) FROM numbers a WHERE a.n < {} AND EXISTS (SELECT 1 FROM numbers b WHERE b.n > a.n AND EXISTS \
         (SELECT 1 FROM numbers c WHERE c.n > b.n AND c.n <> a.n))",
    ] {
        for round in 0..10 {
            let outcome = answer(&mut *runner, &greedy.replace("{}", &(900 + round).to_string()));
            assert_eq!(outcome, "stopped: more memory than allowed", "{greedy}");
            let after = answer(&mut *runner, "SELECT count(DISTINCT name) FROM artist");
            assert_eq!(after, "(bag (2))", "{greedy}");
        }
    }
}

/// Returns the greatest memory in megabytes of each child that reads a file.
fn peaks(file: &Path) -> Vec<u64> {
    readers(file).into_iter().map(|(_, peak)| peak).collect()
}

/// Returns each process that reads a file, with its greatest memory in megabytes.
fn readers(file: &Path) -> Vec<(String, u64)> {
    let mut peaks = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let read = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let status = read("status");
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        let reads_file =
            |descriptor: fs::DirEntry| fs::read_link(descriptor.path()).is_ok_and(|to| to == file);
        let mut descriptors = fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        if descriptors.any(reads_file) {
            let process = entry.file_name().to_string_lossy().into_owned();
            peaks.extend(field("VmHWM:").map(|kilobytes| (process, kilobytes / 1024)));
        }
    }
    peaks
}

fn runaways_are_stopped_by_cost_time_and_memory() {
    let test = TestFile::new(MUSIC);
    let database = test.open();
    let schema = schema(&*database);
    let mut runner = database.runner(&schema, patient()).unwrap();
    for (query, reason) in [
        ("SELECT count(*) FROM numbers a, numbers b, numbers c", "stopped: more cost than allowed"),
        ("SELECT a.n FROM numbers a, numbers b WHERE a.n + b.n = 2", "(bag (1))"),
        (
            "SELECT count(*) FROM numbers a JOIN numbers b ON a.n = b.n JOIN numbers c ON b.n = c.n",
            "(bag (1000))",
        ),
    ] {
        assert_eq!(answer(&mut *runner, query), reason, "{query}");
    }
    let limits = QueryLimits { steps: u64::MAX, time: Duration::from_millis(300), ..QueryLimits::default() };
    let mut runner = database.runner(&schema, limits).unwrap();
    let idle = peaks(&test.path()).into_iter().max();
    for (query, reason) in [
        ("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d", "time"),
        ("SELECT a.n FROM numbers a, numbers b, numbers c WHERE a.n + b.n + c.n = -1", "time"),
        ("SELECT c FROM never_ends", "time"),
        ("SELECT length(text) FROM grows", "memory"),
        ("SELECT string_agg(a.n, ',') FROM numbers a, numbers b, numbers c", "memory"),
        (
            "SELECT DISTINCT a.n * 1000000 + b.n * 1000 + c.n FROM numbers a, numbers b, numbers c ORDER BY 1",
            "",
        ),
        ("SELECT a.n FROM numbers a, numbers b", "rows"),
    ] {
        let began = Instant::now();
        let found = answer(&mut *runner, query);
        let took = began.elapsed();
        eprintln!("{took:?} {query}: {found}, {:?} MB of {idle:?} MB", peaks(&test.path()));
        assert!(found.starts_with("stopped: more ") && found.contains(reason), "{query}: {found}");
        assert!(took < Duration::from_secs(3), "{took:?} {query}");
        if let (Some(peak), Some(idle)) = (peaks(&test.path()).into_iter().max(), idle) {
            assert!(peak <= idle + (limits.memory as u64 >> 20) + 64, "{query}: {peak} MB of {idle} MB");
        }
        assert_eq!(answer(&mut *runner, "SELECT count(*) FROM artist"), "(bag (2))", "{query}");
    }
    let few = QueryLimits { output: 100, ..limits };
    let mut runner = database.runner(&schema, few).unwrap();
    assert_eq!(answer(&mut *runner, "SELECT n FROM numbers"), "stopped: more output than allowed");
}

fn main() -> ExitCode {
    xpr_exec::duckdb::prepare_program();
    let tests: [(&str, fn()); 16] = [
        ("schemas_have_tables_keys_types_and_comments", schemas_have_tables_keys_types_and_comments),
        ("answers_print_as_those_of_sqlite", answers_print_as_those_of_sqlite),
        ("values_of_every_type_are_printed", values_of_every_type_are_printed),
        (
            "values_are_found_in_small_tables_and_in_samples_of_large_ones",
            values_are_found_in_small_tables_and_in_samples_of_large_ones,
        ),
        (
            "files_that_cannot_be_read_are_errors_that_say_what_to_do",
            files_that_cannot_be_read_are_errors_that_say_what_to_do,
        ),
        ("damaged_files_do_no_harm", damaged_files_do_no_harm),
        ("other_programs_and_changes_are_noticed", other_programs_and_changes_are_noticed),
        ("folders_of_files_are_databases", folders_of_files_are_databases),
        ("files_of_any_name_are_read", files_of_any_name_are_read),
        ("messy_files_are_read_or_named", messy_files_are_read_or_named),
        (
            "views_that_fail_are_left_out_and_unions_are_printed",
            views_that_fail_are_left_out_and_unions_are_printed,
        ),
        ("a_child_that_is_killed_is_replaced", a_child_that_is_killed_is_replaced),
        (
            "queries_run_after_one_for_which_there_was_no_memory",
            queries_run_after_one_for_which_there_was_no_memory,
        ),
        ("hostile_statements_do_no_harm", hostile_statements_do_no_harm),
        ("the_child_does_no_harm_without_the_guard", the_child_does_no_harm_without_the_guard),
        ("runaways_are_stopped_by_cost_time_and_memory", runaways_are_stopped_by_cost_time_and_memory),
    ];
    let trials = tests.map(|(name, test)| {
        Trial::test(format!("duckdb::{name}"), move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}
