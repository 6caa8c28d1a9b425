//! Questions without programs, from somebody's own file: a log of what people asked.
//!
//! One a line, or in any of the formats of [`crate::pairs`], whose programs are then passed over.

use crate::records::{self, Format};
use crate::{DataError, LineError, text_file};
use std::path::Path;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What somebody asked.
    pub text: String,
    /// Where it is in its file, from 1.
    pub line: usize,
}

/// Reads the questions of a file. Blank lines are none; everything else is one.
///
/// # Errors
/// If it cannot be read, has no questions, or a line is not one.
pub fn read(path: &Path) -> Result<Vec<Question>, DataError> {
    let text = text_file::read(path)?;
    read_text(&text, Format::of(path, &text)).map_err(DataError::in_file(path))
}

fn read_text(text: &str, format: Format) -> Result<Vec<Question>, LineError> {
    let questions: Vec<Question> = records::read(text, format)?
        .into_iter()
        .map(|record| match record.utterance {
            Some(text) => Ok(Question { text, line: record.line }),
            None => {
                let message = "the question is missing; give it as `utterance` or `question`".to_owned();
                Err(LineError { line: record.line, message })
            }
        })
        .collect::<Result<_, _>>()?;
    if questions.is_empty() {
        return Err(LineError { line: 1, message: "there are no questions; expected one a line".to_owned() });
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `line question; …`
    fn read_as(name: &str, text: &str) -> Result<String, LineError> {
        let questions = read_text(text, Format::of(Path::new(name), text))?;
        let lines = questions.iter().map(|question| format!("{} {}", question.line, question.text));
        Ok(lines.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn questions_are_lines_or_fields() {
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
    fn mistakes_are_named() {
        let cases = [
            ("q.txt", "\n \n", "line 1: there are no questions; expected one a line"),
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
