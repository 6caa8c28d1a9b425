//! An experiment as one TOML file.

mod checks;
mod reading;

pub use reading::ConfigError;

use crate::Reward;
use crate::objectives::Objective;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xpr_parser::ModelConfig;

/// An experiment: what to learn from, what to learn, how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What to learn from.
    pub data: DataConfig,
    /// The sizes of the model.
    pub model: ModelConfig,
    /// How to train it.
    pub train: TrainConfig,
    /// What to learn from questions without labels.
    pub learn: LearnConfig,
    /// How to evaluate it.
    pub eval: EvalConfig,
}

/// What to learn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// The kind of dataset.
    pub dataset: Dataset,
    /// Its folder. In an experiment's file it is found from where the file is.
    pub folder: PathBuf,
    /// Which domain of Overnight.
    pub domain: String,
    /// The database that questions are about: `sqlite:music.db`, found from the folder.
    pub database: String,
    /// Questions with programs, to learn from.
    pub labeled: PathBuf,
    /// Questions without; none if empty.
    pub unlabeled: PathBuf,
    /// Questions with programs, to test with; none if empty.
    pub test: PathBuf,
    /// The order of the training examples: 0 for the authors' split 0, anything else for a random order of its own.
    pub split: u64,
    /// The share of the training examples that are labeled: the first ones.
    pub fraction: f64,
    /// The share of the other ones whose answers are known; see the reward `denotation`.
    pub answered: f64,
    /// Evaluate on so many training examples, which are then not trained on, instead of the test examples: for
    /// choosing settings, which must never see the test file. 0 for the test examples.
    pub held_out: usize,
    /// Which they are: the last `labeled` ones, or the first of the `rest`.
    pub held_out_from: HeldOut,
    /// Word vectors in GloVe's text format; empty for none.
    pub embeddings: PathBuf,
}

/// Kinds of datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// A domain of the Overnight benchmark.
    Overnight,
    /// A database, and files of questions about it.
    Database,
}

/// Which training examples are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOut {
    /// The last of the labeled ones, as the paper does to choose λ.
    Labeled,
    /// The first of the others, so that as many are labeled as without.
    Rest,
}

impl DataConfig {
    /// What the questions are about, in a word.
    pub fn name(&self) -> &str {
        match self.dataset {
            Dataset::Overnight => &self.domain,
            Dataset::Database => &self.database,
        }
    }
}

impl DataConfig {
    /// The database's name: that of its file without the ending.
    pub(crate) fn database_name(&self) -> &str {
        let path = Path::new(self.database.strip_prefix("sqlite:").unwrap_or(&self.database));
        path.file_stem().and_then(|name| name.to_str()).unwrap_or_default()
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
            answered: 0.0,
            held_out: 0,
            held_out_from: HeldOut::Rest,
            embeddings: PathBuf::new(),
        }
    }
}

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Decides everything that is random.
    pub seed: u64,
    /// How many steps.
    pub steps: usize,
    /// Labeled examples a step.
    pub batch: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// The learning rate at the end.
    pub end_rate: f64,
    /// Steps until the highest rate.
    pub warmup: usize,
    /// The power by which it falls from there.
    pub power: f64,
    /// The longest gradient; longer ones are scaled down. 0 for none.
    pub clip: f32,
    /// Into how many parts a batch is split for parallel work; part of what decides the bits of a result.
    pub shards: usize,
    /// Steps between checkpoints.
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
            shards: 2,
            checkpoint: 500,
        }
    }
}

/// What to learn from questions without labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// The objective; `none` for supervised training alone.
    #[serde(with = "objective_name")]
    pub objective: Option<Objective>,
    /// What counts as success: `non-empty`, `executes`, `denotation`, `agreement`, or `auto`: with a committee
    /// `agreement`, without the first or second as labels decide.
    pub reward: Reward,
    /// What to do where no candidate is rewarded and the objective has nothing to aim at.
    pub fallback: Fallback,
    /// How much the unlabeled loss counts: λ of Eq. 1.
    pub weight: f64,
    /// So many parsers, trained on the labels alone as the settings of `train` say, suggest the candidates for another, which learns
    /// labels and suggestions. 0: the parser finds candidates itself, as in the paper.
    pub committee: usize,
    /// With a committee, the steps of the parser that it teaches.
    pub steps: usize,
    /// Without a committee, after how many steps on the labels alone the parser also learns from what it finds.
    pub start: usize,
    /// With a committee, how much counts how well a program explains the words of its question: the exponent of the channel. 0: not at all.
    pub channel: f64,
    /// Unlabeled questions a step.
    pub batch: usize,
    /// Candidates a question.
    pub beam: usize,
    /// Without a committee, whether search drops elements too, as the authors' does: candidates then differ from time to time, and a
    /// step reads its questions once.
    pub noise: bool,
}

impl Default for LearnConfig {
    fn default() -> Self {
        LearnConfig {
            objective: None,
            reward: Reward::Auto,
            fallback: Fallback::Repulsion,
            weight: 1.0,
            committee: 3,
            steps: 1500,
            start: 1000,
            channel: 1.0,
            batch: 12,
            beam: 16,
            noise: true,
        }
    }
}

/// An objective by its name, or `none`.
mod objective_name {
    use crate::objectives::Objective;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        objective: &Option<Objective>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(objective.map_or("none", Objective::name))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Option<Objective>, D::Error> {
        let name = String::deserialize(deserializer)?;
        match Objective::from_name(&name) {
            None if name != "none" => {
                let known: Vec<&str> = Objective::ALL.into_iter().map(Objective::name).collect();
                Err(D::Error::custom(format!(
                    "there is no objective `{name}`; there are none, {}",
                    known.join(", ")
                )))
            }
            objective => Ok(objective),
        }
    }
}

/// What to do where an objective has nothing to aim at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// Push the candidates away, as the authors' code does.
    Repulsion,
    /// Leave the question out.
    Skip,
}

/// How to evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvalConfig {
    /// Programs to look for.
    pub beam: usize,
    /// How much counts how well a program explains the words of its question, when one is chosen as when a committee is asked: the
    /// exponent of the channel. 0: the parser answers alone.
    pub channel: f64,
    /// What a program must do to be chosen before others: find something, `non-empty`, or run, `executes`. `auto`: as labels decide.
    pub least: Reward,
}

impl Default for EvalConfig {
    fn default() -> Self {
        EvalConfig { beam: 8, channel: 1.0, least: Reward::Auto }
    }
}
