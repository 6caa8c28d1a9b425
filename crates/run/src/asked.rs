//! Questions that people asked, with what they said about the answers: a line of `asked.jsonl`.

use serde::{Deserialize, Serialize};
use xpr_text::tokenize;

/// A question that somebody asked, and what they said about the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedQuestion {
    /// The question.
    pub utterance: String,
    /// What was said.
    #[serde(flatten)]
    pub said: Said,
}

/// What somebody said about the answers to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "said")]
pub enum Said {
    /// This program is right: a label.
    Program {
        /// The program.
        program: String,
    },
    /// The answer of this program is right. Whether the program is right is unknown: another one may find the same.
    Answer {
        /// A program that finds the answer.
        program: String,
    },
    /// None of the answers of these programs is right.
    NoneOf {
        /// The programs.
        programs: Vec<String>,
    },
    /// Nothing.
    Nothing,
}

impl Said {
    /// Returns a program that finds the right answer, if somebody confirmed one.
    pub fn confirmed(&self) -> Option<&str> {
        match self {
            Said::Program { program } | Said::Answer { program } => Some(program),
            Said::NoneOf { .. } | Said::Nothing => None,
        }
    }
}

impl AskedQuestion {
    /// Returns the words of the question, by which it is recognised whatever its letter case and punctuation.
    pub fn key(&self) -> String {
        question_key(&self.utterance)
    }
}

/// Returns the words of a question, by which it is recognised.
pub fn question_key(utterance: &str) -> String {
    tokenize(utterance).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_is_recognised_whatever_its_case_and_punctuation() {
        assert_eq!(question_key("How many  albums?"), question_key("how many albums"));
        assert_ne!(question_key("how many albums"), question_key("how many songs"));
    }

    #[test]
    fn what_was_said_is_a_line_that_reads_back() {
        let program = || "SELECT 1".to_owned();
        for (said, line) in [
            (
                Said::Program { program: program() },
                r#"{"utterance":"q","said":"program","program":"SELECT 1"}"#,
            ),
            (
                Said::Answer { program: program() },
                r#"{"utterance":"q","said":"answer","program":"SELECT 1"}"#,
            ),
            (
                Said::NoneOf { programs: vec![program()] },
                r#"{"utterance":"q","said":"none-of","programs":["SELECT 1"]}"#,
            ),
            (Said::Nothing, r#"{"utterance":"q","said":"nothing"}"#),
        ] {
            let asked = AskedQuestion { utterance: "q".to_owned(), said };
            assert_eq!(serde_json::to_string(&asked).unwrap(), line);
            assert_eq!(serde_json::from_str::<AskedQuestion>(line).unwrap(), asked);
        }
    }
}
