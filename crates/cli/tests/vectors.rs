//! `xpr vectors` with a small model.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../sentence/tests/support/mod.rs"]
mod tiny_model;

use safetensors::tensor::Dtype;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use xpr_data::Embeddings;

/// A folder with a model in `model`, and files of words.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Files { folder: tempfile::tempdir().unwrap() };
        fs::rename(tiny_model::model(Dtype::F16).keep(), files.path("model")).unwrap();
        fs::write(files.path("questions.txt"), "Which films are long?\nThe films\r\n").unwrap();
        fs::write(files.path("more.tsv"), "film\tSELECT the_film\n").unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `xpr vectors` in the folder.
    fn run(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_xpr"))
            .current_dir(self.folder.path())
            .arg("vectors")
            .args(arguments.split(' '))
            .output()
            .unwrap()
    }

    /// Runs `xpr vectors`, and returns what it wrote into `out.txt`.
    fn write(&self, arguments: &str) -> String {
        let output = self.run(&format!("--model model --out out.txt {arguments}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(self.path("out.txt")).unwrap()
    }
}

fn files_in(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn each_word_has_a_vector_of_the_wanted_size() {
    let files = Files::new();
    let text = files.write("--words questions.txt more.tsv --size 3");
    let embeddings = Embeddings::read(&text).unwrap();
    assert_eq!(embeddings.words, ["which", "films", "are", "long", "the", "film", "select"]);
    assert_eq!(embeddings.size, 3);
    assert_eq!(text, files.write("--words questions.txt more.tsv --size 3 --threads 1"));

    let whole = Embeddings::read(&files.write("--words more.tsv --size 0")).unwrap();
    assert_eq!(whole.size, tiny_model::SIZE);
    for vector in whole.vectors.values() {
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 4.0).abs() < 1e-4, "{norm}");
    }
}

#[test]
fn with_a_basis_a_vector_depends_on_its_word_alone() {
    let files = Files::new();
    let all = files.write("--words questions.txt more.tsv --basis questions.txt --size 2");
    let few = files.write("--words more.tsv --basis questions.txt --size 2");
    assert_eq!(few.lines().count(), 3);
    for line in few.lines() {
        assert!(all.lines().any(|other| other == line), "{line}\nis not in\n{all}");
    }
    assert_ne!(few, files.write("--words more.tsv --size 2"));
}

#[test]
fn the_report_has_the_number_of_words_and_the_variance() {
    let files = Files::new();
    let output = files.run("--model model --words questions.txt --out out.txt --size 4 --json");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["words"], &report["size"]), (&5.into(), &4.into()));
    // Five vectors vary in four directions.
    assert!((report["kept_variance"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{report}");
    assert!(report["words_per_second"].as_f64().unwrap() > 0.0);
    let output = files.run("--model model --words questions.txt --out out.txt --size 4");
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "Wrote out.txt: 5 words with 4 numbers, which keep 100.0 % of the variance.\nEncoded ";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn errors_leave_the_earlier_file() {
    let files = Files::new();
    fs::write(files.path("out.txt"), "earlier").unwrap();
    fs::write(files.path("empty.txt"), "?!").unwrap();
    fs::write(files.path("one.txt"), "film").unwrap();
    fs::write(files.path("binary"), b"film \xff\xfe").unwrap();
    let before = files_in(files.folder.path());
    let cases = [
        ("--model model --words none.txt --out out.txt", "none.txt: "),
        ("--model model --words empty.txt --out out.txt", "empty.txt: there are no words in this file"),
        ("--model model --words binary --out out.txt", "binary, line 1: this is not UTF-8"),
        ("--model none --words one.txt --out out.txt", "config.json: "),
        (
            "--model model --words one.txt --out out.txt --size 13",
            "--size 13: the vectors of this model have 12 numbers",
        ),
        (
            "--model model --words one.txt --out out.txt --size 2",
            "a projection needs at least two different vectors; --size 0 writes vectors without one",
        ),
        ("--model model --words one.txt --out none/out.txt", "there is no folder none"),
        ("--model model --words one.txt --out model", "model: this is a folder; name a file"),
    ];
    for (arguments, expected) in cases {
        let output = files.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments}");
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{arguments}: {stderr}");
        assert_eq!(fs::read_to_string(files.path("out.txt")).unwrap(), "earlier");
        assert_eq!(files_in(files.folder.path()), before, "{arguments}");
    }
}
