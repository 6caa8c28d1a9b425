//! Evaluating a parser on databases that it was not trained on.

use super::base::Base;
use super::error::ExperimentError;
use crate::inference::{
    AnswerFeatures, ConfidenceEstimator, ConfidenceModel, ConfidenceRecord, Reranked, Scope, answer_features,
    evaluate, evaluate_with_confidence, fit_penalties, judged_candidates,
};
use crate::task::databases::LabeledDatabase;
use crate::task::{Task, TestExample};
use crate::teacher::NoisyChannel;
use serde::{Deserialize, Serialize};
use std::path::Path;
use xpr_parser::{Model, Vocabulary};
use xpr_run::{ConfidenceFigures, EvalConfig, Evaluation, Prediction, PretrainConfig};

/// A database that a parser was trained or evaluated on, and an entry of `databases.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatabaseRecord {
    /// The name of the database.
    pub name: String,
    /// The number of its questions with programs.
    pub questions: usize,
    /// The number of questions whose programs cannot be written: the grammar lacks something, or a value is not found in the
    /// question. They are not learned from, and count as wrong.
    pub left_out: usize,
    /// The evaluation on its questions, if nothing was learned from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// How often a parser is right on databases that it was not trained on.
#[derive(Clone, Debug, Default)]
pub struct ZeroShotEvaluation {
    /// The evaluation of each database.
    pub databases: Vec<DatabaseRecord>,
    /// The answers to the questions of all databases.
    pub predictions: Vec<Prediction>,
    /// The confidence below which an answer is not sure.
    threshold: f64,
}

/// A database whose questions are asked without labels, and compared with them.
struct Stranger<'d> {
    database: &'d LabeledDatabase,
    task: Task,
    test: Vec<TestExample>,
    /// The noisy channel of the base, if it has one.
    channel: Option<&'d NoisyChannel>,
}

impl<'d> Stranger<'d> {
    fn open(
        database: &'d LabeledDatabase,
        vocabulary: &Vocabulary,
        channel: Option<&'d NoisyChannel>,
    ) -> Result<Self, ExperimentError> {
        let task = database.open_without_labels(vocabulary)?;
        let test = task.test(&database.examples()?, &|| {})?;
        Ok(Stranger { database, task, test, channel })
    }

    /// Returns the parser that answers.
    fn parser<'a>(&'a self, model: &'a Model, config: &EvalConfig) -> Reranked<'a> {
        Reranked::new(&self.task, model, self.channel.cloned(), config)
    }

    /// Returns how the confidence of a parser without labels is estimated.
    fn record(&self, record: &ConfidenceRecord) -> ConfidenceRecord {
        let scope = Scope::new(&self.task, std::iter::empty(), std::iter::empty());
        ConfidenceRecord { scope, ..record.clone() }
    }

    /// Returns the noisy channel of the base, or that of no labels.
    fn channel(&self) -> NoisyChannel {
        let of_no_labels = || NoisyChannel::learn(&self.task, &[], std::iter::empty());
        self.channel.cloned().unwrap_or_else(of_no_labels)
    }

    /// Returns the features of the answers, and which of them are right.
    fn answers(
        &self,
        model: &Model,
        record: &ConfidenceRecord,
        config: &EvalConfig,
    ) -> Result<Vec<(AnswerFeatures, bool)>, ExperimentError> {
        let record = self.record(record);
        let parser = self.parser(model, config).with_penalties(record.penalties, config);
        let estimator = ConfidenceEstimator::new(&self.task, &record, self.channel());
        Ok(answer_features(&parser, &estimator, &self.task, &self.test, config)?)
    }
}

impl ZeroShotEvaluation {
    /// Evaluates the base in a folder on all databases in another folder, with other settings of `eval` such as `eval.votes=false`.
    ///
    /// # Errors
    /// If the base or a database cannot be read, or a setting is not one of `eval`.
    pub fn of_base(base: &Path, databases: &Path, settings: &[String]) -> Result<Self, ExperimentError> {
        let base = Base::open_with(base, settings)?;
        let labeled = &base.config.data.labeled;
        let databases = LabeledDatabase::find(&[databases.to_owned()], labeled)?;
        ZeroShotEvaluation::on(&base, databases)
    }

    /// Evaluates the base in a folder on the databases that the settings of pretraining hold out.
    ///
    /// # Errors
    /// If the base or a database cannot be read.
    pub fn of_held_out(base: &Path, config: &PretrainConfig) -> Result<Self, ExperimentError> {
        let databases = LabeledDatabase::of_settings(&config.data)?;
        let (_, held_out) = LabeledDatabase::hold_out(databases, config.data.held_out)?;
        ZeroShotEvaluation::on(&Base::open(base)?, held_out)
    }

    fn on(base: &Base, databases: Vec<LabeledDatabase>) -> Result<Self, ExperimentError> {
        let vocabulary = base.own_vocabulary();
        let channel = base.channel.as_ref();
        let config = &with_channel(&base.config.eval, channel);
        let record = base.confidence();
        let mut evaluation = ZeroShotEvaluation::default();
        let mut model = None;
        for database in databases {
            let stranger = Stranger::open(&database, &vocabulary, channel)?;
            let model = match &mut model {
                Some(model) => model,
                none => none.insert(base.model(&stranger.task)?),
            };
            model.set_penalties(record.search_penalties(config));
            evaluation.add(model, &stranger, &record, config)?;
        }
        evaluation.threshold = record.model.threshold;
        Ok(evaluation)
    }

    /// Fits the penalties of candidates and the confidence of answers on some databases, and evaluates a model on them. Databases are
    /// opened one at a time. The confidence of an answer that is recorded here is fitted on the other databases; the record that is returned,
    /// on all.
    pub(super) fn fit(
        model: &mut Model,
        (vocabulary, channel): (&Vocabulary, &NoisyChannel),
        databases: &[LabeledDatabase],
        config: &EvalConfig,
    ) -> Result<(Self, Option<ConfidenceRecord>), ExperimentError> {
        let channel = Some(channel);
        let mut record = ConfidenceRecord::of_other_databases();
        if config.penalties {
            let mut judged = Vec::new();
            for database in databases {
                let stranger = Stranger::open(database, vocabulary, channel)?;
                let Stranger { task, test, .. } = &stranger;
                judged.extend(judged_candidates(&stranger.parser(model, config), task, test, config)?);
            }
            record.penalties = fit_penalties(record.penalties, &judged);
            model.set_penalties(record.search_penalties(config));
        }
        let mut answers: Vec<Vec<(AnswerFeatures, bool)>> = Vec::new();
        for database in databases.iter().filter(|_| config.votes) {
            let stranger = Stranger::open(database, vocabulary, channel)?;
            answers.push(stranger.answers(model, &record, config)?);
        }
        let without = |left_out: Option<usize>| {
            let others = answers.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
            let answers: Vec<_> = others.flat_map(|(_, answers)| answers.iter().copied()).collect();
            let model = ConfidenceModel::fit(&record.model, &answers);
            ConfidenceRecord { model, ..record.clone() }
        };
        let mut evaluation = ZeroShotEvaluation::default();
        for (index, database) in databases.iter().enumerate() {
            evaluation.add(
                model,
                &Stranger::open(database, vocabulary, channel)?,
                &without(Some(index)),
                config,
            )?;
        }
        let record = without(None);
        evaluation.threshold = record.model.threshold;
        let is_recorded = (config.votes || config.penalties) && !databases.is_empty();
        Ok((evaluation, is_recorded.then_some(record)))
    }

    fn add(
        &mut self,
        model: &Model,
        stranger: &Stranger<'_>,
        record: &ConfidenceRecord,
        config: &EvalConfig,
    ) -> Result<(), ExperimentError> {
        let Stranger { database, task, test, .. } = stranger;
        let record = stranger.record(record);
        let parser = stranger.parser(model, config).with_penalties(record.penalties, config);
        let (evaluation, predictions) = match config.votes {
            true => {
                let estimator = ConfidenceEstimator::new(task, &record, stranger.channel());
                evaluate_with_confidence(&parser, &estimator, task, test, config)?
            }
            false => evaluate(&parser, task, test, config)?,
        };
        task.check_unchanged()?;
        self.predictions.extend(predictions);
        self.databases.push(DatabaseRecord {
            name: database.name.clone(),
            questions: test.len(),
            left_out: test.iter().filter(|example| example.program.is_none()).count(),
            evaluation: Some(evaluation),
        });
        Ok(())
    }

    /// Returns the evaluation on the questions of all databases together.
    pub fn over_questions(&self) -> Evaluation {
        let evaluations = || self.databases.iter().filter_map(|database| database.evaluation.as_ref());
        let examples: usize = evaluations().map(|evaluation| evaluation.examples).sum();
        let share = |share: fn(&Evaluation) -> f64| {
            let right = evaluations().map(|evaluation| share(evaluation) * evaluation.examples as f64);
            right.sum::<f64>() / examples.max(1) as f64
        };
        Evaluation {
            examples,
            failed_labels: evaluations().map(|evaluation| evaluation.failed_labels).sum(),
            accuracy: share(|evaluation| evaluation.accuracy),
            accuracy_of_best: share(|evaluation| evaluation.accuracy_of_best),
            exact: share(|evaluation| evaluation.exact),
            in_beam: share(|evaluation| evaluation.in_beam),
            executable: share(|evaluation| evaluation.executable),
            confidence: self.confidence_figures(),
        }
    }

    /// Returns how well confidence tells right answers from wrong ones, if it was estimated.
    fn confidence_figures(&self) -> Option<ConfidenceFigures> {
        let judged: Option<Vec<(f64, bool)>> =
            self.predictions.iter().map(|answer| Some((answer.confidence?, answer.correct))).collect();
        ConfidenceFigures::measure(judged?, self.threshold)
    }
}

/// Returns the settings of answers. They are not re-ranked if the base has no noisy channel.
fn with_channel(config: &EvalConfig, channel: Option<&NoisyChannel>) -> EvalConfig {
    EvalConfig { noisy_channel: channel.map_or(0.0, |_| config.noisy_channel), ..config.clone() }
}
