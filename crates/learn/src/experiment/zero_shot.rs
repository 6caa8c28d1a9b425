//! Evaluating a parser on databases that it was not trained on.

use super::base::Base;
use super::error::ExperimentError;
use crate::inference::{
    AnswerFeatures, ConfidenceEstimator, ConfidenceModel, ConfidenceRecord, JudgedCandidate, Reranked, Scope,
    answer_features, evaluate, evaluate_with_confidence, fit_penalties, judged_candidates,
};
use crate::task::databases::LabeledDatabase;
use crate::task::{Task, TestExample};
use crate::teacher::NoisyChannel;
use serde::{Deserialize, Serialize};
use std::path::Path;
use xpr_parser::Model;
use xpr_run::{ConfidenceFigures, EvalConfig, Evaluation, Prediction};

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
    base: &'d Base,
    config: &'d EvalConfig,
    database: &'d LabeledDatabase,
    task: Task,
    test: Vec<TestExample>,
    model: Model,
}

impl<'d> Stranger<'d> {
    /// Opens a database as a project without labels does. Search has the penalties of `record`.
    fn open(
        (base, config): (&'d Base, &'d EvalConfig),
        database: &'d LabeledDatabase,
        record: Option<&ConfidenceRecord>,
    ) -> Result<Self, ExperimentError> {
        let task = database.open_without_labels(&base.own_vocabulary())?;
        let test = task.test(&database.examples()?, &|| {})?;
        let mut model = base.model(&task)?;
        model.set_penalties(record.and_then(|record| record.search_penalties(config)));
        Ok(Stranger { base, config, database, task, test, model })
    }

    /// Returns how the confidence of a parser without labels is estimated.
    fn record(&self, record: &ConfidenceRecord) -> ConfidenceRecord {
        let scope = Scope::new(&self.task, std::iter::empty(), std::iter::empty());
        ConfidenceRecord { scope, ..record.clone() }
    }

    /// Returns the noisy channel of the base or, if it has none, of no labels.
    fn channel(&self) -> NoisyChannel {
        let of_no_labels = || NoisyChannel::learn(&self.task, &[], std::iter::empty());
        self.base.channel.clone().unwrap_or_else(of_no_labels)
    }

    /// Returns the parser without penalties.
    fn parser(&self) -> Reranked<'_> {
        Reranked::new(&self.task, &self.model, self.base.channel.clone(), self.config)
    }

    /// Returns the candidates of each question, without penalties.
    fn candidates(&self) -> Result<Vec<Vec<JudgedCandidate>>, ExperimentError> {
        Ok(judged_candidates(&self.parser(), &self.task, &self.test, self.config)?)
    }

    /// Returns the features of the answers, and which of them are right.
    fn answers(&self, record: &ConfidenceRecord) -> Result<Vec<(AnswerFeatures, bool)>, ExperimentError> {
        let record = self.record(record);
        let parser = self.parser().with_penalties(record.penalties, self.config);
        let estimator = ConfidenceEstimator::new(&self.task, &record, self.channel());
        Ok(answer_features(&parser, &estimator, &self.task, &self.test, self.config)?)
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
        let asked = (&base, &settings_of(&base));
        let record = base.confidence();
        let mut evaluation = ZeroShotEvaluation::default();
        for database in &databases {
            evaluation.add(&Stranger::open(asked, database, Some(&record))?, &record)?;
        }
        evaluation.threshold = record.model.threshold;
        Ok(evaluation)
    }

    /// Fits the penalties of candidates and the confidence of answers on some databases, and evaluates a base on them. Databases are
    /// opened one at a time, each as a project without labels opens it. The confidence of an answer that is recorded here is fitted on the
    /// other databases; the record that is returned, on all.
    pub(super) fn fit(
        base: &Base,
        databases: &[LabeledDatabase],
    ) -> Result<(Self, Option<ConfidenceRecord>), ExperimentError> {
        let config = &settings_of(base);
        let mut evaluation = ZeroShotEvaluation::default();
        if databases.is_empty() {
            return Ok((evaluation, None));
        }
        let mut record = ConfidenceRecord::of_other_databases();
        if config.penalties {
            let mut judged = Vec::new();
            for database in databases {
                judged.extend(Stranger::open((base, config), database, None)?.candidates()?);
            }
            record.penalties = fit_penalties(record.penalties, &judged);
        }
        let open = |database| Stranger::open((base, config), database, Some(&record));
        let mut answers: Vec<Vec<(AnswerFeatures, bool)>> = Vec::new();
        for database in databases.iter().filter(|_| config.votes) {
            answers.push(open(database)?.answers(&record)?);
        }
        let without = |left_out: Option<usize>| {
            let others = answers.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
            let answers: Vec<_> = others.flat_map(|(_, answers)| answers.iter().copied()).collect();
            let model = ConfidenceModel::fit(&record.model, &answers);
            ConfidenceRecord { model, ..record.clone() }
        };
        for (index, database) in databases.iter().enumerate() {
            evaluation.add(&open(database)?, &without(Some(index)))?;
        }
        let record = without(None);
        evaluation.threshold = record.model.threshold;
        Ok((evaluation, (config.votes || config.penalties).then_some(record)))
    }

    fn add(&mut self, stranger: &Stranger<'_>, record: &ConfidenceRecord) -> Result<(), ExperimentError> {
        let Stranger { config, database, task, test, .. } = stranger;
        let record = stranger.record(record);
        let parser = stranger.parser().with_penalties(record.penalties, config);
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

/// Returns the settings of a base's answers. A base of an earlier version has no noisy channel.
fn settings_of(base: &Base) -> EvalConfig {
    let mut config = base.config.eval.clone();
    if base.channel.is_none() {
        config.noisy_channel = 0.0;
    }
    config
}
