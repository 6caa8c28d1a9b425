//! Reports of small sweeps that are made here.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use xpr_report::{Report, write_file};

/// A run about ten questions: `right` says which answers are right, `1` or `0` each.
struct Made<'a> {
    name: &'a str,
    settings: &'a str,
    right: &'a str,
    objective: &'a str,
}

const LABELED: &str =
    "( call SW.listValue ( call SW.filter en.meeting ( string date ) ( string > ) ( date 2015 1 2 ) ) )";
const OTHER: &str =
    "( call SW.listValue ( call SW.filter en.meeting ( string date ) ( string < ) ( date 2015 1 2 ) ) )";

impl Made<'_> {
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
        let prediction = |(index, right): (usize, &bool)| {
            let candidate = |program: &str, log_probability: f64, outcome: &str| json!({"program": program, "log_probability": log_probability, "outcome": outcome});
            let good = |p: f64| candidate(LABELED, p, "value\t(list (name en.meeting.1))");
            let bad = |p: f64| candidate(OTHER, p, "value\t(list (name en.meeting.2))");
            let candidates = if *right { [good(-0.1), bad(-3.0)] } else { [bad(-0.7), good(-1.0)] };
            let line = json!({
                "utterance": format!("meetings after january {index}"), "gold": LABELED, "gold_written": LABELED,
                "gold_outcome": "value\t(list (name en.meeting.1))", "correct": right,
                "right_at": if *right { 0 } else { 1 }, "chosen": 0, "candidates": candidates
            });
            format!("{line}\n")
        };
        let lines: String = right.iter().enumerate().map(prediction).collect();
        fs::write(folder.join("predictions.jsonl"), lines).unwrap();
        let step = |step: usize| {
            let mut line = json!({"step": step, "loss": 100.0 / step as f64, "rate": 0.001, "gradient": 1.0});
            if self.objective != "none" && step > 100 {
                line["unlabeled"] = json!({
                    "loss": 1.0, "rewarded": 0.5, "mass": 0.9, "length_ratio": 1.5 + step as f64 / 1000.0, "gap": 0.1,
                    "coverage": 0.6, "gold_rank": 2.0
                });
            }
            format!("{line}\n")
        };
        let metrics: String = (10..=200).step_by(10).map(step).collect();
        fs::write(folder.join("metrics.jsonl"), metrics).unwrap();
        folder
    }
}

/// Two domains at 30 % of the labels and one with all, on the test; and a run on held-out examples.
fn sweep(folder: &Path) {
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
        Made { name, settings: &settings, right, objective }.write(folder);
    }
}

#[test]
fn a_sweep_as_text_and_as_markdown() {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path());
    let report = Report::read(&[folder.path().to_owned()], None).unwrap();
    insta::assert_snapshot!("terminal", report.to_terminal());
    // Of the Markdown the tables; what goes wrong is the same for each group.
    let markdown = report.to_markdown();
    let (tables, errors) = markdown.split_once("\n## Where it goes wrong").unwrap();
    insta::assert_snapshot!("markdown", tables);
    let (first, _) = errors.split_once("\n## Where it goes wrong").unwrap();
    insta::assert_snapshot!("markdown_errors", first);

    // The same runs, the same report.
    let again = Report::read(&[folder.path().to_owned()], None).unwrap();
    assert_eq!(again.to_html(), report.to_html());
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&report).unwrap());
}

#[test]
fn the_figures_are_those_of_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path());
    let report = serde_json::to_value(Report::read(&[folder.path().to_owned()], None).unwrap()).unwrap();
    let groups = report["groups"].as_array().unwrap();
    let find = |topic: &str, objective: &str, fraction: f64| {
        groups
            .iter()
            .find(|g| g["topic"] == topic && g["objective"] == objective && g["fraction"] == fraction)
            .unwrap()
    };
    // Split 0: two of ten more, split 1: one more; on average 15 points.
    let over = &find("calendar", "sparse", 0.3)["over_labels_only"];
    assert_eq!((over["difference"].as_f64(), over["runs"].clone()), (Some(15.0), json!([2, 2])));
    assert!(over["low"].as_f64() >= Some(0.0) && over["high"].as_f64() <= Some(45.0), "{over}");
    let over = &find("housing", "sparse", 0.3)["over_labels_only"];
    assert_eq!(over["difference"], 0.0);
    // Held-out examples are no test: not beside the paper, and not in its averages.
    let table = &report["comparisons"][0];
    assert_eq!(table["columns"], json!(["calendar", "housing"]));
    assert!(table["missing"].as_array().unwrap().contains(&json!("blocks")));
    // The average over both domains: ours (55 + 90) / 2, theirs (64.9 + 61.4) / 2.
    let average = &table["rows"][0]["average"];
    assert_eq!(average["ours"]["mean"], 72.5);
    assert!((average["paper"].as_f64().unwrap() - 63.15).abs() < 1e-9);
    let calibration = &find("blocks", "none", 0.3)["calibration"];
    let confidence = (-0.1f64).exp();
    assert!((calibration["expected_error"].as_f64().unwrap() - (1.0 - confidence)).abs() < 1e-6);
}

#[test]
fn settings_that_differ_make_groups_but_not_where_they_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let made = |name, objective| {
        Made { name, settings: "domain = \"calendar\"\nfraction = 0.3", right: "10", objective }
            .write(folder.path())
    };
    for (name, objective, more) in [
        ("none-a", "none", "weight = 0.1\n"),
        ("none-b", "none", "weight = 0.5\n[train]\nseed = 1\n"),
        ("sparse-a", "sparse", "weight = 0.1\n"),
        ("sparse-b", "sparse", "weight = 0.5\n"),
    ] {
        let run = made(name, objective);
        let config = fs::read_to_string(run.join("config.toml")).unwrap();
        fs::write(run.join("config.toml"), config + more).unwrap();
    }
    let groups = |folder: &Path| -> Vec<(String, String, usize)> {
        let report = Report::read(&[folder.to_owned()], None).unwrap();
        report.groups.iter().map(|g| (g.objective.clone(), g.variant(), g.runs.len())).collect()
    };
    let group = |objective: &str, variant: &str, runs| (objective.to_owned(), variant.to_owned(), runs);
    assert_eq!(
        groups(folder.path()),
        [group("none", "", 2), group("sparse", "weight=0.1", 1), group("sparse", "weight=0.5", 1)]
    );
    // A weight that was chosen on held-out labels is no setting of the experiment.
    for run in ["sparse-a", "sparse-b"] {
        fs::create_dir(folder.path().join(run).join("tuning")).unwrap();
    }
    assert_eq!(groups(folder.path()), [group("none", "", 2), group("sparse", "", 2)]);
}

#[test]
fn what_people_wrote_is_never_markup() {
    let folder = tempfile::tempdir().unwrap();
    let run = Made {
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
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            for key in ["utterance", "gold", "gold_written", "gold_outcome"] {
                line[key] = json!(hostile);
            }
            line["candidates"][0]["program"] = json!(hostile);
            line["candidates"][1]["outcome"] = json!(hostile);
            format!("{line}\n")
        })
        .collect();
    fs::write(run.join("predictions.jsonl"), lines).unwrap();
    fs::write(run.join("metrics.jsonl"), "<script>").unwrap();
    let report = Report::read(&[folder.path().to_owned()], None).unwrap();
    let html = report.to_html();
    assert_eq!(html.matches("<script").count(), 1, "the page's own script only");
    assert_eq!(html.matches("</style").count(), 1);
    for markup in ["<img", "onclick='", "&amp;amp;'"] {
        assert!(!html.contains(markup), "{markup}");
    }
    assert!(
        html.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39; onclick=&#39;y&#39; &amp;amp;")
    );
    // Nothing is fetched.
    assert!(
        !html.contains("http:")
            && !html.contains("https:")
            && !html.contains("url(")
            && !html.contains("@import")
    );
    let markdown = report.to_markdown();
    assert!(!markdown.contains("<script") && !markdown.contains("<img"), "{markdown}");
    assert!(!report.to_terminal().contains('\u{1b}'));
}

#[test]
fn what_is_absent_is_told() {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path());
    let run = |name: &str| folder.path().join(name);
    fs::remove_file(run("c-none-0").join("predictions.jsonl")).unwrap();
    fs::write(run("c-none-1").join("evaluation.json"), "{\"examples\": 3}").unwrap();
    fs::write(run("c-sparse-0").join("metrics.jsonl"), "{\"step\": 10, \"loss\": 1}\n{\"step\": 2").unwrap();
    for file in ["evaluation.json", "predictions.jsonl", "metrics.jsonl"] {
        fs::remove_file(run("h-sparse-0").join(file)).unwrap();
    }
    fs::create_dir(run("not-begun")).unwrap();
    fs::write(folder.path().join("c-none-0.log"), "a log beside the cells").unwrap();
    let report = Report::read(&[folder.path().to_owned()], None).unwrap();
    assert_eq!((report.runs, report.evaluated), (8, 6));
    insta::assert_snapshot!("absent", report.absent.join("\n"));
    assert!(
        report
            .to_html()
            .contains("h-sparse-0: evaluation.json, predictions.jsonl and metrics.jsonl are not there")
    );

    let error = |folders: &[PathBuf]| Report::read(folders, None).unwrap_err().to_string();
    assert!(error(&[run("not-begun")]).contains("is neither a run"), "{}", error(&[run("not-begun")]));
    assert!(error(&[run("nowhere")]).contains("nowhere"));
    assert!(
        error(&[run("h-sparse-0")]).contains("none of the 1 runs is evaluated (h-sparse-0: evaluation.json")
    );
    fs::write(run("c-all-0").join("config.toml"), "[data\n").unwrap();
    assert!(error(&[folder.path().to_owned()]).contains("config.toml: TOML parse error"));
    assert!(write_file(&run("nowhere").join("report.html"), "").unwrap_err().to_string().contains("nowhere"));
}
