//! Interrupted runs and sweeps resume to the same result, bit for bit, with any number of threads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod small_calendar;

use small_calendar::{SmallCalendar, command, stderr, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until a condition holds, for at most two minutes.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills the process.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns the last step that a run recorded with a checkpoint, or 0.
fn recorded_step(run: &Path) -> u64 {
    let metrics = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    metrics.lines().last().map_or(0, |line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["step"].as_u64().unwrap()
    })
}

/// Checks that training has not taken its last step.
fn assert_unfinished(run: &Path, steps: u64) {
    let step = recorded_step(run);
    assert!(step < steps, "the run took all {steps} steps before it was killed");
    assert!(!run.join("model.safetensors").exists(), "the run was trained before it was killed");
    assert!(!run.join("evaluation.json").exists(), "the run was finished before it was killed");
}

/// Returns how many folders in a folder have a file.
fn folders_with(folder: &Path, file: &str) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries.filter(|entry| entry.as_ref().unwrap().path().join(file).exists()).count()
}

/// Checks that two runs have the same result, byte for byte.
fn assert_same_result(calendar: &SmallCalendar, run: &str, expected: &str) {
    for file in [
        "model.safetensors",
        "checkpoint.safetensors",
        "metrics.jsonl",
        "evaluation.json",
        "predictions.jsonl",
        "card.md",
    ] {
        let [content, expected_content] =
            [run, expected].map(|run| fs::read(calendar.path(run).join(file)).unwrap());
        assert!(content == expected_content, "{file} of `{run}` differs from that of `{expected}`");
    }
}

#[test]
fn the_number_of_threads_and_kills_do_not_change_a_bit() {
    const STEPS: u64 = 300;
    let calendar = SmallCalendar::new();
    // Joint training begins at step 100, so that there are kills before and during it.
    let settings = [
        "train.steps=300",
        "train.average=0.99",
        "data.fraction=0.5",
        "learn.objective=sparse",
        "learn.start=100",
        "learn.ensemble=0",
        "learn.beam=4",
    ];
    let train = |run: &str, threads: &str| -> Command {
        let mut train = calendar.train(run, &settings);
        train.args(["--threads", threads]);
        train
    };
    for threads in ["1", "2", "8"] {
        succeed(&mut train(threads, threads));
    }
    assert_same_result(&calendar, "2", "1");
    assert_same_result(&calendar, "8", "1");

    let (killed, run) = (calendar.argument("killed"), calendar.path("killed"));
    let mut child = train("killed", "2").stderr(Stdio::null()).spawn().unwrap();
    for step in [20, 60, 140] {
        wait_until("a checkpoint is written", || recorded_step(&run) >= step);
        kill(child);
        assert_unfinished(&run, STEPS);
        // A second kill comes while the data is loaded.
        let resume =
            || command(&["train", "--resume", "--out", &killed]).stderr(Stdio::null()).spawn().unwrap();
        let loading = resume();
        std::thread::sleep(Duration::from_millis(20));
        kill(loading);
        assert_unfinished(&run, STEPS);
        child = resume();
    }
    kill(child);
    assert_unfinished(&run, STEPS);
    let resumed = succeed(&mut command(&["train", "--resume", "--out", &killed, "--threads", "1"]));
    assert!(stderr(&resumed).contains("resuming after step"), "{}", stderr(&resumed));
    assert_same_result(&calendar, "killed", "1");
}

#[test]
fn an_ensemble_is_shared_and_kills_do_not_change_a_bit() {
    const STEPS: u64 = 200;
    let calendar = SmallCalendar::new();
    let train = |run: &str, reward: &str| -> Command {
        let settings = [
            "train.steps=60",
            "data.fraction=0.5",
            "learn.objective=sparse",
            "learn.steps=200",
            "learn.ensemble=2",
        ];
        let mut train = calendar.train(run, &settings);
        train.args(["--set", &format!("learn.reward={reward}")]);
        train
    };
    succeed(train("whole", "agreement").args(["--threads", "1"]));
    let members = |run: &str, file: &str| folders_with(&calendar.path(run).join("members"), file);
    assert_eq!(members("whole", "model.safetensors"), 2);

    // The first kill comes while the first member is trained, the second after both, the third while the parser learns from them.
    let (killed, run) = (calendar.argument("killed"), calendar.path("killed"));
    let resume = || command(&["train", "--resume", "--out", &killed]).stderr(Stdio::null()).spawn().unwrap();
    let child = train("killed", "agreement").args(["--threads", "2"]).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a member has a checkpoint", || members("killed", "checkpoint.safetensors") > 0);
    kill(child);
    assert!(members("killed", "model.safetensors") < 2, "all members were trained before the kill");
    assert_unfinished(&run, STEPS);
    let child = resume();
    wait_until("both members are trained", || members("killed", "model.safetensors") == 2);
    kill(child);
    assert_unfinished(&run, STEPS);
    let child = resume();
    wait_until("the parser has a checkpoint", || recorded_step(&run) > 0);
    kill(child);
    assert_unfinished(&run, STEPS);
    succeed(&mut command(&["train", "--resume", "--out", &killed]));
    assert_same_result(&calendar, "killed", "whole");

    // Another run takes the members from the shared folder and trains none.
    let shared = calendar.argument("whole/members");
    let sharing = succeed(train("sharing", "executes").args(["--threads", "2", "--members", &shared]));
    assert!(!stderr(&sharing).contains("of the ensemble, on the labels only"), "{}", stderr(&sharing));
    assert!(stderr(&sharing).contains("the parser that learns from the ensemble"), "{}", stderr(&sharing));
    assert!(!calendar.path("sharing/members").exists());
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 2);
}

/// Writes a sweep of four small cells, and returns its file.
fn write_sweep(calendar: &SmallCalendar) -> String {
    let experiment = "[data]\nfraction = 0.5\n\
         [model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n\
         [train]\nsteps = 40\nrate = 0.01\nwarmup = 10\ncheckpoint = 10\n\
         [learn]\nsteps = 40\nbatch = 4\nbeam = 4\n";
    let grid = "[[part]]\nexperiment = \"small.toml\"\n[part.grid]\n\
         \"learn.objective\" = [\"none\", \"sparse\"]\n\"train.seed\" = [0, 1]\n";
    fs::write(calendar.path("small.toml"), experiment).unwrap();
    fs::write(calendar.path("sweep.toml"), grid).unwrap();
    calendar.argument("sweep.toml")
}

#[test]
fn a_killed_sweep_resumes_to_the_same_table_and_report() {
    let calendar = SmallCalendar::new();
    let (data, sweep) = (calendar.argument("data"), write_sweep(&calendar));
    let run =
        |out: &str| command(&["sweep", &sweep, "--data", &data, "--json", "--out", &calendar.argument(out)]);
    let table = succeed(&mut run("whole")).stdout;
    let cells: serde_json::Value = serde_json::from_slice(&table).unwrap();
    let accuracies: Vec<&serde_json::Value> =
        cells.as_array().unwrap().iter().map(|cell| &cell["accuracy"]).collect();
    assert!(accuracies.len() == 4 && accuracies.iter().all(|accuracy| accuracy.is_f64()), "{cells}");

    let child = run("killed").stderr(Stdio::null()).spawn().unwrap();
    // Both cells that run in parallel have locked their folders, so the next sweep waits for them instead of starting them again.
    wait_until("two cells have begun", || folders_with(&calendar.path("killed"), "config.toml") >= 2);
    kill(child);
    let finished = folders_with(&calendar.path("killed"), "evaluation.json");
    assert!(finished < 4, "the sweep was finished before it was killed");
    assert_eq!(succeed(&mut run("killed")).stdout, table);

    // Nothing is left to do.
    let again = succeed(&mut run("killed"));
    assert!(stderr(&again).contains("4 cells, 4 of them finished"), "{}", stderr(&again));
    assert_eq!(again.stdout, table);
    check_report(&calendar);
}

/// Issue 18: the processes of a killed sweep went on without it.
#[test]
fn the_cells_of_a_killed_sweep_end_with_it_and_resume_without_leftovers() {
    let calendar = SmallCalendar::new();
    let (data, sweep) = (calendar.argument("data"), write_sweep(&calendar));
    let experiment = calendar.read("", "small.toml").replace("steps = 40", "steps = 100000000");
    fs::write(calendar.path("small.toml"), experiment).unwrap();
    let out = calendar.path("endless");
    let cells = || -> Vec<PathBuf> {
        let folders = fs::read_dir(&out).into_iter().flatten().map(|entry| entry.unwrap().path());
        folders.filter(|path| path.join("progress.json").exists()).collect()
    };
    let child =
        command(&["sweep", &sweep, "--data", &data, "--jobs", "2", "--out", &calendar.argument("endless")])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    wait_until("two cells are trained", || cells().len() == 2);
    let is_free = |cell: &PathBuf| fs::File::open(cell.join("lock")).unwrap().try_lock().is_ok();
    assert!(!cells().iter().any(is_free));
    kill(child);
    // They would take days.
    wait_until("their processes have ended", || cells().iter().all(is_free));

    // What a kill leaves in the middle of writing a file is removed by the next process.
    let cell = cells().swap_remove(0);
    let leftover = cell.join(".checkpoint.safetensors.a1B2c3");
    fs::write(&leftover, b"half").unwrap();
    let resumed = command(&["train", "--resume", "--out", cell.to_str().unwrap()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the leftover is removed", || !leftover.exists());
    kill(resumed);
}

/// Checks the report of the sweep in the folder `killed`, in all its formats.
fn check_report(calendar: &SmallCalendar) {
    let cells = calendar.argument("killed");
    let (html, markdown, csv) =
        (calendar.argument("report.html"), calendar.argument("report.md"), calendar.argument("report.csv"));
    let files = ["--html", &html, "--markdown", &markdown, "--csv", &csv];
    let report = succeed(command(&["report", &cells]).args(files));
    let text = String::from_utf8(report.stdout).unwrap();
    assert!(text.starts_with("4 runs in 2 groups\n"), "{text}");
    assert!(
        text.contains("calendar  50 %    labels only") && text.contains("calendar  50 %    sparse"),
        "{text}"
    );
    assert!(calendar.read("", "report.html").contains("coverage of correct programs"));
    assert!(calendar.read("", "report.md").contains("| calendar | 50 % | sparse |"));
    let lines = calendar.read("", "report.csv");
    assert_eq!(lines.lines().count(), 5, "{lines}");
    assert!(
        lines.contains("\n\"small,objective=sparse,seed=1\",calendar,0.5,0,0,1,sparse,ours,none,,12,"),
        "{lines}"
    );
    let report = succeed(&mut command(&["report", &cells, "--json"]));
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["groups"][1]["over_lower_bound"]["questions"], 12);
    let no_run = command(&["report", &calendar.argument("data")]).output().unwrap();
    assert!(stderr(&no_run).contains("is neither a run"), "{}", stderr(&no_run));
}

#[test]
fn a_sweep_reports_the_cells_that_fail() {
    let calendar = SmallCalendar::new();
    let sweep = write_sweep(&calendar);
    let out = calendar.argument("failing");
    let output = command(&["sweep", &sweep, "--data", "nowhere", "--out", &out]).output().unwrap();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("4 of 4 runs failed; the log of the first is"), "{}", stderr(&output));
}

/// Issue 18: training output was appended to what a link led to, and a pipe was waited for.
#[cfg(unix)]
#[test]
fn the_log_of_a_cell_is_no_link_and_no_pipe() {
    let calendar = SmallCalendar::new();
    let sweep = write_sweep(&calendar);
    let list = command(&["sweep", &sweep, "--list"]).output().unwrap();
    let cells: Vec<String> = String::from_utf8(list.stdout).unwrap().lines().map(str::to_owned).collect();
    let out = calendar.path("sweeps");
    fs::create_dir(&out).unwrap();
    fs::write(calendar.path("others"), "kept").unwrap();
    let logs: Vec<_> =
        cells.iter().map(|cell| out.join(format!("{}.log", cell.rsplit(' ').next().unwrap()))).collect();
    for log in &logs {
        std::os::unix::fs::symlink("../others", log).unwrap();
    }
    let output =
        command(&["sweep", &sweep, "--data", "nowhere", "--out", out.to_str().unwrap()]).output().unwrap();
    assert!(stderr(&output).contains(".log: this is not a regular file; remove it"), "{}", stderr(&output));
    for log in &logs {
        fs::remove_file(log).unwrap();
        assert!(Command::new("mkfifo").arg(log).status().unwrap().success());
    }
    let output =
        command(&["sweep", &sweep, "--data", "nowhere", "--out", out.to_str().unwrap()]).output().unwrap();
    assert!(stderr(&output).contains(".log: this is not a regular file; remove it"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(calendar.path("others")).unwrap(), "kept");
}
