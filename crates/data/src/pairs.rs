//! Questions with their programs, from somebody's own file.
//!
//! ```text
//! how many states are there<TAB>SELECT count(*) FROM state
//! ```
//!
//! That is a `.tsv`; `.csv` with a header, JSON lines and arrays in the layout of Spider are read as well. A column called
//! `split` says which part of the data a pair belongs to, one called `answer` or `denotation` what its program comes to.

use crate::records::{self, Format, Record};
use crate::{DataError, LineError, text_file};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// A part of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// For training.
    Train,
    /// For choosing settings.
    Dev,
    /// For testing.
    Test,
}

impl Split {
    /// The split that datasets call so.
    pub fn called(name: &str) -> Option<Split> {
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

/// A question and the program that means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What somebody asked.
    pub utterance: String,
    /// The program, in the text of its language.
    pub program: String,
    /// What it comes to, if the file says.
    pub answer: Option<String>,
    /// The part of the data it belongs to, if the file says.
    pub split: Option<Split>,
    /// The name of the database it is about, if the file says (`db_id`).
    pub database: Option<String>,
    /// Where it is in its file, from 1.
    pub line: usize,
}

/// Reads the pairs of a file.
///
/// # Errors
/// If it cannot be read, has no pairs, or a line is not one.
pub fn read(path: &Path) -> Result<Vec<Pair>, DataError> {
    let text = text_file::read(path)?;
    let format = match Format::of(path, &text) {
        // A line that should be a pair and has no tab is one that misses a column.
        Format::Lines => Format::Tabs,
        format => format,
    };
    read_text(&text, format).map_err(DataError::in_file(path))
}

fn read_text(text: &str, format: Format) -> Result<Vec<Pair>, LineError> {
    let records = records::read(text, format)?;
    if records.is_empty() {
        let message = "there are no pairs; expected an utterance, a tab and a program a line".to_owned();
        return Err(LineError { line: 1, message });
    }
    records.into_iter().map(|record| pair(record, format)).collect()
}

fn pair(record: Record, format: Format) -> Result<Pair, LineError> {
    let line = record.line;
    let missing = |name: &str, names: &str| {
        let message = match format {
            Format::Tabs => format!("the {name} is missing; expected an utterance, a tab and a program"),
            _ => format!("the {name} is missing; give it as {names}"),
        };
        LineError { line, message }
    };
    let utterance = record.utterance.ok_or_else(|| missing("utterance", "`utterance` or `question`"))?;
    let program = record.program.ok_or_else(|| missing("program", "`program`, `sql` or `query`"))?;
    let split = match record.split {
        None => None,
        Some(name) => Some(Split::called(&name).ok_or_else(|| {
            let message = format!("there is no split `{name}`; the splits are train, dev and test");
            LineError { line, message }
        })?),
    };
    Ok(Pair { utterance, program, answer: record.answer, split, database: record.database, line })
}

/// Reads the pairs of a file that may be about several databases, as Spider's are: those about the one called `database`.
///
/// # Errors
/// As [`read`], and if the file is about several databases and this is none of them.
pub fn read_about(path: &Path, database: &str) -> Result<Vec<Pair>, DataError> {
    let mut pairs = read(path)?;
    let names: BTreeSet<&str> = pairs.iter().filter_map(|pair| pair.database.as_deref()).collect();
    if names.len() > 1 {
        if !names.contains(database) {
            let some: Vec<&str> = names.iter().copied().take(8).collect();
            let message = format!(
                "the questions are about {} databases ({}{}), none of which is called `{database}`; keep those about one",
                names.len(),
                some.join(", "),
                if some.len() < names.len() { ", …" } else { "" }
            );
            return Err(DataError::in_file(path)(LineError { line: 1, message }));
        }
        pairs.retain(|pair| pair.database.as_deref() == Some(database));
    }
    Ok(pairs)
}

/// The pairs as the text of a `.tsv`, which [`read`] reads: utterance, program, and answer where there is one.
///
/// Line ends and tabs become spaces, which are the same to a reader; not so within quotes, where they cannot be kept.
///
/// # Errors
/// If a program has one within quotes; the line is that of the pair.
pub fn to_tsv(pairs: &[Pair]) -> Result<String, LineError> {
    let mut tsv = String::new();
    for pair in pairs {
        let Some(program) = on_one_line(&pair.program) else {
            let message = "the program has a tab or line end within quotes; write it without".to_owned();
            return Err(LineError { line: pair.line, message });
        };
        tsv.push_str(&pair.utterance.split_whitespace().collect::<Vec<_>>().join(" "));
        tsv.push('\t');
        tsv.push_str(&program);
        if let Some(answer) = &pair.answer {
            tsv.push('\t');
            tsv.push_str(&answer.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        tsv.push('\n');
    }
    Ok(tsv)
}

/// A program without tabs and line ends; none if they are within quotes. A comment would swallow what follows it, so it goes
/// with its line end.
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
    Some(line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(name: &str, text: &str) -> Result<Vec<Pair>, LineError> {
        let format = match Format::of(Path::new(name), text) {
            Format::Lines => Format::Tabs,
            format => format,
        };
        read_text(text, format)
    }

    /// `line: utterance | program | answer | split | database`
    fn shown(pairs: &[Pair]) -> Vec<String> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        pairs
            .iter()
            .map(|pair| {
                let split = pair.split.map(|split| split.to_string()).unwrap_or_default();
                format!(
                    "{}: {} | {} | {} | {split} | {}",
                    pair.line,
                    pair.utterance,
                    pair.program,
                    text(&pair.answer),
                    text(&pair.database)
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
            assert_eq!(shown(&read_as(name, text).unwrap()), expected, "{name}: {text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let long = format!("who\t{}", "x".repeat(1 << 21));
        let cases = [
            ("p.tsv", "", "line 1: there are no pairs; expected an utterance, a tab and a program a line"),
            ("p.csv", "", "line 1: there are no pairs; expected an utterance, a tab and a program a line"),
            ("p.json", "[]", "line 1: there are no pairs; expected an utterance, a tab and a program a line"),
            (
                "p.tsv",
                "a\tb\nwho is it",
                "line 2: the program is missing; expected an utterance, a tab and a program",
            ),
            ("p.tsv", "\tb", "line 1: the utterance is missing; expected an utterance, a tab and a program"),
            (
                "p.tsv",
                "a\tb\tc\td",
                "line 1: 4 columns; expected an utterance, a program and perhaps an answer, tabs between, or a first line with the names of the columns",
            ),
            ("p.tsv", "question\tsql\na\tb\tc", "line 2: 3 columns, but the first line has 2"),
            ("p", "who is it", "line 1: the program is missing; expected an utterance, a tab and a program"),
            ("p.tsv", &long, "line 1: a field of 2097152 bytes; the longest that is read has 1048576"),
            (
                "p.csv",
                "who,SELECT 1\n",
                "line 1: no column is called `utterance` or `question` (the first line has `who`, `SELECT 1`); name the columns there",
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
    fn one_database_of_several() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dev.json");
        let pair = |database: &str| format!(r#"{{"question": "a", "query": "b", "db_id": "{database}"}}"#);
        std::fs::write(&path, format!("[{}, {}]", pair("geo"), pair("music"))).unwrap();
        assert_eq!(read_about(&path, "music").unwrap().len(), 1);
        let error = read_about(&path, "x").unwrap_err().to_string();
        assert!(error.contains("about 2 databases (geo, music), none of which is called `x`"), "{error}");
        std::fs::write(&path, pair("geo")).unwrap();
        assert_eq!(read_about(&path, "x").unwrap().len(), 1);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let pair = |utterance: &str, program: &str, answer: Option<&str>| Pair {
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
        assert_eq!(read_text(&tsv, Format::Tabs).unwrap().len(), 2);
        let error = to_tsv(&[pair("a", "SELECT 'b\nc'", None)]).unwrap_err().to_string();
        assert_eq!(error, "line 7: the program has a tab or line end within quotes; write it without");
    }
}
