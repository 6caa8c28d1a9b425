//! Reports of small sweeps that the tests write.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use xpr_report::Report;

/// A run to be written. `right` says which answers are correct, `1` or `0` each.
struct RunToWrite<'a> {
    name: &'a str,
    settings: &'a str,
    right: &'a str,
    objective: &'a str,
}

const LABELED: &str =
    "( call SW.listValue ( call SW.filter en.meeting ( string date ) ( string > ) ( date 2015 1 2 ) ) )";
const WRONG: &str =
    "( call SW.listValue ( call SW.filter en.meeting ( string date ) ( string < ) ( date 2015 1 2 ) ) )";

impl RunToWrite<'_> {
    fn write(&self, sweep: &Path) -> PathBuf {
        let folder = sweep.join(self.name);
        fs::create_dir_all(&folder).unwrap();
        let config = format!("[data]\n{}\n[learn]\nobjective = \"{}\"\n", self.settings, self.objective);
        fs::write(folder.join("config.toml"), config).unwrap();
        let right: Vec<bool> = self.right.chars().map(|c| c == '1').collect();
        let accuracy = right.iter().filter(|right| **right).count() as f64 / right.len() as f64;
        let evaluation = json!({
            "examples": right.len(), "accuracy": accuracy, "accuracy_of_best": accuracy, "exact": accuracy,
            "in_beam": 1.0, "executable": 1.0
        });
        fs::write(folder.join("evaluation.json"), evaluation.to_string()).unwrap();
        let lines: String =
            right.iter().enumerate().map(|(index, right)| prediction(index, *right)).collect();
        fs::write(folder.join("predictions.jsonl"), lines).unwrap();
        let metrics: String = (10..=200).step_by(10).map(|step| self.metrics(step)).collect();
        fs::write(folder.join("metrics.jsonl"), metrics).unwrap();
        folder
    }

    fn metrics(&self, step: usize) -> String {
        let mut line = json!({"step": step, "loss": 100.0 / step as f64, "rate": 0.001, "gradient": 1.0});
        if self.objective != "none" && step > 100 {
            line["unlabeled"] = json!({
                "loss": 1.0, "rewarded": 0.5, "mass": 0.9, "length_ratio": 1.5 + step as f64 / 1000.0, "gap": 0.1,
                "coverage": 0.6, "gold_rank": 2.0
            });
        }
        format!("{line}\n")
    }
}

/// A line of `predictions.jsonl` with two candidates, one of them correct.
fn prediction(index: usize, right: bool) -> String {
    let candidate = |program: &str, log_probability: f64, outcome: &str| json!({"program": program, "log_probability": log_probability, "outcome": outcome});
    let good = |p: f64| candidate(LABELED, p, "value\t(list (name en.meeting.1))");
    let bad = |p: f64| candidate(WRONG, p, "value\t(list (name en.meeting.2))");
    let candidates = if right { [good(-0.1), bad(-3.0)] } else { [bad(-0.7), good(-1.0)] };
    let line = json!({
        "utterance": format!("meetings after january {index}"), "gold": LABELED, "gold_written": LABELED,
        "gold_outcome": "value\t(list (name en.meeting.1))", "correct": right,
        "right_at": if right { 0 } else { 1 }, "chosen": 0, "candidates": candidates
    });
    format!("{line}\n")
}

/// Writes runs on two domains with 30 % of the labels and on one with all, evaluated on the test examples, and a run
/// evaluated on held-out examples.
fn write_sweep(folder: &Path) {
    let calendar = "domain = \"calendar\"\nfraction = 0.3";
    let housing = "domain = \"housing\"\nfraction = 0.3";
    for (name, settings, split, right, objective) in [
        ("c-none-0", calendar, 0, "1111100000", "none"),
        ("c-none-1", calendar, 1, "1111110000", "none"),
        ("c-sparse-0", calendar, 0, "1111111000", "sparse"),
        ("c-sparse-1", calendar, 1, "1111111000", "sparse"),
        ("h-none-0", housing, 0, "1111111110", "none"),
        ("h-sparse-0", housing, 0, "0111111111", "sparse"),
        ("c-all-0", "domain = \"calendar\"\nfraction = 1.0", 0, "1111111110", "none"),
        ("b-held-0", "domain = \"blocks\"\nfraction = 0.3\nheld_out = 10", 0, "1111111111", "none"),
    ] {
        let settings = format!("{settings}\nsplit = {split}");
        RunToWrite { name, settings: &settings, right, objective }.write(folder);
    }
}

fn read(folder: &Path) -> Report {
    Report::read(&[folder.to_owned()], None).unwrap()
}

#[test]
fn a_sweep_as_text_and_as_markdown() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    let report = read(folder.path());
    insta::assert_snapshot!("terminal", report.to_terminal());
    // The errors are similar for each group, so those of the first are compared.
    let markdown = report.to_markdown();
    let (tables, errors) = markdown.split_once("\n## Errors").unwrap();
    insta::assert_snapshot!("markdown", tables);
    let (first, _) = errors.split_once("\n## Errors").unwrap();
    insta::assert_snapshot!("markdown_errors", first);

    // The same runs give the same report.
    let again = read(folder.path());
    assert_eq!(again.to_html(), report.to_html());
    assert_eq!(again.to_csv(), report.to_csv());
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&report).unwrap());
}

#[test]
fn a_sweep_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    insta::assert_snapshot!("csv", read(folder.path()).to_csv());
}

#[test]
fn a_page_has_a_section_for_each_kind_of_result() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    let html = read(folder.path()).to_html();
    let titles: Vec<&str> =
        html.split("<h2>").skip(1).filter_map(|rest| Some(rest.split_once("</h2>")?.0)).collect();
    assert_eq!(titles, ["Comparison with the paper", "Accuracy", "Training", "Calibration", "Errors"]);
    assert!(html.contains("<h1>Results</h1>"));
    // An interval for each of the two groups with a gain, and a wrong answer with its marked token.
    assert_eq!(html.matches("<svg class=\"forest\"").count(), 2);
    assert!(html.contains("( string <mark>&lt;</mark> )"));
    // Elements of SVG that are not closed would contain all that follow.
    for element in ["path", "circle", "rect", "svg", "text", "details", "table"] {
        let opened =
            html.matches(&format!("<{element} ")).count() + html.matches(&format!("<{element}>")).count();
        assert_eq!(opened, html.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn the_figures_are_those_of_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    let report = serde_json::to_value(read(folder.path())).unwrap();
    let groups = report["groups"].as_array().unwrap();
    let find = |topic: &str, objective: &str, fraction: f64| {
        groups
            .iter()
            .find(|g| g["topic"] == topic && g["objective"] == objective && g["fraction"] == fraction)
            .unwrap()
    };
    // Two of ten more in split 0, one more in split 1: 15 points on average.
    let over = &find("calendar", "sparse", 0.3)["over_labels_only"];
    assert_eq!((over["difference"].as_f64(), over["runs"].clone()), (Some(15.0), json!([2, 2])));
    assert!(over["low"].as_f64() >= Some(0.0) && over["high"].as_f64() <= Some(45.0), "{over}");
    let over = &find("housing", "sparse", 0.3)["over_labels_only"];
    assert_eq!(over["difference"], 0.0);
    // Results on held-out examples are not compared with the paper and not in its averages.
    let table = &report["comparisons"][0];
    assert_eq!(table["columns"], json!(["calendar", "housing"]));
    assert!(table["missing"].as_array().unwrap().contains(&json!("blocks")));
    // The averages over both domains: ours (55 + 90) / 2, the paper's (64.9 + 61.4) / 2.
    let average = &table["rows"][0]["average"];
    assert_eq!(average["ours"]["mean"], 72.5);
    assert!((average["paper"].as_f64().unwrap() - 63.15).abs() < 1e-9);
    let calibration = &find("blocks", "none", 0.3)["calibration"];
    let confidence = (-0.1f64).exp();
    assert!((calibration["expected_error"].as_f64().unwrap() - (1.0 - confidence)).abs() < 1e-6);
}

/// Writes runs on calendar with more lines for their settings, of which the first are in the section `learn`.
fn write_with_settings<'a>(folder: &Path, runs: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) {
    for (name, objective, more) in runs {
        let settings = "domain = \"calendar\"\nfraction = 0.3";
        let path = RunToWrite { name, settings, right: "10", objective }.write(folder).join("config.toml");
        let config = fs::read_to_string(&path).unwrap();
        fs::write(&path, config + more).unwrap();
    }
}

/// The objective, the variant and the number of runs of each group.
fn groups(folder: &Path) -> Vec<(String, String, usize)> {
    let group = |g: &xpr_report::Group| (g.objective.clone(), g.variant(), g.runs.len());
    read(folder).groups.iter().map(group).collect()
}

fn group(objective: &str, variant: &str, runs: usize) -> (String, String, usize) {
    (objective.to_owned(), variant.to_owned(), runs)
}

#[test]
fn settings_tell_groups_apart_only_where_they_matter() {
    let folder = tempfile::tempdir().unwrap();
    write_with_settings(
        folder.path(),
        [
            ("none-a", "none", "weight = 0.1\n"),
            ("none-b", "none", "weight = 0.5\n[train]\nseed = 1\n"),
            ("sparse-a", "sparse", "weight = 0.1\n"),
            ("sparse-b", "sparse", "weight = 0.5\n"),
        ],
    );
    assert_eq!(
        groups(folder.path()),
        [group("none", "", 2), group("sparse", "weight=0.1", 1), group("sparse", "weight=0.5", 1)]
    );
    // A weight that was chosen on held-out labels is not a setting of the experiment.
    for run in ["sparse-a", "sparse-b"] {
        fs::create_dir(folder.path().join(run).join("tuning")).unwrap();
    }
    assert_eq!(groups(folder.path()), [group("none", "", 2), group("sparse", "", 2)]);
}

#[test]
fn runs_of_earlier_versions_have_the_settings_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    write_with_settings(
        folder.path(),
        [
            // The names before, those of today, and a value that is the default of today.
            ("old", "sparse", "committee = 3\nchannel = 0.5\n[eval]\nleast = \"executes\"\n"),
            ("new", "sparse", "ensemble = 3\nnoisy_channel = 0.5\n[eval]\nprefer = \"executes\"\n"),
            ("own", "sparse", "committee = 0\nnoise = true\n[eval]\nleast = \"executes\"\n"),
        ],
    );
    assert_eq!(groups(folder.path()), [group("sparse", "ensemble=0", 1), group("sparse", "ensemble=3", 2),]);
}

#[test]
fn text_from_a_run_is_never_markup() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunToWrite {
        name: "<img src=x>",
        settings: "domain = \"</style><script>alert(1)</script>\"",
        right: "01",
        objective: "none",
    }
    .write(folder.path());
    let hostile = "<script>alert(\"x\")</script>' onclick='y' &amp; | `z` \u{1b}[2J";
    let predictions = fs::read_to_string(run.join("predictions.jsonl")).unwrap();
    let lines: String = predictions
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            for key in ["utterance", "gold", "gold_written"] {
                line[key] = json!(hostile);
            }
            line["gold_outcome"] = json!(format!("value\t{hostile}"));
            line["candidates"][0]["program"] = json!(hostile);
            line["candidates"][0]["outcome"] = json!(format!("error\t{hostile}"));
            line["candidates"][1]["outcome"] = json!(format!("timeout\t{hostile}"));
            format!("{line}\n")
        })
        .collect();
    fs::write(run.join("predictions.jsonl"), lines).unwrap();
    let report = read(folder.path());
    let html = report.to_html();
    assert_eq!(html.matches("<script").count(), 1, "only the script of the page itself");
    assert_eq!(html.matches("</style").count(), 1);
    assert!(!html.contains("<img"));
    // Quotes end no attribute: attributes are in double quotes, and these are escaped.
    let escaped = "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;' onclick='y' &amp;amp;";
    assert!(html.matches(escaped).count() >= 3, "question, answer and prediction");
    assert_eq!(html.matches("onclick").count(), html.matches(escaped).count());
    for fetched in ["http:", "https:", "url(", "@import"] {
        assert!(!html.contains(fetched), "the page fetches nothing: {fetched}");
    }
    let markdown = report.to_markdown();
    assert!(!markdown.contains("<script") && !markdown.contains("<img"), "{markdown}");
    assert!(!report.to_terminal().contains('\u{1b}'));
}

#[test]
fn missing_and_damaged_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    let run = |name: &str| folder.path().join(name);
    fs::remove_file(run("c-none-0").join("predictions.jsonl")).unwrap();
    fs::write(run("c-none-1").join("evaluation.json"), "{\"examples\": 3}").unwrap();
    fs::write(run("c-sparse-0").join("metrics.jsonl"), "{\"step\": 10, \"loss\": 1}\n{\"step\": 2").unwrap();
    let predictions = fs::read_to_string(run("c-sparse-1").join("predictions.jsonl")).unwrap();
    fs::write(run("c-sparse-1").join("predictions.jsonl"), predictions.replacen("value\\t", "good\\t", 1))
        .unwrap();
    for file in ["evaluation.json", "predictions.jsonl", "metrics.jsonl"] {
        fs::remove_file(run("h-sparse-0").join(file)).unwrap();
    }
    fs::create_dir(run("not-started")).unwrap();
    fs::write(folder.path().join("c-none-0.log"), "a log beside the runs").unwrap();
    let report = read(folder.path());
    assert_eq!((report.runs, report.evaluated), (8, 6));
    insta::assert_snapshot!("missing", report.absent.join("\n"));
    let message = "h-sparse-0: evaluation.json, predictions.jsonl and metrics.jsonl are missing";
    for written in [report.to_html(), report.to_terminal()] {
        assert!(written.contains(message), "{written}");
    }
}

#[test]
fn folders_without_results_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    write_sweep(folder.path());
    let run = |name: &str| folder.path().join(name);
    fs::create_dir(run("not-started")).unwrap();
    fs::remove_file(run("h-sparse-0").join("evaluation.json")).unwrap();
    let error = |folder: PathBuf| Report::read(&[folder], None).unwrap_err().to_string();
    for (folder, expected) in [
        (run("not-started"), "is neither a run"),
        (run("nowhere"), "nowhere: No such file or directory"),
        (run("h-sparse-0"), "none of the 1 runs is evaluated (h-sparse-0: evaluation.json is missing)"),
    ] {
        let message = error(folder);
        assert!(message.contains(expected), "{message}");
    }
    fs::write(run("c-all-0").join("config.toml"), "[data\n").unwrap();
    let message = error(folder.path().to_owned());
    assert!(message.contains("config.toml: TOML parse error"), "{message}");
}
