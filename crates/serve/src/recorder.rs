//! The thread that writes the log of a run.
//!
//! Writing to the disk takes longer than answering. So all that waits is written in one transaction, and the threads that answer do not
//! wait for it: the recorder sends the answers when they are written.

use crate::answer::AskResponse;
use crate::problem::Problem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;
use xpr_log::{LogError, NewFeedback, NewQuestion, QuestionId, QuestionLog};

/// The most that is written in one transaction.
const MAX_BATCH: usize = 256;
/// What can wait to be written. Where the disk is slow, or another process writes the log, the threads that answer wait for a place, and so
/// their queue fills and refuses.
const MAX_WAITING: usize = 256;

/// The receiver of an answer.
pub(crate) type Reply = oneshot::Sender<Result<AskResponse, Problem>>;

/// What is to be written.
enum Record {
    Question(Box<(NewQuestion, AskResponse)>, Reply),
    Feedback(NewFeedback, oneshot::Sender<Result<(), Problem>>),
    /// Nothing. It is only asked whether it could be written.
    Check(oneshot::Sender<Result<(), Problem>>),
}

impl Record {
    /// Tells who waits that nothing is written.
    fn refuse(self, problem: &Problem) {
        match self {
            Record::Question(_, reply) => _ = reply.send(Err(problem.clone())),
            Record::Feedback(_, reply) | Record::Check(reply) => _ = reply.send(Err(problem.clone())),
        }
    }
}

/// The recorder of a run. It ends when this is dropped and all is written.
#[derive(Debug)]
pub(crate) struct Recorder {
    records: Option<SyncSender<Record>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
    /// Whether the last record could not be written.
    is_failing: Arc<AtomicBool>,
}

impl Recorder {
    /// Opens a log and starts the thread that writes it.
    ///
    /// # Errors
    /// If the log cannot be opened.
    pub(crate) fn start(path: &Path) -> Result<Self, LogError> {
        let log = QuestionLog::open(path)?;
        let (records, waiting) = mpsc::sync_channel(MAX_WAITING);
        let file = path.to_owned();
        let is_failing = Arc::new(AtomicBool::new(false));
        let fails = Arc::clone(&is_failing);
        let write = move || write(Some(log), &file, &waiting, &fails);
        let thread = thread::Builder::new().name("xpr-recorder".to_owned()).spawn(write);
        let thread = thread.map_err(|source| LogError::File { path: path.to_owned(), source })?;
        Ok(Recorder { records: Some(records), thread: Some(thread), path: path.to_owned(), is_failing })
    }

    /// Returns the file of the log.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a question, and then sends its answer. Waits while too much waits to be written.
    pub(crate) fn question(&self, asked: NewQuestion, answer: AskResponse, reply: Reply) {
        // If the thread is gone, the record is dropped, and with it the sender of its reply, which the receiver notices.
        if let Some(records) = &self.records {
            let _ = records.send(Record::Question(Box::new((asked, answer)), reply));
        }
    }

    /// Returns whether the log can be written: no if the last record could not be, unless now something can.
    pub(crate) async fn is_writable(&self) -> bool {
        /// Longer than this, nobody who asks whether the server is ready waits.
        const PATIENCE: Duration = Duration::from_secs(1);
        if !self.is_failing.load(Relaxed) {
            return true;
        }
        let (reply, receiver) = oneshot::channel();
        let is_asked =
            self.records.as_ref().is_some_and(|records| records.try_send(Record::Check(reply)).is_ok());
        is_asked && matches!(tokio::time::timeout(PATIENCE, receiver).await, Ok(Ok(Ok(()))))
    }

    /// Writes feedback. The receiver gets a message when it is written. It does not wait, so that it can be called where connections are served.
    pub(crate) fn feedback(&self, feedback: NewFeedback) -> oneshot::Receiver<Result<(), Problem>> {
        let (reply, receiver) = oneshot::channel();
        if let Some(records) = &self.records
            && let Err(TrySendError::Full(record)) = records.try_send(Record::Feedback(feedback, reply))
        {
            record.refuse(&Problem::too_many("too much waits to be written; say it again in a second"));
        }
        receiver
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.records = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes records until there can be no more.
fn write(mut log: Option<QuestionLog>, path: &Path, waiting: &Receiver<Record>, is_failing: &AtomicBool) {
    while let Ok(first) = waiting.recv() {
        let mut records = vec![first];
        records.extend(waiting.try_iter().take(MAX_BATCH - 1));
        match noted(open_log(&mut log, path), is_failing) {
            Ok(log) => write_records(log, records, is_failing),
            Err(problem) => records.into_iter().for_each(|record| record.refuse(&problem)),
        }
    }
}

/// Returns what clients are told of a result, and notes first whether the log could be used. What does not fit a question is no reason.
fn noted<T>(result: Result<T, LogError>, is_failing: &AtomicBool) -> Result<T, Problem> {
    let result = result.map_err(|error| refusal(&error));
    match &result {
        Ok(_) => is_failing.store(false, Relaxed),
        Err(problem) if problem.status >= 500 => is_failing.store(true, Relaxed),
        Err(_) => {}
    }
    result
}

/// Returns the log. A file that was removed or replaced is not written any more: there is a new one.
fn open_log<'l>(log: &'l mut Option<QuestionLog>, path: &Path) -> Result<&'l mut QuestionLog, LogError> {
    if log.as_ref().is_some_and(QuestionLog::is_gone) {
        tracing::warn!(path = %path.display(), "the log of questions was removed or replaced, and a new one begins");
        // Closed first: what SQLite removes with the last connection may have the name of a new file.
        *log = None;
    }
    match log {
        Some(log) => Ok(log),
        None => Ok(log.insert(QuestionLog::open(path)?)),
    }
}

fn write_records(log: &mut QuestionLog, records: Vec<Record>, is_failing: &AtomicBool) {
    let (mut asked, mut answers, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for record in records {
        match record {
            Record::Question(question, reply) => {
                let (question, answer) = *question;
                asked.push(question);
                answers.push((answer, reply));
            }
            Record::Feedback(..) | Record::Check(_) => others.push(record),
        }
    }
    if !asked.is_empty() {
        reply_all(noted(log.append(&asked), is_failing), answers);
    }
    for record in others {
        match record {
            Record::Feedback(feedback, reply) => {
                _ = reply.send(noted(log.add_feedback(&feedback), is_failing));
            }
            Record::Check(reply) => _ = reply.send(noted(log.check_writable(), is_failing)),
            Record::Question(..) => {}
        }
    }
}

fn reply_all(written: Result<Vec<QuestionId>, Problem>, answers: Vec<(AskResponse, Reply)>) {
    match written {
        Ok(ids) => {
            for ((answer, reply), id) in answers.into_iter().zip(ids) {
                let _ = reply.send(Ok(AskResponse { id: Some(id.0), ..answer }));
            }
        }
        Err(problem) => {
            for (_, reply) in answers {
                let _ = reply.send(Err(problem.clone()));
            }
        }
    }
}

/// Returns what a client is told of an error of the log.
fn refusal(error: &LogError) -> Problem {
    match error {
        LogError::NoQuestion(_) => Problem::not_found(error.to_string()),
        LogError::Program(verdict) => Problem::bad_feedback(match verdict.has_program() {
            true => format!("the verdict `{verdict}` needs a query in `sql`"),
            false => format!(
                "the verdict `{verdict}` has no place for a query; send one in `sql` with `corrected`"
            ),
        }),
        LogError::NothingConfirmed(_) => Problem::bad_feedback(error.to_string()),
        _ => {
            tracing::error!(%error, "the log cannot be written");
            Problem::unavailable("the log of questions cannot be written, and nothing is answered without it")
        }
    }
}
