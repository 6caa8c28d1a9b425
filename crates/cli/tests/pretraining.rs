//! A parser for many databases, through the binary: pretrained on two, it reads questions about a third.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[path = "../../sentence/tests/support/mod.rs"]
mod tiny_model;

use safetensors::tensor::Dtype;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Three databases of one kind of questions. Each has a table of things with a name and a number, and places they are in.
struct Databases {
    folder: tempfile::TempDir,
}

impl Databases {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (group, name, thing, number, values) in [
            ("known", "pets", "dog", "age", ["rex", "bella", "max"]),
            ("known", "trees", "oak", "height", ["old", "royal", "crooked"]),
            ("other", "boats", "boat", "length", ["star", "wave", "gull"]),
        ] {
            write_database(&folder.path().join(group).join(name), name, (thing, number), values);
        }
        let settings = "[data]\nfolders = [\"known\"]\n[model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\n\
                        action = 16\nplace = 8\ndropout = 0.0\nword_dropout = 0.0\n[train]\nsteps = 120\nbatch = 6\n\
                        rate = 0.01\nwarmup = 10\ncheckpoint = 20\naverage = 0.9\n";
        fs::write(folder.path().join("pretrain.toml"), settings).unwrap();
        let boats = "[data]\ndataset = \"database\"\nfolder = \".\"\ndatabase = \"sqlite:boats.sqlite\"\n";
        fs::write(folder.path().join("other/boats/xpr.toml"), boats).unwrap();
        Databases { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command in the folder.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env_remove("XPR_DATA")
            .env_remove("XPR_EMBEDDINGS");
        command
    }

    fn pretrain(&self, out: &str, more: &[&str]) -> Command {
        let mut command = self.command(&["pretrain", "pretrain.toml", "--out", out]);
        command.args(more);
        command
    }

    /// Returns the command that trains a parser for the database of boats, which the base has not seen.
    fn train_boats(&self, base: &str, out: &str, settings: &[&str]) -> Command {
        let mut command =
            self.command(&["train", "other/boats/xpr.toml", "--from", base, "--out", out, "--json"]);
        for setting in settings {
            command.args(["--set", setting]);
        }
        command
    }
}

fn write_database(
    folder: &Path,
    name: &str,
    (thing, number): (&str, &str),
    [first, second, third]: [&str; 3],
) {
    fs::create_dir_all(folder).unwrap();
    let database = rusqlite::Connection::open(folder.join(format!("{name}.sqlite"))).unwrap();
    database
        .execute_batch(&format!(
            "CREATE TABLE {thing} (name TEXT, {number} INT);
             INSERT INTO {thing} VALUES ('{first}', 7), ('{second}', 3), ('{third}', 5);"
        ))
        .unwrap();
    let mut pairs = String::new();
    for (question, query) in [
        (format!("how many {thing}s are there"), format!("SELECT count(*) FROM {thing}")),
        (format!("count the {thing}s"), format!("SELECT count(*) FROM {thing}")),
        (format!("what are the names of all {thing}s"), format!("SELECT name FROM {thing}")),
        (format!("list the name of every {thing}"), format!("SELECT name FROM {thing}")),
        (
            format!("what is the {number} of {second}"),
            format!("SELECT {number} FROM {thing} WHERE name = '{second}'"),
        ),
        (
            format!("show the {number} of {first}"),
            format!("SELECT {number} FROM {thing} WHERE name = '{first}'"),
        ),
        (format!("what is the average {number}"), format!("SELECT avg({number}) FROM {thing}")),
        (format!("show the average {number} of {thing}s"), format!("SELECT avg({number}) FROM {thing}")),
    ] {
        pairs += &format!("{question}\t{query}\n");
    }
    fs::write(folder.join("pairs.tsv"), pairs).unwrap();
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}{printed}", stderr(&output));
    output
}

fn fail(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "it should have failed");
    stderr(&output)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_parser_pretrained_on_two_databases_answers_questions_about_a_third() {
    let databases = Databases::new();
    let pretrained = succeed(&mut databases.pretrain("base", &[]));
    assert!(
        stderr(&pretrained).contains("16 questions about 2 databases, 0 more are left out; held out: none"),
        "{}",
        stderr(&pretrained)
    );

    // Without labels and without a step, it answers.
    let zero_shot = ["train.steps=0", "data.test=pairs.tsv"];
    let evaluation = json(&succeed(&mut databases.train_boats("base", "zero", &zero_shot)));
    assert_eq!(evaluation["examples"], 8);
    let right = (evaluation["accuracy"].as_f64().unwrap() * 8.0).round();
    assert!(right >= 4.0, "{right} of 8 questions are answered");

    // The base itself answers alike.
    let other = json(&succeed(&mut databases.command(&["eval", "base", "--databases", "other", "--json"])));
    assert_eq!(other["accuracy"], evaluation["accuracy"]);
    assert_eq!(other["databases"][0]["name"], "boats");
    let text = succeed(&mut databases.command(&["eval", "base", "--databases", "other"])).stdout;
    assert!(String::from_utf8_lossy(&text).starts_with("database  questions  correct\nboats             8"));

    // The run needs the base no more.
    fs::rename(databases.path("base"), databases.path("moved")).unwrap();
    let test = ["eval", "zero", "--test", "other/boats/pairs.tsv", "--json"];
    assert_eq!(json(&succeed(&mut databases.command(&test))), evaluation);
    let answer = succeed(&mut databases.command(&["ask", "zero", "how many boats are there", "--json"]));
    assert!(String::from_utf8_lossy(&answer.stdout).contains("COUNT(*)"), "{answer:?}");

    // With labels it learns more.
    let labels = ["train.steps=60", "train.rate=0.01", "data.labeled=pairs.tsv", "data.test=pairs.tsv"];
    let learned = json(&succeed(&mut databases.train_boats("moved", "labels", &labels)));
    assert!(learned["accuracy"].as_f64() > evaluation["accuracy"].as_f64() || right == 8.0, "{learned}");
}

#[test]
fn a_log_without_labels_is_learned_from() {
    let databases = Databases::new();
    succeed(&mut databases.pretrain("base", &[]));
    fs::write(databases.path("other/boats/log.txt"), "how many boats\nthe length of star\nlist all boats\n")
        .unwrap();
    let own_search = [
        "train.steps=20",
        "train.rate=0.001",
        "data.unlabeled=log.txt",
        "data.test=pairs.tsv",
        "learn.objective=sparse",
        "learn.ensemble=0",
        "learn.start=0",
        "learn.beam=4",
    ];
    let output = succeed(&mut databases.train_boats("base", "log", &own_search));
    assert_eq!(json(&output)["examples"], 8);
    assert!(stderr(&output).contains("0 labeled, 3 unlabeled and 8 test questions"), "{}", stderr(&output));
    let metrics = fs::read_to_string(databases.path("log/metrics.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
    assert!(last["unlabeled"]["mass"].as_f64().is_some_and(|mass| mass > 0.0), "{last}");
    let weights = |run: &str| fs::read(databases.path(run).join("model.safetensors")).unwrap();
    succeed(&mut databases.train_boats("base", "zero", &["train.steps=0"]));
    assert_ne!(weights("log"), weights("zero"), "the log changes the parser");
}

#[test]
fn the_number_of_threads_and_a_kill_do_not_change_a_bit() {
    let databases = Databases::new();
    let held_out = ["--set", "data.held_out=1", "--threads"];
    let pretrain = |out: &str, threads: &str| {
        let mut command = databases.pretrain(out, &held_out);
        command.arg(threads);
        command
    };
    let one = succeed(&mut pretrain("one", "1"));
    assert!(stderr(&one).contains("8 questions about 1 databases"), "{}", stderr(&one));
    succeed(&mut pretrain("two", "2"));

    let mut child = pretrain("killed", "2").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !databases.path("killed/checkpoint.safetensors").exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "there is no checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!databases.path("killed/evaluation.json").exists(), "it was finished before it was killed");
    let unfinished = fail(&mut databases.train_boats("killed", "early", &["train.steps=0"]));
    assert!(unfinished.contains("resume it with xpr pretrain --resume"), "{unfinished}");
    let resumed = succeed(&mut databases.command(&["pretrain", "--resume", "--out", "killed"]));
    assert!(stderr(&resumed).contains("resuming after step"), "{}", stderr(&resumed));

    for file in
        ["model.safetensors", "metrics.jsonl", "evaluation.json", "predictions.jsonl", "databases.json"]
    {
        let read = |out: &str| fs::read(databases.path(out).join(file)).unwrap();
        assert!(read("two") == read("one"), "{file} depends on the number of threads");
        assert!(read("killed") == read("one"), "{file} depends on the kill");
    }
    let evaluation: serde_json::Value =
        serde_json::from_slice(&fs::read(databases.path("one/evaluation.json")).unwrap()).unwrap();
    assert_eq!(evaluation["examples"], 8, "the held-out database is evaluated");

    let pairs = databases.path("known/pets/pairs.tsv");
    let more = fs::read_to_string(&pairs).unwrap() + "how many dogs\tSELECT count(*) FROM dog\n";
    fs::write(pairs, more).unwrap();
    let changed = fail(&mut databases.command(&["pretrain", "--resume", "--out", "one"]));
    assert!(changed.contains("trained on other data"), "{changed}");
}

#[test]
fn what_does_not_fit_a_base_is_explained() {
    let databases = Databases::new();
    let all = fail(&mut databases.pretrain("none", &["--set", "data.held_out=2"]));
    assert!(all.contains("data.held_out is 2, and there are 2 databases"), "{all}");
    let nowhere = fail(&mut databases.pretrain("none", &["--set", "data.folders=[\".\"]"]));
    assert!(nowhere.contains("there are no databases in this folder"), "{nowhere}");
    let no_file = fail(&mut databases.command(&["pretrain", "--out", "none"]));
    assert!(no_file.contains("<FILE>"), "{no_file}");

    let missing = fail(&mut databases.train_boats("nowhere", "run", &[]));
    assert!(missing.contains("nowhere holds no run"), "{missing}");
    let without_base =
        fail(databases.command(&["train", "--out", "run", "--set", "train.steps=0"]).args(["--data", "."]));
    assert!(without_base.contains("0 is for a parser that starts from a base"), "{without_base}");

    succeed(&mut databases.pretrain("base", &["--set", "train.steps=1"]));
    let ignored = succeed(&mut databases.train_boats(
        "base",
        "zero",
        &["train.steps=0", "model.hidden=64", "data.test=pairs.tsv"],
    ));
    assert!(stderr(&ignored).contains("`model.hidden` is ignored"), "{}", stderr(&ignored));
    let not_a_run = fail(&mut databases.command(&["ask", "base", "how many boats are there"]));
    assert!(not_a_run.contains("this is a base, and not the parser of a database"), "{not_a_run}");
    let not_a_base = fail(&mut databases.train_boats("zero", "run", &[]));
    assert!(not_a_base.contains("this is not a base, but the run of one database"), "{not_a_base}");
    let overnight = ["train", "--from", "base", "--out", "run", "--set", "data.domain=calendar", "--data"];
    let other_language = fail(databases.command(&overnight).arg("."));
    assert!(!other_language.contains("panicked"), "{other_language}");
}

#[test]
fn a_project_without_labels_answers_at_once() {
    let databases = Databases::new();
    succeed(&mut databases.pretrain("base", &[]));
    let init = |more: &[&str]| {
        let mut command = databases.command(&["init", "--db", "other/boats/boats.sqlite", "--from", "base"]);
        command.args(more);
        command
    };
    let written = succeed(&mut init(&["--out", "boats"]));
    let text = String::from_utf8_lossy(&written.stdout).into_owned();
    assert!(text.contains("Wrote boats/xpr.toml.\nWrote boats/run: a parser that has not learned"), "{text}");
    assert!(text.contains("xpr ask boats/run \"how many boats are there\""), "{text}");
    let answer = succeed(&mut databases.command(&["ask", "boats/run", "how many boats are there", "--json"]));
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["candidates"][0]["program"], "SELECT COUNT(*) FROM boat", "{answer}");
    let evaluated = ["eval", "boats/run", "--test", "other/boats/pairs.tsv", "--json"];
    let evaluated = succeed(&mut databases.command(&evaluated));
    let evaluated: serde_json::Value = serde_json::from_slice(&evaluated.stdout).unwrap();
    assert_eq!(evaluated["examples"], 8, "{evaluated}");

    // The parser in the folder is kept, and labels are not needed but welcome.
    assert!(
        fail(&mut init(&["--out", "boats", "--force"]))
            .contains("boats: there is a run in it already; remove it")
    );
    succeed(&mut init(&["--out", "labeled", "--labeled", "other/boats/pairs.tsv"]));
    let train = ["train", "labeled/xpr.toml", "--set", "train.steps=20", "--out", "labeled/run"];
    succeed(&mut databases.command(&train));
    let neither = ["init", "--db", "other/boats/boats.sqlite", "--no-base"];
    let neither = fail(&mut databases.command(&neither));
    assert!(neither.contains("--labeled <FILE>"), "{neither}");
}

/// Issue 18: pretraining went on although tables had other columns, or labels could no longer be learned from.
#[test]
fn pretraining_does_not_go_on_with_other_tables_or_labels() {
    let databases = Databases::new();
    succeed(&mut databases.pretrain("base", &["--set", "train.steps=1"]));
    let resume = || databases.command(&["pretrain", "--resume", "--out", "base"]);
    let change = |sql: &str| {
        let file = databases.path("known/pets/pets.sqlite");
        rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
    };
    change("INSERT INTO dog VALUES ('luna', 4)");
    succeed(&mut resume());
    for (sql, undo, expected) in [
        ("ALTER TABLE dog ADD COLUMN owner TEXT", "ALTER TABLE dog DROP COLUMN owner", "the tables, columns"),
        (
            "UPDATE dog SET name = 'b.' WHERE age = 3",
            "UPDATE dog SET name = 'bella' WHERE age = 3",
            "the cells",
        ),
    ] {
        change(sql);
        let refused = fail(&mut resume());
        assert!(refused.contains(&format!("trained on other data: {expected}")), "{refused}");
        change(undo);
        succeed(&mut resume());
    }
}

/// Issue 18: a base was packed with the weights of an earlier pretraining, although its questions or word vectors were others by then.
#[test]
fn a_base_of_other_questions_or_vectors_is_not_packed() {
    let databases = Databases::new();
    let model = tiny_model::model(Dtype::F32);
    fs::write(databases.path("words.txt"), "how\nmany\nthe\n").unwrap();
    let base = || {
        let mut command = databases.command(&["base", "pretrain.toml", "--work", "work", "--out", "packed"]);
        command
            .args(["--set", "train.steps=1", "--size", "4", "--words", "words.txt", "--model"])
            .arg(model.path());
        command
    };
    succeed(&mut base());
    succeed(&mut base());
    fs::write(databases.path("words.txt"), "how\nmany\nof\n").unwrap();
    let refused = fail(&mut base());
    assert!(refused.contains("trained on other data: the word vectors changed"), "{refused}");
    fs::write(databases.path("words.txt"), "how\nmany\nthe\n").unwrap();
    let pairs = databases.path("known/pets/pairs.tsv");
    let more = fs::read_to_string(&pairs).unwrap() + "how many dogs\tSELECT count(*) FROM dog\n";
    fs::write(pairs, more).unwrap();
    let refused = fail(&mut base());
    assert!(refused.contains("trained on other data: the training examples"), "{refused}");
}
