//! Improving a run: train, compare, promote.

use crate::answers::programs_of_answers;
use crate::decision::{Decision, PairedAnswers};
use crate::error::ImproveError;
use crate::news::{News, read_asked};
use crate::progress::{ImproveObserver, RecordedImprovement, Stage};
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use xpr_data::Example;
use xpr_learn::experiment::check_settings;
use xpr_learn::task::check_length;
use xpr_learn::{Experiment, Observer, TrainedRun};
use xpr_run::{
    AskedQuestion, Config, LearnedQuestions, ParserList, ParserOrigin, ParserRecord, RunError, RunFile,
    RunFolder, Said, fingerprint, question_key, seconds_since_1970,
};

/// The number of parts into which the new confirmed questions are divided for the comparison.
pub const FOLDS: usize = 3;

/// The steps per label, and the fewest steps, of a parser that starts from a base. It forgets what the base knows if it sees a few labels for
/// hundreds of steps. From 40 labels on, the 200 steps of the default are not shortened.
const STEPS_PER_LABEL: usize = 5;
const FEWEST_STEPS: usize = 20;

/// Returns the settings with fewer steps if there are few labels and training starts from a base.
pub(crate) fn for_labels(mut config: Config, labels: usize) -> Config {
    if config.base.is_given() {
        let most = FEWEST_STEPS.max(STEPS_PER_LABEL.saturating_mul(labels));
        config.train.steps = config.train.steps.min(most);
        config.learn.steps = config.learn.steps.min(most);
    }
    config
}

/// How to improve a run.
#[derive(Clone, Debug)]
pub struct ImproveOptions {
    /// Settings of training that differ from those of the run, such as `train.steps=400`.
    pub settings: Vec<String>,
    /// The fewest new confirmed questions to improve on.
    pub fewest: usize,
}

impl Default for ImproveOptions {
    fn default() -> Self {
        ImproveOptions { settings: vec![], fewest: 1 }
    }
}

/// What came of improving a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Improved {
    /// There are too few confirmed questions that are new, or whose answer was corrected or taken back.
    TooFew {
        /// Their number.
        new: usize,
        /// The parser that has learned the others, if it is not the current one: somebody went back from it.
        rolled_back: Option<usize>,
    },
    /// A new parser was trained and compared.
    Compared(Improvement),
}

/// A new parser, and how it compares with the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Improvement {
    /// Its record in the list of parsers.
    pub record: ParserRecord,
    /// Whether it was promoted, and if not, why.
    pub decision: Decision,
    /// The number of questions that the parser before has learned, and whose answer people corrected or took back since.
    pub revised: usize,
    /// The answers to new confirmed questions.
    pub new: PairedAnswers,
    /// The answers to questions that were known before.
    pub known: PairedAnswers,
}

/// Trains a new parser for a run from what people asked and said, compares it with the current one, and promotes it if it is not worse. The
/// run is locked meanwhile, and its current parser goes on answering. If the process is killed, nothing has changed, and the next
/// improvement starts anew. A parser that somebody went back from is not trained again until people have said more.
///
/// # Errors
/// If the run cannot be opened, another process is changing it, or training fails. The current parser is then unchanged.
pub fn improve(
    run: &Path,
    asked: Vec<AskedQuestion>,
    options: &ImproveOptions,
    observer: &mut dyn ImproveObserver,
) -> Result<Improved, ImproveError> {
    let root = RunFolder::open_locked(run)?;
    let mut parsers = ParserList::read(run)?;
    let current = TrainedRun::open(run)?;
    let mut session = Session::new(&root, &current, asked, options)?;
    let (new, rolled_back) = session.news(&parsers)?;
    if new < options.fewest.max(1) {
        return Ok(Improved::TooFew { new, rolled_back });
    }
    programs_of_answers(&current, &mut session.asked)?;
    let folder = parsers.create_next(&root)?;
    let mut observer = RecordedImprovement::new(&root, observer);
    let trained = session.train(&folder, &mut observer);
    root.remove(RunFile::Progress)?;
    let (new, known) = match trained {
        Ok(compared) => compared,
        Err(error) => {
            // A parser that cannot be trained leaves nothing behind.
            parsers.remove_next(&root)?;
            return Err(error);
        }
    };
    let decision = Decision::new(&new, &known);
    let record = ParserRecord {
        number: parsers.next_number(),
        time: seconds_since_1970(),
        origin: ParserOrigin::Improved,
        before: parsers.current,
        promoted: decision == Decision::Promoted,
        rolled_back: false,
        learned: learned(&session.asked),
        comparison: new.record(),
    };
    for unused in [folder.folder().join(FOLDS_FOLDER), folder.members()] {
        remove_all(&unused)?;
    }
    parsers.add(&root, record.clone())?;
    if !record.promoted {
        remove_all(folder.folder())?;
    }
    Ok(Improved::Compared(Improvement { record, decision, revised: session.revised, new, known }))
}

/// Makes the parser current that was so before the current one. Returns its number, or nothing if the current parser is the first.
///
/// # Errors
/// If the run cannot be opened, another process is changing it, or the earlier parser is gone or damaged.
pub fn roll_back(run: &Path) -> Result<Option<usize>, ImproveError> {
    let root = RunFolder::open_locked(run)?;
    let mut parsers = ParserList::read(run)?;
    if let Some(record) = parsers.record(parsers.current) {
        // A parser that does not open must not become the current one.
        TrainedRun::open_number(run, record.before)?;
    }
    Ok(parsers.roll_back(&root)?)
}

/// The folder of a new parser in which those of the comparison are trained.
const FOLDS_FOLDER: &str = "folds";

/// What one improvement learns from and compares on.
struct Session<'r> {
    current: &'r TrainedRun,
    config: Config,
    /// Whether the number of steps was given, and is not for the number of labels to decide.
    has_steps: bool,
    /// The words of the labels of the project, which come before what people said.
    labels: HashSet<String>,
    asked: Vec<AskedQuestion>,
    /// The confirmed questions that the current parser has not learned from.
    new: Vec<Example>,
    /// The number of those that it has learned from, and whose answer was corrected or taken back since.
    revised: usize,
    /// The other questions whose right answer is known.
    known: Vec<Example>,
    /// What is unusual about the questions of the project.
    notes: Vec<String>,
}

impl<'r> Session<'r> {
    fn new(
        root: &RunFolder,
        current: &'r TrainedRun,
        asked: Vec<AskedQuestion>,
        options: &ImproveOptions,
    ) -> Result<Self, ImproveError> {
        // The settings of the run as it was trained first, so that those of one improvement do not last.
        let mut config = Config::read(Some(&root.path(RunFile::Config)), &options.settings)?.config;
        config.check_consistency()?;
        if config.learn.objective.is_none() {
            config.learn.objective = Some("sparse".to_owned());
        }
        let labeled = current.labeled_questions()?;
        let labels: HashSet<String> =
            labeled.trained_on.iter().map(|label| question_key(&label.utterance)).collect();
        let News { confirmed: new_keys, revised } = news_since(&current.folder, current, &asked, &labels)?;
        let confirmed = confirmed(&asked);
        let confirmed = confirmed.into_iter().filter(|(key, _)| !labels.contains(key));
        let (new, old): (Vec<_>, Vec<_>) = confirmed.partition(|(key, _)| new_keys.contains(key));
        let is_known = |example: &Example| {
            !new_keys.contains(&question_key(&example.utterance)) && check_length(&example.utterance).is_ok()
        };
        let notes = labeled.notes;
        let labeled = labeled.trained_on.into_iter().chain(labeled.evaluated_on).filter(is_known);
        let known = labeled.chain(old.into_iter().map(|(_, example)| example)).collect();
        let new = new.into_iter().map(|(_, example)| example).collect();
        let gives_steps = |setting: &String| {
            let setting = setting.trim_start();
            setting.starts_with("train.steps") || setting.starts_with("learn.steps")
        };
        let has_steps = options.settings.iter().any(gives_steps);
        Ok(Session { current, config, has_steps, labels, asked, new, revised, known, notes })
    }

    /// Returns the number of confirmed questions that are new, or whose answer was corrected or taken back, to the current parser and to
    /// each one that somebody went back from. The same answers would make that one again. If it is one of these that knows the most,
    /// returns its number too.
    fn news(&self, parsers: &ParserList) -> Result<(usize, Option<usize>), ImproveError> {
        let mut fewest = (self.new.len() + self.revised, None);
        let config = self.settings(&[]);
        for parser in parsers.parsers.iter().filter(|parser| parser.rolled_back) {
            // Its folder may have been deleted to be rid of it.
            let Ok(folder) = RunFolder::open(&ParserList::folder(&self.current.run, parser.number)) else {
                continue;
            };
            // Other settings make another parser.
            if check_settings(&folder, &config, &self.asked).is_err() {
                continue;
            }
            let news = news_since(&folder, self.current, &self.asked, &self.labels)?.len();
            if news < fewest.0 {
                fewest = (news, Some(parser.number));
            }
        }
        Ok(fewest)
    }

    /// Trains the parsers of the comparison and then the new one. Returns the answers to new and to known questions.
    fn train(
        &self,
        folder: &RunFolder,
        observer: &mut RecordedImprovement<'_>,
    ) -> Result<(PairedAnswers, PairedAnswers), ImproveError> {
        self.notes.iter().for_each(|note| observer.note(note));
        let mut folds: Vec<Vec<Example>> = vec![vec![]; FOLDS];
        for example in &self.new {
            folds[fold_of(&example.utterance)].push(example.clone());
        }
        folds.retain(|fold| !fold.is_empty());
        let mut new = PairedAnswers::default();
        for (index, fold) in folds.iter().enumerate() {
            observer.begin(Stage::Fold { fold: index + 1, of: folds.len() });
            let place = RunFolder::create(&folder.folder().join(FOLDS_FOLDER).join(index.to_string()))?;
            let held_out: Vec<String> = fold.iter().map(|example| question_key(&example.utterance)).collect();
            let parser = self.train_parser(&place, &held_out, observer)?;
            new.extend(self.compare(&parser, fold)?);
        }
        observer.begin(Stage::NewParser);
        folder.write_json_lines(RunFile::Asked, &self.asked)?;
        let parser = self.train_parser(folder, &[], observer)?;
        Ok((new, self.compare(&parser, &self.known)?))
    }

    /// Returns the settings of a parser that learns from all questions but these.
    fn settings(&self, held_out: &[String]) -> Config {
        let is_learned =
            |asked: &&AskedQuestion| asked.said.confirmed().is_some() && !held_out.contains(&asked.key());
        let labels = self.labels.len() + self.asked.iter().filter(is_learned).count();
        match self.has_steps {
            true => self.config.clone(),
            false => for_labels(self.config.clone(), labels),
        }
    }

    fn train_parser(
        &self,
        folder: &RunFolder,
        held_out: &[String],
        observer: &mut RecordedImprovement<'_>,
    ) -> Result<TrainedRun, ImproveError> {
        let config = self.settings(held_out);
        let watch = &mut |_: &str, _, _| {};
        let experiment = Experiment::load_next(config, &self.asked, held_out, self.current, watch)?;
        // Each question is in all parsers but one, and in the new one.
        if held_out.is_empty() {
            for left_out in experiment.left_out() {
                observer.note(&format!("left out: {left_out}"));
            }
        }
        experiment.run(folder, false, observer)?;
        Ok(TrainedRun::open(folder.folder())?)
    }

    fn compare(&self, parser: &TrainedRun, questions: &[Example]) -> Result<PairedAnswers, ImproveError> {
        let before = self.current.right_answers(questions)?;
        Ok(PairedAnswers::new(&before, &parser.right_answers(questions)?))
    }
}

/// Returns what people said that is no label of the project and that the parser of a folder has not learned. The current parser runs programs.
fn news_since(
    folder: &RunFolder,
    current: &TrainedRun,
    asked: &[AskedQuestion],
    labels: &HashSet<String>,
) -> Result<News, ImproveError> {
    let mut executor = current.task.label_executor()?;
    let is_same_answer = |left: &str, right: &str| {
        let answer = executor.execute(left);
        current.task.is_same_answer(&answer, &executor.execute(right))
    };
    let is_learned =
        |asked: &&AskedQuestion| !labels.contains(&asked.key()) && check_length(&asked.utterance).is_ok();
    Ok(News::since(&read_asked(folder)?, asked.iter().filter(is_learned), is_same_answer))
}

/// Returns the confirmed questions with a program that finds the right answer, and the words by which they are recognised.
fn confirmed(asked: &[AskedQuestion]) -> Vec<(String, Example)> {
    let example = |asked: &AskedQuestion| {
        let program = asked.said.confirmed()?.to_owned();
        check_length(&asked.utterance).ok()?;
        Some((asked.key(), Example { utterance: asked.utterance.clone(), program }))
    };
    asked.iter().filter_map(example).collect()
}

/// Returns the part of the comparison in which a question is held out. It depends on its words only.
fn fold_of(utterance: &str) -> usize {
    let hash = fingerprint([question_key(utterance).as_str()]);
    let number = u64::from_str_radix(&hash, 16).unwrap_or(0);
    (number % FOLDS as u64) as usize
}

fn learned(asked: &[AskedQuestion]) -> LearnedQuestions {
    let mut learned = LearnedQuestions::default();
    for question in asked {
        match question.said {
            Said::Program { .. } => learned.programs += 1,
            Said::Answer { .. } => learned.answers += 1,
            Said::NoneOf { .. } => learned.rejected += 1,
            Said::Nothing => learned.unlabeled += 1,
        }
    }
    learned
}

fn remove_all(folder: &Path) -> Result<(), RunError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::File { path: folder.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_labels_take_few_steps_from_a_base_only() {
        let steps = |settings: &[&str], labels: usize| {
            let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
            let config = for_labels(Config::read(None, &settings).unwrap().config, labels);
            (config.train.steps, config.learn.steps)
        };
        let base = ["base.folder=built-in"];
        assert_eq!(
            [1, 6, 20, 40, 500].map(|labels| steps(&base, labels)),
            [(20, 20), (30, 30), (100, 100), (200, 100), (200, 100)]
        );
        assert_eq!(steps(&[], 1), steps(&[], 500));
    }

    #[test]
    fn the_part_of_a_question_depends_on_its_words_only() {
        assert_eq!(fold_of("How many albums?"), fold_of("how many  albums"));
        let questions: Vec<String> = (0..300).map(|number| format!("question {number}")).collect();
        for fold in 0..FOLDS {
            let count = questions.iter().filter(|question| fold_of(question) == fold).count();
            assert!((70..130).contains(&count), "{count} in fold {fold}");
        }
    }
}
