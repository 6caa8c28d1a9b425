//! Training and evaluating in a run folder.

use super::card::card;
use super::error::ExperimentError;
use super::load::Experiment;
use super::members::student_config;
use super::observer::Observer;
use super::progress::RecordedProgress;
use super::record::{check_rules, metrics_until, record_evaluation, recorded_config};
use crate::inference::Reranked;
use crate::teacher::{Ensemble, Teacher, unlabeled_questions};
use crate::training::{Trainer, checkpoint};
use xpr_parser::{Model, TrainableParser};
use xpr_run::{Config, Evaluation, RunFile, RunFolder, StepReport};

/// The number of steps for which a line of metrics is recorded.
const STEPS_PER_LINE: usize = 10;

impl Experiment {
    /// Trains in a folder, from its last checkpoint if `resume`, and evaluates.
    ///
    /// # Errors
    /// If a file cannot be written, or a checkpoint is not this experiment's.
    pub fn run(
        &self,
        folder: &RunFolder,
        resume: bool,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, ExperimentError> {
        let _lock = folder.lock()?;
        // The settings are written first: a folder that has them holds a run that can be resumed.
        if !resume {
            folder.write(RunFile::Config, recorded_config(folder, self.config()).to_toml()?.as_bytes())?;
        } else if folder.has(RunFile::Grammar) {
            let recorded = folder.read_json(RunFile::Grammar)?;
            check_rules(folder, &recorded, self.task(), &self.config().data)?;
        }
        let observer = &mut RecordedProgress::new(folder, observer);
        let model = match (self.objective(), self.shared_members()) {
            (None, Some(members)) => self.train_shared(members, folder, observer)?,
            (Some(_), _) if self.config().learn.ensemble > 0 => self.train_student(folder, observer)?,
            _ => {
                let mut teacher = self.own_search()?;
                let teacher = teacher.as_mut().map(|teacher| teacher as &mut dyn Teacher);
                self.train(self.trainer(), teacher, self.config(), folder, observer)?
            }
        };
        let evaluation = self.evaluate(folder, &model)?;
        folder.remove(RunFile::Progress)?;
        Ok(evaluation)
    }

    /// Trains an ensemble, and a parser that learns from it.
    fn train_student(
        &self,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let members = self.members(folder, observer)?;
        let mut ensemble = self.e_step()?.map(|e_step| {
            let channel = self.noisy_channel();
            Ensemble::new(&members, channel, self.unlabeled_examples(), e_step, &self.config().learn)
        });
        let teacher = ensemble.as_mut().map(|ensemble| ensemble as &mut dyn Teacher);
        observer.student();
        let config = student_config(self.config());
        self.train(self.trainer_with(&config), teacher, &config, folder, observer)
    }

    /// Trains in a folder, from its checkpoint if there is one.
    pub(super) fn train(
        &self,
        mut trainer: Trainer,
        mut teacher: Option<&mut dyn Teacher>,
        config: &Config,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let mut metrics: Vec<StepReport> = Vec::new();
        if folder.has(RunFile::Checkpoint) {
            trainer.restore(&folder.read(RunFile::Checkpoint)?).map_err(|source| {
                ExperimentError::Checkpoint { path: folder.path(RunFile::Checkpoint), source }
            })?;
            metrics = metrics_until(folder, trainer.steps_taken())?;
            observer.resumed(trainer.steps_taken());
        } else {
            folder.write_json(RunFile::Grammar, &self.task().grammar_record())?;
            folder.write_json(RunFile::Vocabulary, &self.task().vocabulary().words())?;
        }
        if teacher.is_some() {
            let figures = unlabeled_questions(self.task().language(), self.unlabeled_examples());
            folder.write_json(RunFile::Unlabeled, &figures)?;
        }
        let steps = config.train.steps;
        while trainer.steps_taken() < steps {
            // Reborrowed for each step.
            let teacher = teacher.as_mut().map(|teacher| &mut **teacher as &mut dyn Teacher);
            let (report, _) = trainer.step(self.train_examples(), self.unlabeled_examples(), teacher);
            let is_last = report.step == steps;
            if report.step.is_multiple_of(STEPS_PER_LINE) || is_last {
                metrics.push(report);
            }
            observer.step(report, steps);
            if report.step.is_multiple_of(config.train.checkpoint) || is_last {
                folder.write_json_lines(RunFile::Metrics, &metrics)?;
                folder.write(RunFile::Checkpoint, &trainer.checkpoint())?;
            }
        }
        let model = trainer.into_parser();
        folder.write(RunFile::Model, &checkpoint::write_model(model.parameters()))?;
        Ok(model)
    }

    /// Evaluates a model, and records its predictions, its card and, last, the evaluation.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn evaluate(&self, folder: &RunFolder, model: &Model) -> Result<Evaluation, ExperimentError> {
        let config = &self.config().eval;
        let channel = self.noisy_channel();
        if config.noisy_channel > 0.0 {
            folder.write_json(RunFile::NoisyChannel, &channel)?;
        }
        let parser = Reranked::new(self.task(), model, Some(channel), config);
        record_evaluation(folder, &parser, (self.task(), self.test_examples()), config, |evaluation| {
            folder.write(RunFile::Card, card(self, model, evaluation).as_bytes())
        })
    }
}
