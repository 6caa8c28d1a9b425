//! What running programs tells a parser about questions nobody labeled.

use anyhow::Result;
use serde::Serialize;
use std::path::Path;
use xpr_data::labeled;
use xpr_learn::inference::AnswerChooser;
use xpr_learn::{Experiment, TrainedRun};
use xpr_parser::Parser;
use xpr_run::ExecutedCandidate;

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
    pub(super) first: ExecutedCandidate,
    /// The likeliest of those that are.
    pub(super) instead: ExecutedCandidate,
    pub(super) right: bool,
}

impl Running {
    /// Has the parser of a run look for programs for the unlabeled questions of an experiment, and runs them.
    pub(super) fn observe(run: &Path, experiment: &Experiment) -> Result<Self> {
        let TrainedRun { config, task, model, .. } = TrainedRun::open(run)?;
        let success = experiment.success_by_labels();
        // As training reads them: the labeled ones come first.
        let pairs = labeled::read(&config.data.folder.join(&config.data.labeled))?;
        let unlabeled = &pairs[pairs.len() - experiment.unlabeled_examples().len()..];
        let mut chooser = AnswerChooser::new(&task, success)?;
        let mut executor = task.patient_executor()?;
        let mut running = Running {
            reward: success.reward().name(),
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
                let executed = chooser.choose(question, candidates).candidates;
                let rewarded: Vec<bool> = executed
                    .iter()
                    .map(|candidate| success.accepts(&task, &candidate.program, &candidate.outcome))
                    .collect();
                running.candidates += rewarded.len();
                running.rewarded += rewarded.iter().filter(|rewarded| **rewarded).count();
                let Some(best) = rewarded.iter().position(|rewarded| *rewarded).filter(|&best| best > 0)
                else {
                    continue;
                };
                let right = task.is_same_answer(&executor.execute(&pair.program), &executed[best].outcome);
                running.changed += 1;
                running.changed_to_right += usize::from(right);
                running.show(Changed {
                    question: pair.utterance.clone(),
                    first: executed[0].clone(),
                    instead: executed[best].clone(),
                    right,
                });
            }
        }
        Ok(running)
    }

    /// Keeps an example if there is room, rather of another kind than those there are.
    fn show(&mut self, changed: Changed) {
        let grade = |changed: &Changed| changed.first.outcome.grade();
        if self.examples.len() < SHOWN {
            self.examples.push(changed);
        } else if self.examples.iter().all(|shown| grade(shown) != grade(&changed)) {
            self.examples[SHOWN - 1] = changed;
        }
    }
}
