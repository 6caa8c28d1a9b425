//! Reading the folder of a run.
//!
//! A sweep takes days and versions; some of its cells are old, some are not finished. Only a `config.toml` that cannot be
//! read is an error: without it nobody knows what the run is about. Whatever else is absent or damaged is told, and the
//! report does without it.

use crate::ReportError;
use crate::settings::Settings;
use serde::Deserialize;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use xpr_learn::{Evaluation, Prediction};

/// A run, as its folder tells it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name of its folder.
    pub name: String,
    /// What it was told.
    pub settings: Settings,
    /// How good it is, if it is finished.
    pub evaluation: Option<Evaluation>,
    /// What it answered, question by question.
    pub answers: Vec<Answer>,
    /// How training went.
    pub steps: Vec<Step>,
    /// What is absent or cannot be read, and why.
    pub absent: Vec<String>,
}

/// What a parser answered to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub utterance: String,
    /// The labeled program.
    pub gold: String,
    /// The same as the grammar writes it, where it is known.
    pub gold_written: Option<String>,
    /// What comes of running it, shortened.
    pub gold_outcome: String,
    /// Whether the answer is right.
    pub correct: bool,
    /// Which candidate was chosen.
    pub chosen: usize,
    /// The best candidate with the right answer.
    pub right_at: Option<usize>,
    /// All candidates, best first.
    pub candidates: Vec<Guess>,
}

/// A candidate, and what came of running it.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The program.
    pub program: String,
    /// How probable the parser thought it.
    pub probability: f64,
    /// What came of it, shortened.
    pub outcome: String,
}

impl Answer {
    /// The candidate that was chosen, if there is any.
    pub fn guess(&self) -> Option<&Guess> {
        self.candidates.get(self.chosen)
    }

    /// The labeled program as candidates are written, where that is known.
    pub fn gold_like_candidates(&self) -> &str {
        self.gold_written.as_deref().unwrap_or(&self.gold)
    }
}

impl From<Prediction> for Answer {
    fn from(read: Prediction) -> Self {
        // Runs of older versions do not say it; what prints alike is alike.
        let right_at = read.right_at.or_else(|| {
            let alike = read.candidates.iter().position(|guess| guess.outcome == read.gold_outcome);
            alike.filter(|_| ran(&read.gold_outcome)).or(read.correct.then_some(read.chosen))
        });
        let guess = |candidate: xpr_learn::Ranked| Guess {
            program: candidate.program,
            probability: f64::from(candidate.log_probability).exp().clamp(0.0, 1.0),
            outcome: shortened(&candidate.outcome),
        };
        Answer {
            utterance: read.utterance,
            gold: read.gold,
            gold_written: read.gold_written,
            gold_outcome: shortened(&read.gold_outcome),
            correct: read.correct,
            chosen: read.chosen,
            right_at,
            candidates: read.candidates.into_iter().map(guess).collect(),
        }
    }
}

/// Whether an outcome is that of a program that ran.
pub(crate) fn ran(outcome: &str) -> bool {
    matches!(outcome.split_once('\t'), Some(("value" | "empty", _)))
}

/// Lists can be long, and a report holds thousands of them.
const LONGEST_OUTCOME: usize = 240;

fn shortened(outcome: &str) -> String {
    match outcome.char_indices().nth(LONGEST_OUTCOME) {
        Some((end, _)) => format!("{} …", &outcome[..end]),
        None => outcome.to_owned(),
    }
}

/// A line of a run's metrics.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Step {
    /// The step.
    pub step: u64,
    /// The loss of labeled examples.
    pub loss: f64,
    /// What unlabeled questions brought.
    pub unlabeled: Option<Unlabeled>,
}

/// What unlabeled questions brought; older runs have less of it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Unlabeled {
    /// The objective's loss.
    pub loss: Option<f64>,
    /// The share of candidates that are rewarded.
    pub rewarded: Option<f64>,
    /// The probability of all candidates together.
    pub mass: Option<f64>,
    /// The length of rewarded programs over that of their questions.
    pub length_ratio: Option<f64>,
    /// The share of questions whose right program is among the rewarded candidates.
    pub coverage: Option<f64>,
}

/// Reads runs, and the runs of sweeps.
///
/// # Errors
/// If a folder is neither, or the settings of a run cannot be read.
pub(crate) fn read_runs(folders: &[PathBuf]) -> Result<(Vec<Run>, Vec<String>), ReportError> {
    let (mut runs, mut notes) = (Vec::new(), Vec::new());
    for folder in folders {
        if folder.join("config.toml").is_file() {
            runs.push(Run::read(folder)?);
            continue;
        }
        let entries =
            fs::read_dir(folder).map_err(|source| ReportError::File { path: folder.clone(), source })?;
        let mut cells: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        cells.sort();
        let (cells, others): (Vec<PathBuf>, Vec<PathBuf>) =
            cells.into_iter().partition(|cell| cell.join("config.toml").is_file());
        if cells.is_empty() {
            return Err(ReportError::NoRun(folder.clone()));
        }
        notes.extend(others.iter().map(|other| format!("{}: no run was begun in it", name_of(other))));
        for cell in cells {
            runs.push(Run::read(&cell)?);
        }
    }
    Ok((runs, notes))
}

impl Run {
    /// Reads the folder of a run.
    ///
    /// # Errors
    /// If its settings cannot be read.
    pub fn read(folder: &Path) -> Result<Run, ReportError> {
        let settings = Settings::read(&folder.join("config.toml"), folder.join("tuning").is_dir())?;
        let mut absent = Vec::new();
        let evaluation = note(&mut absent, read_evaluation(&folder.join("evaluation.json")));
        let evaluation = evaluation.filter(|evaluation| {
            let holds = evaluation.examples > 0;
            if !holds {
                absent.push("evaluation.json: it was evaluated on no question".to_owned());
            }
            holds
        });
        let lines = read_lines::<Prediction>(&folder.join("predictions.jsonl"));
        let answers = note(&mut absent, lines).unwrap_or_default().into_iter().map(Answer::from).collect();
        let steps = note(&mut absent, read_lines(&folder.join("metrics.jsonl"))).unwrap_or_default();
        let absent = together(absent);
        Ok(Run { name: name_of(folder), settings, evaluation, answers, steps, absent })
    }
}

fn name_of(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    whole.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Says of all files that are not there in one sentence.
fn together(messages: Vec<String>) -> Vec<String> {
    let (missing, mut others): (Vec<String>, Vec<String>) =
        messages.into_iter().partition(|message| message.ends_with(NOT_THERE));
    let files: Vec<&str> = missing.iter().map(|message| message.trim_end_matches(NOT_THERE)).collect();
    match files.as_slice() {
        [] => {}
        [file] => others.insert(0, format!("{file}{NOT_THERE}")),
        [files @ .., last] => others.insert(0, format!("{} and {last} are not there", files.join(", "))),
    }
    others
}

const NOT_THERE: &str = " is not there";

/// Keeps what is wrong with a file.
fn note<T>(absent: &mut Vec<String>, read: Result<T, String>) -> Option<T> {
    read.map_err(|message| absent.push(message)).ok()
}

fn told(path: &Path, error: &io::Error) -> String {
    let name = name_of(path);
    match error.kind() {
        io::ErrorKind::NotFound => format!("{name}{NOT_THERE}"),
        _ => format!("{name}: {error}"),
    }
}

fn read_evaluation(path: &Path) -> Result<Evaluation, String> {
    let content = fs::read(path).map_err(|error| told(path, &error))?;
    serde_json::from_slice(&content).map_err(|error| format!("{}: {error}", name_of(path)))
}

fn read_lines<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<Vec<T>, String> {
    let file = fs::File::open(path).map_err(|error| told(path, &error))?;
    let mut all = Vec::new();
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| told(path, &error))?;
        if !line.trim().is_empty() {
            let read = serde_json::from_str(&line)
                .map_err(|error| format!("{}, line {}: {}", name_of(path), index + 1, reason(&error)))?;
            all.push(read);
        }
    }
    Ok(all)
}

/// What is wrong with a line, without the place in it: to serde every line is the first.
fn reason(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    whole.split_once(" at line ").map_or(whole.clone(), |(reason, _)| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_predictions_are_understood() {
        let line = |correct: bool, gold: &str, outcomes: [&str; 2]| {
            let candidates: Vec<serde_json::Value> = outcomes
                .iter()
                .map(|outcome| {
                    serde_json::json!({"program": "p", "log_probability": -0.7, "outcome": outcome})
                })
                .collect();
            let line = serde_json::json!({
                "utterance": "u", "gold": "g", "gold_outcome": gold, "correct": correct, "chosen": 0,
                "candidates": candidates
            });
            Answer::from(serde_json::from_value::<Prediction>(line).unwrap())
        };
        assert_eq!(line(false, "value\t1", ["value\t2", "value\t1"]).right_at, Some(1));
        assert_eq!(line(false, "value\t1", ["value\t2", "value\t3"]).right_at, None);
        // Two errors that read alike are not the right answer.
        assert_eq!(line(false, "error\tx", ["error\tx", "error\tx"]).right_at, None);
        // The same rows in another order.
        assert_eq!(line(true, "value\t(1) (2)", ["value\t(2) (1)", "value\t3"]).right_at, Some(0));
        assert_eq!(shortened(&"é".repeat(300)).chars().count(), LONGEST_OUTCOME + 2);
    }
}
