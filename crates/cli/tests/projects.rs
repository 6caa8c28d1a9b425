//! A user's database and questions, through the binary.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Albums of two artists, without declared foreign keys.
const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT, born INT);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INT, price REAL);
    INSERT INTO artist VALUES (1, 'Nina Simone', 1933), (2, 'Bill Evans', 1929);
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 9.5), (2, 'Wild is the Wind', 1, 12), (3, 'Portrait in Jazz', 2, 8);
";

const PAIRS: &str = "\
how many albums are there\tSELECT count(*) FROM album
when was nina simone born\tSELECT born FROM artist WHERE name = \"Nina Simone\"
which albums are expensive\tSELECT title FROM album WHERE price > 10
is portrait in jazz expensive\tSELECT price > 10 FROM album WHERE title = 'Portrait in Jazz'
who made wild is the wind\tSELECT a.name FROM artist a JOIN album b ON b.artist_id = a.id WHERE b.title = 'Wild is the Wind'
what is by the pianist\tSELECT title FROM album WHERE artist_id = (SELECT id FROM artist WHERE name = 'Bill Evans')
what does it cost\tSELECT cost FROM album
names that are numbers\tSELECT sum(name) FROM artist
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("music.db")).unwrap();
    database.execute_batch(MUSIC).unwrap();
    fs::write(folder.path().join("pairs.tsv"), PAIRS).unwrap();
    fs::write(folder.path().join("log.txt"), "how many artists are there\n\nwho sings wild is the wind\n")
        .unwrap();
    folder
}

fn xpr(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command
        .current_dir(folder)
        .args(arguments)
        .env_remove("XPR_DATA")
        .env_remove("XPR_EMBEDDINGS")
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn init_writes_a_project_and_does_not_overwrite_it() {
    let folder = folder();
    let init = ["init", "--db", "sqlite:music.db", "--labeled", "pairs.tsv", "--unlabeled", "log.txt"];
    insta::assert_snapshot!("init", printed(&xpr(folder.path(), &init)));
    let read = |name: &str| fs::read_to_string(folder.path().join("music").join(name)).unwrap();
    insta::assert_snapshot!("init_experiment", read("xpr.toml"));
    assert_eq!(read("train.tsv"), PAIRS);
    assert_eq!(read("unlabeled.txt"), "how many artists are there\nwho sings wild is the wind\n");

    let again = xpr(folder.path(), &init);
    assert!(!again.status.success());
    insta::assert_snapshot!("init_again", String::from_utf8(again.stderr).unwrap());
    printed(&xpr(folder.path(), &[&init[..], &["--force"]].concat()));
}

#[test]
fn init_writes_the_questions_of_each_split_to_a_file() {
    let folder = folder();
    let csv = "question,sql,split\nhow many albums,SELECT count(*) FROM album,train\nhow many artists,SELECT count(*) FROM artist,test\n";
    fs::write(folder.path().join("pairs.csv"), csv).unwrap();
    printed(&xpr(
        folder.path(),
        &["init", "--db", "sqlite:music.db", "--labeled", "pairs.csv", "--out", "new/project"],
    ));
    let read = |name: &str| fs::read_to_string(folder.path().join("new/project").join(name)).unwrap();
    assert_eq!(read("train.tsv"), "how many albums\tSELECT count(*) FROM album\n");
    assert_eq!(read("test.tsv"), "how many artists\tSELECT count(*) FROM artist\n");
    let experiment = read("xpr.toml");
    assert!(experiment.contains("database = \"sqlite:../../music.db\""), "{experiment}");
    assert!(experiment.contains("test = \"test.tsv\"") && !experiment.contains("held_out"), "{experiment}");
}

#[test]
fn labeled_queries_may_take_more_steps_than_candidates() {
    let folder = folder();
    let database = rusqlite::Connection::open(folder.path().join("music.db")).unwrap();
    let many = "CREATE TABLE play (id INTEGER PRIMARY KEY, album_id INT);
        INSERT INTO play SELECT value, value % 3 + 1 FROM (
            WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 400000) SELECT value FROM n)";
    database.execute_batch(many).unwrap();
    drop(database);
    // These queries take more steps than the limit of a candidate.
    let pairs = "question,sql,split\nhow many plays,SELECT count(*) FROM play,train\n\
        how many plays of album 2,SELECT count(*) FROM play WHERE album_id = 2,test\n";
    fs::write(folder.path().join("plays.csv"), pairs).unwrap();
    printed(&xpr(folder.path(), &["init", "--db", "sqlite:music.db", "--labeled", "plays.csv"]));
    let train = ["train", "music/xpr.toml", "--out", "music/run", "--set", "train.steps=1"];
    printed(&xpr(folder.path(), &train));
    let predictions = fs::read_to_string(folder.path().join("music/run/predictions.jsonl")).unwrap();
    assert!(predictions.contains("\"gold_outcome\":\"value\\t(bag (133334))\""), "{predictions}");
}

#[test]
fn text_in_double_quotes_is_read_and_a_failing_label_is_reported_and_not_counted() {
    // Issue 16: such labels were all counted as wrong answers.
    let folder = folder();
    let pairs = "question\tsql\tsplit\n\
        when was nina simone born\tSELECT born FROM artist WHERE name = \"Nina Simone\"\ttrain\n\
        when was bill evans born\tSELECT born FROM artist WHERE name = \"Bill Evans\"\ttest\n\
        what does it cost\tSELECT cost FROM album\ttest\n";
    fs::write(folder.path().join("quoted.tsv"), pairs).unwrap();
    printed(&xpr(folder.path(), &["init", "--db", "sqlite:music.db", "--labeled", "quoted.tsv"]));
    let check = ["data", "check", "--db", "sqlite:music.db", "--labeled", "quoted.tsv", "--json"];
    let check: serde_json::Value = serde_json::from_str(&printed(&xpr(folder.path(), &check))).unwrap();
    assert_eq!((&check["pairs"], &check["executable"]), (&3.into(), &2.into()));

    let train = ["train", "music/xpr.toml", "--out", "music/run", "--set", "train.steps=1", "--json"];
    for arguments in [&train[..], &["eval", "music/run", "--json"]] {
        let output = xpr(folder.path(), arguments);
        let evaluation: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
        assert_eq!((&evaluation["examples"], &evaluation["failed_labels"]), (&1.into(), &1.into()));
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(notes.contains("the labeled query fails: `what does it cost`: "), "{notes}");
        let predictions = fs::read_to_string(folder.path().join("music/run/predictions.jsonl")).unwrap();
        assert!(predictions.contains("\"gold_outcome\":\"value\\t(bag (1929))\""), "{predictions}");
        assert!(!predictions.contains("what does it cost"), "{predictions}");
    }
}

#[test]
fn a_run_gives_the_same_answers_after_its_files_grew_and_its_project_moved() {
    let folder = folder();
    let csv: String = PAIRS.lines().take(6).fold("question\tsql\tsplit\n".to_owned(), |text, line| {
        text + line + if line.starts_with("who") { "\ttest\n" } else { "\ttrain\n" }
    });
    fs::write(folder.path().join("split.tsv"), csv).unwrap();
    let init = ["init", "--db", "sqlite:music.db", "--labeled", "split.tsv", "--unlabeled", "log.txt"];
    printed(&xpr(folder.path(), &init));
    let mut train = vec!["train", "music/xpr.toml", "--out", "music/run", "--json"];
    for setting in [
        "train.steps=30",
        "train.rate=0.01",
        "train.warmup=2",
        "model.hidden=32",
        "model.heads=4",
        "model.feed_forward=32",
        "model.word=16",
        "learn.steps=20",
        "learn.beam=4",
    ] {
        train.extend(["--set", setting]);
    }
    let trained = printed(&xpr(folder.path(), &train));
    assert!(trained.contains("\"examples\": 1"), "{trained}");
    let asked = |project: &str| -> serde_json::Value {
        let ask = ["ask", &format!("{project}/run"), "when was bill evans born", "--json"];
        let mut answer: serde_json::Value =
            serde_json::from_str(&printed(&xpr(folder.path(), &ask))).unwrap();
        answer["milliseconds"] = 0.into();
        answer
    };
    let (before, project) = (asked("music"), folder.path().join("music"));

    let append = |name: &str, text: &str| {
        let content = fs::read_to_string(project.join(name)).unwrap() + text;
        fs::write(project.join(name), content).unwrap();
    };
    append("unlabeled.txt", "a question with entirely other words\n");
    append("train.tsv", "cheap albums\tSELECT title FROM album WHERE price < 9\n");
    append("train.tsv", "what is cheap\tSELECT title FROM album WHERE price < 9\n");
    fs::rename(&project, folder.path().join("moved")).unwrap();
    assert_eq!(asked("moved"), before);
    // XPR_DATA is ignored, because it does not have the files of this run.
    let mut eval = Command::new(env!("CARGO_BIN_EXE_xpr"));
    eval.current_dir(folder.path()).args(["eval", "moved/run", "--json"]).env("XPR_DATA", "elsewhere");
    assert_eq!(printed(&eval.output().unwrap()), trained);
}

/// Issue 18: after cells were changed, a run went on with fewer labels than it began with.
#[test]
fn a_run_does_not_go_on_with_other_labels_because_cells_changed() {
    let folder = folder();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "pairs.tsv", "--out", "project"]));
    let train =
        ["train", "project/xpr.toml", "--set", "data.held_out=0", "--set", "train.steps=2", "--out", "run"];
    let train = [&train[..], &["--set", "eval.confidence_folds=0"]].concat();
    printed(&xpr(folder.path(), &train));
    let change = |sql: &str| {
        rusqlite::Connection::open(folder.path().join("music.db")).unwrap().execute_batch(sql).unwrap();
    };
    let resume = || xpr(folder.path(), &["train", "--out", "run", "--resume"]);
    change("INSERT INTO artist VALUES (3, 'Chet Baker', 1929)");
    printed(&resume());
    change("UPDATE artist SET name = 'Nina S.' WHERE id = 1");
    let output = resume();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message
            .contains("trained on other data: the cells, and with them the labels that can be learned from"),
        "{message}"
    );
}

/// Issue 18: one table showed results of cells that were trained before and after columns were added.
#[test]
fn cells_of_a_database_that_has_other_columns_now_are_not_those_of_a_sweep() {
    let folder = folder();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "pairs.tsv", "--out", "project"]));
    let sweep = |beams: &str| {
        let grid = "\"train.steps\" = [1]\n\"eval.confidence_folds\" = [0]\n";
        let part = format!(
            "[[part]]\nexperiment = \"project/xpr.toml\"\n[part.grid]\n{grid}\"eval.beam\" = {beams}\n"
        );
        fs::write(folder.path().join("sweep.toml"), part).unwrap();
        xpr(folder.path(), &["sweep", "sweep.toml", "--out", "cells"])
    };
    printed(&sweep("[1]"));
    let change = |sql: &str| {
        rusqlite::Connection::open(folder.path().join("music.db")).unwrap().execute_batch(sql).unwrap();
    };
    // Rows come and go.
    change("INSERT INTO artist VALUES (3, 'Chet Baker', 1929)");
    printed(&sweep("[1]"));
    change("ALTER TABLE artist ADD COLUMN died INT");
    for beams in ["[1]", "[1, 2]"] {
        let output = sweep(beams);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        let expected = "trained on other data: the tables, columns or constants changed";
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn data_check_counts_and_explains_failures() {
    let folder = folder();
    let check = [
        "data",
        "check",
        "--db",
        "sqlite:music.db",
        "--labeled",
        "pairs.tsv",
        "--unlabeled",
        "log.txt",
        "--json",
    ];
    let json: serde_json::Value = serde_json::from_str(&printed(&xpr(folder.path(), &check))).unwrap();
    let counts: Vec<u64> =
        ["pairs", "executable", "covered", "round_trip", "linked", "linked_with_constants"]
            .iter()
            .map(|key| json[key].as_u64().unwrap())
            .collect();
    assert_eq!(counts, [8, 7, 6, 6, 3, 5]);
    let failures: Vec<String> = json["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| format!("{} {} {}", failure["line"], failure["stage"], failure["reason"]))
        .collect();
    insta::assert_snapshot!("check_failures", failures.join("\n"));
    assert_eq!(json["unlabeled"]["questions"], 2);
}

#[test]
fn bench_exec_measures_queries_and_the_time_limit() {
    let folder = folder();
    let bench =
        ["bench", "exec", "--db", "sqlite:music.db", "--labeled", "pairs.tsv", "--seconds", "0.01", "--json"];
    let json: serde_json::Value = serde_json::from_str(&printed(&xpr(folder.path(), &bench))).unwrap();
    assert!(json["programs_per_second"].as_f64().unwrap() > 0.0);
    assert!(json["remembered_per_second"].as_f64().unwrap() > 0.0);
    let stopped = json["runaway_stopped_ms"].as_array().unwrap();
    assert_eq!(stopped.len(), 5);
    assert!(stopped.iter().all(|ms| ms.as_f64() >= json["runaway_limit_ms"].as_f64()));
}

#[test]
fn import_text2sql_writes_a_project() {
    let folder = folder();
    let template = r#"[{"query-split": "train", "sql": ["SELECT A.born FROM artist AS A WHERE A.name = \"name0\" ;"], "variables": [],
        "sentences": [{"text": "when was name0 born", "question-split": "train", "variables": {"name0": "Nina Simone"}},
                      {"text": "name0 birthday", "question-split": "dev", "variables": {"name0": "Bill Evans"}},
                      {"text": "birthday of name0", "question-split": "test", "variables": {"name0": "Bill Evans"}}]}]"#;
    fs::write(folder.path().join("music.json"), template).unwrap();
    let import = ["data", "import", "text2sql", "--from", ".", "--out", "project"];
    insta::assert_snapshot!("import_text2sql", printed(&xpr(folder.path(), &import)));
    let lines =
        |name: &str| fs::read_to_string(folder.path().join("project").join(name)).unwrap().lines().count();
    assert_eq!((lines("train.tsv"), lines("test.tsv")), (2, 1));
    assert!(folder.path().join("project/music.sqlite").is_file());

    let apart = [&import[..], &["--dev-apart", "--force", "--json"]].concat();
    let json: serde_json::Value = serde_json::from_str(&printed(&xpr(folder.path(), &apart))).unwrap();
    assert_eq!((&json["train"], &json["dev"], &json["test"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(lines("dev.tsv"), 1);
}

#[test]
fn errors_in_files_are_explained() {
    let folder = folder();
    for (name, content) in [("bad.tsv", "a\tSELECT 1\nno tab\n"), ("latin.tsv", "a\tb\n"), ("empty.csv", "")]
    {
        fs::write(folder.path().join(name), content).unwrap();
    }
    fs::write(folder.path().join("latin.tsv"), b"a\tb\ncaf\xe9\tb\n").unwrap();
    let messages: Vec<String> = [
        ["postgres:music", "pairs.tsv"],
        ["sqlite:nothing.db", "pairs.tsv"],
        ["sqlite:pairs.tsv", "pairs.tsv"],
        ["sqlite:music.db", "nothing.tsv"],
        ["sqlite:music.db", "bad.tsv"],
        ["sqlite:music.db", "latin.tsv"],
        ["sqlite:music.db", "empty.csv"],
    ]
    .iter()
    .map(|[database, labeled]| {
        let ran = xpr(folder.path(), &["data", "check", "--db", database, "--labeled", labeled]);
        assert!(!ran.status.success() && ran.stdout.is_empty());
        String::from_utf8(ran.stderr).unwrap()
    })
    .collect();
    insta::assert_snapshot!("wrong_files", messages.concat());
}

#[test]
fn data_check_and_init_say_why_queries_find_nothing() {
    // Issue 16: cells were 'Aberdeen ', declared keys matched no row, and nothing was said.
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("flights.db")).unwrap();
    let flights = "PRAGMA foreign_keys = OFF;
        CREATE TABLE airport (code TEXT PRIMARY KEY, city TEXT);
        CREATE TABLE airline (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE flight (number INTEGER PRIMARY KEY, airline_id INT, source TEXT REFERENCES airport(code));
        INSERT INTO airport VALUES ('ABZ', 'Aberdeen '), ('APG', 'Phillips');
        INSERT INTO airline VALUES (1, 'ATA'), (2, 'Delta');
        INSERT INTO flight VALUES (10, 1, ' APG'), (11, 2, ' ABZ');";
    database.execute_batch(flights).unwrap();
    drop(database);
    let pairs = "\
        which airport is in aberdeen\tSELECT code FROM airport WHERE city = 'Aberdeen'\n\
        which airline is ata\tSELECT id FROM airline WHERE name IN ('ata')\n\
        where do flights start\tSELECT city FROM flight JOIN airport ON source = code\n\
        who flies number 10\tSELECT name FROM flight JOIN airline ON airline_id = id WHERE number = 10\n";
    fs::write(folder.path().join("pairs.tsv"), pairs).unwrap();
    let files = ["--db", "sqlite:flights.db", "--labeled", "pairs.tsv"];
    let check = printed(&xpr(folder.path(), &[&["data", "check"], &files[..]].concat()));
    insta::assert_snapshot!("findings", check);
    let init = printed(&xpr(folder.path(), &[&["init"], &files[..]].concat()));
    assert!(init.contains("flight.source -> airport.code"), "{init}");
    // Both can be used: the keys are suggested in a comment, and labels that are spelled otherwise are read as the cells are.
    let experiment = fs::read_to_string(folder.path().join("flights/xpr.toml")).unwrap();
    assert!(experiment.contains("# keys = [\"flight.airline_id -> airline.id\"]"), "{experiment}");
    assert!(experiment.contains("\nloose_values = true"), "{experiment}");
    let found = |settings: &[&str]| {
        let train = ["train", "flights/xpr.toml", "--set", "train.steps=1", "--set", "data.held_out=0"];
        let test = ["--set", "data.test=train.tsv"];
        let out = format!("run{}", settings.len());
        printed(&xpr(folder.path(), &[&train[..], &test, settings, &["--out", &out]].concat()));
        let predictions = fs::read_to_string(folder.path().join(&out).join("predictions.jsonl")).unwrap();
        predictions.matches("\"gold_outcome\":\"value").count()
    };
    assert_eq!((found(&[]), found(&["--set", "data.loose_values=false"])), (3, 1));

    let json = printed(&xpr(folder.path(), &[&["data", "check", "--json"], &files[..]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["empty"].as_array().unwrap().len(), 3);
    assert_eq!(json["findings"]["misspelled"][1]["cell"], "ATA");
    assert_eq!(json["findings"]["suggested_keys"][0]["labels"], 1);
}

#[test]
fn answers_have_sentences_and_columns_and_sessions_have_commands() {
    let folder = folder();
    let pairs = "who are the artists\tSELECT name, born FROM artist\nlist the artists\tSELECT name, born FROM artist\n";
    fs::write(folder.path().join("artists.tsv"), pairs).unwrap();
    // A file that ends in .db needs no `sqlite:`.
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "artists.tsv"]));
    let settings = ["--set", "train.steps=60", "--set", "data.held_out=0", "--set", "train.seed=1"];
    printed(&xpr(folder.path(), &[&["train", "music/xpr.toml", "--out", "run"], &settings[..]].concat()));

    let ask = |more: &[&str]| {
        let arguments = ["ask", "run", "who are the artists", "--min-confidence", "0"];
        printed(&xpr(folder.path(), &[&arguments, more].concat()))
    };
    let text = ask(&[]);
    assert!(text.starts_with("SELECT artist.name, artist.born FROM artist\nConfidence: "), "{text}");
    let expected = " %.\nThat is: the name and born of each artist.\n  \
        name         born\n  Bill Evans   1929\n  Nina Simone  1933\n  (2 rows)\n";
    assert!(text.contains(expected), "{text}");
    assert_eq!(ask(&["--csv"]), "name,born\nBill Evans,1929\nNina Simone,1933\n");
    let json: serde_json::Value = serde_json::from_str(&ask(&["--json"])).unwrap();
    assert_eq!(json["columns"], serde_json::json!(["name", "born"]));
    assert_eq!(json["rows"], serde_json::json!([["Bill Evans", 1929], ["Nina Simone", 1933]]));
    assert_eq!(json["explanation"], "the name and born of each artist");

    let session = |arguments: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
        let command = command.current_dir(folder.path()).args(["ask", "run", "--min-confidence", "0"]);
        let command = command.args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let lines = printed(&session(
        &[],
        "who are the artists\n\\sql\n\\csv out.csv\n\\schema\n\\quit\nlist the artists\n",
    ));
    let expected = "Bill Evans, 1929; Nina Simone, 1933\nSELECT artist.name, artist.born FROM artist\nWrote 2 rows to out.csv.\n\
        artist (id, name, born)\nalbum (id, title, artist_id, price)\n";
    assert_eq!(lines, expected);
    assert_eq!(fs::read_to_string(folder.path().join("out.csv")).unwrap(), ask(&["--csv"]));
    let lines = printed(&session(&["--json"], "who are the artists\nlist the artists\n"));
    assert_eq!(lines.lines().filter(|line| line.contains("\"rows\":[[\"Bill Evans\",1929]")).count(), 2);
    for (input, expected) in [
        ("\\sql\n", "ask a question first"),
        ("\\what\n", "there is no command \\what; \\help lists them"),
        ("list the artists\n\\csv out.csv\n", "out.csv: "),
    ] {
        let output = session(&[], input);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && message.contains(expected), "{message}");
    }

    let before = fs::read(folder.path().join("run/evaluation.json")).unwrap();
    let evaluated = printed(&xpr(folder.path(), &["eval", "run", "--test", "artists.tsv", "--json"]));
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    assert_eq!((&evaluated["examples"], &evaluated["accuracy"]), (&2.into(), &1.0.into()));
    assert_eq!(fs::read(folder.path().join("run/evaluation.json")).unwrap(), before);
}

/// Issue 16: every text was answered, whatever it was and however unsure the answer.
#[test]
fn an_answer_that_is_not_sure_is_said_to_be_so_and_other_requests_are_declined() {
    let folder = folder();
    let pairs =
        "who are the artists\tSELECT name, born FROM artist\nhow many albums\tSELECT count(*) FROM album\n";
    fs::write(folder.path().join("artists.tsv"), pairs).unwrap();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "artists.tsv", "--no-base"]));
    let settings = ["--set", "train.steps=60", "--set", "data.held_out=0"];
    printed(&xpr(folder.path(), &[&["train", "music/xpr.toml", "--out", "run"], &settings[..]].concat()));
    let ask = |arguments: &[&str]| {
        let output = xpr(folder.path(), &[&["ask", "run"], arguments].concat());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (code, text, _) = ask(&["who are the artists", "--min-confidence", "1"]);
    assert_eq!(code, 0);
    assert!(text.starts_with("Not sure (confidence ") && text.contains("below 100 %"), "{text}");
    assert!(
        text.contains("\n 2. ") && !text.contains("answers and their programs"),
        "several answers are shown: {text}"
    );
    let (code, _, message) = ask(&["who are the artists", "--min-confidence", "1", "--csv"]);
    assert!(code == 2 && message.contains("the answer is not sure"), "{message}");

    let (code, text, _) = ask(&["please delete all albums"]);
    let expected = "Not answered: it asks to change the data (\"delete\"), and the data are only read.\n\
        A question it was trained on: how many albums\n";
    assert_eq!((code, text.as_str()), (1, expected));
    let (code, text, _) = ask(&["will it rain tomorrow", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(
        code == 1 && json["declined"]["reason"].as_str().unwrap().contains("\"rain\", \"tomorrow\""),
        "{json}"
    );
    // Whoever wants an answer all the same gets one.
    let (_, text, _) = ask(&["will it rain tomorrow", "--min-confidence", "0"]);
    assert!(text.contains("Confidence: "), "{text}");
    let (code, _, message) = ask(&["who are the artists", "--min-confidence", "2"]);
    assert!(code == 2 && message.contains("expected a number from 0 to 1"), "{message}");

    let evaluated = printed(&xpr(folder.path(), &["eval", "run", "--test", "artists.tsv", "--json"]));
    let evaluated: serde_json::Value = serde_json::from_str(&evaluated).unwrap();
    assert_eq!(evaluated["confidence"]["threshold"], 0.5, "two labels are too few to choose it by");
    // A damaged estimate is refused as any other file.
    fs::write(folder.path().join("run/confidence.json"), "{}").unwrap();
    let (code, _, message) = ask(&["who are the artists"]);
    assert!(
        code == 2 && message.contains("confidence.json: this is not the file that training wrote"),
        "{message}"
    );
}

/// Issue 16: a project says what people call things, and which tables and keys there are.
#[test]
fn a_project_names_words_tables_and_keys() {
    let folder = folder();
    let pairs = "how many albums\tSELECT count(*) FROM album\nall album titles\tSELECT title FROM album\n";
    fs::write(folder.path().join("albums.tsv"), pairs).unwrap();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "albums.tsv"]));
    let file = folder.path().join("music/xpr.toml");
    let experiment = fs::read_to_string(&file).unwrap();
    let with = |settings: &str| {
        fs::write(&file, experiment.replace("[eval]", &format!("{settings}\n[eval]"))).unwrap();
    };
    with("words = [\"album: record, long player\"]\nwithout_tables = [\"artist\"]");
    let settings = ["--set", "train.steps=30", "--set", "data.held_out=0"];
    printed(&xpr(
        folder.path(),
        &[&["train", "music/xpr.toml", "--out", "music/run"], &settings[..]].concat(),
    ));
    let candidates = |question: &str| {
        let ask = ["ask", "music/run", question, "--min-confidence", "0", "--json"];
        let answer: serde_json::Value = serde_json::from_str(&printed(&xpr(folder.path(), &ask))).unwrap();
        answer["candidates"].clone()
    };
    let asked = candidates("how many albums");
    assert!(asked.to_string().contains("FROM album") && !asked.to_string().contains("artist."), "{asked}");
    assert_eq!(candidates("how many records"), candidates("how many album"));
    assert_eq!(candidates("how many long players"), candidates("how many album"));

    for (setting, expected) in [
        ("words = [\"band: group\"]", "data.words: `band: group`: there is no table or column band"),
        (
            "keys = [\"album.artist_id\"]",
            "data.keys: `album.artist_id`: expected table.column -> table.column",
        ),
    ] {
        with(setting);
        let output = xpr(folder.path(), &["train", "music/xpr.toml", "--out", "other"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{message}");
    }
}

/// Issue 16: a label is learned in seconds, and what people say about answers is kept.
#[test]
fn a_parser_is_taught_and_answers_are_kept_as_right_or_wrong() {
    let folder = folder();
    let pairs = "who are the artists\tSELECT name, born FROM artist\nlist the artists\tSELECT name, born FROM artist\n";
    fs::write(folder.path().join("artists.tsv"), pairs).unwrap();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--labeled", "artists.tsv"]));
    let settings = ["--set", "train.steps=60", "--set", "data.held_out=0"];
    printed(&xpr(
        folder.path(),
        &[&["train", "music/xpr.toml", "--out", "music/run"], &settings[..]].concat(),
    ));
    let (question, sql) = ("count the albums", "SELECT count(*) FROM album");
    let taught = printed(&xpr(folder.path(), &["teach", "music/run", question, sql]));
    assert!(taught.contains("train.tsv, line 3.\nThe parser answers it as the label does"), "{taught}");
    assert!(taught.contains("Of 2 other labeled and test questions, "), "{taught}");
    let asked = printed(&xpr(folder.path(), &["ask", "music/run", question, "--min-confidence", "0"]));
    assert!(asked.starts_with("SELECT COUNT(*) FROM album\n"), "{asked}");
    let read = |name: &str| fs::read_to_string(folder.path().join("music").join(name)).unwrap();
    assert_eq!(read("train.tsv").lines().last().unwrap(), format!("{question}\t{sql}"));
    assert!(!read("run/card.md").contains("## Taught since"), "the parser before is kept as it was");
    assert!(read("run/parsers/1/card.md").contains("## Taught since"));

    // A label that fails, or that the parser cannot write, changes nothing. Issue 18: one without a question made the file of labels
    // unreadable.
    let before = (read("train.tsv"), read("feedback.jsonl"), read("run/parsers.json"));
    for (question, sql, expected) in [
        ("what is it", "SELECT nothing FROM album", "unknown name: nothing"),
        ("what is it", "SELECT rank() OVER () FROM album", "not supported"),
        (" ", "SELECT count(*) FROM album", "the question has no words"),
        ("?!", "SELECT count(*) FROM album", "the question has no words"),
    ] {
        let output = xpr(folder.path(), &["teach", "music/run", question, sql]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{message}");
    }
    assert_eq!((read("train.tsv"), read("feedback.jsonl"), read("run/parsers.json")), before);

    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    let command = command.current_dir(folder.path()).args(["ask", "music/run", "--min-confidence", "0"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input = "how many albums\n\\right\n\\right\n\\wrong\n";
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = printed(&child.wait_with_output().unwrap());
    assert!(
        output.contains("line 4; the next training learns from it")
            && output.contains("has this label already")
    );
    let verdicts: Vec<String> = read("feedback.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["verdict"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(verdicts, ["taught", "right", "right", "wrong"]);
    assert_eq!(read("train.tsv").lines().count(), 4);
}

/// Issue 18: names and texts of a database reached the terminal as they are.
/// Issue 18: teaching copied damaged files, what it could not finish stayed in the run, and resuming the training of a taught parser replaced
/// it by one that was not taught.
#[test]
fn a_parser_is_taught_whole_or_not_at_all_and_stays_as_it_is() {
    let folder = folder();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--out", "project"]));
    let run = folder.path().join("project/run");
    let teach = || {
        let (question, sql) = ("who made pastel blues", "SELECT name FROM artist WHERE id = 1");
        xpr(folder.path(), &["teach", "project/run", question, sql])
    };
    let refused = |output: Output, expected: &str| {
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{message}");
    };
    let card = fs::read(run.join("card.md")).unwrap();
    fs::write(run.join("card.md"), "another").unwrap();
    refused(teach(), "card.md: this is not the file that training wrote");
    assert_eq!(fs::read_dir(run.join("parsers")).unwrap().count(), 0);
    fs::write(run.join("card.md"), card).unwrap();
    // A parser that takes no steps has no checkpoint, and is the same again.
    let first = fs::read(run.join("model.safetensors")).unwrap();
    printed(&xpr(folder.path(), &["train", "--resume", "--out", "project/run"]));
    assert!(fs::read(run.join("model.safetensors")).unwrap() == first);
    printed(&teach());

    let weights = || fs::read(run.join("parsers/1/model.safetensors")).unwrap();
    let before = weights();
    let resume = xpr(folder.path(), &["train", "--resume", "--out", "project/run/parsers/1"]);
    refused(resume, "project/run/parsers/1 is a later parser of ");
    fs::rename(run.join("parsers/1"), folder.path().join("moved")).unwrap();
    refused(
        xpr(folder.path(), &["train", "--resume", "--out", "moved", "--data", "project"]),
        "there is no checkpoint to go on from, and the run is finished",
    );
    fs::rename(folder.path().join("moved"), run.join("parsers/1")).unwrap();
    assert!(weights() == before);

    // An earlier copy of the list.
    fs::write(run.join("parsers.json"), r#"{"current": 0, "parsers": []}"#).unwrap();
    for command in [&["ask", "project/run", "who"][..], &["improve", "project/run", "--list"]] {
        refused(xpr(folder.path(), command), "parsers.json: it has no record of the parser in ");
    }
}

#[test]
fn no_output_has_characters_that_a_terminal_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("evil\u{1b}[31m\u{202e}.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE \"al\u{1b}]0;x\u{7}bum\" (id INTEGER PRIMARY KEY, \"ti\u{202e}tle\" TEXT);
             INSERT INTO \"al\u{1b}]0;x\u{7}bum\" VALUES (1, 'red\u{1b}[31m'), (2, 'blue\u{2066}');",
        )
        .unwrap();
    let pairs = "how many \u{1b}[2J are there\tSELECT count(*) FROM \"al\u{1b}]0;x\u{7}bum\"\n\
                 which \u{202e} titles\tSELECT \"ti\u{202e}tle\" FROM \"al\u{1b}]0;x\u{7}bum\"\n\
                 what fails \u{9b}\tSELECT \u{9b}nothing FROM \"al\u{1b}]0;x\u{7}bum\"\n";
    fs::write(folder.path().join("pairs\u{1b}.tsv"), pairs).unwrap();
    let address = "sqlite:evil\u{1b}[31m\u{202e}.db";
    let data = ["--db", address, "--labeled", "pairs\u{1b}.tsv"];
    let mut commands = vec![
        ["data", "check"].iter().chain(&data).copied().collect::<Vec<_>>(),
        ["data", "check", "--json"].iter().chain(&data).copied().collect(),
        ["init", "--out", "project"].iter().chain(&data).copied().collect(),
        vec!["train", "project/xpr.toml", "--out", "run\u{1b}", "--set", "train.steps=1"],
        vec!["ask", "run\u{1b}", "how many \u{1b}[2J are there"],
        vec!["ask", "run\u{1b}", "which titles", "--json"],
        vec!["report", "run\u{1b}"],
        vec!["report", "run\u{1b}", "--html", "-"],
        vec!["ask", "no\u{1b}run", "how many"],
        vec!["data", "check", "--db", "sqlite:no\u{1b}.db", "--labeled", "x"],
    ];
    commands.push(vec!["report", "no\u{1b}run"]);
    // Arguments that are refused before a command begins.
    commands.push(vec!["completions", "she\u{9b}ll\u{202e}\r"]);
    commands.push(vec!["comm\u{9b}and\u{202e}"]);
    commands.push(vec!["ask", "--fl\u{9b}ag\u{202e}"]);
    for arguments in commands {
        let output = xpr(folder.path(), &arguments);
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(text.clone()).unwrap();
            let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(is_obeyed), "{arguments:?}: {text:?}");
            assert!(!text.contains(['\u{202e}', '\u{2066}']), "{arguments:?}: {text:?}");
        }
    }
}

/// Issue 18: a command that finds nothing succeeded.
#[test]
fn exit_codes_tell_success_from_nothing_and_errors() {
    let folder = folder();
    fs::write(folder.path().join("none.tsv"), "what\tSELECT nothing FROM album\n").unwrap();
    let check = |pairs: &str| {
        let arguments = ["data", "check", "--db", "sqlite:music.db", "--labeled", pairs];
        xpr(folder.path(), &arguments).status.code()
    };
    assert_eq!([check("pairs.tsv"), check("none.tsv"), check("missing.tsv")], [Some(0), Some(1), Some(2)]);
}

/// Issue 18: such a command made as many threads, or wrote about a run that is not there.
#[test]
fn commands_that_cannot_work_are_errors() {
    let folder = folder();
    for (arguments, expected) in [
        (&["train", "--threads", "1000000000", "--out", "run"][..], "expected 0 to 1024"),
        (&["train", "--threads", "-1", "--out", "run"], "unexpected argument"),
        (&["improve", "nothing", "--list"], "nothing holds no run"),
    ] {
        let output = xpr(folder.path(), arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(!folder.path().join("run").exists());
    }
}

/// Issue 18: a variable of the environment had commands make any number of threads.
#[test]
fn the_environment_cannot_ask_for_thousands_of_threads() {
    let folder = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_xpr"))
        .current_dir(folder.path())
        .args(["data", "check", "--db", "music.db", "--labeled", "pairs.tsv"])
        .env("RAYON_NUM_THREADS", "99999999")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("RAYON_NUM_THREADS asks for more than 1024 threads"), "{message}");
}

/// Issue 18: a report to `/dev/stdout` replaced the file to which the shell appends.
#[cfg(unix)]
#[test]
fn what_is_written_to_standard_output_is_appended_where_the_shell_appends() {
    let folder = folder();
    fs::write(folder.path().join("test.tsv"), "how many artists are there\tSELECT count(*) FROM artist\n")
        .unwrap();
    let init =
        ["init", "--db", "music.db", "--labeled", "pairs.tsv", "--test", "test.tsv", "--out", "project"];
    printed(&xpr(folder.path(), &init));
    let script = format!(
        "xpr() {{ {} \"$@\"; }}; xpr train project/xpr.toml --set train.steps=1 --set eval.confidence_folds=0 --out run >reports && \
         xpr report run --csv /dev/stdout >>reports",
        env!("CARGO_BIN_EXE_xpr")
    );
    let output = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let reports = fs::read_to_string(folder.path().join("reports")).unwrap();
    for part in ["correct answers", "run,about,labels", "Accuracy"] {
        assert!(reports.contains(part), "{part}: {reports}");
    }
}

/// Issue 18: one format of a report replaced another, and a report replaced a file of the run that it is about.
#[test]
fn a_report_replaces_neither_another_format_nor_a_file_of_a_run() {
    let folder = folder();
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::write(folder.path().join("run/config.toml"), "").unwrap();
    for (arguments, expected) in [
        (["--html", "report", "--csv", "./report"], "--html and --csv name the same file, ./report;"),
        (["--csv", "run/metrics.jsonl", "--html", "new"], "run/metrics.jsonl: this is a file of a run;"),
        (["--csv", "run/config.toml", "--html", "new"], "run/config.toml: this is a file of a run;"),
        // These may be written: there is no result in the folder.
        (["--csv", "/dev/null", "--html", "/dev/null"], "nothing to report"),
        (["--csv", "metrics.jsonl", "--html", "config.toml"], "nothing to report"),
    ] {
        let output = xpr(folder.path(), &[&["report", "run"][..], &arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{arguments:?}: {message}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("run/config.toml")).unwrap(), "");
}

/// Issue 18: what `xpr init` suggests was another command, if a table or the folder had such a name.
#[cfg(unix)]
#[test]
fn suggested_commands_can_be_pasted() {
    let folder = folder();
    let database = rusqlite::Connection::open(folder.path().join("odd.db")).unwrap();
    database
        .execute_batch("CREATE TABLE \"$(touch pasted)`touch pasted`\" (id INTEGER PRIMARY KEY);")
        .unwrap();
    let init = ["init", "--db", "odd.db", "--out", "a b;touch pasted"];
    let output = printed(&xpr(folder.path(), &init));
    let suggested = output.lines().find_map(|line| line.trim().strip_prefix("xpr ask ")).unwrap();
    let script = format!("printf '%s\\n' {suggested}");
    let words = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert_eq!(words.lines().next(), Some("a b;touch pasted/run"), "{words}");
    assert_eq!(words.lines().count(), 2, "{words}");
    assert!(!folder.path().join("pasted").exists());
}

/// Issue 18: whoever may write to a folder could replace a file in it that they may not write to.
#[cfg(unix)]
#[test]
fn files_of_others_are_not_replaced() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    fs::create_dir(&pages).unwrap();
    fs::write(pages.join("xpr.1"), "kept").unwrap();
    // Only root can run a command as another user.
    if chown(&pages, Some(NOBODY), Some(NOBODY)).is_err() {
        return;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("xpr");
    fs::copy(env!("CARGO_BIN_EXE_xpr"), &program).unwrap();
    let mut command = Command::new(&program);
    let output = command.args(["man", "--out"]).arg(&pages).uid(NOBODY).gid(NOBODY).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && message.contains("xpr.1: Permission denied"), "{message}");
    assert_eq!(fs::read_to_string(pages.join("xpr.1")).unwrap(), "kept");
}

/// Issue 18: the limit of the length of files killed commands without a message, and their temporary files stayed. Later, half a project
/// did, and `xpr init` refused it.
#[cfg(unix)]
#[test]
fn files_that_may_not_be_so_long_are_errors_and_leave_nothing() {
    let folder = folder();
    // Blocks of 512 or 1024 bytes: enough for the settings, and not for the words of the parser.
    let command =
        format!("ulimit -f 100; exec {} init --db music.db --out project", env!("CARGO_BIN_EXE_xpr"));
    let output = Command::new("sh").current_dir(folder.path()).args(["-c", &command]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("vocabulary.json: File too large"), "{message}");
    assert!(!folder.path().join("project").exists());
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--out", "project"]));
}

/// Issue 18: the project of an `xpr init` that was killed had to be removed by hand.
#[test]
fn a_killed_init_is_begun_again() {
    let folder = folder();
    let init = ["init", "--db", "music.db", "--out", "project"];
    let mut killed = Command::new(env!("CARGO_BIN_EXE_xpr"))
        .current_dir(folder.path())
        .args(init)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !folder.path().join("project/run").exists() {
        assert!(killed.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    printed(&xpr(folder.path(), &init));
    let names = fs::read_dir(folder.path().join("project")).unwrap().flatten();
    let mut names: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["run", "train.tsv", "xpr-schema.json", "xpr.toml"]);
    let again = xpr(folder.path(), &init);
    assert_eq!(again.status.code(), Some(2), "what is finished is not overwritten");
}

/// Issue 18: commands waited for pipes that nobody writes to.
#[cfg(unix)]
#[test]
fn pipes_are_read_if_they_are_open_and_are_no_files_of_projects() {
    let folder = folder();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--out", "project"]));
    let fifo = |name: &str| {
        assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().unwrap().success());
    };
    fifo("pipe.tsv");
    fs::remove_file(folder.path().join("project/train.tsv")).unwrap();
    fifo("project/train.tsv");
    fs::create_dir(folder.path().join("demo")).unwrap();
    fifo("demo/xpr.toml");
    fs::create_dir(folder.path().join("model")).unwrap();
    fifo("model/config.json");
    let server = "postgres://ann@localhost:1/music?sslmode=verify-full&sslrootcert=pipe.tsv";
    let named = "this is a named pipe";
    let regular = "this is not a regular file";
    for (arguments, expected) in [
        (&["data", "check", "--db", "music.db", "--labeled", "pipe.tsv"][..], named),
        (&["init", "--db", "music.db", "--out", "other", "--unlabeled", "pipe.tsv"], named),
        (&["train", "pipe.tsv", "--out", "other"], named),
        (&["serve", "project/run", "--token-file", "pipe.tsv"], named),
        (&["demo", "--out", "demo"], "name another folder"),
        (&["vectors", "--model", "model", "--words", "pairs.tsv", "--out", "vectors.txt"], regular),
        (&["data", "check", "--db", server, "--labeled", "pairs.tsv"], regular),
        (&["train", "project/xpr.toml", "--out", "other"], regular),
        (&["teach", "project/run", "how many albums are there", "SELECT count(*) FROM album"], regular),
    ] {
        let output = xpr(folder.path(), arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
    let script = format!(
        "head -n 3 pairs.tsv | {} data check --db music.db --labeled /dev/stdin",
        env!("CARGO_BIN_EXE_xpr")
    );
    let output = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    assert!(printed(&output).contains("3 labeled questions"), "{output:?}");
}

/// Issue 18: an answer that cannot be written as CSV left an empty file.
#[test]
fn a_file_of_an_answer_has_all_rows_or_is_not_there() {
    let folder = folder();
    printed(&xpr(folder.path(), &["init", "--db", "music.db", "--out", "project"]));
    let ask = |csv: &str, confidence: &str| {
        let mut ask = Command::new(env!("CARGO_BIN_EXE_xpr"))
            .current_dir(folder.path())
            .args(["ask", "project/run", "--min-confidence", confidence])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(ask.stdin.take().unwrap(), "how many albums are there\n\\csv {csv}\n").unwrap();
        let output = ask.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = ask("unsure.csv", "1");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("the answer is not sure"), "{message}");
    assert!(!folder.path().join("unsure.csv").exists());
    assert_eq!(ask("sure.csv", "0").0, Some(0));
    assert!(folder.path().join("sure.csv").is_file());
    assert!(ask("sure.csv", "0").1.contains("sure.csv: "));
}
