//! The members of an ensemble: parsers trained on the labels only, which runs can share.

use super::data_record::without_data_record;
use super::error::ExperimentError;
use super::load::Experiment;
use super::observer::Observer;
use super::record::recorded_config;
use crate::training::{Trainer, checkpoint};
use std::path::{Path, PathBuf};
use xpr_parser::{Model, TrainableParser};
use xpr_run::{Config, ConfigError, LearnConfig, Manifest, RunError, RunFile, RunFolder, fingerprint};

/// Returns the seed of a member, from 0, of the ensemble of a run with the given seed.
pub fn member_seed(seed: u64, member: usize) -> u64 {
    seed.wrapping_mul(1000).wrapping_add(1 + member as u64)
}

/// Returns the settings of the parser that learns from an ensemble, which has its own number of steps and then goes on with its own
/// search.
pub(super) fn student_config(config: &Config) -> Config {
    let mut student = config.clone();
    student.train.steps = config.learn.steps.saturating_add(config.learn.own_steps);
    student
}

/// Returns the settings of a member: the same data and sizes, labels only, and a seed of its own.
fn member_config(config: &Config, index: usize) -> Config {
    let mut member = labels_only(config);
    member.train.seed = member_seed(config.train.seed, index);
    member
}

/// Returns the settings without those of unlabeled questions.
pub(super) fn labels_only(config: &Config) -> Config {
    let mut labels_only = config.clone();
    labels_only.data.answered = 0.0;
    labels_only.learn = LearnConfig::default();
    labels_only
}

/// Returns the folder of a member. Its name depends on the settings of the member only, so runs that differ in how they learn from
/// unlabeled questions share their members.
fn member_folder(members: &Path, member: &Config) -> Result<PathBuf, ConfigError> {
    // The settings a member does not use stay out, so that a new default among them does not make a new member.
    let name_error = |error: toml::ser::Error| ConfigError::Toml {
        origin: "settings".to_owned(),
        message: error.to_string(),
    };
    // Settings that came later are left out at their defaults, so that members keep the names they had.
    let model = toml::to_string(&member.model).map(|model| model.replace("named_relations = false\n", ""));
    let used = [toml::to_string(&member.data), model, toml::to_string(&member.train)];
    let base = member.base.is_given().then(|| toml::to_string(&member.base));
    let used: Vec<String> = used.into_iter().chain(base).collect::<Result<_, _>>().map_err(name_error)?;
    let name = format!("seed-{}-{}", member.train.seed, fingerprint(used.iter().map(String::as_str)));
    Ok(members.join(name))
}

impl Experiment {
    /// Returns the members of the ensemble, and trains those that are not trained yet.
    pub(super) fn members(
        &self,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Model>, ExperimentError> {
        let count = self.config().learn.ensemble;
        let root = self.shared_members().map_or_else(|| folder.members(), Path::to_owned);
        let mut members: Vec<Option<Model>> = (0..count).map(|_| None).collect();
        // Another run may be training some of the members. These are left for last, and then waited for.
        for waits in [false, true] {
            for (index, member) in members.iter_mut().enumerate().filter(|(_, member)| member.is_none()) {
                let config = self.without_idle_steps(member_config(self.config(), index));
                let folder = RunFolder::open_or_create(&member_folder(&root, &config)?)?;
                let _lock = match folder.lock() {
                    Err(RunError::InUse(_)) if waits => folder.wait_for_lock()?,
                    Err(RunError::InUse(_)) => continue,
                    lock => lock?,
                };
                if !folder.has(RunFile::Model) {
                    observer.member(index + 1, count);
                }
                *member = Some(self.train_member(&config, &folder, observer)?);
            }
        }
        Ok(members.into_iter().flatten().collect())
    }

    /// Trains on the labels only, in a folder from which other runs can take the parser for their ensembles; or takes the parser from
    /// there. Its files are copied into the run's own folder.
    pub(super) fn train_shared(
        &self,
        members: &Path,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let config = self.without_idle_steps(labels_only(self.config()));
        let member = RunFolder::open_or_create(&member_folder(members, &config)?)?;
        let _lock = member.wait_for_lock()?;
        let model = self.train_member(&config, &member, observer)?;
        // A parser that takes no steps from its base has no metrics.
        let files = [RunFile::Grammar, RunFile::Vocabulary, RunFile::Metrics, RunFile::Model];
        member.copy_to(folder, &files)?;
        Ok(model)
    }

    /// Returns the settings of a parser that learns from labels only. Without labels it takes no steps, and is the base.
    pub(super) fn without_idle_steps(&self, mut config: Config) -> Config {
        if self.train_examples().is_empty() {
            config.train.steps = 0;
        }
        config
    }

    /// Returns the trained parser of a folder, or trains it there.
    fn train_member(
        &self,
        config: &Config,
        folder: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<Model, ExperimentError> {
        let mut model = self.untrained(config);
        let data = self.data().of_member();
        let is_begun = folder.is_begun()?;
        if is_begun && !data.check(folder)? {
            observer.note(&without_data_record(folder));
        }
        if folder.has(RunFile::Model) {
            let content = folder.read_checked(RunFile::Model, Manifest::read(folder)?.as_ref())?;
            checkpoint::read_model(&content, model.parameters_mut()).map_err(|source| {
                ExperimentError::Checkpoint { path: folder.path(RunFile::Model), source }
            })?;
            return Ok(model);
        }
        if !is_begun {
            data.write(folder)?;
            folder.write(RunFile::Config, recorded_config(folder, config).to_toml()?.as_bytes())?;
        }
        let trainer = Trainer::new(config.train.clone(), &config.learn, model);
        let model = self.train(trainer, None, config, folder, observer)?;
        folder.write_manifest()?;
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_run::OvernightGrammar;

    #[test]
    fn members_differ_by_seed_and_are_shared_by_runs_that_learn_differently() {
        let mut config = Config::default();
        config.learn.objective = Some("sparse".to_owned());
        let folders = |config: &Config| {
            [0, 1].map(|index| member_folder(Path::new("m"), &member_config(config, index)).unwrap())
        };
        let [first, second] = folders(&config);
        assert_ne!(first, second);
        // The name is stable across versions and machines.
        assert_eq!(first, Path::new("m/seed-1-bd2fd3c3353582e7"));
        config.learn.objective = Some("gentle".to_owned());
        config.learn.weight = 0.1;
        config.learn.steps += 1;
        config.eval.beam += 1;
        assert_eq!(folders(&config)[0], first);
        let mut other_fold = config.clone();
        other_fold.data.fold = 1;
        assert_ne!(folders(&other_fold)[0], first);
        let mut loose = config.clone();
        loose.data.grammar = OvernightGrammar::Signatures;
        assert_ne!(folders(&loose)[0], first);
        config.train.steps += 1;
        assert_ne!(folders(&config)[0], first);
        assert_eq!(member_config(&config, 0).learn.objective, None);
    }
}
