//! Answers of a trained parser.

use anyhow::Result;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::time::Instant;
use xpr_exec::Outcome;
use xpr_exec::sqlite::{AnswerCell, answer_cells};
use xpr_learn::inference::{Answer, AnswerChooser, AnswerGroup, Reranked};
use xpr_learn::{Task, TrainedRun};
use xpr_parser::Parser;
use xpr_run::ExecutedCandidate;

/// The answer to a question: the output of `--json`.
#[derive(Serialize)]
pub(in crate::commands) struct AnsweredQuestion {
    pub(in crate::commands) question: String,
    /// The index of the chosen candidate.
    pub(in crate::commands) chosen: usize,
    /// A sentence that says what the chosen candidate returns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) explanation: Option<String>,
    /// What the columns of the answer are called, if it has columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<Vec<String>>,
    /// The rows of the answer, if it has columns and the chosen candidate executes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "typed")]
    pub(super) rows: Option<Vec<Vec<AnswerCell>>>,
    pub(in crate::commands) milliseconds: f64,
    /// The different answers, the chosen one first, then the most probable first. Each names its candidates.
    pub(super) answers: Vec<AnswerGroup>,
    /// All candidates, most probable first.
    pub(in crate::commands) candidates: Vec<ExecutedCandidate>,
}

impl AnsweredQuestion {
    /// Returns the chosen candidate; none if the parser found no program.
    pub(super) fn best(&self) -> Option<&ExecutedCandidate> {
        self.candidates.get(self.chosen)
    }
}

/// Writes rows with the types of their cells.
fn typed<S: Serializer>(rows: &Option<Vec<Vec<AnswerCell>>>, serializer: S) -> Result<S::Ok, S::Error> {
    let cell = |cell: &AnswerCell| match cell {
        AnswerCell::Null => Value::Null,
        AnswerCell::Text(text) | AnswerCell::Bytes(text) => Value::String(text.clone()),
        AnswerCell::Number(printed) => {
            let integer = printed.parse::<i64>().ok().map(Number::from);
            let number = integer.or_else(|| Number::from_f64(printed.parse().ok()?));
            number.map_or_else(|| Value::String(printed.clone()), Value::Number)
        }
    };
    let rows = rows.iter().flatten().map(|row| row.iter().map(cell).collect::<Vec<Value>>());
    serializer.collect_seq(rows)
}

/// Answers questions with the parser of a run.
pub(in crate::commands) struct QuestionAnswerer<'r> {
    task: &'r Task,
    parser: Reranked<'r>,
    chooser: AnswerChooser<'r>,
}

impl<'r> QuestionAnswerer<'r> {
    pub(in crate::commands) fn new(run: &'r TrainedRun) -> Result<Self> {
        Ok(QuestionAnswerer { task: &run.task, parser: run.parser(), chooser: run.chooser()? })
    }

    /// Returns the answer to a question.
    pub(in crate::commands) fn answer(&mut self, text: &str, beam: usize) -> AnsweredQuestion {
        let start = Instant::now();
        let question = self.task.question(text);
        let candidates = self.parser.candidates(&[&question], beam).pop().unwrap_or_default();
        let Answer { chosen, candidates: executed, answers } = self.chooser.choose(&question, &candidates);
        let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
        let program = candidates.get(chosen).map(|candidate| &candidate.program);
        let explanation = program.and_then(|program| self.task.explain(program, &question));
        let columns = program.and_then(|program| self.task.column_names(program, &question));
        let rows = match executed.get(chosen).map(|candidate| &candidate.outcome) {
            Some(Outcome::Value(answer)) if columns.is_some() => answer_cells(answer),
            Some(Outcome::Empty) if columns.is_some() => Some(vec![]),
            _ => None,
        };
        let question = text.to_owned();
        AnsweredQuestion {
            question,
            chosen,
            explanation,
            columns,
            rows,
            milliseconds,
            answers,
            candidates: executed,
        }
    }
}
