//! Examples as training and evaluation see them.

use super::Task;
use super::error::FailedLabel;
use xpr_lang::{Outcome, Program};
use xpr_parser::Question;

/// A question with its program, to train on.
#[derive(Clone, Debug)]
pub struct LabeledExample {
    /// The question as it was asked.
    pub utterance: String,
    /// The question as the parser sees it.
    pub question: Question,
    /// The program.
    pub program: Program,
    /// The outcome of the program.
    pub outcome: Outcome,
}

impl LabeledExample {
    /// Returns the failure of the program, if it does not execute.
    pub fn failure(&self) -> Option<FailedLabel> {
        FailedLabel::find(&self.utterance, &self.outcome)
    }
}

/// A question without a program.
#[derive(Clone, Debug)]
pub struct UnlabeledExample {
    /// The question as it was asked.
    pub utterance: String,
    /// The question as the parser sees it.
    pub question: Question,
    /// The outcome of the right program, if it is known.
    pub answer: Option<Outcome>,
    /// Answers that are known to be wrong.
    pub rejected: Vec<Outcome>,
    /// The right program, if a benchmark has it. It is used for diagnostics only, and never to train.
    pub gold: Option<Program>,
}

impl UnlabeledExample {
    /// Hides the label of an example, and its answer as well unless `answered`.
    pub fn hide(example: TestExample, answered: bool) -> Self {
        UnlabeledExample {
            answer: Some(example.outcome).filter(|outcome| answered && outcome.executes()),
            utterance: example.utterance,
            rejected: vec![],
            question: example.question,
            gold: example.program,
        }
    }

    /// Returns a question whose answer and program are unknown.
    pub fn bare(task: &Task, utterance: &str) -> Self {
        let question = task.question(utterance);
        UnlabeledExample {
            utterance: utterance.to_owned(),
            question,
            answer: None,
            rejected: vec![],
            gold: None,
        }
    }
}

/// A question with its program, to test on.
#[derive(Clone, Debug)]
pub struct TestExample {
    /// The question as it was asked.
    pub utterance: String,
    /// The question as the parser sees it.
    pub question: Question,
    /// The text of the labeled program.
    pub gold: String,
    /// The labeled program, unless the grammar cannot write it.
    pub program: Option<Program>,
    /// The outcome of the labeled program.
    pub outcome: Outcome,
}

impl TestExample {
    /// Returns the failure of the labeled program, if it does not execute.
    pub fn failure(&self) -> Option<FailedLabel> {
        FailedLabel::find(&self.utterance, &self.outcome)
    }
}
