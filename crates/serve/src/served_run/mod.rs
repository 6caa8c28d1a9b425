//! A run that is served: its open parser, the threads that answer with it, and its log.
//!
//! Answering is computation, so it has threads of its own and never runs on those that serve connections. The questions that wait
//! together are searched as one batch. A thread that watches the files of the run opens a parser that was promoted, or a database that
//! changed, while the old one answers; the others begin to use it between two batches.

mod answering;
mod querying;
mod watching;

use crate::answer::{AskResponse, FeedbackRequest, FeedbackResponse, RunResponse};
use crate::parser::{Improving, OpenParser};
use crate::problem::Problem;
use crate::queue::Queue;
use crate::recorder::{Recorder, Reply};
use crate::schema::SchemaView;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, MutexGuard, oneshot, watch};
use xpr_learn::ExperimentError;
use xpr_learn::task::check_length;
use xpr_log::{LogError, NewFeedback, NewQuestion, QuestionId, QuestionLog, Verdict, log_path};

/// The number of queries of people that can wait; each may take seconds.
const MAX_QUERIES: usize = 16;
/// The number of threads that run the queries of people, so that a slow one delays no question.
const QUERY_THREADS: usize = 2;
/// The bytes of a query.
pub(crate) const LARGEST_QUERY: usize = 20_000;
/// How often the files of a run are looked at.
const LOOK: Duration = Duration::from_millis(300);

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
    /// When a person asked it, if nobody asks it now.
    asked_before: Option<i64>,
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
    /// Whether the data, or the parser that a run names, cannot be opened any more.
    is_broken: AtomicBool,
    status: watch::Sender<RunStatus>,
    /// Whoever asks questions of the log again. Others wait, and find them answered.
    asking_again: Mutex<()>,
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
            is_broken: AtomicBool::new(false),
            status: watch::Sender::new(status),
            asking_again: Mutex::new(()),
        });
        let mut run = ServedRun { shared, threads: vec![] };
        for _ in 0..threads {
            run.start("xpr-answer", answering::answer_questions)?;
        }
        for _ in 0..QUERY_THREADS {
            run.start("xpr-query", querying::run_queries)?;
        }
        run.start("xpr-watch", watching::watch_files)?;
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

    /// Checks that questions can be answered.
    ///
    /// # Errors
    /// If the data, or the parser that the run names, cannot be opened any more.
    pub(crate) fn check_ready(&self) -> Result<(), Problem> {
        match self.shared.is_broken.load(Relaxed) {
            false => Ok(()),
            true => Err(Problem::unavailable("the data or the parser changed, and cannot be opened")),
        }
    }

    /// Checks that what is answered can be logged.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub(crate) async fn check_log(&self) -> Result<(), Problem> {
        match &self.shared.recorder {
            Some(recorder) if !recorder.is_writable().await => {
                Err(Problem::unavailable("the log of questions cannot be written"))
            }
            _ => Ok(()),
        }
    }

    /// Answers a question, and logs it before the answer is returned.
    ///
    /// # Errors
    /// If the text cannot be a question, too many questions wait, the data cannot be read, or the log cannot be written.
    pub async fn ask(&self, question: String) -> Result<AskResponse, Problem> {
        self.answer(question, None).await
    }

    /// Waits until nobody else asks questions of the log again.
    pub(crate) async fn turn_to_ask_again(&self) -> MutexGuard<'_, ()> {
        self.shared.asking_again.lock().await
    }

    /// Answers a question of the log with the parser of now. The answer is logged as one that nobody asked for.
    ///
    /// # Errors
    /// As for [`ServedRun::ask`].
    pub(crate) async fn ask_again(&self, asked: &NewQuestion) -> Result<AskResponse, Problem> {
        self.answer(asked.question.clone(), Some(asked.time)).await
    }

    async fn answer(&self, question: String, asked_before: Option<i64>) -> Result<AskResponse, Problem> {
        check_question(&question)?;
        self.check_ready()?;
        let (reply, receiver) = oneshot::channel();
        let job = AskJob { question, asked_before, arrived: Instant::now(), reply };
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
        self.check_ready()?;
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
        parser.schema.get_or_init(|| SchemaView::read(&parser.run, &self.shared.name)).clone()
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

fn data_changed() -> Problem {
    Problem::unavailable("the data changed, and are being read again; ask again in some seconds")
}
