//! Files of questions without programs, such as a log of what people asked.
//!
//! A file has one question per line, or any of the formats of [`crate::labeled`], in which case programs are ignored.

use crate::records::{self, FileFormat};
use crate::{DataError, LineError, text_file};
use std::path::Path;

/// A question without a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlabeledQuestion {
    /// The question.
    pub text: String,
    /// The line of the file, counted from 1.
    pub line: usize,
}

/// Reads the questions of a file. Blank lines are ignored.
///
/// # Errors
/// If the file cannot be read or has no questions, or if a question is missing.
pub fn read(path: &Path) -> Result<Vec<UnlabeledQuestion>, DataError> {
    let text = text_file::read(path)?;
    read_text(&text, FileFormat::of(path, &text)).map_err(DataError::in_file(path))
}

fn read_text(text: &str, format: FileFormat) -> Result<Vec<UnlabeledQuestion>, LineError> {
    let questions: Vec<UnlabeledQuestion> = records::read(text, format)?
        .into_iter()
        .map(|record| match record.utterance {
            Some(text) => Ok(UnlabeledQuestion { text, line: record.line }),
            None => {
                let message = "the question is missing; give it as `utterance` or `question`".to_owned();
                Err(LineError { line: record.line, message })
            }
        })
        .collect::<Result<_, _>>()?;
    if questions.is_empty() {
        return Err(LineError {
            line: 1,
            message: "there are no questions; expected one per line".to_owned(),
        });
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the questions as `line question; …`.
    fn read_as(name: &str, text: &str) -> Result<String, LineError> {
        let questions = read_text(text, FileFormat::of(Path::new(name), text))?;
        let lines = questions.iter().map(|question| format!("{} {}", question.line, question.text));
        Ok(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn questions_are_read_from_all_formats() {
        let cases = [
            ("q.txt", "who\n\n # not a comment \n", "1 who; 3 # not a comment"),
            ("log", "who, \"and\" when", "1 who, \"and\" when"),
            ("q.csv", "id,question\n1,\"a, b\"\n", "2 a, b"),
            ("q.tsv", "who\tSELECT 1\nwhat\n", "1 who; 2 what"),
            ("q.jsonl", "\"who\"\n{\"utterance\": \"what\"}", "1 who; 2 what"),
            ("q.json", "[\"who\",\n\"what\"]", "1 who; 2 what"),
        ];
        for (name, text, expected) in cases {
            assert_eq!(read_as(name, text).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let cases = [
            ("q.txt", "\n \n", "line 1: there are no questions; expected one per line"),
            (
                "q.jsonl",
                "{\"text\": \"who\"}",
                "line 1: the question is missing; give it as `utterance` or `question`",
            ),
            (
                "q.jsonl",
                "\"who\"\n\"\"",
                "line 2: the question is missing; give it as `utterance` or `question`",
            ),
        ];
        for (name, text, expected) in cases {
            assert_eq!(read_as(name, text).unwrap_err().to_string(), expected, "{name}");
        }
    }
}
