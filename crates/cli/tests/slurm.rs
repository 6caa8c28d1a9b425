//! `xpr sweep --slurm` on a Slurm cluster of one node: whatever happens to its tasks, the table is that of one machine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[allow(dead_code, reason = "other tests use the rest")]
mod small_calendar;
#[allow(dead_code, reason = "other tests use the rest")]
mod small_sweep;

/// In a module of its own, so that a filter selects it or leaves it out.
mod cluster {
    use crate::small_calendar::{stderr, succeed};
    use crate::small_sweep::{SmallSweep, signal, wait_until};
    use std::collections::HashMap;
    use std::fs;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};

    /// A cluster that ends with the test.
    struct Cluster {
        folder: tempfile::TempDir,
        configuration: String,
    }

    impl Cluster {
        fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let printed = succeed(Cluster::script("start", folder.path()).stderr(Stdio::inherit())).stdout;
            let printed = String::from_utf8(printed).unwrap();
            let configuration = printed.split('\'').nth(1).unwrap().to_owned();
            Cluster { folder, configuration }
        }

        fn script(action: &str, folder: &Path) -> Command {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/slurm-one-node");
            let mut command = Command::new(script);
            command.arg(action).arg(folder);
            command
        }

        /// Starts a command of Slurm. Some of its versions signal a task of an array, find that they could not, and try again for a minute.
        fn start_command(&self, command: &[&str]) -> Child {
            let mut slurm = Command::new(command[0]);
            slurm.args(&command[1..]).env("SLURM_CONF", &self.configuration).stderr(Stdio::null());
            slurm.spawn().unwrap()
        }

        /// Returns what a command of Slurm prints.
        fn run(&self, command: &[&str]) -> String {
            let mut slurm = Command::new(command[0]);
            let output = succeed(slurm.args(&command[1..]).env("SLURM_CONF", &self.configuration));
            String::from_utf8(output.stdout).unwrap()
        }

        /// Returns the jobs in the queue that are in a state, by names such as `17_2` and by the numbers that each task has besides.
        fn jobs(&self, state: &str) -> HashMap<String, String> {
            let states = format!("--states={state}");
            let jobs = self.run(&["squeue", "--noheader", "--array", "--format=%i %A", &states]);
            jobs.lines()
                .filter_map(|line| line.split_once(' '))
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .collect()
        }
    }

    impl Drop for Cluster {
        fn drop(&mut self) {
            let _ = Cluster::script("stop", self.folder.path()).output();
        }
    }

    /// Returns the process that trains a cell of a part, if there is one.
    fn process_of(sweep: &SmallSweep, part: &str) -> Option<u32> {
        let status = succeed(&mut sweep.command("grid", &["--status", "--json"]));
        let cells: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        let trained = cells.as_array().unwrap().iter().filter(|cell| cell["step"].is_u64());
        let mut processes = trained.filter_map(|cell| cell["process"].as_str());
        let process = processes.find(|process| process.ends_with(&format!("part {part}")))?;
        process.split(' ').nth(1)?.parse().ok()
    }

    #[test]
    #[ignore = "needs Slurm, see CONTRIBUTING.md"]
    fn an_array_with_a_task_cancelled_one_requeued_and_one_killed_ends_in_the_table_of_one_machine() {
        let sweep = SmallSweep::new(4, 80);
        let table = sweep.table("whole");
        let cluster = Cluster::start();
        let arguments =
            ["--slurm", "--tasks", "6", "--jobs", "1", "--cell-memory", "300", "--sbatch=--nice=1"];
        let submitted = succeed(sweep.command("grid", &arguments).env("SLURM_CONF", &cluster.configuration));
        let printed = String::from_utf8_lossy(&submitted.stdout);
        assert!(printed.starts_with("6 tasks, each 1 CPUs, 631 MB and 185 minutes: job 1\n"), "{printed}");
        assert!(stderr(&submitted).contains("no cell is finished"), "{}", stderr(&submitted));

        // Two tasks run at a time. The first one is told to go, as Slurm does when its time is nearly over.
        wait_until("the first task trains", 60, || process_of(&sweep, "0/6").is_some());
        let mut scancel =
            cluster.start_command(&["scancel", "--batch", "--signal=USR1", &cluster.jobs("RUNNING")["1_0"]]);
        wait_until("the first task is requeued", 60, || cluster.jobs("PENDING").contains_key("1_0"));
        let _ = scancel.kill();
        scancel.wait().unwrap();
        // Slurm lets a requeued job wait for two minutes.
        cluster.run(&["scontrol", "update", "JobId=1_0", "StartTime=now"]);
        // The second one is killed, as by a machine that has no memory left.
        wait_until("the second task trains", 60, || process_of(&sweep, "1/6").is_some());
        signal(process_of(&sweep, "1/6").unwrap(), "KILL");
        // The third one is cancelled.
        wait_until("the third task trains", 120, || process_of(&sweep, "2/6").is_some());
        cluster.run(&["scancel", &cluster.jobs("RUNNING")["1_2"]]);

        let written = sweep.calendar.path("grid/slurm/table.txt");
        wait_until("the table is written", 400, || written.exists());
        assert_eq!(fs::read_to_string(&written).unwrap(), table);
        sweep.assert_same("grid", "whole");
        let log = |task: usize| {
            fs::read_to_string(sweep.calendar.path(&format!("grid/slurm/sweep-1_{task}.log"))).unwrap()
        };
        assert!(log(0).contains("stopped, as it was told to"), "{}", log(0));
        assert_eq!(log(0).matches("of the others are in part 0/6").count(), 2, "it ran twice: {}", log(0));
        assert!(log(1).contains("Killed"), "{}", log(1));
        assert!(!cluster.jobs("PENDING").contains_key("1_2"), "a cancelled task stays cancelled");
        // What cells took is known now: a second submission packs them, and has nothing to train.
        let again = succeed(sweep.command("grid", &["--slurm"]).env("SLURM_CONF", &cluster.configuration));
        let printed = String::from_utf8(again.stdout).unwrap();
        assert!(printed.starts_with("the table will be in "), "{printed}");
    }
}
