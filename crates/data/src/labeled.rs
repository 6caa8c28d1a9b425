//! Files of questions with programs.
//!
//! ```text
//! how many states are there<TAB>SELECT count(*) FROM state
//! ```
//!
//! This is a `.tsv` file. `.csv` files with a header, JSON lines, and JSON arrays in the layout of Spider are read as
//! well. A column `split` has the split of a question, and a column `answer` or `denotation` the answer of its program.

use crate::records::{self, FileFormat, Record};
use crate::{DataError, LineError, text_file};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// The split of a dataset that a question belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// The training data.
    Train,
    /// The development data, for choosing settings.
    Dev,
    /// The test data.
    Test,
}

impl Split {
    /// Returns the split that datasets call `name`; `None` if there is no such split.
    pub fn from_name(name: &str) -> Option<Split> {
        match name.to_ascii_lowercase().as_str() {
            "train" | "training" => Some(Split::Train),
            "dev" | "development" | "valid" | "validation" => Some(Split::Dev),
            "test" | "testing" => Some(Split::Test),
            _ => None,
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Split::Train => "train",
            Split::Dev => "dev",
            Split::Test => "test",
        })
    }
}

/// A question with its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabeledQuestion {
    /// The question.
    pub utterance: String,
    /// The text of the program.
    pub program: String,
    /// The answer of the program, if the file has it.
    pub answer: Option<String>,
    /// The split, if the file has it.
    pub split: Option<Split>,
    /// The name of the database, if the file has it (`db_id`).
    pub database: Option<String>,
    /// The line of the file, counted from 1.
    pub line: usize,
}

/// Reads the questions of a file.
///
/// # Errors
/// If the file cannot be read or has no questions, or if a question or program is missing.
pub fn read(path: &Path) -> Result<Vec<LabeledQuestion>, DataError> {
    let text = text_file::read(path)?;
    read_text(&text, format_of(path, &text)).map_err(DataError::in_file(path))
}

fn format_of(path: &Path, text: &str) -> FileFormat {
    match FileFormat::of(path, text) {
        // A line without a tab is an error in a file with programs.
        FileFormat::Lines => FileFormat::Tabs,
        format => format,
    }
}

fn read_text(text: &str, format: FileFormat) -> Result<Vec<LabeledQuestion>, LineError> {
    let records = records::read(text, format)?;
    if records.is_empty() {
        let message =
            "there are no questions; expected an utterance, a tab and a program on each line".to_owned();
        return Err(LineError { line: 1, message });
    }
    records.into_iter().map(|record| labeled_question(record, format)).collect()
}

fn labeled_question(record: Record, format: FileFormat) -> Result<LabeledQuestion, LineError> {
    let line = record.line;
    let missing = |name: &str, names: &str| {
        let message = match format {
            FileFormat::Tabs => format!("the {name} is missing; expected an utterance, a tab and a program"),
            _ => format!("the {name} is missing; give it as {names}"),
        };
        LineError { line, message }
    };
    let utterance = record.utterance.ok_or_else(|| missing("utterance", "`utterance` or `question`"))?;
    let program = record.program.ok_or_else(|| missing("program", "`program`, `sql` or `query`"))?;
    let split = match record.split {
        None => None,
        Some(name) => Some(Split::from_name(&name).ok_or_else(|| {
            let message = format!("there is no split `{name}`; the splits are train, dev and test");
            LineError { line, message }
        })?),
    };
    Ok(LabeledQuestion { utterance, program, answer: record.answer, split, database: record.database, line })
}

/// Reads the questions of a file about one database. If the file names several databases, as those of Spider do, only the
/// questions about `database` are returned; else all questions are.
///
/// # Errors
/// Those of [`read`], and if the file names several databases but not this one.
pub fn read_for_database(path: &Path, database: &str) -> Result<Vec<LabeledQuestion>, DataError> {
    let mut questions = read(path)?;
    let names: BTreeSet<&str> =
        questions.iter().filter_map(|question| question.database.as_deref()).collect();
    if names.len() > 1 {
        if !names.contains(database) {
            let some: Vec<&str> = names.iter().copied().take(8).collect();
            let message = format!(
                "the questions are about {} databases ({}{}), none of which is called `{database}`; keep only the \
                 questions about your database",
                names.len(),
                some.join(", "),
                if some.len() < names.len() { ", …" } else { "" }
            );
            return Err(DataError::in_file(path)(LineError { line: 1, message }));
        }
        questions.retain(|question| question.database.as_deref() == Some(database));
    }
    Ok(questions)
}

/// Returns the text of a `.tsv` file that [`read`] reads: utterances, programs, and answers if there are any.
///
/// Line ends and tabs become spaces, which makes no difference outside of quotes.
///
/// # Errors
/// If a question is empty, if a program has a line end or tab within quotes, or nothing but comments, or if the first question and its program would be read as names
/// of columns. The line of the error is that of the question.
pub fn to_tsv(questions: &[LabeledQuestion]) -> Result<String, LineError> {
    let single_spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut tsv = String::new();
    for question in questions {
        let failed = |message: &str| LineError { line: question.line, message: message.to_owned() };
        let program = on_one_line(&question.program)
            .ok_or_else(|| failed("the program has a tab or line end within quotes; write it without"))?;
        if program.is_empty() {
            return Err(failed("the program has nothing but comments"));
        }
        let utterance = single_spaced(&question.utterance);
        if utterance.is_empty() {
            return Err(failed("the question is empty; leave it out"));
        }
        let mut fields = vec![utterance, program];
        fields.extend(question.answer.as_deref().map(single_spaced));
        if tsv.is_empty() && records::is_header(&fields.iter().map(String::as_str).collect::<Vec<_>>()) {
            return Err(failed(
                "a question and a program that are names of columns; remove the second header",
            ));
        }
        tsv.push_str(&fields.join("\t"));
        tsv.push('\n');
    }
    Ok(tsv)
}

/// Returns a program without tabs, line ends and comments; `None` if there are tabs or line ends within quotes. Comments
/// must go because they end with their line.
fn on_one_line(program: &str) -> Option<String> {
    if !program.contains(['\t', '\n', '\r']) {
        return Some(program.to_owned());
    }
    let mut line = String::with_capacity(program.len());
    let mut quote = None;
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\t' | '\n' | '\r', Some(_)) => return None,
            ('\t' | '\n' | '\r', None) if line.ends_with(' ') => {}
            ('\t' | '\n' | '\r', None) => line.push(' '),
            ('-', None) if chars.peek() == Some(&'-') => while chars.next_if(|&c| c != '\n').is_some() {},
            (_, Some(open)) if c == open => {
                quote = None;
                line.push(c);
            }
            ('\'' | '"' | '`', None) => {
                quote = Some(c);
                line.push(c);
            }
            _ => line.push(c),
        }
    }
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(name: &str, text: &str) -> Result<Vec<LabeledQuestion>, LineError> {
        read_text(text, format_of(Path::new(name), text))
    }

    /// Returns `line: utterance | program | answer | split | database` for each question.
    fn summaries(questions: &[LabeledQuestion]) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        questions
            .iter()
            .map(|question| {
                let split = question.split.map(|split| split.to_string()).unwrap_or_default();
                format!(
                    "{}: {} | {} | {} | {split} | {}",
                    question.line,
                    question.utterance,
                    question.program,
                    text(&question.answer),
                    text(&question.database)
                )
            })
            .collect()
    }

    #[test]
    fn formats_are_recognised() {
        let cases: [(&str, &str, &[&str]); 10] = [
            (
                "p.tsv",
                "who\tSELECT 1\n\nwhat\tSELECT \"2\"\t(bag (2))\n",
                &["1: who | SELECT 1 |  |  | ", "3: what | SELECT \"2\" | (bag (2)) |  | "],
            ),
            ("p.tsv", "Question\tSQL\tsplit\nwho\tSELECT 1\tdev\n", &["2: who | SELECT 1 |  | dev | "]),
            ("pairs", "who\tSELECT 1", &["1: who | SELECT 1 |  |  | "]),
            (
                "p.csv",
                "id,question,query,split\n1,\"who, and\"\"when\"\"\",\"SELECT 1,\n2\",test\n2,é,SELECT 3,\n",
                &["2: who, and\"when\" | SELECT 1,\n2 |  | test | ", "4: é | SELECT 3 |  |  | "],
            ),
            ("p.csv", "utterance;program\nwho;SELECT 1, 2\n", &["2: who | SELECT 1, 2 |  |  | "]),
            ("p.csv", "program,utterance\nSELECT 1,who", &["2: who | SELECT 1 |  |  | "]),
            (
                "p.jsonl",
                "{\"utterance\": \"who\", \"program\": \"SELECT 1\", \"denotation\": \"(bag (1))\"}\n\n{\"question\": \"b\", \"sql\": \"c\", \"answer\": 3}",
                &["1: who | SELECT 1 | (bag (1)) |  | ", "3: b | c | 3 |  | "],
            ),
            (
                "dev.json",
                "[\n {\"db_id\": \"geo\", \"question\": \"who\", \"query\": \"SELECT 1\", \"query_toks\": [\"SELECT\"], \"sql\": {\"from\": []}}]",
                &["2: who | SELECT 1 |  |  | geo"],
            ),
            ("p.json", "{\"question\": \"who\", \"query\": \"SELECT 1\"}", &["1: who | SELECT 1 |  |  | "]),
            (
                "p",
                "[{\"question\": \"who\", \"sql\": \"x\", \"split\": \"validation\"}]",
                &["1: who | x |  | dev | "],
            ),
        ];
        for (name, text, expected) in cases {
            assert_eq!(summaries(&read_as(name, text).unwrap()), expected, "{name}: {text}");
        }
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let long = format!("who\t{}", "x".repeat(1 << 21));
        let wide = (1..=100).map(|name| name.to_string()).collect::<Vec<_>>().join(",");
        let cases = [
            (
                "p.tsv",
                "",
                "line 1: there are no questions; expected an utterance, a tab and a program on each line",
            ),
            (
                "p.csv",
                "",
                "line 1: there are no questions; expected an utterance, a tab and a program on each line",
            ),
            (
                "p.json",
                "[]",
                "line 1: there are no questions; expected an utterance, a tab and a program on each line",
            ),
            (
                "p.tsv",
                "a\tb\nwho is it",
                "line 2: the program is missing; expected an utterance, a tab and a program",
            ),
            ("p.tsv", "\tb", "line 1: the utterance is missing; expected an utterance, a tab and a program"),
            (
                "p.tsv",
                "a\tb\tc\td",
                "line 1: 4 columns; expected an utterance, a program and perhaps an answer, separated by tabs, or a first line with the names of the columns",
            ),
            ("p.tsv", "question\tsql\na\tb\tc", "line 2: 3 columns, but the first line has 2"),
            ("p", "who is it", "line 1: the program is missing; expected an utterance, a tab and a program"),
            ("p.tsv", &long, "line 1: a field of 2097152 bytes; at most 1048576 are read"),
            (
                "p.csv",
                "who,SELECT 1\n",
                "line 1: no column is called `utterance` or `question` (the first line has `who`, `SELECT 1`); name the columns there",
            ),
            (
                "p.csv",
                &wide,
                "line 1: no column is called `utterance` or `question` (the first line has `1`, `2`, `3`, `4`, `5`, `6`, `7`, `8`, and 92 more); name the columns there",
            ),
            (
                "p.csv",
                "question,sql\na,b\nc,d,e\n",
                "line 3: 3 columns, but the first line has 2; put fields that contain commas or line ends into double quotes",
            ),
            (
                "p.csv",
                "question,answer\na,b\n",
                "line 2: the program is missing; give it as `program`, `sql` or `query`",
            ),
            ("p.csv", "question,query,sql\n", "line 1: `query` and `sql` mean the same; rename one of them"),
            (
                "p.csv",
                "question,sql,split\na,b,later\n",
                "line 2: there is no split `later`; the splits are train, dev and test",
            ),
            (
                "p.jsonl",
                "{\"question\": \"a\"}",
                "line 1: the program is missing; give it as `program`, `sql` or `query`",
            ),
            (
                "p.jsonl",
                "{\"sql\": \"a\"}\n3",
                "line 2: expected an object with the key `utterance` or `question`",
            ),
            (
                "p.jsonl",
                "{\"sql\": \"a\"}",
                "line 1: the utterance is missing; give it as `utterance` or `question`",
            ),
            ("p.jsonl", "{\"sql\": \"a\"", "line 1: this is not JSON: EOF while parsing an object"),
        ];
        for (name, text, expected) in cases {
            assert_eq!(read_as(name, text).unwrap_err().to_string(), expected, "{name}");
        }
    }

    #[test]
    fn questions_about_one_of_several_databases_are_selected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dev.json");
        let pair = |database: &str| format!(r#"{{"question": "a", "query": "b", "db_id": "{database}"}}"#);
        std::fs::write(&path, format!("[{}, {}]", pair("geo"), pair("music"))).unwrap();
        assert_eq!(read_for_database(&path, "music").unwrap().len(), 1);
        let error = read_for_database(&path, "x").unwrap_err().to_string();
        assert!(error.contains("about 2 databases (geo, music), none of which is called `x`"), "{error}");
        std::fs::write(&path, pair("geo")).unwrap();
        assert_eq!(read_for_database(&path, "x").unwrap().len(), 1);
    }

    #[test]
    fn written_questions_are_read_back() {
        let pair = |utterance: &str, program: &str, answer: Option<&str>| LabeledQuestion {
            utterance: utterance.to_owned(),
            program: program.to_owned(),
            answer: answer.map(str::to_owned),
            split: None,
            database: None,
            line: 7,
        };
        let pairs = [
            pair("who\n is it", "SELECT a -- the 'first\n\tFROM t\r\nWHERE b = 'c  d--'", None),
            pair("\"quoted\"", "SELECT \"it's\"", Some("(bag (1))")),
        ];
        let tsv = to_tsv(&pairs).unwrap();
        assert_eq!(
            tsv,
            "who is it\tSELECT a FROM t WHERE b = 'c  d--'\n\"quoted\"\tSELECT \"it's\"\t(bag (1))\n"
        );
        assert_eq!(read_text(&tsv, FileFormat::Tabs).unwrap().len(), 2);
        let tsv = to_tsv(&[pair("a", "-- first\n\tSELECT 1", None)]).unwrap();
        assert_eq!(tsv, "a\tSELECT 1\n", "a program does not begin with a blank");
        let error = to_tsv(&[pair(" \t", "SELECT 1", None)]).unwrap_err().to_string();
        assert!(error.ends_with("the question is empty; leave it out"), "{error}");
        let error = to_tsv(&[pair("a", "-- first\n", None)]).unwrap_err().to_string();
        assert_eq!(error, "line 7: the program has nothing but comments");
        let error = to_tsv(&[pair("Question", "sql", None)]).unwrap_err().to_string();
        assert!(error.contains("names of columns"), "{error}");
        let error = to_tsv(&[pair("a", "SELECT 'b\nc'", None)]).unwrap_err().to_string();
        assert_eq!(error, "line 7: the program has a tab or line end within quotes; write it without");
    }
}
