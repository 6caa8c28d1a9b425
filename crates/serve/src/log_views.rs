//! The log of a run, as the page and the interface show it.

use crate::problem::Problem;
use crate::served_run::ServedRun;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use xpr_log::{Date, DaySummary, Entry, LogError, QuestionId, Selection};
use xpr_run::{ParserList, ParserOrigin, ParserRecord};

/// The number of questions of a page of the log.
const PAGE: usize = 50;
/// The largest number of questions of a page of the log.
const LARGEST_PAGE: usize = 500;
/// The number of questions that are labeled one after another.
const LABELS: usize = 10;
/// The number of rows of each answer to choose from.
const LABEL_ROWS: usize = 8;

/// Which questions of the log to read.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// The name of a run, if the server has several.
    pub(crate) run: Option<String>,
    /// The number of questions; 50 if not given, and at most 500.
    pub(crate) limit: Option<usize>,
    /// Only questions with smaller numbers: the next page.
    pub(crate) below: Option<i64>,
    /// Only questions with feedback, or without.
    pub(crate) judged: Option<bool>,
    /// Only questions that have this text.
    pub(crate) text: Option<String>,
}

/// Questions of a log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LogView {
    /// The questions, the newest first. They are as `xpr log --jsonl` prints them.
    #[schema(value_type = Vec<Object>)]
    pub(crate) entries: Vec<Entry>,
    /// `below` of the next page; none if this is the last.
    pub(crate) next: Option<i64>,
    /// The number of all questions of the log.
    pub(crate) questions: i64,
    /// Those of them whose right answer somebody confirmed.
    pub(crate) confirmed: i64,
}

/// Returns what a client is told if the log cannot be read.
fn unreadable(error: &LogError) -> Problem {
    tracing::error!(%error, "the log cannot be read");
    Problem::unavailable("the log of questions cannot be read")
}

pub(crate) fn read_log(run: &ServedRun, query: &LogQuery) -> Result<LogView, Problem> {
    let log = run.read_log()?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
    let selection = Selection {
        below: query.below.map(QuestionId),
        judged: query.judged,
        text: query.text.clone().filter(|text| !text.is_empty()),
        newest_first: true,
        limit: Some(limit),
        ..Selection::default()
    };
    let entries = log.entries(&selection).map_err(|error| unreadable(&error))?;
    let next = entries.last().filter(|_| entries.len() == limit).map(|entry| entry.id.0);
    let (questions, confirmed) = log.counts().map_err(|error| unreadable(&error))?;
    Ok(LogView { entries, next, questions, confirmed })
}

/// A question to label.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LabelView {
    /// The number of the question.
    id: i64,
    /// The question.
    question: String,
    /// How much its candidates disagree: 0 if all have the same answer.
    disagreement: Option<f64>,
    /// The different answers.
    answers: Vec<ShownView>,
}

/// One of the answers to choose from.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ShownView {
    sql: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
    probability: f64,
    columns: Vec<String>,
    /// The first rows.
    #[schema(value_type = Vec<Vec<Value>>)]
    rows: Vec<Vec<Value>>,
    row_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Returns the questions whose labels would help most.
pub(crate) fn most_helpful(run: &ServedRun) -> Result<Vec<Entry>, Problem> {
    run.read_log()?.most_disputed(LABELS).map_err(|error| unreadable(&error))
}

/// Returns the questions that an earlier parser answered: their answers, and how much they disagree, may be others now.
pub(crate) fn outdated<'e>(run: &ServedRun, entries: &'e [Entry]) -> Vec<&'e Entry> {
    let current = &run.status().borrow().parser.clone();
    entries.iter().filter(|entry| entry.asked.parser != *current).collect()
}

/// Asks the outdated ones of some questions again. Returns whether one was answered.
pub(crate) async fn ask_again(run: &ServedRun, entries: &[Entry]) -> bool {
    let mut is_answered = false;
    for entry in outdated(run, entries) {
        // One that cannot be answered now is shown as it was.
        is_answered |= run.ask_again(&entry.asked).await.is_ok();
    }
    is_answered
}

/// Runs the queries of the answers that were shown, so that people see what they find now.
pub(crate) async fn read_labels(run: &ServedRun, entries: Vec<Entry>) -> Result<Vec<LabelView>, Problem> {
    let mut labels = Vec::new();
    for entry in entries {
        let question = entry.asked.question;
        let mut answers = Vec::new();
        for shown in entry.asked.shown {
            // An answer whose query does not run any more cannot be chosen.
            let Ok(ran) = run.run(shown.program, Some(question.clone())).await else { continue };
            let row_count = ran.rows.len();
            answers.push(ShownView {
                sql: ran.sql,
                explanation: ran.explanation,
                probability: shown.probability,
                columns: ran.columns,
                rows: ran.rows.into_iter().take(LABEL_ROWS).collect(),
                row_count,
                message: ran.message,
            });
        }
        labels.push(LabelView { id: entry.id.0, question, disagreement: entry.asked.disagreement, answers });
    }
    Ok(labels)
}

/// What happened over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ProgressView {
    /// The days on which something was asked, the oldest first.
    pub(crate) days: Vec<DayView>,
    /// The parsers that came after the one that training wrote, the oldest first.
    pub(crate) parsers: Vec<ParserView>,
    /// The number of the parser that answers; 0 is the one that training wrote.
    pub(crate) current: usize,
    /// The number of all questions of the log.
    pub(crate) questions: i64,
    /// Those of them whose right answer somebody confirmed.
    pub(crate) confirmed: i64,
}

/// A day, in UTC.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct DayView {
    /// The day, such as `2026-11-18`.
    pub(crate) date: String,
    /// The number of questions.
    pub(crate) questions: i64,
    /// Those that were declined.
    pub(crate) declined: i64,
    /// Those that somebody said something about.
    pub(crate) judged: i64,
    /// Those whose answer was right as it was given.
    pub(crate) right: i64,
}

/// A parser that came after the one that training wrote.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ParserView {
    pub(crate) number: usize,
    /// When it was finished.
    pub(crate) time: String,
    /// `improved` or `taught`.
    pub(crate) origin: &'static str,
    /// Whether it became the one that answers.
    pub(crate) promoted: bool,
    /// Whether somebody went back from it to the parser before.
    pub(crate) rolled_back: bool,
    /// The number of the parser it was compared with.
    pub(crate) before: usize,
    /// The number of confirmed questions that both were compared on.
    pub(crate) compared: usize,
    /// How many of these the parser before answers right.
    pub(crate) right_before: usize,
    /// How many of these it answers right.
    pub(crate) right_after: usize,
}

pub(crate) fn read_progress(run: &ServedRun) -> Result<ProgressView, Problem> {
    let (mut days, mut counts) = (vec![], (0, 0));
    if run.has_log() {
        let log = run.read_log()?;
        days = log.days().map_err(|error| unreadable(&error))?;
        counts = log.counts().map_err(|error| unreadable(&error))?;
    }
    let list = ParserList::read(run.folder()).map_err(|error| {
        tracing::error!(%error, "the list of parsers cannot be read");
        Problem::unavailable("the list of parsers cannot be read")
    })?;
    Ok(ProgressView {
        days: days.iter().map(DayView::new).collect(),
        parsers: list.parsers.iter().map(ParserView::new).collect(),
        current: list.current,
        questions: counts.0,
        confirmed: counts.1,
    })
}

impl DayView {
    fn new(day: &DaySummary) -> Self {
        let DaySummary { day, questions, declined, judged, right } = *day;
        // Years have four digits, but for those of damaged rows.
        let date = Date::of_day(day).to_string();
        let date = date.split('T').next().unwrap_or_default().to_owned();
        DayView { date, questions, declined, judged, right }
    }
}

impl ParserView {
    fn new(record: &ParserRecord) -> Self {
        let compared = record.comparison.as_ref();
        ParserView {
            number: record.number,
            time: Date { millis: i64::try_from(record.time).unwrap_or(0).saturating_mul(1000) }.to_string(),
            origin: match record.origin {
                ParserOrigin::Improved => "improved",
                ParserOrigin::Taught => "taught",
            },
            promoted: record.promoted,
            rolled_back: record.rolled_back,
            before: record.before,
            compared: compared.map_or(0, |compared| compared.questions),
            right_before: compared.map_or(0, |compared| compared.right_before),
            right_after: compared.map_or(0, |compared| compared.right_after),
        }
    }
}
