//! The file of a log.

use crate::entry::{Entry, Feedback, NewFeedback, NewQuestion, QuestionId, Verdict};
use crate::error::LogError;
use crate::schema;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, Statement, TransactionBehavior, params};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xpr_exec::sqlite::TimeLimit;

/// How long an operation waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long SQLite may look for something in a log, which is enough for many gigabytes. A damaged log can be endless.
const SEARCH_TIME: Duration = Duration::from_secs(120);

/// Returns the file of the log of a run: `run.questions.sqlite` beside the folder `run`.
pub fn log_path(run: &Path) -> PathBuf {
    // `run/` and `.` name a folder whose name is not their last component.
    let run = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
    let mut name = run.file_name().unwrap_or_default().to_owned();
    name.push(".questions.sqlite");
    run.with_file_name(name)
}

/// Which questions to read. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Asked at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Asked before this time.
    pub before: Option<i64>,
    /// With a larger number than this one.
    pub after: Option<QuestionId>,
    /// With a smaller number than this one.
    pub below: Option<QuestionId>,
    /// With feedback, or without.
    pub judged: Option<bool>,
    /// Questions whose last feedback is this verdict.
    pub verdict: Option<Verdict>,
    /// Whose text has this, whatever the case of letters from A to Z.
    pub text: Option<String>,
    /// The newest first instead of the oldest.
    pub newest_first: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// What [`QuestionLog::prune`] deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The number of questions that were deleted.
    pub questions: usize,
    /// The number of old questions that were kept because somebody said something about them.
    pub kept: usize,
}

/// What happened on one day, in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySummary {
    /// The number of days since 1970.
    pub day: i64,
    /// The number of questions.
    pub questions: i64,
    /// Those that were declined.
    pub declined: i64,
    /// Those with feedback.
    pub judged: i64,
    /// Those whose answer was said to be right as it was given.
    pub right: i64,
}

/// An open log.
#[derive(Debug)]
pub struct QuestionLog {
    connection: Connection,
    /// Limits what reads many questions.
    limit: TimeLimit,
    path: PathBuf,
    /// The path with the links of its folders resolved.
    real: PathBuf,
    /// The file that was opened.
    file: Option<FileId>,
}

impl QuestionLog {
    /// Opens a log for writing, and creates it if there is none. Only its owner can read a new one.
    ///
    /// # Errors
    /// If the file cannot be created or is something else.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        create_private(path)?;
        let mut log = QuestionLog::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let failed = |source| LogError::Database { path: path.to_owned(), source };
        let timed = log.limit.start();
        schema::check(&log.connection, path).or_else(|_| schema::prepare(&mut log.connection, path))?;
        drop(timed);
        // Readers do not wait for the writer. `FULL` writes to the disk before a transaction is acknowledged.
        log.connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
        log.connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        Ok(log)
    }

    /// Opens an existing log for reading.
    ///
    /// # Errors
    /// If there is none, or the file is something else.
    pub fn open_existing(path: &Path) -> Result<Self, LogError> {
        if !path.exists() {
            return Err(LogError::Missing(path.to_owned()));
        }
        // Reading a log that a killed process left needs its recovery, which writes.
        let mut log = QuestionLog::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let timed = log.limit.start();
        schema::check_existing(&mut log.connection, path)?;
        drop(timed);
        Ok(log)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Self, LogError> {
        // The engine of the user's database must be configured before SQLite is first used.
        xpr_exec::sqlite::prepare_engine();
        let failed = |source| LogError::Database { path: path.to_owned(), source };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // SQLite refuses a path in which any folder is a link, and only the file itself must not be one.
        let real = real_path(path).map_err(|source| LogError::File { path: path.to_owned(), source })?;
        schema::check_header(&real)?;
        let connection = Connection::open_with_flags(&real, flags).map_err(failed)?;
        let file = FileId::of(&real);
        let limit = TimeLimit::new(&connection, path, SEARCH_TIME);
        let timed = limit.start();
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        schema::limit(&connection).map_err(failed)?;
        for (pragma, value) in [("trusted_schema", "OFF"), ("foreign_keys", "ON"), ("secure_delete", "ON")] {
            connection.pragma_update(None, pragma, value).map_err(failed)?;
        }
        drop(timed);
        Ok(QuestionLog { connection, limit, path: path.to_owned(), real, file })
    }

    /// Returns whether the file was removed or replaced since it was opened. What is written then is lost.
    pub fn is_gone(&self) -> bool {
        FileId::of(&self.real) != self.file
    }

    /// Writes to the disk what the file has already.
    ///
    /// # Errors
    /// If nothing can be written.
    pub fn check_writable(&self) -> Result<(), LogError> {
        schema::write_version(&self.connection).map_err(|source| self.failed(source))
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds questions, all or none, and returns their numbers. When it returns, they are on the disk.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn append(&mut self, questions: &[NewQuestion]) -> Result<Vec<QuestionId>, LogError> {
        let QuestionLog { connection, path, .. } = self;
        let failed = |source| LogError::Database { path: path.clone(), source };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let ids = {
            let mut statement = transaction.prepare(INSERT).map_err(failed)?;
            let mut again = transaction.prepare("INSERT INTO asked_again VALUES (?1)").map_err(failed)?;
            let mut insert = |asked: &NewQuestion| {
                let id = insert(&mut statement, asked)?;
                if asked.again {
                    again.execute([id.0])?;
                }
                Ok(id)
            };
            questions.iter().map(&mut insert).collect::<Result<_, _>>().map_err(failed)?
        };
        transaction.commit().map_err(failed)?;
        Ok(ids)
    }

    /// Adds what somebody said about a question. When it returns, it is on the disk.
    ///
    /// # Errors
    /// If there is no such question, the verdict does not fit it or the program, or it cannot be written.
    pub fn add_feedback(&mut self, feedback: &NewFeedback) -> Result<(), LogError> {
        if feedback.verdict.has_program() != feedback.program.is_some() {
            return Err(LogError::Program(feedback.verdict));
        }
        let NewFeedback { question, time, verdict, program } = feedback;
        if *verdict == Verdict::Right
            && self.entry(*question)?.is_some_and(|entry| entry.asked.program.is_none())
        {
            return Err(LogError::NothingConfirmed(*question));
        }
        let added = self.connection.execute(
            "INSERT INTO feedback (question, time, verdict, program) SELECT id, ?2, ?3, ?4 FROM question WHERE id = ?1",
            params![question.0, time, verdict.name(), program],
        );
        match added.map_err(|source| self.failed(source))? {
            0 => Err(LogError::NoQuestion(*question)),
            _ => Ok(()),
        }
    }

    /// Returns a question, if the log has it.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn entry(&self, id: QuestionId) -> Result<Option<Entry>, LogError> {
        let sql = format!("{COLUMNS} FROM question WHERE id = ?1");
        let read = self.connection.query_row(&sql, [id.0], raw_entry).optional();
        let mut feedback = self.feedback_statement()?;
        read.map_err(|source| self.failed(source))?.map(|raw| self.parse(raw, &mut feedback)).transpose()
    }

    /// Calls a function with each selected question. Those that nobody asked ([`NewQuestion::again`]) are left out unless somebody said
    /// something about their answers.
    ///
    /// # Errors
    /// If the log cannot be read, or with the first error of the function.
    pub fn for_each<E: From<LogError>>(
        &self,
        selection: &Selection,
        mut each: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = selection.sql();
        let failed = |source| self.failed(source);
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let Selection { since, before, after, below, judged, verdict, text, limit, .. } = selection;
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let arguments = params![
            since,
            before,
            after.map(|id| id.0),
            judged,
            verdict.map(Verdict::name),
            text.as_ref().map(|text| text.to_ascii_lowercase()),
            limit,
            below.map(|id| id.0)
        ];
        let mut rows = statement.query(arguments).map_err(failed)?;
        let mut feedback = self.feedback_statement()?;
        let mut last = None;
        loop {
            let timed = self.limit.start();
            let Some(row) = rows.next().map_err(failed)? else { return Ok(()) };
            let entry = self.parse(raw_entry(row).map_err(failed)?, &mut feedback)?;
            // What is done with the question may take any time.
            drop(timed);
            let is_next = match last {
                Some(last) if selection.newest_first => entry.id < last,
                Some(last) => entry.id > last,
                None => true,
            };
            if !is_next {
                // Parts of the file are parts of each other, and there is no end.
                let message = "it comes more than once".to_owned();
                return Err(LogError::Damaged { path: self.path.clone(), id: entry.id, message }.into());
            }
            last = Some(entry.id);
            each(entry)?;
        }
    }

    /// Returns the selected questions.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn entries(&self, selection: &Selection) -> Result<Vec<Entry>, LogError> {
        let mut entries = Vec::new();
        self.for_each(selection, |entry| {
            entries.push(entry);
            Ok::<(), LogError>(())
        })?;
        Ok(entries)
    }

    /// Returns the questions whose candidates disagree most, and about which nobody said anything. Of questions with the same text, the
    /// last is returned.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn most_disputed(&self, limit: usize) -> Result<Vec<Entry>, LogError> {
        let sql = format!(
            "{COLUMNS} FROM question
             WHERE program IS NOT NULL AND disagreement > 0
               AND id IN (SELECT max(id) FROM question GROUP BY lower(trim(question)))
               AND lower(trim(question)) NOT IN
                   (SELECT lower(trim(judged.question)) FROM question AS judged JOIN feedback ON feedback.question = judged.id)
             ORDER BY disagreement DESC, id DESC LIMIT ?1"
        );
        let failed = |source| self.failed(source);
        let _timed = self.limit.start();
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut feedback = self.feedback_statement()?;
        let rows =
            statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], raw_entry).map_err(failed)?;
        rows.map(|row| self.parse(row.map_err(failed)?, &mut feedback)).collect()
    }

    /// Returns the number of questions, and of those whose last feedback says which answer is right. Questions are left out as by
    /// [`QuestionLog::for_each`].
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn counts(&self) -> Result<(i64, i64), LogError> {
        let sql = format!("SELECT count(*), count(CASE WHEN verdict IN ('corrected', 'answer') OR verdict = 'right' AND question.program IS NOT NULL THEN 1 END)
                   FROM question LEFT JOIN feedback ON feedback.id =
                        (SELECT max(last.id) FROM feedback AS last WHERE last.question = question.id)
                   WHERE {COUNTS}");
        let _timed = self.limit.start();
        let counts = self.connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        counts.map_err(|source| self.failed(source))
    }

    /// Returns the number of the last feedback, which grows with each; 0 if there is none.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn last_feedback_number(&self) -> Result<i64, LogError> {
        let sql = "SELECT coalesce(max(id), 0) FROM feedback";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|source| self.failed(source))
    }

    /// Returns a summary of each day on which something was asked, the oldest first. Questions are left out as by
    /// [`QuestionLog::for_each`].
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn days(&self) -> Result<Vec<DaySummary>, LogError> {
        let sql = format!("SELECT question.time / 86400000, count(*), count(declined), count(verdict),
                          count(CASE WHEN verdict = 'right' AND question.program IS NOT NULL OR feedback.program = question.program THEN 1 END)
                   FROM question LEFT JOIN feedback ON feedback.id =
                        (SELECT max(last.id) FROM feedback AS last WHERE last.question = question.id)
                   WHERE {COUNTS} GROUP BY 1 ORDER BY 1");
        let failed = |source| self.failed(source);
        let _timed = self.limit.start();
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let day = |row: &Row<'_>| {
            let (day, questions, declined) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(DaySummary { day, questions, declined, judged: row.get(3)?, right: row.get(4)? })
        };
        let days = statement.query_map([], day).map_err(failed)?;
        days.collect::<Result<_, _>>().map_err(failed)
    }

    /// Deletes questions that were asked before a time (milliseconds since 1970). Those with feedback are kept unless `with_feedback`.
    /// What is deleted is overwritten in the file.
    ///
    /// # Errors
    /// If the log cannot be written; nothing is deleted then.
    pub fn prune(&mut self, before: i64, with_feedback: bool) -> Result<Pruned, LogError> {
        let QuestionLog { connection, path, limit, .. } = self;
        let failed = |source| LogError::Database { path: path.clone(), source };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let timed = limit.start();
        let count = |sql: &str| transaction.query_row(sql, [before], |row| row.get::<_, i64>(0));
        let old = format!("SELECT count(*) FROM question WHERE time < ?1 AND {COUNTS}");
        let all = count(&old).map_err(failed)?;
        let sql =
            "DELETE FROM question WHERE time < ?1 AND (?2 OR id NOT IN (SELECT question FROM feedback))";
        transaction.execute(sql, params![before, with_feedback]).map_err(failed)?;
        let kept = count(&old).map_err(failed)?;
        drop(timed);
        transaction.commit().map_err(failed)?;
        // Deleted text is also in the write-ahead log until its pages are moved to the file. A process that reads at this moment
        // delays that to a later write.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        let number = |count: i64| usize::try_from(count).unwrap_or(0);
        Ok(Pruned { questions: number(all - kept), kept: number(kept) })
    }

    /// Returns the statement that reads the feedback about a question.
    fn feedback_statement(&self) -> Result<Statement<'_>, LogError> {
        let sql = "SELECT time, verdict, program FROM feedback WHERE question = ?1 ORDER BY id";
        self.connection.prepare(sql).map_err(|source| self.failed(source))
    }

    /// Returns the entry of a row, with its feedback.
    fn parse(&self, raw: RawEntry, of_question: &mut Statement<'_>) -> Result<Entry, LogError> {
        let RawEntry { id, mut asked, shown } = raw;
        let damaged = |message: String| LogError::Damaged { path: self.path.clone(), id, message };
        asked.shown = serde_json::from_str(&shown).map_err(|error| damaged(error.to_string()))?;
        let rows = of_question.query_map([id.0], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
        });
        let mut feedback = Vec::new();
        for row in rows.map_err(|source| self.failed(source))? {
            let (time, verdict, program) = row.map_err(|source| self.failed(source))?;
            feedback.push(Feedback { time, verdict: verdict.parse().map_err(damaged)?, program });
        }
        Ok(Entry { id, asked, feedback })
    }

    fn failed(&self, source: rusqlite::Error) -> LogError {
        LogError::Database { path: self.path.clone(), source }
    }
}

impl Selection {
    /// Returns the query of the selection.
    fn sql(&self) -> String {
        let order = if self.newest_first { "DESC" } else { "ASC" };
        format!(
            "{COLUMNS} FROM question
             WHERE (?1 IS NULL OR time >= ?1) AND (?2 IS NULL OR time < ?2) AND (?3 IS NULL OR id > ?3)
               AND (?4 IS NULL OR ?4 = EXISTS (SELECT 1 FROM feedback WHERE feedback.question = question.id))
               AND (?5 IS NULL OR ?5 = (SELECT verdict FROM feedback WHERE feedback.question = question.id
                                        ORDER BY feedback.id DESC LIMIT 1))
               AND (?6 IS NULL OR instr(lower(question), ?6) > 0)
               AND (?8 IS NULL OR id < ?8)
               AND {COUNTS}
             ORDER BY id {order} LIMIT ?7"
        )
    }
}

const COLUMNS: &str = "SELECT id, time, parser, question, program, outcome, answer, confidence, unsure, declined, disagreement, shown, micros,
 EXISTS (SELECT 1 FROM asked_again WHERE asked_again.question = question.id)";

/// The condition that a person asked a question, or said something about its answer.
const COUNTS: &str = "(NOT EXISTS (SELECT 1 FROM asked_again WHERE asked_again.question = question.id)
 OR EXISTS (SELECT 1 FROM feedback AS said WHERE said.question = question.id))";

/// A row of the table of questions.
struct RawEntry {
    id: QuestionId,
    asked: NewQuestion,
    /// The JSON of the answers that were shown.
    shown: String,
}

fn raw_entry(row: &Row<'_>) -> rusqlite::Result<RawEntry> {
    let asked = NewQuestion {
        time: row.get(1)?,
        parser: row.get(2)?,
        question: row.get(3)?,
        program: row.get(4)?,
        outcome: row.get(5)?,
        answer: row.get(6)?,
        confidence: row.get(7)?,
        unsure: row.get(8)?,
        declined: row.get(9)?,
        disagreement: row.get(10)?,
        shown: vec![],
        micros: row.get(12)?,
        again: row.get(13)?,
    };
    Ok(RawEntry { id: QuestionId(row.get(0)?), asked, shown: row.get(11)? })
}

const INSERT: &str = "INSERT INTO question (time, parser, question, program, outcome, answer, confidence, unsure, declined, disagreement, shown, micros)
 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

/// Adds a question with the statement [`INSERT`].
fn insert(statement: &mut Statement<'_>, asked: &NewQuestion) -> rusqlite::Result<QuestionId> {
    let shown = serde_json::to_string(&asked.shown)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let id = statement.insert(params![
        asked.time,
        asked.parser,
        asked.question,
        asked.program,
        asked.outcome,
        asked.answer,
        asked.confidence,
        asked.unsure,
        asked.declined,
        asked.disagreement,
        shown,
        asked.micros
    ])?;
    Ok(QuestionId(id))
}

/// Creates an empty file that only its owner can read, unless there is a file.
fn create_private(path: &Path) -> Result<(), LogError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(LogError::File { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

/// What tells a file from another one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// Returns that of the file at a path, if there is one. Where the system has no such numbers, all files are the same.
    fn of(path: &Path) -> Option<FileId> {
        let file = fs::symlink_metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(FileId { device: file.dev(), number: file.ino() })
        }
        #[cfg(not(unix))]
        {
            let _ = file;
            Some(FileId { device: 0, number: 0 })
        }
    }
}

/// Returns the path with links of its folders resolved.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(fs::canonicalize(folder)?.join(name)),
        _ => Ok(path),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use super::*;

    /// Issue 18: a log whose pages were parts of each other was read without end.
    #[test]
    fn an_endless_log_is_read_to_its_first_repetition_or_for_a_limited_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        QuestionLog::open(&path).unwrap().append(&vec![NewQuestion::default(); 500]).unwrap();
        let connection = Connection::open(&path).unwrap();
        let number = |sql: &str| {
            usize::try_from(connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
        };
        let root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'question'");
        let size = number("PRAGMA page_size");
        connection.close().unwrap();
        let mut content = fs::read(&path).unwrap();
        let start = (root - 1) * size;
        let mut child: [u8; 4] = content[start + 8..start + 12].try_into().unwrap();
        // Each of these pages has thirty times the one before it.
        for _ in 0..12 {
            let (cells, cell) = (30, 5);
            let mut page = vec![0; size];
            page[0] = 5;
            page[3..5].copy_from_slice(&u16::to_be_bytes(cells));
            page[8..12].copy_from_slice(&child);
            for index in 0..cells {
                let at = size - cell * usize::from(index + 1);
                let pointer = 12 + 2 * usize::from(index);
                page[pointer..pointer + 2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
                page[at..at + 4].copy_from_slice(&child);
                page[at + 4] = u8::try_from(index + 1).unwrap();
                page[5..7].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
            }
            content[start..start + size].copy_from_slice(&page);
            content.extend_from_slice(&page);
            child = u32::try_from(content.len() / size).unwrap().to_be_bytes();
        }
        content[28..32].copy_from_slice(&child);
        fs::write(&path, content).unwrap();

        let mut log = QuestionLog::open_existing(&path).unwrap();
        let read = log.entries(&Selection::default());
        assert!(matches!(read, Err(LogError::Damaged { .. })), "{read:?}");
        log.limit = TimeLimit::new(&log.connection, &log.path, Duration::from_millis(50));
        let is_interrupted = |error: LogError| error.to_string().contains("took too long");
        assert!(log.counts().is_err_and(is_interrupted));
        assert!(log.days().is_err_and(is_interrupted));
        assert!(log.most_disputed(1).is_err_and(is_interrupted));
        // The index of times has an end, and what is deleted is damaged.
        assert!(log.prune(i64::MAX, true).is_err());
    }
}
