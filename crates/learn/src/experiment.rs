//! A whole experiment: read, train, evaluate, keep.

use crate::card::card;
use crate::channel::{CHANNEL_FILE, Channel, Explaining};
use crate::checkpoint::{self, CheckpointError};
use crate::committee::{self, Committee};
use crate::dataset::{Examples, open_world};
use crate::explore::Explorer;
use crate::{
    Config, ConfigError, DataConfig, Dataset, EvalConfig, Evaluation, HeldOut, Judge, LabeledExample,
    LeftOut, Reward, RunError, RunFolder, StepReport, Task, TaskError, TestExample, Trainer,
    UnlabeledExample, evaluate,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;
use xpr_data::{DataError, Embeddings, Example, relative_path};
use xpr_exec::overnight;
use xpr_nn::Random;
use xpr_parser::{Model, Parser, tokenize};

/// Why an experiment fails.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// Its settings are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its data are.
    #[error(transparent)]
    Data(#[from] DataError),
    /// They do not fit the world.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// Its folder is wrong.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no such world.
    #[error("there is no domain `{0}`; there are {worlds}", worlds = overnight::WORLDS.join(", "))]
    Domain(String),
    /// No folder with data was named.
    #[error("no folder with data: name it with --data, XPR_DATA or the setting data.folder")]
    NoData,
    /// No database was named.
    #[error("no database: name it with the setting data.database, such as \"sqlite:music.db\"")]
    NoDatabase,
    /// A file of weights is not this model's.
    #[error("{path}: {source}")]
    Checkpoint {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// A program of a benchmark is not one of the grammar's.
    #[error(transparent)]
    LeftOut(LeftOut),
    /// No labeled program is one of the grammar's.
    #[error("none of the {examples} labeled examples can be learned from{}", first.as_ref().map_or_else(String::new, |first| format!("; {first}")))]
    AllLeftOut {
        /// How many there are.
        examples: usize,
        /// The first of them, and why not.
        first: Option<LeftOut>,
    },
    /// There are not as many examples to hold out.
    #[error(
        "data.held_out is {held_out}, but only {labeled} training examples are labeled and {rest} are not; \
         lower it, or change data.fraction"
    )]
    NothingHeldOut {
        /// How many were asked for.
        held_out: usize,
        /// How many examples are labeled.
        labeled: usize,
        /// How many are not.
        rest: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no labeled examples: {fraction} of {examples} is less than one")]
    NoExamples {
        /// The labeled share.
        fraction: f64,
        /// The training examples.
        examples: usize,
    },
}

/// What is told while training.
pub trait Observer {
    /// A step was taken.
    fn step(&mut self, report: StepReport, steps: usize);
    /// Training goes on from a checkpoint.
    fn resumed(&mut self, step: usize);
    /// What follows is the training of this member of the committee, from 1, of so many.
    fn member(&mut self, _member: usize, _of: usize) {}
    /// What follows is the training of the parser itself.
    fn itself(&mut self) {}
}

/// An experiment, data read.
#[derive(Debug)]
pub struct Experiment {
    config: Config,
    task: Task,
    embeddings: Embeddings,
    train: Vec<LabeledExample>,
    left_out: Vec<LeftOut>,
    /// The rest of the training questions.
    unlabeled: Vec<UnlabeledExample>,
    test: Vec<TestExample>,
    /// Where the members of the committee are kept, if not in the run's folder.
    members: Option<PathBuf>,
}

impl Experiment {
    /// Reads the data of an experiment.
    ///
    /// # Errors
    /// If something about them is wrong.
    pub fn load(config: Config) -> Result<Self, ExperimentError> {
        Experiment::load_watched(config, &mut |_, _| {})
    }

    /// The same; `watch` hears how many of its labeled programs were run, which takes its time on a large database.
    ///
    /// # Errors
    /// If something about them is wrong.
    pub fn load_watched(
        config: Config,
        watch: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<Self, ExperimentError> {
        let read = Examples::read(&config.data)?;
        let examples = &read.train;
        let Division { first, rest } = Division::of(&config.data, examples.len())?;
        // What is held out teaches nothing, not even constants.
        let world = open_world(&config.data, &examples[..first])?;
        let embeddings = if config.data.embeddings.as_os_str().is_empty() {
            Embeddings::default()
        } else {
            Embeddings::open(&config.data.embeddings)?
        };
        // All questions are known, labeled or not.
        let said: Vec<String> = read.questions().flat_map(tokenize).collect();
        let task = Task::new(world, embeddings.words.iter().cloned().chain(said))?;
        let test = test_part(&config.data, &read)?;
        let programs = first + (examples.len() - rest) + test.len();
        let watched = Mutex::new((0, watch));
        let done = || {
            let (ran, watch) = &mut *watched.lock().unwrap_or_else(PoisonError::into_inner);
            *ran += 1;
            watch(*ran, programs);
        };
        let (train, mut left_out) = task.label(&examples[..first], &done)?;
        // A benchmark's own programs are all in its grammar; people's queries may not be.
        if config.data.dataset == Dataset::Overnight && !left_out.is_empty() {
            return Err(ExperimentError::LeftOut(left_out.swap_remove(0)));
        }
        if train.is_empty() {
            let examples = first;
            return Err(ExperimentError::AllLeftOut { examples, first: left_out.into_iter().next() });
        }
        let answered = ((examples.len() - rest) as f64 * config.data.answered).round() as usize;
        let hidden = task.test(&examples[rest..], &done)?.into_iter().enumerate();
        let hidden = hidden.map(|(index, example)| UnlabeledExample::hide(example, index < answered));
        let bare = read.bare.iter().map(|utterance| UnlabeledExample::bare(task.question(utterance)));
        let unlabeled = hidden.chain(bare).collect();
        let test = task.test(test, &done)?;
        let mut experiment =
            Experiment { config, task, embeddings, train, left_out, unlabeled, test, members: None };
        // A run answers as its labels decided, also where they are no longer.
        if experiment.config.eval.least == Reward::Auto {
            experiment.config.eval.least = experiment.success();
        }
        Ok(experiment)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is learned about.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The labeled training examples.
    pub fn train_examples(&self) -> &[LabeledExample] {
        &self.train
    }

    /// The labeled examples that cannot be learned from, and why.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The training questions that are not labeled.
    pub fn unlabeled_examples(&self) -> &[UnlabeledExample] {
        &self.unlabeled
    }

    /// The reward of the settings; `auto` is agreement for a committee, and else as the labeled examples decide it.
    pub fn reward(&self) -> Reward {
        match self.config.learn.reward {
            Reward::Auto if self.config.learn.committee > 0 => Reward::Agreement,
            Reward::Auto => self.success(),
            reward => reward,
        }
    }

    /// What a program must do at least to be right, as the labeled examples decide it.
    pub fn success(&self) -> Reward {
        let finds = |example: &LabeledExample| {
            self.task.finds(&self.task.text(&example.program, &example.question), &example.outcome)
        };
        Reward::least(self.train.iter().map(finds))
    }

    /// A judge of programs, by the reward of the settings.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn judge(&self) -> Result<Judge<'_>, TaskError> {
        Judge::new(&self.task, self.reward(), self.success())
    }

    /// What is evaluated on: the test examples, or held-out ones.
    pub fn test_examples(&self) -> &[TestExample] {
        &self.test
    }

    /// The same with the members of its committee in a folder that other runs may share.
    pub fn with_members(self, folder: Option<PathBuf>) -> Self {
        Experiment { members: folder, ..self }
    }

    /// A trainer before its first step.
    pub fn trainer(&self) -> Trainer {
        self.new_trainer(&self.config)
    }

    fn new_trainer(&self, config: &Config) -> Trainer {
        Trainer::new(config.train.clone(), config.learn.clone(), self.untrained(config))
    }

    /// A model that knows nothing yet.
    fn untrained(&self, config: &Config) -> Model {
        let random = Random::new(config.train.seed);
        let words = self.task.word_table(&self.embeddings, config.model.word, random.stream(10));
        Model::new(config.model.clone(), self.task.scene().clone(), words, random.stream(11))
    }

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
        // First: where it is, there is a run, and it can be gone on with.
        if !resume {
            folder.write("config.toml", settings_in(folder, &self.config).to_toml().as_bytes())?;
        }
        let learn = &self.config.learn;
        let model = match (learn.objective, &self.members) {
            (None, Some(members)) => self.as_member(members, folder, observer)?,
            (Some(_), _) if learn.committee > 0 => {
                let members = self.members(folder, observer)?;
                let student = committee::student(&self.config);
                let trainer = self.new_trainer(&student).taught_by(self.committee(&members)?);
                observer.itself();
                self.train(trainer, &student, folder, observer)?
            }
            _ => self.train(self.trainer(), &self.config, folder, observer)?,
        };
        self.evaluate(folder, &model)
    }

    /// Trains on labels alone where other runs may take the parser for their committees, or takes it from there.
    fn as_member(
        &self,
        members: &Path,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let config = committee::on_labels_alone(&self.config);
        let member = committee::folder(members, &config);
        let member = RunFolder::open(&member).or_else(|_| RunFolder::create(&member))?;
        let _lock = member.wait()?;
        let model = self.member(&config, &member, observer)?;
        for file in ["grammar.json", "vocabulary.json", "metrics.jsonl", "model.safetensors"] {
            folder.write(file, &member.read(file)?)?;
        }
        Ok(model)
    }

    /// A parser that learned from labels alone: the one in this folder, or trained there.
    fn member(
        &self,
        config: &Config,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let mut model = self.untrained(config);
        if folder.has("model.safetensors") {
            checkpoint::read_model(&folder.read("model.safetensors")?, model.parameters_mut()).map_err(
                |source| ExperimentError::Checkpoint { path: folder.path("model.safetensors"), source },
            )?;
            return Ok(model);
        }
        folder.write("config.toml", settings_in(folder, config).to_toml().as_bytes())?;
        let trainer = Trainer::new(config.train.clone(), config.learn.clone(), model);
        self.train(trainer, config, folder, observer)
    }

    /// How programs explain the words of questions, as far as labels tell.
    fn channel(&self) -> Channel {
        let labeled = self.train.iter().map(|example| &example.question);
        let unlabeled = self.unlabeled.iter().map(|example| &example.question);
        Channel::learn(&self.task, &self.train, labeled.chain(unlabeled))
    }

    /// What a committee of these parsers teaches.
    fn committee(&self, members: &[Model]) -> Result<Option<Committee>, ExperimentError> {
        let Some(explorer) = Explorer::new(&self.config.learn) else { return Ok(None) };
        let channel = (self.channel(), self.config.learn.channel);
        Ok(Some(Committee::ask(members, channel, &self.unlabeled, explorer, &mut self.judge()?)))
    }

    /// The members of the committee; those are trained that are not yet.
    fn members(
        &self,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Model>, ExperimentError> {
        let count = self.config.learn.committee;
        let root = self.members.clone().unwrap_or_else(|| folder.path("members"));
        let mut members: Vec<Option<Model>> = (0..count).map(|_| None).collect();
        // Another run may be training some of them: those are left for last.
        for patient in [false, true] {
            for (index, place) in members.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
                let config = committee::member(&self.config, index);
                let path = committee::folder(&root, &config);
                let member = RunFolder::open(&path).or_else(|_| RunFolder::create(&path))?;
                let _lock = match member.lock() {
                    Err(RunError::InUse(_)) if patient => member.wait()?,
                    Err(RunError::InUse(_)) => continue,
                    lock => lock?,
                };
                if !member.has("model.safetensors") {
                    observer.member(index + 1, count);
                }
                *place = Some(self.member(&config, &member, observer)?);
            }
        }
        Ok(members.into_iter().flatten().collect())
    }

    /// Trains in a folder, from its checkpoint if there is one.
    fn train(
        &self,
        mut trainer: Trainer,
        config: &Config,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let mut metrics = Vec::new();
        if folder.has("checkpoint.safetensors") {
            let content = folder.read("checkpoint.safetensors")?;
            trainer.restore(&content).map_err(|source| ExperimentError::Checkpoint {
                path: folder.path("checkpoint.safetensors"),
                source,
            })?;
            metrics = kept_metrics(folder, trainer.steps_taken())?;
            observer.resumed(trainer.steps_taken());
        } else {
            let grammar = serde_json::to_vec_pretty(&self.task.grammar_file()).unwrap_or_default();
            folder.write("grammar.json", &grammar)?;
            let words = serde_json::to_vec(self.task.vocabulary().words()).unwrap_or_default();
            folder.write("vocabulary.json", &words)?;
        }
        let steps = config.train.steps;
        let mut judge = self.judge()?;
        while trainer.steps_taken() < steps {
            let (report, _) = trainer.step(&self.train, &self.unlabeled, &mut judge);
            if report.step.is_multiple_of(10) || report.step == steps {
                // A line of numbers is always JSON.
                let _ = serde_json::to_writer(&mut metrics, &report);
                metrics.push(b'\n');
            }
            observer.step(report, steps);
            if report.step.is_multiple_of(config.train.checkpoint) || report.step == steps {
                folder.write("metrics.jsonl", &metrics)?;
                folder.write("checkpoint.safetensors", &trainer.checkpoint())?;
            }
        }
        let model = trainer.into_model();
        folder.write("model.safetensors", &checkpoint::write_model(model.parameters()))?;
        Ok(model)
    }

    /// Evaluates a model on the test examples and keeps what it answered.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn evaluate(&self, folder: &RunFolder, model: &Model) -> Result<Evaluation, ExperimentError> {
        let eval = &self.config.eval;
        let channel = self.channel();
        if eval.channel > 0.0 {
            folder.write(CHANNEL_FILE, &serde_json::to_vec(&channel).unwrap_or_default())?;
        }
        let parser = Explaining::new(&self.task, model, channel, eval.channel);
        keep_evaluation(folder, &parser, (&self.task, &self.test), eval, |evaluation| {
            folder.write("card.md", card(self, model, evaluation).as_bytes())
        })
    }
}

/// How the training examples are divided.
struct Division {
    /// The first that is not learned from.
    first: usize,
    /// The first that is neither learned from nor held out.
    rest: usize,
}

impl Division {
    fn of(config: &DataConfig, examples: usize) -> Result<Self, ExperimentError> {
        let labeled = (examples as f64 * config.fraction).floor() as usize;
        if labeled == 0 {
            return Err(ExperimentError::NoExamples { fraction: config.fraction, examples });
        }
        let held_out = config.held_out;
        let (first, rest) = match config.held_out_from {
            HeldOut::Labeled => (labeled.saturating_sub(held_out), labeled),
            HeldOut::Rest => (labeled, labeled + held_out),
        };
        if first == 0 || rest > examples {
            return Err(ExperimentError::NothingHeldOut { held_out, labeled, rest: examples - labeled });
        }
        Ok(Division { first, rest })
    }
}

/// What is evaluated on: the test examples, or held-out ones.
pub(crate) fn test_part<'e>(
    config: &DataConfig,
    read: &'e Examples,
) -> Result<&'e [Example], ExperimentError> {
    let Division { first, .. } = Division::of(config, read.train.len())?;
    Ok(match config.held_out {
        0 => &read.test,
        held_out => &read.train[first..first + held_out],
    })
}

/// Keeps what a parser answers to test questions, whatever `more` is to be kept, and then how good it is: where that is, the run is finished.
pub(crate) fn keep_evaluation(
    folder: &RunFolder,
    parser: &dyn Parser,
    (task, test): (&Task, &[TestExample]),
    config: &EvalConfig,
    more: impl FnOnce(&Evaluation) -> Result<(), RunError>,
) -> Result<Evaluation, ExperimentError> {
    let (evaluation, predictions) = evaluate(parser, task, test, config)?;
    let mut lines = Vec::new();
    for prediction in &predictions {
        let _ = serde_json::to_writer(&mut lines, prediction);
        let _ = lines.write_all(b"\n");
    }
    folder.write("predictions.jsonl", &lines)?;
    more(&evaluation)?;
    folder.write("evaluation.json", &serde_json::to_vec_pretty(&evaluation).unwrap_or_default())?;
    Ok(evaluation)
}

/// The settings as a run's folder keeps them: the folder of a project that the run lies in is said from there, so that both can be moved.
fn settings_in(folder: &RunFolder, config: &Config) -> Config {
    let mut config = config.clone();
    let whole = |path: &Path| std::fs::canonicalize(path).ok();
    if config.data.dataset == Dataset::Database
        && let (Some(run), Some(project)) = (whole(&folder.path("")), whole(&config.data.folder))
        && run.starts_with(&project)
    {
        config.data.folder = relative_path(&run, &project);
    }
    config
}

/// The metrics up to a step; what a killed run wrote beyond its checkpoint is written again.
fn kept_metrics(folder: &RunFolder, step: usize) -> Result<Vec<u8>, RunError> {
    if !folder.has("metrics.jsonl") {
        return Ok(vec![]);
    }
    let content = folder.read("metrics.jsonl")?;
    let text = String::from_utf8_lossy(&content);
    let kept = text
        .lines()
        .filter(|line| serde_json::from_str::<StepReport>(line).is_ok_and(|report| report.step <= step));
    Ok(kept.flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect())
}
