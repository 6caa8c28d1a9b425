//! Confidence: which questions are declined, and on what the confidence of answers is fitted.

use xpr_learn::{Experiment, Observer};
use xpr_run::{Config, RunFile, RunFolder, StepReport};

/// Requests to change the data, other topics, and other languages: 20 of each. They were written before the rules were tried on them.
const OUT_OF_SCOPE: &str = include_str!("out_of_scope.tsv");

#[test]
fn out_of_scope_questions_are_declined_and_those_of_the_demo_are_not() {
    let folder = tempfile::tempdir().unwrap();
    xpr_demo::write(folder.path()).unwrap();
    let config = Config::read(Some(&folder.path().join("xpr.toml")), &[]).unwrap().config;
    let experiment = Experiment::load(config).unwrap();
    let scope = experiment.scope();
    let mut answered = Vec::new();
    for line in OUT_OF_SCOPE.lines().skip(1) {
        let (kind, text) = line.split_once('\t').unwrap();
        if scope.declines(experiment.task(), text).is_none() {
            answered.push(format!("{kind}: {text}"));
        }
    }
    println!("{} of 60 out-of-scope texts are declined", 60 - answered.len());
    assert!(answered.len() <= 10, "{} answered: {answered:#?}", answered.len());
    let test = experiment.test_examples();
    let declined: Vec<String> = test
        .iter()
        .filter_map(|example| {
            let reason = scope.declines(experiment.task(), &example.utterance)?;
            Some(format!("{}: {reason}", example.utterance))
        })
        .collect();
    println!("{} of {} test questions of the demo are declined", declined.len(), test.len());
    assert!(
        20 * declined.len() <= test.len(),
        "{} of {} declined: {declined:#?}",
        declined.len(),
        test.len()
    );
}

#[test]
fn the_fixture_has_twenty_texts_of_each_kind() {
    for kind in ["change", "topic", "other"] {
        let count =
            OUT_OF_SCOPE.lines().filter(|line| line.split_once('\t').is_some_and(|(k, _)| k == kind)).count();
        assert_eq!(count, 20, "{kind}");
    }
}

/// Counts the parsers that are trained to fit the confidence.
#[derive(Default)]
struct FoldCounter(usize);

impl Observer for FoldCounter {
    fn step(&mut self, _: StepReport, _: usize) {}
    fn resumed(&mut self, _: usize) {}
    fn fold(&mut self, _: usize, _: usize) {
        self.0 += 1;
    }
}

#[test]
fn the_confidence_is_fitted_on_all_labels_by_parsers_that_have_not_seen_them() {
    let folder = tempfile::tempdir().unwrap();
    xpr_demo::write(folder.path()).unwrap();
    let train = |name: &str, settings: &[&str]| {
        let small = [
            "base.folder=",
            "data.embeddings=",
            "learn.objective=none",
            "train.steps=60",
            "model.hidden=16",
            "model.heads=2",
            "model.feed_forward=16",
            "model.word=8",
        ];
        let settings: Vec<String> = small.iter().chain(settings).map(|&setting| setting.to_owned()).collect();
        let config = Config::read(Some(&folder.path().join("xpr.toml")), &settings).unwrap().config;
        let experiment = Experiment::load(config).unwrap();
        let run = RunFolder::create(&folder.path().join(name)).unwrap();
        let mut folds = FoldCounter::default();
        let evaluation = experiment.run(&run, false, &mut folds).unwrap();
        let fitted = match run.has(RunFile::Confidence) {
            true => {
                let record: serde_json::Value = run.read_json(RunFile::Confidence).unwrap();
                record["model"]["labels"].as_u64()
            }
            false => None,
        };
        (folds.0, fitted, evaluation.confidence.is_some())
    };
    // Answers that fail are not counted.
    let few = "data.label_count=112";
    let (folds, fitted, has_figures) = train("fitted", &[few, "eval.confidence_folds=2"]);
    assert!(folds == 2 && (30..=112).contains(&fitted.unwrap()) && has_figures, "{fitted:?}");
    assert_eq!(train("cautious", &[few, "eval.confidence_folds=0"]), (0, Some(0), true));
    assert_eq!(train("too-few", &["data.label_count=11"]), (0, Some(0), true));
    let no_votes = "eval.votes=false";
    assert_eq!(train("paper", &[few, no_votes, "eval.penalties=false"]), (0, None, false));
    let (folds, fitted, has_figures) = train("penalties", &[few, no_votes, "eval.confidence_folds=2"]);
    assert!(folds == 2 && fitted.is_some() && !has_figures, "{fitted:?}");
}
