//! A finished run, opened again.

use crate::channel::{CHANNEL_FILE, Channel, Explaining};
use crate::dataset::{Examples, reopen_world};
use crate::experiment::{keep_evaluation, test_part};
use crate::task::GrammarFile;
use crate::{Config, Evaluation, ExperimentError, Ranker, RunFolder, Task, TaskError, checkpoint};
use std::path::Path;
use xpr_nn::{Matrix, Random};
use xpr_parser::Model;

/// What a finished run learned. It needs nothing but its folder, and questions are seen with the words and constants it was trained
/// with, whatever was added to its files since.
#[derive(Debug)]
pub struct TrainedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// Its settings.
    pub config: Config,
    /// What it is about.
    pub task: Task,
    /// The network.
    pub model: Model,
    channel: Option<Channel>,
}

impl TrainedRun {
    /// Opens the folder of a finished run.
    ///
    /// # Errors
    /// If it is none, or its files do not fit together.
    pub fn open(folder: &Path) -> Result<Self, ExperimentError> {
        let run = RunFolder::open(folder)?;
        let config = Config::read(Some(&run.path("config.toml")), &[])?;
        let json_error = |name: &'static str| {
            let run = run.clone();
            move |error: serde_json::Error| {
                run.content_error(name, format!("it is not what xpr wrote: {error}"))
            }
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
        // A run without one answers alone.
        let channel = match run.has(CHANNEL_FILE) {
            true => Some(serde_json::from_slice(&run.read(CHANNEL_FILE)?).map_err(json_error(CHANNEL_FILE))?),
            false => None,
        };
        Ok(TrainedRun { folder: run, config, task, model, channel })
    }

    /// The parser: the network and, if it learned one, its channel.
    pub fn parser(&self) -> Explaining<'_> {
        let (channel, weight) = match &self.channel {
            Some(channel) => (channel.clone(), self.config.eval.channel),
            None => (Channel::default(), 0.0),
        };
        Explaining::new(&self.task, &self.model, channel, weight)
    }

    /// What chooses among its candidates.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn ranker(&self) -> Result<Ranker<'_>, TaskError> {
        Ranker::new(&self.task, self.config.eval.least)
    }

    /// Evaluates it on its test questions, and keeps what it answered.
    ///
    /// # Errors
    /// If the questions cannot be read, or a file not be written.
    pub fn evaluate(&self) -> Result<Evaluation, ExperimentError> {
        let TrainedRun { folder, config, task, .. } = self;
        let test = task.test(test_part(&config.data, &Examples::read(&config.data)?)?, &|| {})?;
        keep_evaluation(folder, &self.parser(), (task, &test), &config.eval, |_| Ok(()))
    }
}

/// The size of a word's vector in a file of weights.
fn word_size(content: &[u8]) -> Option<usize> {
    let file = safetensors::SafeTensors::deserialize(content).ok()?;
    file.tensor("encoder.words").ok()?.shape().get(1).copied().filter(|size| *size <= 4096)
}
