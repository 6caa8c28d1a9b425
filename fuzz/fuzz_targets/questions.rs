//! Reads any bytes as a file of questions, with and without programs, in every format; writes what was read and reads it again.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_data::{labeled, unlabeled};

fuzz_target!(|input: (u8, &[u8])| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(support::folder).path();
    let (format, bytes) = input;
    let ending = ["tsv", "csv", "jsonl", "json", "txt"][usize::from(format) % 5];
    let path = folder.join(format!("questions.{ending}"));
    fs::write(&path, bytes).expect("the file can be written");
    let _ = unlabeled::read(&path);
    let Ok(questions) = labeled::read_for_database(&path, "music") else { return };
    let Ok(tsv) = labeled::to_tsv(&questions) else { return };
    let path = folder.join("written.tsv");
    fs::write(&path, &tsv).expect("the file can be written");
    let again = labeled::read(&path).expect("what was written can be read");
    assert_eq!(again.len(), questions.len(), "{tsv}");
    assert_eq!(labeled::to_tsv(&again).expect("it can be written again"), tsv);
});
