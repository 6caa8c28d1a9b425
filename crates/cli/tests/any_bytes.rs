//! Every reader of files reads any bytes or refuses them. It is a bounded version of fuzzing.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use xpr_data::{Embeddings, labeled, unlabeled};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_learn::task::StoredSchema;
use xpr_learn::{Experiment, Observer, TrainedRun};
use xpr_parser::Parser;
use xpr_report::Report;
use xpr_run::{Config, RunFolder, StepReport};

/// A fixed sequence of pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Calls `read` with damaged versions of some content: bits are flipped, and pieces are removed, repeated or replaced by others that
/// mean something to some reader.
fn with_damage(content: impl AsRef<[u8]>, rounds: usize, mut read: impl FnMut(&[u8])) {
    const PIECES: [&str; 14] =
        ["\"", "\t", "\n", "\r", ",", "{", "]", "\0", "\u{feff}", "é", "1e999", "-", "[[", "\u{1b}"];
    let mut numbers = Numbers(7);
    for round in 0..rounds {
        let mut bytes = content.as_ref().to_vec();
        for _ in 0..=round % 5 {
            let at = numbers.below(bytes.len());
            let end = at + numbers.below((bytes.len() - at).min(20) + 1);
            match numbers.below(4) {
                0 => bytes[at] ^= 1 << numbers.below(8),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => drop(bytes.splice(at..end, PIECES[numbers.below(PIECES.len())].bytes())),
            }
            if bytes.is_empty() {
                break;
            }
        }
        read(&bytes);
    }
    read(b"");
}

#[test]
fn questions_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.tsv", "how many\tSELECT count(*) FROM a\nwhich\tSELECT 'x\"y' FROM a\n"),
        ("a.csv", "question,sql,split\n\"how, many\",SELECT 1,train\nwhich,\"SELECT \"\"a\"\"\",test\n"),
        (
            "a.jsonl",
            "{\"question\": \"how many\", \"sql\": \"SELECT 1\"}\n{\"question\": \"which\", \"sql\": \"SELECT 2\"}\n",
        ),
        ("a.json", "[{\"question\": \"how many\", \"query\": \"SELECT 1\", \"db_id\": \"a\"}]"),
        ("a.txt", "how many\n\nwhich\n"),
    ] {
        let path = folder.path().join(name);
        with_damage(text, 400, |bytes| {
            fs::write(&path, bytes).unwrap();
            let _ = labeled::read_for_database(&path, "a");
            let _ = unlabeled::read(&path);
        });
    }
}

#[test]
fn settings_and_word_vectors_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    let settings = Config::default().to_toml().unwrap();
    with_damage(&settings, 100, |bytes| {
        fs::write(&path, bytes).unwrap();
        let _ = Config::read(Some(&path), &[]);
        let _ = Config::read(None, &[String::from_utf8_lossy(bytes).into_owned()]);
    });
    with_damage("the 0.25 -1 3e-2\nof 1 2 3\n", 400, |bytes| {
        let _ = Embeddings::read(&String::from_utf8_lossy(bytes));
    });
}

fn write_run(folder: &Path, files: &[(&str, String)]) {
    for (name, content) in files {
        fs::write(folder.join(name), content).unwrap();
    }
}

#[test]
fn run_folders_are_reported_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let prediction = "{\"utterance\": \"who\", \"gold\": \"a\", \"outcome\": \"value\\t(list)\", \"candidates\": [], \"chosen\": null}\n";
    let files = [
        ("config.toml", Config::default().to_toml().unwrap()),
        (
            "evaluation.json",
            "{\"examples\": 1, \"accuracy\": 0.5, \"accuracy_of_best\": 0, \"exact\": 0, \"in_beam\": 1, \"executable\": 1}"
                .to_owned(),
        ),
        ("predictions.jsonl", prediction.to_owned()),
        ("metrics.jsonl", "{\"step\": 10, \"loss\": 1.5, \"rate\": 0.001, \"gradient\": 2}\n".to_owned()),
        ("unlabeled.json", "{\"questions\": 3, \"length_ratio\": 1.5}".to_owned()),
        ("manifest.json", "{\"format\": 1, \"files\": {}}".to_owned()),
    ];
    let report = || {
        if let Ok(report) = Report::read(&[folder.path().to_owned()], Some(5)) {
            let _ = (report.to_terminal(), report.to_html(), report.to_markdown(), report.to_csv());
        }
    };
    for (name, content) in &files {
        with_damage(content, 80, |bytes| {
            write_run(folder.path(), &files);
            fs::write(folder.path().join(name), bytes).unwrap();
            report();
        });
    }
}

struct Unobserved;

impl Observer for Unobserved {
    fn step(&mut self, _: StepReport, _: usize) {}

    fn resumed(&mut self, _: usize) {}
}

/// Trains a tiny parser for a database in a folder, and returns its run folder.
fn train_tiny(folder: &Path) -> PathBuf {
    assert!(xpr_exec::sqlite::prepare_engine());
    let database = rusqlite::Connection::open(folder.join("music.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, price REAL);
             INSERT INTO album VALUES (1, 'Pastel Blues', 9.5), (2, 'Wild is the Wind', 12);",
        )
        .unwrap();
    let labels = "how many albums are there\tSELECT count(*) FROM album\n\
                  what does pastel blues cost\tSELECT price FROM album WHERE title = 'Pastel Blues'\n";
    fs::write(folder.join("train.tsv"), labels).unwrap();
    let mut settings = vec![format!("data.folder={folder:?}")];
    settings.extend(
        [
            "data.dataset=database",
            "data.database=sqlite:music.db",
            "data.labeled=train.tsv",
            "model.hidden=8",
            "model.heads=2",
            "model.feed_forward=8",
            "model.word=4",
            "model.action=4",
            "model.place=4",
            "train.steps=2",
        ]
        .map(str::to_owned),
    );
    let config = Config::read(None, &settings).unwrap().config;
    let run = RunFolder::create(&folder.join("run")).unwrap();
    Experiment::load(config).unwrap().run(&run, false, &mut Unobserved).unwrap();
    run.folder().to_owned()
}

#[test]
fn trained_runs_are_opened_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = train_tiny(folder.path());
    let open = || {
        if let Ok(run) = TrainedRun::open(&run) {
            let question = run.task.question("what does pastel blues cost");
            let _ = run.parser().candidates(&[&question], 2);
        }
    };
    assert!(TrainedRun::open(&run).is_ok());
    // A manifest would refuse every change.
    fs::remove_file(run.join("manifest.json")).unwrap();
    for (name, rounds) in [
        ("config.toml", 60),
        ("grammar.json", 60),
        ("vocabulary.json", 60),
        ("model.safetensors", 60),
        ("channel.json", 60),
    ] {
        let path = run.join(name);
        let original = fs::read(&path).unwrap();
        with_damage(&original, rounds, |bytes| {
            fs::write(&path, bytes).unwrap();
            open();
        });
        fs::write(&path, original).unwrap();
    }
    let schema = folder.path().join("xpr-schema.json");
    let read = SqliteDatabase::open(folder.path().join("music.db"))
        .unwrap()
        .read_schema(&mut |_| ControlFlow::Continue(()));
    with_damage(StoredSchema::new(&read.unwrap()).to_json().unwrap(), 60, |bytes| {
        fs::write(&schema, bytes).unwrap();
        open();
    });
    fs::remove_file(&schema).unwrap();
    assert!(TrainedRun::open(&run).is_ok());
}
