//! The steps of training, with checkpoints and metrics in a folder.

use super::error::ExperimentError;
use super::observer::Observer;
use super::record::metrics_until;
use crate::task::GrammarRecord;
use crate::task::{LabeledExample, UnlabeledExample};
use crate::teacher::Teacher;
use crate::training::Trainer;
use crate::training::checkpoint::write_model;
use xpr_parser::{Model, TrainableParser};
use xpr_run::{Manifest, RunFile, RunFolder, StepReport, TrainConfig};

/// The number of steps for which a line of metrics is recorded.
const STEPS_PER_LINE: usize = 10;

/// Restores the checkpoint of a folder, whose parser must have these rules, items and words, and takes `steps` steps. If there is none, records
/// them. Returns whether there is one.
pub(super) fn begin_or_restore(
    trainer: &mut Trainer,
    (grammar, words): (&GrammarRecord, &[String]),
    steps: usize,
    folder: &RunFolder,
    observer: &mut dyn Observer,
) -> Result<bool, ExperimentError> {
    let manifest = Manifest::read(folder)?;
    let manifest = manifest.as_ref();
    let Some(content) = folder.read_optional(RunFile::Checkpoint, manifest)? else {
        // Beginning anew would replace the parser by another one, such as one that was taught, unless it is one that takes no steps.
        if folder.is_finished() && !(steps == 0 && is_recorded(trainer, folder, manifest)?) {
            let message = "there is no checkpoint to go on from, and the run is finished; `xpr eval` evaluates it again";
            return Err(folder.content_error(RunFile::Checkpoint, message).into());
        }
        folder.write_json(RunFile::Grammar, grammar)?;
        folder.write_json(RunFile::Vocabulary, &words)?;
        return Ok(false);
    };
    trainer
        .restore(&content)
        .map_err(|source| ExperimentError::Checkpoint { path: folder.path(RunFile::Checkpoint), source })?;
    let recorded: GrammarRecord = folder.read_checked_json(RunFile::Grammar, manifest)?;
    let recorded_words: Vec<String> = folder.read_checked_json(RunFile::Vocabulary, manifest)?;
    for (file, is_same) in
        [(RunFile::Grammar, recorded == *grammar), (RunFile::Vocabulary, recorded_words == words)]
    {
        if !is_same {
            let message = "this is not what the training in this folder wrote; restore it, or train again";
            return Err(folder.content_error(file, message).into());
        }
    }
    observer.resumed(trainer.steps_taken());
    Ok(true)
}

/// Returns whether the parser of a folder has the weights of a trainer.
fn is_recorded(
    trainer: &Trainer,
    folder: &RunFolder,
    manifest: Option<&Manifest>,
) -> Result<bool, ExperimentError> {
    Ok(folder.read_checked(RunFile::Model, manifest)? == write_model(trainer.parser().parameters()))
}

/// Takes the remaining steps, and records the trained model.
pub(super) fn take_steps(
    mut trainer: Trainer,
    mut teacher: Option<&mut dyn Teacher>,
    (labeled, unlabeled): (&[LabeledExample], &[UnlabeledExample]),
    config: &TrainConfig,
    folder: &RunFolder,
    observer: &mut dyn Observer,
) -> Result<Model, ExperimentError> {
    let mut checkpoint = trainer.steps_taken();
    let mut metrics: Vec<StepReport> =
        if checkpoint > 0 { metrics_until(folder, checkpoint)? } else { vec![] };
    let steps = config.steps;
    if checkpoint > steps {
        // The parser would seem to be finished, and have taken more steps than its settings say.
        let message = format!(
            "it is of step {checkpoint}, and the settings ask for {steps} steps only; restore {}, or remove the folder to train again",
            RunFile::Config.name()
        );
        return Err(folder.content_error(RunFile::Checkpoint, message).into());
    }
    while trainer.steps_taken() < steps {
        // Reborrowed for each step.
        let reborrowed = teacher.as_mut().map(|teacher| &mut **teacher as &mut dyn Teacher);
        let (report, _) = trainer.step(labeled, unlabeled, reborrowed);
        // Nothing that was learned without the data gets into a checkpoint.
        teacher.as_ref().map_or(Ok(()), |teacher| teacher.check_data())?;
        let is_last = report.step == steps;
        let diverged = |what| ExperimentError::Diverged { what, step: report.step, checkpoint };
        if !report.loss.is_finite() {
            return Err(diverged("the loss"));
        }
        if report.step.is_multiple_of(STEPS_PER_LINE) || is_last {
            metrics.push(report);
        }
        observer.step(report, steps);
        let is_stopped = trainer.is_on_any_rank(observer.should_stop());
        if report.step.is_multiple_of(config.checkpoint) || is_last || is_stopped {
            if !trainer.has_finite_weights() {
                return Err(diverged("a weight"));
            }
            checkpoint = report.step;
            folder.write_json_lines(RunFile::Metrics, &metrics)?;
            folder.write(RunFile::Checkpoint, &trainer.checkpoint())?;
        }
        if is_stopped && !is_last {
            return Err(ExperimentError::Stopped { step: report.step });
        }
    }
    let model = trainer.into_parser();
    folder.write(RunFile::Model, &write_model(model.parameters()))?;
    Ok(model)
}
