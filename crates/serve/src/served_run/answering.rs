//! The threads that answer questions, in batches.

use super::{AskJob, LOOK, Shared, data_changed};
use crate::answer::{AskResponse, log_entry};
use crate::parser::OpenParser;
use crate::queue::Taken;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use xpr_learn::experiment::{AnsweredQuestion, QuestionAnswerer};
use xpr_log::NewQuestion;

/// The largest number of questions in a batch. A search takes six at once; more would wait for each other and gain nothing.
const MAX_BATCH: usize = 6;
/// The number of questions after which a thread prepares anew. What it learns about words of questions would otherwise grow without bound.
const REFRESH: usize = 5000;

/// Answers questions until the queue is closed. A batch is one search, which runs on this thread: there are as many such threads as cores, and
/// handing searches to other threads would only let them wait for each other.
pub(super) fn answer_questions(shared: &Shared) {
    let this_thread = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    match this_thread {
        Ok(pool) => pool.install(|| answer_until_closed(shared)),
        Err(error) => {
            tracing::warn!(%error, "searches run on shared threads");
            answer_until_closed(shared);
        }
    }
}

fn answer_until_closed(shared: &Shared) {
    while !shared.ends.load(Relaxed) || shared.questions.len() > 0 {
        let parser = shared.current();
        let answerer = QuestionAnswerer::new(&parser.run, shared.options.min_confidence);
        let mut answerer = match answerer {
            Ok(answerer) => answerer.listing_alternatives(),
            Err(error) => {
                tracing::error!(%error, run = shared.name, "the data cannot be opened");
                shared.is_stale.store(true, Relaxed);
                refuse_while_broken(shared);
                continue;
            }
        };
        let mut answered = 0;
        let work = || {
            while answered < REFRESH {
                match shared.questions.take(parser.generation, MAX_BATCH, shared.options.threads) {
                    Taken::Jobs(jobs) => {
                        answered += jobs.len();
                        answer_batch(shared, &parser, &mut answerer, jobs);
                    }
                    Taken::Changed => return true,
                    Taken::Closed => return false,
                }
            }
            true
        };
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(true) => {}
            Ok(false) => return,
            // Those who wait for the batch are told; the thread begins anew.
            Err(_) => tracing::error!(run = shared.name, "answering panicked"),
        }
    }
}

/// Refuses questions for a moment.
fn refuse_while_broken(shared: &Shared) {
    thread::sleep(LOOK);
    let generation = shared.current().generation;
    while shared.questions.len() > 0 {
        if let Taken::Jobs(jobs) = shared.questions.take(generation, MAX_BATCH, 1) {
            for job in jobs {
                let _ = job.reply.send(Err(data_changed()));
            }
        } else {
            return;
        }
    }
}

/// Answers questions as one batch.
fn answer_batch(
    shared: &Shared,
    parser: &OpenParser,
    answerer: &mut QuestionAnswerer<'_>,
    jobs: Vec<AskJob>,
) {
    // Nobody waits for the answers of those who went away.
    let jobs: Vec<AskJob> = jobs.into_iter().filter(|job| !job.reply.is_closed()).collect();
    if jobs.is_empty() {
        return;
    }
    let questions: Vec<String> = jobs.iter().map(|job| job.question.clone()).collect();
    let texts: Vec<&str> = questions.iter().map(String::as_str).collect();
    metrics::histogram!("xpr_batch_questions", "run" => shared.name.clone()).record(texts.len() as f64);
    let mut jobs = jobs.into_iter();
    answerer.answer_each(&texts, shared.options.beam, |answered| {
        let Some(job) = jobs.next() else { return };
        match parser.run.task.check_unchanged() {
            Ok(()) => send_answer(shared, parser, &answered, job),
            Err(error) => {
                tracing::warn!(%error, run = shared.name, "the data changed");
                shared.is_stale.store(true, Relaxed);
                let _ = job.reply.send(Err(data_changed()));
            }
        }
    });
}

/// Sends an answer, by way of the log if there is one.
fn send_answer(shared: &Shared, parser: &OpenParser, answered: &AnsweredQuestion, job: AskJob) {
    let AskJob { asked_before, arrived, reply, .. } = job;
    let took = arrived.elapsed();
    let kind = match answered {
        answered if answered.declined.is_some() => "declined",
        answered if answered.is_unsure() => "unsure",
        _ => "sure",
    };
    if asked_before.is_none() {
        metrics::counter!("xpr_questions_total", "run" => shared.name.clone(), "answer" => kind).increment(1);
    }
    metrics::histogram!("xpr_answer_seconds", "run" => shared.name.clone()).record(took.as_secs_f64());
    let response = AskResponse::new(answered, &shared.name, parser);
    match &shared.recorder {
        Some(recorder) => {
            let micros = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
            let time = asked_before.unwrap_or_else(xpr_log::now);
            let entry = log_entry(answered, parser, time, micros);
            let entry = NewQuestion { again: asked_before.is_some(), ..entry };
            recorder.question(entry, response, reply);
        }
        None => {
            let _ = reply.send(Ok(response));
        }
    }
}
