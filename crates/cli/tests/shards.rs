//! The parts of a sweep share a folder: no cell is trained twice, and what a part leaves behind is trained by others, to the same table.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod small_calendar;
mod small_sweep;

use small_calendar::{command, stderr, succeed};
use small_sweep::{SmallSweep, claimed_again, signal, wait_until};
use std::fs;
use std::process::Stdio;

#[test]
fn parts_at_the_same_time_train_each_cell_once_and_give_the_table_of_one_process() {
    let sweep = SmallSweep::new(1, 40);
    let table = sweep.table("whole");
    let parts = ["0/3", "1/3", "2/3"].map(|part| {
        let mut part = sweep.command("parts", &["--shard", part, "--jobs", "1"]);
        part.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for part in parts {
        let output = part.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("2 of the others are in part"), "{}", stderr(&output));
    }
    assert_eq!(sweep.count("parts", "finished"), 6);
    assert_eq!(claimed_again(&sweep.calendar.path("parts")), 0);
    assert_eq!(sweep.table("parts"), table);
    sweep.assert_same("parts", "whole");
    let status = succeed(&mut sweep.command("parts", &["--status"]));
    assert_eq!(String::from_utf8(status.stdout).unwrap(), "6 cells: 6 finished\n");
    // The folders of a sweep that are not cells are no runs.
    let report = succeed(&mut command(&["report", &sweep.calendar.argument("parts")]));
    assert!(!String::from_utf8_lossy(&report.stdout).contains("no run was started"));
}

#[test]
fn two_whole_sweeps_in_one_folder_share_the_cells() {
    let sweep = SmallSweep::new(1, 40);
    let table = sweep.table("whole");
    let both = [0, 1].map(|_| {
        let mut command = sweep.command("shared", &["--jobs", "1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for process in both {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), table);
    }
    // A whole cell that another process finished may be claimed, and is seen to be finished.
    sweep.assert_same("shared", "whole");
}

#[test]
fn what_a_killed_part_left_is_trained_by_the_others() {
    let sweep = SmallSweep::new(1, 150);
    let table = sweep.table("whole");
    // The first part would take three cells of six. It is killed in the first.
    let mut first =
        sweep.command("parts", &["--shard", "0/2", "--jobs", "1"]).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a cell is trained", 60, || !sweep.cells_with("parts", "progress.json").is_empty());
    assert_eq!(sweep.count("parts", "in training"), 1);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(sweep.count("parts", "left behind"), 1);
    let text = String::from_utf8(succeed(&mut sweep.command("parts", &["--status"])).stdout).unwrap();
    assert!(text.contains("6 cells: 5 waiting, 1 left behind\n"), "{text}");
    let second = succeed(&mut sweep.command("parts", &["--shard", "1/2"]));
    assert!(stderr(&second).contains("3 of the others are in part 1/2"), "{}", stderr(&second));
    assert_eq!(String::from_utf8(second.stdout).unwrap(), "6 of 6 cells are finished\n");
    assert_eq!(claimed_again(&sweep.calendar.path("parts")), 1);
    assert_eq!(sweep.table("parts"), table);
    sweep.assert_same("parts", "whole");
}

/// A part that has not begun may still come.
#[test]
fn the_cells_of_a_part_that_never_began_are_left_to_it() {
    let sweep = SmallSweep::new(1, 20);
    let first = succeed(&mut sweep.command("parts", &["--shard", "0/2"]));
    assert_eq!(String::from_utf8(first.stdout).unwrap(), "3 of 6 cells are finished\n");
    assert_eq!(sweep.count("parts", "waiting"), 3);
}

#[test]
fn a_part_that_is_told_to_stop_writes_checkpoints_and_goes_on_to_the_same_bits() {
    for name in ["USR1", "TERM"] {
        let sweep = SmallSweep::new(1, 150);
        let table = sweep.table("whole");
        let part = || sweep.command("parts", &["--shard", "0/1", "--jobs", "2"]);
        let stopped = part().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("two cells are trained", 60, || sweep.cells_with("parts", "progress.json").len() == 2);
        signal(stopped.id(), name);
        let output = stopped.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
        assert!(stderr(&output).contains("the same command goes on"), "{}", stderr(&output));
        let begun = sweep.cells_with("parts", "config.toml");
        assert_eq!(begun.len(), 2, "{}", stderr(&output));
        assert_eq!(sweep.count("parts", "stopped"), 2);
        succeed(&mut part());
        for cell in begun {
            let log = fs::read_to_string(
                cell.with_file_name(format!("{}.log", cell.file_name().unwrap().display())),
            );
            // There are no checkpoints but those of the stop.
            assert!(log.unwrap().contains("resuming after step"));
        }
        assert_eq!(sweep.table("parts"), table);
        sweep.assert_same("parts", "whole");
    }
}

#[test]
fn a_training_that_is_told_to_stop_resumes_from_that_step() {
    let sweep = SmallSweep::new(1, 150);
    let calendar = &sweep.calendar;
    let settings = ["train.steps=100000", "data.fraction=0.5", "train.checkpoint=100000"];
    let run = calendar.train("run", &settings).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it is trained", 60, || calendar.path("run/progress.json").exists());
    signal(run.id(), "TERM");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    let text = stderr(&output);
    let step = text.split("stopped after step ").nth(1).unwrap().split(',').next().unwrap();
    let resume =
        command(&["train", "--resume", "--out", &calendar.argument("run")]).stderr(Stdio::piped()).spawn();
    let resume = resume.unwrap();
    wait_until("it goes on", 60, || {
        let progress = fs::read_to_string(calendar.path("run/progress.json")).unwrap_or_default();
        let progress: serde_json::Value = serde_json::from_str(&progress).unwrap_or_default();
        progress["step"].as_u64().is_some_and(|now| now > step.parse().unwrap())
    });
    signal(resume.id(), "USR1");
    let output = resume.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75));
    assert!(stderr(&output).contains(&format!("resuming after step {step}")), "{}", stderr(&output));
}

#[test]
fn parts_count_from_zero() {
    let sweep = SmallSweep::new(1, 20);
    for (part, expected) in [
        ("4/4", "the 4 parts are 0/4 to 3/4"),
        ("0/0", "such as 0/4"),
        ("1", "such as 0/4"),
        ("-1/4", "such as 0/4"),
    ] {
        let output = sweep.command("parts", &[&format!("--shard={part}")]).output().unwrap();
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}
