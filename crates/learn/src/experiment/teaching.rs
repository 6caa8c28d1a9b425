//! Teaching a trained parser a label: it goes on from its weights for some steps, on the label and on those it knows.
//!
//! The taught parser is written to a folder of its own, and becomes the current parser of the run when it is complete. The one before it is kept.

use super::card::taught_card;
use super::data_record::DataRecord;
use super::error::ExperimentError;
use super::question_uses::RunDivision;
use super::record::{record_evaluation, recorded_config};
use super::trained::TrainedRun;
use crate::inference::{ConfidenceEstimator, ConfidenceRecord, Reranked, Scope, evaluate};
use crate::task::dataset::Examples;
use crate::task::division::Division;
use crate::task::{LabeledExample, LeftOut, LeftOutReason, Task, TaskError, TestExample};
use crate::teacher::{ChannelLearner, NoisyChannel};
use crate::training::Trainer;
use crate::training::checkpoint::write_model;
use std::collections::HashSet;
use xpr_data::Example;
use xpr_parser::{Model, Parser, Question, TrainableParser};
use xpr_run::{
    Config, EvalConfig, Manifest, ParserList, ParserOrigin, ParserRecord, RunFile, RunFolder, TrainConfig,
    question_key, seconds_since_1970,
};
use xpr_text::tokenize;

/// The steps after which the parser is asked whether it has learned the label.
const STEPS: usize = 40;
/// The number of times that it goes on if it has not.
const ROUNDS: usize = 3;
/// The learning rate. Higher rates change more of the other answers.
const RATE: f64 = 1.5e-4;
/// The number of other labels for each copy of the new one.
const REPLAYED: usize = 5;

/// What teaching does not change.
const UNCHANGED: [RunFile; 6] = [
    RunFile::Data,
    RunFile::Grammar,
    RunFile::Vocabulary,
    RunFile::Metrics,
    RunFile::Unlabeled,
    RunFile::Asked,
];

/// A question whose answer is right before teaching and wrong after it, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAnswer {
    /// The question.
    pub utterance: String,
    /// Whether the answer is right now.
    pub is_right: bool,
    /// Whether the parser never trained on it.
    pub is_held_out: bool,
}

/// What came of teaching a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Taught {
    /// Whether the parser now answers the question as the label does.
    pub is_learned: bool,
    /// The number of steps.
    pub steps: usize,
    /// The number of other questions whose answers were compared.
    pub compared: usize,
    /// Those of them whose answers changed between right and wrong.
    pub changed: Vec<ChangedAnswer>,
    /// The number of the taught parser.
    pub number: usize,
    /// What is unusual about the test questions, but no error.
    pub notes: Vec<String>,
}

impl TrainedRun {
    /// Teaches the parser a label, and makes the taught parser the current one of the run. The file of labels is not changed: `added` is called
    /// when the label is learned and before the current parser changes.
    ///
    /// # Errors
    /// If the grammar cannot write the program, the program fails, or a file cannot be read or written. The run is then unchanged.
    pub fn teach(
        self,
        label: &Example,
        added: impl FnOnce() -> Result<(), ExperimentError>,
    ) -> Result<Taught, ExperimentError> {
        let root = RunFolder::open_locked(&self.run)?;
        let mut parsers = ParserList::read(root.folder())?;
        if parsers.current != self.number {
            return Err(ExperimentError::ParserChanged(self.run));
        }
        let TrainedRun { folder, config, task, model, confidence, channel, .. } = self;
        let lesson = read_label(&task, label)?;
        let mut examples = Examples::read(&config.data)?;
        let mut division = RunDivision::new(&folder, &config, examples.clone())?;
        division.teach(&label.utterance);
        let known =
            KnownQuestions::read((&task, &config), &division, &examples.bare, channel.as_ref(), lesson)?;
        let right = |model: &Model, examples: &[TestExample]| -> Result<Vec<bool>, TaskError> {
            let parser = reranked(&task, model, &known.channel, &config.eval, confidence.as_ref());
            right_answers(&parser, &task, examples, &config.eval)
        };
        let before = right(&model, &known.judged)?;
        let question = task.test(std::slice::from_ref(label), &|| {})?;
        let mut trainer = Trainer::new(schedule(&config.train), &config.learn, model);
        let replayed = known.replayed();
        let mut is_learned = false;
        for _ in 0..ROUNDS {
            for _ in 0..STEPS {
                trainer.step(&replayed, &[], None);
            }
            is_learned = right(trainer.parser(), &question)? == [true];
            if is_learned {
                break;
            }
        }
        let steps = trainer.steps_taken();
        let model = trainer.into_parser();
        let changed = known.changes(&before, &right(&model, &known.judged)?);

        let taught = parsers.create_next(&root)?;
        let number = parsers.next_number();
        let write = || -> Result<(), ExperimentError> {
            taught.write(RunFile::Config, recorded_config(&taught, &config).to_toml()?.as_bytes())?;
            folder.copy_to(&taught, &UNCHANGED)?;
            examples.train.push(label.clone());
            if let Ok(data) = DataRecord::new(&config, &examples) {
                data.with_grammar(&task).write(&taught)?;
            }
            division.uses.write(&taught)?;
            taught.write(RunFile::Model, &write_model(model.parameters()))?;
            taught.write_json(RunFile::NoisyChannel, &known.channel)?;
            let record =
                confidence.clone().map(|record| ConfidenceRecord { scope: known.scope(&task), ..record });
            if let Some(record) = &record {
                taught.write_json(RunFile::Confidence, record)?;
            }
            let estimator = (record.as_ref().filter(|_| config.eval.votes))
                .map(|record| ConfidenceEstimator::new(&task, record, known.channel.clone()));
            let parser = reranked(&task, &model, &known.channel, &config.eval, record.as_ref());
            let parser = (&parser, estimator.as_ref());
            let card =
                folder.read_optional(RunFile::Card, Manifest::read(&folder)?.as_ref())?.unwrap_or_default();
            let card = String::from_utf8_lossy(&card);
            record_evaluation(&taught, parser, (&task, &known.test), &config.eval, |evaluation| {
                let card = taught_card(&card, label, known.label_count(), evaluation, division.is_known);
                taught.write(RunFile::Card, card.as_bytes())
            })?;

            added()?;
            let before = parsers.current;
            let learned = parsers.record(before).map(|record| record.learned).unwrap_or_default();
            let origin = ParserOrigin::Taught;
            let time = seconds_since_1970();
            let record = ParserRecord {
                number,
                time,
                origin,
                before,
                promoted: true,
                rolled_back: false,
                learned,
                comparison: None,
            };
            Ok(parsers.add(&root, record)?)
        };
        let written = write();
        if let Err(error) = written {
            // A parser that cannot be written leaves nothing behind. What cannot be removed, the next one removes.
            let _ = parsers.remove_next(&root);
            return Err(error);
        }
        Ok(Taught { is_learned, steps, compared: known.judged.len(), changed, number, notes: division.notes })
    }
}

/// The questions that a run knows, and a lesson.
struct KnownQuestions {
    /// The labels that the parser was trained on, and last the lesson.
    labels: Vec<LabeledExample>,
    /// The questions without labels.
    asked: Vec<Question>,
    /// The test examples.
    test: Vec<TestExample>,
    /// The labels and then the test examples whose programs run, without the lesson, and whether the parser never learned each.
    judged: Vec<TestExample>,
    is_held_out: Vec<bool>,
    /// The noisy channel of the labels.
    channel: NoisyChannel,
}

impl KnownQuestions {
    fn read(
        (task, config): (&Task, &Config),
        division: &RunDivision,
        bare: &[String],
        channel: Option<&NoisyChannel>,
        lesson: LabeledExample,
    ) -> Result<Self, TaskError> {
        let Division { labeled, unlabeled, evaluated } = &division.division;
        let (mut labels, _) = task.label(labeled, &|| {})?;
        // The channel of a base knows more than the labels of one database say.
        let channel = channel.filter(|_| config.base.is_given()).map(|channel| {
            let mut learner = ChannelLearner::from_channel(channel);
            learner.label(task, std::slice::from_ref(&lesson));
            learner.learn()
        });
        let lesson_key = question_key(&lesson.utterance);
        labels.push(lesson);
        let test = task.test(evaluated, &|| {})?;
        let known = task.test(labeled, &|| {})?;
        let learned: HashSet<String> = labeled.iter().map(|label| question_key(&label.utterance)).collect();
        let is_judged = |example: &&TestExample| {
            example.outcome.executes() && question_key(&example.utterance) != lesson_key
        };
        let judged: Vec<TestExample> = known.iter().chain(&test).filter(is_judged).cloned().collect();
        let never_learned =
            |example: &TestExample| division.is_known && !learned.contains(&question_key(&example.utterance));
        let is_held_out = judged.iter().map(never_learned).collect();
        let unlabeled = unlabeled.iter().map(|example| &example.utterance).chain(bare);
        let asked: Vec<Question> = unlabeled.map(|utterance| task.question(utterance)).collect();
        let all = asked.iter().chain(labels.iter().map(|example| &example.question));
        let channel = channel.unwrap_or_else(|| NoisyChannel::learn(task, &labels, all));
        Ok(KnownQuestions { labels, asked, test, judged, is_held_out, channel })
    }

    /// Returns the number of labeled questions, among which the lesson counts once.
    fn label_count(&self) -> usize {
        let keys: Vec<String> = self.labels.iter().map(|label| question_key(&label.utterance)).collect();
        let lesson = keys.last();
        keys.iter().filter(|key| Some(*key) != lesson).count() + lesson.iter().len()
    }

    /// Returns the examples of a batch: the labels, with the lesson once for every [`REPLAYED`] of them.
    fn replayed(&self) -> Vec<LabeledExample> {
        let copies = self.labels.len().div_ceil(REPLAYED);
        let lesson = self.labels.iter().next_back().into_iter().cycle().take(copies);
        self.labels.iter().chain(lesson).cloned().collect()
    }

    /// Returns the questions whose answers are right before or after, but not both.
    fn changes(&self, before: &[bool], after: &[bool]) -> Vec<ChangedAnswer> {
        let changed = (0..self.judged.len()).filter(|&index| before[index] != after[index]);
        let answer = |index: usize| ChangedAnswer {
            utterance: self.judged[index].utterance.clone(),
            is_right: after[index],
            is_held_out: self.is_held_out[index],
        };
        changed.map(answer).collect()
    }

    fn scope(&self, task: &Task) -> Scope {
        let labeled = self.labels.iter().map(|example| (example.utterance.as_str(), &example.question));
        Scope::new(task, labeled, self.asked.iter())
    }
}

/// Returns a parser whose candidates are ranked as the run ranks them.
fn reranked<'m>(
    task: &'m Task,
    model: &'m Model,
    channel: &NoisyChannel,
    config: &EvalConfig,
    record: Option<&ConfidenceRecord>,
) -> Reranked<'m> {
    let parser = Reranked::new(task, model, Some(channel.clone()), config);
    match record {
        Some(record) => parser.with_penalties(record.penalties, config),
        None => parser,
    }
}

/// Reads a label, whose program must run.
fn read_label(task: &Task, label: &Example) -> Result<LabeledExample, ExperimentError> {
    if tokenize(&label.utterance).is_empty() {
        let left_out = LeftOut { utterance: label.utterance.clone(), reason: LeftOutReason::NoWords };
        return Err(ExperimentError::LeftOut(left_out));
    }
    let (labeled, mut left_out) = task.label(std::slice::from_ref(label), &|| {})?;
    let Some(lesson) = labeled.into_iter().next() else {
        return Err(ExperimentError::LeftOut(left_out.swap_remove(0)));
    };
    match lesson.failure() {
        Some(failure) => Err(ExperimentError::FailedLabel(failure)),
        None => Ok(lesson),
    }
}

/// Returns the schedule of teaching: a low rate that falls.
fn schedule(train: &TrainConfig) -> TrainConfig {
    let rate = RATE.min(train.rate);
    TrainConfig {
        steps: STEPS * ROUNDS,
        warmup: 5,
        rate,
        end_rate: rate / 10.0,
        average: 0.0,
        ..train.clone()
    }
}

fn right_answers(
    parser: &dyn Parser,
    task: &Task,
    examples: &[TestExample],
    config: &EvalConfig,
) -> Result<Vec<bool>, TaskError> {
    let (_, predictions) = evaluate(parser, task, examples, config)?;
    Ok(predictions.iter().map(|prediction| prediction.correct).collect())
}
