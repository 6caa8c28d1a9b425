//! Errors of data that cannot be learned from.

use std::error::Error as StdError;
use std::path::PathBuf;
use thiserror::Error;
use xpr_data::DataError;
use xpr_exec::database::DatabaseError;
use xpr_exec::overnight;
use xpr_lang::{GrammarError, Outcome, ReadError};

/// An error of a task or its data.
#[derive(Debug, Error)]
pub enum TaskError {
    /// A setting about the schema names something that is not there.
    #[error("{setting}: `{entry}`: {message}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// The entry of it.
        entry: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file of the dataset has an error.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A question to test on is too long.
    #[error("`{}`: {source}", beginning(utterance))]
    LongQuestion {
        /// The question.
        utterance: String,
        /// Its length.
        source: LongQuestion,
    },
    /// No program can be written about the environment.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// A world of another crate cannot be opened.
    #[error(transparent)]
    World(Box<dyn StdError + Send + Sync>),
    /// There is no such domain of Overnight.
    #[error("there is no domain `{0}`; there are {worlds}", worlds = overnight::WORLDS.join(", "))]
    Domain(String),
    /// The settings name no folder with data.
    #[error("no folder with data: name it with --data, XPR_DATA or the setting data.folder")]
    NoData,
    /// The settings name no database.
    #[error("no database: name it with the setting data.database, such as \"sqlite:music.db\"")]
    NoDatabase,
    /// A folder has no databases.
    #[error(
        "{folder}: there are no databases in this folder; expected folders that have a database (.sqlite or .db) and a \
         file of questions {labeled}"
    )]
    NoDatabases {
        /// The folder.
        folder: PathBuf,
        /// The name of a file of questions.
        labeled: PathBuf,
    },
    /// The folder of a database has no database, or several.
    #[error(
        "{folder} has {}; expected one file that ends in .sqlite or .db, or one with the name of the folder",
        match found {
            0 => "no database".to_owned(),
            found => format!("{found} databases"),
        }
    )]
    NoDatabaseFile {
        /// The folder.
        folder: PathBuf,
        /// The number of databases in it.
        found: usize,
    },
    /// Two databases of pretraining have the same name.
    #[error(
        "two databases are called `{name}` ({} and {}), so one could be held out and the other trained on; rename one, \
         and name each folder and domain once",
        folders[0].display(),
        folders[1].display()
    )]
    SameName {
        /// The name.
        name: String,
        /// Where they are.
        folders: [PathBuf; 2],
    },
    /// No database is left to train on.
    #[error(
        "data.held_out is {held_out}, and there are {databases} databases; lower it, so that some are left to train on"
    )]
    TooManyHeldOut {
        /// The setting.
        held_out: usize,
        /// The number of databases.
        databases: usize,
    },
    /// There are too few examples for `data.held_out` and `data.fold`.
    #[error(
        "data.held_out is {held_out} with fold {fold}, but only {labeled} training examples are labeled and {rest} are not; \
         lower it, or change data.fraction"
    )]
    NothingHeldOut {
        /// The setting.
        held_out: usize,
        /// The number of the fold, from 0.
        fold: usize,
        /// The number of labeled examples.
        labeled: usize,
        /// The number of other training examples.
        rest: usize,
    },
    /// No example is labeled.
    #[error(
        "there are no labeled examples: {} of {examples}, and nothing else to learn programs from; raise data.fraction or \
         data.label_count, or start from a base with --from",
        amount(*fraction, *label_count)
    )]
    NoExamples {
        /// The labeled share.
        fraction: f64,
        /// The number of labeled examples, if it is set.
        label_count: Option<usize>,
        /// The number of training examples.
        examples: usize,
    },
    /// More labels are asked for than there are.
    #[error("data.label_count is {label_count}, but there are {examples} training examples; lower it")]
    TooFewExamples {
        /// The number of labeled examples that is asked for.
        label_count: usize,
        /// The number of training examples.
        examples: usize,
    },
}

/// A labeled example whose program fails, so that the right answer to its question is unknown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{utterance}`: {}", outcome.text())]
pub struct FailedLabel {
    /// Its question.
    pub utterance: String,
    /// The outcome of its program.
    pub outcome: Outcome,
}

impl FailedLabel {
    /// Returns the failure of a labeled program with this outcome, if it failed.
    pub(super) fn find(utterance: &str, outcome: &Outcome) -> Option<Self> {
        (!outcome.executes())
            .then(|| FailedLabel { utterance: utterance.to_owned(), outcome: outcome.clone() })
    }
}

/// An example that is not learned from.
#[derive(Debug, Error)]
#[error("`{}`: {reason}", beginning(utterance))]
pub struct LeftOut {
    /// Its question.
    pub utterance: String,
    /// Why it is left out.
    #[source]
    pub reason: LeftOutReason,
}

/// The reason why an example is not learned from.
#[derive(Debug, Error)]
pub enum LeftOutReason {
    /// The grammar cannot write its program.
    #[error(transparent)]
    Program(#[from] ReadError),
    /// Its question is too long.
    #[error(transparent)]
    Question(#[from] LongQuestion),
    /// Its question has no words.
    #[error("the question has no words")]
    NoWords,
    /// Its program fails.
    #[error("its program fails: {}", .0.text())]
    Failed(Outcome),
}

/// The error of a question that is too long to read. The memory of a parser grows with the square of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the question has {length} {unit}, and a parser reads at most {limit}; ask for less at a time")]
pub struct LongQuestion {
    /// The length of the question.
    pub length: usize,
    /// What is counted.
    pub unit: &'static str,
    /// The longest question.
    pub limit: usize,
}

/// Returns how many examples are labeled, as the settings say it.
fn amount(fraction: f64, label_count: Option<usize>) -> String {
    label_count.map_or_else(|| format!("a share of {fraction}"), |count| count.to_string())
}

/// Returns the beginning of a text that may be long.
fn beginning(text: &str) -> String {
    const CHARACTERS: usize = 200;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
