//! A whole experiment: read, train, evaluate, keep.

use crate::checkpoint::{self, CheckpointError};
use crate::dataset::{Examples, open_world, reopen_world};
use crate::task::GrammarFile;
use crate::{
    Config, ConfigError, Dataset, Evaluation, HeldOut, Judge, LabeledExample, LeftOut, Reward, RunError,
    RunFolder, StepReport, Task, TaskError, TestExample, Trainer, UnlabeledExample, evaluate,
};
use std::io::Write;
use std::path::Path;
use thiserror::Error;
use xpr_data::{DataError, Embeddings};
use xpr_exec::overnight;
use xpr_nn::{Matrix, Random};
use xpr_parser::{Model, tokenize};

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
}

impl Experiment {
    /// Reads the data of an experiment.
    ///
    /// # Errors
    /// If something about them is wrong.
    pub fn load(config: Config) -> Result<Self, ExperimentError> {
        let read = Examples::read(&config.data)?;
        let labeled = (read.train.len() as f64 * config.data.fraction).floor() as usize;
        let examples = &read.train;
        if labeled == 0 {
            return Err(ExperimentError::NoExamples {
                fraction: config.data.fraction,
                examples: examples.len(),
            });
        }
        let held_out = config.data.held_out;
        let (first, rest) = match config.data.held_out_from {
            HeldOut::Labeled => (labeled.saturating_sub(held_out), labeled),
            HeldOut::Rest => (labeled, labeled + held_out),
        };
        if first == 0 || rest > examples.len() {
            return Err(ExperimentError::NothingHeldOut {
                held_out,
                labeled,
                rest: examples.len() - labeled,
            });
        }
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
        let test = match held_out {
            0 => read.test.as_slice(),
            _ => &examples[first..first + held_out],
        };
        let (train, mut left_out) = task.label(&examples[..first])?;
        // A benchmark's own programs are all in its grammar; people's queries may not be.
        if config.data.dataset == Dataset::Overnight && !left_out.is_empty() {
            return Err(ExperimentError::LeftOut(left_out.swap_remove(0)));
        }
        if train.is_empty() {
            let examples = first;
            return Err(ExperimentError::AllLeftOut { examples, first: left_out.into_iter().next() });
        }
        let answered = ((examples.len() - rest) as f64 * config.data.answered).round() as usize;
        let hidden = task.test(&examples[rest..])?.into_iter().enumerate();
        let hidden = hidden.map(|(index, example)| UnlabeledExample::hide(example, index < answered));
        let bare = read.bare.iter().map(|utterance| UnlabeledExample::bare(task.question(utterance)));
        let unlabeled = hidden.chain(bare).collect();
        let test = task.test(test)?;
        Ok(Experiment { config, task, embeddings, train, left_out, unlabeled, test })
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

    /// The reward of the settings; `auto` as the labeled examples decide it.
    pub fn reward(&self) -> Reward {
        let finds = |example: &LabeledExample| {
            self.task.finds(&self.task.text(&example.program, &example.question), &example.outcome)
        };
        self.config.learn.reward.decide(self.train.iter().map(finds))
    }

    /// A judge of programs, by the reward of the settings.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn judge(&self) -> Result<Judge<'_>, TaskError> {
        Judge::new(&self.task, self.reward())
    }

    /// What is evaluated on: the test examples, or held-out ones.
    pub fn test_examples(&self) -> &[TestExample] {
        &self.test
    }

    /// A trainer before its first step.
    pub fn trainer(&self) -> Trainer {
        let random = Random::new(self.config.train.seed);
        let words = self.task.word_table(&self.embeddings, self.config.model.word, random.stream(10));
        let model =
            Model::new(self.config.model.clone(), self.task.scene().clone(), words, random.stream(11));
        Trainer::new(self.config.train.clone(), self.config.learn.clone(), model)
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
        let mut trainer = self.trainer();
        let mut metrics = Vec::new();
        if resume && folder.has("checkpoint.safetensors") {
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
            // Last: where it is, there is a run.
            folder.write("config.toml", self.config.to_toml().as_bytes())?;
        }
        let steps = self.config.train.steps;
        let mut judge = self.judge()?;
        while trainer.steps_taken() < steps {
            let (report, _) = trainer.step(&self.train, &self.unlabeled, &mut judge);
            if report.step.is_multiple_of(10) || report.step == steps {
                // A line of numbers is always JSON.
                let _ = serde_json::to_writer(&mut metrics, &report);
                metrics.push(b'\n');
            }
            observer.step(report, steps);
            if report.step.is_multiple_of(self.config.train.checkpoint) || report.step == steps {
                folder.write("metrics.jsonl", &metrics)?;
                folder.write("checkpoint.safetensors", &trainer.checkpoint())?;
            }
        }
        let model = trainer.into_model();
        folder.write("model.safetensors", &checkpoint::write_model(model.parameters()))?;
        self.evaluate(folder, &model)
    }

    /// Evaluates a model on the test examples and keeps what it answered.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn evaluate(&self, folder: &RunFolder, model: &Model) -> Result<Evaluation, ExperimentError> {
        let (evaluation, predictions) = evaluate(model, &self.task, &self.test, self.config.eval.beam)?;
        let mut lines = Vec::new();
        for prediction in &predictions {
            let _ = serde_json::to_writer(&mut lines, prediction);
            let _ = lines.write_all(b"\n");
        }
        folder.write("predictions.jsonl", &lines)?;
        folder.write("evaluation.json", &serde_json::to_vec_pretty(&evaluation).unwrap_or_default())?;
        Ok(evaluation)
    }
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

/// Loads the model of a finished run. Needs nothing but its folder.
///
/// # Errors
/// If the folder is not that of a finished run, or its files do not fit together.
pub fn load_run(folder: &Path) -> Result<(RunFolder, Config, Task, Model), ExperimentError> {
    let run = RunFolder::open(folder)?;
    let config = Config::read(Some(&run.path("config.toml")), &[])?;
    let json_error = |name: &'static str| {
        let run = run.clone();
        move |error: serde_json::Error| run.content_error(name, format!("it is not what xpr wrote: {error}"))
    };
    let grammar: GrammarFile =
        serde_json::from_slice(&run.read("grammar.json")?).map_err(json_error("grammar.json"))?;
    let words: Vec<String> =
        serde_json::from_slice(&run.read("vocabulary.json")?).map_err(json_error("vocabulary.json"))?;
    let world = reopen_world(&config.data, &grammar)?;
    let task = Task::new(world, words.iter().cloned())?;
    if task.grammar_file() != grammar {
        let message = "its rules or items are not those this version makes of this world; train again";
        return Err(run.content_error("grammar.json", message).into());
    }
    if task.vocabulary().words() != words {
        let message = "its words are not those the model was made with; train again, or restore the file";
        return Err(run.content_error("vocabulary.json", message).into());
    }
    if !run.has("model.safetensors") {
        let message = "there are no weights: training was not finished; go on with xpr train --resume";
        return Err(run.content_error("model.safetensors", message).into());
    }
    let content = run.read("model.safetensors")?;
    let word = word_size(&content).unwrap_or(config.model.word);
    let table = Matrix::zeros(task.vocabulary().words().len(), word);
    let mut model = Model::new(config.model.clone(), task.scene().clone(), table, Random::new(0));
    checkpoint::read_model(&content, model.parameters_mut())
        .map_err(|source| ExperimentError::Checkpoint { path: run.path("model.safetensors"), source })?;
    Ok((run, config, task, model))
}

/// The size of a word's vector in a file of weights.
fn word_size(content: &[u8]) -> Option<usize> {
    let file = safetensors::SafeTensors::deserialize(content).ok()?;
    file.tensor("encoder.words").ok()?.shape().get(1).copied().filter(|size| *size <= 4096)
}
