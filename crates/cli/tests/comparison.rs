//! `xpr compare` through the binary: results, resuming, and what is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[expect(dead_code, reason = "other tests use the rest of it")]
mod small_calendar;

use small_calendar::{SmallCalendar, command, stderr, succeed};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Writes an experiment with a small parser, and removes the test file, which a comparison must not need.
fn small_experiment() -> SmallCalendar {
    let calendar = SmallCalendar::new();
    let experiment = "[data]\nfraction = 0.7\n\
         [model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n\
         [train]\nsteps = 60\nrate = 0.01\nwarmup = 10\ncheckpoint = 10\n\
         [learn]\nensemble = 2\nsteps = 60\nbatch = 4\nbeam = 4\n";
    fs::write(calendar.path("small.toml"), experiment).unwrap();
    fs::remove_file(calendar.path("data/calendar_test.tsv")).unwrap();
    calendar
}

/// Returns the command that compares variants of the small experiment, with some arguments.
fn compare(calendar: &SmallCalendar, out: &str, arguments: &[&str]) -> Command {
    let [file, data, out] = ["small.toml", "data", out].map(|name| calendar.argument(name));
    let mut compare = command(&["compare", &file, "--data", &data, "--out", &out]);
    compare.args(arguments);
    compare
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the accuracy of a run in percent, and the questions it was evaluated on.
fn evaluated(run: &Path) -> (f64, Vec<String>) {
    let read = |file: &str| fs::read_to_string(run.join(file)).unwrap();
    let evaluation: serde_json::Value = serde_json::from_str(&read("evaluation.json")).unwrap();
    let question = |line: &str| {
        let prediction: serde_json::Value = serde_json::from_str(line).unwrap();
        prediction["utterance"].as_str().unwrap().to_owned()
    };
    let questions = read("predictions.jsonl").lines().map(question).collect();
    (100.0 * evaluation["accuracy"].as_f64().unwrap(), questions)
}

#[test]
fn experiments_are_trained_on_the_same_folds_and_compared_with_the_first() {
    let calendar = small_experiment();
    let arguments = ["--vary", "learn.objective=none,sparse", "--seeds", "2", "--json"];
    let comparison = json(&succeed(&mut compare(&calendar, "out", &arguments)));
    // Eight of the twelve questions are labeled, and a quarter of them held out.
    assert_eq!(comparison["seeds"], 2);
    assert_eq!(
        comparison["domains"],
        serde_json::json!([{"name": "calendar", "questions": 2, "same_questions": false}])
    );
    let folds = [
        ["meetings with alice", "meetings with bob"],
        ["who attends the annual review", "how long is the annual review"],
    ];
    let mut means = Vec::new();
    for (index, name) in ["small,objective=none", "small,objective=sparse"].into_iter().enumerate() {
        let mut accuracies = Vec::new();
        for (seed, fold) in folds.iter().enumerate() {
            let run = format!("out/{name},calendar,seed={seed}");
            let (accuracy, questions) = evaluated(&calendar.path(&run));
            assert_eq!(questions, fold, "{run}");
            let config = calendar.read(&run, "config.toml");
            for line in [format!("seed = {seed}"), format!("fold = {seed}"), "held_out = 2".to_owned()] {
                assert!(config.contains(&format!("\n{line}\n")), "{line} in {config}");
            }
            accuracies.push(accuracy);
        }
        let experiment = &comparison["experiments"][index];
        assert_eq!(experiment["name"], name);
        let mean = accuracies.iter().sum::<f64>() / 2.0;
        assert_eq!(experiment["domains"][0]["domain"], "calendar");
        assert_eq!(experiment["domains"][0]["accuracy"]["mean"].as_f64(), Some(mean));
        assert_eq!(experiment["average"]["accuracy"], experiment["domains"][0]["accuracy"]);
        means.push(mean);
    }
    let difference = comparison["experiments"][1]["average"]["over_first"]["difference"].as_f64();
    assert_eq!(difference, Some(means[1] - means[0]));
    assert!(comparison["experiments"][0]["average"]["over_first"].is_null());

    // The same command, without --json, trains nothing and writes tables.
    let again = succeed(&mut compare(&calendar, "out", &arguments[..4]));
    assert!(stderr(&again).contains("4 runs, 4 of them finished"), "{}", stderr(&again));
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.starts_with("Accuracy on held-out training questions\n"), "{text}");
    assert!(text.contains("\nDifference to small,objective=none\n"), "{text}");

    // A finished run with other settings is not reused. The weight does not matter without an objective.
    let other =
        compare(&calendar, "out", &[&arguments[..], &["--set", "learn.weight=0.3"]].concat()).output();
    let message = stderr(&other.unwrap());
    assert!(
        message.contains("small,objective=sparse,calendar,seed=0 was trained with other settings")
            && message.contains("learn.weight is 1.0 in it, not 0.3"),
        "{message}"
    );
}

#[test]
fn held_out_questions_that_stay_in_training_are_the_same_for_every_seed() {
    let calendar = small_experiment();
    let small = calendar.argument("small.toml");
    let changed = format!("{small}:train.steps=20,train.rate=0.02");
    let arguments = [&changed, "--seeds", "2", "--from", "transductive", "--json"];
    let comparison = json(&succeed(&mut compare(&calendar, "out", &arguments)));
    assert_eq!(
        comparison["domains"],
        serde_json::json!([{"name": "calendar", "questions": 4, "same_questions": true}])
    );
    assert_eq!(comparison["experiments"][1]["name"], "small,steps=20,rate=0.02");
    let config = calendar.read("out/small,steps=20,rate=0.02,calendar,seed=1", "config.toml");
    for line in ["steps = 20", "rate = 0.02", "held_out = 4", "held_out_from = \"transductive\"", "fold = 0"]
    {
        assert!(config.contains(&format!("\n{line}\n")), "{line} in {config}");
    }
}

#[test]
fn a_killed_comparison_resumes_to_the_same_result() {
    let calendar = small_experiment();
    let arguments = ["--vary", "learn.objective=none,sparse", "--seeds", "2", "--json"];
    let whole = succeed(&mut compare(&calendar, "whole", &arguments)).stdout;
    let mut child = compare(&calendar, "killed", &arguments).stderr(Stdio::null()).spawn().unwrap();
    let killed = calendar.path("killed");
    let runs_with = |file: &str| {
        let entries = fs::read_dir(&killed).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().unwrap().path().join(file).exists()).count()
    };
    let start = Instant::now();
    while runs_with("config.toml") < 2 {
        assert!(start.elapsed() < Duration::from_secs(120), "no runs were started");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(runs_with("evaluation.json") < 4, "the comparison was finished before it was killed");
    assert_eq!(succeed(&mut compare(&calendar, "killed", &arguments)).stdout, whole);
}

#[test]
fn experiments_that_cannot_be_compared_are_refused() {
    let calendar = small_experiment();
    let vary = |setting: &'static str| ["--vary", setting];
    let objectives = vary("learn.objective=none,sparse");
    let refused = |arguments: &[&str], expected: &str| {
        let output = compare(&calendar, "out", arguments).output().unwrap();
        let message = stderr(&output);
        assert!(!output.status.success(), "{arguments:?} succeeded: {message}");
        assert!(message.contains(expected), "{message}\nexpected: {expected}");
        assert!(!calendar.path("out").exists(), "{arguments:?} started a run");
    };
    refused(&[], "nothing to compare small with");
    refused(&vary("learn.weight"), "expected a key and values");
    refused(&vary("learn.wieght=1,2"), "small,wieght=1: --set learn.wieght=1: there is no setting");
    refused(&vary("learn.objective=none,sparce"), "small,objective=sparce: there is no objective `sparce`");
    refused(
        &vary("train.seed=0,1"),
        "`train.seed` is chosen by the comparison; leave it out, and use --seeds",
    );
    refused(&vary("data.fraction=0.5,0.7"), "hold out different questions");
    refused(&vary("train.steps=1,1"), "is there twice");
    refused(&[&objectives[..], &["--set", "data.held_out=3"]].concat(), "use --held-out");
    refused(
        &[&objectives[..], &["--set", "learn.ensemble=0", "--set", "learn.reward=agreement"]].concat(),
        "itself",
    );
    refused(
        &[&objectives[..], &["--held-out", "3"]].concat(),
        "3 questions for each of 3 folds cannot be held out of 8",
    );
    refused(&[&objectives[..], &["--from", "rest", "--set", "data.fraction=1.0"]].concat(), "--from labeled");
    refused(&[&objectives[..], &["--domains", "calender"]].concat(), "invalid value 'calender'");
    refused(&[&objectives[..], &["--domains", "housing"]].concat(), "housing_split0.tsv");
    let project = "[data]\ndataset = \"database\"\n";
    fs::write(calendar.path("project.toml"), project).unwrap();
    refused(&[&calendar.argument("project.toml"), "--domains", "calendar"], "project is about a database");
}

#[test]
fn settings_that_no_experiment_uses_are_noted() {
    let calendar = small_experiment();
    let settings = ["learn.start=5", "learn.weight=0.5", "train.steps=1", "learn.steps=1"];
    let mut comparison =
        compare(&calendar, "out", &["--vary", "learn.objective=none,sparse", "--seeds", "1"]);
    for setting in settings {
        comparison.args(["--set", setting]);
    }
    let message = stderr(&succeed(&mut comparison));
    let notes: Vec<&str> = message.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "{message}");
    assert!(notes[0].starts_with("note: the setting `learn.start` is ignored"), "{message}");
}
