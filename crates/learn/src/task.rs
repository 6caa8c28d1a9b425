//! A dataset and the world it is about, ready for a parser.

use crate::world::World;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xpr_data::{DataError, Embeddings, Example};
use xpr_exec::sqlite::DatabaseError;
use xpr_exec::{Executor, Outcome, Phrase};
use xpr_lang::{Environment, GrammarError, Language, Program, ReadError};
use xpr_nn::{Matrix, Random};
use xpr_parser::{Question, Scene, Vocabulary, tokenize};

/// Why a dataset cannot be learned from.
#[derive(Debug, Error)]
pub enum TaskError {
    /// Its files are wrong.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Its database cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Its environment makes no grammar.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

/// A labeled example that cannot be learned from.
#[derive(Debug, Error)]
#[error("`{utterance}`: {reason}")]
pub struct LeftOut {
    /// Its utterance.
    pub utterance: String,
    /// What is wrong with its program.
    #[source]
    pub reason: ReadError,
}

/// A question, the program that means it, and what that denotes.
#[derive(Clone, Debug)]
pub struct LabeledExample {
    /// What was asked.
    pub utterance: String,
    /// As the parser sees it.
    pub question: Question,
    /// What it means.
    pub program: Program,
    /// What comes of running that.
    pub outcome: Outcome,
}

/// A question nobody labeled.
#[derive(Clone, Debug)]
pub struct UnlabeledExample {
    /// As the parser sees it.
    pub question: Question,
    /// What the right program comes to, if it is known: then programs are rewarded for that.
    pub answer: Option<Outcome>,
    /// The right program where a benchmark has it: for diagnostics, which training never sees.
    pub gold: Option<Program>,
}

impl UnlabeledExample {
    /// A labeled example without its label; with its answer if `answered`.
    pub fn hide(example: TestExample, answered: bool) -> Self {
        UnlabeledExample {
            answer: Some(example.outcome).filter(|outcome| answered && outcome.executes()),
            question: example.question,
            gold: example.program,
        }
    }

    /// A question of which nothing is known.
    pub fn bare(question: Question) -> Self {
        UnlabeledExample { question, answer: None, gold: None }
    }
}

/// A question to test with.
#[derive(Clone, Debug)]
pub struct TestExample {
    /// What was asked.
    pub utterance: String,
    /// As the parser sees it.
    pub question: Question,
    /// The program that means it, as it was labeled.
    pub gold: String,
    /// The same as actions; none if the parser cannot write it, and so will be wrong.
    pub program: Option<Program>,
    /// What comes of running it.
    pub outcome: Outcome,
}

/// A world, and the words people use about it.
#[derive(Debug)]
pub struct Task {
    world: Box<dyn World>,
    vocabulary: Vocabulary,
    scene: Scene,
}

/// The actions a model was made for, as its run folder keeps them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrammarFile {
    language: String,
    rules: Vec<String>,
    items: Vec<ItemEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) constants: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ItemEntry {
    symbol: String,
    phrase: String,
    kind: usize,
}

impl GrammarFile {
    /// The phrases of its items, in their order.
    pub(crate) fn phrases(&self) -> Vec<Phrase> {
        self.items
            .iter()
            .map(|item| Phrase { symbol: item.symbol.clone(), phrase: item.phrase.clone() })
            .collect()
    }
}

impl Task {
    /// The task of a world, with a vocabulary of `words` and those of its items.
    ///
    /// # Errors
    /// If no program can be written about this world.
    pub(crate) fn new(
        world: Box<dyn World>,
        words: impl IntoIterator<Item = String>,
    ) -> Result<Self, TaskError> {
        let environment = world.environment();
        let grammar = world.language().signatures().grammar(environment.items())?;
        let named: Vec<String> = environment.items().iter().flat_map(|item| tokenize(&item.phrase)).collect();
        let vocabulary = Vocabulary::new(words.into_iter().chain(named));
        let scene = Scene::new(grammar, environment, &vocabulary);
        Ok(Task { world, vocabulary, scene })
    }

    pub(crate) fn grammar_file(&self) -> GrammarFile {
        let rules = self.scene.grammar().signatures().rules();
        let items = self.world.environment().items();
        GrammarFile {
            language: self.language().name().to_owned(),
            constants: self.world.constants(),
            rules: rules.iter().map(|rule| rule.name.clone()).collect(),
            items: items
                .iter()
                .map(|item| ItemEntry {
                    symbol: item.symbol.clone(),
                    phrase: item.phrase.clone(),
                    kind: item.kind.index(),
                })
                .collect(),
        }
    }

    /// What the parser sees of the environment.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The vectors that words begin with: those given, of whatever size they are, or random ones of size `size`.
    pub fn word_table(&self, embeddings: &Embeddings, size: usize, random: Random) -> Matrix {
        let size = if embeddings.size > 0 { embeddings.size } else { size };
        self.vocabulary.table(size, &embeddings.vectors, random)
    }

    /// The language of its programs.
    pub fn language(&self) -> &dyn Language {
        self.world.language()
    }

    /// The words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// An executor on the world, for guesses.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.world.runner()
    }

    /// An executor that takes its time, for programs somebody waits for.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn patient_runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
        self.world.patient_runner()
    }

    /// Whether a program with the outcome `guess` answers what one with the outcome `gold` answers.
    pub fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool {
        self.world.answers(gold, guess)
    }

    /// Whether a program with this outcome found something.
    pub fn finds(&self, program: &str, outcome: &Outcome) -> bool {
        self.world.finds(program, outcome)
    }

    /// A question as the parser sees it.
    pub fn question(&self, utterance: &str) -> Question {
        match self.world.surroundings(utterance, self.scene.grammar()) {
            Some(surroundings) => self.scene.question_in(utterance, &self.vocabulary, surroundings),
            None => self.scene.question(utterance, &self.vocabulary),
        }
    }

    /// What a question can be about.
    pub(crate) fn environment<'a>(&'a self, question: &'a Question) -> &'a dyn Environment {
        question.environment().unwrap_or(self.world.environment())
    }

    /// The text of a program for a question.
    pub fn text(&self, program: &Program, question: &Question) -> String {
        self.language().write(program, question.grammar(&self.scene), self.environment(question))
    }

    /// The program for a question that a text is.
    ///
    /// # Errors
    /// If it is malformed, or says what the grammar has no action for.
    pub fn read(&self, text: &str, question: &Question) -> Result<Program, ReadError> {
        self.language().read(text, question.grammar(&self.scene), self.environment(question))
    }

    /// Prepares examples to learn from; and says which cannot be learned from, and why. `done` is called after each.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn label(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
    ) -> Result<(Vec<LabeledExample>, Vec<LeftOut>), TaskError> {
        let prepared = self.prepare(examples, done, |example, runner| {
            let utterance = example.utterance.clone();
            let question = self.question(&utterance);
            match self.read(&example.program, &question) {
                Ok(program) => {
                    let outcome = runner.execute(&example.program);
                    Ok(LabeledExample { utterance, question, outcome, program })
                }
                Err(reason) => Err(LeftOut { utterance, reason }),
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

    /// Prepares examples to test with. `done` is called after each.
    ///
    /// # Errors
    /// If the data cannot be opened any more.
    pub fn test(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
    ) -> Result<Vec<TestExample>, TaskError> {
        self.prepare(examples, done, |example, runner| {
            let question = self.question(&example.utterance);
            TestExample {
                utterance: example.utterance.clone(),
                program: self.read(&example.program, &question).ok(),
                outcome: runner.execute(&example.program),
                gold: example.program.clone(),
                question,
            }
        })
    }

    /// Prepares examples on all threads, since on a large database each program takes its time.
    fn prepare<T: Send>(
        &self,
        examples: &[Example],
        done: &(dyn Fn() + Sync),
        prepare: impl Fn(&Example, &mut dyn Executor) -> T + Sync,
    ) -> Result<Vec<T>, TaskError> {
        /// So many are run by one executor, which may have a database to open.
        const TOGETHER: usize = 16;
        let some = |examples: &[Example]| {
            let mut runner = self.patient_runner()?;
            let prepared = examples.iter().map(|example| {
                let prepared = prepare(example, &mut runner);
                done();
                prepared
            });
            Ok(prepared.collect())
        };
        let all: Result<Vec<Vec<T>>, TaskError> = examples.par_chunks(TOGETHER).map(some).collect();
        Ok(all?.into_iter().flatten().collect())
    }
}
