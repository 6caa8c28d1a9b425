//! `xpr bench ask`: how long an answer takes.

use super::{open_run, use_threads, write_json};
use crate::arguments::BenchAskArguments;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};
use xpr_data::unlabeled;
use xpr_learn::experiment::QuestionAnswerer;

/// The number of answers that are not counted: caches and buffers are empty before them.
const NOT_COUNTED: usize = 5;

/// The output of `--json`.
#[derive(Serialize)]
struct AnswerSpeed {
    /// The median time of an answer.
    ms_median: f64,
    /// The time within which 95 of 100 answers are given.
    ms_95: f64,
    /// The number of answers that were measured.
    answers: usize,
    /// The number of tables of the database; none if the data are no database.
    tables: Option<usize>,
    beam: usize,
    threads: usize,
}

pub(crate) fn run(arguments: &BenchAskArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let questions = unlabeled::read(&arguments.questions)?;
    let run = open_run(&arguments.trained, &[])?;
    let mut answerer = QuestionAnswerer::new(&run, Some(0.0))?;
    let beam = usize::from(arguments.search.beam);
    let limit = Duration::from_secs_f64(arguments.seconds);
    let mut times = Vec::new();
    let mut start = Instant::now();
    for (index, question) in questions.iter().cycle().enumerate() {
        if index == NOT_COUNTED {
            start = Instant::now();
        }
        let begin = Instant::now();
        answerer.answer(&question.text, beam);
        if index >= NOT_COUNTED {
            times.push(1000.0 * begin.elapsed().as_secs_f64());
            if start.elapsed() > limit {
                break;
            }
        }
    }
    times.sort_by(f64::total_cmp);
    let quantile = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    let speed = AnswerSpeed {
        ms_median: quantile(0.5),
        ms_95: quantile(0.95),
        answers: times.len(),
        tables: run.task.world().schema().map(|schema| schema.tables.len()),
        beam,
        threads: rayon::current_num_threads(),
    };
    if arguments.output.json {
        return write_json(out, &speed);
    }
    let AnswerSpeed { ms_median, ms_95, answers, threads, .. } = speed;
    let tables = speed.tables.map_or_else(String::new, |tables| format!(", {tables} tables"));
    Ok(writeln!(
        out,
        "{ms_median:.1} ms for an answer, 95 % within {ms_95:.1} ms ({answers} answers, beam {beam}, {threads} threads{tables})"
    )?)
}
