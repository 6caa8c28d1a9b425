//! What the owner of a project says about answers at the command line: labels they add, and answers they accept or reject.
//!
//! These verdicts change the labels of the project at once. What users of a server say is in the log of the crate `xpr-log`, and
//! `xpr improve` decides what to learn from it.

use crate::atomic::remove_temporary_files_for;
use crate::labeled::{self, LabeledQuestion};
use crate::text_file::{self, NOT_REGULAR};
use crate::{DataError, LineError, write_output};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
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

    /// Adds the feedback to the end of the file of a project folder, which is created if need be.
    ///
    /// # Errors
    /// If the file cannot be written; it is then as it was.
    pub fn add_to(&self, folder: &Path) -> Result<(), DataError> {
        let path = folder.join(FEEDBACK_FILE);
        let failed = |source| DataError::File { path: path.clone(), source };
        let line = serde_json::to_string(self).map_err(|error| failed(error.into()))?;
        append_line(&path, &line).map_err(failed)
    }
}

/// Adds a line to the end of a file.
fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = lock_for_change(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let start = if last == *b"\n" { "" } else { "\n" };
    let written = file.write_all(format!("{start}{line}\n").as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a line would be an error to whoever reads the file.
        let _ = file.set_len(length);
    }
    written
}

/// Opens a file, which is created if need be, and waits until no other process changes it. The file stays locked until what is returned
/// is dropped.
fn lock_for_change(path: &Path) -> io::Result<File> {
    loop {
        // A pipe would wait for a process at its other end.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, NOT_REGULAR));
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // The process that had the lock may have replaced the file.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Returns whether a file is the one that has this name.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (file, found) = (file.metadata()?, fs::metadata(path));
        Ok(found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino())))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

/// Adds a label to the end of a file of labeled questions: lines of a question, a tab and a program. The file is replaced as a whole or not at
/// all, with its permissions and not a link to it, and created if it does not exist. Processes that add labels wait for each other. Returns the
/// line of the label, or nothing if the file has it already.
///
/// # Errors
/// If the file cannot be read or written, or has another format.
pub fn add_label(path: &Path, question: &str, program: &str) -> Result<Option<usize>, DataError> {
    let in_file = |message: &str, line: usize| {
        DataError::in_file(path)(LineError { line, message: message.to_owned() })
    };
    let failed = |source| DataError::File { path: path.to_owned(), source };
    let other_format =
        || in_file("labels are added to .tsv files without a header only; add this one by hand", 1);
    if path.extension().is_none_or(|extension| extension != "tsv") {
        return Err(other_format());
    }
    let lock = lock_for_change(path).map_err(failed)?;
    let is_new = lock.metadata().map_err(failed)?.len() == 0;
    let known = if is_new { vec![] } else { labeled::read(path)? };
    // A first line that names the columns is not a question.
    if known.first().is_some_and(|first| first.line != 1) {
        return Err(other_format());
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
    remove_temporary_files_for(path);
    write_output(path, content.as_bytes()).map_err(failed)?;
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

    /// Issue 18: of labels and verdicts that were added at the same time, most were lost.
    #[test]
    fn what_is_added_at_the_same_time_is_kept() {
        const MANY: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.tsv");
        std::thread::scope(|scope| {
            for writer in 0..MANY {
                let (folder, path) = (folder.path(), &path);
                scope.spawn(move || {
                    for number in 0..MANY {
                        let question = format!("who is number {number} of {writer}");
                        add_label(path, &question, "SELECT 1").unwrap().unwrap();
                        Feedback::now(&question, "SELECT 1", Verdict::Right, Path::new("run"))
                            .add_to(folder)
                            .unwrap();
                    }
                });
            }
        });
        for file in ["train.tsv", FEEDBACK_FILE] {
            let content = fs::read_to_string(folder.path().join(file)).unwrap();
            let lines: std::collections::HashSet<&str> = content.lines().collect();
            assert_eq!(lines.len(), MANY * MANY, "{file}");
        }
    }

    /// Issue 18: links to shared labels were replaced, and private labels became readable for everybody.
    #[cfg(unix)]
    #[test]
    fn what_is_added_goes_where_a_link_points_and_keeps_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let add = || Feedback::now("who", "SELECT 1", Verdict::Right, Path::new("run")).add_to(folder.path());
        for (link, target) in [("train.tsv", "shared"), (FEEDBACK_FILE, "verdicts")] {
            fs::write(at(target), "").unwrap();
            fs::set_permissions(at(target), PermissionsExt::from_mode(0o600)).unwrap();
            symlink(target, at(link)).unwrap();
        }
        add_label(&at("train.tsv"), "who", "SELECT 1").unwrap();
        add().unwrap();
        for (link, target) in [("train.tsv", "shared"), (FEEDBACK_FILE, "verdicts")] {
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(at(target)).unwrap().lines().count(), 1);
            assert_eq!(fs::metadata(at(target)).unwrap().permissions().mode() & 0o777, 0o600);
        }
        // Devices have no end to read, and pipes wait.
        for endless in ["/dev/full", "pipe"] {
            if endless == "pipe" {
                assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
            }
            for link in ["train.tsv", FEEDBACK_FILE] {
                fs::remove_file(at(link)).unwrap();
                symlink(endless, at(link)).unwrap();
            }
            let label = add_label(&at("train.tsv"), "who", "SELECT 1").map(|_| ());
            for added in [label, add()] {
                assert!(added.unwrap_err().to_string().ends_with(NOT_REGULAR));
            }
        }
    }

    /// Issue 18: what a killed process was writing beside the labels stayed there for ever.
    #[test]
    fn what_a_killed_process_left_beside_the_labels_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".train.tsv.a1B2c3", ".notes.txt.a1B2c3"] {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        add_label(&folder.path().join("train.tsv"), "who", "SELECT 1").unwrap();
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".notes.txt.a1B2c3", "train.tsv"]);
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
