//! The threads that run the queries of people.

use super::{LOOK, QueryJob, Shared, data_changed};
use crate::answer::{RunResponse, rows_or_text};
use crate::parser::OpenParser;
use crate::problem::Problem;
use crate::queue::Taken;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Instant;
use xpr_exec::{Executor, Outcome};

/// Runs queries of people until the queue is closed.
pub(super) fn run_queries(shared: &Shared) {
    while !shared.ends.load(Relaxed) || shared.queries.len() > 0 {
        let parser = shared.current();
        let mut executor = match parser.run.task.label_executor() {
            Ok(executor) => executor,
            Err(error) => {
                tracing::error!(%error, run = shared.name, "the data cannot be opened");
                shared.is_stale.store(true, Relaxed);
                thread::sleep(LOOK);
                continue;
            }
        };
        let work = || loop {
            match shared.queries.take(parser.generation, 1, 1) {
                Taken::Jobs(jobs) => {
                    for QueryJob { sql, question, reply } in jobs {
                        if !reply.is_closed() {
                            let _ = reply.send(run_query(&parser, &mut *executor, sql, question.as_deref()));
                        }
                    }
                }
                Taken::Changed => return true,
                Taken::Closed => return false,
            }
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => tracing::error!(run = shared.name, "running a query panicked"),
        }
    }
}

fn run_query(
    parser: &OpenParser,
    executor: &mut dyn Executor,
    sql: String,
    question: Option<&str>,
) -> Result<RunResponse, Problem> {
    let start = Instant::now();
    let outcome = executor.full_answer(&sql);
    // Its message would name the file of the database.
    parser.run.task.check_unchanged().map_err(|_| data_changed())?;
    if !outcome.executes() {
        let advice = match outcome {
            Outcome::Timeout(_) => "; ask for less at a time, for example with a LIMIT",
            _ => "",
        };
        return Err(Problem::bad_query(format!("{}{advice}", outcome.text())));
    }
    let (rows, message) = rows_or_text(&outcome);
    let columns = executor.column_names(&sql).unwrap_or_default();
    let task = &parser.run.task;
    let question = task.question(question.unwrap_or_default());
    let explanation = task.read(&sql, &question).ok().and_then(|program| task.explain(&program, &question));
    let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
    Ok(RunResponse { sql, explanation, columns, rows, message, milliseconds })
}
