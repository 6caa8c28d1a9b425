//! Lessons of all ranks. Each rank searches and runs programs for some questions, and tells the others what they teach.

use super::{Lesson, LessonDiagnostics};
use crate::task::UnlabeledExample;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use xpr_lang::{Action, ItemId, Program, RuleId};
use xpr_nn::Ranks;

/// A lesson as it is sent. Numbers are sent as their bits, because they must arrive as they are.
#[derive(Serialize, Deserialize)]
struct SentLesson {
    /// The index of the question.
    question: usize,
    /// The actions of each program, each with whether it is an item and the index, and the weight.
    programs: Vec<(Vec<(bool, u32)>, u64)>,
    loss: Option<u64>,
    diagnostics: [u64; 9],
    execution: Duration,
}

impl SentLesson {
    fn new(question: usize, lesson: &Lesson) -> Self {
        let action = |action: &Action| match action {
            Action::Rule(rule) => (false, rule.index() as u32),
            Action::Item(item) => (true, item.0),
        };
        let program = |(program, weight): &(Program, f64)| {
            (program.actions().iter().map(action).collect(), weight.to_bits())
        };
        SentLesson {
            question,
            programs: lesson.programs.iter().map(program).collect(),
            loss: lesson.loss.map(f64::to_bits),
            diagnostics: lesson.diagnostics.to_words(),
            execution: lesson.execution,
        }
    }

    /// Returns the lesson. A program that the question's grammar does not have is left out; ranks with the same settings and data send none.
    fn received(self, example: &UnlabeledExample) -> Lesson {
        let action = |(is_item, index): (bool, u32)| match is_item {
            true => Action::Item(ItemId(index)),
            false => Action::Rule(RuleId::from_index(index as usize)),
        };
        let program = |(actions, weight): (Vec<(bool, u32)>, u64)| {
            let actions: Vec<Action> = actions.into_iter().map(action).collect();
            let program = Program::from_actions(example.question.grammar(), &actions).ok()?;
            Some((program, f64::from_bits(weight)))
        };
        Lesson {
            programs: self.programs.into_iter().filter_map(program).collect(),
            loss: self.loss.map(f64::from_bits),
            diagnostics: LessonDiagnostics::from_words(self.diagnostics),
            execution: self.execution,
        }
    }
}

/// Returns the lessons of all questions, of which each rank has some. `lessons` has one for each question; those that `is_own` does not name are
/// replaced.
pub(crate) fn exchanged(
    ranks: &dyn Ranks,
    mut lessons: Vec<Lesson>,
    is_own: impl Fn(usize) -> bool,
    examples: &[&UnlabeledExample],
) -> Vec<Lesson> {
    let own = lessons.iter().enumerate().filter(|(question, _)| is_own(*question));
    let own: Vec<SentLesson> = own.map(|(question, lesson)| SentLesson::new(question, lesson)).collect();
    let bytes = serde_json::to_vec(&own).unwrap_or_default();
    for (rank, bytes) in ranks.gather(&bytes).into_iter().enumerate() {
        if rank != ranks.rank() {
            let received: Vec<SentLesson> = serde_json::from_slice(&bytes).unwrap_or_default();
            for sent in received {
                if let Some((lesson, example)) =
                    lessons.get_mut(sent.question).zip(examples.get(sent.question))
                {
                    *lesson = SentLesson::received(sent, example);
                }
            }
        }
    }
    lessons
}
