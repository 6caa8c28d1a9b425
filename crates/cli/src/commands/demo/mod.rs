//! `xpr demo`: the whole method on a built-in database.
//!
//! The built-in base answers questions about the database without having learned from any. Then it learns from a log of questions
//! without SQL, and last from the log and 20 labels. After the first, the demo shows what executing its candidates tells about the
//! questions of the log. Every printed number is measured in the demo's folder.

mod execution;
mod text;

use super::training_progress::TrainingProgress;
use super::{use_threads, with_notices, write_json};
use crate::arguments::DemoArguments;
use anyhow::{Context, Result};
use execution::ExecutionEffect;
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xpr_data::{EXPERIMENT_FILE, write_output};
use xpr_learn::experiment::{AnsweredQuestion, QuestionAnswerer};
use xpr_learn::{Experiment, TrainedRun};
use xpr_report::Report;
use xpr_run::{Config, Evaluation, ExecutedCandidate, Manifest, RunFile, RunFolder};

/// The objectives that the paper compares.
const COMPARED: [&str; 5] = ["self-training", "top-k", "repulsion", "gentle", "sparse"];
/// The setting of a parser without labels.
const NO_LABELS: &str = "data.label_count=0";
/// The settings of a parser that answers as the base does.
const AS_IT_IS: [&str; 3] = [NO_LABELS, "train.steps=0", "learn.objective=none"];

/// The output of `--json`.
#[derive(Serialize)]
struct DemoReport {
    folder: PathBuf,
    seed: u64,
    /// The effect of executing the candidates of the base.
    running: ExecutionEffect,
    /// The base is the first, and the parser with the most to learn from the last.
    runs: Vec<ComparedRun>,
    answers: Vec<DemoAnswer>,
    /// The HTML report of the runs.
    report: PathBuf,
    seconds: f64,
}

/// A trained parser of the comparison.
#[derive(Serialize)]
struct ComparedRun {
    name: String,
    run: PathBuf,
    labeled: usize,
    unlabeled: usize,
    evaluation: Evaluation,
    /// For each test question, whether its answer is correct.
    right: Vec<bool>,
    /// The training time; `None` if the run was finished before.
    seconds: Option<f64>,
}

/// The answer to a question of the demo.
#[derive(Serialize)]
struct DemoAnswer {
    question: &'static str,
    /// The chosen program.
    chosen: ExecutedCandidate,
    /// A sentence that says what the chosen program returns.
    explanation: Option<String>,
    milliseconds: f64,
}

pub(crate) fn run(arguments: &DemoArguments, out: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    use_threads(arguments.pool.threads)?;
    let demo = Demo::open(arguments)?;
    // With --json, no text is written.
    let mut sink = std::io::sink();
    let text_out: &mut dyn Write = if arguments.output.json { &mut sink } else { &mut *out };

    let experiment = demo.experiment(&AS_IT_IS)?;
    text::data(text_out, &demo.folder, &experiment)?;
    let base = demo.train("built-in base", "base", &experiment)?;
    text::trained(text_out, &base)?;
    let running = ExecutionEffect::measure(&base.run, &experiment)?;
    text::execution(text_out, &running)?;

    let mut runs = vec![base];
    let objectives = if arguments.all { &COMPARED[..] } else { &["sparse"] };
    for objective in objectives {
        let experiment = demo.experiment(&[NO_LABELS, &format!("learn.objective={objective}")])?;
        let name = format!("with a log, {}", text::title(objective));
        let trained = demo.train(&name, &format!("log-{objective}"), &experiment)?;
        text::trained(text_out, &trained)?;
        runs.push(trained);
    }
    let experiment = demo.experiment(&[])?;
    let name = format!("with a log and {} labels", experiment.train_examples().len());
    let learned = demo.train(&name, "labels", &experiment)?;
    text::trained(text_out, &learned)?;
    let last = learned.run.clone();
    runs.push(learned);
    text::comparison(text_out, &runs)?;

    let answers = ask(&last)?;
    text::answers(text_out, &answers)?;
    let report = demo.folder.join("report.html");
    let folders: Vec<PathBuf> = runs.iter().map(|trained| trained.run.clone()).collect();
    write_output(&report, Report::read(&folders, None)?.to_html().as_bytes())
        .with_context(|| report.display().to_string())?;
    text::next_steps(text_out, &demo.folder, &last, &report)?;
    let seconds = start.elapsed().as_secs_f64();
    text::time(text_out, seconds)?;
    if arguments.output.json {
        let (folder, seed) = (demo.folder, arguments.seed);
        write_json(out, &DemoReport { folder, seed, running, runs, answers, report, seconds })?;
    }
    Ok(())
}

/// The demo's project folder, in which parsers are trained.
struct Demo<'a> {
    folder: PathBuf,
    arguments: &'a DemoArguments,
}

impl<'a> Demo<'a> {
    /// Writes the project folder. Runs of another version of the data are deleted; with `--fresh`, so are those of this seed.
    fn open(arguments: &'a DemoArguments) -> Result<Self> {
        let demo = Demo { folder: arguments.out.clone(), arguments };
        let is_unchanged = xpr_demo::write(&demo.folder)?;
        if !is_unchanged {
            for seed in entries(&demo.folder.join("runs"))? {
                delete_runs(&seed)?;
            }
        } else if arguments.fresh {
            delete_runs(&demo.runs())?;
        }
        Ok(demo)
    }

    /// Returns the folder of this seed's runs.
    fn runs(&self) -> PathBuf {
        self.folder.join("runs").join(format!("seed-{}", self.arguments.seed))
    }

    /// Loads the demo's experiment with some settings changed. The settings of the command line override them.
    fn experiment(&self, settings: &[&str]) -> Result<Experiment> {
        let mut all = vec![format!("train.seed={}", self.arguments.seed)];
        all.extend(settings.iter().map(|&setting| setting.to_owned()));
        all.extend(self.arguments.set.iter().cloned());
        let mut read = Config::read(Some(&self.folder.join(EXPERIMENT_FILE)), &all)?;
        // The base ignores settings of the other runs, which is no mistake.
        read.ignored.clear();
        let config = with_notices(read)?;
        Ok(Experiment::load(config)?)
    }

    /// Trains a parser. A run with the same settings is resumed, or taken as it is if it is finished; a run with others is deleted.
    fn train(&self, name: &str, folder: &str, experiment: &Experiment) -> Result<ComparedRun> {
        let path = self.runs().join(folder);
        let earlier = RunFolder::open(&path).ok().filter(|run| {
            Config::read(Some(&run.path(RunFile::Config)), &[])
                .is_ok_and(|earlier| earlier.config == *experiment.config() && experiment.has_data_of(run))
        });
        if earlier.is_none() {
            delete_run(&path)?;
        }
        let start = Instant::now();
        let (evaluation, run, seconds) = match earlier {
            Some(run) if run.is_finished() => (Evaluation::read(&run)?, run, None),
            earlier => {
                let resume = earlier.is_some();
                let run = earlier.map_or_else(|| RunFolder::create(&path), Ok)?;
                let mut progress = TrainingProgress::new(experiment, name);
                let evaluation = experiment.run(&run, resume, &mut progress)?;
                progress.finish();
                (evaluation, run, Some(start.elapsed().as_secs_f64()))
            }
        };
        Ok(ComparedRun {
            name: name.to_owned(),
            labeled: experiment.train_examples().len(),
            unlabeled: match experiment.objective() {
                Some(_) => experiment.unlabeled_examples().len(),
                None => 0,
            },
            evaluation,
            right: correct_answers(&run)?,
            run: path,
            seconds,
        })
    }
}

/// Deletes the runs in a folder.
fn delete_runs(runs: &Path) -> Result<()> {
    entries(runs)?.iter().try_for_each(|run| delete_run(run))
}

/// Deletes a run if it exists.
///
/// Errors if a process is training in it.
fn delete_run(run: &Path) -> Result<()> {
    if !run.exists() {
        return Ok(());
    }
    let _lock = RunFolder::open(run).ok().map(|run| run.lock()).transpose()?;
    fs::remove_dir_all(run).with_context(|| run.display().to_string())
}

/// Returns the paths in a folder; none if the folder does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(vec![]);
    }
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    read().with_context(|| folder.display().to_string())
}

/// Returns for each test question whether its answer is correct, in the order of the questions.
fn correct_answers(run: &RunFolder) -> Result<Vec<bool>> {
    #[derive(serde::Deserialize)]
    struct PredictionLine {
        correct: bool,
    }
    let manifest = Manifest::read(run)?;
    let lines: Vec<PredictionLine> = run.read_checked_json_lines(RunFile::Predictions, manifest.as_ref())?;
    Ok(lines.into_iter().map(|line| line.correct).collect())
}

/// Answers the demo's new questions with a trained parser.
fn ask(run: &Path) -> Result<Vec<DemoAnswer>> {
    let run = TrainedRun::open(run)?;
    let mut answerer = QuestionAnswerer::new(&run, Some(0.0))?;
    let mut answers = Vec::new();
    for question in xpr_demo::QUESTIONS {
        let AnsweredQuestion { chosen, mut candidates, explanation, milliseconds, .. } =
            answerer.answer(question, run.config.eval.beam);
        if chosen < candidates.len() {
            let chosen = candidates.swap_remove(chosen);
            answers.push(DemoAnswer { question, chosen, explanation, milliseconds });
        }
    }
    Ok(answers)
}
