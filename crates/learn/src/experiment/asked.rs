//! Questions that people asked, as an experiment learns from them.
//!
//! A confirmed program is a label, and so is the program of a confirmed answer. If none of the answers was right, programs that find them are
//! not rewarded. A question about which nobody said anything is unlabeled. What people said replaces what the project's own log says
//! about the same question, and the project's labels come before what people said.

use crate::task::{LabeledExample, LeftOut, LeftOutReason, Task, TaskError, UnlabeledExample, check_length};
use std::collections::HashSet;
use xpr_data::Example;
use xpr_run::{AskedQuestion, Said, question_key};

/// What people asked, by its use in an experiment.
#[derive(Debug, Default)]
pub(super) struct AskedExamples {
    /// The confirmed questions with their programs.
    pub(super) labels: Vec<Example>,
    /// The questions none of whose answers was right, with the programs of these answers.
    rejected: Vec<(String, Vec<String>)>,
    /// The questions about which nobody said anything.
    bare: Vec<String>,
    /// The questions of the project's own log that are left out, because people said something about them or they are held out.
    replaced: HashSet<String>,
}

impl AskedExamples {
    /// Divides what people asked. Questions that the project has labels for are left out, and `held_out` ones are removed everywhere.
    pub(super) fn new(asked: &[AskedQuestion], held_out: &[String], labeled: &[Example]) -> Self {
        let known: HashSet<String> = labeled.iter().map(|label| question_key(&label.utterance)).collect();
        let held_out: HashSet<&str> = held_out.iter().map(String::as_str).collect();
        let mut examples = AskedExamples {
            replaced: held_out.iter().map(|&key| key.to_owned()).collect(),
            ..AskedExamples::default()
        };
        for question in asked {
            let key = question.key();
            if known.contains(&key) || held_out.contains(key.as_str()) {
                continue;
            }
            let utterance = question.utterance.clone();
            match &question.said {
                Said::Program { program } | Said::Answer { program } => {
                    examples.labels.push(Example { utterance, program: program.clone() });
                }
                Said::NoneOf { programs } => examples.rejected.push((utterance, programs.clone())),
                Said::Nothing => examples.bare.push(utterance),
            }
            examples.replaced.insert(key);
        }
        examples
    }

    /// Separates these questions from those to evaluate on. One about which people said something is learned and not evaluated, and one
    /// about which nobody did is evaluated and not learned.
    pub(super) fn separate_from(&mut self, evaluated: &mut Vec<Example>) {
        let learned: HashSet<String> = self.learned().map(question_key).collect();
        evaluated.retain(|example| !learned.contains(&question_key(&example.utterance)));
        let evaluated: HashSet<String> =
            evaluated.iter().map(|example| question_key(&example.utterance)).collect();
        self.bare.retain(|utterance| !evaluated.contains(&question_key(utterance)));
    }

    /// Returns whether a question of the project's own log is left out.
    pub(super) fn replaces(&self, utterance: &str) -> bool {
        !self.replaced.is_empty() && self.replaced.contains(&question_key(utterance))
    }

    /// Returns all questions.
    pub(super) fn questions(&self) -> impl Iterator<Item = &str> {
        let labeled = self.labels.iter().map(|label| label.utterance.as_str());
        let rejected = self.rejected.iter().map(|(utterance, _)| utterance.as_str());
        labeled.chain(rejected).chain(self.bare.iter().map(String::as_str))
    }

    /// Returns the questions about which people said something that is learned.
    pub(super) fn learned(&self) -> impl Iterator<Item = &str> {
        let rejected = self.rejected.iter().map(|(utterance, _)| utterance.as_str());
        self.labels.iter().map(|label| label.utterance.as_str()).chain(rejected)
    }

    /// Prepares the confirmed questions. One whose program fails, because the data changed since, is left out.
    pub(super) fn labeled(&self, task: &Task) -> Result<(Vec<LabeledExample>, Vec<LeftOut>), TaskError> {
        let (labeled, mut left_out) = task.label(&self.labels, &|| {})?;
        let mut executing = Vec::with_capacity(labeled.len());
        for example in labeled {
            match example.failure() {
                None => executing.push(example),
                Some(failure) => left_out.push(LeftOut {
                    utterance: example.utterance,
                    reason: LeftOutReason::Failed(failure.outcome),
                }),
            }
        }
        Ok((executing, left_out))
    }

    /// Prepares the other questions.
    pub(super) fn unlabeled(&self, task: &Task) -> Result<(Vec<UnlabeledExample>, Vec<LeftOut>), TaskError> {
        let (mut unlabeled, mut left_out) = (Vec::new(), Vec::new());
        let mut executor = task.label_executor()?;
        let bare = self.bare.iter().map(|utterance| (utterance, &[][..]));
        let rejected = self.rejected.iter().map(|(utterance, programs)| (utterance, programs.as_slice()));
        for (utterance, programs) in rejected.chain(bare) {
            if let Err(long) = check_length(utterance) {
                left_out.push(LeftOut { utterance: utterance.clone(), reason: long.into() });
                continue;
            }
            let outcomes = programs.iter().map(|program| executor.execute(program));
            unlabeled.push(UnlabeledExample {
                rejected: outcomes.filter(|outcome| outcome.executes()).collect(),
                ..UnlabeledExample::bare(task, utterance)
            });
        }
        Ok((unlabeled, left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_the_project_come_first_and_comments_replace_its_log() {
        let asked = |utterance: &str, said: Said| AskedQuestion { utterance: utterance.to_owned(), said };
        let program = || "SELECT 1".to_owned();
        let questions = [
            asked("Confirmed?", Said::Program { program: program() }),
            asked("picked", Said::Answer { program: program() }),
            asked("rejected", Said::NoneOf { programs: vec![program()] }),
            asked("bare", Said::Nothing),
            asked("known", Said::Answer { program: program() }),
            asked("held out", Said::Program { program: program() }),
        ];
        let label = Example { utterance: "Known".to_owned(), program: "SELECT 2".to_owned() };
        let examples = AskedExamples::new(&questions, &["held out".to_owned()], &[label]);
        let all: Vec<&str> = examples.questions().collect();
        assert_eq!(all, ["Confirmed?", "picked", "rejected", "bare"]);
        assert_eq!(examples.labels.len(), 2);
        for (utterance, replaces) in [("confirmed", true), ("held out", true), ("another", false)] {
            assert_eq!(examples.replaces(utterance), replaces, "{utterance}");
        }
    }
}
