//! Tests of the encoder with a real model, all-MiniLM-L6-v2, against numbers from an independent program.
//!
//! `fixtures/reference.py` is the same encoder, written with numpy and Hugging Face's tokenizer. It wrote
//! `fixtures/reference.json`: the pieces of some texts and every 24th element of their
//! vectors, followed by the norm.

use crate::SentenceEncoder;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
    mean: Vec<f32>,
    words: Vec<(usize, Vec<f32>)>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../fixtures/reference.json")).unwrap()
}

/// Opens the model. A relative XPR_MODELS is relative to the workspace.
fn encoder() -> SentenceEncoder {
    let folder = std::env::var_os("XPR_MODELS")
        .expect("XPR_MODELS names the folder with all-MiniLM-L6-v2, see CONTRIBUTING.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    SentenceEncoder::open(&root.join(folder).join("all-MiniLM-L6-v2")).unwrap()
}

fn assert_close(vector: &[f32], expected: &[f32], what: &str) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let found: Vec<f32> = vector.iter().copied().step_by(24).chain([norm]).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-5, "{what}: {found}, not {expected}");
    }
}

#[test]
#[ignore = "needs XPR_MODELS, see CONTRIBUTING.md"]
fn pieces_are_those_of_the_reference() {
    let encoder = encoder();
    for case in cases() {
        assert_eq!(encoder.sequence(&case.text).ids, case.ids, "{:?}", case.text);
    }
}

#[test]
#[ignore = "needs XPR_MODELS, see CONTRIBUTING.md"]
fn vectors_are_those_of_the_reference() {
    let (encoder, cases) = (encoder(), cases());
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let (means, words) = (encoder.encode(&texts), encoder.encode_tokens(&texts));
    for (index, case) in cases.iter().enumerate() {
        let what = format!("{:.40?}", case.text);
        assert_close(means.row(index), &case.mean, &what);
        assert_eq!(words[index].rows(), case.text.split_whitespace().count());
        for (word, expected) in &case.words {
            assert_close(words[index].row(*word), expected, &format!("word {word} of {what}"));
        }
        // What has no pieces has no vector: control characters, and words after the last position.
        let is_zero = |row: usize| words[index].row(row).iter().all(|x| *x == 0.0);
        let known: Vec<usize> = case.words.iter().map(|(word, _)| *word).collect();
        let last = known.last().copied().unwrap_or_default();
        assert!((0..last).filter(|word| !known.contains(word)).all(is_zero), "{what}");
    }
}

#[test]
#[ignore = "needs XPR_MODELS, see CONTRIBUTING.md"]
fn a_batch_gives_the_same_bits_as_its_texts_alone() {
    let (encoder, cases) = (encoder(), cases());
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let together = encoder.encode(&texts);
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(encoder.encode(&[text]).data(), together.row(index), "{text:.40?}");
    }
}
