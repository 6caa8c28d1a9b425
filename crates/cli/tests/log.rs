//! `xpr log` on the log of a served parser.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::path::Path;
use std::process::Command;
use xpr_log::{NewFeedback, NewQuestion, QuestionLog, Verdict, log_path};

fn xpr_log(run: &Path, flags: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xpr")).arg("log").arg(run).args(flags).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_log_is_printed_exported_and_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let (_, error) = xpr_log(&run, &[]);
    assert!(error.contains("run.questions.sqlite: there is no log"), "{error}");
    let mut log = QuestionLog::open(&log_path(&run)).unwrap();
    let day = 86_400_000;
    let asked = |day_number: i64, question: &str| NewQuestion {
        time: day_number * day,
        question: question.to_owned(),
        program: Some("SELECT 1".to_owned()),
        parser: "0123456789abcdef".to_owned(),
        confidence: Some(0.5),
        ..NewQuestion::default()
    };
    let ids = log.append(&[asked(0, "one\u{1b}[31m"), asked(1, "two"), asked(2, "three")]).unwrap();
    log.add_feedback(&NewFeedback::now(ids[1], Verdict::Corrected, Some("SELECT 2".to_owned()))).unwrap();

    let (text, error) = xpr_log(&run, &["--limit", "2"]);
    assert_eq!(error, "");
    assert!(!text.contains("one") && text.find("two") < text.find("three"), "{text}");
    assert!(
        text.contains("said corrected: SELECT 2") && text.contains("3 questions, 1 with a confirmed answer"),
        "{text}"
    );
    assert!(!xpr_log(&run, &[]).0.contains('\u{1b}'), "control characters are not printed");
    let (lines, _) = xpr_log(&run, &["--tsv", "--since", "1970-01-02"]);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    let (lines, _) = xpr_log(&run, &["--jsonl", "--judged"]);
    let entry: xpr_log::Entry = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!((entry.id, entry.feedback[0].verdict), (ids[1], Verdict::Corrected));

    let (text, _) = xpr_log(&run, &["--prune", "--before", "1d"]);
    assert!(text.starts_with("Deleted 2 questions") && text.contains("kept 1 that"), "{text}");
    let (text, _) = xpr_log(&run, &["--prune", "--before", "1d", "--with-feedback"]);
    assert!(text.starts_with("Deleted 1 question from"), "{text}");
    let (_, error) = xpr_log(&run, &["--since", "yesterday"]);
    assert!(error.contains("expected a day such as 2026-11-18"), "{error}");
    assert!(xpr_log(&run, &["--prune"]).1.contains("--before"));
}
