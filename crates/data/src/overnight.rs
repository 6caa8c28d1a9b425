//! The Overnight benchmark, in the layout of its public copies.
//!
//! ```text
//! overnight/<domain>_train.tsv, <domain>_test.tsv       utterance, program, and a third column that is ignored
//! overnight/splits/<domain>_split0.tsv                  the training data in the order of the authors' split
//! overnight/canonical/<domain>.tsv                      canonical utterance and program, for learning without natural labels
//! overnight/grammar/<domain>.grammar, general.grammar   the grammars of SEMPRE, for the lexicon
//! ```

use crate::{DataError, LexiconEntry, LineError, read_lexicon, text_file};
use std::path::{Path, PathBuf};

/// An utterance and its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The question.
    pub utterance: String,
    /// The text of the program.
    pub program: String,
}

/// A file with examples of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OvernightPart {
    /// The training data.
    Train,
    /// The test data.
    Test,
    /// The training data in the order of the authors' split 0: the first examples are the labeled ones.
    Split0,
    /// The canonical utterances: what the benchmark's grammar says for each program of the training data.
    Canonical,
}

/// A folder with the Overnight benchmark.
#[derive(Clone, Debug)]
pub struct Overnight {
    folder: PathBuf,
}

impl Overnight {
    /// Opens the benchmark in `folder`, or in its subfolder `overnight`.
    ///
    /// # Errors
    /// If neither has the training data of the calendar domain.
    pub fn open(folder: &Path) -> Result<Self, DataError> {
        for candidate in [folder.to_owned(), folder.join("overnight")] {
            if candidate.join("calendar_train.tsv").is_file() {
                return Ok(Overnight { folder: candidate });
            }
        }
        let message = "this is not a folder of the Overnight benchmark: neither it nor its subfolder `overnight` has a \
                       calendar_train.tsv. The files are in data/overnight of the public repository \
                       berlino/tensor2struct-public, the grammars in overnight of percyliang/sempre"
            .to_owned();
        Err(DataError::Folder { folder: folder.to_owned(), message })
    }

    /// Returns the path of a part of a domain.
    pub fn path(&self, domain: &str, part: OvernightPart) -> PathBuf {
        match part {
            OvernightPart::Train => self.folder.join(format!("{domain}_train.tsv")),
            OvernightPart::Test => self.folder.join(format!("{domain}_test.tsv")),
            OvernightPart::Split0 => self.folder.join(format!("splits/{domain}_split0.tsv")),
            OvernightPart::Canonical => self.folder.join(format!("canonical/{domain}.tsv")),
        }
    }

    /// Reads a part of a domain.
    ///
    /// # Errors
    /// If the file cannot be read, or if a line is not an example.
    pub fn examples(&self, domain: &str, part: OvernightPart) -> Result<Vec<Example>, DataError> {
        let path = self.path(domain, part);
        read_examples(&text_file::read(&path)?).map_err(DataError::in_file(&path))
    }

    /// Reads the lexicon of a domain: the entries of its grammar, then those of the general grammar.
    ///
    /// # Errors
    /// If a grammar cannot be read or is malformed.
    pub fn lexicon(&self, domain: &str) -> Result<Vec<LexiconEntry>, DataError> {
        let mut entries = Vec::new();
        for name in [domain, "general"] {
            let path = self.folder.join(format!("grammar/{name}.grammar"));
            entries.extend(read_lexicon(&text_file::read(&path)?).map_err(DataError::in_file(&path))?);
        }
        Ok(entries)
    }
}

/// Reads examples, one per line: an utterance, a tab and a program. A third column and empty lines are ignored.
///
/// # Errors
/// If a line has fewer or more columns, or if the utterance or the program is empty.
pub fn read_examples(text: &str) -> Result<Vec<Example>, LineError> {
    let mut examples = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let error = |message: String| LineError { line: index + 1, message };
        if line.is_empty() {
            continue;
        }
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let (utterance, program) = match fields[..] {
            [utterance, program] | [utterance, program, _] => (utterance, program),
            _ => {
                let message = format!("{} columns; expected an utterance, a tab and a program", fields.len());
                return Err(error(message));
            }
        };
        for (field, name) in [(utterance, "utterance"), (program, "program")] {
            if field.is_empty() {
                return Err(error(format!("the {name} is empty")));
            }
        }
        examples.push(Example { utterance: utterance.to_owned(), program: program.to_owned() });
    }
    Ok(examples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn examples_have_two_or_three_columns() {
        let examples = read_examples("who is alice\ten.person.alice\n\nwho\ten.bob\tovernight-x\n").unwrap();
        assert_eq!(examples.len(), 2);
        assert_eq!(examples[1], Example { utterance: "who".into(), program: "en.bob".into() });
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("a\tb\nonly one", "line 2: 1 columns; expected an utterance, a tab and a program"),
            ("a\t\tc", "line 1: the program is empty"),
            (" \tb", "line 1: the utterance is empty"),
        ];
        for (text, expected) in cases {
            assert_eq!(read_examples(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn the_error_for_a_wrong_folder_says_where_to_get_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let error = Overnight::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is not a folder of the Overnight benchmark"), "{error}");

        fs::write(folder.path().join("calendar_train.tsv"), "a\tb\n").unwrap();
        let overnight = Overnight::open(folder.path()).unwrap();
        assert_eq!(overnight.examples("calendar", OvernightPart::Train).unwrap().len(), 1);
        let error = overnight.examples("calendar", OvernightPart::Test).unwrap_err().to_string();
        assert!(error.contains("calendar_test.tsv"), "{error}");
    }
}
