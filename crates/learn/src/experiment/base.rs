//! A pretrained parser, from which the parser of one database starts.

use super::error::ExperimentError;
use crate::inference::ConfidenceRecord;
use crate::reward::Success;
use crate::task::{GrammarRecord, Task, World};
use crate::teacher::NoisyChannel;
use crate::training::checkpoint::{self, CheckpointError};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use xpr_data::Embeddings;
use xpr_nn::{Matrix, Parameters, Random};
use xpr_parser::{Model, TrainableParser, Vocabulary};
use xpr_run::{
    DataConfig, Dataset, HeldOut, Manifest, PretrainConfig, PretrainDataConfig, RunError, RunFile, RunFolder,
};
use xpr_text::tokenize;

/// The name of the table of word vectors, the only parameter whose size depends on the vocabulary.
pub(super) const WORDS: &str = "encoder.words";

/// A pretrained parser. It knows no database: its words are those of many, and its rules those of the language.
#[derive(Debug)]
pub(crate) struct Base {
    /// The file of the weights, for errors.
    pub(super) file: PathBuf,
    /// The settings of pretraining.
    pub(super) config: PretrainConfig,
    pub(super) grammar: GrammarRecord,
    /// The words and their vectors; the first is the unknown word.
    pub(super) embeddings: Embeddings,
    /// The parameters, as a file of weights in full or half precision. Its word vectors are not used.
    pub(super) weights: Cow<'static, [u8]>,
    /// How sure its answers are, and what its candidates lose, fitted on databases that were held out.
    pub(super) confidence: Option<ConfidenceRecord>,
    /// How the words of questions go with rules and with items that many databases have. A base of an earlier version has none.
    pub(super) channel: Option<NoisyChannel>,
}

impl Base {
    /// Opens the folder that pretraining wrote, with other settings of `eval`.
    pub(super) fn pretrained(folder: &Path, settings: &[String]) -> Result<Self, ExperimentError> {
        let run = RunFolder::open(folder)?;
        if !run.has(RunFile::Databases) {
            let message = "this is not a base, but the run of one database; xpr pretrain makes a base";
            return Err(run.content_error(RunFile::Config, message).into());
        }
        if !run.has(RunFile::Model) {
            let message =
                "there are no weights: pretraining was not finished; resume it with xpr pretrain --resume";
            return Err(run.content_error(RunFile::Model, message).into());
        }
        let config = PretrainConfig::read(&run.path(RunFile::Config), settings, None)?;
        let manifest = Manifest::read(&run)?;
        let manifest = manifest.as_ref();
        let words: Vec<String> = run.read_checked_json(RunFile::Vocabulary, manifest)?;
        let weights = run.read_checked(RunFile::Model, manifest)?;
        let file = run.path(RunFile::Model);
        let table = checkpoint::matrix(&weights, WORDS)
            .map_err(|source| ExperimentError::Checkpoint { path: file.clone(), source })?;
        if table.rows() != words.len() {
            let message = "its words are not those of the weights; restore the file, or pretrain again";
            return Err(run.content_error(RunFile::Vocabulary, message).into());
        }
        let grammar = run.read_checked_json(RunFile::Grammar, manifest)?;
        let vectors: FxHashMap<String, Vec<f32>> =
            words.iter().enumerate().map(|(row, word)| (word.clone(), table.row(row).to_vec())).collect();
        let embeddings = Embeddings { size: table.columns(), words, vectors };
        let confidence = run.read_optional_json(RunFile::Confidence, manifest)?;
        let channel = run.read_optional_json(RunFile::NoisyChannel, manifest)?;
        Ok(Base { file, config, grammar, embeddings, weights: weights.into(), confidence, channel })
    }

    /// Returns the words of the base.
    pub(super) fn own_vocabulary(&self) -> Vocabulary {
        Vocabulary::open(self.embeddings.words.iter().cloned())
    }

    /// Returns the parser for a task.
    pub(super) fn model(&self, task: &Task) -> Result<Model, ExperimentError> {
        self.check_rules(task)?;
        let words = self.word_table(task.vocabulary());
        let mut model = Model::new(self.config.model.clone(), task.scene().clone(), words, Random::new(0));
        let copied = self.copy_to(model.parameters_mut());
        copied.map_err(|source| ExperimentError::Checkpoint { path: self.file.clone(), source })?;
        Ok(model)
    }

    /// Returns the words of the base with their vectors.
    pub(super) fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// Returns the initial word vectors. A word that the base does not know starts with the vector of the unknown word, so
    /// that a parser without training reads it as the base does.
    pub(super) fn word_table(&self, vocabulary: &Vocabulary) -> Matrix {
        let Embeddings { size, vectors, .. } = &self.embeddings;
        let mut table = vocabulary.table(*size, vectors, Random::new(0));
        let unknown = table.row(Vocabulary::UNKNOWN as usize).to_vec();
        for (row, word) in vocabulary.words().iter().enumerate() {
            if !vectors.contains_key(word) {
                table.row_mut(row).copy_from_slice(&unknown);
            }
        }
        table
    }

    /// Copies the parameters of the base, except for the word vectors.
    pub(super) fn copy_to(&self, parameters: &mut Parameters) -> Result<(), CheckpointError> {
        checkpoint::read_model_except(&self.weights, parameters, WORDS)
    }

    /// Returns how the confidence of answers is estimated without labels.
    pub(super) fn confidence(&self) -> ConfidenceRecord {
        self.confidence.clone().unwrap_or_else(ConfidenceRecord::of_other_databases)
    }

    /// Checks that the base has not learned a label that an experiment holds back.
    pub(super) fn check_labels(&self, data: &DataConfig) -> Result<(), ExperimentError> {
        let PretrainDataConfig { domains, split, fraction, .. } = &self.config.data;
        let knows_domain = data.dataset == Dataset::Overnight && domains.contains(&data.domain);
        let takes_labels = data.held_out > 0 && data.held_out_from == HeldOut::Labeled;
        if !knows_domain || (*split == data.split && *fraction <= data.fraction && !takes_labels) {
            return Ok(());
        }
        let message = format!(
            "it was trained on {} % of the labels of {} in the order of split {split}, some of which this experiment \
             holds back; use the same data.split, at least as large a data.fraction, and held-out examples that \
             are not labeled",
            fraction * 100.0,
            data.domain
        );
        Err(RunError::Content { path: self.file.clone(), message }.into())
    }

    /// Returns what the labels of pretraining ask of a program.
    pub(super) fn success_by_labels(&self) -> Success {
        Success::from_reward(self.config.eval.prefer, Success::Executes)
    }

    /// Checks that the rules of a task are those of the base.
    fn check_rules(&self, task: &Task) -> Result<(), ExperimentError> {
        if task.grammar_record().has_rules_of(&self.grammar) {
            return Ok(());
        }
        let message = format!(
            "it is a parser for {} with other rules than those of this task; pretrain again, or start from nothing",
            self.grammar.language()
        );
        Err(RunError::Content { path: self.file.clone(), message }.into())
    }
}

/// Returns the open vocabulary for a world: the words that have vectors, and after them those of the items and of `words` that
/// have none, not even by their parts.
pub(super) fn open_vocabulary(embeddings: &Embeddings, world: &dyn World, words: Vec<String>) -> Vocabulary {
    let known = Vocabulary::open(embeddings.words.iter().cloned());
    let phrases = world.environment().items().iter().map(|item| item.phrase.as_str());
    let of_items = phrases.flat_map(tokenize).flat_map(|word| known.parts(&word));
    let is_new = |word: &String| known.id(word) == Vocabulary::UNKNOWN;
    let new = words.into_iter().chain(of_items).filter(is_new);
    Vocabulary::open(embeddings.words.iter().cloned().chain(new))
}
