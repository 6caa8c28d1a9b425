//! A finished run, opened to ask it questions.

use super::error::ExperimentError;
use super::question_uses::RunDivision;
use super::record::{check_rules, record_evaluation};
use crate::inference::{
    AnswerChooser, ConfidenceEstimator, ConfidenceRecord, Reranked, evaluate, evaluate_with_confidence,
};
use crate::task::dataset::{Examples, reopen_world};
use crate::task::division::Division;
use crate::task::{FailedLabel, GrammarRecord, LoadingWatch, Task, TaskError, TestExample};
use crate::teacher::NoisyChannel;
use crate::training::checkpoint;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use xpr_data::{Example, labeled};
use xpr_nn::{Matrix, Random};
use xpr_parser::{Model, TrainableParser, Vocabulary};
use xpr_run::{Config, Evaluation, Manifest, ParserList, RunError, RunFile, RunFolder};

/// A finished run, and the current one of its parsers. Opening it needs its folder and the data only; the words and constants are those it was trained with, whatever
/// was added to the files since.
#[derive(Debug)]
pub struct TrainedRun {
    /// The run, whose current parser this is.
    pub run: PathBuf,
    /// The number of the parser among those of the run.
    pub number: usize,
    /// The folder of the parser.
    pub folder: RunFolder,
    /// The settings.
    pub config: Config,
    /// The task.
    pub task: Task,
    /// The model.
    pub model: Model,
    /// What is unusual about the files, but no error.
    pub notes: Vec<String>,
    pub(super) channel: Option<NoisyChannel>,
    pub(super) confidence: Option<ConfidenceRecord>,
}

impl TrainedRun {
    /// Opens the current parser of a finished run.
    ///
    /// # Errors
    /// If it holds no finished run, or its files do not fit together.
    pub fn open(folder: &Path) -> Result<Self, ExperimentError> {
        TrainedRun::open_with(folder, &[], &mut |_, _, _| {})
    }

    /// Opens the current parser of a finished run with other settings of `eval`, such as `eval.votes=false`. Reading a large database takes
    /// a while, of which `watch` is told.
    ///
    /// # Errors
    /// As [`TrainedRun::open`], and if a setting is not one of `eval`: the others are those of training.
    pub fn open_with(
        folder: &Path,
        settings: &[String],
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, ExperimentError> {
        if let Some(setting) = settings.iter().find(|setting| !setting.trim_start().starts_with("eval.")) {
            return Err(ExperimentError::TrainedSetting(setting.clone()));
        }
        TrainedRun::open_parser(folder, ParserList::read(folder)?.current, settings, watch)
    }

    /// Opens a parser of a finished run by its number, whether it is the current one or not.
    ///
    /// # Errors
    /// As [`TrainedRun::open`].
    pub fn open_number(folder: &Path, number: usize) -> Result<Self, ExperimentError> {
        TrainedRun::open_parser(folder, number, &[], &mut |_, _, _| {})
    }

    fn open_parser(
        folder: &Path,
        number: usize,
        settings: &[String],
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, ExperimentError> {
        let run = RunFolder::open(&ParserList::folder(folder, number))?;
        if run.has(RunFile::Databases) {
            let message = "this is a base, and not the parser of a database; make one with xpr train --from, or evaluate the \
                           base with xpr eval --databases";
            return Err(run.content_error(RunFile::Config, message).into());
        }
        let config = Config::read(Some(&run.path(RunFile::Config)), settings)?.config;
        let manifest = Manifest::read(&run)?;
        let manifest = manifest.as_ref();
        let grammar: GrammarRecord = run.read_checked_json(RunFile::Grammar, manifest)?;
        let words: Vec<String> = run.read_checked_json(RunFile::Vocabulary, manifest)?;
        let world = reopen_world(&config, &grammar, watch)?;
        let task = match config.has_open_vocabulary() {
            true => Task::with_vocabulary(world, Vocabulary::open(words.iter().cloned()))?,
            false => Task::new(world, words.iter().cloned())?,
        };
        check_rules(&run, &grammar, &task, &config.data)?;
        if task.grammar_record() != grammar {
            let message = "its rules or items are not those this version makes of this world; train again";
            return Err(run.content_error(RunFile::Grammar, message).into());
        }
        if task.vocabulary().words() != words {
            let message = "its words are not those the model was made with; train again, or restore the file";
            return Err(run.content_error(RunFile::Vocabulary, message).into());
        }
        if !run.has(RunFile::Model) {
            let message =
                "there are no weights: training was not finished; resume it with xpr train --resume";
            return Err(run.content_error(RunFile::Model, message).into());
        }
        let content = run.read_checked(RunFile::Model, manifest)?;
        let word_size = checkpoint::columns(&content, "encoder.words").unwrap_or(config.model.word);
        let words = Matrix::zeros(task.vocabulary().words().len(), word_size);
        let mut model = Model::new(config.model.clone(), task.scene().clone(), words, Random::new(0));
        checkpoint::read_model(&content, model.parameters_mut())
            .map_err(|source| ExperimentError::Checkpoint { path: run.path(RunFile::Model), source })?;
        let channel = run.read_optional_json(RunFile::NoisyChannel, manifest)?;
        let confidence: Option<ConfidenceRecord> = run.read_optional_json(RunFile::Confidence, manifest)?;
        model.set_penalties(confidence.as_ref().and_then(|record| record.search_penalties(&config.eval)));
        let mut notes = notes(&run, manifest, &config, channel.is_some())?;
        notes.extend_from_slice(task.world().notes());
        let (folder, run) = (run, folder.to_owned());
        Ok(TrainedRun { run, number, folder, config, task, model, notes, channel, confidence })
    }

    /// Returns the parser: the model and, if the run has one, its noisy channel.
    pub fn parser(&self) -> Reranked<'_> {
        let parser = Reranked::new(&self.task, &self.model, self.channel.clone(), &self.config.eval);
        match &self.confidence {
            Some(record) => parser.with_penalties(record.penalties, &self.config.eval),
            None => parser,
        }
    }

    /// Returns the chooser of answers, as the settings say.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn chooser(&self) -> Result<AnswerChooser<'_>, TaskError> {
        AnswerChooser::from_config(&self.task, &self.config.eval)
    }

    /// Returns what the run recorded to estimate confidence, if it counts votes or penalises candidates.
    pub fn confidence(&self) -> Option<&ConfidenceRecord> {
        self.confidence.as_ref()
    }

    /// Returns the estimator of the confidence of answers, if the run counts votes.
    pub fn estimator(&self) -> Option<ConfidenceEstimator<'_>> {
        let record = self.confidence.as_ref().filter(|_| self.config.eval.votes)?;
        Some(ConfidenceEstimator::new(&self.task, record, self.channel.clone().unwrap_or_default()))
    }

    /// Evaluates on examples without recording anything.
    fn evaluate_examples(&self, test: &[TestExample]) -> Result<Evaluation, TaskError> {
        let TrainedRun { config, task, .. } = self;
        let (evaluation, _) = match self.estimator() {
            Some(estimator) => {
                evaluate_with_confidence(&self.parser(), &estimator, task, test, &config.eval)?
            }
            None => evaluate(&self.parser(), task, test, &config.eval)?,
        };
        Ok(evaluation)
    }

    /// Evaluates the run on the labeled questions of a file, and records nothing.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn evaluate_on(&self, file: &Path) -> Result<RunEvaluation, ExperimentError> {
        let TrainedRun { config, task, .. } = self;
        let pairs = labeled::read_for_database(file, config.data.short_name())?.into_iter();
        let examples: Vec<Example> =
            pairs.map(|pair| Example { utterance: pair.utterance, program: pair.program }).collect();
        let test = task.test(&examples, &|| {})?;
        Ok(RunEvaluation::new(self.evaluate_examples(&test)?, &test, vec![]))
    }

    /// Evaluates the run on its test examples, and records nothing.
    ///
    /// # Errors
    /// If the examples cannot be read.
    pub fn evaluate_unrecorded(&self) -> Result<RunEvaluation, ExperimentError> {
        let RunDivision { division, notes, .. } = self.division()?;
        let test = self.task.test(&division.evaluated, &|| {})?;
        Ok(RunEvaluation::new(self.evaluate_examples(&test)?, &test, notes))
    }

    /// Returns the questions of the project that have a program: by their use.
    ///
    /// # Errors
    /// If the examples cannot be read.
    pub fn labeled_questions(&self) -> Result<LabeledQuestions, ExperimentError> {
        let RunDivision { division, notes, .. } = self.division()?;
        let Division { labeled, unlabeled, evaluated } = division;
        Ok(LabeledQuestions { trained_on: labeled, hidden: unlabeled, evaluated_on: evaluated, notes })
    }

    /// Returns the examples by their use when the parser was trained, however the files changed since.
    fn division(&self) -> Result<RunDivision, ExperimentError> {
        RunDivision::new(&self.folder, &self.config, Examples::read(&self.config.data)?)
    }

    /// Returns whether the parser answers each of some questions right; nothing for one whose labeled program fails.
    ///
    /// # Errors
    /// If the data cannot be opened, or a question is too long.
    pub fn right_answers(&self, examples: &[Example]) -> Result<Vec<Option<bool>>, TaskError> {
        let test = self.task.test(examples, &|| {})?;
        let (_, predictions) = evaluate(&self.parser(), &self.task, &test, &self.config.eval)?;
        let mut right = predictions.iter().map(|prediction| prediction.correct);
        Ok(test.iter().map(|example| example.outcome.executes().then(|| right.next()).flatten()).collect())
    }

    /// Evaluates the run on its test examples, and records predictions and evaluation. If the parser may have learned some of them, or its
    /// folder cannot be written to or is in use by another process, nothing is recorded.
    ///
    /// # Errors
    /// If the examples cannot be read, or a file cannot be written.
    pub fn evaluate(&self) -> Result<RunEvaluation, ExperimentError> {
        let TrainedRun { folder, config, task, .. } = self;
        // Two evaluations at a time would record the predictions of one and the figures of the other.
        let lock = match folder.lock() {
            Err(RunError::File { source, .. }) if is_read_only(&source) => Err("cannot be written to"),
            Err(RunError::InUse(_)) => Err("is in use by another process"),
            lock => Ok(lock?),
        };
        let RunDivision { division, is_known, mut notes, .. } = self.division()?;
        let test = task.test(&division.evaluated, &|| {})?;
        if let Err(reason) = &lock {
            notes.push(format!("{} {reason}", folder.folder().display()));
        }
        if !is_known || lock.is_err() {
            notes.push("this evaluation is not recorded in the run".to_owned());
            return Ok(RunEvaluation::new(self.evaluate_examples(&test)?, &test, notes));
        }
        let (parser, estimator) = (self.parser(), self.estimator());
        let parser = (&parser, estimator.as_ref());
        let evaluation = record_evaluation(folder, parser, (task, &test), &config.eval, |_| Ok(()))?;
        Ok(RunEvaluation::new(evaluation, &test, notes))
    }
}

/// Returns whether an error says that a folder may be read but not written to.
fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// How often a run is right.
#[derive(Clone, Debug)]
pub struct RunEvaluation {
    /// The figures.
    pub evaluation: Evaluation,
    /// The labeled programs that fail.
    pub failed: Vec<FailedLabel>,
    /// What is unusual about the test questions, but no error.
    pub notes: Vec<String>,
}

impl RunEvaluation {
    fn new(evaluation: Evaluation, test: &[TestExample], notes: Vec<String>) -> Self {
        RunEvaluation { evaluation, failed: test.iter().filter_map(TestExample::failure).collect(), notes }
    }
}

/// The questions of a project that have a program.
#[derive(Clone, Debug)]
pub struct LabeledQuestions {
    /// Those that a parser of the run is trained on.
    pub trained_on: Vec<Example>,
    /// Those whose program is hidden from it.
    pub hidden: Vec<Example>,
    /// Those that it is evaluated on.
    pub evaluated_on: Vec<Example>,
    /// What is unusual about them, but no error.
    pub notes: Vec<String>,
}

/// Returns what is unusual about the files of a run.
fn notes(
    run: &RunFolder,
    manifest: Option<&Manifest>,
    config: &Config,
    has_channel: bool,
) -> Result<Vec<String>, RunError> {
    let name = run.folder().display();
    let mut notes = Vec::new();
    match manifest {
        None => notes.push(format!(
            "{name} has no {}, because an earlier version of xpr trained it or it is not finished; damage to its files \
             is not noticed",
            RunFile::Manifest.name()
        )),
        // People may change settings, such as where the data are.
        Some(manifest) if !manifest.matches(RunFile::Config, &run.read(RunFile::Config)?) => {
            notes.push(format!("{} was changed after training", run.path(RunFile::Config).display()));
        }
        Some(_) => {}
    }
    if run.is_finished() && config.eval.noisy_channel > 0.0 && !has_channel {
        notes.push(format!("{name} has no noisy channel, so candidates are not re-ranked"));
    }
    Ok(notes)
}
