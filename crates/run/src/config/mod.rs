//! The settings of an experiment.

mod base;
mod checks;
mod influence;
mod pretraining;
mod reading;
mod training_settings;

pub use base::{BUILT_IN, BaseConfig};
pub use influence::{DifferingSetting, IgnoredSetting};
pub use pretraining::{PretrainConfig, PretrainDataConfig};
pub use reading::{ConfigError, ReadConfig, RenamedSetting, rename_settings};
pub use training_settings::TrainingSettings;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xpr_parser::ModelConfig;

/// Every setting of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The data.
    pub data: DataConfig,
    /// The pretrained parser that training starts from.
    pub base: BaseConfig,
    /// The sizes of the model.
    pub model: ModelConfig,
    /// Training.
    pub train: TrainConfig,
    /// Learning from unlabeled questions.
    pub learn: LearnConfig,
    /// Search, in training and when questions are answered.
    pub search: SearchConfig,
    /// Choosing an answer, and evaluation.
    pub eval: EvalConfig,
}

/// The data of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// The kind of dataset.
    pub dataset: Dataset,
    /// The folder of the dataset. In an experiment's file it is relative to that file.
    pub folder: PathBuf,
    /// The domain of Overnight.
    pub domain: String,
    /// The database, such as `sqlite:music.db`, relative to the folder.
    pub database: String,
    /// The file of questions with programs to train on.
    pub labeled: PathBuf,
    /// The file of questions without programs; empty for none.
    pub unlabeled: PathBuf,
    /// The file of questions with programs to test on; empty for none.
    pub test: PathBuf,
    /// The order of the training examples: 0 for the order of the file (Overnight: the authors' split 0), and any other
    /// number for the random order with that seed.
    pub split: u64,
    /// The share of the training examples that are labeled, counted from the first.
    pub fraction: f64,
    /// The number of labeled training examples, counted from the first, instead of the share `fraction`. 0 needs a base or canonical
    /// utterances to learn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_count: Option<usize>,
    /// Whether the canonical utterances of Overnight are labeled examples beside the natural ones. With `label_count = 0` they are the
    /// only ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub canonical: bool,
    /// The share of the other training examples whose answers are known; used by the reward `denotation`.
    pub answered: f64,
    /// The number of training examples to evaluate on instead of the test examples, for choosing settings. Their programs
    /// are not trained on. 0 evaluates on the test examples.
    pub held_out: usize,
    /// Which training examples are held out.
    pub held_out_from: HeldOut,
    /// Which block of `held_out` examples is held out, from 0. Runs with different folds have no held-out example in
    /// common.
    pub fold: usize,
    /// The file of word vectors, in the text format of GloVe or in 8 bits; `built-in` for those of the program, and empty for random
    /// vectors.
    pub embeddings: PathBuf,
    /// The grammar of Overnight's programs. A database has one grammar only.
    pub grammar: OvernightGrammar,
    /// What people call tables, columns and values of a database: `album.f_17: price, cost`, `artist: musician`,
    /// `country.code = 'USA': america`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The tables of a database to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_tables: Vec<String>,
    /// Foreign keys of a database beside the declared ones: `flight.source -> airport.code`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Whether constants of labels that no cell of a database has, but for blanks around them and case, are read as the cells spell them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loose_values: bool,
}

/// A kind of dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// A domain of the Overnight benchmark.
    Overnight,
    /// A database, and files of questions about it.
    Database,
}

/// A grammar of Overnight's programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OvernightGrammar {
    /// The grammar that excludes what SEMPRE's functions reject for every input.
    #[default]
    Typed,
    /// The grammar of the functions' signatures only, as loose as that of the paper's authors.
    Signatures,
}

impl OvernightGrammar {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            OvernightGrammar::Typed => "typed",
            OvernightGrammar::Signatures => "signatures",
        }
    }
}

/// Which training examples are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOut {
    /// The last of the labeled examples, as in the paper. They are not trained on.
    Labeled,
    /// The first of the unlabeled examples, which leaves the number of labels as it is. They are not trained on.
    Rest,
    /// The same examples, but their questions are trained on without their programs. A parser that learns from its own
    /// guesses may keep them on such questions, so this can understate what it gains on new ones.
    Transductive,
}

impl HeldOut {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            HeldOut::Labeled => "labeled",
            HeldOut::Rest => "rest",
            HeldOut::Transductive => "transductive",
        }
    }
}

impl DataConfig {
    /// Returns whether these settings divide the examples of a dataset as others do.
    pub fn divides_as(&self, other: &DataConfig) -> bool {
        let parts = |config: &DataConfig| {
            let DataConfig { split, label_count, canonical, held_out, held_out_from, fold, .. } = *config;
            (split, label_count, canonical, held_out, held_out_from, fold)
        };
        self.fraction == other.fraction && parts(self) == parts(other)
    }

    /// Returns the setting that names the data: the domain or the database.
    pub fn name(&self) -> &str {
        match self.dataset {
            Dataset::Overnight => &self.domain,
            Dataset::Database => &self.database,
        }
    }

    /// Returns the path of the database, relative to the folder. An address that is no path is returned as it is.
    pub fn database_path(&self) -> &Path {
        let path = ["sqlite:", "duckdb:"].iter().find_map(|scheme| self.database.strip_prefix(scheme));
        Path::new(path.unwrap_or(&self.database))
    }

    /// Returns the name of the domain, or the database's file name without its ending.
    pub fn short_name(&self) -> &str {
        match self.dataset {
            Dataset::Overnight => &self.domain,
            Dataset::Database => {
                self.database_path().file_stem().and_then(|name| name.to_str()).unwrap_or("database")
            }
        }
    }
}

impl Default for DataConfig {
    fn default() -> Self {
        DataConfig {
            dataset: Dataset::Overnight,
            folder: PathBuf::new(),
            domain: "calendar".into(),
            database: String::new(),
            labeled: PathBuf::new(),
            unlabeled: PathBuf::new(),
            test: PathBuf::new(),
            split: 0,
            fraction: 1.0,
            label_count: None,
            canonical: false,
            answered: 0.0,
            held_out: 0,
            held_out_from: HeldOut::Rest,
            fold: 0,
            embeddings: PathBuf::new(),
            grammar: OvernightGrammar::Typed,
            words: vec![],
            without_tables: vec![],
            keys: vec![],
            loose_values: false,
        }
    }
}

/// The optimiser and its schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// The seed of everything random.
    pub seed: u64,
    /// The number of steps.
    pub steps: usize,
    /// The number of labeled examples in a batch.
    pub batch: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// The learning rate of the last step.
    pub end_rate: f64,
    /// The number of steps over which the rate rises to its highest.
    pub warmup: usize,
    /// The exponent of the polynomial by which the rate then decays.
    pub power: f64,
    /// The largest norm of the gradient; a longer gradient is scaled down. 0 turns clipping off.
    pub clip: f32,
    /// Whether Adam's bias correction of a word vector counts its own updates instead of the steps. Without it, a word that
    /// first occurs late in training first moves three times as far as the rate says. Vectors that start at random learn better
    /// without it.
    pub row_correction: bool,
    /// The number of pretrained word vectors that are trained, the most frequent words first; the others are frozen. 0
    /// trains all.
    pub words: usize,
    /// The decay of the moving average of the parameters. The trained parser has the average; 0 gives it the parameters of the
    /// last step.
    pub average: f64,
    /// The number of shards a batch is split into. It is part of what determines the bits of a result.
    pub shards: usize,
    /// The number of steps between checkpoints.
    pub checkpoint: usize,
}

impl Default for TrainConfig {
    fn default() -> Self {
        TrainConfig {
            seed: 0,
            steps: 2000,
            batch: 12,
            rate: 1e-3,
            end_rate: 1e-5,
            warmup: 100,
            power: 0.5,
            clip: 5.0,
            row_correction: false,
            words: 0,
            average: 0.0,
            shards: 2,
            checkpoint: 500,
        }
    }
}

/// Learning from unlabeled questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// The name of the objective; `none` trains on the labels only.
    #[serde(with = "none_or_name")]
    pub objective: Option<String>,
    /// Which programs are rewarded.
    pub reward: Reward,
    /// What to do with a question none of whose candidates is rewarded, if the objective needs one that is.
    pub fallback: Fallback,
    /// The weight of the unlabeled loss: λ of Eq. 1.
    pub weight: f64,
    /// The number of parsers in the ensemble that suggests candidates. They are trained on the labels only, with the
    /// settings of `train`. 0 takes the candidates from the parser's own search, as the paper does.
    pub ensemble: usize,
    /// With an ensemble, the number of steps of the parser that learns from it.
    pub steps: usize,
    /// With an ensemble, the number of parsers that learn one after the other. Each but the first learns from the programs that the one
    /// before suggests, and the noisy channel then knows what that one was taught.
    pub rounds: usize,
    /// With an ensemble, the number of steps after `steps` in which the parser goes on with its own search, as in the paper.
    pub own_steps: usize,
    /// The weight of the unlabeled loss in these steps.
    pub own_weight: f64,
    /// Without an ensemble, the number of steps on the labels only before joint training begins.
    pub start: usize,
    /// With an ensemble, the weight of the noisy-channel score p(x|y) when candidates are re-ranked; 0 turns it off.
    pub noisy_channel: f64,
    /// With an ensemble, the folder of a sentence encoder that compares questions with the sentences of programs; empty for none.
    #[serde(skip_serializing_if = "is_empty_path")]
    pub encoder: PathBuf,
    /// With a sentence encoder, the weight of the similarity when candidates are re-ranked.
    #[serde(skip_serializing_if = "is_default_paraphrase")]
    pub paraphrase: f64,
    /// With an ensemble, the temperature of its members' probabilities.
    pub temperature: f64,
    /// The number of unlabeled questions in a batch.
    pub batch: usize,
    /// The beam size of search for unlabeled questions.
    pub beam: usize,
    /// Without an ensemble, whether dropout is active during search, as in the authors' code.
    pub search_dropout: bool,
}

impl Default for LearnConfig {
    fn default() -> Self {
        LearnConfig {
            objective: None,
            reward: Reward::Auto,
            fallback: Fallback::Repulsion,
            weight: 1.0,
            ensemble: 3,
            steps: 1500,
            rounds: 1,
            own_steps: 0,
            own_weight: 0.3,
            start: 1000,
            noisy_channel: 1.0,
            encoder: PathBuf::new(),
            paraphrase: PARAPHRASE,
            temperature: 3.0,
            batch: 12,
            beam: 16,
            search_dropout: true,
        }
    }
}

impl LearnConfig {
    /// Returns whether a sentence encoder helps an ensemble.
    pub fn uses_encoder(&self) -> bool {
        self.objective.is_some() && self.ensemble > 0 && !is_empty_path(&self.encoder)
    }
}

/// The default of `learn.paraphrase`.
const PARAPHRASE: f64 = 40.0;

fn is_empty_path(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is that of serde")]
fn is_default_paraphrase(weight: &f64) -> bool {
    *weight == PARAPHRASE
}

/// Which programs are rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// With an ensemble, `agreement`. Without one, `non-empty` if nearly all labeled programs find something, and else
    /// `executes`.
    Auto,
    /// Programs that run and find something, as in the paper. A query finds nothing if it counts zero rows or returns
    /// only constants.
    NonEmpty,
    /// Programs that run, as in the authors' code.
    Executes,
    /// Programs that find the known answer of their question. Where no answer is known, programs that run.
    Denotation,
    /// Programs that find the majority answer, weighted by probability, among candidates that pass the minimum check.
    Agreement,
}

impl Reward {
    /// Returns the name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Reward::Auto => "auto",
            Reward::NonEmpty => "non-empty",
            Reward::Executes => "executes",
            Reward::Denotation => "denotation",
            Reward::Agreement => "agreement",
        }
    }
}

/// What to do with a question none of whose candidates is rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Lower the probability of its candidates, as the authors' code does.
    Repulsion,
    /// Skip the question.
    Skip,
}

/// Search, in training and when questions are answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Whether search leaves out queries that make no sense, although the grammar has them. A knowledge base has no such
    /// rules.
    pub sense: bool,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig { sense: true }
    }
}

/// Choosing an answer among candidates, and evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalConfig {
    /// The beam size of search.
    pub beam: usize,
    /// The weight of the noisy-channel score p(x|y) when candidates are re-ranked; 0 turns it off.
    pub noisy_channel: f64,
    /// The temperature of the parser's probabilities when candidates are re-ranked.
    pub temperature: f64,
    /// What a candidate must do to be preferred over more probable ones: `non-empty`, `executes`, or `auto` to decide by
    /// the labels.
    pub prefer: Reward,
    /// Whether candidates with the same answer add up their probabilities, so that the most probable answer is chosen and not the most
    /// probable program. The paper does without.
    pub votes: bool,
    /// Whether programs are penalised for values of the question that they do not use, and for constants that nobody said. How much is
    /// learned from the labels. The paper does without.
    pub penalties: bool,
    /// With votes or penalties, the number of parsers that are trained to fit the confidence of answers and the penalties, each on the
    /// labels without one fold. 0 takes those of other databases.
    pub confidence_folds: usize,
}

impl Default for EvalConfig {
    fn default() -> Self {
        EvalConfig {
            beam: 8,
            noisy_channel: 1.0,
            temperature: 2.0,
            prefer: Reward::Auto,
            votes: false,
            penalties: false,
            confidence_folds: 3,
        }
    }
}

/// A name, or `none`.
mod none_or_name {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(name: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(name.as_deref().unwrap_or("none"))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Option<String>, D::Error> {
        Ok(Some(String::deserialize(deserializer)?).filter(|name| name != "none"))
    }
}
