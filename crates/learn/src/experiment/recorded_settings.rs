//! Whether a run has the settings that are asked for.
//!
//! Experiments are edited while runs exist. A run that was trained with other settings has the name of what is asked for, and the figures of something
//! else.

use super::error::ExperimentError;
use super::load::Experiment;
use std::path::{Path, PathBuf};
use xpr_run::{AskedQuestion, Config, DifferingSetting, Reward, RunFile, RunFolder};

/// Checks that a run, whether finished or only begun, is trained with these settings. `asked` are the questions of people that it learns from.
/// Data that have other content are another matter ([`DataComparison`](super::DataComparison)), and it is no difference that a folder was moved.
///
/// # Errors
/// If the run has other settings, or its settings cannot be read.
pub fn check_settings(
    run: &RunFolder,
    config: &Config,
    asked: &[AskedQuestion],
) -> Result<(), ExperimentError> {
    let folder = || run.folder().to_owned();
    let in_folder = |source| ExperimentError::RecordedSettings { folder: folder(), source };
    let recorded = Config::read(Some(&run.path(RunFile::Config)), &[]).map_err(in_folder)?.config;
    let differing = recorded_as(config, &recorded, asked).differences(&recorded).map_err(in_folder)?;
    let is_decided = |setting: &DifferingSetting| {
        DECIDED.contains(&setting.key.as_str()) && matches!(setting.right.as_str(), "0" | "0.0")
    };
    if differing.is_empty() || differing.iter().all(is_decided) && decides(config, &recorded, asked) {
        return Ok(());
    }
    Err(ExperimentError::OtherSettings { folder: folder(), differing })
}

/// Settings that an experiment sets to 0 if it finds no label that it can learn from.
const DECIDED: [&str; 3] = ["train.steps", "eval.noisy_channel", "learn.noisy_channel"];

/// Returns the settings as a run has them that recorded `recorded`, as far as that is known without reading labels.
fn recorded_as(config: &Config, recorded: &Config, asked: &[AskedQuestion]) -> Config {
    let mut config = config.clone();
    if config.eval.prefer == Reward::Auto {
        config.eval.prefer = recorded.eval.prefer;
    }
    if config.base.is_given() {
        // A base has its own word vectors.
        config.data.embeddings.clone_from(&recorded.data.embeddings);
    }
    let is_untaught = config.data.label_count == Some(0) && asked.is_empty();
    let teaches_itself = config.learn.objective.is_some() && config.learn.ensemble == 0;
    if config.base.is_given() && is_untaught && !teaches_itself && recorded.train.steps == 0 {
        config.train.steps = 0;
    }
    keep_if_moved(&mut config.base.folder, &recorded.base.folder);
    keep_if_moved(&mut config.learn.encoder, &recorded.learn.encoder);
    config
}

/// Sets a folder to the recorded one, if that has the same name at another place.
fn keep_if_moved(folder: &mut PathBuf, recorded: &Path) {
    if folder.is_absolute() && recorded.is_absolute() && folder.file_name() == recorded.file_name() {
        recorded.clone_into(folder);
    }
}

/// Returns whether an experiment changes its settings to the recorded ones when it has read its labels.
fn decides(config: &Config, recorded: &Config, asked: &[AskedQuestion]) -> bool {
    let load = Experiment::load_asked(config.clone(), asked, &[], &mut |_, _, _| {});
    load.is_ok_and(|experiment| {
        let differing = recorded_as(experiment.config(), recorded, asked).differences(recorded);
        differing.is_ok_and(|differing| differing.is_empty())
    })
}
