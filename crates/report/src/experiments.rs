//! Experiments that were trained with the same seeds and evaluated on the same questions, compared with the first of them.

use crate::bootstrap::{Interval, Resampled};
use crate::run::read_predictions;
use crate::{MeanAccuracy, ReportError, tables, terminal};
use serde::Serialize;
use std::path::{Path, PathBuf};
use xpr_run::{Prediction, RunFolder};

/// The run folders of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentRuns {
    /// The name of the experiment.
    pub name: String,
    /// The folder of each seed, for each domain. All experiments have the same domains and seeds in the same order.
    pub folders: Vec<Vec<PathBuf>>,
}

/// A comparison of experiments with the first of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentComparison {
    /// The number of seeds.
    pub seeds: usize,
    /// The domains.
    pub domains: Vec<ComparedDomain>,
    /// The experiments.
    pub experiments: Vec<ExperimentResult>,
}

/// A domain of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedDomain {
    /// The name.
    pub name: String,
    /// The number of questions of each seed.
    pub questions: usize,
    /// Whether all seeds were evaluated on the same questions.
    pub same_questions: bool,
}

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentResult {
    /// The name of the experiment.
    pub name: String,
    /// The result on each domain.
    pub domains: Vec<DomainResult>,
    /// The result on average over the domains.
    pub average: PairedResult,
}

/// The result of an experiment on a domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainResult {
    /// The name of the domain.
    pub domain: String,
    /// The result.
    #[serde(flatten)]
    pub result: PairedResult,
}

/// An accuracy over seeds, and how far it is from that of the first experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedResult {
    /// The accuracy.
    pub accuracy: MeanAccuracy,
    /// The difference to the first experiment in percentage points, with its 95 % confidence interval. The first one has none.
    pub over_first: Option<Interval>,
}

/// The questions and correct answers of an experiment, by domain and then by seed.
type Results = Vec<Vec<SeedResult>>;

/// What a run was asked, and which of its answers are correct.
#[derive(Clone, Debug, PartialEq)]
struct SeedResult {
    folder: PathBuf,
    /// The utterance and the labeled program of each question.
    questions: Vec<(String, String)>,
    correct: Vec<bool>,
}

impl ExperimentComparison {
    /// Reads the predictions of finished runs and compares them, question by question.
    ///
    /// # Errors
    /// If predictions cannot be read, or experiments were evaluated on different questions.
    pub fn read(domains: &[String], experiments: &[ExperimentRuns]) -> Result<Self, ReportError> {
        let mut results: Vec<Results> = Vec::new();
        for experiment in experiments {
            let by_domain = experiment
                .folders
                .iter()
                .map(|seeds| seeds.iter().map(|folder| SeedResult::read(folder)).collect());
            results.push(by_domain.collect::<Result<Results, ReportError>>()?);
        }
        let first = results.first().cloned().unwrap_or_default();
        for (left, right) in
            results.iter().flat_map(|other| first.iter().flatten().zip(other.iter().flatten()))
        {
            if left.questions != right.questions {
                let (left, right) = (left.folder.clone(), right.folder.clone());
                return Err(ReportError::DifferentQuestions { left, right });
            }
        }
        let domain = |(name, seeds): (&String, &Vec<SeedResult>)| ComparedDomain {
            name: name.clone(),
            questions: seeds.first().map_or(0, |seed| seed.questions.len()),
            same_questions: seeds.windows(2).all(|pair| pair[0].questions == pair[1].questions),
        };
        let domains: Vec<ComparedDomain> = domains.iter().zip(&first).map(domain).collect();
        let result = |(index, results): (usize, &Results)| {
            let first = (index > 0).then_some(&first);
            ExperimentResult::of(experiments[index].name.clone(), results, first, &domains)
        };
        let experiments = results.iter().enumerate().map(result).collect();
        Ok(ExperimentComparison { seeds: first.first().map_or(0, Vec::len), domains, experiments })
    }

    /// Returns the comparison as text for a terminal.
    pub fn to_terminal(&self) -> String {
        terminal::write_tables(&tables::experiments(self))
    }
}

impl SeedResult {
    fn read(folder: &Path) -> Result<SeedResult, ReportError> {
        let run = RunFolder::open(folder).map_err(|_| ReportError::NoRun(folder.to_owned()))?;
        let predictions = read_predictions(&run)?;
        let question = |prediction: &Prediction| (prediction.utterance.clone(), prediction.gold.clone());
        Ok(SeedResult {
            folder: folder.to_owned(),
            questions: predictions.iter().map(question).collect(),
            correct: predictions.iter().map(|prediction| prediction.correct).collect(),
        })
    }

    fn accuracy(&self) -> f64 {
        let correct = self.correct.iter().filter(|correct| **correct).count();
        correct as f64 / self.correct.len().max(1) as f64
    }

    /// Returns the differences to a run that was asked the same, in percentage points.
    fn differences(&self, first: &SeedResult) -> Vec<f64> {
        let pairs = self.correct.iter().zip(&first.correct);
        pairs.map(|(own, first)| 100.0 * f64::from(i8::from(*own) - i8::from(*first))).collect()
    }
}

impl ExperimentResult {
    /// Returns the result of an experiment, compared with the first one unless it is that itself.
    fn of(name: String, results: &Results, first: Option<&Results>, domains: &[ComparedDomain]) -> Self {
        let shares: Vec<Vec<f64>> =
            results.iter().map(|seeds| seeds.iter().map(SeedResult::accuracy).collect()).collect();
        let differences: Vec<Resampled> = first.map_or_else(Vec::new, |first| {
            let of_domain =
                |((seeds, first), domain): ((&Vec<SeedResult>, &Vec<SeedResult>), &ComparedDomain)| {
                    let seeds: Vec<Vec<f64>> =
                        seeds.iter().zip(first).map(|(seed, first)| seed.differences(first)).collect();
                    Resampled::of_seeds(&domain.name, &seeds, domain.same_questions)
                };
            results.iter().zip(first).zip(domains).filter_map(of_domain).collect()
        });
        let of_domain = |(index, domain): (usize, &ComparedDomain)| {
            let over_first = differences.get(index).map(Resampled::interval);
            let result = PairedResult { accuracy: MeanAccuracy::of(&shares[index]), over_first };
            DomainResult { domain: domain.name.clone(), result }
        };
        let average_difference = Resampled::average(&differences.iter().collect::<Vec<_>>());
        let seeds = shares.first().map_or(0, Vec::len);
        let average =
            |seed: usize| shares.iter().map(|shares| shares[seed]).sum::<f64>() / shares.len() as f64;
        let averages: Vec<f64> = (0..seeds).map(average).collect();
        ExperimentResult {
            name,
            domains: domains.iter().enumerate().map(of_domain).collect(),
            average: PairedResult {
                accuracy: MeanAccuracy::of(&averages),
                over_first: average_difference.as_ref().map(Resampled::interval),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_run::RunFile;

    /// Writes a run whose answers to questions `q0`, `q1`, … from a number on are correct or not, and returns its folder.
    fn write_run(folder: &Path, name: &str, first: usize, correct: &[bool]) -> PathBuf {
        let path = folder.join(name);
        let run = RunFolder::create(&path).unwrap();
        run.write(RunFile::Config, b"").unwrap();
        let line = |(index, correct): (usize, &bool)| {
            serde_json::json!({
                "utterance": format!("q{}", first + index), "gold": "g", "gold_outcome": "value\t1",
                "correct": correct, "chosen": 0, "candidates": []
            })
        };
        let lines: Vec<serde_json::Value> = correct.iter().enumerate().map(line).collect();
        run.write_json_lines(RunFile::Predictions, &lines).unwrap();
        path
    }

    fn runs(name: &str, folders: Vec<Vec<PathBuf>>) -> ExperimentRuns {
        ExperimentRuns { name: name.to_owned(), folders }
    }

    #[test]
    fn accuracies_and_differences_are_those_computed_by_hand() {
        const R: bool = true;
        const W: bool = false;
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str, first: usize, correct: &[bool]| write_run(folder.path(), name, first, correct);
        // Two domains with two seeds, which have different questions in the first domain and the same in the second.
        let baseline = vec![
            vec![run("a-x-0", 0, &[R, W, W, W]), run("a-x-1", 4, &[R, R, W, W])],
            vec![run("a-y-0", 0, &[R, R]), run("a-y-1", 0, &[R, W])],
        ];
        let other = vec![
            vec![run("b-x-0", 0, &[W, R, R, W]), run("b-x-1", 4, &[R, R, R, W])],
            vec![run("b-y-0", 0, &[R, R]), run("b-y-1", 0, &[R, W])],
        ];
        let domains = ["x".to_owned(), "y".to_owned()];
        let comparison =
            ExperimentComparison::read(&domains, &[runs("a", baseline.clone()), runs("b", other)]).unwrap();
        assert_eq!(comparison.seeds, 2);
        let questions: Vec<(usize, bool)> =
            comparison.domains.iter().map(|domain| (domain.questions, domain.same_questions)).collect();
        assert_eq!(questions, [(4, false), (2, true)]);
        let [first, second] = comparison.experiments.as_slice() else { panic!("{comparison:?}") };
        let means = |result: &ExperimentResult| {
            let domains = result.domains.iter().map(|domain| domain.result.accuracy.mean);
            domains.chain([result.average.accuracy.mean]).collect::<Vec<f64>>()
        };
        assert_eq!(means(first), [37.5, 75.0, 56.25]);
        assert_eq!(means(second), [62.5, 75.0, 68.75]);
        // 25 and 50 % in x, 100 and 50 % in y: 62.5 and 50 % on average, with a deviation of 12.5 / √2.
        let deviation = first.average.accuracy.deviation.unwrap();
        assert!((deviation - 12.5 / 2f64.sqrt()).abs() < 1e-9, "{deviation}");
        assert_eq!(first.average.over_first, None);
        let differences: Vec<f64> = second
            .domains
            .iter()
            .map(|domain| domain.result.over_first)
            .chain([second.average.over_first])
            .map(|interval| interval.unwrap().difference)
            .collect();
        assert_eq!(differences, [25.0, 0.0, 12.5]);
        let same = second.domains[1].result.over_first.unwrap();
        assert_eq!((same.low, same.high), (0.0, 0.0), "all answers are equally good");

        // A run with other questions, a damaged one, and none.
        let different = vec![vec![run("c-x-0", 1, &[R; 4]), run("c-x-1", 4, &[R; 4])], baseline[1].clone()];
        let compare = |other: Vec<Vec<PathBuf>>| {
            let error =
                ExperimentComparison::read(&domains, &[runs("a", baseline.clone()), runs("c", other)]);
            error.unwrap_err().to_string()
        };
        let error = compare(different.clone());
        assert!(error.contains("a-x-0") && error.contains("c-x-0 were evaluated on different"), "{error}");
        std::fs::write(different[0][0].join("predictions.jsonl"), "{").unwrap();
        assert!(compare(different.clone()).contains("predictions.jsonl, line 1"));
        std::fs::remove_file(different[0][0].join("predictions.jsonl")).unwrap();
        assert!(compare(different).contains("predictions.jsonl is missing"));
    }
}
