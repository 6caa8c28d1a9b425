//! What executing candidates tells a parser about unlabeled questions.

use anyhow::Result;
use serde::Serialize;
use std::path::Path;
use xpr_data::LabeledQuestion;
use xpr_data::labeled;
use xpr_learn::inference::AnswerChooser;
use xpr_learn::{Experiment, TrainedRun};
use xpr_parser::Parser;
use xpr_run::ExecutedCandidate;

/// The number of examples.
const MAX_EXAMPLES: usize = 3;
/// The number of questions searched at once.
const BATCH: usize = 48;

/// The effect of executing a parser's candidates for unlabeled questions.
#[derive(Serialize)]
pub(super) struct ExecutionEffect {
    /// The reward of the settings.
    pub(super) reward: &'static str,
    pub(super) questions: usize,
    pub(super) candidates: usize,
    /// The number of rewarded candidates.
    pub(super) rewarded: usize,
    /// The number of questions whose most probable candidate is not rewarded, and another one is.
    pub(super) changed: usize,
    /// The number of those for which the most probable rewarded candidate is correct. The demo has the labels; training does not use
    /// them.
    pub(super) changed_to_right: usize,
    pub(super) examples: Vec<ChangedChoice>,
}

/// A question whose most probable candidate is not rewarded, and another one is.
#[derive(Serialize)]
pub(super) struct ChangedChoice {
    pub(super) question: String,
    /// The most probable candidate.
    pub(super) first: ExecutedCandidate,
    /// The most probable rewarded candidate.
    pub(super) instead: ExecutedCandidate,
    /// Whether `instead` is correct.
    pub(super) right: bool,
}

impl ExecutionEffect {
    /// Searches candidates for the unlabeled questions of an experiment with the parser of a run, and executes them.
    pub(super) fn measure(run: &Path, experiment: &Experiment) -> Result<Self> {
        let TrainedRun { config, task, model, .. } = TrainedRun::open(run)?;
        let success = experiment.success_by_labels();
        let questions = labeled::read(&config.data.folder.join(&config.data.labeled))?;
        // Training takes its labeled questions from the beginning of the file, and the others as unlabeled.
        let unlabeled: &[LabeledQuestion] =
            &questions[questions.len() - experiment.unlabeled_examples().len()..];
        let mut chooser = AnswerChooser::new(&task, success)?;
        let mut executor = task.label_executor()?;
        let mut effect = ExecutionEffect {
            reward: success.reward().name(),
            questions: unlabeled.len(),
            candidates: 0,
            rewarded: 0,
            changed: 0,
            changed_to_right: 0,
            examples: vec![],
        };
        for batch in unlabeled.chunks(BATCH) {
            let questions: Vec<_> = batch.iter().map(|example| task.question(&example.utterance)).collect();
            let found = model.candidates(&questions.iter().collect::<Vec<_>>(), config.learn.beam);
            for ((example, question), candidates) in batch.iter().zip(&questions).zip(&found) {
                let executed = chooser.choose(question, candidates).candidates;
                let rewarded: Vec<bool> = executed
                    .iter()
                    .map(|candidate| success.accepts(&task, &candidate.program, &candidate.outcome))
                    .collect();
                effect.candidates += rewarded.len();
                effect.rewarded += rewarded.iter().filter(|rewarded| **rewarded).count();
                let Some(best) = rewarded.iter().position(|rewarded| *rewarded).filter(|&best| best > 0)
                else {
                    continue;
                };
                let right = task.is_same_answer(&executor.execute(&example.program), &executed[best].outcome);
                effect.changed += 1;
                effect.changed_to_right += usize::from(right);
                effect.add_example(ChangedChoice {
                    question: example.utterance.clone(),
                    first: executed[0].clone(),
                    instead: executed[best].clone(),
                    right,
                });
            }
        }
        Ok(effect)
    }

    /// Adds an example. If there are enough, the last one is replaced by one whose first candidate fails in a new way.
    fn add_example(&mut self, changed: ChangedChoice) {
        let grade = |changed: &ChangedChoice| changed.first.outcome.grade();
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(changed);
        } else if self.examples.iter().all(|example| grade(example) != grade(&changed)) {
            self.examples[MAX_EXAMPLES - 1] = changed;
        }
    }
}
