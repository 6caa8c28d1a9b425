//! `xpr demo`: the main job from beginning to end, on a database that is built in.
//!
//! A parser is trained with few labels (the lower bound), with the same labels and questions nobody labeled, and with all labels
//! (the upper bound). Between the first and the second it is shown what running programs tells. Everything that is
//! printed was measured in this folder.

mod running;
mod text;

use super::train::Progress;
use super::{use_threads, with_notices, write_json};
use crate::arguments::DemoArguments;
use anyhow::{Context, Result};
use running::Running;
use serde::Serialize;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xpr_data::{EXPERIMENT_FILE, write_file};
use xpr_learn::experiment::member_seed;
use xpr_learn::{Experiment, TrainedRun};
use xpr_parser::Parser;
use xpr_report::Report;
use xpr_run::{Config, Evaluation, ExecutedCandidate, RunFile, RunFolder};

/// The objectives that the paper compares.
const COMPARED: [&str; 5] = ["self-training", "top-k", "repulsion", "gentle", "sparse"];

/// All that the demo found out.
#[derive(Serialize)]
struct Findings {
    folder: PathBuf,
    seed: u64,
    /// What running programs tells the model of the lower bound.
    running: Running,
    /// The lower bound first, the upper bound last.
    runs: Vec<Trained>,
    answers: Vec<Answer>,
    /// The page with all of it.
    report: PathBuf,
    seconds: f64,
}

/// A parser of the comparison.
#[derive(Serialize)]
struct Trained {
    name: String,
    run: PathBuf,
    labeled: usize,
    unlabeled: usize,
    evaluation: Evaluation,
    /// Which test questions it answers.
    right: Vec<bool>,
    /// None if it was trained before.
    seconds: Option<f64>,
}

/// A question and what was answered.
#[derive(Serialize)]
struct Answer {
    question: &'static str,
    /// The program it chooses.
    chosen: ExecutedCandidate,
    milliseconds: f64,
}

pub(crate) fn run(arguments: &DemoArguments, out: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    use_threads(arguments.threads)?;
    let demo = Demo::open(arguments)?;
    // Who asked for JSON gets nothing else.
    let mut nowhere = std::io::sink();
    let told: &mut dyn Write = if arguments.json { &mut nowhere } else { &mut *out };

    // The lower bound is the first parser of the committee, and trained once.
    let first = format!("train.seed={}", member_seed(arguments.seed, 0));
    let experiment = demo.experiment(&["learn.objective=none", &first])?;
    text::data(told, &demo.folder, &experiment)?;
    let lower = demo.train("lower bound", "lower-bound", &experiment)?;
    text::trained(told, &lower)?;
    let running = Running::observe(&lower.run, &experiment)?;
    text::running(told, &running)?;

    let mut runs = vec![lower];
    let objectives = if arguments.all { &COMPARED[..] } else { &["sparse"] };
    for objective in objectives {
        let experiment = demo.experiment(&[&format!("learn.objective={objective}")])?;
        let trained = demo.train(&text::title(objective), objective, &experiment)?;
        text::trained(told, &trained)?;
        runs.push(trained);
    }
    let learned = runs.last().map(|trained| trained.run.clone()).unwrap_or_default();
    let experiment = demo.experiment(&["learn.objective=none", "data.fraction=1.0"])?;
    let upper = demo.train("upper bound", "upper-bound", &experiment)?;
    text::trained(told, &upper)?;
    runs.push(upper);
    text::comparison(told, &runs)?;

    let answers = ask(&learned)?;
    text::answers(told, &answers)?;
    let report = demo.folder.join("report.html");
    let folders: Vec<PathBuf> = runs.iter().map(|trained| trained.run.clone()).collect();
    write_file(&report, Report::read(&folders, None)?.to_html().as_bytes())
        .with_context(|| report.display().to_string())?;
    text::next(told, &demo.folder, &learned, &report)?;
    let seconds = start.elapsed().as_secs_f64();
    text::time(told, seconds)?;
    match arguments.json {
        true => {
            let folder = demo.folder;
            write_json(
                out,
                &Findings { folder, seed: arguments.seed, running, runs, answers, report, seconds },
            )
        }
        false => Ok(()),
    }
}

/// The demo's folder, and how parsers are trained in it.
struct Demo<'a> {
    folder: PathBuf,
    arguments: &'a DemoArguments,
}

impl<'a> Demo<'a> {
    /// Writes the project folder. Runs in it that learned from something else go.
    fn open(arguments: &'a DemoArguments) -> Result<Self> {
        let demo = Demo { folder: arguments.out.clone(), arguments };
        let as_before = xpr_demo::write(&demo.folder)?;
        if !as_before {
            for seed in entries(&demo.folder.join("runs"))? {
                forget_all(&seed)?;
            }
        } else if arguments.fresh {
            forget_all(&demo.runs())?;
        }
        Ok(demo)
    }

    /// Where the runs of this seed are.
    fn runs(&self) -> PathBuf {
        self.folder.join("runs").join(format!("seed-{}", self.arguments.seed))
    }

    /// The demo's experiment with some settings changed; those of the command line win.
    fn experiment(&self, settings: &[&str]) -> Result<Experiment> {
        let mut all = vec![format!("train.seed={}", self.arguments.seed)];
        all.extend(settings.iter().map(|&setting| setting.to_owned()));
        all.extend(self.arguments.set.iter().cloned());
        let config = with_notices(Config::read(Some(&self.folder.join(EXPERIMENT_FILE)), &all)?);
        // All objectives hear the same committee.
        Ok(Experiment::load(config)?.with_members(Some(self.runs().join("members"))))
    }

    /// Trains a parser; or goes on with it, or takes it as it is, if that was begun or done before.
    fn train(&self, name: &str, folder: &str, experiment: &Experiment) -> Result<Trained> {
        let path = self.runs().join(folder);
        let before = RunFolder::open(&path).ok();
        let before = before.filter(|run| {
            Config::read(Some(&run.path(RunFile::Config)), &[])
                .is_ok_and(|before| before.config == *experiment.config())
        });
        if before.is_none() {
            forget(&path)?;
        }
        let start = Instant::now();
        let (evaluation, run, seconds) = match before {
            Some(run) if run.is_finished() => (run.read_json(RunFile::Evaluation)?, run, None),
            before => {
                let resume = before.is_some();
                let run = before.map_or_else(|| RunFolder::create(&path), Ok)?;
                let mut progress = Progress::new(experiment, name);
                let evaluation = experiment.run(&run, resume, &mut progress)?;
                progress.finish();
                (evaluation, run, Some(start.elapsed().as_secs_f64()))
            }
        };
        Ok(Trained {
            name: name.to_owned(),
            labeled: experiment.train_examples().len(),
            unlabeled: match experiment.objective() {
                Some(_) => experiment.unlabeled_examples().len(),
                None => 0,
            },
            evaluation,
            right: right_answers(&run)?,
            run: path,
            seconds,
        })
    }
}

/// Removes the runs in a folder.
fn forget_all(runs: &Path) -> Result<()> {
    entries(runs)?.iter().try_for_each(|run| forget(run))
}

/// Removes a run, unless somebody is training in it.
fn forget(run: &Path) -> Result<()> {
    if !run.exists() {
        return Ok(());
    }
    let _lock = RunFolder::open(run).ok().map(|run| run.lock()).transpose()?;
    fs::remove_dir_all(run).with_context(|| run.display().to_string())
}

/// What is in a folder; nothing if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(vec![]);
    }
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>();
    read().with_context(|| folder.display().to_string())
}

/// Which test questions a run answers, in their order.
fn right_answers(run: &RunFolder) -> Result<Vec<bool>> {
    #[derive(serde::Deserialize)]
    struct Line {
        correct: bool,
    }
    let content = run.read(RunFile::Predictions)?;
    let lines = serde_json::Deserializer::from_slice(&content).into_iter::<Line>();
    let right: Result<Vec<bool>, _> = lines.map(|line| line.map(|line| line.correct)).collect();
    right.with_context(|| run.path(RunFile::Predictions).display().to_string())
}

/// Asks a trained parser questions that are new to it.
fn ask(run: &Path) -> Result<Vec<Answer>> {
    let run = TrainedRun::open(run)?;
    let (task, parser) = (&run.task, run.parser());
    let mut chooser = run.chooser()?;
    let mut answers = Vec::new();
    for question in xpr_demo::QUESTIONS {
        let start = Instant::now();
        let asked = task.question(question);
        let candidates = parser.candidates(&[&asked], run.config.eval.beam);
        let found = candidates.first().map_or(&[][..], Vec::as_slice);
        let mut answer = chooser.choose(&asked, found);
        let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
        if answer.chosen < answer.candidates.len() {
            let chosen = answer.candidates.swap_remove(answer.chosen);
            answers.push(Answer { question, chosen, milliseconds });
        }
    }
    Ok(answers)
}
