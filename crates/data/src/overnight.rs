//! The Overnight benchmark, as its public copies lay it out.
//!
//! ```text
//! overnight/<domain>_train.tsv, <domain>_test.tsv   utterance, logical form[, anything]
//! overnight/splits/<domain>_split0.tsv              the train file in the order of the authors' split
//! overnight/grammar/<domain>.grammar, general.grammar   SEMPRE's grammars, for the lexicon
//! ```

use crate::{DataError, LexiconEntry, LineError, read_lexicon};
use std::fs;
use std::path::{Path, PathBuf};

/// An utterance and the program that means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What somebody asked.
    pub utterance: String,
    /// The program, in the text of its language.
    pub program: String,
}

/// A part of a domain's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// For training, in the file's order.
    Train,
    /// For testing.
    Test,
    /// The training data in the order of the authors' split 0, of which the first so many percent are
    /// labeled.
    Split0,
}

/// A folder with the Overnight benchmark.
#[derive(Clone, Debug)]
pub struct Overnight {
    folder: PathBuf,
}

impl Overnight {
    /// The benchmark in `folder`, or in the `overnight` folder inside it.
    ///
    /// # Errors
    /// If neither has a training file.
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

    /// Where a part of a domain is.
    pub fn path(&self, domain: &str, part: Part) -> PathBuf {
        match part {
            Part::Train => self.folder.join(format!("{domain}_train.tsv")),
            Part::Test => self.folder.join(format!("{domain}_test.tsv")),
            Part::Split0 => self.folder.join(format!("splits/{domain}_split0.tsv")),
        }
    }

    /// Reads a part of a domain.
    ///
    /// # Errors
    /// If the file cannot be read or a line is not an example.
    pub fn examples(&self, domain: &str, part: Part) -> Result<Vec<Example>, DataError> {
        let path = self.path(domain, part);
        read_examples(&read(&path)?).map_err(DataError::in_file(&path))
    }

    /// Reads the lexicon of a domain: its own grammar's, then the general one's.
    ///
    /// # Errors
    /// If a grammar cannot be read.
    pub fn lexicon(&self, domain: &str) -> Result<Vec<LexiconEntry>, DataError> {
        let mut entries = Vec::new();
        for name in [domain, "general"] {
            let path = self.folder.join(format!("grammar/{name}.grammar"));
            entries.extend(read_lexicon(&read(&path)?).map_err(DataError::in_file(&path))?);
        }
        Ok(entries)
    }
}

fn read(path: &Path) -> Result<String, DataError> {
    fs::read_to_string(path).map_err(|source| DataError::File { path: path.to_owned(), source })
}

/// Reads examples, one a line: an utterance and a program with a tab between; a third column is ignored.
///
/// # Errors
/// If a line has fewer columns or more, or one of the two is empty.
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

    #[test]
    fn examples_have_two_or_three_columns() {
        let examples = read_examples("who is alice\ten.person.alice\n\nwho\ten.bob\tovernight-x\n").unwrap();
        assert_eq!(examples.len(), 2);
        assert_eq!(examples[1], Example { utterance: "who".into(), program: "en.bob".into() });
    }

    #[test]
    fn bad_lines_are_named() {
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
    fn a_folder_that_is_something_else_says_where_to_get_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let error = Overnight::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is not a folder of the Overnight benchmark"), "{error}");

        fs::write(folder.path().join("calendar_train.tsv"), "a\tb\n").unwrap();
        let overnight = Overnight::open(folder.path()).unwrap();
        assert_eq!(overnight.examples("calendar", Part::Train).unwrap().len(), 1);
        let error = overnight.examples("calendar", Part::Test).unwrap_err().to_string();
        assert!(error.contains("calendar_test.tsv"), "{error}");
    }
}
