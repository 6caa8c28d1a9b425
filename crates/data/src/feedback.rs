//! What the owner of a project says about answers at the command line: labels they add, and answers they accept or reject.
//!
//! These verdicts change the labels of the project at once. What users of a server say is in the log of the crate `xpr-log`, and
//! `xpr improve` decides what to learn from it.

use crate::labeled::{self, LabeledQuestion};
use crate::{DataError, LineError, text_file, write_file};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The file of a project in which verdicts are kept, one on a line.
pub const FEEDBACK_FILE: &str = "feedback.jsonl";

/// What somebody said about a program for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The program was given as the right one.
    Taught,
    /// The parser's program is right.
    Right,
    /// The parser's program is wrong.
    Wrong,
}

/// A line of [`FEEDBACK_FILE`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The question.
    pub question: String,
    /// The text of the program.
    pub program: String,
    /// What was said about it.
    pub verdict: Verdict,
    /// The run that was asked.
    pub run: PathBuf,
    /// When, in seconds since 1970.
    pub time: u64,
}

impl Feedback {
    /// Returns feedback of this moment.
    pub fn now(question: &str, program: &str, verdict: Verdict, run: &Path) -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Feedback {
            question: question.to_owned(),
            program: program.to_owned(),
            verdict,
            run: run.to_owned(),
            time,
        }
    }

    /// Adds the feedback to the file of a project folder, which is created if need be.
    ///
    /// # Errors
    /// If the file cannot be read or written; it is then unchanged.
    pub fn add_to(&self, folder: &Path) -> Result<(), DataError> {
        let path = folder.join(FEEDBACK_FILE);
        let failed = |source| DataError::File { path: path.clone(), source };
        let mut content = match path.exists() {
            true => fs::read_to_string(&path).map_err(failed)?,
            false => String::new(),
        };
        let line = serde_json::to_string(self).map_err(|error| failed(error.into()))?;
        content.push_str(&line);
        content.push('\n');
        write_file(&path, content.as_bytes()).map_err(failed)
    }
}

/// Adds a label to the end of a file of labeled questions: lines of a question, a tab and a program. The file is replaced as a whole or not at
/// all, and created if it does not exist. Returns the line of the label, or nothing if the file has it already.
///
/// # Errors
/// If the file cannot be read or written, or has another format.
pub fn add_label(path: &Path, question: &str, program: &str) -> Result<Option<usize>, DataError> {
    let in_file = |message: &str, line: usize| {
        DataError::in_file(path)(LineError { line, message: message.to_owned() })
    };
    let is_tabs = path.extension().is_some_and(|extension| extension == "tsv");
    let is_new = fs::metadata(path).map_or(true, |file| file.is_file() && file.len() == 0);
    let known = if is_new { vec![] } else { labeled::read(path)? };
    // A first line that names the columns is not a question.
    if !is_tabs || known.first().is_some_and(|first| first.line != 1) {
        let message = "labels are added to .tsv files without a header only; add this one by hand";
        return Err(in_file(message, 1));
    }
    let label = LabeledQuestion {
        utterance: question.to_owned(),
        program: program.to_owned(),
        answer: None,
        split: None,
        database: None,
        line: 1,
    };
    let is_same = |known: &LabeledQuestion| known.utterance == question && known.program == program;
    if known.iter().any(is_same) {
        return Ok(None);
    }
    let mut content = if is_new { String::new() } else { text_file::read(path)? };
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    let line = content.lines().count() + 1;
    content.push_str(&labeled::to_tsv(&[label]).map_err(|error| in_file(&error.message, line))?);
    write_file(path, content.as_bytes())
        .map_err(|source| DataError::File { path: path.to_owned(), source })?;
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_added_once_and_other_formats_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.tsv");
        fs::write(&path, "who\tSELECT name FROM a").unwrap();
        assert_eq!(add_label(&path, "how  many", "SELECT\ncount(*) FROM a").unwrap(), Some(2));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "who\tSELECT name FROM a\nhow many\tSELECT count(*) FROM a\n"
        );
        assert_eq!(add_label(&path, "who", "SELECT name FROM a").unwrap(), None);
        for new in ["none.tsv", "empty.tsv"].map(|name| folder.path().join(name)) {
            if new.ends_with("empty.tsv") {
                fs::write(&new, "").unwrap();
            }
            assert_eq!(add_label(&new, "who", "SELECT name FROM a").unwrap(), Some(1));
            assert_eq!(fs::read_to_string(&new).unwrap(), "who\tSELECT name FROM a\n");
        }
        let header = folder.path().join("header.tsv");
        fs::write(&header, "question\tsql\nwho\tSELECT name FROM a\n").unwrap();
        assert!(add_label(&header, "x", "SELECT 1").unwrap_err().to_string().contains("by hand"));
    }

    #[test]
    fn verdicts_are_kept_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for verdict in [Verdict::Right, Verdict::Wrong] {
            Feedback::now("who", "SELECT 1", verdict, Path::new("run")).add_to(folder.path()).unwrap();
        }
        let content = fs::read_to_string(folder.path().join(FEEDBACK_FILE)).unwrap();
        let verdicts: Vec<Verdict> =
            content.lines().map(|line| serde_json::from_str::<Feedback>(line).unwrap().verdict).collect();
        assert_eq!(verdicts, [Verdict::Right, Verdict::Wrong]);
    }
}
