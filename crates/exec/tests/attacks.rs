//! The statements in `attacks/sql`, hostile and damaged files, and queries that would run forever.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod support;

use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{TestDatabase, expand, shortened};
use xpr_exec::database::{DatabaseError, QueryLimits};
use xpr_exec::sqlite::{SqliteDatabase, SqliteRunner};
use xpr_exec::{Executor, Outcome};

/// The database of the statements.
const WORLD: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT, born DATE);
    CREATE TABLE album (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, artist_id INT, price REAL);
    CREATE TABLE numbers (n INT);
    CREATE TABLE \"order\" (\"select\" TEXT, \"from\" TEXT, \"we\"\"ird\" TEXT);
    INSERT INTO artist VALUES (1, 'Nina', '1933-02-21'), (2, 'Miles', '1926-05-26');
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 10.5), (2, 'Kind of Blue', 2, 12);
    INSERT INTO \"order\" VALUES ('a', 'b', 'c');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO numbers SELECT i FROM n;
    ANALYZE;
";

/// Makes a database whose schema tries everything that a schema can.
fn hostile_schema() -> TestDatabase {
    let mut script = String::from(
        "CREATE TABLE victim (name TEXT);
         INSERT INTO victim VALUES ('x'), ('y');
         CREATE TABLE numbers (n INT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO numbers SELECT i FROM n;
         CREATE VIEW calls_load_extension AS SELECT load_extension('evil') AS a FROM victim;
         CREATE VIEW calls_readfile AS SELECT readfile('/etc/passwd') AS a;
         CREATE VIEW reads_schema AS SELECT sql FROM sqlite_master;
         CREATE VIEW reads_pragma AS SELECT file FROM pragma_database_list;
         CREATE VIEW makes_blob AS SELECT randomblob(1000000000) AS a FROM victim;
         CREATE VIEW never_ends AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
         CREATE VIEW crosses AS SELECT a.n FROM numbers a, numbers b, numbers c;
         CREATE VIEW reads_json AS SELECT value FROM json_each('[1]');
         CREATE TABLE generated (plain INT, calculated TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))));
         INSERT INTO generated (plain) VALUES (1);
         CREATE VIRTUAL TABLE documents USING fts5(body);
         INSERT INTO documents VALUES ('x');
         CREATE VIRTUAL TABLE boxes USING rtree(id, a, b);
         CREATE VIEW sees_documents AS SELECT body FROM documents;
         CREATE VIEW writes_through AS SELECT name FROM victim;
         CREATE TRIGGER on_view INSTEAD OF INSERT ON writes_through BEGIN DELETE FROM victim; END;
         CREATE TRIGGER on_table AFTER INSERT ON victim BEGIN SELECT load_extension('evil'); END;
         CREATE VIEW circle AS SELECT * FROM other_circle;
         CREATE VIEW other_circle AS SELECT * FROM circle;
         CREATE INDEX odd ON victim (length(name)) WHERE name LIKE '%a%';
         CREATE VIEW deep_0 AS SELECT name FROM victim;",
    );
    for depth in 1..=30 {
        let below = depth - 1;
        writeln!(script, "CREATE VIEW deep_{depth} AS SELECT a.name FROM deep_{below} a, deep_{below} b;")
            .unwrap();
    }
    TestDatabase::new(&script)
}

/// Runs one file of statements. Returns their number, and messages for those whose outcome is not the expected one.
fn run_statements(name: &str, test: &TestDatabase) -> (usize, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/sql").join(name);
    let statements = std::fs::read_to_string(path).unwrap();
    let limits = QueryLimits::default();
    let mut runner = test.runner(limits);
    let before = test.fingerprint();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in statements.lines().filter(|line| !line.starts_with('#')) {
        let (expected, statement) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
        let statement = expand(statement);
        count += 1;
        let began = Instant::now();
        let outcome = runner.execute(&statement);
        let took = began.elapsed();
        let is_expected = match expected {
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
        if took > limits.time + Duration::from_millis(800) {
            failures.push(format!("{}: took {took:?}", shortened(&statement)));
        }
        if took > limits.time {
            eprintln!("{took:?} {} {}", shortened(&statement), shortened(&outcome.to_string()));
        }
    }
    // The runner still works after all that.
    let table = if name == "hostile_schema.tsv" { "victim" } else { "artist" };
    assert_eq!(
        runner.execute(&format!("SELECT count(*) FROM {table}")),
        Outcome::Value("(bag (2))".to_owned()),
        "{name}"
    );
    assert_eq!(test.fingerprint(), before, "{name} left a trace");
    for stolen in ["stolen", "stolen.db", "other.db", "/tmp/xpr-attack-stolen.db"] {
        assert!(!Path::new(stolen).exists(), "{name} made {stolen}");
    }
    (count, failures)
}

#[test]
fn hostile_statements_do_no_harm() {
    let world = TestDatabase::new(WORLD);
    let mut count = 0;
    let mut failures = Vec::new();
    for name in ["writes.tsv", "statements.tsv", "reach.tsv", "bombs.tsv", "literals.tsv", "names.tsv"] {
        let (statements, more) = run_statements(name, &world);
        count += statements;
        failures.extend(more);
    }
    assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(count >= 150, "{count} statements");
}

#[test]
fn a_hostile_schema_does_no_harm() {
    let began = Instant::now();
    let test = hostile_schema();
    let (_, failures) = run_statements("hostile_schema.tsv", &test);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn limits_stop_queries_and_steps_are_deterministic() {
    let world = TestDatabase::new(WORLD);
    let endless = "SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d";
    let limits = QueryLimits { steps: u64::MAX, time: Duration::from_millis(100), ..QueryLimits::default() };
    let began = Instant::now();
    let outcome = world.runner(limits).execute(endless);
    let took = began.elapsed();
    assert_eq!(outcome, Outcome::Timeout("stopped: more time than allowed".to_owned()));
    assert!(took < Duration::from_secs(1), "{took:?}");

    // Whether a number of steps is enough does not depend on what ran before.
    let query = "SELECT sum(a.n) FROM numbers a, numbers b WHERE b.n < 20";
    let enough = |steps: u64, warm: bool| {
        let mut runner =
            world.runner(QueryLimits { steps, time: Duration::from_secs(60), ..QueryLimits::default() });
        if warm {
            let _ = runner.execute("SELECT * FROM numbers ORDER BY n DESC");
        }
        runner.execute(query).executes()
    };
    let (mut low, mut high) = (0, 10_000_000);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle, false) { high = middle } else { low = middle }
    }
    assert!(low > 1000 && enough(high, true) && !enough(low, true), "{low}");

    // The time is long enough for a busy machine, so that the other limits come first.
    let limits = QueryLimits { time: Duration::from_secs(60), ..QueryLimits::default() };
    let numbers = "SELECT n FROM numbers";
    let sorted = "SELECT a.n FROM numbers a, numbers b ORDER BY a.n * b.n LIMIT 100000";
    for (limits, query, exceeded) in [
        (QueryLimits { rows: 999, ..limits }, numbers, Some("rows")),
        (QueryLimits { rows: 1000, ..limits }, numbers, None),
        (QueryLimits { output: 999, ..limits }, numbers, Some("output")),
        (QueryLimits { memory: 1 << 20, ..limits }, sorted, Some("memory")),
    ] {
        let outcome = world.runner(limits).execute(query);
        match exceeded {
            Some(what) => {
                assert_eq!(outcome, Outcome::Timeout(format!("stopped: more {what} than allowed")));
            }
            None => assert_eq!(outcome.grade(), "value"),
        }
    }
}

#[test]
fn damaged_files_are_errors() {
    let world = TestDatabase::new(WORLD);
    let whole = std::fs::read(world.path()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.db");
    let queries = [
        "SELECT * FROM artist",
        "SELECT count(*) FROM numbers",
        "SELECT title FROM album JOIN artist ON artist.id = artist_id ORDER BY price",
    ];
    let mut opened = 0;
    let mut try_it = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let Ok(database) = SqliteDatabase::open(&path) else { return };
        let Ok(schema) = database.schema() else { return };
        let Ok(mut runner) = SqliteRunner::new(&database, schema, QueryLimits::default()) else { return };
        opened += 1;
        for query in queries {
            let _ = runner.execute(query);
        }
    };
    for length in (0..whole.len()).step_by(whole.len() / 60) {
        try_it(&whole[..length]);
    }
    // A fixed sequence of pseudorandom positions, in the header, the schema and the rows.
    let mut state: u64 = 7;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..1 + round % 20 {
            // Every other flip is in the first page, where the schema is.
            let at = if round % 2 == 0 { next(4096) } else { next(bytes.len()) };
            bytes[at] ^= 1 << next(8);
        }
        try_it(&bytes);
    }
    assert!(opened > 20, "only {opened} could be opened, so the damage is too coarse to test queries");
}

/// Turns a page of a database into an inner page of a table, all of whose children are the same page.
fn write_inner_page(bytes: &mut [u8], page: usize, child: usize) {
    const SIZE: usize = 4096;
    let start = if page == 1 { 100 } else { 0 };
    let page = &mut bytes[(page - 1) * SIZE..page * SIZE];
    page[start..].fill(0);
    let cells = 500;
    page[start] = 5;
    page[start + 3..start + 5].copy_from_slice(&(cells as u16).to_be_bytes());
    page[start + 5..start + 7].copy_from_slice(&((SIZE - 5 * cells) as u16).to_be_bytes());
    page[start + 8..start + 12].copy_from_slice(&(child as u32).to_be_bytes());
    for cell in 0..cells {
        let at = SIZE - 5 * (cell + 1);
        page[at..at + 4].copy_from_slice(&(child as u32).to_be_bytes());
        page[at + 4] = 1;
        let pointer = start + 12 + 2 * cell;
        page[pointer..pointer + 2].copy_from_slice(&(at as u16).to_be_bytes());
    }
}

/// A table whose pages contain each other: counting its rows is a single step of SQLite's machine, and never ends.
#[test]
fn a_step_that_never_ends_is_interrupted() {
    let test = TestDatabase::new(
        "PRAGMA page_size = 4096; CREATE TABLE t (a); CREATE TABLE p3 (a); CREATE TABLE p4 (a); CREATE TABLE p5 (a);
         CREATE TABLE p6 (a); INSERT INTO p6 VALUES (1);",
    );
    let mut bytes = std::fs::read(test.path()).unwrap();
    for page in 2..6 {
        write_inner_page(&mut bytes, page, page + 1);
    }
    std::fs::write(test.path(), bytes).unwrap();
    let before = test.fingerprint();
    let mut runner = test.runner(QueryLimits::default());
    let stopped = Outcome::Timeout("stopped: more time than allowed".to_owned());
    assert_eq!(runner.execute("SELECT count(*) FROM t"), stopped);
    assert_eq!(runner.execute("SELECT count(*) FROM p6"), Outcome::Value("(bag (1))".to_owned()));
    assert_eq!(test.fingerprint(), before);
}

/// A schema whose pages contain each other, with a row that SQLite accepts any number of times.
#[test]
fn a_schema_that_never_ends_is_interrupted() {
    let test = TestDatabase::new(
        "PRAGMA page_size = 4096; CREATE TABLE t (a UNIQUE); CREATE TABLE p4 (a); CREATE TABLE p5 (a);
         CREATE TABLE p6 (a); CREATE TABLE p7 (a); CREATE TABLE p8 (a);",
    );
    let mut bytes = std::fs::read(test.path()).unwrap();
    // Rows of the schema are cells of the first page: the table, its index and the others.
    for (page, cell) in [(7, 0), (8, 1)] {
        let (first, rest) = bytes.split_at_mut(4096);
        let leaf = &mut rest[(page - 2) * 4096..(page - 1) * 4096];
        leaf.copy_from_slice(first);
        let pointer = [first[108 + 2 * cell], first[109 + 2 * cell]];
        leaf[..12].fill(0);
        leaf[0] = 13;
        leaf[3..5].copy_from_slice(&1u16.to_be_bytes());
        leaf[5..7].copy_from_slice(&first[105..107]);
        leaf[8..10].copy_from_slice(&pointer);
    }
    for page in [4, 5, 6] {
        write_inner_page(&mut bytes, page, if page == 6 { 8 } else { page + 1 });
    }
    write_inner_page(&mut bytes, 1, 4);
    // The first child is the table itself.
    bytes[4096 - 5..4096 - 1].copy_from_slice(&7u32.to_be_bytes());
    std::fs::write(test.path(), bytes).unwrap();
    let before = test.fingerprint();
    let error = SqliteDatabase::open(test.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, DatabaseError::Endless { .. }), "{error}");
    assert_eq!(test.fingerprint(), before);
}

/// Statistics whose pages contain each other. SQLite reads them when it opens the database, and goes on without them if that
/// is interrupted: each connection took five seconds.
#[test]
fn statistics_that_never_end_are_an_error() {
    let mut roots: Vec<usize> = Vec::new();
    let test = TestDatabase::with(|connection| {
        connection
            .execute_batch(
                "PRAGMA page_size = 4096; CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1), (2);
                 ANALYZE; CREATE TABLE p (a); CREATE TABLE q (a); CREATE TABLE r (a); CREATE TABLE s (a);",
            )
            .unwrap();
        let root = |name: &str| {
            let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
            let page: u32 = connection.query_row(query, [name], |row| row.get(0)).unwrap();
            page as usize
        };
        roots.extend(["sqlite_stat1", "p", "q", "r", "s"].map(root));
    });
    let mut bytes = std::fs::read(test.path()).unwrap();
    let [first, .., last] = roots[..] else { panic!("{roots:?}") };
    bytes.copy_within((first - 1) * 4096..first * 4096, (last - 1) * 4096);
    for pair in roots.windows(2) {
        write_inner_page(&mut bytes, pair[0], pair[1]);
    }
    std::fs::write(test.path(), bytes).unwrap();
    let error = SqliteDatabase::open(test.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, DatabaseError::Endless { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Running any text does not panic and leaves the database unchanged.
    #[test]
    fn any_text_has_an_outcome(text in "\\PC{0,60}|[SELCTFROMwhere'\"`;*()\\[\\]/\\-=0-9a-z ,.]{0,80}") {
        thread_local! {
            static RUNNER: (TestDatabase, std::cell::RefCell<SqliteRunner>) = {
                let world = TestDatabase::new(WORLD);
                let runner = world.runner(QueryLimits::default());
                (world, std::cell::RefCell::new(runner))
            };
        }
        RUNNER.with(|(world, runner)| {
            let before = world.fingerprint();
            let _ = runner.borrow_mut().execute(&text);
            assert_eq!(world.fingerprint(), before);
        });
    }

    /// Running SQL words in any order does not panic and does not run out of memory.
    #[test]
    fn any_sequence_of_words_has_an_outcome(words in prop::collection::vec(prop::sample::select(vec![
        "SELECT", "FROM", "WHERE", "artist", "album", "name", "id", "numbers", "n", "*", "(", ")", ",", "=", "count", "max",
        "ORDER", "BY", "GROUP", "HAVING", "LIMIT", "1", "'x'", "UNION", "WITH", "AS", "a", "JOIN", "ON", "NOT", "IN",
        "LIKE", "BETWEEN", "AND", "CASE", "WHEN", "END", "OVER", "VALUES", "DISTINCT", ".", "||", "-", "NULL", "EXISTS",
    ]), 0..25)) {
        thread_local! {
            static RUNNER: std::cell::RefCell<SqliteRunner> =
                std::cell::RefCell::new(TestDatabase::new(WORLD).runner(QueryLimits::default()));
        }
        let text = format!("SELECT {}", words.join(" "));
        let outcome = RUNNER.with(|runner| runner.borrow_mut().execute(&text));
        prop_assert!(!matches!(outcome, Outcome::Timeout(ref why) if why.contains("memory")), "{}", text);
    }
}
