//! Files of questions, in any of the formats people have them in.
//!
//! Whatever the format, a file is a list of [`Record`]s: named fields and the line they come from. A format is recognised by the
//! file's extension, or by its content where the extension says nothing.
//!
//! | format | extension | fields |
//! |---|---|---|
//! | tab-separated | `.tsv`, `.tab` | utterance, program, answer, in this order; or a header that names them |
//! | comma-separated | `.csv` | a header names them |
//! | JSON lines | `.jsonl`, `.ndjson` | an object a line; a mere string is an utterance |
//! | JSON | `.json` | an array of such objects, as Spider has them, or JSON lines |
//! | text | anything else | an utterance a line |
//!
//! Columns and keys go by the names in [`NAMES`]; others are somebody's own business and passed over.

use crate::{LineError, json_list};
use serde_json::Value;
use std::path::Path;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Utterance,
    Program,
    Answer,
    Split,
    Database,
}

/// What columns and keys are called, upper or lower case alike.
const NAMES: [(&str, Field); 9] = [
    ("utterance", Field::Utterance),
    ("question", Field::Utterance),
    ("program", Field::Program),
    ("sql", Field::Program),
    ("query", Field::Program),
    ("answer", Field::Answer),
    ("denotation", Field::Answer),
    ("split", Field::Split),
    ("db_id", Field::Database),
];

/// Bytes of the longest field: a megabyte is a file that was taken for something else.
const LONGEST: usize = 1 << 20;

/// The fields of one question; empty ones are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) utterance: Option<String>,
    pub(crate) program: Option<String>,
    pub(crate) answer: Option<String>,
    pub(crate) split: Option<String>,
    pub(crate) database: Option<String>,
}

impl Record {
    fn set(&mut self, field: Field, text: &str) -> Result<(), LineError> {
        let text = text.trim();
        if text.len() > LONGEST {
            let message = format!("a field of {} bytes; the longest that is read has {LONGEST}", text.len());
            return Err(LineError { line: self.line, message });
        }
        let place = match field {
            Field::Utterance => &mut self.utterance,
            Field::Program => &mut self.program,
            Field::Answer => &mut self.answer,
            Field::Split => &mut self.split,
            Field::Database => &mut self.database,
        };
        *place = Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Tabs,
    Commas,
    Json,
    Lines,
}

impl Format {
    /// The format of a file with this name and content.
    pub(crate) fn of(path: &Path, text: &str) -> Format {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "tsv" | "tab" => Format::Tabs,
            "csv" => Format::Commas,
            "json" | "jsonl" | "ndjson" => Format::Json,
            _ if text.trim_start().starts_with(['{', '[']) => Format::Json,
            _ if text.lines().any(|line| line.contains('\t')) => Format::Tabs,
            _ => Format::Lines,
        }
    }
}

/// Reads the records of a text.
///
/// # Errors
/// If a line is not as the format has it.
pub(crate) fn read(text: &str, format: Format) -> Result<Vec<Record>, LineError> {
    match format {
        Format::Tabs => read_tabs(text),
        Format::Commas => read_commas(text),
        Format::Json => read_json(text),
        Format::Lines => read_lines(text),
    }
}

fn read_lines(text: &str) -> Result<Vec<Record>, LineError> {
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut record = Record { line: index + 1, ..Record::default() };
        record.set(Field::Utterance, line)?;
        records.push(record);
    }
    Ok(records)
}

fn read_tabs(text: &str) -> Result<Vec<Record>, LineError> {
    let mut columns = vec![Some(Field::Utterance), Some(Field::Program), Some(Field::Answer)];
    // Without a header the third column may be missing; with one, a line has as many as it.
    let mut fewest = 1;
    let mut records = Vec::new();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (place, (index, line)) in lines.enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        if place == 0 && fields.iter().all(|name| field_called(name).is_some()) {
            columns = header(index + 1, fields.into_iter())?;
            fewest = columns.len();
            continue;
        }
        if !(fewest..=columns.len()).contains(&fields.len()) {
            let message = match fewest {
                1 => format!(
                    "{} columns; expected an utterance, a program and perhaps an answer, tabs between, or a first line with \
                     the names of the columns",
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
    // Spreadsheets write semicolons where the comma is part of numbers.
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
                record.set(Field::Utterance, &utterance)?;
                records.push(record);
                continue;
            }
            _ => {
                let message = "expected an object with the key `utterance` or `question`".to_owned();
                return Err(LineError { line, message });
            }
        };
        // Trees are somebody's own business: Spider has the text of a query as `query` and its tree as `sql`.
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

fn record<'a>(
    line: usize,
    columns: &[Option<Field>],
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

/// The fields of a first line, which must name the utterances at least.
fn header<'a>(line: usize, names: impl Iterator<Item = &'a str>) -> Result<Vec<Option<Field>>, LineError> {
    let names: Vec<&str> = names.collect();
    let columns = fields_called(line, names.iter().copied())?;
    if columns.contains(&Some(Field::Utterance)) {
        return Ok(columns);
    }
    let message = format!(
        "no column is called `utterance` or `question` (the first line has {}); name the columns there",
        names.iter().map(|name| format!("`{}`", name.trim())).collect::<Vec<_>>().join(", ")
    );
    Err(LineError { line, message })
}

/// The fields that names stand for; two may not be the same.
fn fields_called<'a>(
    line: usize,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Option<Field>>, LineError> {
    let mut found: Vec<(Field, &str)> = Vec::new();
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

fn field_called(name: &str) -> Option<Field> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim())).map(|&(_, field)| field)
}
