//! Comparisons: experiments trained with the same seeds and evaluated on the same held-out training examples, for choosing
//! settings. No test file is read.
//!
//! A comparison trains every experiment on every domain of Overnight, or every database of a folder, with every seed. Each training is
//! a [`Cell`], as in a sweep.

mod error;
mod subject;
mod variant;

pub use error::ComparisonError;
pub use variant::ExperimentVariant;

use super::sweep::Cell;
use crate::objectives;
use crate::task::dataset::Examples;
use crate::task::division::{Division, labeled_examples};
use std::path::{Path, PathBuf};
use subject::Subject;
use xpr_data::Example;
use xpr_run::{Config, DataConfig, Dataset, HeldOut};

/// How experiments are compared.
#[derive(Clone, Debug)]
pub struct ComparisonOptions<'a> {
    /// Settings of all experiments, in the form of `--set`.
    pub settings: &'a [String],
    /// Domains of Overnight; if empty, the one that the experiments name.
    pub domains: &'a [String],
    /// A folder of databases, each in a folder of its own with its questions, instead of the data that the experiments name.
    pub databases: Option<&'a Path>,
    /// The number of seeds.
    pub seeds: usize,
    /// The number of questions held out for each seed. `None` chooses it by the number of examples.
    pub held_out: Option<usize>,
    /// Which questions are held out.
    pub from: HeldOut,
}

/// The runs of a comparison.
#[derive(Clone, Debug)]
pub struct ComparisonPlan {
    /// The names of the experiments.
    pub experiments: Vec<String>,
    /// The names of the domains, or those of the databases.
    pub domains: Vec<String>,
    /// The names of databases that have too few questions to hold some out.
    pub left_out: Vec<String>,
    /// The number of seeds.
    pub seeds: usize,
    /// The runs: for each experiment, for each domain, for each seed.
    pub runs: Vec<PlannedRun>,
}

/// A run of a comparison.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// The cell that trains it.
    pub cell: Cell,
    /// All its settings.
    pub config: Config,
}

/// Settings that a comparison chooses, and the flags that say how.
const RESERVED: [(&str, &str); 4] = [
    ("train.seed", "--seeds"),
    ("data.fold", "--seeds"),
    ("data.held_out", "--held-out"),
    ("data.held_out_from", "--from"),
];

/// The largest number of labeled examples that are held out unless another number is asked for, as in the paper.
const MOST_HELD_OUT: usize = 100;

impl ComparisonPlan {
    /// Plans the runs of experiments, whose settings were read with [`ExperimentVariant::arguments`].
    ///
    /// # Errors
    /// If the experiments cannot be compared.
    pub fn new(
        experiments: &[(ExperimentVariant, Config)],
        options: &ComparisonOptions<'_>,
    ) -> Result<ComparisonPlan, ComparisonError> {
        check_experiments(experiments, options)?;
        let mut plan = ComparisonPlan {
            experiments: experiments.iter().map(|(variant, _)| variant.name.clone()).collect(),
            domains: vec![],
            left_out: vec![],
            seeds: options.seeds,
            runs: vec![],
        };
        // The runs of each domain are planned together, and then ordered by experiment.
        let mut by_domain: Vec<Vec<Vec<PlannedRun>>> = Vec::new();
        let mut too_few = None;
        for subject in Subject::all(experiments, options)? {
            match runs_of_subject(experiments, &subject, options) {
                Ok((name, runs)) => {
                    plan.domains.push(name);
                    by_domain.push(runs);
                }
                // A database is one of many, and small ones are common.
                Err(error) if subject.is_left_out(&error) => {
                    plan.left_out.extend(subject.name());
                    too_few = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (by_domain.is_empty(), too_few) {
            return Err(error);
        }
        for experiment in 0..experiments.len() {
            plan.runs.extend(by_domain.iter_mut().flat_map(|runs| std::mem::take(&mut runs[experiment])));
        }
        for (index, run) in plan.runs.iter().enumerate() {
            if plan.runs[..index].iter().any(|earlier| earlier.cell.name == run.cell.name) {
                return Err(ComparisonError::Twice(run.cell.name.clone()));
            }
        }
        Ok(plan)
    }

    /// Returns the run folders of each experiment, by domain and then by seed.
    pub fn folders(&self, folder: &Path) -> Vec<Vec<Vec<PathBuf>>> {
        let folders: Vec<PathBuf> = self.runs.iter().map(|run| run.cell.folder(folder)).collect();
        let by_domain: Vec<Vec<PathBuf>> = folders.chunks(self.seeds).map(<[PathBuf]>::to_vec).collect();
        by_domain.chunks(self.domains.len()).map(<[Vec<PathBuf>]>::to_vec).collect()
    }
}

/// Checks the settings of experiments, before any data is read.
fn check_experiments(
    experiments: &[(ExperimentVariant, Config)],
    options: &ComparisonOptions<'_>,
) -> Result<(), ComparisonError> {
    if let [(only, _)] = experiments {
        return Err(ComparisonError::One(only.name.clone()));
    }
    let common =
        options.settings.iter().filter_map(|setting| setting.split_once('=')).map(|(key, _)| key.trim());
    let own =
        experiments.iter().flat_map(|(variant, _)| variant.settings.iter().map(|(key, _)| key.as_str()));
    let of_domains = (!options.domains.is_empty()).then_some(("data.domain", "--domains"));
    let of_databases =
        options.databases.into_iter().flat_map(|_| DATABASE_SETTINGS.map(|key| (key, "--databases")));
    let reserved: Vec<(&str, &'static str)> =
        RESERVED.into_iter().chain(of_domains).chain(of_databases).collect();
    for key in common.chain(own) {
        if let Some((_, flag)) = reserved.iter().find(|(reserved, _)| *reserved == key) {
            return Err(ComparisonError::Reserved { key: key.to_owned(), flag });
        }
    }
    for (variant, config) in experiments {
        let experiment = || variant.name.clone();
        config
            .check_consistency()
            .map_err(|source| ComparisonError::Config { experiment: experiment(), source })?;
        if let Some(objective) = &config.learn.objective {
            objectives::named(objective)
                .map_err(|source| ComparisonError::Objective { experiment: experiment(), source })?;
        }
        if !options.domains.is_empty() && config.data.dataset != Dataset::Overnight {
            return Err(ComparisonError::Domains(experiment()));
        }
    }
    Ok(())
}

/// The settings that say which database an experiment is about.
const DATABASE_SETTINGS: [&str; 3] = ["data.dataset", "data.folder", "data.database"];

/// Returns the short name of a domain or database, and the runs of each experiment on it, by seed.
fn runs_of_subject(
    experiments: &[(ExperimentVariant, Config)],
    subject: &Subject,
    options: &ComparisonOptions<'_>,
) -> Result<(String, Vec<Vec<PlannedRun>>), ComparisonError> {
    let mut name = String::new();
    let mut held_out = options.held_out;
    let mut first: Option<(&str, Vec<Vec<Example>>)> = None;
    let mut all = Vec::new();
    for (variant, config) in experiments {
        let in_experiment = |source| ComparisonError::Task { experiment: variant.name.clone(), source };
        let mut config = config.clone();
        subject.set(&mut config.data);
        // Any number but 0, so that no test file is read.
        config.data.held_out = held_out.unwrap_or(1);
        config.data.held_out_from = options.from;
        let examples = Examples::read(&config.data).map_err(in_experiment)?;
        // The first experiment decides how many questions are held out. The others must hold out the same ones.
        if first.is_none() {
            config.data.short_name().clone_into(&mut name);
            let count = examples.train.len();
            held_out = Some(held_out_questions(&config.data, count, options)?);
        }
        config.data.held_out = held_out.unwrap_or(1);
        let (mut runs, mut questions) = (Vec::new(), Vec::new());
        for seed in 0..options.seeds {
            let mut config = config.clone();
            config.train.seed = seed as u64;
            config.data.fold = if has_folds(options) { seed } else { 0 };
            let division = Division::of_experiment(&config, examples.clone());
            questions.push(division.map_err(in_experiment)?.evaluated);
            let of_subject = subject.settings(&config.data)?;
            runs.push(PlannedRun { cell: cell(variant, &config, of_subject, options), config });
        }
        match &first {
            None => first = Some((&variant.name, questions)),
            Some((left, expected)) if *expected != questions => {
                let (left, right) = ((*left).to_owned(), variant.name.clone());
                return Err(ComparisonError::DifferentQuestions { domain: name, left, right });
            }
            Some(_) => {}
        }
        all.push(runs);
    }
    Ok((name, all))
}

/// Returns whether seeds hold out different questions. They do unless all unlabeled questions are held out.
fn has_folds(options: &ComparisonOptions<'_>) -> bool {
    options.from != HeldOut::Transductive || options.held_out.is_some()
}

/// Returns the number of questions to hold out for each seed, of a dataset with so many training examples.
fn held_out_questions(
    data: &DataConfig,
    examples: usize,
    options: &ComparisonOptions<'_>,
) -> Result<usize, ComparisonError> {
    let domain = data.short_name().to_owned();
    let labeled = labeled_examples(data, examples)
        .map_err(|source| ComparisonError::Task { experiment: domain.clone(), source })?;
    let folds = if has_folds(options) { options.seeds } else { 1 };
    let (questions, kind, most, default, advice) = match options.from {
        HeldOut::Labeled => (
            labeled,
            "labeled questions, of which one must be left to train on",
            labeled.saturating_sub(1),
            (labeled / 4).min(labeled.saturating_sub(1) / folds).min(MOST_HELD_OUT),
            "lower --seeds or --held-out, or raise data.fraction",
        ),
        HeldOut::Rest | HeldOut::Transductive => (
            examples - labeled,
            "unlabeled questions whose programs are known",
            examples - labeled,
            match options.from {
                // Most questions must stay unlabeled, or there is nothing to learn from.
                HeldOut::Rest => ((examples - labeled) / 4).min((examples - labeled) / folds),
                _ => examples - labeled,
            },
            "lower --seeds, --held-out or data.fraction, or hold out labeled questions with --from labeled",
        ),
    };
    match options.held_out.unwrap_or(default) {
        held_out if held_out > 0 && held_out.checked_mul(folds).is_some_and(|all| all <= most) => {
            Ok(held_out)
        }
        held_out => {
            let held_out = held_out.max(1);
            Err(ComparisonError::TooFew { domain, held_out, folds, questions, kind, advice })
        }
    }
}

/// Returns the cell of a run with some settings.
fn cell(
    variant: &ExperimentVariant,
    config: &Config,
    of_subject: Vec<(String, String)>,
    options: &ComparisonOptions<'_>,
) -> Cell {
    let common = options.settings.iter().filter_map(|setting| setting.split_once('='));
    let common = common.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    let mut settings: Vec<(String, String)> = common.chain(variant.settings.iter().cloned()).collect();
    settings.extend(of_subject);
    let data = &config.data;
    for (key, value) in [
        ("train.seed", config.train.seed.to_string()),
        ("data.held_out", data.held_out.to_string()),
        ("data.held_out_from", data.held_out_from.name().to_owned()),
        ("data.fold", data.fold.to_string()),
    ] {
        settings.push((key.to_owned(), value));
    }
    let name = format!("{},{},seed={}", variant.name, data.short_name(), config.train.seed);
    Cell { name, experiment: variant.file.clone(), settings }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_held_out_questions_follows_from_the_examples() {
        let held_out = |fraction, examples, seeds, held_out, from| {
            let data = DataConfig { fraction, ..DataConfig::default() };
            let options =
                ComparisonOptions { settings: &[], domains: &[], databases: None, seeds, held_out, from };
            held_out_questions(&data, examples, &options).map_err(|error| error.to_string())
        };
        use HeldOut::{Labeled, Rest, Transductive};
        // A quarter of the labeled examples; what the folds allow, with one left to train on; at most 100.
        assert_eq!(held_out(0.5, 160, 3, None, Labeled), Ok(20));
        assert_eq!(held_out(0.5, 160, 8, None, Labeled), Ok(9));
        assert_eq!(held_out(1.0, 1000, 3, None, Labeled), Ok(100));
        assert_eq!(held_out(0.5, 160, 3, Some(26), Labeled), Ok(26));
        assert!(held_out(0.5, 160, 3, Some(27), Labeled).unwrap_err().contains("80 labeled questions"));
        assert!(held_out(0.5, 6, 3, None, Labeled).unwrap_err().contains("lower --seeds"));
        // A quarter of the rest, or what the folds allow; or all of the rest, which every seed shares.
        assert_eq!(held_out(0.5, 160, 3, None, Rest), Ok(20));
        assert_eq!(held_out(0.5, 160, 8, None, Rest), Ok(10));
        assert_eq!(held_out(0.5, 160, 3, None, Transductive), Ok(80));
        assert_eq!(held_out(0.5, 160, 3, Some(26), Transductive), Ok(26));
        assert_eq!(held_out(0.5, 160, 3, Some(26), Rest), Ok(26));
        assert!(held_out(0.5, 160, 3, Some(27), Rest).unwrap_err().contains("80 unlabeled questions"));
        assert!(held_out(1.0, 160, 3, None, Rest).unwrap_err().contains("--from labeled"));
        assert!(held_out(0.5, 160, 3, Some(usize::MAX), Rest).is_err());
    }
}
