//! The question log of a parser: what people asked, what was answered, and what they said about it.
//!
//! The log is an SQLite file of its own. It is beside the folder of a run ([`log_path`]) and not in it, so that it survives when the run
//! is taught or trained again. The user's database is never written to.
//!
//! - [`QuestionLog::append`] adds questions, and [`QuestionLog::add_feedback`] what somebody said about one. When they return, the entry
//!   is on the disk: killing the process or the machine does not lose it. Several questions in one call cost as much as one.
//! - [`QuestionLog::for_each`] reads entries in the order in which they were asked.
//! - [`QuestionLog::prune`] deletes old ones.
//!
//! Several processes can use a log at the same time: a server writes while `xpr log` and `xpr improve` read.
//!
//! There are two places for what people say, and each has its own writers. This log has what users of a server say; they may not change
//! the project, so their word is only recorded, and `xpr improve` decides what to learn from it. The file `feedback.jsonl` of a project
//! (`xpr_data::feedback`) has what the owner says at the command line with `\right`, `\wrong` and `xpr teach`; those verdicts change the
//! project's labels at once.
//!
//! ```
//! use xpr_log::{NewFeedback, NewQuestion, QuestionLog, Selection, Verdict};
//!
//! # let folder = tempfile::tempdir()?;
//! let mut log = QuestionLog::open(&folder.path().join("run.questions.sqlite"))?;
//! let question = NewQuestion { question: "how many films".into(), program: Some("SELECT 1".into()), ..NewQuestion::default() };
//! let ids = log.append(&[question])?;
//! log.add_feedback(&NewFeedback::now(ids[0], Verdict::Right, None))?;
//! let entries = log.entries(&Selection { judged: Some(true), ..Selection::default() })?;
//! assert_eq!(entries[0].feedback[0].verdict, Verdict::Right);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod date;
mod entry;
mod error;
mod export;
mod log;
mod schema;

pub use date::{Date, DateError};
pub use entry::{Entry, Feedback, NewFeedback, NewQuestion, QuestionId, ShownAnswer, Verdict, now};
pub use error::LogError;
pub use export::{write_json_line, write_tsv_header, write_tsv_line};
pub use log::{DaySummary, Pruned, QuestionLog, Selection, log_path};
