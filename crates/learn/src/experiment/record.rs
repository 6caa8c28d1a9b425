//! What a run folder records of an experiment.

use super::error::ExperimentError;
use crate::inference::{ConfidenceEstimator, Reranked, evaluate, evaluate_with_confidence};
use crate::task::{GrammarRecord, Task, TestExample};
use std::fs;
use std::path::Path;
use xpr_data::relative_path;
use xpr_run::{
    Config, DataConfig, Dataset, EvalConfig, Evaluation, Manifest, RunError, RunFile, RunFolder, StepReport,
};

/// Evaluates a parser and records its predictions, then whatever `record_more` does, and last the evaluation.
pub(super) fn record_evaluation(
    folder: &RunFolder,
    (parser, estimator): (&Reranked<'_>, Option<&ConfidenceEstimator<'_>>),
    (task, test): (&Task, &[TestExample]),
    config: &EvalConfig,
    record_more: impl FnOnce(&Evaluation) -> Result<(), RunError>,
) -> Result<Evaluation, ExperimentError> {
    let (evaluation, predictions) = match estimator {
        Some(estimator) => evaluate_with_confidence(parser, estimator, task, test, config)?,
        None => evaluate(parser, task, test, config)?,
    };
    task.check_unchanged()?;
    folder.write_json_lines(RunFile::Predictions, &predictions)?;
    record_more(&evaluation)?;
    folder.finish(&evaluation)?;
    Ok(evaluation)
}

/// Checks that the rules a folder records are those of the task that the settings make.
pub(super) fn check_rules(
    folder: &RunFolder,
    recorded: &GrammarRecord,
    task: &Task,
    data: &DataConfig,
) -> Result<(), RunError> {
    if data.dataset == Dataset::Database || task.grammar_record().has_rules_of(recorded) {
        return Ok(());
    }
    let message = format!(
        "its rules are not those of data.grammar = \"{}\"; restore the setting the run was made with, or train again",
        data.grammar.name()
    );
    Err(folder.content_error(RunFile::Grammar, message))
}

/// Returns the settings as the folder records them. If the folder is inside a project, the path to the project is relative, so that both
/// can be moved together.
pub(super) fn recorded_config(folder: &RunFolder, config: &Config) -> Config {
    let mut config = config.clone();
    let absolute = |path: &Path| fs::canonicalize(path).ok();
    if config.data.dataset == Dataset::Database
        && let (Some(run), Some(project)) = (absolute(folder.folder()), absolute(&config.data.folder))
        && run.starts_with(&project)
    {
        config.data.folder = relative_path(&run, &project);
    }
    config
}

/// Reads the metrics up to a step. Those that a killed run recorded after its checkpoint are dropped and recorded again.
pub(super) fn metrics_until(folder: &RunFolder, step: usize) -> Result<Vec<StepReport>, RunError> {
    let manifest = Manifest::read(folder)?;
    let Some(content) = folder.read_optional(RunFile::Metrics, manifest.as_ref())? else { return Ok(vec![]) };
    let mut reports = Vec::new();
    for (index, line) in String::from_utf8_lossy(&content).lines().enumerate() {
        let report: StepReport = serde_json::from_str(line).map_err(|error| {
            let advice = "remove the file to resume without the metrics so far";
            folder.content_error(RunFile::Metrics, format!("line {}: {error}; {advice}", index + 1))
        })?;
        reports.push(report);
    }
    reports.retain(|report| report.step <= step);
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_after_the_checkpoint_are_dropped_and_damaged_ones_reported() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        assert!(metrics_until(&run, 5).unwrap().is_empty());
        // A number whose last digit is lost unless it is read exactly.
        let report = |step: usize| StepReport {
            step,
            loss: 1.953_249_908_983_707_4,
            rate: 1e-3,
            gradient: 0.0,
            unlabeled: None,
        };
        run.write_json_lines(RunFile::Metrics, &[report(4), report(6)]).unwrap();
        assert_eq!(metrics_until(&run, 5).unwrap(), [report(4)]);
        run.write(RunFile::Metrics, b"{}\n").unwrap();
        let error = metrics_until(&run, 5).unwrap_err().to_string();
        assert!(error.contains("metrics.jsonl: line 1: ") && error.contains("remove the file"), "{error}");
    }
}
