//! Opening databases, reading their schemas, and running queries.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod support;

use proptest::prelude::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use support::{TestDatabase, data_folder};
use xpr_exec::database::{DatabaseError, QueryLimits};
use xpr_exec::sqlite::{QueryFacts, SqliteDatabase, SqliteRunner};
use xpr_exec::{Executor, Fault, Outcome};
use xpr_lang::sql::{ColumnType, Schema};

const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT, born DATE);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INT, price REAL, sold BOOLEAN, cover BLOB);
    INSERT INTO artist VALUES (1, 'Nina', '1933-02-21'), (2, 'Miles', '1926-05-26'), (3, 'Nobody', NULL);
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 10.5, 1, x'00ff'), (2, 'Kind of Blue', 2, 12, 0, NULL),
        (3, 'It''s \"late\"', 2, 0.1, 1, NULL);
";

/// Returns `table.column -> table.column confidence` for every foreign key.
fn keys(schema: &Schema) -> Vec<String> {
    let mut lines = Vec::new();
    for table in &schema.tables {
        for key in &table.foreign_keys {
            let from: Vec<&str> =
                key.columns.iter().map(|&c| table.columns[c as usize].name.as_str()).collect();
            let to: Vec<String> = key
                .to
                .iter()
                .map(|&id| format!("{}.{}", schema.table(id.table).name, schema.column(id).name))
                .collect();
            lines.push(format!(
                "{}.{} -> {} {:.2}",
                table.name,
                from.join("+"),
                to.join("+"),
                key.confidence
            ));
        }
    }
    lines
}

#[test]
fn a_column_whose_default_is_the_current_time_can_be_read() {
    let test = TestDatabase::new(
        "CREATE TABLE vote (id INTEGER PRIMARY KEY, created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO vote VALUES (1, '2018-11-09');",
    );
    let mut runner = test.runner(QueryLimits::default());
    assert_eq!(runner.execute("SELECT created FROM vote").to_string(), "value\t(bag (\"2018-11-09\"))");
    let refused = runner.execute("SELECT created, CURRENT_TIMESTAMP FROM vote");
    assert!(refused.text().starts_with("refused: current_timestamp"), "{refused}");
}

#[test]
fn queries_have_graded_outcomes() {
    let test = TestDatabase::new(MUSIC);
    let mut runner = test.runner(QueryLimits::default());
    let cases = [
        ("SELECT name FROM artist", "value\t(bag (\"Miles\") (\"Nina\") (\"Nobody\"))"),
        ("SELECT name FROM artist ORDER BY id;", "value\t(list (\"Nina\") (\"Miles\") (\"Nobody\"))"),
        ("SELECT name FROM artist ORDER BY id LIMIT 1", "value\t(bag (\"Nina\"))"),
        ("SELECT count(*), avg(price), sum(price) FROM album", "value\t(bag (3 7.53333333 22.6))"),
        ("SELECT count(*) FROM album WHERE price > 100", "value\t(bag (0))"),
        ("SELECT cover, sold FROM album WHERE id = 1", "value\t(bag (x'00ff' 1))"),
        ("SELECT title FROM album WHERE title LIKE 'it''s%'", "value\t(bag (\"It's \\\"late\\\"\"))"),
        ("SELECT name FROM artist WHERE id = 9", "empty\t(list)"),
        ("SELECT max(price) FROM album WHERE id = 9", "empty\t(list)"),
        ("SELECT born FROM artist WHERE id = 3", "empty\t(list)"),
        ("SELECT nmae FROM artist", "error\tno such column: nmae"),
        ("SELECT name FROM artists", "error\tno such table: artists"),
        (
            "SELECT name FROM artist WHERE name = \"Nina\"",
            "error\tno such column: \"Nina\" - should this be a string literal in single-quotes?",
        ),
        ("SELECT", "error\tincomplete input"),
        ("SELECT ?", "error\trefused: a query with parameters"),
        ("SELECT ?7 + :year", "error\trefused: a query with parameters"),
        ("DELETE FROM artist", "error\trefused: a statement that does more than read"),
        ("WITH a AS (SELECT id FROM artist) SELECT count(*) FROM a", "value\t(bag (3))"),
        ("SELECT count(*) FROM artist a JOIN album b ON b.artist_id = a.id", "value\t(bag (3))"),
        ("SELECT rank() OVER (ORDER BY price) FROM album", "value\t(bag (1) (2) (3))"),
        ("SELECT strftime('%Y', born) FROM artist WHERE id = 1", "value\t(bag (\"1933\"))"),
        // A query has no clock, so that its answer depends on the database only (issue 18).
        (
            "SELECT date('now'), datetime(), julianday('n' || 'ow'), strftime('%s', 'now'), time()",
            "empty\t(list)",
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(runner.execute(query).to_string(), expected, "{query}");
    }
}

/// Issue 19: people saw sums of money without their cents, and nothing where there are rows of NULLs.
#[test]
fn people_see_all_digits_and_rows_of_nulls() {
    let test = TestDatabase::new(MUSIC);
    let mut runner = test.runner(QueryLimits::default());
    for (query, shown) in [
        (
            "SELECT 12345678.95, 1700000000.5, 0.1 + 0.2, sum(price) FROM album",
            "(bag (12345678.95 1700000000.5 0.3 22.6))",
        ),
        ("SELECT max(price) FROM album WHERE id = 9", "(bag (null))"),
        ("SELECT born, NULL FROM artist WHERE id = 3", "(bag (null null))"),
        ("SELECT name FROM artist WHERE id = 9", "(list)"),
        ("SELECT name FROM artist ORDER BY id", "(list (\"Nina\") (\"Miles\") (\"Nobody\"))"),
        ("DELETE FROM artist", "refused: a statement that does more than read"),
    ] {
        assert_eq!(runner.full_answer(query).text(), shown, "{query}");
    }
}

#[test]
fn queries_are_checked_before_they_run() {
    let test = TestDatabase::new(MUSIC);
    let mut runner = test.runner(QueryLimits::default()).with_check(|text, schema| {
        assert_eq!(schema.tables.len(), 2);
        match text {
            _ if text.contains("name > 3") => Err(Fault::Type("name is text".to_owned())),
            _ => Ok(Some(QueryFacts { ordered: true })),
        }
    });
    assert_eq!(
        runner.execute("SELECT id FROM artist WHERE name > 3"),
        Outcome::TypeError("name is text".to_owned())
    );
    let outcome = runner.execute("SELECT id FROM artist");
    assert_eq!(outcome.denotation(), Some("(list (1) (2) (3))"));
}

#[test]
fn checked_runners_find_certain_mistakes() {
    let test = TestDatabase::new(MUSIC);
    let database = test.open();
    let schema = database.schema().unwrap();
    let mut runner = SqliteRunner::checked(&database, schema, QueryLimits::default()).unwrap();
    for (query, expected) in [
        ("SELECT id FROM artist WHERE name = 'nobody'", "empty"),
        ("SELECT name FROM artist ORDER BY name", "value"),
        ("SELECT sum(name) FROM artist", "type-error"),
        ("SELECT id FROM album WHERE price > 'cheap'", "type-error"),
        ("SELECT nothing FROM artist", "error"),
        ("DELETE FROM artist", "error"),
        // The check does not support window functions, so the query runs.
        ("SELECT rank() OVER (ORDER BY price) FROM album", "value"),
    ] {
        assert_eq!(runner.execute(query).grade(), expected, "{query}");
    }
}

#[test]
fn schemas_have_tables_types_and_declared_keys() {
    let test = TestDatabase::new(
        "PRAGMA foreign_keys = OFF;
         CREATE TABLE country (code TEXT PRIMARY KEY, name);
         CREATE TABLE town (id INTEGER PRIMARY KEY, name VARCHAR(20), land TEXT REFERENCES country, made DATE,
             twin INT REFERENCES town(id), a INT, b INT, lost INT REFERENCES nowhere(x),
             twice INT GENERATED ALWAYS AS (a * 2));
         CREATE TABLE pair (a INT, b INT, PRIMARY KEY (b, a));
         CREATE TABLE points (x INT, y INT, FOREIGN KEY (x, y) REFERENCES pair);
         CREATE VIEW large AS SELECT name, a FROM town WHERE a > 1;
         CREATE VIEW broken AS SELECT * FROM gone;
         CREATE VIRTUAL TABLE documents USING fts5(body);
         CREATE TABLE \"we\"\"ird 'name\" (\"sel ect\" TEXT);
         INSERT INTO country VALUES ('ch', 'Switzerland');
         INSERT INTO town VALUES (1, 'Bern', 'ch', '1191-01-01', NULL, 3, 4, 5);",
    );
    let schema = test.open().schema().unwrap();
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["country", "town", "pair", "points", "large", "we\"ird 'name"]);
    assert_eq!(schema.tables[2].primary_key, [1, 0]);
    assert_eq!(schema.tables[0].columns[1].ty, ColumnType::Text);
    let town: Vec<ColumnType> = schema.tables[1].columns.iter().map(|column| column.ty).collect();
    use ColumnType::{Number, Text, Time};
    assert_eq!(town, [Number, Text, Text, Time, Number, Number, Number, Number, Number]);
    assert_eq!(
        keys(&schema),
        ["town.twin -> town.id 1.00", "town.land -> country.code 1.00", "points.x+y -> pair.b+pair.a 1.00",]
    );
    let mut runner = test.runner(QueryLimits::default());
    assert_eq!(runner.execute("SELECT * FROM large").denotation(), Some("(bag (\"Bern\" 3))"));
}

/// Returns the notes about a database, and its tables as `table (column, column)`.
fn notes_and_tables(database: &SqliteDatabase) -> (Vec<String>, Vec<String>) {
    let read = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap();
    let declared = database.declared_schema().unwrap();
    assert_eq!((&declared.left_out, &declared.declared_types), (&read.left_out, &read.declared_types));
    let tables = read.schema.tables.iter().map(|table| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{} ({})", table.name, columns.join(", "))
    });
    (read.left_out.iter().map(ToString::to_string).collect(), tables.collect())
}

/// Issue 18: a column or view that no query can read hid all values of its table without a word, and was offered to questions.
#[test]
fn what_no_query_can_read_is_left_out_with_a_note() {
    let test = TestDatabase::with(|connection| {
        let flags = rusqlite::functions::FunctionFlags::SQLITE_DETERMINISTIC;
        connection.create_scalar_function("shout", 1, flags, |_| Ok("!")).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE city (shouted TEXT AS (shout(name)), loud TEXT AS (shout(name)) STORED,
                     id INTEGER PRIMARY KEY, name TEXT, \"\" INT);
                 CREATE VIEW padded AS SELECT id, printf('%05d', id) AS code FROM city;
                 CREATE VIEW listed AS SELECT value FROM json_each('[1]');
                 CREATE VIEW over_padded AS SELECT id FROM padded;
                 CREATE VIEW broken AS SELECT broken(id) FROM city;
                 INSERT INTO city (id, name) VALUES (1, 'Rome');",
            )
            .unwrap();
    });
    let (notes, tables) = notes_and_tables(&test.open());
    // A parser of an earlier version may know the views that only the rules for queries refuse.
    assert_eq!(
        tables,
        ["city (loud, id, name, )", "padded (id, code)", "listed (value)", "over_padded (id)"]
    );
    assert_eq!(
        notes,
        [
            "the table broken is left out: no such function: broken",
            "the column shouted of city is left out: unknown function: shout()",
        ]
    );
    assert_eq!(test.open().schema().unwrap().tables[0].primary_key, [1]);
}

/// Issue 18: a table was unreadable if the declaration of a column calls a function that queries cannot call.
#[test]
fn columns_whose_declarations_call_other_functions_can_be_read() {
    let test = TestDatabase::new(
        "CREATE TABLE person (key TEXT DEFAULT (lower(hex(randomblob(16)))), made INT DEFAULT (unixepoch()), name TEXT,
             slug TEXT AS (replace(name, ' ', '-')) STORED, hexagon INT);
         CREATE VIEW everyone AS SELECT key, slug, hexagon FROM person;
         INSERT INTO person (key, name) VALUES ('k', 'Anna Lee');",
    );
    let (notes, tables) = notes_and_tables(&test.open());
    assert_eq!(notes, <[&str; 0]>::default());
    assert_eq!(tables, ["person (key, made, name, slug, hexagon)", "everyone (key, slug, hexagon)"]);
    let mut runner = test.runner(QueryLimits::default());
    for (query, expected) in [
        ("SELECT key, slug FROM person WHERE hexagon IS NULL", "value\t(bag (\"k\" \"Anna-Lee\"))"),
        ("SELECT key FROM everyone", "value\t(bag (\"k\"))"),
        (
            "SELECT hex(key), slug FROM person",
            "error\trefused: the function hex is not on the list of allowed ones",
        ),
        (
            "SELECT slug, \"REPLACE\"(name, 'a', 'b') FROM person",
            "error\trefused: the function replace is not on the list of allowed ones",
        ),
        (
            "SELECT randomblob(9)",
            "error\trefused: the function randomblob is not on the list of allowed ones",
        ),
    ] {
        assert_eq!(runner.execute(query).to_string(), expected, "{query}");
    }
}

/// Issue 18: a table was hidden because its name begins with that of a virtual table.
#[test]
fn only_the_tables_that_store_a_virtual_table_are_hidden() {
    let test = TestDatabase::with(|connection| {
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE note USING fts5(body); CREATE TABLE note_archive (city TEXT);
                 CREATE VIRTUAL TABLE \"a \"\"b\" USING [rtree](id, low, high); CREATE TABLE \"a \"\"b_data\" (x);
                 CREATE VIEW note_titles AS SELECT city FROM note_archive;
                 CREATE TABLE shape_data (bytes BLOB);",
            )
            .unwrap();
        connection.execute_batch("PRAGMA writable_schema = on").unwrap();
        connection
            .execute_batch(
                "INSERT INTO sqlite_schema VALUES ('table', 'shape', 'shape', 0, 'CREATE VIRTUAL TABLE shape USING vec0(x)')",
            )
            .unwrap();
    });
    let (notes, tables) = notes_and_tables(&test.open());
    assert_eq!(tables, ["note_archive (city)", "a \"b_data (x)", "note_titles (city)"]);
    let expected = "the table shape_data is left out: it may store the data of the virtual table shape; rename it if it does not";
    assert_eq!(notes, [expected]);
}

/// Issue 18: names of 60 kB took minutes and gigabytes.
#[test]
fn long_names_are_left_out_with_a_note() {
    let long = "a_".repeat(30_000);
    let test = TestDatabase::new(&format!(
        "CREATE TABLE city (id INTEGER PRIMARY KEY, \"{long}\" TEXT, name TEXT); CREATE TABLE \"{long}b\" (x);
         CREATE TABLE only (\"{long}\" TEXT);"
    ));
    let (notes, tables) = notes_and_tables(&test.open());
    assert_eq!(tables, ["city (id, name)"]);
    let shown = format!("{}…", "a_".repeat(30));
    let reason = "is left out: its name has more than 1024 bytes; rename it";
    assert_eq!(notes.len(), 3);
    assert!(notes.contains(&format!("the table {shown} {reason}")), "{notes:?}");
    assert!(notes.contains(&format!("the column {shown} of city {reason}")), "{notes:?}");

    let test = TestDatabase::new(&format!("CREATE TABLE \"{long}\" (x)"));
    let error = test.open().schema().unwrap_err().to_string();
    assert!(error.ends_with(&format!("can be read; the table {shown} {reason}")), "{error}");
}

#[test]
fn notes_about_many_tables_are_few() {
    let views: Vec<String> =
        (0..30).map(|view| format!("CREATE VIEW v{view} AS SELECT missing(a) FROM t;")).collect();
    let test = TestDatabase::new(&format!("CREATE TABLE t (a); {}", views.concat()));
    let notes = test.open().declared_schema().unwrap().notes();
    assert_eq!((notes.len(), notes[20].as_str()), (21, "so are 10 more tables, or columns of them"));
}

/// Issue 18: views of many columns took more memory than there is.
#[test]
fn views_beyond_the_most_columns_are_left_out_with_a_note() {
    let constants: Vec<String> = (0..1000).map(|column| format!("1 AS c{column}")).collect();
    let views: Vec<String> = (0..52)
        .map(|view| format!("CREATE VIEW v{view} AS SELECT {} FROM t;", constants.join(", ")))
        .collect();
    let test = TestDatabase::new(&format!("CREATE TABLE t (a); {} CREATE TABLE last (b);", views.concat()));
    let declared = test.open().declared_schema().unwrap();
    assert_eq!(declared.schema.tables.len(), 1 + 49 + 1);
    assert_eq!(declared.left_out.len(), 3);
    let notes = declared.notes();
    assert!(notes[0].ends_with("have more than 50000 columns"), "{notes:?}");
}

#[test]
fn keys_are_inferred_where_none_are_declared() {
    let test = TestDatabase::new(MUSIC);
    assert_eq!(keys(&test.open().schema().unwrap()), ["album.artist_id -> artist.id 0.90"]);

    // A table without declared keys, beside one that has some.
    let test = TestDatabase::new(&format!(
        "{MUSIC} CREATE TABLE song (title TEXT, album INT REFERENCES album(id), artist INT);
         INSERT INTO song VALUES ('Sinnerman', 1, 1);
         CREATE VIEW dear AS SELECT id AS album_id, title AS name FROM album WHERE price > 9;"
    ));
    assert_eq!(
        keys(&test.open().schema().unwrap()),
        [
            "album.artist_id -> artist.id 0.90",
            "song.album -> album.id 1.00",
            "dear.album_id -> album.id 0.90"
        ]
    );

    // The target is large, so values are looked up in its index.
    let test = TestDatabase::new(
        "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE purchase (number INT, customer_id INT, amount INT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO customer SELECT i, 'c' || i FROM n;
         INSERT INTO purchase SELECT customer_id, customer_id * 7 % 20000 + 1, customer_id % 10 FROM customer;",
    );
    assert_eq!(keys(&test.open().schema().unwrap()), ["purchase.customer_id -> customer.customer_id 0.94"]);
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn the_keys_of_geoquery_are_inferred() {
    let database = SqliteDatabase::open(data_folder("geography").join("geography.sqlite")).unwrap();
    assert_eq!(database.name(), "geography");
    let schema = database.schema().unwrap();
    assert_eq!(schema.tables.len(), 7);
    let ty = |table: &str, column: &str| {
        let table = schema.find_table(table).unwrap();
        schema.column(schema.find_column(table, column).unwrap()).ty
    };
    assert_eq!(ty("highlow", "highest_elevation"), ColumnType::Other);
    assert_eq!(ty("state", "population"), ColumnType::Number);
    assert_eq!(ty("city", "city_name"), ColumnType::Text);
    let keys = keys(&schema);
    for expected in [
        "city.state_name -> state.state_name",
        "lake.state_name -> state.state_name",
        "mountain.state_name -> state.state_name",
        "highlow.state_name -> state.state_name",
        "border_info.state_name -> state.state_name",
        "border_info.border -> state.state_name",
        "river.traverse -> state.state_name",
    ] {
        assert!(keys.iter().any(|key| key.starts_with(expected)), "{expected} is not in {keys:#?}");
    }
}

#[test]
fn reading_reports_its_progress_and_can_be_stopped() {
    let test = TestDatabase::new(MUSIC);
    let mut seen = Vec::new();
    let stopped = test.open().read_schema(&mut |progress| {
        seen.push((progress.table.to_owned(), progress.done, progress.total));
        if progress.done == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(DatabaseError::Cancelled { .. })));
    assert_eq!(seen, [("artist".to_owned(), 0, 2), ("album".to_owned(), 1, 2)]);
}

#[test]
fn a_hundred_tables_are_read_in_seconds() {
    let test = TestDatabase::with(|connection| {
        for table in 0..100 {
            let columns: String = (0..8).map(|column| format!(", c{column} TEXT")).collect();
            connection
                .execute_batch(&format!(
                    "CREATE TABLE t{table} (id INTEGER PRIMARY KEY{columns});
                     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                     INSERT INTO t{table} SELECT i, 'a' || i, 'b', 'c' || i % 7, 1, 2, 3, 4, 5 FROM n;"
                ))
                .unwrap();
        }
    });
    let began = Instant::now();
    assert_eq!(test.open().schema().unwrap().tables.len(), 100);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn files_that_are_not_databases_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, contents: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    };
    let missing = SqliteDatabase::open(folder.path().join("none.db")).unwrap_err();
    assert!(matches!(missing, DatabaseError::Missing { .. }));
    assert!(missing.to_string().ends_with("none.db: there is no such file; check the path"), "{missing}");
    assert!(matches!(SqliteDatabase::open(folder.path()), Err(DatabaseError::Directory { .. })));
    assert!(matches!(SqliteDatabase::open(file("empty", b"")), Err(DatabaseError::NoTables { .. })));
    assert!(matches!(
        SqliteDatabase::open(file("short", b"SQLite format 3\0")),
        Err(DatabaseError::NotADatabase { .. })
    ));
    assert!(matches!(
        SqliteDatabase::open(file("garbage", &[7; 5000])),
        Err(DatabaseError::NotADatabase { .. })
    ));
    assert!(matches!(SqliteDatabase::open("/dev/null"), Err(DatabaseError::NotAFile { .. })));
    let no_tables = TestDatabase::new("CREATE TABLE t (a); DROP TABLE t;");
    assert!(matches!(no_tables.open().schema(), Err(DatabaseError::NoTables { .. })));
    // A path that looks like a URI is a path.
    assert!(matches!(SqliteDatabase::open("file::memory:?mode=rwc"), Err(DatabaseError::Missing { .. })));
    assert!(!std::path::Path::new(":memory:").exists());
}

#[test]
fn paths_with_special_characters_are_opened() {
    let test = TestDatabase::new(MUSIC);
    for (file, name) in
        [("a b", "a b"), ("a?mode=rwc&x=#%41.db", "a?mode=rwc&x=#%41"), ("é'\"", "é'\""), ("%2e", "%2e")]
    {
        let path = test.folder().join(file);
        std::fs::copy(test.path(), &path).unwrap();
        let database = SqliteDatabase::open(&path).unwrap();
        assert_eq!(database.schema().unwrap().tables.len(), 2, "{file}");
        assert_eq!(database.name(), name);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_write_ahead_log_is_not_created_and_not_ignored() {
    let test = TestDatabase::with(|connection| {
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch(MUSIC).unwrap();
    });
    let before = test.fingerprint();
    assert_eq!(before.len(), 1, "{before:?}");
    let mut runner = test.runner(QueryLimits::default());
    assert_eq!(runner.execute("SELECT count(*) FROM album").denotation(), Some("(bag (3))"));
    assert_eq!(test.fingerprint(), before);

    // The changes of another program are in the log, not in the file.
    let writer = rusqlite::Connection::open(test.path()).unwrap();
    writer.execute_batch("DELETE FROM album").unwrap();
    let mut runner = test.runner(QueryLimits::default());
    assert_eq!(runner.execute("SELECT count(*) FROM album").denotation(), Some("(bag (0))"));
}

#[test]
fn runners_can_be_sent_to_threads() {
    fn assert_send<T: Send>() {}
    assert_send::<SqliteRunner>();
    assert_send::<SqliteDatabase>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The replaced functions give the same results as those of SQLite.
    #[test]
    fn replaced_functions_agree_with_sqlite(
        text in "[aAbé%_!\\]\\-^*?\\[]{0,8}",
        pattern in "[aAbé%_!\\]\\-^*?\\[]{0,6}",
        number in prop::sample::select(vec!["1", "1.0", "-2.5", "0.1 + 0.2", "1e20", "1e15", "1e16", "1e17", "12345678901234567.0", "1.0 / 3", "2e-5 / 3", "-1e-4", "123456789012", "NULL", "x'6162'"]),
    ) {
        thread_local! {
            static ENGINES: (rusqlite::Connection, std::cell::RefCell<SqliteRunner>) = {
                let runner = TestDatabase::new(MUSIC).runner(QueryLimits::default());
                (rusqlite::Connection::open_in_memory().unwrap(), std::cell::RefCell::new(runner))
            };
        }
        for expression in [
            format!("'{text}' LIKE '{pattern}'"),
            format!("'{text}' LIKE '{pattern}' ESCAPE '!'"),
            format!("'{text}' GLOB '{pattern}'"),
            format!("instr('{text}', '{pattern}')"),
            format!("trim('{text}', '{pattern}') || '|' || ltrim('{text}', '{pattern}') || '|' || rtrim('{text}', '{pattern}')"),
            format!("({number}) LIKE '{pattern}%'"),
            format!("({number}) LIKE (({number}) || '')"),
            format!("instr({number}, '2')"),
        ] {
            let (expected, found) = ENGINES.with(|(plain, runner)| {
                let sql = format!("SELECT coalesce({expression}, 'null') || ''");
                let expected: String = plain.query_row(&sql, [], |row| row.get(0)).unwrap();
                (expected, runner.borrow_mut().execute(&sql))
            });
            let escaped = expected.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(found, Outcome::Value(format!("(bag (\"{escaped}\"))")), "{}", expression);
        }
    }
}
