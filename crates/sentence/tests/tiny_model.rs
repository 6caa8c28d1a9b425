//! The encoder with a small model of random weights.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use safetensors::tensor::Dtype;
use std::fs;
use std::path::Path;
use support::{SIZE, model, tensors, write_weights};
use tempfile::TempDir;
use xpr_sentence::{NORM, SentenceEncoder, SentenceError, word_vectors};

fn open(folder: &TempDir) -> SentenceEncoder {
    SentenceEncoder::open(folder.path()).unwrap()
}

#[test]
fn half_and_full_precision_give_the_same_vectors() {
    let [half, full] = [Dtype::F16, Dtype::F32].map(|dtype| open(&model(dtype)).encode(&["which films?"]));
    assert_eq!(half, full);
    assert!(half.data().iter().all(|x| x.is_finite()) && half.data().iter().any(|x| *x != 0.0));
}

#[test]
fn a_vector_depends_on_its_text_alone() {
    let folder = model(Dtype::F16);
    let encoder = open(&folder);
    let some =
        ["film", "", "which films are long?", "THE film", "the the the the the the the the the", "unknown"];
    let texts: Vec<&str> = some.iter().copied().cycle().take(700).collect();
    let together = encoder.encode(&texts);
    assert_eq!((together.rows(), together.columns()), (700, SIZE));
    for (index, text) in some.iter().enumerate() {
        let alone = encoder.encode(&[text]);
        for row in (index..texts.len()).step_by(some.len()) {
            assert_eq!(together.row(row), alone.data(), "{text:?} in row {row}");
        }
    }
    let on_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (encoder.encode(&texts), encoder.encode_tokens(&texts)))
    };
    assert_eq!(on_threads(1), on_threads(3));
    assert_eq!(encoder.encode(&[]).rows(), 0);
}

#[test]
fn order_and_words_matter() {
    let encoder = open(&model(Dtype::F16));
    let vectors = encoder.encode(&["which film", "film which", "Which  FILM", "long film"]);
    assert_eq!(vectors.row(0), vectors.row(2), "case and spaces do not matter");
    assert_ne!(vectors.row(0), vectors.row(1));
    assert_ne!(vectors.row(0), vectors.row(3));
}

#[test]
fn words_of_a_text_have_a_row_each() {
    let encoder = open(&model(Dtype::F16));
    let texts = ["which films?", "", "film film film film film film film film", "the \u{0} film"];
    let words = encoder.encode_tokens(&texts);
    assert_eq!(words.iter().map(|words| words.rows()).collect::<Vec<_>>(), [2, 0, 8, 3]);
    let has_vector = |text: usize| {
        (0..words[text].rows()).map(|row| words[text].row(row).iter().any(|x| *x != 0.0)).collect::<Vec<_>>()
    };
    assert_eq!(has_vector(0), [true, true]);
    // Two of the eight positions are those of the marks.
    assert_eq!(has_vector(2), [true, true, true, true, true, true, false, false]);
    assert_eq!(has_vector(3), [true, false, true]);
}

#[test]
fn word_vectors_have_their_length_and_report_progress() {
    let encoder = open(&model(Dtype::F16));
    let words: Vec<&str> = ["film", "films", "which"].into_iter().cycle().take(1500).collect();
    let mut progress = Vec::new();
    let vectors = word_vectors(&encoder, &words, |done| progress.push(done));
    assert_eq!(progress, [1024, 1500]);
    for row in 0..vectors.rows() {
        let norm = vectors.row(row).iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - NORM).abs() < 1e-5, "{norm}");
    }
    assert_eq!(vectors.row(0), vectors.row(1497));
}

/// Changes a file of a model, and returns the error of opening it, without the folder.
fn error(change: impl FnOnce(&Path)) -> (SentenceError, String) {
    let folder = model(Dtype::F16);
    change(folder.path());
    let error = SentenceEncoder::open(folder.path()).unwrap_err();
    let prefix = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    let message = error.to_string().replace(&prefix, "");
    (error, message)
}

/// Replaces a text in a file.
fn replace(file: &'static str, from: &'static str, to: &'static str) -> impl FnOnce(&Path) {
    move |folder| {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(folder.join(file), text.replace(from, to)).unwrap();
    }
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let (error, message) = error(|folder| fs::remove_file(folder.join(file)).unwrap());
        assert!(matches!(error, SentenceError::File { .. }), "{error:?}");
        assert!(message.starts_with(file) && message.contains("the folder of a model has"), "{message}");
    }
}

#[test]
fn other_models_are_refused() {
    let cases = [
        (r#""bert""#, r#""gpt2""#, "config.json: model_type is `gpt2`, and only `bert` is supported"),
        (r#""gelu""#, r#""relu""#, "config.json: hidden_act is `relu`, and only `gelu` is supported"),
        (
            r#""num_attention_heads":3"#,
            r#""num_attention_heads":5"#,
            "config.json: hidden_size is 12, which is no multiple of the 5 heads",
        ),
        (
            r#""num_attention_heads":3"#,
            r#""num_attention_heads":0"#,
            "config.json: hidden_size is 12, which is no multiple of the 0 heads",
        ),
        (
            r#""max_position_embeddings":8"#,
            r#""max_position_embeddings":2"#,
            "config.json: max_position_embeddings must be at least 3 and type_vocab_size at least 1",
        ),
        (
            r#""num_hidden_layers":2"#,
            r#""num_hidden_layers":3"#,
            "model.safetensors: there is no tensor `encoder.layer.2.attention.self.query.weight`",
        ),
        (
            r#""intermediate_size":20"#,
            r#""intermediate_size":24"#,
            "model.safetensors: the tensor `encoder.layer.0.intermediate.dense.weight` has the shape [20, 12], but \
             [24, 12] follows from config.json",
        ),
        (
            r#""vocab_size":10"#,
            r#""vocab_size":9"#,
            "tokenizer.json: `the` has the index 9, but config.json has a vocab_size of 9",
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(error(replace("config.json", from, to)).1, expected);
    }
    let (error, _) = error(|folder| {
        let config = fs::read_to_string(folder.join("config.json")).unwrap();
        fs::write(folder.join("config.json"), config.replace("\"model_type\"", "\"type\"")).unwrap();
    });
    assert!(matches!(error, SentenceError::Unsupported { setting: "model_type", .. }), "{error:?}");
}

#[test]
fn damaged_files_are_errors() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let content = fs::read(model(Dtype::F16).path().join(file)).unwrap();
        for damaged in [&[][..], &content[..content.len() / 2], &[0xff; 100], b"[1, 2]"] {
            let (error, message) = error(|folder| fs::write(folder.join(file), damaged).unwrap());
            assert!(matches!(error, SentenceError::Format { .. }), "{file}, {damaged:.20?}: {error:?}");
            assert!(message.starts_with(file), "{message}");
        }
    }
    let (error, message) = error(|folder| write_weights(folder, &tensors(), Dtype::I32));
    assert!(matches!(error, SentenceError::Format { .. }), "{error:?}");
    assert!(message.ends_with("has numbers of type I32; expected F16 or F32"), "{message}");
}
