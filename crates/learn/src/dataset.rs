//! The world and the examples that an experiment's settings name.

use crate::task::GrammarFile;
use crate::world::{DatabaseWorld, KnowledgeWorld, World};
use crate::{DataConfig, Dataset, ExperimentError};
use std::path::PathBuf;
use xpr_data::{Example, LexiconEntry, Overnight, Part, read_examples};
use xpr_exec::{KnowledgeBase, Phrase, overnight};
use xpr_nn::Random;

/// What is read of a dataset.
pub(crate) struct Examples {
    /// To learn from, in the order of the split.
    pub(crate) train: Vec<Example>,
    /// To test with.
    pub(crate) test: Vec<Example>,
    /// Questions nobody labeled.
    pub(crate) bare: Vec<String>,
}

impl Examples {
    /// All questions to learn from.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &str> {
        let labeled = self.train.iter().map(|example| example.utterance.as_str());
        labeled.chain(self.bare.iter().map(String::as_str))
    }

    /// Reads them.
    pub(crate) fn read(config: &DataConfig) -> Result<Self, ExperimentError> {
        let mut examples = match config.dataset {
            Dataset::Overnight => {
                if config.folder.as_os_str().is_empty() {
                    return Err(ExperimentError::NoData);
                }
                let data = Overnight::open(&config.folder)?;
                Examples {
                    train: data.examples(&config.domain, Part::Split0)?,
                    test: data.examples(&config.domain, Part::Test)?,
                    bare: vec![],
                }
            }
            Dataset::Database => {
                let labeled = |path: &PathBuf| -> Result<Vec<Example>, ExperimentError> {
                    if path.as_os_str().is_empty() {
                        return Ok(vec![]);
                    }
                    Ok(read_examples(&std::fs::read_to_string(config.folder.join(path)).unwrap_or_default())
                        .unwrap_or_default())
                };
                let bare = vec![];
                Examples { train: labeled(&config.labeled)?, test: labeled(&config.test)?, bare }
            }
        };
        if config.split > 0 {
            let order = Random::new(config.split).permutation(examples.train.len());
            examples.train = order.into_iter().map(|index| examples.train[index].clone()).collect();
        }
        Ok(examples)
    }
}

/// Opens the world that questions are about, for learning from labeled examples.
pub(crate) fn open_world(
    config: &DataConfig,
    examples: &[Example],
) -> Result<Box<dyn World>, ExperimentError> {
    match config.dataset {
        Dataset::Overnight => {
            let lexicon = Overnight::open(&config.folder)?.lexicon(&config.domain)?;
            let phrase = |entry: LexiconEntry| Phrase { symbol: entry.symbol, phrase: entry.phrase };
            let phrases: Vec<Phrase> = lexicon.into_iter().map(phrase).collect();
            Ok(Box::new(KnowledgeWorld::new(knowledge_base(config)?, &phrases)))
        }
        Dataset::Database => {
            let mut world = open_database(config)?;
            world.set_constants(&world.find_constants(examples));
            Ok(Box::new(world))
        }
    }
}

/// Opens the world that a model was trained for, with what its folder remembers.
pub(crate) fn reopen_world(
    config: &DataConfig,
    grammar: &GrammarFile,
) -> Result<Box<dyn World>, ExperimentError> {
    match config.dataset {
        Dataset::Overnight => Ok(Box::new(KnowledgeWorld::new(knowledge_base(config)?, &grammar.phrases()))),
        Dataset::Database => {
            let mut world = open_database(config)?;
            world.set_constants(&grammar.constants);
            Ok(Box::new(world))
        }
    }
}

fn knowledge_base(config: &DataConfig) -> Result<KnowledgeBase, ExperimentError> {
    overnight::world(&config.domain).ok_or_else(|| ExperimentError::Domain(config.domain.clone()))
}

fn open_database(config: &DataConfig) -> Result<DatabaseWorld, ExperimentError> {
    let name = config.database.strip_prefix("sqlite:").unwrap_or(&config.database);
    if name.is_empty() {
        return Err(ExperimentError::NoDatabase);
    }
    Ok(DatabaseWorld::open(&config.folder.join(name))?)
}
