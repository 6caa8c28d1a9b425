//! Training, evaluating and asking through the binary, on a small dataset of its own.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A dataset in Overnight's layout: a dozen questions about the calendar world.
fn dataset(folder: &Path) -> PathBuf {
    let meetings = "( call SW.getProperty ( call SW.singleton en.meeting ) ( string ! type ) )";
    let property = |name: &str| {
        format!("( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string {name} ) ) )")
    };
    let filter = |rest: &str| format!("( call SW.listValue ( call SW.filter {meetings} {rest} ) )");
    let examples = [
        ("when does the annual review start", property("start_time")),
        ("when does the annual review end", property("end_time")),
        ("what date is the annual review", property("date")),
        ("where is the annual review", property("location")),
        ("who attends the annual review", property("attendee")),
        ("how long is the annual review", property("length")),
        ("meetings with alice", filter("( string attendee ) ( string = ) en.person.alice")),
        ("meetings with bob", filter("( string attendee ) ( string = ) en.person.bob")),
        ("meetings at the cafe", filter("( string location ) ( string = ) en.location.greenberg_cafe")),
        ("meetings at the office", filter("( string location ) ( string = ) en.location.central_office")),
        ("important meetings", filter("( string is_important )")),
        ("all meetings on jan 2", filter("( string date ) ( string = ) ( date 2015 1 2 )")),
    ];
    let lines: String =
        examples.iter().map(|(question, program)| format!("{question}\t{program}\n")).collect();
    fs::create_dir_all(folder.join("splits")).unwrap();
    fs::create_dir_all(folder.join("grammar")).unwrap();
    fs::write(folder.join("calendar_train.tsv"), &lines).unwrap();
    fs::write(folder.join("calendar_test.tsv"), &lines).unwrap();
    fs::write(folder.join("splits/calendar_split0.tsv"), &lines).unwrap();
    let grammar = "(rule $RelNP (start time) (ConstantFn (string start_time)))\n\
                   (rule $EntityNP1 (jan 2) (ConstantFn (date 2015 1 2)))\n";
    fs::write(folder.join("grammar/calendar.grammar"), grammar).unwrap();
    fs::write(folder.join("grammar/general.grammar"), "(rule $Num (two) (ConstantFn (number 2)))").unwrap();
    folder.to_owned()
}

fn xpr(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.args(arguments).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS");
    command
}

/// The arguments of a small, quick training.
fn train<'a>(data: &'a str, out: &'a str, steps: &'a str, threads: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["train", "--data", data, "--out", out, "--threads", threads, "--set", steps];
    for setting in [
        "model.hidden=32",
        "model.heads=4",
        "model.feed_forward=32",
        "model.word=16",
        "model.action=16",
        "model.place=8",
        "train.rate=0.01",
        "train.warmup=10",
        "train.checkpoint=20",
    ] {
        arguments.extend(["--set", setting]);
    }
    arguments
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A card without what differs between machines that round differently.
fn shown_card(card: &str) -> String {
    let is_measured = |line: &&str| !line.contains(" %") || line.contains("training data");
    card.lines().filter(is_measured).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_trained_parser_answers() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&folder.path().join("data"));
    let (data, run) = (data.to_str().unwrap(), folder.path().join("run"));
    let run = run.to_str().unwrap();
    let trained = xpr(&[train(data, run, "train.steps=200", "2"), vec!["--json"]].concat());
    assert!(trained.status.success(), "{}", stderr(&trained));
    let evaluation: serde_json::Value = serde_json::from_slice(&trained.stdout).unwrap();
    // Tested on what it was trained on, it must know it.
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.9, "{evaluation}");

    let asked = xpr(&["ask", run, "when does the annual review start?", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(
        answer["candidates"][answer["chosen"].as_u64().unwrap() as usize]["outcome"],
        "value\t(list (time 14 0))"
    );
    assert!(xpr(&["ask", run, ""]).status.success(), "even an empty question has an answer");

    let again = xpr(&["eval", run, "--json"]);
    assert_eq!(again.stdout, trained.stdout, "the same from the stored weights");
    let predictions = fs::read_to_string(Path::new(run).join("predictions.jsonl")).unwrap();
    assert_eq!(predictions.lines().count(), 12);
    // Where files are is not for others to know.
    let card = fs::read_to_string(Path::new(run).join("card.md")).unwrap();
    assert!(!card.contains(folder.path().to_str().unwrap()), "{card}");
    insta::assert_snapshot!("card", shown_card(&card));
    for file in fs::read_dir(run).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "{name} was left behind");
    }
}

#[test]
fn the_number_of_threads_and_a_kill_do_not_change_a_bit() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&folder.path().join("data"));
    let data = data.to_str().unwrap();
    let run = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // With an objective from step 100 on, so that killing and threads are tried in both phases.
    let joint = [
        "--set",
        "data.fraction=0.5",
        "--set",
        "learn.objective=sparse",
        "--set",
        "learn.start=100",
        "--set",
        "learn.committee=0",
        "--set",
        "learn.beam=4",
    ];
    let train = |out: &str, threads: &str| -> Vec<String> {
        let arguments = train(data, out, "train.steps=300", threads);
        arguments.iter().chain(&joint).map(|argument| (*argument).to_owned()).collect()
    };
    let result = |name: &str| {
        ["model.safetensors", "metrics.jsonl", "evaluation.json", "predictions.jsonl", "card.md"]
            .map(|file| fs::read(Path::new(&run(name)).join(file)).unwrap())
    };
    for threads in ["1", "2", "8"] {
        let trained = command(&[]).args(train(&run(threads), threads)).output().unwrap();
        assert!(trained.status.success(), "{}", stderr(&trained));
    }
    let expected = result("1");
    assert!(result("2") == expected, "2 threads differ from 1");
    assert!(result("8") == expected, "8 threads differ from 1");

    // Killed, as soon as there is a checkpoint and then after ever longer, and gone on with.
    let killed = run("killed");
    let checkpoint = Path::new(&killed).join("checkpoint.safetensors");
    let mut child = command(&[]).args(train(&killed, "2")).spawn().unwrap();
    let start = Instant::now();
    while !checkpoint.exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!Path::new(&killed).join("model.safetensors").exists(), "it was killed before its end");
    for milliseconds in [30, 300, 600] {
        let mut child = command(&["train", "--resume", "--out", &killed]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let resumed = xpr(&["train", "--resume", "--out", &killed, "--threads", "1"]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(result("killed") == expected, "a run that was killed differs");
}

#[test]
fn a_committee_is_shared_and_a_kill_does_not_change_a_bit() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&folder.path().join("data"));
    let data = data.to_str().unwrap();
    let path = |name: &str| folder.path().join(name);
    let train = |out: &str, reward: &str, threads: &str| -> Command {
        let out = path(out);
        let mut command = command(&train(data, out.to_str().unwrap(), "train.steps=60", threads));
        for setting in ["data.fraction=0.5", "learn.objective=sparse", "learn.steps=60", "learn.committee=2"]
        {
            command.args(["--set", setting]);
        }
        command.args(["--set", &format!("learn.reward={reward}")]);
        command
    };
    let result = |name: &str| {
        ["model.safetensors", "metrics.jsonl", "evaluation.json", "predictions.jsonl"]
            .map(|file| fs::read(path(name).join(file)).unwrap())
    };
    let whole = train("whole", "agreement", "1").output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    assert_eq!(fs::read_dir(path("whole/members")).unwrap().count(), 2);

    // Killed while members are trained and after, with other threads.
    let mut child = train("killed", "agreement", "2").spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    for milliseconds in [100, 300, 600] {
        child.kill().unwrap();
        child.wait().unwrap();
        let out = path("killed");
        child = command(&["train", "--resume", "--out", out.to_str().unwrap()]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = xpr(&["train", "--resume", "--out", path("killed").to_str().unwrap()]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(result("killed") == result("whole"), "a run that was killed differs");

    // Another run, at the same time or later, takes members that are there.
    let members = path("whole/members");
    let sharing = train("sharing", "executes", "2").arg("--members").arg(&members).output().unwrap();
    assert!(sharing.status.success(), "{}", stderr(&sharing));
    assert!(!stderr(&sharing).contains("of the committee's"), "{}", stderr(&sharing));
    assert!(!path("sharing/members").exists());
    assert_eq!(fs::read_dir(&members).unwrap().count(), 2);
}

#[test]
fn damaged_and_foreign_runs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&folder.path().join("data"));
    let data = data.to_str().unwrap();
    let path = folder.path().join("run");
    let run = path.to_str().unwrap();
    assert!(xpr(&train(data, run, "train.steps=2", "1")).status.success());
    let refused = |arguments: &[&str], expected: &str| {
        let output = xpr(arguments);
        assert!(!output.status.success());
        let message = stderr(&output);
        assert!(message.contains(expected), "{message}\nexpected: {expected}");
        assert!(!message.contains("panicked"), "{message}");
    };
    let ask = ["ask", run, "who"];
    let damage = |file: &str, content: &[u8], expected: &str| {
        let original = fs::read(path.join(file)).unwrap();
        fs::write(path.join(file), content).unwrap();
        refused(&ask, expected);
        fs::write(path.join(file), original).unwrap();
    };
    let model = fs::read(path.join("model.safetensors")).unwrap();
    damage("model.safetensors", &model[..model.len() / 2], "damaged");
    damage("model.safetensors", b"", "damaged");
    damage(
        "vocabulary.json",
        b"[\"<unknown>\", \"other\"]",
        "its words are not those the model was made with",
    );
    damage("vocabulary.json", b"{", "it is not what xpr wrote");
    damage("grammar.json", b"{\"language\": \"sql\", \"rules\": [], \"items\": []}", "train again");
    damage("config.toml", b"[train]\nstesp = 3", "did you mean `train.steps`?");
    damage("config.toml", b"[model]\nhidden = 64", "is this the file of another model?");
    damage("config.toml", b"[data]\ndomain = \"nowhere\"", "there is no domain `nowhere`");

    refused(&["ask", data, "who"], "holds no run");
    refused(&train(data, run, "train.steps=2", "1"), "already holds a run");
    refused(&["train", "--resume", "--out", data], "holds no run");
    refused(&["train", "--out", "/nowhere/run", "--data", data, "--set", "data.domain=x"], "");
    refused(
        &["train", "--data", data, "--out", &format!("{run}2"), "--embeddings", "missing.txt"],
        "missing.txt",
    );
    refused(
        &["train", "--data", data, "--out", &format!("{run}3"), "--set", "data.held_out=5"],
        "lower it, or change data.fraction",
    );
    refused(&["train", "--out", &format!("{run}4")], "no folder with data");
    let unfinished = folder.path().join("unfinished");
    fs::create_dir(&unfinished).unwrap();
    for file in ["config.toml", "grammar.json", "vocabulary.json"] {
        fs::copy(path.join(file), unfinished.join(file)).unwrap();
    }
    refused(&["ask", unfinished.to_str().unwrap(), "who"], "training was not finished");
    // A checkpoint that is somebody else's.
    fs::copy(path.join("model.safetensors"), unfinished.join("checkpoint.safetensors")).unwrap();
    refused(&["train", "--resume", "--out", unfinished.to_str().unwrap()], "there is no tensor `adam.first");
}

#[test]
fn a_killed_sweep_goes_on_to_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(&folder.path().join("data"));
    let data = data.to_str().unwrap();
    let experiment = "[data]\nfraction = 0.5\n\
         [model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n\
         [train]\nsteps = 40\nrate = 0.01\nwarmup = 10\ncheckpoint = 10\n\
         [learn]\nsteps = 40\nbatch = 4\nbeam = 4\n";
    fs::write(folder.path().join("small.toml"), experiment).unwrap();
    let sweep = folder.path().join("sweep.toml");
    let grid = "[[part]]\nexperiment = \"small.toml\"\n[part.grid]\n\
         \"learn.objective\" = [\"none\", \"sparse\"]\n\"train.seed\" = [0, 1]\n";
    fs::write(&sweep, grid).unwrap();
    let run = |out: &str| {
        let out = folder.path().join(out);
        command(&["sweep", sweep.to_str().unwrap(), "--data", data, "--json", "--out", out.to_str().unwrap()])
    };
    let whole = run("whole").output().unwrap();
    assert!(whole.status.success(), "{}", stderr(&whole));
    let table = String::from_utf8(whole.stdout).unwrap();
    assert_eq!(
        table.matches("\"accuracy\": 0").count() + table.matches("\"accuracy\": 1").count(),
        4,
        "{table}"
    );

    let mut killed = run("killed").stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1200));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let resumed = run("killed").output().unwrap();
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert_eq!(String::from_utf8(resumed.stdout).unwrap(), table);

    // What it came to, as the command's readers and scripts see it.
    let (cells, page) = (folder.path().join("killed"), folder.path().join("report.html"));
    let (tables, lines) = (folder.path().join("report.md"), folder.path().join("report.csv"));
    let files = ["--html", page.to_str().unwrap(), "--markdown", tables.to_str().unwrap()];
    let files = [&files[..], &["--csv", lines.to_str().unwrap()]].concat();
    let report = xpr(&[&["report", cells.to_str().unwrap()], &files[..]].concat());
    assert!(report.status.success(), "{}", stderr(&report));
    let text = String::from_utf8(report.stdout).unwrap();
    assert!(text.starts_with("4 runs in 2 groups\n"), "{text}");
    assert!(
        text.contains("calendar  50 %    labels only") && text.contains("calendar  50 %    sparse"),
        "{text}"
    );
    assert!(fs::read_to_string(&page).unwrap().contains("coverage of right programs"));
    assert!(fs::read_to_string(&tables).unwrap().contains("| calendar | 50 % | sparse |"));
    let lines = fs::read_to_string(&lines).unwrap();
    assert_eq!(lines.lines().count(), 5, "{lines}");
    assert!(lines.contains("\n\"small,objective=sparse,seed=1\",calendar,0.5,0,0,1,sparse,,12,"), "{lines}");
    let report = xpr(&["report", cells.to_str().unwrap(), "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["groups"][1]["over_labels_only"]["questions"], 12);
    let wrong = xpr(&["report", data]);
    assert!(stderr(&wrong).contains("is neither a run"), "{}", stderr(&wrong));

    // Nothing is left to do, and a cell that fails is told.
    let again = run("killed").output().unwrap();
    assert!(stderr(&again).contains("4 cells, 4 of them finished"), "{}", stderr(&again));
    let out = folder.path().join("failing");
    let failing =
        xpr(&["sweep", sweep.to_str().unwrap(), "--data", "nowhere", "--out", out.to_str().unwrap()]);
    assert!(stderr(&failing).contains("4 of 4 cells failed"), "{}", stderr(&failing));
}
