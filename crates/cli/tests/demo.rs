//! The whole demo through the binary, with few steps and a narrow search.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the demo in a folder.
fn demo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.current_dir(folder).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS").arg("demo");
    for setting in [
        "train.steps=6",
        "learn.steps=4",
        "train.checkpoint=3",
        "learn.batch=4",
        "learn.beam=4",
        "eval.beam=4",
    ] {
        command.args(["--set", setting]);
    }
    command.args(arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the parts of the text that do not depend on the trained parsers: numbers are `N`, programs and answers `…`.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("    ").filter(|rest| !rest.starts_with(' ')) {
            let label = rest.split_whitespace().next().filter(|word| ["first", "instead"].contains(word));
            shape
                .push_str(&format!("    {}…\n", label.map_or_else(String::new, |label| format!("{label} "))));
            continue;
        }
        let mut words = Vec::new();
        for word in line.split_whitespace() {
            let is_number = word.bytes().any(|byte| byte.is_ascii_digit()) && !word.contains('/');
            words.push(if is_number { "N" } else { word });
        }
        shape.push_str(&format!("{}\n", words.join(" ")));
    }
    shape
}

#[test]
fn the_demo_trains_compares_answers_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &[]);
    let text = printed(&output);
    // The examples depend on the base.
    let (before, rest) = text.split_once("not used in training).\n").unwrap();
    let (_, after) = rest.split_once("\nwith a log, sparse MML: ").unwrap();
    insta::assert_snapshot!(shape(&format!(
        "{before}not used in training).\n…\nwith a log, sparse MML: {after}"
    )));
    let progress = String::from_utf8(output.stderr).unwrap();
    for line in [
        "with a log, sparse MML: 0 labeled, 564 unlabeled",
        "with a log and 20 labels: 20 labeled, 544 unlabeled",
        "step 6/6",
    ] {
        assert!(progress.contains(line), "{progress}");
    }

    // The same command trains nothing, and reports the same.
    let again = demo(folder.path(), &["--json"]);
    assert!(!String::from_utf8(again.stderr.clone()).unwrap().contains("step"));
    let found: Value = serde_json::from_str(&printed(&again)).unwrap();
    let runs = found["runs"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["built-in base", "with a log, sparse MML", "with a log and 20 labels"]);
    let accuracy = |run: &Value| run["evaluation"]["accuracy"].as_f64().unwrap();
    for run in runs {
        assert_eq!(run["seconds"], Value::Null);
        assert_eq!(run["right"].as_array().unwrap().len(), 214);
        let percent = format!("{:.1} %", 100.0 * accuracy(run));
        assert!(text.contains(&percent), "{percent} is not in {text}");
    }
    // The base has never seen a question about films.
    assert!(accuracy(&runs[0]) > 0.3, "{}", accuracy(&runs[0]));
    assert_eq!(found["answers"].as_array().unwrap().len(), 5);
    let running = &found["running"];
    assert_eq!(running["questions"], 564);
    // A beam of 4 finds at most four programs for a question.
    let candidates = running["candidates"].as_u64().unwrap();
    assert!((564..=564 * 4).contains(&candidates), "{candidates} candidates");

    // An unfinished run is resumed to the same weights, and a run with other settings is trained again.
    let run = folder.path().join("xpr-demo/runs/seed-0/labels");
    let weights = || fs::read(run.join("model.safetensors")).unwrap();
    let first = weights();
    assert_ne!(first, fs::read(run.with_file_name("log-sparse").join("model.safetensors")).unwrap());
    fs::remove_file(run.join("evaluation.json")).unwrap();
    let resumed = demo(folder.path(), &["--json"]);
    assert!(String::from_utf8(resumed.stderr).unwrap().contains("resuming after step 4"));
    assert_eq!(weights(), first);
    let other = demo(folder.path(), &["--json", "--set", "train.steps=7"]);
    assert!(String::from_utf8(other.stderr).unwrap().contains("step 7/7"));
    assert_ne!(weights(), first);
    assert!(folder.path().join("xpr-demo/report.html").is_file());
}

#[test]
fn the_demo_does_not_write_into_other_folders() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/train.tsv"), "mine").unwrap();
    let output = demo(folder.path(), &["--out", "mine"]);
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        error,
        "error: mine has files in it that are not the demo's; name another folder with --out\n"
    );
    assert_eq!(fs::read_to_string(folder.path().join("mine/train.tsv")).unwrap(), "mine");
}
