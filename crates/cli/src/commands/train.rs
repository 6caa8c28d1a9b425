//! `xpr train`: an experiment into a run folder.

use super::reading::Reading;
use super::{find_data, read_config, use_threads, write_json};
use crate::arguments::TrainArguments;
use crate::duration::brief;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use xpr_learn::experiment::tuning;
use xpr_learn::{Experiment, Observer};
use xpr_run::{Config, Evaluation, RunFile, RunFolder, StepReport};

/// Examples left out that are listed.
const SHOWN: usize = 10;

pub(crate) fn run(arguments: &TrainArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.threads)?;
    let (folder, config) = if arguments.resume {
        let folder = RunFolder::open(&arguments.out)?;
        let mut config = Config::read(Some(&folder.path(RunFile::Config)), &[])?.config;
        // The data may have moved; the settings have not.
        find_data(&mut config, arguments.experiment.data.as_deref());
        if let Some(embeddings) = &arguments.experiment.embeddings {
            config.data.embeddings.clone_from(embeddings);
        }
        (folder, config)
    } else {
        let mut config = read_config(&arguments.experiment)?;
        let folder = RunFolder::create(&arguments.out)?;
        if let Some(weights) = &arguments.tune {
            config.learn.weight = choose_weight(&config, weights, &folder)?;
        }
        (folder, config)
    };
    let mut reading = Reading::new();
    let load =
        Experiment::load_watched(config, &mut |done, of| reading.show("labeled queries run", done, of));
    reading.finish();
    let experiment = load?.with_members(arguments.members.clone());
    let mut progress = Progress::new(&experiment, experiment.config().data.name());
    let evaluation = experiment.run(&folder, arguments.resume, &mut progress)?;
    progress.finish();
    write_evaluation(out, &evaluation, arguments.json)
}

/// Tries weights on labeled examples that are held out.
fn choose_weight(config: &Config, weights: &[f64], folder: &RunFolder) -> Result<f64> {
    if config.learn.objective.is_none() {
        bail!(
            "there is no weight to choose without an objective; name one with --set learn.objective=sparse"
        );
    }
    let tried = tuning::tune(config, weights, folder, |weight, experiment| {
        let _ = writeln!(io::stderr(), "learn.weight {weight}");
        Progress::new(experiment, experiment.config().data.name())
    })?;
    for tuning::Tried { weight, evaluation } in &tried {
        let accuracy = 100.0 * evaluation.accuracy;
        let _ = writeln!(
            io::stderr(),
            "learn.weight {weight}: {accuracy:.1} % of {} labeled examples held out",
            evaluation.examples
        );
    }
    tuning::best(&tried).context("no weight to try; give some with --tune=0.1,0.3")
}

/// An evaluation, as text or as JSON.
pub(super) fn write_evaluation(out: &mut dyn Write, evaluation: &Evaluation, json: bool) -> Result<()> {
    if json {
        return write_json(out, evaluation);
    }
    if evaluation.examples == 0 {
        let message = "There are no test questions, so nobody knows how good it is; name some with data.test or data.held_out.";
        return Ok(writeln!(out, "{message}")?);
    }
    let percent = |share: f64| format!("{:5.1} %", 100.0 * share);
    writeln!(out, "{} test questions", evaluation.examples)?;
    writeln!(out, "  {}  right (the program it chooses)", percent(evaluation.accuracy))?;
    writeln!(out, "  {}  right, executable or not", percent(evaluation.accuracy_of_best))?;
    writeln!(out, "  {}  the labeled program itself", percent(evaluation.exact))?;
    writeln!(out, "  {}  right answer among the candidates", percent(evaluation.in_beam))?;
    writeln!(out, "  {}  best program executes", percent(evaluation.executable))?;
    Ok(())
}

/// A bar on a terminal, plain lines elsewhere.
pub(super) struct Progress {
    bar: ProgressBar,
    is_terminal: bool,
    last_line: Instant,
    last_step: Instant,
    /// Running means: one batch says little, and steps take longer once unlabeled questions are learned from.
    loss: f64,
    seconds: f64,
}

impl Progress {
    /// The progress of an experiment that goes by a name.
    pub(super) fn new(experiment: &Experiment, name: &str) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal {
            ProgressBar::new(experiment.config().train.steps as u64)
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} steps  {msg}  {eta} left") {
            bar.set_style(style);
        }
        let line = format!(
            "{name}: {} labeled, {} unlabeled and {} test questions",
            experiment.train_examples().len(),
            experiment.unlabeled_examples().len(),
            experiment.test_examples().len()
        );
        let _ = writeln!(io::stderr(), "{line}");
        if let Some(objective) = experiment.objective() {
            let reward = experiment.policy().reward().name();
            let teacher = match experiment.config().learn.ensemble {
                0 => String::new(),
                members => format!(", from an ensemble of {members}"),
            };
            let _ = writeln!(io::stderr(), "learning with {}, reward {reward}{teacher}", objective.name());
        }
        let left_out = experiment.left_out();
        for left_out in left_out.iter().take(SHOWN) {
            let _ = writeln!(io::stderr(), "left out: {left_out}");
        }
        if left_out.len() > SHOWN {
            let more = left_out.len() - SHOWN;
            let _ = writeln!(io::stderr(), "left out: {more} more; `xpr data check` says which and why");
        }
        Progress {
            bar,
            is_terminal,
            last_line: Instant::now(),
            last_step: Instant::now(),
            loss: f64::NAN,
            seconds: f64::NAN,
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress {
    /// Another parser is trained from here on.
    fn begin(&mut self, what: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr(), "{what}");
        });
        self.bar.reset();
        (self.last_step, self.seconds, self.loss) = (Instant::now(), f64::NAN, f64::NAN);
    }
}

impl Observer for Progress {
    fn step(&mut self, report: StepReport, steps: usize) {
        let mean = |before: f64, now: f64| if before.is_nan() { now } else { 0.95 * before + 0.05 * now };
        self.loss = mean(self.loss, report.loss);
        self.seconds = mean(self.seconds, self.last_step.elapsed().as_secs_f64());
        self.last_step = Instant::now();
        self.bar.set_length(steps as u64);
        self.bar.set_position(report.step as u64);
        let unlabeled = report.unlabeled.map_or_else(String::new, |unlabeled| {
            let gold = unlabeled.gold.map_or_else(String::new, |gold| {
                format!(", {:.0} % covered, gold at {:.1}", 100.0 * gold.coverage, gold.gold_rank)
            });
            format!(
                "  unlabeled {:.3}, {:.0} % rewarded, mass {:.2}, length ratio {:.2}, gap {:.2}{gold}, {:.0} % cached",
                unlabeled.loss,
                100.0 * unlabeled.rewarded,
                unlabeled.mass,
                unlabeled.length_ratio,
                unlabeled.gap,
                100.0 * unlabeled.cached
            )
        });
        self.bar.set_message(format!("loss {:.3}{unlabeled}", self.loss));
        let is_due = self.last_line.elapsed() >= Duration::from_secs(10) || report.step == steps;
        if !self.is_terminal && is_due {
            self.last_line = Instant::now();
            let left = brief(Duration::from_secs_f64(self.seconds * (steps - report.step) as f64));
            let _ = writeln!(
                io::stderr(),
                "step {}/{steps}  loss {:.3}{unlabeled}  {:.1} ms a step  {left} left",
                report.step,
                self.loss,
                1000.0 * self.seconds
            );
        }
    }

    fn member(&mut self, member: usize, of: usize) {
        self.begin(&format!("member {member} of {of} of the ensemble, on the labels only"));
    }

    fn student(&mut self) {
        self.begin("the parser that learns from the ensemble");
    }

    fn resumed(&mut self, step: usize) {
        let _ = writeln!(io::stderr(), "resuming after step {step}");
    }
}
