//! How often a parser is right.

use crate::{LabeledExample, Task};
use serde::Serialize;
use xpr_exec::{Executor, Outcome};
use xpr_parser::{Parser, Question};

/// Shares of examples, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// How many examples there were.
    pub examples: usize,
    /// The best candidate that executes has the right denotation.
    pub accuracy: f64,
    /// The best candidate has.
    pub accuracy_of_best: f64,
    /// The best candidate that executes is the labeled program.
    pub exact: f64,
    /// Some candidate has the right denotation.
    pub in_beam: f64,
    /// The best candidate executes.
    pub executable: f64,
}

/// Asks a parser every question and compares denotations.
pub fn evaluate(parser: &dyn Parser, task: &Task, examples: &[LabeledExample], beam: usize) -> Evaluation {
    let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
    let mut runner = task.runner();
    let mut sums = Evaluation { examples: examples.len(), ..Evaluation::default() };
    for (chunk, examples) in questions.chunks(48).zip(examples.chunks(48)) {
        for (candidates, example) in parser.candidates(chunk, beam).iter().zip(examples) {
            let outcomes: Vec<Outcome> =
                candidates.iter().map(|candidate| runner.execute(&task.text(&candidate.program))).collect();
            let right = |index: usize| outcomes.get(index).is_some_and(|outcome| *outcome == example.outcome);
            let chosen = outcomes.iter().position(Outcome::executes).unwrap_or(0);
            let share = |holds: bool| f64::from(u8::from(holds)) / examples_len(&sums);
            let found = [
                share(right(chosen)),
                share(right(0)),
                share(candidates.get(chosen).is_some_and(|candidate| candidate.program == example.program)),
                share((0..outcomes.len()).any(right)),
                share(outcomes.first().is_some_and(Outcome::executes)),
            ];
            sums.accuracy += found[0];
            sums.accuracy_of_best += found[1];
            sums.exact += found[2];
            sums.in_beam += found[3];
            sums.executable += found[4];
        }
    }
    sums
}

fn examples_len(evaluation: &Evaluation) -> f64 {
    evaluation.examples.max(1) as f64
}
