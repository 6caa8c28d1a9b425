//! Reads any bytes as a file of word vectors, as text and in 8 bits, writes what was read and reads it again.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_data::Embeddings;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let path = FOLDER.get_or_init(support::folder).path().join("vectors.txt");
    fs::write(&path, bytes).expect("the file can be written");
    if let Ok(packed) = Embeddings::from_packed(bytes) {
        let again = Embeddings::from_packed(&packed.to_packed()).expect("what was packed can be read");
        assert_eq!((again.words, again.size), (packed.words, packed.size));
    }
    let Ok(read) = Embeddings::open(&path) else { return };
    let vectors = read.words.iter().map(|word| (word.as_str(), read.vectors[word].as_slice()));
    Embeddings::write(&path, vectors).expect("the file can be written");
    let again = Embeddings::open(&path).expect("what was written can be read");
    assert_eq!((again.words, again.size), (read.words, read.size));
});
