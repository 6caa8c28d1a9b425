//! The thread that has the parser.

use crate::output::{Answer, Confirmation, DataSchema, QueryResult, Rows};
use crate::tools::{AskParameters, ConfirmParameters, RunParameters};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use thiserror::Error;
use tokio::sync::oneshot;
use xpr_exec::{Executor, Outcome};
use xpr_learn::experiment::{AnsweredQuestion, QuestionAnswerer};
use xpr_learn::task::{TaskError, check_length};
use xpr_learn::{ExperimentError, TrainedRun};
use xpr_log::{LogError, NewFeedback, NewQuestion, QuestionLog, ShownAnswer, now};
use xpr_run::{ParserList, fingerprint};

/// An error of starting to serve a parser.
#[derive(Debug, Error)]
pub enum McpError {
    /// The run cannot be opened.
    #[error(transparent)]
    Run(#[from] ExperimentError),
    /// The log cannot be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A thread cannot be started.
    #[error("starting a thread: {0}")]
    Thread(std::io::Error),
    /// The connection broke.
    #[error("the connection failed: {0}")]
    Connection(String),
}

/// What a tool asks for, and where its result goes. An error is a message for the caller.
pub(crate) enum Request {
    Ask(AskParameters, Reply<Answer>),
    Schema(Reply<DataSchema>),
    Run(RunParameters, Reply<QueryResult>),
    Confirm(ConfirmParameters, Reply<Confirmation>),
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, String>>;

/// The thread that has the parser of a run. It ends when this and its clones are dropped.
#[derive(Clone, Debug)]
pub struct Worker {
    requests: mpsc::Sender<Request>,
}

impl Worker {
    /// Opens a run, and starts the thread. With a log, `confirm` writes to it.
    ///
    /// # Errors
    /// If the run or the log cannot be opened.
    pub fn start(run: &Path, beam: usize, log: Option<&Path>) -> Result<Self, McpError> {
        let parser = TrainedRun::open(run)?;
        let log = log.map(QuestionLog::open).transpose()?;
        let (requests, waiting) = mpsc::channel();
        let mut desk = Desk { run: run.to_owned(), beam, log, waiting };
        let work = move || desk.work(parser);
        thread::Builder::new().name("xpr-parser".to_owned()).spawn(work).map_err(McpError::Thread)?;
        Ok(Worker { requests })
    }

    /// Sends a request to the thread, and waits for its result.
    pub(crate) async fn send<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, String> {
        let gone = || "the parser is not there any more; start xpr mcp again".to_owned();
        let (reply, result) = oneshot::channel();
        self.requests.send(request(reply)).map_err(|_| gone())?;
        result.await.map_err(|_| gone())?
    }
}

/// What the thread has besides the parser.
struct Desk {
    run: PathBuf,
    beam: usize,
    log: Option<QuestionLog>,
    waiting: mpsc::Receiver<Request>,
}

impl Desk {
    fn work(&mut self, mut parser: TrainedRun) {
        let mut first = None;
        // A run that cannot be opened again keeps its parser.
        while let Some(request) = self.serve(&parser, first.take()) {
            if let Ok(promoted) = TrainedRun::open(&self.run) {
                parser = promoted;
            }
            first = Some(request);
        }
    }

    /// Answers requests with a parser. Returns the first request after another parser became the current one, or nothing at the end.
    fn serve(&mut self, parser: &TrainedRun, mut first: Option<Request>) -> Option<Request> {
        let (answerer, executor) = (QuestionAnswerer::new(parser, None), parser.task.patient_executor());
        let (mut answerer, mut executor) = match (answerer, executor) {
            (Ok(answerer), Ok(executor)) => (answerer, executor),
            // Dropping the receiver tells the tools.
            _ => return None,
        };
        loop {
            // The first request was answered by no parser yet, so that one which cannot be replaced does not loop.
            let (request, is_first) = match first.take() {
                Some(request) => (request, true),
                None => (self.waiting.recv().ok()?, false),
            };
            let current = ParserList::read(&self.run).map_or(parser.number, |parsers| parsers.current);
            if !is_first && current != parser.number {
                return Some(request);
            }
            match request {
                Request::Ask(asked, reply) => {
                    let _ = reply.send(self.ask(parser, &mut answerer, &asked));
                }
                Request::Schema(reply) => {
                    let _ = reply.send(Ok(DataSchema::new(&parser.task)));
                }
                Request::Run(query, reply) => {
                    let _ = reply.send(run_query(parser, &mut *executor, &query));
                }
                Request::Confirm(said, reply) => {
                    let _ = reply.send(self.confirm(parser, &mut answerer, &said));
                }
            }
        }
    }

    fn ask(
        &self,
        parser: &TrainedRun,
        answerer: &mut QuestionAnswerer<'_>,
        asked: &AskParameters,
    ) -> Result<Answer, String> {
        check_length(&asked.question).map_err(|long| long.to_string())?;
        let answered = answerer.answer(&asked.question, self.beam);
        parser.task.check_unchanged().map_err(changed)?;
        Ok(Answer::new(&answered, asked.most_rows()))
    }

    /// Writes a question, its answer and what a person said to the log.
    fn confirm(
        &mut self,
        parser: &TrainedRun,
        answerer: &mut QuestionAnswerer<'_>,
        said: &ConfirmParameters,
    ) -> Result<Confirmation, String> {
        check_length(&said.question).map_err(|long| long.to_string())?;
        let (verdict, program) = said.checked()?;
        if let Some(program) = &program {
            let outcome = parser.task.patient_executor().map_err(changed)?.execute(program);
            if !outcome.executes() {
                return Err(format!("the query fails: {}", outcome.text()));
            }
        }
        let start = Instant::now();
        let answered = answerer.answer(&said.question, self.beam);
        let log = self.log.as_mut().ok_or("feedback is not allowed")?;
        let question = logged(parser, &answered, start);
        let ids = log.append(&[question]).map_err(|error| error.to_string())?;
        let id = *ids.first().ok_or("the log did not take the question")?;
        log.add_feedback(&NewFeedback::now(id, verdict, program)).map_err(|error| error.to_string())?;
        Ok(Confirmation { question: id.0 })
    }
}

fn run_query(
    parser: &TrainedRun,
    executor: &mut dyn Executor,
    query: &RunParameters,
) -> Result<QueryResult, String> {
    let outcome = executor.execute(&query.sql);
    parser.task.check_unchanged().map_err(changed)?;
    if !outcome.executes() {
        return Err(outcome.text().to_owned());
    }
    let columns = executor.column_names(&query.sql).unwrap_or_default();
    Ok(QueryResult { rows: Rows::new(columns, &outcome, query.most_rows()) })
}

/// Returns what the log keeps of an answer.
fn logged(parser: &TrainedRun, answered: &AnsweredQuestion, start: Instant) -> NewQuestion {
    let answer = |outcome: &Outcome| outcome.denotation().map(|denotation| fingerprint([denotation]));
    let shown = answered.answers.iter().filter_map(|group| {
        let candidate = answered.candidates.get(*group.candidates.first()?)?;
        Some(ShownAnswer {
            program: candidate.program.clone(),
            answer: answer(&candidate.outcome).unwrap_or_default(),
            probability: group.probability,
        })
    });
    let best = answered.best();
    NewQuestion {
        time: now(),
        parser: parser.number.to_string(),
        question: answered.question.clone(),
        program: best.map(|best| best.program.clone()),
        outcome: best.map(|best| best.outcome.grade().to_owned()),
        answer: best.and_then(|best| answer(&best.outcome)),
        confidence: answered.confidence,
        unsure: answered.is_unsure(),
        declined: answered.declined.as_ref().map(|declined| declined.reason.clone()),
        disagreement: answered.disagreement(),
        shown: shown.take(SHOWN).collect(),
        micros: i64::try_from(start.elapsed().as_micros()).unwrap_or(i64::MAX),
    }
}

/// The number of different answers of a question that are written to the log.
const SHOWN: usize = 3;

fn changed(_: TaskError) -> String {
    "the data changed or cannot be read; start xpr mcp again".to_owned()
}
