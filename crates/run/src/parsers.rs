//! The parsers of a run: the one that training wrote, and those that came after it.
//!
//! ```text
//! RUN/                the run; its own files are parser 0
//! RUN/parsers.json    which parser is the current one, and a record of every later parser
//! RUN/parsers/1/      a later parser: a run folder of its own
//! RUN/parsers/2/
//! RUN/parsers/2.new   exists while parser 2 is made
//! ```
//!
//! A parser is trained in its folder while another one serves. [`ParserList::add`] then replaces `parsers.json`, which is the only moment
//! at which anything changes for others. A process that is killed earlier leaves a folder that no record names, and the next one removes it.
//! A finished parser without a record that is not being made is never removed: its record was lost.

use crate::folder::{RunError, RunFile, RunFolder};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The parsers of a run: the content of `parsers.json`. A run without this file has the parser that training wrote.
///
/// # How a server sees a promotion
/// [`ParserList::read`] reads one small file, which is replaced as a whole, and the names in a folder. A server that reads it between two requests compares `current`
/// with the number of the parser it has opened, `TrainedRun::number`. If they differ, it opens the run again, in the background, and answers
/// with the old parser until the new one is open. A number always names the same parser: going back changes `current` to an earlier number,
/// and no folder of a current parser is changed or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ParserList {
    /// The number of the current parser, which answers; 0 is the one that training wrote.
    pub current: usize,
    /// The later parsers in the order of their numbers, whether they were promoted or not.
    pub parsers: Vec<ParserRecord>,
}

/// A later parser of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParserRecord {
    /// The number, from 1.
    pub number: usize,
    /// When it was finished, in seconds since 1970.
    pub time: u64,
    /// How it came to be.
    pub origin: ParserOrigin,
    /// The number of the parser that answered when it was finished, with which it was compared.
    pub before: usize,
    /// Whether it became the current parser.
    pub promoted: bool,
    /// Whether somebody went back from it to the parser before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rolled_back: bool,
    /// What it learned from, beside the labels and the log of its project.
    pub learned: LearnedQuestions,
    /// How it compares with the parser before it on confirmed questions, if there were any to compare on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ParserComparison>,
}

/// How a later parser came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParserOrigin {
    /// `xpr improve` trained it on what people said.
    Improved,
    /// `xpr teach` taught it a label.
    Taught,
}

/// The number of questions of each kind that a parser learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedQuestions {
    /// Questions whose program was confirmed or corrected.
    pub programs: usize,
    /// Questions for which an answer was picked.
    pub answers: usize,
    /// Questions for which none of the answers was right.
    pub rejected: usize,
    /// Questions about which nobody said anything.
    pub unlabeled: usize,
}

/// A comparison of two parsers on confirmed questions that neither was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParserComparison {
    /// The number of questions.
    pub questions: usize,
    /// The number that the parser before answers right.
    pub right_before: usize,
    /// The number that the new parser answers right.
    pub right_after: usize,
    /// The lower end of the 95 % confidence interval of the difference in accuracy, in percentage points.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ParserList {
    /// Reads the list of a run.
    ///
    /// # Errors
    /// If the file cannot be read, is not such a file, has records that cannot be right, or lacks that of a finished parser, because it is
    /// gone or an earlier copy.
    pub fn read(run: &Path) -> Result<Self, RunError> {
        // It need not hold a run: this is asked before anything is opened.
        let folder = RunFolder::at(run);
        let list = ParserList::read_file(&folder)?.unwrap_or_default();
        let Some(number) = finished_parser_after(run, list.parsers.len()) else { return Ok(list) };
        // Another process may have added it between the two looks.
        match ParserList::read_file(&folder)? {
            Some(list) if list.record(number).is_some() => Ok(list),
            Some(_) => Err(without_record(&folder, number)),
            None => {
                let message = format!(
                    "it is missing, although the run has parser {number}; restore the file, or move {} elsewhere to \
                     go on with the parser that training wrote",
                    run.join(FOLDER).display()
                );
                Err(folder.content_error(RunFile::Parsers, message))
            }
        }
    }

    /// Reads the file, if it exists.
    fn read_file(folder: &RunFolder) -> Result<Option<Self>, RunError> {
        let file = RunFile::Parsers;
        if !folder.has(file) {
            return match fs::symlink_metadata(folder.path(file)) {
                Ok(_) => Err(folder.content_error(file, "this is not a regular file; restore it")),
                Err(_) => Ok(None),
            };
        }
        let list: ParserList = folder.read_json(file)?;
        match list.mistake() {
            Some(mistake) => Err(folder.content_error(file, format!("{mistake}; restore the file"))),
            None => Ok(Some(list)),
        }
    }

    /// Returns what cannot be right: parsers are numbered 1, 2, 3 and so on, and each comes after one before it.
    fn mistake(&self) -> Option<String> {
        for (number, record) in (1..).zip(&self.parsers) {
            if record.number != number {
                return Some(format!("it has parser {} in the place of parser {number}", record.number));
            }
            if record.before >= number {
                return Some(format!("its parser {number} comes after parser {}", record.before));
            }
        }
        let is_known = self.current == 0 || self.record(self.current).is_some();
        (!is_known).then(|| format!("it names parser {}, but has no record of it", self.current))
    }

    /// Returns the folder of a parser.
    pub fn folder(run: &Path, number: usize) -> PathBuf {
        match number {
            0 => run.to_owned(),
            number => run.join(FOLDER).join(number.to_string()),
        }
    }

    /// Returns the run that a folder holds a later parser of, if it does.
    pub fn run_of(folder: &Path) -> Option<PathBuf> {
        let folder = fs::canonicalize(folder).ok()?;
        let (parsers, number) = (folder.parent()?, folder.file_name()?.to_str()?);
        let is_later = parsers.file_name()? == FOLDER && number.parse::<usize>().is_ok();
        let run = parsers.parent()?;
        (is_later && RunFolder::open(run).is_ok()).then(|| run.to_owned())
    }

    /// Returns the number of the next parser.
    pub fn next_number(&self) -> usize {
        self.parsers.len() + 1
    }

    /// Returns the record of a parser, if it is not the one that training wrote.
    pub fn record(&self, number: usize) -> Option<&ParserRecord> {
        self.parsers.iter().find(|parser| parser.number == number)
    }

    /// Creates the folder of the next parser, and removes what a killed process left in it.
    ///
    /// # Errors
    /// If the folder holds a finished parser whose record was lost, a file cannot be removed, or the folder cannot be created.
    pub fn create_next(&self, run: &RunFolder) -> Result<RunFolder, RunError> {
        let number = self.next_number();
        let folder = ParserList::folder(run.folder(), number);
        if RunFolder::at(&folder).is_finished() && !being_made(run.folder(), number).is_file() {
            return Err(without_record(run, number));
        }
        self.remove_next(run)?;
        self.remove_marks(run);
        let parsers = run.folder().join(FOLDER);
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| RunError::File { path, source }
        };
        fs::create_dir_all(&parsers).map_err(failed(&parsers))?;
        let (mark, name) = (being_made(run.folder(), number), mark_name(number));
        xpr_data::remove_temporary_files(&parsers, [name.as_str()]);
        xpr_data::write_file(&mark, b"").map_err(failed(&mark))?;
        RunFolder::create(&folder)
    }

    /// Removes what there is of the next parser, which could not be made. The caller must hold the lock of the run.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove_next(&self, run: &RunFolder) -> Result<(), RunError> {
        let folder = ParserList::folder(run.folder(), self.next_number());
        match fs::remove_dir_all(&folder) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(RunError::File { path: folder, source });
            }
            _ => {}
        }
        // Last: without it, what is left of the parser may be taken for one that was finished.
        let _ = fs::remove_file(being_made(run.folder(), self.next_number()));
        Ok(())
    }

    /// Removes the files that say that a parser is being made, if it has a record. A process that was killed leaves one.
    fn remove_marks(&self, run: &RunFolder) {
        for record in &self.parsers {
            // What is left does harm only if the record is lost.
            let _ = fs::remove_file(being_made(run.folder(), record.number));
        }
    }

    /// Adds the record of a parser, which becomes the current one if it is promoted. Its folder must be complete. The caller must hold the
    /// lock of the run.
    ///
    /// # Errors
    /// If the file cannot be written. The current parser is then unchanged.
    pub fn add(&mut self, run: &RunFolder, record: ParserRecord) -> Result<(), RunError> {
        let mut list = self.clone();
        if record.promoted {
            list.current = record.number;
        }
        list.parsers.push(record);
        run.write_json(RunFile::Parsers, &list)?;
        list.remove_marks(run);
        *self = list;
        Ok(())
    }

    /// Makes the parser current that was so before the current one, and records that somebody went back. Returns its number, or nothing if
    /// the current parser is the one that training wrote. The caller must hold the lock of the run, and have opened the earlier parser:
    /// whether it answers is not checked here.
    ///
    /// # Errors
    /// If the earlier parser is gone, or the file cannot be written. The current parser is then unchanged.
    pub fn roll_back(&mut self, run: &RunFolder) -> Result<Option<usize>, RunError> {
        let mut list = self.clone();
        let Some(record) = list.parsers.iter_mut().find(|parser| parser.number == self.current) else {
            return Ok(None);
        };
        record.rolled_back = true;
        let before = record.before;
        RunFolder::open(&ParserList::folder(run.folder(), before))?;
        list.current = before;
        run.write_json(RunFile::Parsers, &list)?;
        list.remove_marks(run);
        *self = list;
        Ok(Some(before))
    }
}

/// Returns the file that exists while a parser is made.
fn being_made(run: &Path, number: usize) -> PathBuf {
    run.join(FOLDER).join(mark_name(number))
}

fn mark_name(number: usize) -> String {
    format!("{number}.new")
}

/// Returns the error of a list that lacks the record of a finished parser.
fn without_record(run: &RunFolder, number: usize) -> RunError {
    let message = format!(
        "it has no record of the parser in {}; restore the file, or move that folder elsewhere",
        ParserList::folder(run.folder(), number).display()
    );
    run.content_error(RunFile::Parsers, message)
}

/// Returns the least number above `last` of a parser that is finished, and neither being made nor left behind by a process that made it.
fn finished_parser_after(run: &Path, last: usize) -> Option<usize> {
    let entries = fs::read_dir(run.join(FOLDER)).ok()?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<usize>().ok());
    numbers
        .filter(|&number| number > last && RunFolder::at(&ParserList::folder(run, number)).is_finished())
        .filter(|&number| !being_made(run, number).is_file())
        .min()
}

/// Returns the time of a record: the number of seconds since 1970.
pub fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The folder of a run in which the later parsers are.
const FOLDER: &str = "parsers";

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: usize, before: usize, promoted: bool) -> ParserRecord {
        ParserRecord {
            number,
            time: 1,
            origin: ParserOrigin::Improved,
            before,
            promoted,
            rolled_back: false,
            learned: LearnedQuestions::default(),
            comparison: None,
        }
    }

    #[test]
    fn promotion_and_rollback_change_one_file_and_refused_parsers_are_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        run.write(RunFile::Config, b"").unwrap();
        let mut list = ParserList::read(folder.path()).unwrap();
        assert_eq!((list.current, list.roll_back(&run).unwrap()), (0, None));
        for (number, promoted) in [(1, true), (2, false), (3, true)] {
            let parser = list.create_next(&run).unwrap();
            assert_eq!(parser.folder(), ParserList::folder(folder.path(), number));
            parser.write(RunFile::Config, b"").unwrap();
            let before = list.current;
            list.add(&run, record(number, before, promoted)).unwrap();
        }
        assert_eq!(ParserList::read(folder.path()).unwrap(), list);
        assert_eq!((list.current, list.next_number()), (3, 4));
        // Parser 2 was never current.
        assert_eq!(list.roll_back(&run).unwrap(), Some(1));
        assert_eq!(ParserList::read(folder.path()).unwrap().current, 1);
        assert_eq!(list.roll_back(&run).unwrap(), Some(0));
        assert_eq!((list.roll_back(&run).unwrap(), list.next_number()), (None, 4));
        // Issue 19: a list did not tell which parsers somebody went back from.
        let rolled_back: Vec<bool> = list.parsers.iter().map(|parser| parser.rolled_back).collect();
        assert_eq!(rolled_back, [true, false, true]);
        assert_eq!(ParserList::read(folder.path()).unwrap(), list);
    }

    #[test]
    fn a_folder_that_a_killed_process_left_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let list = ParserList::default();
        for finished in [false, true] {
            let killed = list.create_next(&run).unwrap();
            killed.write(RunFile::Checkpoint, b"half").unwrap();
            killed.write(RunFile::Config, b"").unwrap();
            if finished {
                killed.finish(&"right").unwrap();
            }
            drop(killed);
            assert_eq!(ParserList::read(folder.path()).unwrap().current, 0);
            let anew = list.create_next(&run).unwrap();
            assert!(!anew.has(RunFile::Checkpoint) && !anew.has(RunFile::Config) && !anew.is_finished());
        }
    }

    /// Issue 18: the number after that of a damaged record was 0, whose folder is the run, and the next parser removed it.
    #[test]
    fn records_that_cannot_be_right_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        for (current, parsers, expected) in [
            (
                0,
                vec![record(usize::MAX, 0, true)],
                "it has parser 18446744073709551615 in the place of parser 1",
            ),
            (usize::MAX, vec![record(usize::MAX, 0, true)], "in the place of parser 1"),
            (1, vec![record(1, 0, true), record(1, 0, true)], "it has parser 1 in the place of parser 2"),
            (1, vec![record(0, 0, true)], "it has parser 0 in the place of parser 1"),
            (1, vec![record(1, 1, true)], "its parser 1 comes after parser 1"),
            (1, vec![record(1, 7, true)], "its parser 1 comes after parser 7"),
        ] {
            run.write_json(RunFile::Parsers, &ParserList { current, parsers }).unwrap();
            let error = ParserList::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("parsers.json: "), "{error}");
        }
    }

    /// Issue 18: a run whose list of parsers was lost answered with its first parser, and the next one removed the others.
    #[test]
    fn a_lost_list_of_parsers_is_noticed_and_no_parser_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let mut list = ParserList::default();
        let parser = list.create_next(&run).unwrap();
        parser.write(RunFile::Config, b"").unwrap();
        parser.finish(&"right").unwrap();
        drop(parser);
        list.add(&run, record(1, 0, true)).unwrap();
        assert_eq!(ParserList::read(folder.path()).unwrap(), list);

        let path = run.path(RunFile::Parsers);
        fs::remove_file(&path).unwrap();
        let error = ParserList::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("it is missing, although the run has parser 1; restore the file"), "{error}");
        let error = ParserList::default().create_next(&run).unwrap_err().to_string();
        assert!(error.contains("parsers.json: it has no record of the parser in "), "{error}");
        assert!(RunFolder::open(&ParserList::folder(folder.path(), 1)).unwrap().is_finished());

        fs::create_dir(&path).unwrap();
        assert!(ParserList::read(folder.path()).unwrap_err().to_string().contains("not a regular file"));
        fs::remove_dir(&path).unwrap();
        #[cfg(unix)]
        {
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            assert!(ParserList::read(folder.path()).unwrap_err().to_string().contains("not a regular file"));
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("nowhere", &path).unwrap();
            assert!(ParserList::read(folder.path()).unwrap_err().to_string().contains("not a regular file"));
        }
    }

    /// Issue 18: with an earlier copy of the list, an earlier parser answered without a word.
    #[test]
    fn an_earlier_copy_of_the_list_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let mut list = ParserList::default();
        let mut copies = vec![list.clone()];
        for number in [1, 2] {
            let parser = list.create_next(&run).unwrap();
            parser.write(RunFile::Config, b"").unwrap();
            parser.finish(&"right").unwrap();
            // It is no earlier copy while another process makes the next parser.
            assert_eq!(ParserList::read(folder.path()).unwrap(), list);
            list.add(&run, record(number, number - 1, true)).unwrap();
            copies.push(list.clone());
        }
        assert_eq!(copies.pop(), Some(ParserList::read(folder.path()).unwrap()));
        for copy in copies {
            run.write_json(RunFile::Parsers, &copy).unwrap();
            let error = ParserList::read(folder.path()).unwrap_err().to_string();
            let lost = ParserList::folder(folder.path(), copy.next_number());
            let expected = format!("parsers.json: it has no record of the parser in {}", lost.display());
            assert!(error.contains(&expected), "{error}");
        }
    }

    /// Issue 18: a process that was killed just after it recorded a parser left the file that says that the parser is being made. When the
    /// list was lost later, nobody noticed, and the next parser replaced that one.
    #[test]
    fn what_killed_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let mut list = ParserList::default();
        let parser = list.create_next(&run).unwrap();
        parser.write(RunFile::Config, b"").unwrap();
        parser.finish(&"right").unwrap();
        list.add(&run, record(1, 0, true)).unwrap();
        let parsers = folder.path().join(FOLDER);
        for name in ["1.new", ".2.new.a1B2c3"] {
            fs::write(parsers.join(name), "").unwrap();
        }
        list.create_next(&run).unwrap();
        let names = || {
            let entries = fs::read_dir(&parsers).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["1", "2", "2.new"]);
        list.remove_next(&run).unwrap();
        assert_eq!(names(), ["1"]);
        run.remove(RunFile::Parsers).unwrap();
        assert!(ParserList::read(folder.path()).unwrap_err().to_string().contains("it is missing"));
    }

    #[test]
    fn a_current_parser_without_a_record_or_without_a_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        run.write(RunFile::Parsers, br#"{"current": 4, "parsers": []}"#).unwrap();
        let error = ParserList::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("parsers.json: it names parser 4, but has no record of it"), "{error}");
        run.write(RunFile::Parsers, b"{}").unwrap();
        assert!(ParserList::read(folder.path()).unwrap_err().to_string().contains("not what xpr wrote"));
        let mut list = ParserList { current: 2, parsers: vec![record(1, 0, true), record(2, 1, true)] };
        let error = list.roll_back(&run).unwrap_err().to_string();
        assert!(error.contains("holds no run") && list.current == 2, "{error}");
    }
}
