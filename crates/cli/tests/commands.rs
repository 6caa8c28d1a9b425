//! Help, completions, manual pages, error messages and small commands of the binary.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The result of a command.
struct Finished {
    stdout: String,
    stderr: String,
    success: bool,
}

fn xpr(arguments: &[&str], input: &[u8]) -> Finished {
    let mut child = Command::new(env!("CARGO_BIN_EXE_xpr"))
        .args(arguments)
        .env_remove("XPR_DATA")
        .env_remove("XPR_EMBEDDINGS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A command that fails early closes its input, so writing may fail.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Finished {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        success: output.status.success(),
    }
}

/// Returns the folder of the Overnight benchmark. A relative XPR_DATA is relative to the workspace.
fn benchmark() -> String {
    let Some(folder) = std::env::var_os("XPR_DATA") else {
        panic!("XPR_DATA is not set; name the folder of the Overnight benchmark, see CONTRIBUTING.md");
    };
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    folder.to_str().unwrap().to_owned()
}

/// Returns the commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_has_help_with_examples() {
    let mut waiting: Vec<Vec<String>> = vec![vec![]];
    let mut count = 0;
    while let Some(path) = waiting.pop() {
        let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = xpr(&arguments, b"").stdout;
        assert!(help.contains("\nExamples:\n  "), "{path:?} has no examples:\n{help}");
        let name = std::iter::once("help").chain(path.iter().map(String::as_str)).collect::<Vec<_>>();
        insta::assert_snapshot!(name.join("_"), help);
        for command in listed(&help).into_iter().filter(|command| command != "help") {
            waiting.push([&path[..], &[command]].concat());
        }
        count += 1;
    }
    assert!(count > 15, "only {count} commands were found");
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let commands = listed(&xpr(&["--help"], b"").stdout);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = xpr(&["completions", shell], b"");
        assert!(ran.success, "{}", ran.stderr);
        for word in commands.iter().map(String::as_str).chain(["text2sql", "unlabeled", "embeddings"]) {
            assert!(ran.stdout.contains(word), "{shell} does not complete {word}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    let ran = xpr(&["man", "--out", pages.to_str().unwrap()], b"");
    assert!(ran.success, "{}", ran.stderr);
    for command in commands.iter().filter(|command| *command != "help") {
        assert!(pages.join(format!("xpr-{command}.1")).is_file(), "{command} has no page");
    }
    let page = std::fs::read_to_string(pages.join("xpr-data-check.1")).unwrap();
    assert_eq!(xpr(&["man", "data", "check"], b"").stdout, page);
    insta::assert_snapshot!("man_data_check", page);
    assert!(xpr(&["man"], b"").stdout.contains("xpr\\-sweep(1)"));
}

#[test]
fn exec_prints_one_line_per_program() {
    let input = "\
( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string date ) ) )\r
( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) ( string ! type ) ) ( string length ) ( string = ) ( number 9 en.hour ) ) )
( call SW.listValue ( call SW.getProperty en.person.alice ( string date ) ) )
( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string color ) ) )
( call SW.listValue ( call SW.frobnicate ) )

( call SW.listValue ( string \"tab\tand )
( number 0.0625 )
( call .size ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) )";
    let ran = xpr(&["exec", "--world", "calendar"], input.as_bytes());
    assert!(ran.success);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn exec_reports_lines_that_are_not_text_or_too_long() {
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(std::iter::repeat_n(b'(', 3 << 20));
    input.extend(b"\nen.person.alice\n");
    let ran = xpr(&["exec", "--world", "calendar"], &input);
    assert!(ran.success);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "parse-error\tcolumn 1: this is not UTF-8",
            "parse-error\tcolumn 1: the text is longer than 1048576 bytes",
            "value\t(name en.person.alice)",
        ]
    );
}

#[test]
fn exec_reads_triples_and_names_the_bad_line() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "en.city.rome\ttype\ten.city\nen.city.rome\tcountry\ten.country.italy").unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let path = path.as_str();
    let program = b"( call SW.listValue ( call SW.getProperty en.city.rome ( string country ) ) )";
    let ran = xpr(&["exec", "--triples", path], program);
    assert_eq!(ran.stdout, "value\t(list (name en.country.italy))\n");

    writeln!(file, "en.city.rome country en.country.italy").unwrap();
    let ran = xpr(&["exec", "--triples", path], program);
    assert!(!ran.success);
    insta::assert_snapshot!(ran.stderr.replace(path, "[file]"));
}

#[test]
fn wrong_arguments_are_explained() {
    let missing = tempfile::tempdir().unwrap();
    let missing = missing.path().join("nothing");
    let missing = missing.to_str().unwrap();
    for (name, arguments) in [
        ("no_world", &["exec"][..]),
        ("unknown_world", &["exec", "--world", "calender"]),
        ("two_worlds", &["exec", "--world", "calendar", "--triples", "x"]),
        ("missing_triples", &["exec", "--triples", missing]),
        ("no_data", &["bench", "exec", "--world", "calendar"]),
        ("wrong_data", &["data", "import", "overnight", "--from", missing]),
        ("unknown_dataset", &["data", "import", "overday", "--from", missing]),
        ("wrong_seconds", &["bench", "exec", "--data", missing, "--seconds", "-1"]),
        ("unknown_command", &["tran"]),
        ("unknown_flag", &["train", "--resum"]),
        ("no_run", &["ask", missing, "who"]),
        ("unknown_setting", &["train", "--set", "train.stesp=3", "--out", missing]),
        ("no_sweep", &["sweep", missing, "--out", missing]),
        ("sweep_without_folder", &["sweep", missing]),
        ("unknown_shell", &["completions", "csh"]),
        ("unknown_page", &["man", "data", "chek"]),
        ("page_too_deep", &["man", "train", "all"]),
    ] {
        let ran = xpr(arguments, b"");
        assert!(!ran.success, "{name}");
        assert_eq!(ran.stdout, "", "{name}");
        insta::assert_snapshot!(name, ran.stderr.replace(missing, "[missing]"));
    }
}

#[test]
fn an_objective_is_evaluated_on_given_candidates() {
    let ran = xpr(&["objective", "sparse", "--log-probs=-0.5,-1.2,-2.3", "--rewarded=1,0,1"], b"");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["q"], serde_json::json!([1.0, 0.0, 0.0]));
    assert_eq!(json["loss"], serde_json::json!(0.5));
    for (arguments, expected) in [
        (&["--log-probs=-1,-2", "--rewarded=1"][..], "give one of each per candidate"),
        (&["--log-probs=-1,2", "--rewarded=1,1"], "is not the logarithm of a probability"),
        (&["--log-probs=-1", "--rewarded=0"], "this objective has no target"),
        (&["--log-probs=-1", "--rewarded=yes"], "invalid value 'yes'"),
    ] {
        let ran = xpr(&[&["objective", "top-k"], arguments].concat(), b"");
        assert!(!ran.success && ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn import_overnight_prints_statistics() {
    let data = benchmark();
    insta::assert_snapshot!(xpr(&["data", "import", "overnight", "--from", &data], b"").stdout);
    let json = xpr(&["data", "import", "overnight", "--from", &data, "--json"], b"").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["domains"].as_array().unwrap().len(), 8);
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn bench_exec_prints_speeds_as_json() {
    let data = benchmark();
    let ran =
        xpr(&["bench", "exec", "--world", "calendar", "--data", &data, "--seconds", "0.01", "--json"], b"");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    for figure in ["programs_per_second", "run_only_per_second"] {
        assert!(json[figure].as_f64().unwrap() > 0.0, "{figure}");
    }
}
