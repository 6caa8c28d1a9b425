//! Reads any text as each of the files of the benchmarks.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_data::{SplitBy, Text2Sql, read_examples, read_lexicon};

fuzz_target!(|text: &str| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(support::folder).path();
    let _ = read_examples(text);
    let _ = read_lexicon(text);
    fs::write(folder.join("music.json"), text).expect("the file can be written");
    if let Ok(dataset) = Text2Sql::open(folder, Some("music")) {
        for split_by in [SplitBy::Question, SplitBy::Query] {
            let _ = dataset.labeled_questions(split_by, 0);
        }
    }
});
