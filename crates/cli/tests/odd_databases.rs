//! Databases with odd schemas and contradicting labels, and what projects keep of a schema (issue 18).
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn xpr(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.current_dir(folder).args(arguments).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS");
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs a command, which must succeed, and returns what it writes to standard output.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = xpr(folder, arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a folder with the database `music.db` and the questions `pairs.tsv`.
fn folder(script: &str, pairs: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    change(folder.path(), script);
    fs::write(folder.path().join("pairs.tsv"), pairs).unwrap();
    folder
}

fn change(folder: &Path, script: &str) {
    rusqlite::Connection::open(folder.join("music.db")).unwrap().execute_batch(script).unwrap();
}

const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT, born INT);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INT);
    INSERT INTO artist VALUES (1, 'Nina Simone', 1933), (2, 'Bill Evans', 1929);
    INSERT INTO album VALUES (1, 'Pastel Blues', 1), (2, 'Wild is the Wind', 1), (3, 'Portrait in Jazz', 2);
";
const INIT: [&str; 5] = ["init", "--db", "music.db", "--labeled", "pairs.tsv"];
const CHECK: [&str; 6] = ["data", "check", "--db", "music.db", "--labeled", "pairs.tsv"];
const TRAIN: [&str; 6] = ["train", "music/xpr.toml", "--out", "music/run", "--set", "train.steps=1"];
const PAIRS: &str = "how many albums are there\tSELECT count(*) FROM album
who was born in 1929\tSELECT name FROM artist WHERE born = 1929
";

/// A table whose declaration keeps SQLite's parser busy for many seconds within one step, which no interrupt reaches: each of a
/// million columns of a key is looked for among two thousand columns.
#[test]
fn a_schema_that_sqlite_does_not_come_back_from_ends_the_command() {
    let folder =
        folder("CREATE TABLE good (a); CREATE TABLE t (a);", "how many\tSELECT count(*) FROM good\n");
    let name = |column: usize| format!("cccccccccccccccc{column:04}");
    let columns: Vec<String> = (0..2000).map(name).collect();
    let key = vec![name(1999); 1_000_000].join(",");
    let sql = format!("CREATE TABLE t ({}, FOREIGN KEY ({key}) REFERENCES good)", columns.join(","));
    let database = rusqlite::Connection::open(folder.path().join("music.db")).unwrap();
    database.execute_batch("PRAGMA writable_schema = on").unwrap();
    database.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 't'", [sql]).unwrap();
    drop(database);
    let output = xpr(folder.path(), &CHECK);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    // Where the step ends before SQLite counts as unresponsive, the interrupt is seen after it.
    let reasons =
        ["music.db: SQLite takes longer than it may", "music.db: reading its schema takes more than 5 s"];
    assert!(reasons.iter().any(|reason| stderr(&output).contains(reason)), "{}", stderr(&output));
}

/// Issue 18: a file of two megabytes made `xpr init` ask for 33 gigabytes of memory.
#[test]
fn many_columns_take_little_memory() {
    let folder = folder(MUSIC, PAIRS);
    let columns: Vec<String> = (0..60).map(|column| format!("{column} AS c{column}")).collect();
    let views: Vec<String> = (0..3000)
        .map(|view| format!("CREATE VIEW v{view} AS SELECT {} FROM artist;", columns.join(", ")))
        .collect();
    change(folder.path(), &format!("BEGIN; {} COMMIT;", views.concat()));
    let limited = "ulimit -v 4000000 && exec \"$@\"";
    let output = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_xpr")])
        .args(INIT)
        .arg("--no-base")
        .output()
        .unwrap();
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("the tables of the database have more than 50000 columns"), "{notes}");
    assert!(notes.lines().count() < 30, "{notes}");
}

#[test]
fn tables_whose_names_are_not_utf8_are_left_out_with_a_note() {
    let folder = folder(MUSIC, PAIRS);
    let path = folder.path().join("music.db");
    change(
        folder.path(),
        "CREATE TABLE zzzzz (a INT PRIMARY KEY); CREATE TABLE odd (yyyyy INT, b INT REFERENCES zzzzz (a));
         CREATE TABLE typed (a xxxxx, b INT REFERENCES zzzzz (a));
         CREATE VIEW through AS SELECT a FROM zzzzz; CREATE VIEW gone AS SELECT * FROM nowhere;
         INSERT INTO zzzzz VALUES (1); INSERT INTO typed VALUES (1, 1);",
    );
    let mut bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() - 5 {
        if let name @ (b"zzzzz" | b"yyyyy" | b"xxxxx") = &bytes[at..at + 5] {
            let first = name[0];
            bytes[at..at + 5].copy_from_slice(&[first, 0xff, 0xc3, 0xfe, 0xfd]);
        }
    }
    fs::write(&path, bytes).unwrap();
    let output = xpr(folder.path(), &INIT);
    let notes = stderr(&output);
    assert!(output.status.success(), "{notes}");
    for expected in [
        "the table z\u{fffd}\u{fffd}\u{fffd}\u{fffd} is left out: its name is not UTF-8",
        "the table odd is left out: the name of its column y\u{fffd}\u{fffd}\u{fffd}\u{fffd} is not UTF-8",
        "the table gone is left out: no such table: main.nowhere",
    ] {
        assert!(notes.contains(expected), "{notes}");
    }
    let listed = String::from_utf8(output.stdout).unwrap();
    assert!(listed.contains("artist (id, name, born)") && listed.contains("typed (a, b)"), "{listed}");
    let train = xpr(folder.path(), &TRAIN);
    assert!(train.status.success() && stderr(&train).contains("is left out"), "{}", stderr(&train));
    let ask = xpr(folder.path(), &["ask", "music/run", "how many albums are there"]);
    let message = stderr(&ask);
    assert!(message.contains("is left out"), "{message}");
    assert!(![&notes, &stderr(&train), &message].iter().any(|text| text.contains("panicked")), "{message}");
}

#[test]
fn labels_with_different_answers_are_reported() {
    let pairs = format!("{PAIRS}How many albums are there?\tSELECT count(*) FROM artist\n");
    let folder = folder(MUSIC, &pairs);
    let conflict =
        "`how many albums are there` is `SELECT count(*) FROM album` and `SELECT count(*) FROM artist`";
    for command in [&CHECK[..], &INIT] {
        let text = printed(folder.path(), command);
        let lowered = text.to_lowercase();
        assert!(lowered.contains(&conflict.to_lowercase()), "{text}");
    }
    let json = printed(folder.path(), &[&CHECK[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["conflicts"][0]["programs"].as_array().unwrap().len(), 2, "{json}");
    let train = xpr(folder.path(), &[&TRAIN[..], &["--set", "data.held_out=0"]].concat());
    let notes = stderr(&train).to_lowercase();
    assert!(notes.contains(&format!("different labels: {}", conflict.to_lowercase())), "{notes}");
    fs::write(folder.path().join("pairs.tsv"), PAIRS).unwrap();
    assert!(!printed(folder.path(), &CHECK).contains("different answers"));
}

#[test]
fn a_project_keeps_the_types_and_keys_of_its_database_until_the_schema_changes() {
    let folder = folder(MUSIC, PAIRS);
    printed(folder.path(), &INIT);
    let file = folder.path().join("music/xpr-schema.json");
    let kept: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let key = &kept["tables"][1]["keys"][0];
    assert_eq!((&key["column"], &key["to_table"]), (&"artist_id".into(), &"artist".into()), "{kept}");
    let mut train = TRAIN[..4].to_vec();
    for setting in [
        "model.hidden=32",
        "model.heads=4",
        "model.feed_forward=32",
        "model.word=16",
        "model.action=16",
        "train.rate=0.01",
        "train.warmup=5",
        "train.steps=60",
        "data.held_out=0",
    ] {
        train.extend(["--set", setting]);
    }
    printed(folder.path(), &train);
    let ask = || xpr(folder.path(), &["ask", "music/run", "how many albums are there", "--json"]);
    let candidates = |output: &Output| {
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["candidates"].clone()
    };
    let first = ask();
    assert!(!stderr(&first).contains("inferred"), "{}", stderr(&first));

    // Without the file they are inferred, to the same result.
    fs::rename(&file, folder.path().join("kept.json")).unwrap();
    let without = ask();
    assert_eq!((candidates(&without), stderr(&without)), (candidates(&first), stderr(&first)));

    // Another file of that name, and another schema, are noticed.
    fs::write(&file, "{}").unwrap();
    assert!(stderr(&ask()).contains("are inferred each time"), "{}", stderr(&ask()));
    fs::rename(folder.path().join("kept.json"), &file).unwrap();
    assert!(!stderr(&ask()).contains("inferred"));
    change(folder.path(), "CREATE INDEX by_title ON album (title); INSERT INTO artist VALUES (3, 'x', 4)");
    assert!(!stderr(&ask()).contains("inferred"));
    change(folder.path(), "ALTER TABLE album ADD COLUMN price REAL");
    assert!(stderr(&ask()).contains("its rules or items are not those"), "{}", stderr(&ask()));
    train[3] = "music/second";
    let changed = stderr(&xpr(folder.path(), &train));
    assert!(changed.contains("the tables of the database are not those of"), "{changed}");
}

#[test]
fn commands_say_how_a_database_is_read_if_asked_to() {
    let folder = folder(MUSIC, PAIRS);
    printed(folder.path(), &INIT);
    printed(folder.path(), &TRAIN);
    let ask = ["ask", "music/run", "how many albums are there"];
    for command in [&CHECK[..], &ask, &["eval", "music/run"]] {
        let how = "is read from a copy in memory";
        assert!(!stderr(&xpr(folder.path(), command)).contains(how), "{command:?}");
        let verbose = stderr(&xpr(folder.path(), &[command, &["--verbose"]].concat()));
        assert!(verbose.contains("music.db") && verbose.contains(how), "{command:?}: {verbose}");
    }
}
