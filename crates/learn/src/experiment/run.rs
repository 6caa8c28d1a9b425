//! Training and evaluating in a run folder.

use super::card::card;
use super::data_record::without_data_record;
use super::error::ExperimentError;
use super::load::Experiment;
use super::members::student_config;
use super::observer::Observer;
use super::progress::RecordedProgress;
use super::record::{check_rules, record_evaluation, recorded_config};
use super::recorded_settings::check_settings;
use super::training_loop::{begin_or_restore, take_steps};
use crate::inference::{ConfidenceEstimator, ConfidenceRecord, Reranked};
use crate::teacher::{Ensemble, InSequence, NoisyChannel, Paraphrases, Teacher, unlabeled_questions};
use crate::training::Trainer;
use std::path::Path;
use xpr_parser::Model;
use xpr_run::{Config, Evaluation, Manifest, RunFile, RunFolder};

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
        let _lock = self.writes().then(|| folder.lock()).transpose()?;
        // A folder that has settings holds a run that can be resumed. Resuming needs the record of the data.
        if !resume {
            self.data().write(folder)?;
            self.uses().write(folder)?;
            self.write_settings(folder)?;
        } else {
            if folder.has(RunFile::Grammar) {
                let manifest = Manifest::read(folder)?;
                let recorded = folder.read_checked_json(RunFile::Grammar, manifest.as_ref())?;
                check_rules(folder, &recorded, self.task(), &self.config().data)?;
            }
            // An earlier version may have begun the run.
            if self.check_data(folder, observer)? && !folder.has(RunFile::Questions) {
                self.uses().write(folder)?;
            }
        }
        let observer = &mut RecordedProgress::new(folder, observer);
        let mut taught = None;
        let mut model = match (self.objective(), self.shared_members()) {
            (None, Some(members)) => self.train_shared(members, folder, observer)?,
            (Some(_), _) if self.config().learn.ensemble > 0 => {
                let (model, channel) = self.train_student(folder, resume, observer)?;
                taught = Some(channel);
                model
            }
            _ => {
                let mut teacher = self.own_search()?;
                let teacher = teacher.as_mut().map(|teacher| teacher as &mut dyn Teacher);
                let config = match &teacher {
                    Some(_) => self.config().clone(),
                    None => self.without_idle_steps(self.config().clone()),
                };
                self.train(self.trainer_with(&config), teacher, &config, folder, observer)?
            }
        };
        let config = &self.config().eval;
        let folds = match config.votes || config.penalties {
            true => Some(self.train_folds(observer)?),
            false => None,
        };
        if !self.writes() {
            return self.evaluation_of_first_rank(None);
        }
        let confidence = folds.map(|folds| self.fit_confidence(folds)).transpose()?;
        model.set_penalties(confidence.as_ref().and_then(|record| record.search_penalties(config)));
        let channel = taught.unwrap_or_else(|| self.noisy_channel());
        let evaluation = self.evaluate(folder, &model, channel, confidence.as_ref())?;
        folder.remove(RunFile::Progress)?;
        self.evaluation_of_first_rank(Some(evaluation))
    }

    /// Returns the evaluation of rank 0, for which the others wait.
    fn evaluation_of_first_rank(&self, own: Option<Evaluation>) -> Result<Evaluation, ExperimentError> {
        let Some(ranks) = self.ranks() else { return Ok(own.unwrap_or_default()) };
        let own = own.map(|own| serde_json::to_vec(&own).unwrap_or_default()).unwrap_or_default();
        Ok(ranks
            .gather(&own)
            .first()
            .and_then(|bytes| serde_json::from_slice(bytes).ok())
            .unwrap_or_default())
    }

    /// Trains an ensemble, and a parser that learns from it. Returns the noisy channel too.
    ///
    /// With several rounds, each parser is the ensemble of the next one. Those of earlier rounds are in the folder of the members.
    fn train_student(
        &self,
        folder: &RunFolder,
        resume: bool,
        observer: &mut dyn Observer,
    ) -> Result<(Model, NoisyChannel), ExperimentError> {
        let mut members = self.members(folder, observer)?;
        let mut channel = self.noisy_channel();
        let mut paraphrases = self.paraphrases()?;
        let rounds = self.config().learn.rounds;
        for round in 1..rounds {
            let place = folder.members().join(format!("round-{round}"));
            let place = match self.writes() {
                true => self.round_folder(&place, resume, observer)?,
                false => RunFolder::followed(&place),
            };
            let (model, taught) =
                self.train_round(&members, channel, paraphrases.as_mut(), &place, observer)?;
            (members, channel) = (vec![model], taught);
        }
        let (model, taught) =
            self.train_round(&members, channel.clone(), paraphrases.as_mut(), folder, observer)?;
        // What the last ensemble teaches is known only if there were rounds to learn it in.
        Ok((model, if rounds > 1 { taught } else { channel }))
    }

    /// Returns the folder of the parser of an earlier round, which is trained with the settings and data of the run.
    fn round_folder(
        &self,
        place: &Path,
        resume: bool,
        observer: &mut dyn Observer,
    ) -> Result<RunFolder, ExperimentError> {
        let folder = RunFolder::open_or_create(place)?.locked()?;
        // An earlier version recorded neither settings nor data of a round. Those of the run, which is resumed, were compared.
        let is_of_earlier_version = resume
            && folder.has(RunFile::Grammar)
            && !folder.has(RunFile::Config)
            && !folder.has(RunFile::Data);
        if is_of_earlier_version {
            observer.note(&without_data_record(&folder));
        }
        if !is_of_earlier_version && folder.is_begun()? {
            check_settings(&folder, self.config(), &[])?;
            self.check_data(&folder, observer)?;
        } else {
            self.data().write(&folder)?;
            self.write_settings(&folder)?;
        }
        Ok(folder)
    }

    fn write_settings(&self, folder: &RunFolder) -> Result<(), ExperimentError> {
        let settings = recorded_config(folder, self.config()).to_toml()?;
        Ok(folder.write(RunFile::Config, settings.as_bytes())?)
    }

    /// Checks that a folder was trained on the data of this experiment. Returns whether it says what it was trained on.
    fn check_data(&self, folder: &RunFolder, observer: &mut dyn Observer) -> Result<bool, ExperimentError> {
        let is_known = self.data().check(folder)?;
        if !is_known {
            observer.note(&without_data_record(folder));
        }
        Ok(is_known)
    }

    /// Trains a parser in a folder that learns from an ensemble. Returns also the noisy channel of what it is taught.
    fn train_round(
        &self,
        members: &[Model],
        channel: NoisyChannel,
        paraphrases: Option<&mut Paraphrases>,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<(Model, NoisyChannel), ExperimentError> {
        let learn = &self.config().learn;
        let examples = self.unlabeled_examples();
        let ensemble = self.e_step()?.map(|e_step| {
            Ensemble::new(
                members,
                channel.clone(),
                paraphrases,
                examples,
                e_step,
                (learn, self.ranks().map(|ranks| &**ranks)),
            )
        });
        self.task().check_unchanged()?;
        let taught = match &ensemble {
            Some(ensemble) if learn.rounds > 1 => self.noisy_channel_with(ensemble),
            _ => channel,
        };
        let own_search = self.own_search_after_ensemble()?;
        let mut both = ensemble
            .zip(own_search)
            .map(|(ensemble, own_search)| InSequence::new(ensemble, own_search, learn.steps));
        let teacher = both.as_mut().map(|both| both as &mut dyn Teacher);
        observer.student();
        let config = student_config(self.config());
        let model = self.train(self.trainer_with(&config), teacher, &config, folder, observer)?;
        Ok((model, taught))
    }

    /// Trains in a folder, from its checkpoint if there is one.
    pub(super) fn train(
        &self,
        mut trainer: Trainer,
        teacher: Option<&mut dyn Teacher>,
        config: &Config,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let (grammar, words) = (self.task().grammar_record(), self.task().vocabulary().words());
        begin_or_restore(&mut trainer, (&grammar, words), config.train.steps, folder, observer)?;
        if teacher.is_some() {
            let figures = unlabeled_questions(self.task().language(), self.unlabeled_examples());
            folder.write_json(RunFile::Unlabeled, &figures)?;
        }
        let examples = (self.train_examples(), self.unlabeled_examples());
        take_steps(trainer, teacher, examples, &config.train, folder, observer)
    }

    /// Evaluates a model whose candidates a noisy channel re-ranks, and records how its confidence is estimated, its predictions, its card and, last, the evaluation.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn evaluate(
        &self,
        folder: &RunFolder,
        model: &Model,
        channel: NoisyChannel,
        confidence: Option<&ConfidenceRecord>,
    ) -> Result<Evaluation, ExperimentError> {
        let config = &self.config().eval;
        if config.noisy_channel > 0.0 || confidence.is_some() {
            folder.write_json(RunFile::NoisyChannel, &channel)?;
        }
        if let Some(confidence) = confidence {
            folder.write_json(RunFile::Confidence, confidence)?;
        }
        let estimator = confidence
            .filter(|_| config.votes)
            .map(|record| ConfidenceEstimator::new(self.task(), record, channel.clone()));
        let mut parser = Reranked::new(self.task(), model, Some(channel), config);
        if let Some(record) = confidence {
            parser = parser.with_penalties(record.penalties, config);
        }
        let parser = (&parser, estimator.as_ref());
        record_evaluation(folder, parser, (self.task(), self.test_examples()), config, |evaluation| {
            folder.write(RunFile::Card, card(self, model, evaluation).as_bytes())
        })
    }
}
