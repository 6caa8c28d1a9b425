//! Training over MPI gives the weights of one process, to the last bit, whatever the number of ranks, and whoever dies.
//!
//! It needs OpenMPI and a binary that was built with it: `cargo test --release -p xpr --features mpi --test mpi`.
#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[allow(dead_code, reason = "other tests use the rest")]
mod small_calendar;
#[allow(dead_code, reason = "other tests use the rest")]
mod small_sweep;

use small_calendar::{SmallCalendar, stderr, succeed};
use small_sweep::{signal, wait_until};
use std::fs;
use std::process::{Child, Command, Stdio};

/// Returns a command of `xpr` on several ranks. There may be more of them than cores.
fn on_ranks(ranks: usize, xpr: &Command) -> Command {
    let mut mpirun = Command::new("mpirun");
    mpirun.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", &ranks.to_string()]);
    mpirun.arg(xpr.get_program()).args(xpr.get_args());
    mpirun.env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS");
    mpirun
}

fn training(calendar: &SmallCalendar, run: &str, settings: &[&str]) -> Command {
    let mut train =
        calendar.train(run, &["train.shards=8", "data.fraction=0.5", "learn.batch=4", "learn.beam=4"]);
    for setting in settings {
        train.args(["--set", setting]);
    }
    train.args(["--threads", "1"]);
    train
}

fn assert_same_result(calendar: &SmallCalendar, run: &str, expected: &str) {
    for file in [
        "model.safetensors",
        "checkpoint.safetensors",
        "metrics.jsonl",
        "predictions.jsonl",
        "evaluation.json",
    ] {
        let [content, expected] = [run, expected].map(|run| fs::read(calendar.path(run).join(file)).unwrap());
        assert!(content == expected, "{file} of `{run}`");
    }
}

#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    let methods: [(&str, &[&str]); 4] = [
        ("supervised", &["train.steps=20"]),
        ("joint", &["train.steps=20", "learn.objective=sparse", "learn.start=5", "learn.ensemble=0"]),
        (
            "without-dropout",
            &[
                "train.steps=15",
                "learn.objective=gentle",
                "learn.start=5",
                "learn.ensemble=0",
                "learn.search_dropout=false",
            ],
        ),
        (
            "ensemble",
            &[
                "train.steps=20",
                "learn.objective=sparse",
                "learn.steps=10",
                "learn.ensemble=3",
                "learn.own_steps=5",
                "learn.rounds=2",
            ],
        ),
    ];
    let calendar = SmallCalendar::new();
    for (method, settings) in methods {
        let alone = format!("{method}-alone");
        succeed(&mut training(&calendar, &alone, settings));
        for ranks in [1, 2, 4, 8] {
            let run = format!("{method}-{ranks}");
            let output = succeed(&mut on_ranks(ranks, &training(&calendar, &run, settings)));
            assert_same_result(&calendar, &run, &alone);
            // One rank writes, and says so once.
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(printed.matches("12 test questions").count(), 1, "{printed}");
        }
        let checkpoint = fs::read(calendar.path(&alone).join("checkpoint.safetensors")).unwrap();
        let start = fs::read(calendar.path("supervised-alone/checkpoint.safetensors")).unwrap();
        assert!(
            method == "supervised" || checkpoint != start,
            "{method} trains as without unlabeled questions"
        );
    }
}

/// The parsers by whose answers the confidence is fitted are dealt to the ranks.
#[test]
fn the_confidence_is_the_same_too() {
    let calendar = SmallCalendar::new();
    let settings = [
        "train.steps=20",
        "data.fraction=1.0",
        "eval.votes=true",
        "eval.penalties=true",
        "eval.confidence_folds=3",
    ];
    succeed(&mut training(&calendar, "alone", &settings));
    succeed(&mut on_ranks(2, &training(&calendar, "ranks", &settings)));
    assert_same_result(&calendar, "ranks", "alone");
    let [ranks, alone] = ["ranks", "alone"].map(|run| calendar.read(run, "confidence.json"));
    assert_eq!(ranks, alone);
}

/// Returns the processes that a process started.
fn children(process: u32) -> Vec<u32> {
    let stats = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let parent: u32 = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        (parent == process).then_some(id)
    });
    stats.collect()
}

/// Kills one of the ranks at a time that differs from kill to kill, if the run has not ended by then.
fn kill_one(mut mpirun: Child, calendar: &SmallCalendar, kill: usize) -> (bool, String) {
    let before = calendar.path("killed/progress.json").metadata().and_then(|file| file.modified()).ok();
    wait_until("it trains", 60, || {
        let progress = calendar.path("killed/progress.json").metadata().and_then(|file| file.modified()).ok();
        (progress.is_some() && progress != before) || mpirun.try_wait().unwrap().is_some()
    });
    std::thread::sleep(std::time::Duration::from_millis((kill as u64 * 379) % 700));
    let ranks = children(mpirun.id());
    let is_killed = !ranks.is_empty();
    if is_killed {
        signal(ranks[kill * 7 % ranks.len()], "KILL");
    }
    let output = mpirun.wait_with_output().unwrap();
    (is_killed && !output.status.success(), stderr(&output))
}

#[test]
fn whichever_rank_is_killed_the_run_resumes_to_the_same_bits() {
    let kills: usize = std::env::var("XPR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let calendar = SmallCalendar::new();
    let steps = format!("train.steps={}", 120 * (kills + 2));
    let settings = [steps.as_str(), "learn.objective=sparse", "learn.start=10", "learn.ensemble=0"];
    succeed(&mut training(&calendar, "alone", &settings));
    let resume = small_calendar::command(&[
        "train",
        "--resume",
        "--threads",
        "1",
        "--out",
        &calendar.argument("killed"),
    ]);
    let mut killed = 0;
    for kill in 0..kills {
        let begin = training(&calendar, "killed", &settings);
        let command = if calendar.path("killed/config.toml").exists() { &resume } else { &begin };
        let ranks = [2, 4, 3, 8][kill % 4];
        let mpirun = on_ranks(ranks, command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (is_killed, error) = kill_one(mpirun, &calendar, kill);
        if is_killed {
            killed += 1;
            assert!(error.contains("signal 9"), "{error}");
        }
    }
    assert!(killed * 2 > kills, "{killed} of {kills}: most runs ended before they could be killed");
    eprintln!("{killed} ranks were killed");
    succeed(&mut on_ranks(2, &resume));
    assert_same_result(&calendar, "killed", "alone");
}

#[test]
fn an_error_of_a_rank_ends_all_with_a_message() {
    let calendar = SmallCalendar::new();
    succeed(&mut training(&calendar, "run", &["train.steps=10"]));
    let again = on_ranks(2, &training(&calendar, "run", &["train.steps=10"])).output().unwrap();
    assert!(!again.status.success());
    assert!(stderr(&again).contains("already holds a run; resume it with --resume"), "{}", stderr(&again));
    assert_eq!(stderr(&again).matches("already holds a run").count(), 1, "{}", stderr(&again));
    // Half of the ranks have other settings.
    let [one, other] =
        ["train.steps=10", "train.steps=20"].map(|steps| training(&calendar, "mixed", &[steps]));
    let mut mixed = on_ranks(1, &one);
    mixed.args([":", "-n", "1"]).arg(other.get_program()).args(other.get_args());
    let mixed = mixed.output().unwrap();
    assert!(!mixed.status.success());
    assert!(stderr(&mixed).contains("the ranks have different settings or data"), "{}", stderr(&mixed));
}

#[test]
fn ranks_that_are_told_to_stop_write_a_checkpoint() {
    let calendar = SmallCalendar::new();
    let settings = ["train.steps=200", "train.checkpoint=100000"];
    succeed(&mut training(&calendar, "alone", &settings));
    let mpirun = on_ranks(2, &training(&calendar, "told", &settings)).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it trains", 60, || calendar.path("told/progress.json").exists());
    signal(mpirun.id(), "USR1");
    let output = mpirun.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("stopped after step"), "{}", stderr(&output));
    let resume = small_calendar::command(&["train", "--resume", "--out", &calendar.argument("told")]);
    let resumed = succeed(&mut on_ranks(4, &resume));
    assert!(stderr(&resumed).contains("resuming after step"), "{}", stderr(&resumed));
    assert_same_result(&calendar, "told", "alone");
}
