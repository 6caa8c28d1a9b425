//! What running programs tells a parser about questions nobody labeled.

use anyhow::Result;
use serde::Serialize;
use std::path::Path;
use xpr_data::pairs;
use xpr_learn::{Experiment, Judge, Ranked, Ranker, TrainedRun};
use xpr_parser::Parser;

/// Examples that are shown.
const SHOWN: usize = 3;

/// What came of running a parser's candidates.
#[derive(Serialize)]
pub(super) struct Running {
    /// The reward of the settings.
    pub(super) reward: &'static str,
    pub(super) questions: usize,
    pub(super) candidates: usize,
    /// Candidates that are rewarded.
    pub(super) rewarded: usize,
    /// Questions whose best candidate is not rewarded, and another one is.
    pub(super) changed: usize,
    /// Those of them for which that other one is right. Training does not know; the demo has the labels.
    pub(super) changed_to_right: usize,
    pub(super) examples: Vec<Changed>,
}

/// A question of which running programs changes the parser's mind.
#[derive(Serialize)]
pub(super) struct Changed {
    pub(super) question: String,
    /// The likeliest candidate, which is not rewarded.
    pub(super) first: Ranked,
    /// The likeliest of those that are.
    pub(super) instead: Ranked,
    pub(super) right: bool,
}

impl Running {
    /// Has the parser of a run look for programs for the unlabeled questions of an experiment, and runs them.
    pub(super) fn observe(run: &Path, experiment: &Experiment) -> Result<Self> {
        let TrainedRun { config, task, model, .. } = TrainedRun::open(run)?;
        let reward = experiment.success();
        // As training reads them: the labeled ones come first.
        let pairs = pairs::read(&config.data.folder.join(&config.data.labeled))?;
        let unlabeled = &pairs[pairs.len() - experiment.unlabeled_examples().len()..];
        let judge = Judge::new(&task, reward, reward)?;
        let (mut ranker, mut runner) = (Ranker::new(&task, reward)?, task.patient_runner()?);
        let mut running = Running {
            reward: reward.name(),
            questions: unlabeled.len(),
            candidates: 0,
            rewarded: 0,
            changed: 0,
            changed_to_right: 0,
            examples: vec![],
        };
        for pairs in unlabeled.chunks(48) {
            let questions: Vec<_> = pairs.iter().map(|pair| task.question(&pair.utterance)).collect();
            let asked: Vec<_> = questions.iter().collect();
            let found = model.candidates(&asked, config.learn.beam);
            for ((pair, question), candidates) in pairs.iter().zip(&questions).zip(&found) {
                let (_, ranked) = ranker.rank(question, candidates);
                let rewarded: Vec<bool> =
                    ranked.iter().map(|(ranked, outcome)| judge.accepts(&ranked.program, outcome)).collect();
                running.candidates += rewarded.len();
                running.rewarded += rewarded.iter().filter(|rewarded| **rewarded).count();
                let Some(best) = rewarded.iter().position(|rewarded| *rewarded).filter(|&best| best > 0)
                else {
                    continue;
                };
                let right = task.answers(&runner.execute(&pair.program), &ranked[best].1);
                running.changed += 1;
                running.changed_to_right += usize::from(right);
                running.show(Changed {
                    question: pair.utterance.clone(),
                    first: ranked[0].0.clone(),
                    instead: ranked[best].0.clone(),
                    right,
                });
            }
        }
        Ok(running)
    }

    /// Keeps an example if there is room, rather of another kind than those there are.
    fn show(&mut self, changed: Changed) {
        let grade = |changed: &Changed| changed.first.outcome.split('\t').next().map(str::to_owned);
        if self.examples.len() < SHOWN {
            self.examples.push(changed);
        } else if self.examples.iter().all(|shown| grade(shown) != grade(&changed)) {
            self.examples[SHOWN - 1] = changed;
        }
    }
}
