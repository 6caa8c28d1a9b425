//! Every reader of files reads any bytes or refuses them. It is a bounded version of fuzzing.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::Path;
use xpr_data::{Embeddings, labeled, unlabeled};
use xpr_report::Report;
use xpr_run::Config;

/// A fixed sequence of pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Calls `read` with damaged versions of a text: bits are flipped, and pieces are removed, repeated or replaced by others that
/// mean something to some reader.
fn with_damage(text: &str, rounds: usize, mut read: impl FnMut(&[u8])) {
    const PIECES: [&str; 14] =
        ["\"", "\t", "\n", "\r", ",", "{", "]", "\0", "\u{feff}", "é", "1e999", "-", "[[", "\u{1b}"];
    let mut numbers = Numbers(7);
    for round in 0..rounds {
        let mut bytes = text.as_bytes().to_vec();
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
