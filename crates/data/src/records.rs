//! Files of questions, in several formats.
//!
//! Whatever the format, a file is a list of [`Record`]s: named fields with the line they come from. The format is
//! recognised by the extension of the file, or by its content if the extension is another one.
//!
//! | format | extension | fields |
//! |---|---|---|
//! | tab-separated | `.tsv`, `.tab` | utterance, program and answer in this order, or as a header names them |
//! | comma-separated | `.csv` | as a header names them |
//! | JSON lines | `.jsonl`, `.ndjson` | an object per line, or a string that is the utterance |
//! | JSON | `.json` | an array of such objects, as in Spider, or JSON lines |
//! | text | any other | an utterance per line |
//!
//! The names of columns and keys are in [`NAMES`]. Columns and keys with other names are ignored.

use crate::{LineError, json_list};
use serde_json::Value;
use std::path::Path;

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordField {
    Utterance,
    Program,
    Answer,
    Split,
    Database,
}

/// The names of columns and keys, in upper or lower case.
const NAMES: [(&str, RecordField); 9] = [
    ("utterance", RecordField::Utterance),
    ("question", RecordField::Utterance),
    ("program", RecordField::Program),
    ("sql", RecordField::Program),
    ("query", RecordField::Program),
    ("answer", RecordField::Answer),
    ("denotation", RecordField::Answer),
    ("split", RecordField::Split),
    ("db_id", RecordField::Database),
];

/// The maximum bytes of a field. A file with a longer one is probably not a file of questions.
const LONGEST: usize = 1 << 20;

/// The fields of one question; `None` if they are missing or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) utterance: Option<String>,
    pub(crate) program: Option<String>,
    pub(crate) answer: Option<String>,
    pub(crate) split: Option<String>,
    pub(crate) database: Option<String>,
}

impl Record {
    fn set(&mut self, field: RecordField, text: &str) -> Result<(), LineError> {
        let text = text.trim();
        if text.len() > LONGEST {
            let message = format!("a field of {} bytes; at most {LONGEST} are read", text.len());
            return Err(LineError { line: self.line, message });
        }
        let value = match field {
            RecordField::Utterance => &mut self.utterance,
            RecordField::Program => &mut self.program,
            RecordField::Answer => &mut self.answer,
            RecordField::Split => &mut self.split,
            RecordField::Database => &mut self.database,
        };
        *value = Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(())
    }
}

/// The format of a file of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Tabs,
    Commas,
    Json,
    Lines,
}

impl FileFormat {
    /// Returns the format of a file with this name and content.
    pub(crate) fn of(path: &Path, text: &str) -> FileFormat {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "tsv" | "tab" => FileFormat::Tabs,
            "csv" => FileFormat::Commas,
            "json" | "jsonl" | "ndjson" => FileFormat::Json,
            _ if text.trim_start().starts_with(['{', '[']) => FileFormat::Json,
            _ if text.lines().any(|line| line.contains('\t')) => FileFormat::Tabs,
            _ => FileFormat::Lines,
        }
    }
}

/// Reads the records of a text.
///
/// # Errors
/// If a line does not have the format.
pub(crate) fn read(text: &str, format: FileFormat) -> Result<Vec<Record>, LineError> {
    match format {
        FileFormat::Tabs => read_tabs(text),
        FileFormat::Commas => read_commas(text),
        FileFormat::Json => read_json(text),
        FileFormat::Lines => read_lines(text),
    }
}

fn read_lines(text: &str) -> Result<Vec<Record>, LineError> {
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut record = Record { line: index + 1, ..Record::default() };
        record.set(RecordField::Utterance, line)?;
        records.push(record);
    }
    Ok(records)
}

fn read_tabs(text: &str) -> Result<Vec<Record>, LineError> {
    let mut columns =
        vec![Some(RecordField::Utterance), Some(RecordField::Program), Some(RecordField::Answer)];
    // Without a header, the last columns may be missing. With one, a line has as many columns as the header.
    let mut fewest = 1;
    let mut records = Vec::new();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (position, (index, line)) in lines.enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        if position == 0 && is_header(&fields) {
            columns = header(index + 1, fields.into_iter())?;
            fewest = columns.len();
            continue;
        }
        if !(fewest..=columns.len()).contains(&fields.len()) {
            let message = match fewest {
                1 => format!(
                    "{} columns; expected an utterance, a program and perhaps an answer, separated by tabs, or a first \
                     line with the names of the columns",
                    fields.len()
                ),
                _ => format!("{} columns, but the first line has {fewest}", fields.len()),
            };
            return Err(LineError { line: index + 1, message });
        }
        records.push(record(index + 1, &columns, fields.into_iter())?);
    }
    Ok(records)
}

fn read_commas(text: &str) -> Result<Vec<Record>, LineError> {
    // Spreadsheets write semicolons in countries where numbers have a decimal comma.
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let has_names = |delimiter: char| first.split(delimiter).any(|name| field_called(name).is_some());
    let delimiter = [',', ';', '\t'].into_iter().find(|&delimiter| has_names(delimiter)).unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter as u8).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| csv_error(&error))?;
    if names.is_empty() {
        return Ok(vec![]);
    }
    let columns = header(1, names.iter())?;
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| csv_error(&error))?;
        let line = row.position().map_or(1, |position| position.line() as usize);
        records.push(record(line, &columns, row.iter())?);
    }
    Ok(records)
}

fn csv_error(error: &csv::Error) -> LineError {
    let line = error.position().map_or(1, |position| position.line() as usize);
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "{len} columns, but the first line has {expected_len}; put fields that contain commas or line ends into \
             double quotes"
        ),
        _ => error.to_string(),
    };
    LineError { line, message }
}

fn read_json(text: &str) -> Result<Vec<Record>, LineError> {
    let mut records = Vec::new();
    for (line, value) in json_list::read(text)? {
        let object = match value {
            Value::Object(object) => object,
            Value::String(utterance) => {
                let mut record = Record { line, ..Record::default() };
                record.set(RecordField::Utterance, &utterance)?;
                records.push(record);
                continue;
            }
            _ => {
                let message = "expected an object with the key `utterance` or `question`".to_owned();
                return Err(LineError { line, message });
            }
        };
        // Objects are ignored: Spider has the text of a query in `query`, and its syntax tree in `sql`.
        let fields = || object.iter().filter(|(_, value)| !value.is_object());
        let columns = fields_called(line, fields().map(|(key, _)| key.as_str()))?;
        let texts: Vec<String> = fields()
            .map(|(_, value)| match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        records.push(record(line, &columns, texts.iter().map(String::as_str))?);
    }
    Ok(records)
}

/// Returns the record with these texts, whose fields are those of the columns.
fn record<'a>(
    line: usize,
    columns: &[Option<RecordField>],
    texts: impl Iterator<Item = &'a str>,
) -> Result<Record, LineError> {
    let mut record = Record { line, ..Record::default() };
    for (field, text) in columns.iter().zip(texts) {
        if let Some(field) = field {
            record.set(*field, text)?;
        }
    }
    Ok(record)
}

/// Returns whether the first line of a file names its columns: all of its fields are names.
pub(crate) fn is_header(fields: &[&str]) -> bool {
    fields.iter().all(|name| field_called(name).is_some())
}

/// Returns the fields that a header names. It must name the utterance.
fn header<'a>(
    line: usize,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<RecordField>>, LineError> {
    let names: Vec<&str> = names.collect();
    let columns = fields_called(line, names.iter().copied())?;
    if columns.contains(&Some(RecordField::Utterance)) {
        return Ok(columns);
    }
    // A file that is no table may have anything in its first line.
    let quoted = |name: &&str| format!("`{}`", name.trim().chars().take(QUOTED_LETTERS).collect::<String>());
    let mut quoted: Vec<String> = names.iter().take(QUOTED_NAMES).map(quoted).collect();
    if names.len() > QUOTED_NAMES {
        quoted.push(format!("and {} more", names.len() - QUOTED_NAMES));
    }
    let message = format!(
        "no column is called `utterance` or `question` (the first line has {}); name the columns there",
        quoted.join(", ")
    );
    Err(LineError { line, message })
}

/// The most names of columns that an error quotes, and the most letters of each.
const QUOTED_NAMES: usize = 8;
const QUOTED_LETTERS: usize = 40;

/// Returns the field of each name; `None` for unknown names. It is an error if two names have the same field.
fn fields_called<'a>(
    line: usize,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<RecordField>>, LineError> {
    let mut found: Vec<(RecordField, &str)> = Vec::new();
    let mut columns = Vec::new();
    for name in names {
        let field = field_called(name);
        if let Some(field) = field {
            if let Some((_, other)) = found.iter().find(|(known, _)| *known == field) {
                let message = format!("`{other}` and `{}` mean the same; rename one of them", name.trim());
                return Err(LineError { line, message });
            }
            found.push((field, name.trim()));
        }
        columns.push(field);
    }
    Ok(columns)
}

/// Returns the field that a column or key with this name has.
fn field_called(name: &str) -> Option<RecordField> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim())).map(|&(_, field)| field)
}
