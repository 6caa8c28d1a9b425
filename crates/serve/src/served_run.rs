//! A run that is served: its open parser, the threads that answer with it, and its log.
//!
//! Answering is computation, so it has threads of its own and never runs on those that serve connections. The questions that wait
//! together are searched as one batch. A thread that watches the files of the run opens a parser that was promoted, or a database that
//! changed, while the old one answers; the others begin to use it between two batches.

use crate::answer::{AskResponse, FeedbackRequest, FeedbackResponse, RunResponse, log_entry, rows_or_text};
use crate::parser::{Improving, OpenParser, improving};
use crate::problem::Problem;
use crate::queue::{Queue, Taken};
use crate::recorder::{Recorder, Reply};
use crate::schema::SchemaView;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use xpr_exec::Executor;
use xpr_learn::ExperimentError;
use xpr_learn::experiment::{AnsweredQuestion, QuestionAnswerer};
use xpr_learn::task::check_length;
use xpr_log::{LogError, NewFeedback, QuestionId, QuestionLog, Verdict, log_path};

/// The largest number of questions in a batch. A search takes six at once; more would wait for each other and gain nothing.
const MAX_BATCH: usize = 6;
/// The number of questions after which a thread prepares anew. What it learns about words of questions would otherwise grow without bound.
const REFRESH: usize = 5000;
/// The number of queries of people that can wait; each may take seconds.
const MAX_QUERIES: usize = 16;
/// The number of threads that run the queries of people, so that a slow one delays no question.
const QUERY_THREADS: usize = 2;
/// The bytes of a query.
pub(crate) const LARGEST_QUERY: usize = 20_000;
/// How often the files of a run are looked at.
const LOOK: Duration = Duration::from_millis(300);
/// The shortest time between two openings of a parser, in units of what the last one took: a database that changes all the time must not
/// keep the machine busy.
const REST: u32 = 10;

/// Where the questions of a run are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPlace {
    /// Nowhere, and feedback is not kept.
    Nowhere,
    /// In a file beside the run, where `xpr log` and `xpr improve` find it.
    BesideRun,
    /// In this file.
    File(PathBuf),
}

/// How runs are served.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The beam size.
    pub beam: usize,
    /// The confidence that an answer needs; the run's own if not given.
    pub min_confidence: Option<f64>,
    /// Where questions are logged.
    pub log: LogPlace,
    /// The number of threads that answer; one for each core if it is 0.
    pub threads: usize,
    /// The number of questions that can wait.
    pub queue: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { beam: 16, min_confidence: None, log: LogPlace::BesideRun, threads: 0, queue: 256 }
    }
}

/// The reason why a run cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The run cannot be opened.
    #[error(transparent)]
    Run(#[from] ExperimentError),
    /// The log cannot be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A thread cannot be started.
    #[error("starting a thread: {0}")]
    Thread(std::io::Error),
}

/// A question that waits.
struct AskJob {
    question: String,
    arrived: Instant,
    reply: Reply,
}

/// A query that waits.
struct QueryJob {
    sql: String,
    /// The question that it is about, for which it is explained.
    question: Option<String>,
    reply: oneshot::Sender<Result<RunResponse, Problem>>,
}

/// What changes while a run is served.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct RunStatus {
    /// The fingerprint of the parser that answers.
    pub(crate) parser: String,
    /// Its number among those of the run.
    pub(crate) number: usize,
    /// How far the training of the next parser is.
    pub(crate) improving: Option<Improving>,
}

/// What the threads of a run share.
struct Shared {
    name: String,
    folder: PathBuf,
    options: RunOptions,
    current: RwLock<Arc<OpenParser>>,
    questions: Queue<AskJob>,
    queries: Queue<QueryJob>,
    recorder: Option<Recorder>,
    ends: AtomicBool,
    /// Whether the data changed under the parser, so that it must be opened again at once.
    is_stale: AtomicBool,
    status: watch::Sender<RunStatus>,
}

impl Shared {
    fn current(&self) -> Arc<OpenParser> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A run that is served. Its threads end when it is dropped, after what waits is answered.
pub struct ServedRun {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for ServedRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedRun").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl ServedRun {
    /// Opens the current parser of a run, and its log, and starts the threads that answer.
    ///
    /// # Errors
    /// If the run or its log cannot be opened.
    pub fn open(name: &str, folder: &Path, options: RunOptions) -> Result<Self, OpenError> {
        let parser = OpenParser::open(folder, 0)?;
        for note in &parser.run.notes {
            tracing::info!(run = name, "{note}");
        }
        let recorder = match &options.log {
            LogPlace::Nowhere => None,
            LogPlace::BesideRun => Some(Recorder::start(&log_path(folder))?),
            LogPlace::File(path) => Some(Recorder::start(path)?),
        };
        let threads = match options.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let options = RunOptions { threads, ..options };
        let status =
            RunStatus { parser: parser.fingerprint.clone(), number: parser.run.number, improving: None };
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            folder: folder.to_owned(),
            current: RwLock::new(Arc::new(parser)),
            questions: Queue::new(options.queue),
            queries: Queue::new(MAX_QUERIES),
            recorder,
            options,
            ends: AtomicBool::new(false),
            is_stale: AtomicBool::new(false),
            status: watch::Sender::new(status),
        });
        let mut run = ServedRun { shared, threads: vec![] };
        for _ in 0..threads {
            run.start("xpr-answer", answer_questions)?;
        }
        for _ in 0..QUERY_THREADS {
            run.start("xpr-query", run_queries)?;
        }
        run.start("xpr-watch", watch_files)?;
        Ok(run)
    }

    fn start(&mut self, name: &str, body: fn(&Shared)) -> Result<(), OpenError> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || body(&shared));
        self.threads.push(thread.map_err(OpenError::Thread)?);
        Ok(())
    }

    /// Returns the name of the run.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns the folder of the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.shared.folder
    }

    /// Returns a description of the parser that answers, and what changes of it.
    pub(crate) fn status(&self) -> watch::Receiver<RunStatus> {
        self.shared.status.subscribe()
    }

    /// Returns the number of questions that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.questions.len()
    }

    /// Returns whether questions are logged.
    pub fn has_log(&self) -> bool {
        self.shared.recorder.is_some()
    }

    /// Opens the log for reading.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub(crate) fn read_log(&self) -> Result<QuestionLog, Problem> {
        let Some(recorder) = &self.shared.recorder else {
            return Err(Problem::not_found("this server keeps no log"));
        };
        QuestionLog::open_existing(recorder.path()).map_err(|error| {
            tracing::error!(%error, "the log cannot be read");
            Problem::unavailable("the log of questions cannot be read")
        })
    }

    /// Answers a question, and logs it before the answer is returned.
    ///
    /// # Errors
    /// If the text cannot be a question, too many questions wait, or the log cannot be written.
    pub async fn ask(&self, question: String) -> Result<AskResponse, Problem> {
        check_question(&question)?;
        let (reply, receiver) = oneshot::channel();
        let job = AskJob { question, arrived: Instant::now(), reply };
        self.shared.questions.push(job).map_err(|_| {
            metrics::counter!("xpr_questions_refused_total", "run" => self.shared.name.clone()).increment(1);
            Problem::too_many("too many questions wait; ask again in a second")
        })?;
        receiver.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Runs the query of a person within the limits of the parser's own. `question` is the question it is about, if there is one.
    ///
    /// # Errors
    /// If the query is refused or fails, or too many queries wait.
    pub async fn run(&self, sql: String, question: Option<String>) -> Result<RunResponse, Problem> {
        if sql.len() > LARGEST_QUERY {
            return Err(Problem::bad_query(format!("the query has more than {LARGEST_QUERY} bytes")));
        }
        let (reply, receiver) = oneshot::channel();
        let job = QueryJob { sql, question, reply };
        let full = |_| Problem::too_many("too many queries wait; run it again in a second");
        self.shared.queries.push(job).map_err(full)?;
        receiver.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Keeps what somebody says about an answer. When it returns, it is on the disk. A corrected query must run, and a picked answer must
    /// be one of those that were shown.
    ///
    /// # Errors
    /// If there is no such question, the query does not run, or the log cannot be written.
    pub async fn feedback(&self, said: FeedbackRequest) -> Result<FeedbackResponse, Problem> {
        let Some(recorder) = &self.shared.recorder else {
            return Err(Problem::not_found("this server keeps no log, and so no feedback"));
        };
        let FeedbackRequest { id, verdict, sql, .. } = said;
        match (verdict, &sql) {
            (Verdict::Corrected, Some(sql)) => {
                self.run(sql.clone(), None).await?;
            }
            (Verdict::Answer, Some(sql)) => {
                let path = recorder.path().to_owned();
                let read =
                    move || QuestionLog::open_existing(&path).ok()?.entry(QuestionId(id)).ok().flatten();
                let entry = tokio::task::spawn_blocking(read).await.ok().flatten();
                let is_shown = |shown: &xpr_log::ShownAnswer| shown.program == *sql;
                if entry.is_some_and(|entry| !entry.asked.shown.iter().any(is_shown)) {
                    let detail = "this is not one of the answers that were shown; send it as `corrected`";
                    return Err(Problem::bad_feedback(detail));
                }
            }
            _ => {}
        }
        let written = recorder.feedback(NewFeedback::now(QuestionId(id), verdict, sql)).await;
        written.unwrap_or_else(|_| Err(Problem::internal()))?;
        metrics::counter!("xpr_feedback_total", "run" => self.shared.name.clone(), "verdict" => verdict.name())
            .increment(1);
        Ok(FeedbackResponse { id, verdict })
    }

    /// Returns what questions can be about. Reading example values takes a moment the first time.
    pub fn schema(&self) -> SchemaView {
        let parser = self.shared.current();
        parser.schema.get_or_init(|| SchemaView::read(&parser.run.task, &self.shared.name)).clone()
    }
}

impl Drop for ServedRun {
    fn drop(&mut self) {
        self.shared.ends.store(true, Relaxed);
        self.shared.questions.close();
        self.shared.queries.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Checks that a text can be a question.
fn check_question(question: &str) -> Result<(), Problem> {
    if question.trim().is_empty() {
        return Err(Problem::bad_question("the question has no words"));
    }
    check_length(question).map_err(|error| Problem::bad_question(error.to_string()))
}

/// Answers questions until the queue is closed. A batch is one search, which runs on this thread: there are as many such threads as cores, and
/// handing searches to other threads would only let them wait for each other.
fn answer_questions(shared: &Shared) {
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

fn data_changed() -> Problem {
    Problem::unavailable("the data changed, and are being read again; ask again in some seconds")
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
    let (texts, replies): (Vec<String>, Vec<(Instant, Reply)>) =
        jobs.into_iter().map(|job| (job.question, (job.arrived, job.reply))).unzip();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    metrics::histogram!("xpr_batch_questions", "run" => shared.name.clone()).record(texts.len() as f64);
    let mut replies = replies.into_iter();
    answerer.answer_each(&texts, shared.options.beam, |answered| {
        let Some((arrived, reply)) = replies.next() else { return };
        match parser.run.task.check_unchanged() {
            Ok(()) => send_answer(shared, parser, &answered, arrived, reply),
            Err(error) => {
                tracing::warn!(%error, run = shared.name, "the data changed");
                shared.is_stale.store(true, Relaxed);
                let _ = reply.send(Err(data_changed()));
            }
        }
    });
}

/// Sends an answer, by way of the log if there is one.
fn send_answer(
    shared: &Shared,
    parser: &OpenParser,
    answered: &AnsweredQuestion,
    arrived: Instant,
    reply: Reply,
) {
    let took = arrived.elapsed();
    let kind = match answered {
        answered if answered.declined.is_some() => "declined",
        answered if answered.is_unsure() => "unsure",
        _ => "sure",
    };
    metrics::counter!("xpr_questions_total", "run" => shared.name.clone(), "answer" => kind).increment(1);
    metrics::histogram!("xpr_answer_seconds", "run" => shared.name.clone()).record(took.as_secs_f64());
    let response = AskResponse::new(answered, &shared.name, parser);
    match &shared.recorder {
        Some(recorder) => {
            let micros = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
            let entry = log_entry(answered, parser, xpr_log::now(), micros);
            recorder.question(entry, response, reply);
        }
        None => {
            let _ = reply.send(Ok(response));
        }
    }
}

/// Runs queries of people until the queue is closed.
fn run_queries(shared: &Shared) {
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
    let outcome = executor.execute(&sql);
    // Its message would name the file of the database.
    parser.run.task.check_unchanged().map_err(|_| data_changed())?;
    if !outcome.executes() {
        return Err(Problem::bad_query(outcome.text()));
    }
    let (rows, message) = rows_or_text(&outcome);
    let columns = executor.column_names(&sql).unwrap_or_default();
    let task = &parser.run.task;
    let question = task.question(question.unwrap_or_default());
    let explanation = task.read(&sql, &question).ok().and_then(|program| task.explain(&program, &question));
    let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
    Ok(RunResponse { sql, explanation, columns, rows, message, milliseconds })
}

/// Opens a parser that was promoted or whose data changed, and tells who listens how far the training of the next one is.
fn watch_files(shared: &Shared) {
    let mut rested = Instant::now();
    while !shared.ends.load(Relaxed) {
        thread::sleep(LOOK);
        let improving = improving(&shared.folder);
        shared.status.send_if_modified(|status| {
            let is_new = status.improving != improving;
            status.improving = improving;
            is_new
        });
        let parser = shared.current();
        let is_stale = shared.is_stale.swap(false, Relaxed);
        let is_outdated = is_stale || parser.is_outdated(&shared.folder);
        if !is_outdated || Instant::now() < rested {
            shared.is_stale.fetch_or(is_stale, Relaxed);
            continue;
        }
        let start = Instant::now();
        match OpenParser::open(&shared.folder, parser.generation + 1) {
            Ok(next) => swap(shared, next),
            // The old parser goes on. Half-written files are whole the next time.
            Err(error) => tracing::warn!(%error, run = shared.name, "the current parser cannot be opened"),
        }
        rested = Instant::now() + REST * start.elapsed();
    }
}

fn swap(shared: &Shared, next: OpenParser) {
    let (generation, fingerprint, number) = (next.generation, next.fingerprint.clone(), next.run.number);
    tracing::info!(
        run = shared.name,
        parser = fingerprint,
        number,
        "answering with another parser or other data"
    );
    metrics::counter!("xpr_parsers_opened_total", "run" => shared.name.clone()).increment(1);
    *shared.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    shared.questions.set_generation(generation);
    shared.queries.set_generation(generation);
    shared.status.send_modify(|status| {
        (status.parser, status.number) = (fingerprint, number);
    });
}
