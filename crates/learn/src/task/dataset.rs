//! The world and the examples that an experiment's settings name.

use super::error::TaskError;
use super::grammar_record::GrammarRecord;
use super::respelling::Respeller;
use super::world::{DatabaseWorld, KnowledgeWorld, LoadingWatch, World};
use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::{Example, LexiconEntry, Overnight, OvernightPart, unlabeled};
use xpr_exec::{SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_nn::Random;
use xpr_run::{Config, DataConfig, Dataset, OvernightGrammar, SearchConfig};

/// The examples of a dataset.
#[derive(Clone)]
pub(crate) struct Examples {
    /// The training examples, in the order of the split.
    pub(crate) train: Vec<Example>,
    /// Canonical utterances with their programs, which are labeled beside the training examples.
    pub(crate) canonical: Vec<Example>,
    /// The test examples; none if training examples are held out.
    pub(crate) test: Vec<Example>,
    /// Questions without programs.
    pub(crate) bare: Vec<String>,
}

impl Examples {
    /// Returns all questions to train on, labeled or not.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &str> {
        let labeled = self.canonical.iter().chain(&self.train).map(|example| example.utterance.as_str());
        labeled.chain(self.bare.iter().map(String::as_str))
    }

    /// Reads the files that the settings name. If training examples are held out, the file of the test examples is not read.
    pub(crate) fn read(config: &DataConfig) -> Result<Self, TaskError> {
        let is_tested = config.held_out == 0;
        let mut examples = match config.dataset {
            Dataset::Overnight => {
                if config.folder.as_os_str().is_empty() {
                    return Err(TaskError::NoData);
                }
                let data = Overnight::open(&config.folder)?;
                Examples {
                    train: data.examples(&config.domain, OvernightPart::Split0)?,
                    test: match is_tested {
                        true => data.examples(&config.domain, OvernightPart::Test)?,
                        false => vec![],
                    },
                    canonical: match config.canonical {
                        true => data.examples(&config.domain, OvernightPart::Canonical)?,
                        false => vec![],
                    },
                    bare: vec![],
                }
            }
            Dataset::Database => {
                let path_of = |path: &Path| -> Result<PathBuf, TaskError> {
                    let file = config.folder.join(path);
                    xpr_data::require_regular(&file)?;
                    Ok(file)
                };
                let pairs = |path: &Path| -> Result<Vec<LabeledQuestion>, TaskError> {
                    if path.as_os_str().is_empty() {
                        return Ok(vec![]);
                    }
                    let file = path_of(path)?;
                    // A project without labels has an empty file, to which labels are added when they come.
                    match fs::metadata(&file).is_ok_and(|file| file.len() == 0) {
                        true => Ok(vec![]),
                        false => Ok(labeled::read_for_database(&file, config.short_name())?),
                    }
                };
                // The file may have a column that says which pairs are for testing.
                let (of_test, labeled): (Vec<LabeledQuestion>, Vec<LabeledQuestion>) =
                    pairs(&config.labeled)?.into_iter().partition(|pair| pair.split == Some(Split::Test));
                let test = match (is_tested, config.test.as_os_str().is_empty()) {
                    (false, _) => vec![],
                    (true, true) => of_test,
                    (true, false) => pairs(&config.test)?,
                };
                let examples = |pairs: Vec<LabeledQuestion>| {
                    let example =
                        |pair: LabeledQuestion| Example { utterance: pair.utterance, program: pair.program };
                    pairs.into_iter().map(example).collect()
                };
                let bare = match config.unlabeled.as_os_str().is_empty() {
                    true => vec![],
                    false => unlabeled::read(&path_of(&config.unlabeled)?)?
                        .into_iter()
                        .map(|question| question.text)
                        .collect(),
                };
                Examples { train: examples(labeled), canonical: vec![], test: examples(test), bare }
            }
        };
        if config.loose_values {
            let mut respeller = Respeller::open(config)?;
            for example in examples.train.iter_mut().chain(&mut examples.test) {
                example.program = respeller.respell(&example.program);
            }
        }
        if config.split > 0 {
            let order = Random::new(config.split).permutation(examples.train.len());
            examples.train = order.into_iter().map(|index| examples.train[index].clone()).collect();
        }
        Ok(examples)
    }
}

/// Opens the world of a dataset, and learns its constants and patterns from labeled examples.
pub(crate) fn open_world(
    config: &Config,
    examples: &[Example],
    watch: &mut LoadingWatch<'_>,
) -> Result<Box<dyn World>, TaskError> {
    let Config { data, search, .. } = config;
    match data.dataset {
        Dataset::Overnight => open_domain(data),
        Dataset::Database => {
            Ok(Box::new(with_search(open_database(data, watch)?.learn_from_labels(examples), search)))
        }
    }
}

/// Opens the world of a domain of Overnight.
pub(crate) fn open_domain(data: &DataConfig) -> Result<Box<dyn World>, TaskError> {
    let lexicon = Overnight::open(&data.folder)?.lexicon(&data.domain)?;
    let phrase = |entry: LexiconEntry| SymbolPhrase { symbol: entry.symbol, phrase: entry.phrase };
    let phrases: Vec<SymbolPhrase> = lexicon.into_iter().map(phrase).collect();
    Ok(Box::new(knowledge_world(data, &phrases)?))
}

/// Opens the world that a model was trained for, with the constants, patterns and phrases of its record.
pub(crate) fn reopen_world(
    config: &Config,
    grammar: &GrammarRecord,
    watch: &mut LoadingWatch<'_>,
) -> Result<Box<dyn World>, TaskError> {
    let Config { data, search, .. } = config;
    match data.dataset {
        Dataset::Overnight => Ok(Box::new(knowledge_world(data, &grammar.phrases())?)),
        Dataset::Database => {
            let world = open_database(data, watch)?.restore(&grammar.constants, grammar.labels.clone());
            Ok(Box::new(with_search(world, search)))
        }
    }
}

fn with_search(world: DatabaseWorld, config: &SearchConfig) -> DatabaseWorld {
    if config.sense { world.with_sense() } else { world }
}

fn knowledge_world(config: &DataConfig, phrases: &[SymbolPhrase]) -> Result<KnowledgeWorld, TaskError> {
    let base = overnight::world(&config.domain).ok_or_else(|| TaskError::Domain(config.domain.clone()))?;
    let language = match config.grammar {
        OvernightGrammar::Typed => LambdaDcs::new(),
        OvernightGrammar::Signatures => LambdaDcs::from_signatures(),
    };
    Ok(KnowledgeWorld::with_language(base, language, phrases))
}

fn open_database(config: &DataConfig, watch: &mut LoadingWatch<'_>) -> Result<DatabaseWorld, TaskError> {
    if config.database.is_empty() {
        return Err(TaskError::NoDatabase);
    }
    DatabaseWorld::open_with(&config.database, &config.folder, config.into(), watch)
}
