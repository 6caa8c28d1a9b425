//! The progress of training: a bar on a terminal, lines elsewhere.

use super::write_notes;
use crate::duration::brief;
use crate::printer;
use crate::stop;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use xpr_learn::experiment::PlannedSteps;
use xpr_learn::task::{ConflictingLabels, FailedLabel};
use xpr_learn::{Experiment, Observer};
use xpr_run::{StepReport, UnlabeledReport};

/// The number of examples listed that are left out, and of those whose program fails.
const MAX_LISTED: usize = 10;
/// The number of questions listed that have labels with different answers. Benchmarks have some that are not mistakes.
const MAX_CONFLICTS: usize = 3;
/// The time between lines if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Shows the progress of an experiment.
pub(super) struct TrainingProgress {
    bar: ProgressBar,
    is_terminal: bool,
    last_line: Instant,
    last_step: Instant,
    /// A running mean, since the loss of one batch is noisy.
    loss: f64,
    /// A running mean, since steps take longer once joint training begins.
    seconds_per_step: f64,
    /// Whether the figures of unlabeled questions are shown.
    verbose: bool,
    plan: PlannedSteps,
    /// The steps of the parsers whose training has not begun.
    steps_to_come: usize,
}

impl TrainingProgress {
    /// Writes what the experiment `name` learns from, and shows a bar.
    pub(super) fn new(experiment: &Experiment, name: &str) -> Self {
        TrainingProgress::with_details(experiment, name, false)
    }

    /// Does the same, and also shows the figures of unlabeled questions if `verbose`.
    pub(super) fn with_details(experiment: &Experiment, name: &str, verbose: bool) -> Self {
        write_experiment(experiment, name);
        let plan = experiment.planned_steps();
        TrainingProgress { verbose, ..TrainingProgress::with_plan(experiment.config().train.steps, plan) }
    }

    /// Shows a bar for the steps of a parser, and knows the steps of those that are trained before it.
    pub(super) fn with_plan(steps: usize, plan: PlannedSteps) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bar = if is_terminal { ProgressBar::new(steps as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} steps  {msg}") {
            bar.set_style(style);
        }
        TrainingProgress {
            bar,
            is_terminal,
            last_line: Instant::now(),
            last_step: Instant::now(),
            loss: f64::NAN,
            seconds_per_step: f64::NAN,
            verbose: false,
            plan,
            steps_to_come: plan.folds * plan.fold,
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Announces the training of another parser, whose steps count from the first.
    fn start_parser(&mut self, what: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(printer::stderr(), "{what}");
        });
        self.bar.reset();
        (self.last_step, self.seconds_per_step, self.loss) = (Instant::now(), f64::NAN, f64::NAN);
    }
}

impl Observer for TrainingProgress {
    fn step(&mut self, report: StepReport, steps: usize) {
        let mean = |before: f64, now: f64| if before.is_nan() { now } else { 0.95 * before + 0.05 * now };
        self.loss = mean(self.loss, report.loss);
        self.seconds_per_step = mean(self.seconds_per_step, self.last_step.elapsed().as_secs_f64());
        self.last_step = Instant::now();
        self.bar.set_length(steps as u64);
        self.bar.set_position(report.step as u64);
        let unlabeled =
            report.unlabeled.as_ref().filter(|_| self.verbose).map_or_else(String::new, unlabeled_text);
        let steps_left = steps - report.step;
        let time = |steps: usize| brief(Duration::from_secs_f64(self.seconds_per_step * steps as f64));
        let left = match self.steps_to_come {
            0 => format!("{} left", time(steps_left)),
            to_come => {
                format!("{} left, {} with the other parsers", time(steps_left), time(steps_left + to_come))
            }
        };
        self.bar.set_message(format!("loss {:.3}{unlabeled}  {left}", self.loss));
        let is_due = self.last_line.elapsed() >= LINE_INTERVAL || report.step == steps;
        if !self.is_terminal && is_due {
            self.last_line = Instant::now();
            let _ = writeln!(
                printer::stderr(),
                "step {}/{steps}  loss {:.3}{unlabeled}  {:.1} ms per step  {left}",
                report.step,
                self.loss,
                1000.0 * self.seconds_per_step
            );
        }
    }

    fn member(&mut self, member: usize, of: usize) {
        let PlannedSteps { member: steps, student, fold, folds } = self.plan;
        self.steps_to_come = (of - member) * steps + student + folds * fold;
        self.start_parser(&format!("member {member} of {of} of the ensemble, on the labels only"));
    }

    fn fold(&mut self, fold: usize, of: usize) {
        self.steps_to_come = (of - fold) * self.plan.fold;
        self.start_parser(&format!("fold {fold} of {of}, to calibrate the confidence of answers"));
    }

    fn note(&mut self, message: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(printer::stderr(), "note: {message}");
        });
    }

    fn student(&mut self) {
        self.steps_to_come = self.plan.folds * self.plan.fold;
        self.start_parser("the parser that learns from the ensemble");
    }

    fn should_stop(&self) -> bool {
        stop::is_requested()
    }

    fn resumed(&mut self, step: usize) {
        let _ = writeln!(printer::stderr(), "resuming after step {step}");
    }
}

/// Writes the number of examples, the objective, and the examples that are left out.
fn write_experiment(experiment: &Experiment, name: &str) {
    let mut lines = vec![format!(
        "{name}: {} labeled, {} unlabeled and {} test questions",
        experiment.train_examples().len(),
        experiment.unlabeled_examples().len(),
        experiment.test_examples().len()
    )];
    if let Some(objective) = experiment.objective() {
        let reward = experiment.policy().reward().name();
        let teacher = match experiment.config().learn.ensemble {
            0 => String::new(),
            members => format!(", ensemble of {members}"),
        };
        lines.push(format!("objective {}, reward {reward}{teacher}", objective.name()));
    }
    let left_out = experiment.left_out();
    lines.extend(left_out.iter().take(MAX_LISTED).map(|example| format!("left out: {example}")));
    if left_out.len() > MAX_LISTED {
        let more = left_out.len() - MAX_LISTED;
        lines.push(format!("left out: {more} more; `xpr data check` lists them with reasons"));
    }
    let _ = writeln!(printer::stderr(), "{}", lines.join("\n"));
    write_failed_labels(&experiment.failed_labels().collect::<Vec<_>>());
    write_notes(experiment.task().world().notes().iter().cloned());
    write_conflicting_labels(&experiment.conflicting_labels());
}

/// Writes the training questions that have labels with different answers.
fn write_conflicting_labels(conflicts: &[ConflictingLabels]) {
    for conflict in conflicts.iter().take(MAX_CONFLICTS) {
        let _ = writeln!(printer::stderr(), "different labels: {conflict}");
    }
    if conflicts.len() > MAX_CONFLICTS {
        let more = conflicts.len() - MAX_CONFLICTS;
        let _ = writeln!(printer::stderr(), "different labels: {more} more questions have them");
    }
}

/// Writes the labeled programs that fail.
pub(super) fn write_failed_labels(failed: &[FailedLabel]) {
    for label in failed.iter().take(MAX_LISTED) {
        let _ = writeln!(printer::stderr(), "the labeled query fails: {label}");
    }
    if failed.len() > MAX_LISTED {
        let more = failed.len() - MAX_LISTED;
        let _ =
            writeln!(printer::stderr(), "the labeled query fails: {more} more; `xpr data check` lists them");
    }
}

/// Returns what a step reports about unlabeled questions.
fn unlabeled_text(unlabeled: &UnlabeledReport) -> String {
    let gold = unlabeled.gold.map_or_else(String::new, |gold| {
        format!(", {:.0} % covered, gold rank {:.1}", 100.0 * gold.coverage, gold.gold_rank)
    });
    let cached =
        unlabeled.cached.map_or_else(String::new, |cached| format!(", {:.0} % cached", 100.0 * cached));
    format!(
        "  unlabeled {:.3}, {:.0} % rewarded, mass {:.2}, length ratio {:.2}, gap {:.2}{gold}{cached}",
        unlabeled.loss,
        100.0 * unlabeled.rewarded,
        unlabeled.mass,
        unlabeled.length_ratio,
        unlabeled.gap
    )
}
