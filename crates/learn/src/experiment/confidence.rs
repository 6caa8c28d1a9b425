//! Fitting the confidence of a run, and the penalties of its candidates, on labels that its parser did not train on.
//!
//! The run's own parser has seen all labels, so its answers to them say nothing. `eval.confidence_folds` other parsers are trained, each on
//! the labels without one fold and for half of the steps, and asked the questions of their fold. They know fewer labels than the run's
//! parser, so the confidence is cautious. Constants that were learned from the labels are not learned again for each fold.

use super::error::ExperimentError;
use super::load::Experiment;
use super::members::labels_only;
use super::observer::Observer;
use crate::hyperparameters::FEWEST_CALIBRATION_LABELS;
use crate::inference::{
    AnswerFeatures, ConfidenceEstimator, ConfidenceModel, ConfidenceRecord, JudgedCandidate, Reranked, Scope,
    answer_features, fit_penalties, judged_candidates,
};
use crate::task::{LabeledExample, TestExample};
use crate::teacher::NoisyChannel;
use crate::training::Trainer;
use xpr_nn::{ParameterId, Ranks};
use xpr_parser::{Model, TrainableParser};

/// A parser that was trained on the labels without one fold.
pub(super) struct Fold {
    model: Model,
    /// The noisy channel of the same labels.
    channel: NoisyChannel,
    /// The scope of the same labels, and the penalties once they are fitted.
    record: ConfidenceRecord,
    /// The labels of the fold.
    held_out: Vec<TestExample>,
}

impl Fold {
    /// Returns the parser without penalties.
    fn parser<'f>(&'f self, experiment: &'f Experiment) -> Reranked<'f> {
        Reranked::new(experiment.task(), &self.model, Some(self.channel.clone()), &experiment.config().eval)
    }
}

/// Replaces the parsers of the folds that other ranks trained.
fn share_folds(ranks: &dyn Ranks, folds: &mut [Fold]) {
    let count = ranks.count();
    for (index, fold) in folds.iter_mut().enumerate() {
        let parameters = fold.model.parameters_mut();
        let ids: Vec<ParameterId> = parameters.ids().collect();
        for id in ids {
            ranks.broadcast(index % count, parameters.value_mut(id).data_mut());
        }
    }
}

/// The number of steps of the parsers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedSteps {
    /// Of a member of the ensemble, or of the only parser.
    pub member: usize,
    /// Of the parser that learns from the ensemble.
    pub student: usize,
    /// Of a parser by whose answers the confidence is fitted.
    pub fold: usize,
    /// The number of these.
    pub folds: usize,
}

impl Experiment {
    /// Returns the number of steps of the parsers that a run trains.
    pub fn planned_steps(&self) -> PlannedSteps {
        let (train, learn) = (&self.config().train, &self.config().learn);
        PlannedSteps {
            member: self.without_idle_steps(self.config().clone()).train.steps,
            student: learn.steps.saturating_add(learn.own_steps),
            fold: train.steps.div_ceil(2),
            folds: self.confidence_folds(),
        }
    }

    /// Returns the number of parsers that are trained to fit the confidence; 0 if there are too few labels.
    fn confidence_folds(&self) -> usize {
        let config = &self.config().eval;
        let is_fitted = (config.votes || config.penalties)
            && config.confidence_folds > 1
            && self.train_examples().len() >= FEWEST_CALIBRATION_LABELS;
        if is_fitted { config.confidence_folds } else { 0 }
    }

    /// Returns what the run records to rank candidates and to estimate confidence, from the parsers of the folds.
    pub(super) fn fit_confidence(&self, mut folds: Vec<Fold>) -> Result<ConfidenceRecord, ExperimentError> {
        let config = &self.config().eval;
        let prior = self.confidence_of_other_databases();
        let mut penalties = prior.penalties;
        if config.penalties {
            let mut judged = Vec::new();
            for fold in &folds {
                judged.extend(judged_candidates(&fold.parser(self), self.task(), &fold.held_out, config)?);
            }
            penalties = fit_penalties(penalties, &judged);
        }
        let mut answers = Vec::new();
        for fold in &mut folds {
            fold.record.penalties = penalties;
            fold.model.set_penalties(fold.record.search_penalties(config));
            let parser = fold.parser(self).with_penalties(penalties, config);
            let estimator = ConfidenceEstimator::new(self.task(), &fold.record, fold.channel.clone());
            answers.extend(answer_features(&parser, &estimator, self.task(), &fold.held_out, config)?);
        }
        self.task().check_unchanged()?;
        let model = ConfidenceModel::fit(&prior.model, &answers);
        Ok(ConfidenceRecord { model, scope: self.scope(), penalties })
    }

    /// Trains a parser on the labels without each fold, if there are enough labels. Each rank trains some of them, and all ranks get all.
    pub(super) fn train_folds(&self, observer: &mut dyn Observer) -> Result<Vec<Fold>, ExperimentError> {
        let labels = self.train_examples();
        let folds = self.confidence_folds();
        let mut trained = Vec::new();
        let (rank, ranks) = self.ranks().map_or((0, 1), |ranks| (ranks.rank(), ranks.count()));
        for fold in 0..folds {
            let is_own = fold % ranks == rank;
            if is_own {
                observer.fold(fold + 1, folds);
            }
            let (held_out, rest): (Vec<_>, Vec<_>) =
                labels.iter().cloned().enumerate().partition(|(index, _)| index % folds == fold);
            let held_out = held_out.iter().map(|(_, example)| self.as_test(example)).collect();
            let rest: Vec<LabeledExample> = rest.into_iter().map(|(_, example)| example).collect();
            trained.push(Fold {
                model: match is_own {
                    true => self.train_fold(&rest, observer)?,
                    false => self.untrained(&labels_only(self.config())),
                },
                channel: self.noisy_channel_of(&rest),
                record: ConfidenceRecord { scope: self.scope_of(&rest), ..ConfidenceRecord::default() },
                held_out,
            });
        }
        if let Some(ranks) = self.ranks() {
            share_folds(&**ranks, &mut trained);
        }
        Ok(trained)
    }

    /// Trains the parser of a fold. It has no checkpoints.
    fn train_fold(
        &self,
        labels: &[LabeledExample],
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let mut config = labels_only(self.config());
        config.train.steps = config.train.steps.div_ceil(2);
        config.train.warmup = config.train.warmup.div_ceil(2);
        let mut trainer = Trainer::new(config.train.clone(), &config.learn, self.untrained(&config));
        while trainer.steps_taken() < config.train.steps {
            let (report, _) = trainer.step(labels, &[], None);
            observer.step(report, config.train.steps);
            if observer.should_stop() {
                return Err(ExperimentError::Stopped { step: report.step });
            }
        }
        Ok(trainer.into_parser())
    }

    fn as_test(&self, example: &LabeledExample) -> TestExample {
        TestExample {
            utterance: example.utterance.clone(),
            question: example.question.clone(),
            gold: self.task().text(&example.program, &example.question),
            program: Some(example.program.clone()),
            outcome: example.outcome.clone(),
        }
    }

    /// Returns the scope of a parser that is trained on some labels, and knows the words of all unlabeled questions.
    fn scope_of(&self, labels: &[LabeledExample]) -> Scope {
        let labeled = labels.iter().map(|example| (example.utterance.as_str(), &example.question));
        let unlabeled = self.unlabeled_examples().iter().map(|example| &example.question);
        Scope::new(self.task(), labeled, unlabeled)
    }

    /// Returns the scope of the parser of this experiment.
    pub fn scope(&self) -> Scope {
        self.scope_of(self.train_examples())
    }

    /// Returns the features of a parser's answers to the test questions, and which of them are right; and the candidates of each question.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn test_answers(&self, model: &Model) -> Result<TestAnswers, ExperimentError> {
        let channel = self.noisy_channel();
        let record = ConfidenceRecord { scope: self.scope(), ..ConfidenceRecord::default() };
        let config = &self.config().eval;
        let parser = Reranked::new(self.task(), model, Some(channel.clone()), config);
        let estimator = ConfidenceEstimator::new(self.task(), &record, channel);
        Ok(TestAnswers {
            features: answer_features(&parser, &estimator, self.task(), self.test_examples(), config)?,
            candidates: judged_candidates(&parser, self.task(), self.test_examples(), config)?,
        })
    }
}

/// How a parser answers test questions.
#[derive(Clone, Debug)]
pub struct TestAnswers {
    /// The features of each answer, and whether it is right.
    pub features: Vec<(AnswerFeatures, bool)>,
    /// The candidates of each question, without penalties.
    pub candidates: Vec<Vec<JudgedCandidate>>,
}
