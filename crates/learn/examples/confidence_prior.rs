//! Fits the weights of the confidence that a run starts from (`CONFIDENCE_PRIOR`), and the penalties (`PENALTY_PRIOR`), on the test questions of finished runs, and prints them.
//!
//! ```text
//! cargo run --release -p xpr-learn --example confidence_prior -- RUN …
//! ```
//!
//! For each run, the calibration with weights fitted on the other runs is printed, which is what a new database has before it has labels;
//! and how many of its own questions and of the other runs' its scope declines.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::path::PathBuf;
use xpr_learn::inference::{AnswerFeatures, ConfidenceModel, fit_penalties, fit_weights};
use xpr_learn::{Experiment, TrainedRun};
use xpr_parser::MentionPenalties;
use xpr_run::ConfidenceFigures;

fn main() -> Result<(), Box<dyn Error>> {
    let mut experiments = Vec::new();
    let mut candidates = Vec::new();
    let mut runs: Vec<(String, Vec<(AnswerFeatures, bool)>)> = Vec::new();
    for path in std::env::args().skip(1).map(PathBuf::from) {
        let mut run = TrainedRun::open(&path)?;
        run.config.eval.votes = true;
        let experiment = Experiment::load(run.config.clone())?;
        let name = path.display().to_string();
        let answers = experiment.test_answers(&run.model)?;
        candidates.extend(answers.candidates);
        runs.push((name.clone(), answers.features));
        experiments.push((name, experiment));
    }
    let weights_of = |left_out: Option<usize>| {
        let others = runs.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
        let answers: Vec<_> = others.flat_map(|(_, (_, answers))| answers.iter().copied()).collect();
        fit_weights(Default::default(), 1.0, &answers)
    };
    for (index, (name, answers)) in runs.iter().enumerate() {
        let model = ConfidenceModel::with_weights(weights_of(Some(index)));
        let judged = answers.iter().map(|(features, right)| (model.probability(features), *right)).collect();
        let accuracy =
            answers.iter().filter(|(_, right)| *right).count() as f64 / answers.len().max(1) as f64;
        if let Some(figures) = ConfidenceFigures::measure(judged, model.threshold) {
            println!("{name}: {} answers, {:.1} % right, {figures:?}", answers.len(), 100.0 * accuracy);
        }
    }
    for (own, experiment) in &experiments {
        let scope = experiment.scope();
        let declined = |texts: &[&str]| {
            texts.iter().filter(|text| scope.declines(experiment.task(), text).is_some()).count()
        };
        let questions = |experiment: &Experiment| -> Vec<String> {
            experiment.test_examples().iter().map(|example| example.utterance.clone()).collect()
        };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for (name, experiment) in &experiments {
            if name == own { &mut inside } else { &mut outside }.extend(questions(experiment));
        }
        let count = |texts: &[String]| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            format!("{} of {}", declined(&texts), texts.len())
        };
        println!("{own}: declines {} of its own questions, {} of others", count(&inside), count(&outside));
    }
    for (weight, name) in weights_of(None).iter().zip(AnswerFeatures::NAMES) {
        println!("{weight:8.3}, // {name}");
    }
    println!("{:?}", fit_penalties(MentionPenalties::default(), &candidates));
    Ok(())
}
