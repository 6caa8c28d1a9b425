//! What is learned: a world, its language, and the questions people ask about it.
//!
//! A [`World`] joins a language, the data and an executor; a [`Task`] adds a vocabulary, and turns texts into what the parser
//! sees and back. The module `dataset` finds the world and the examples that an experiment's settings name.

mod conflicts;
mod constants;
mod coverage;
mod data_findings;
pub(crate) mod dataset;
pub(crate) mod division;
mod error;
mod example;
mod grammar_record;
mod respelling;
mod world;

pub use conflicts::ConflictingLabels;
pub use constants::{LearnedConstant, learned_constants};
pub use coverage::{
    ConstantAccount, Coverage, CoverageError, EmptyLabel, Failure, Stage, Surveyor, VocabularyAccount,
};
pub use data_findings::{ColumnPair, DataFindings, MisspelledConstant, PaddedColumn, SuggestedKey};
pub use error::{FailedLabel, LeftOut, LeftOutReason, LongQuestion, TaskError};
pub use example::{LabeledExample, TestExample, UnlabeledExample};
pub(crate) use grammar_record::GrammarRecord;
pub use world::{
    DatabaseWorld, KnowledgeWorld, LoadingWatch, SCHEMA_FILE, SchemaSettings, StoredSchema, World,
};

use conflicts::Label;
use rayon::prelude::*;
use xpr_data::{Embeddings, Example};
use xpr_exec::Executor;
use xpr_lang::{Environment, Language, Outcome, Program, ReadError};
use xpr_nn::{Matrix, Random};
use xpr_parser::{Question, Scene, Vocabulary};
use xpr_text::tokenize;

/// The maximum number of words of a question. The memory of a parser grows with the square of it.
const LONGEST_QUESTION: usize = 250;
/// The maximum number of bytes of a question. It bounds the work of reading a text of few but endless words.
const LARGEST_QUESTION: usize = 10_000;

/// Checks that a question is not too long for a parser.
///
/// # Errors
/// If it is.
pub fn check_length(utterance: &str) -> Result<(), LongQuestion> {
    let too_long = |length, unit, limit| Err(LongQuestion { length, unit, limit });
    if utterance.len() > LARGEST_QUESTION {
        return too_long(utterance.len(), "bytes", LARGEST_QUESTION);
    }
    match tokenize(utterance).len() {
        words if words > LONGEST_QUESTION => too_long(words, "words", LONGEST_QUESTION),
        _ => Ok(()),
    }
}

/// A world, and the words people use about it.
#[derive(Debug)]
pub struct Task {
    world: Box<dyn World>,
    vocabulary: Vocabulary,
    scene: Scene,
}

impl Task {
    /// Creates the task of a world. Its vocabulary holds `words`, and the words of the world's items and of the language's rules.
    ///
    /// # Errors
    /// If no program can be written about the world.
    pub fn new(world: Box<dyn World>, words: impl IntoIterator<Item = String>) -> Result<Self, TaskError> {
        let environment = world.environment();
        let grammar = world.language().signatures().grammar(environment.items())?;
        let of_items = environment.items().iter().flat_map(|item| tokenize(&item.phrase));
        let phrases = grammar.signatures().rules().iter().flat_map(|rule| rule.phrases);
        let of_rules = phrases.flat_map(|phrase| tokenize(phrase));
        let vocabulary = Vocabulary::new(words.into_iter().chain(of_items).chain(of_rules));
        let scene = Scene::new(grammar, environment, &vocabulary);
        Ok(Task { world, vocabulary, scene })
    }

    pub(crate) fn grammar_record(&self) -> GrammarRecord {
        let signatures = self.scene.grammar().signatures();
        GrammarRecord::new(
            self.language().name(),
            signatures,
            self.world.environment(),
            self.world.constants(),
            self.world.label_patterns(),
        )
    }

    /// Returns the world.
    pub fn world(&self) -> &dyn World {
        &*self.world
    }

    /// Returns the environment as the parser sees it.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns the language of the programs.
    pub fn language(&self) -> &dyn Language {
        self.world.language()
    }

    /// Returns the vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the initial word vectors: those of `embeddings`, or random ones of the given size if there are none.
    pub fn word_table(&self, embeddings: &Embeddings, size: usize, random: Random) -> Matrix {
        let size = if embeddings.size > 0 { embeddings.size } else { size };
        self.vocabulary.table(size, &embeddings.vectors, random)
    }

    /// Returns a question as the parser sees it.
    pub fn question(&self, utterance: &str) -> Question {
        let utterance = &*self.world.rephrase(utterance);
        match self.world.surroundings(utterance, self.scene.grammar()) {
            Some(surroundings) => self.scene.question_in(utterance, &self.vocabulary, surroundings),
            None => self.scene.question(utterance, &self.vocabulary),
        }
    }

    /// Returns the words of a question as the parser sees them.
    pub fn words(&self, utterance: &str) -> Vec<String> {
        tokenize(&self.world.rephrase(utterance))
    }

    /// Returns the items a question can be about.
    pub(crate) fn environment<'a>(&'a self, question: &'a Question) -> &'a dyn Environment {
        question.environment().unwrap_or(self.world.environment())
    }

    /// Returns the text of a program for a question.
    pub fn text(&self, program: &Program, question: &Question) -> String {
        self.language().write(program, question.grammar(&self.scene), self.environment(question))
    }

    /// Returns a sentence that says in English what a program for a question returns, if the language has such sentences.
    pub fn explain(&self, program: &Program, question: &Question) -> Option<String> {
        self.language().explain(program, question.grammar(&self.scene), self.environment(question))
    }

    /// Returns what the columns of the answer of a program are called, if its answers have columns.
    pub fn column_names(&self, program: &Program, question: &Question) -> Option<Vec<String>> {
        self.language().column_names(program, question.grammar(&self.scene), self.environment(question))
    }

    /// Reads the text of a program for a question.
    ///
    /// # Errors
    /// If the text is malformed, or the grammar has no actions for it.
    pub fn read(&self, text: &str, question: &Question) -> Result<Program, ReadError> {
        self.language().read(text, question.grammar(&self.scene), self.environment(question))
    }

    /// Prepares examples to train on. Returns those whose question is short enough and whose program the grammar can write,
    /// and the others with the reason.
    /// Calls `done` after each example.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn label(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
    ) -> Result<(Vec<LabeledExample>, Vec<LeftOut>), TaskError> {
        let prepared = self.prepare(examples, done, |example, executor| {
            let utterance = example.utterance.clone();
            if let Err(long) = check_length(&utterance) {
                return Err(LeftOut { utterance, reason: long.into() });
            }
            let question = self.question(&utterance);
            match self.read(&example.program, &question) {
                Ok(program) => {
                    let outcome = executor.execute(&example.program);
                    Ok(LabeledExample { utterance, question, outcome, program })
                }
                Err(reason) => Err(LeftOut { utterance, reason: reason.into() }),
            }
        })?;
        let (mut labeled, mut left_out) = (Vec::new(), Vec::new());
        for example in prepared {
            match example {
                Ok(example) => labeled.push(example),
                Err(example) => left_out.push(example),
            }
        }
        Ok((labeled, left_out))
    }

    /// Returns the questions of examples that have labels with different answers.
    pub fn conflicting_labels(&self, examples: &[LabeledExample]) -> Vec<ConflictingLabels> {
        let labels = examples.iter().map(|LabeledExample { utterance, question, program, outcome }| Label {
            utterance,
            program: self.text(program, question),
            outcome: Some(outcome),
        });
        conflicts::conflicting_labels(labels, |gold, guess| self.is_same_answer(gold, guess))
    }

    /// Prepares examples to test on. Calls `done` after each example.
    ///
    /// # Errors
    /// If the data cannot be opened, or a question is too long.
    pub fn test(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<TestExample>, TaskError> {
        for Example { utterance, .. } in examples {
            check_length(utterance)
                .map_err(|source| TaskError::LongQuestion { utterance: utterance.clone(), source })?;
        }
        self.prepare(examples, done, |example, executor| {
            let question = self.question(&example.utterance);
            TestExample {
                utterance: example.utterance.clone(),
                program: self.read(&example.program, &question).ok(),
                outcome: executor.execute(&example.program),
                gold: example.program.clone(),
                question,
            }
        })
    }

    /// Prepares examples on all threads, because a program can take seconds on a large database.
    fn prepare<T: Send>(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
        prepare: impl Fn(&Example, &mut dyn Executor) -> T + Sync,
    ) -> Result<Vec<T>, TaskError> {
        /// The number of examples that share an executor, which may have to open a database.
        const CHUNK: usize = 16;
        let prepare_chunk = |examples: &[Example]| {
            let mut executor = self.world.label_executor()?;
            let prepared = examples.iter().map(|example| {
                let prepared = prepare(example, &mut executor);
                done();
                prepared
            });
            Ok(prepared.collect())
        };
        let all: Result<Vec<Vec<T>>, TaskError> = examples.par_chunks(CHUNK).map(prepare_chunk).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    /// Returns an executor with the limits of training, for guesses of a parser.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.world.executor()
    }

    /// Returns an executor with wider limits, for programs somebody waits for.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn patient_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.world.patient_executor()
    }

    /// Returns an executor for the programs of labels.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn label_executor(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.world.label_executor()
    }

    /// Returns whether the outcome `guess` is the same answer as `gold`.
    pub fn is_same_answer(&self, gold: &Outcome, guess: &Outcome) -> bool {
        self.world.is_same_answer(gold, guess)
    }

    /// Returns whether a program with this outcome found something.
    pub fn finds_something(&self, program: &str, outcome: &Outcome) -> bool {
        self.world.finds_something(program, outcome)
    }

    /// Checks that the data are still those that were opened.
    ///
    /// # Errors
    /// If another program changed them.
    pub fn check_unchanged(&self) -> Result<(), TaskError> {
        self.world.check_unchanged()
    }
}
