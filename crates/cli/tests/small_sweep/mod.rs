//! A sweep of small cells, and what its parts leave behind.

use super::small_calendar::{SmallCalendar, command, stderr, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A folder with the file of a sweep.
pub(crate) struct SmallSweep {
    pub(crate) calendar: SmallCalendar,
}

impl SmallSweep {
    /// Writes a sweep of `6 × seeds` cells, each of which takes this number of steps.
    pub(crate) fn new(seeds: usize, steps: usize) -> Self {
        let calendar = SmallCalendar::new();
        let experiment = format!(
            "[data]\nfraction = 0.5\n\
             [model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n\
             [train]\nsteps = {steps}\nrate = 0.01\nwarmup = 10\ncheckpoint = 1000\n\
             [learn]\nsteps = {steps}\nbatch = 4\nbeam = 4\nensemble = 0\nstart = 20\n"
        );
        let seeds: Vec<String> = (0..seeds).map(|seed| seed.to_string()).collect();
        let grid = format!(
            "[[part]]\nexperiment = \"small.toml\"\n[part.grid]\n\
             \"learn.objective\" = [\"none\", \"sparse\", \"gentle\"]\n\
             \"data.fraction\" = [0.5, 0.6]\n\"train.seed\" = [{}]\n",
            seeds.join(", ")
        );
        fs::write(calendar.path("small.toml"), experiment).unwrap();
        fs::write(calendar.path("sweep.toml"), grid).unwrap();
        SmallSweep { calendar }
    }

    /// Returns the command of the sweep in a folder.
    pub(crate) fn command(&self, out: &str, arguments: &[&str]) -> Command {
        let calendar = &self.calendar;
        let (sweep, data) = (calendar.argument("sweep.toml"), calendar.argument("data"));
        let mut sweep = command(&["sweep", &sweep, "--data", &data, "--out", &calendar.argument(out)]);
        sweep.args(arguments);
        sweep
    }

    /// Returns the table of the sweep, trained in a folder by one process.
    pub(crate) fn table(&self, out: &str) -> String {
        String::from_utf8(succeed(&mut self.command(out, &[])).stdout).unwrap()
    }

    /// Returns the cells that a folder has, with a file.
    pub(crate) fn cells_with(&self, out: &str, file: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.calendar.path(out)) else { return vec![] };
        let folders = entries.map(|entry| entry.unwrap().path());
        folders.filter(|path| path.join("config.toml").exists() && path.join(file).exists()).collect()
    }

    /// Returns the state of each cell.
    pub(crate) fn states(&self, out: &str) -> Vec<(String, String)> {
        let status = succeed(&mut self.command(out, &["--status", "--json"]));
        let cells: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        let text = |cell: &serde_json::Value, key: &str| cell[key].as_str().unwrap_or_default().to_owned();
        cells.as_array().unwrap().iter().map(|cell| (text(cell, "cell"), text(cell, "state"))).collect()
    }

    /// Returns the number of cells in a state.
    pub(crate) fn count(&self, out: &str, state: &str) -> usize {
        self.states(out).iter().filter(|(_, found)| found == state).count()
    }

    /// Checks that two folders have the same results of every cell, byte for byte.
    pub(crate) fn assert_same(&self, out: &str, expected: &str) {
        let cells = self.cells_with(expected, "evaluation.json");
        assert!(!cells.is_empty());
        for cell in cells {
            let other = self.calendar.path(out).join(cell.file_name().unwrap());
            for file in ["model.safetensors", "metrics.jsonl", "predictions.jsonl", "evaluation.json"] {
                assert!(
                    fs::read(cell.join(file)).unwrap() == fs::read(other.join(file)).unwrap(),
                    "{file} of {}",
                    other.display()
                );
            }
        }
    }
}

/// Returns how many cells were trained by more than one process.
pub(crate) fn claimed_again(folder: &Path) -> usize {
    let claims = fs::read_dir(folder.join("claims")).unwrap();
    claims
        .filter(|claim| claim.as_ref().unwrap().path().extension().is_some_and(|number| number == "2"))
        .count()
}

/// Waits until a condition holds, for at most some seconds.
pub(crate) fn wait_until(what: &str, seconds: u64, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(seconds), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let kill = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).output().unwrap();
    assert!(kill.status.success(), "{}", stderr(&kill));
}
