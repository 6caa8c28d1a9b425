//! What a run was trained on, as fingerprints, and with which settings.
//!
//! Data are corrected while runs exist. A run that resumes with other labels, or an ensemble whose members saw other
//! labels, would be a mixture that nobody asked for. So a run records fingerprints of its data, and whoever uses what it
//! trained compares them.

use super::base::Base;
use super::error::ExperimentError;
use crate::task::dataset::Examples;
use crate::task::{DatabaseWorld, GrammarRecord, LabeledExample, Task};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use xpr_data::{DataError, Example};
use xpr_run::{
    BUILT_IN, Config, DataConfig, Dataset, Manifest, RunError, RunFile, RunFolder, TrainingSettings,
    fingerprint,
};
use xpr_sentence::SentenceEncoder;

/// The content of `data.json`: a fingerprint of each part of the data, and the settings of training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DataRecord {
    /// The training examples, of which a part may be labeled or held out.
    examples: String,
    /// The questions without programs.
    unlabeled: String,
    /// The test examples.
    test: String,
    /// The word vectors.
    vectors: String,
    /// The weights of the sentence encoder. It is left out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoder: Option<String>,
    /// What the database declares. It is left out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    /// The rules and items of the grammar. It is left out where the world was not opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar: Option<String>,
    /// The questions of the labels that can be learned from, which depends on the cells of a database. It is left out like the grammar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learned: Option<String>,
    /// The settings that training depends on. They are left out where its folder is found by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<TrainingSettings>,
}

impl DataRecord {
    /// Returns the record of the files that the settings name.
    fn of_files(config: &Config, examples: &Examples, vectors: &mut VectorFiles) -> Result<Self, DataError> {
        let pairs = |examples: &[Example]| fingerprint(examples.iter().flat_map(texts));
        Ok(DataRecord {
            examples: training_examples(examples),
            unlabeled: fingerprint(examples.bare.iter().map(String::as_str)),
            test: pairs(&examples.test),
            vectors: vectors.fingerprint(&match &config.base {
                base if base.is_built_in() => base.folder.clone(),
                base if base.is_given() => Base::identifying_file(&base.folder),
                _ => config.data.embeddings.clone(),
            })?,
            encoder: match config.learn.uses_encoder() {
                true => Some(vectors.fingerprint(&SentenceEncoder::weights_file(&config.learn.encoder))?),
                false => None,
            },
            schema: None,
            grammar: None,
            learned: None,
            settings: None,
        })
    }

    /// Returns the record of an experiment's data.
    pub(super) fn new(config: &Config, examples: &Examples) -> Result<Self, DataError> {
        DataRecord::of_files(config, examples, &mut VectorFiles::default())
    }

    /// Returns the record of the databases of pretraining. Each database has a name and examples.
    pub(super) fn of_databases<'e>(
        train: impl Iterator<Item = (&'e str, &'e [Example])>,
        held_out: impl Iterator<Item = (&'e str, &'e [Example])>,
        embeddings: &Path,
    ) -> Result<Self, DataError> {
        Ok(DataRecord {
            examples: databases(train),
            unlabeled: fingerprint([]),
            test: databases(held_out),
            vectors: VectorFiles::default().fingerprint(embeddings)?,
            encoder: None,
            schema: None,
            grammar: None,
            learned: None,
            settings: None,
        })
    }

    /// Adds what the database of a task declares, and the rules and items of its grammar.
    pub(super) fn with_grammar(self, task: &Task) -> Self {
        let schema = task.world().declaration().map(str::to_owned);
        DataRecord { schema, ..self.with_grammars([task.grammar_record()]) }
    }

    /// Adds the rules and items of the grammars of some databases.
    pub(super) fn with_grammars(self, grammars: impl IntoIterator<Item = GrammarRecord>) -> Self {
        // A record of texts and numbers has a form in JSON.
        let text =
            |grammar: GrammarRecord| serde_json::to_string(&grammar.without_labels()).unwrap_or_default();
        let grammars: Vec<String> = grammars.into_iter().map(text).collect();
        DataRecord { grammar: Some(fingerprint(grammars.iter().map(String::as_str))), ..self }
    }

    /// Adds the labels that can be learned from.
    pub(super) fn with_learned(self, labels: &[LabeledExample]) -> Self {
        let learned = fingerprint(labels.iter().map(|label| label.utterance.as_str()));
        DataRecord { learned: Some(learned), ..self }
    }

    /// Adds the settings that training depends on.
    pub(super) fn with_settings(self, settings: TrainingSettings) -> Self {
        DataRecord { settings: Some(settings), ..self }
    }

    /// Returns the names of the parts that are not as recorded.
    fn differences(&self, recorded: &DataRecord) -> Vec<&'static str> {
        let differ = |now: &Option<String>, then: &Option<String>| {
            now.as_ref().zip(then.as_ref()).is_some_and(|(now, then)| now != then)
        };
        // A table that is left out is declared, and the grammar has no item of it.
        let other_grammar = match self.grammar.is_some() && recorded.grammar.is_some() {
            true => self.grammar != recorded.grammar,
            false => differ(&self.schema, &recorded.schema),
        };
        let parts = [
            ("the training examples", self.examples != recorded.examples),
            ("the unlabeled questions", self.unlabeled != recorded.unlabeled),
            ("the test examples", self.test != recorded.test),
            ("the word vectors", self.vectors != recorded.vectors),
            ("the sentence encoder", self.encoder != recorded.encoder),
            ("the tables, columns or constants", other_grammar),
            (
                "the cells, and with them the labels that can be learned from,",
                differ(&self.learned, &recorded.learned),
            ),
        ];
        parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
    }

    /// Returns a record of what a member of an ensemble is trained on. It is not tested, and no encoder suggests programs to it.
    pub(super) fn of_member(&self) -> Self {
        DataRecord { test: fingerprint([]), encoder: None, settings: None, ..self.clone() }
    }

    /// Checks that a folder was trained on these data, with these settings. Returns false if that is unknown, because an earlier version trained
    /// it.
    ///
    /// # Errors
    /// If it was trained on other data, or its settings were edited.
    pub(super) fn check(&self, folder: &RunFolder) -> Result<bool, ExperimentError> {
        let Some(recorded) = DataRecord::read(folder)? else { return Ok(false) };
        let folder = || folder.folder().to_owned();
        let changed = self.differences(&recorded);
        if !changed.is_empty() {
            return Err(ExperimentError::OtherData { folder: folder(), changed: changed.join(" and ") });
        }
        let differing = match (&self.settings, &recorded.settings) {
            (Some(now), Some(then)) => now.differences(then),
            _ => vec![],
        };
        match differing.is_empty() {
            true => Ok(true),
            false => Err(ExperimentError::EditedSettings { folder: folder(), differing }),
        }
    }

    /// Returns whether the training examples are those that a folder was trained on. If it does not say which they were, they may be others.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub(super) fn has_examples(folder: &RunFolder, examples: &Examples) -> Result<bool, RunError> {
        let recorded = DataRecord::read(folder)?;
        Ok(recorded.is_some_and(|recorded| recorded.examples == training_examples(examples)))
    }

    /// Reads the record of a folder. Returns nothing if an earlier version trained it.
    ///
    /// # Errors
    /// If the file cannot be read, or is not the one that training wrote.
    fn read(folder: &RunFolder) -> Result<Option<Self>, RunError> {
        folder.read_optional_json(RunFile::Data, Manifest::read(folder)?.as_ref())
    }

    /// Records the data in a folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), RunError> {
        folder.write_json(RunFile::Data, self)
    }
}

fn training_examples(examples: &Examples) -> String {
    fingerprint(examples.canonical.iter().chain(&examples.train).flat_map(texts))
}

fn texts(example: &Example) -> [&str; 2] {
    [example.utterance.as_str(), example.program.as_str()]
}

/// Returns the fingerprint of the names and examples of databases.
fn databases<'e>(databases: impl Iterator<Item = (&'e str, &'e [Example])>) -> String {
    let parts = databases.flat_map(|(name, examples)| {
        let examples = examples.iter().flat_map(texts);
        std::iter::once(name).chain(examples)
    });
    fingerprint(parts)
}

/// The fingerprints of files of word vectors and bases. Each is computed once.
#[derive(Debug, Default)]
struct VectorFiles(HashMap<PathBuf, String>);

impl VectorFiles {
    fn fingerprint(&mut self, path: &Path) -> Result<String, DataError> {
        if path.as_os_str().is_empty() {
            return Ok(fingerprint([]));
        }
        if path == Path::new(BUILT_IN) {
            return Ok(fingerprint([xpr_base::CHECKSUMS]));
        }
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let content =
            xpr_data::read_bytes(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
        let computed = xpr_run::fingerprint_bytes(&content);
        self.0.insert(path.to_owned(), computed.clone());
        Ok(computed)
    }
}

/// Compares runs with the data that their settings name now.
#[derive(Debug, Default)]
pub struct DataComparison {
    vectors: VectorFiles,
    /// What each database declares, if it can be opened.
    schemas: HashMap<(PathBuf, String), Option<String>>,
}

impl DataComparison {
    /// Checks that the examples, the word vectors, and the tables and columns of a run are those it was trained on. A run of an earlier version has no
    /// record of them, and data that are gone cannot be compared; neither is an error.
    ///
    /// # Errors
    /// If the data changed, with what changed.
    pub fn check(&mut self, run: &RunFolder, config: &Config) -> Result<(), ExperimentError> {
        let examples = match Examples::read(&config.data) {
            Ok(examples) => examples,
            Err(_) => return Ok(()),
        };
        match DataRecord::of_files(config, &examples, &mut self.vectors) {
            Ok(now) => DataRecord { schema: self.schema(&config.data), ..now }.check(run).map(|_| ()),
            Err(_) => Ok(()),
        }
    }

    fn schema(&mut self, data: &DataConfig) -> Option<String> {
        let DataConfig { dataset: Dataset::Database, folder, database, .. } = data else { return None };
        let read = || DatabaseWorld::declaration_of(database, folder).ok();
        self.schemas.entry((folder.clone(), database.clone())).or_insert_with(read).clone()
    }
}

/// Returns a note about a folder that does not say what it was trained on.
pub(super) fn without_data_record(folder: &RunFolder) -> String {
    format!(
        "{} has no {}, because an earlier version of xpr trained it; whether its data changed since is unknown",
        folder.folder().display(),
        RunFile::Data.name()
    )
}
