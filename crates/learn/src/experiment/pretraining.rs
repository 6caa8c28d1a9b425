//! Pretraining: one parser for many databases, from which the parsers of other databases start.
//!
//! Batches mix questions of all databases. A question carries the scene of its database, and no parameter belongs to a
//! database, so training does not differ from that of one database. A database is open only while its questions are
//! prepared: what stays in memory is its scene and its questions, not its cells.

use super::data_record::DataRecord;
use super::error::ExperimentError;
use super::load::open_embeddings;
use super::observer::Observer;
use super::progress::RecordedProgress;
use super::training_loop::{begin_or_restore, take_steps};
use super::zero_shot::{DatabaseRecord, ZeroShotEvaluation};
use crate::reward::Success;
use crate::task::databases::LabeledDatabase;
use crate::task::{GrammarRecord, LabeledExample, Task, TaskError};
use crate::teacher::{ChannelLearner, NoisyChannel};
use crate::training::{RandomStream, Trainer};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Mutex, PoisonError};
use xpr_data::{Embeddings, Example};
use xpr_parser::{Model, Scene, Vocabulary};
use xpr_run::{Evaluation, LearnConfig, PretrainConfig, Reward, RunFile, RunFolder};
use xpr_text::tokenize;

/// The number of databases in whose questions a word must occur to get a vector of its own, if there is no pretrained one.
const DATABASES_PER_WORD: usize = 2;

/// Pretraining whose data are loaded.
#[derive(Debug)]
pub struct Pretraining {
    config: PretrainConfig,
    embeddings: Embeddings,
    vocabulary: Vocabulary,
    /// For each word, the number of databases that have it in their questions.
    databases_of: FxHashMap<String, usize>,
    grammar: GrammarRecord,
    /// The scene of a database.
    scene: Scene,
    train: Vec<LabeledExample>,
    held_out: Vec<LabeledDatabase>,
    databases: Vec<DatabaseRecord>,
    data: DataRecord,
    channel: NoisyChannel,
}

impl Pretraining {
    /// Finds the databases that the settings name, and prepares their questions. `watch` is called with the number of
    /// questions prepared so far, and of all.
    ///
    /// # Errors
    /// If the settings or the data have an error.
    pub fn load(
        mut config: PretrainConfig,
        watch: &mut (dyn FnMut(usize, usize) + Send),
    ) -> Result<Self, ExperimentError> {
        let databases = LabeledDatabase::of_settings(&config.data)?;
        let (train, held_out) = LabeledDatabase::hold_out(databases, config.data.held_out)?;
        let train = with_examples(train)?;
        let data = data_record(&config, &train, &held_out)?;
        let embeddings = open_embeddings(&config.data.embeddings)?;
        let databases_of = count_databases(&train);
        let vocabulary = vocabulary(&embeddings, &train, &databases_of);

        let questions = train.iter().map(|(_, examples)| examples.len()).sum();
        let watched = Mutex::new((0, watch));
        let done = || {
            let (prepared, watch) = &mut *watched.lock().unwrap_or_else(PoisonError::into_inner);
            *prepared += 1;
            watch(*prepared, questions);
        };
        let mut prepared = PreparedQuestions::new();
        let (mut language, mut grammars) = (None, Vec::new());
        for (database, examples) in &train {
            let task = database.open(&vocabulary)?;
            prepared.add(database, &task, examples, &done)?;
            grammars.push(task.grammar_record());
            language.get_or_insert_with(|| {
                let signatures = task.scene().grammar().signatures();
                (GrammarRecord::of_rules(task.language().name(), signatures), task.scene().clone())
            });
        }
        let PreparedQuestions { labeled, records, finds, channel } = prepared;
        let Some((grammar, scene)) = language.filter(|_| !labeled.is_empty()) else {
            return Err(ExperimentError::AllLeftOut { examples: questions, first: None });
        };
        let data = data.with_grammars(grammars).with_learned(&labeled);
        let data = data.with_settings(config.training_settings()?);
        // Recorded, because a parser that starts from this one without labels needs it.
        if config.eval.prefer == Reward::Auto {
            config.eval.prefer = Success::from_labels(finds).reward();
        }
        Ok(Pretraining {
            config,
            embeddings,
            vocabulary,
            databases_of,
            grammar,
            scene,
            train: labeled,
            held_out,
            databases: records,
            data,
            channel: channel.learn_common(),
        })
    }

    /// Returns the words that pretraining needs vectors for, beside the frequent words of the language: those of the questions and
    /// of the names of tables and columns. Databases that are held out say nothing. `watch` is called with the number of databases
    /// read so far, and of all.
    ///
    /// # Errors
    /// If a database or its questions cannot be read.
    pub fn words(
        config: &PretrainConfig,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<String>, ExperimentError> {
        let databases = LabeledDatabase::of_settings(&config.data)?;
        let (train, _) = LabeledDatabase::hold_out(databases, config.data.held_out)?;
        let mut words = Vec::new();
        let mut known = FxHashSet::default();
        for (index, database) in train.iter().enumerate() {
            words.extend(database.words()?.into_iter().filter(|word| known.insert(word.clone())));
            watch(index + 1, train.len());
        }
        Ok(words)
    }

    /// Checks that the questions and word vectors that settings name are those a folder was trained on. Opens no database, which is fast.
    ///
    /// # Errors
    /// If they are others, or cannot be read.
    pub fn check_data(config: &PretrainConfig, folder: &RunFolder) -> Result<(), ExperimentError> {
        let databases = LabeledDatabase::of_settings(&config.data)?;
        let (train, held_out) = LabeledDatabase::hold_out(databases, config.data.held_out)?;
        data_record(config, &with_examples(train)?, &held_out)?.check(folder).map(|_| ())
    }

    /// Returns the settings.
    pub fn config(&self) -> &PretrainConfig {
        &self.config
    }

    /// Returns the examples that are trained on, of all databases.
    pub fn train_examples(&self) -> &[LabeledExample] {
        &self.train
    }

    /// Returns the databases that are trained on.
    pub fn databases(&self) -> &[DatabaseRecord] {
        &self.databases
    }

    /// Returns the names of the databases that are held out.
    pub fn held_out(&self) -> impl Iterator<Item = &str> {
        self.held_out.iter().map(|database| database.name.as_str())
    }

    /// Trains in a folder, from its last checkpoint if `resume`, and evaluates on the databases that are held out.
    ///
    /// # Errors
    /// If a file cannot be written, or a checkpoint is not that of these settings and data.
    pub fn run(
        &self,
        folder: &RunFolder,
        resume: bool,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, ExperimentError> {
        let _lock = folder.lock()?;
        if resume {
            self.data.check(folder)?;
        } else {
            self.data.write(folder)?;
            folder.write(RunFile::Config, self.config.to_toml()?.as_bytes())?;
        }
        let observer = &mut RecordedProgress::new(folder, observer);
        let mut trainer = self.trainer();
        let parser = (&self.grammar, self.vocabulary.words());
        if !begin_or_restore(&mut trainer, parser, self.config.train.steps, folder, observer)? {
            folder.write_json(RunFile::Databases, &self.databases)?;
        }
        folder.write_json(RunFile::NoisyChannel, &self.channel)?;
        let mut model = take_steps(trainer, None, (&self.train, &[]), &self.config.train, folder, observer)?;
        let evaluation = self.evaluate(folder, &mut model)?;
        folder.remove(RunFile::Progress)?;
        Ok(evaluation)
    }

    fn trainer(&self) -> Trainer {
        let PretrainConfig { model, train, .. } = &self.config;
        let random = RandomStream::WordVectors.of(train.seed);
        let size = if self.embeddings.size > 0 { self.embeddings.size } else { model.word };
        let words = self.vocabulary.table(size, &self.embeddings.vectors, random);
        let weights = RandomStream::Weights.of(train.seed);
        let mut model = Model::new(model.clone(), self.scene.clone(), words, weights);
        if train.words > 0 {
            model.freeze_words(self.frozen_words(train.words));
        }
        Trainer::new(train.clone(), &LearnConfig::default(), model)
    }

    /// Returns, for each word of the vocabulary, whether it has a pretrained vector and is not among the `trained` words that
    /// occur in the most databases.
    fn frozen_words(&self, trained: usize) -> Vec<bool> {
        let words = self.vocabulary.words();
        let count = |id: usize| self.databases_of.get(&words[id]).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|&id| (std::cmp::Reverse(count(id)), id));
        let mut frozen: Vec<bool> =
            words.iter().map(|word| self.embeddings.vectors.contains_key(word)).collect();
        order.into_iter().take(trained).for_each(|id| frozen[id] = false);
        frozen
    }

    /// Evaluates a model on the databases that are held out, and records how confidence is estimated, the predictions and, last, the
    /// evaluation.
    fn evaluate(&self, folder: &RunFolder, model: &mut Model) -> Result<Evaluation, ExperimentError> {
        let (held_out, confidence) = ZeroShotEvaluation::fit(
            model,
            (&self.vocabulary, &self.channel),
            &self.held_out,
            &self.config.eval,
        )?;
        if let Some(confidence) = &confidence {
            folder.write_json(RunFile::Confidence, confidence)?;
        }
        let evaluation = held_out.over_questions();
        folder.write_json(RunFile::Databases, &[self.databases.as_slice(), &held_out.databases].concat())?;
        folder.write_json_lines(RunFile::Predictions, &held_out.predictions)?;
        folder.finish(&evaluation)?;
        Ok(evaluation)
    }
}

/// The questions of the databases so far, prepared for training.
struct PreparedQuestions {
    labeled: Vec<LabeledExample>,
    records: Vec<DatabaseRecord>,
    /// For each labeled program that executes, whether it finds something.
    finds: Vec<bool>,
    channel: ChannelLearner,
}

impl PreparedQuestions {
    fn new() -> Self {
        PreparedQuestions { labeled: vec![], records: vec![], finds: vec![], channel: ChannelLearner::new() }
    }

    fn add(
        &mut self,
        database: &LabeledDatabase,
        task: &Task,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
    ) -> Result<(), TaskError> {
        // Constants of labels are not learned: nobody would know them in another database.
        let (labeled, left_out) = task.label(examples, done)?;
        let executed = labeled.iter().filter(|example| example.outcome.executes());
        self.finds.extend(executed.map(|LabeledExample { question, program, outcome, .. }| {
            task.finds_something(&task.text(program, question), outcome)
        }));
        self.records.push(DatabaseRecord {
            name: database.name.clone(),
            questions: examples.len(),
            left_out: left_out.len(),
            evaluation: None,
        });
        self.channel.ask(labeled.iter().map(|example| &example.question));
        self.channel.label(task, &labeled);
        self.labeled.extend(labeled);
        task.check_unchanged()
    }
}

/// Returns the record of the questions of databases, and of the word vectors.
fn data_record(
    config: &PretrainConfig,
    train: &[(LabeledDatabase, Vec<Example>)],
    held_out: &[LabeledDatabase],
) -> Result<DataRecord, ExperimentError> {
    let held_out = with_examples(held_out.to_vec())?;
    Ok(DataRecord::of_databases(named(train), named(&held_out), &config.data.embeddings)?)
}

fn with_examples(databases: Vec<LabeledDatabase>) -> Result<Vec<(LabeledDatabase, Vec<Example>)>, TaskError> {
    databases.into_iter().map(|database| Ok((database.clone(), database.examples()?))).collect()
}

fn named(databases: &[(LabeledDatabase, Vec<Example>)]) -> impl Iterator<Item = (&str, &[Example])> {
    databases.iter().map(|(database, examples)| (database.name.as_str(), examples.as_slice()))
}

/// Returns, for each word, the number of databases that have it in their questions.
fn count_databases(databases: &[(LabeledDatabase, Vec<Example>)]) -> FxHashMap<String, usize> {
    let mut counts = FxHashMap::default();
    for (_, examples) in databases {
        let words: FxHashSet<String> =
            examples.iter().flat_map(|example| tokenize(&example.utterance)).collect();
        for word in words {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the words that have a pretrained vector, and those of the questions of several databases.
fn vocabulary(
    embeddings: &Embeddings,
    databases: &[(LabeledDatabase, Vec<Example>)],
    databases_of: &FxHashMap<String, usize>,
) -> Vocabulary {
    let examples = databases.iter().flat_map(|(_, examples)| examples);
    let words = examples.flat_map(|example| tokenize(&example.utterance));
    let frequent =
        words.filter(|word| databases_of.get(word).is_some_and(|count| *count >= DATABASES_PER_WORD));
    Vocabulary::open(embeddings.words.iter().cloned().chain(frequent))
}
