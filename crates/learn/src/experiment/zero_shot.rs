//! Evaluating a parser on databases that it was not trained on.

use super::base::Base;
use super::error::ExperimentError;
use crate::inference::{Reranked, evaluate};
use crate::task::databases::LabeledDatabase;
use crate::task::{Task, TestExample};
use serde::{Deserialize, Serialize};
use std::path::Path;
use xpr_parser::Parser;
use xpr_run::{EvalConfig, Evaluation, Prediction};

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
}

impl ZeroShotEvaluation {
    /// Evaluates the base in a folder on all databases in another folder. `beam` is the beam size, if it is not that of the
    /// base's settings.
    ///
    /// # Errors
    /// If the base or a database cannot be read.
    pub fn of_base(base: &Path, databases: &Path, beam: Option<usize>) -> Result<Self, ExperimentError> {
        let base = Base::open(base)?;
        let labeled = &base.config.data.labeled;
        let databases = LabeledDatabase::find(&[databases.to_owned()], labeled)?;
        let mut config = base.config.eval.clone();
        config.beam = beam.unwrap_or(config.beam);
        ZeroShotEvaluation::of_databases(&base, &databases, &config)
    }

    /// Evaluates a base on some databases. They are opened one at a time, each as a project without labels opens it.
    pub(super) fn of_databases(
        base: &Base,
        databases: &[LabeledDatabase],
        config: &EvalConfig,
    ) -> Result<Self, ExperimentError> {
        let mut evaluation = ZeroShotEvaluation::default();
        for database in databases {
            let task = database.open_without_labels(|world| base.vocabulary(world, vec![]))?;
            let model = base.model(&task)?;
            let parser = Reranked::new(&task, &model, base.channel.clone(), config);
            evaluation.add(&parser, database, &task, config)?;
        }
        Ok(evaluation)
    }

    fn add(
        &mut self,
        parser: &dyn Parser,
        database: &LabeledDatabase,
        task: &Task,
        config: &EvalConfig,
    ) -> Result<(), ExperimentError> {
        let test: Vec<TestExample> = task.test(&database.examples()?, &|| {})?;
        let (evaluation, predictions) = evaluate(parser, task, &test, config)?;
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
            confidence: None,
        }
    }
}
