//! Entries as text: lines of tab-separated values, and lines of JSON.

use crate::{Date, Entry};
use std::io::{self, Write};

/// The names of the columns of exported lines.
const COLUMNS: [&str; 12] = [
    "id",
    "time",
    "question",
    "program",
    "outcome",
    "confidence",
    "unsure",
    "declined",
    "parser",
    "milliseconds",
    "verdict",
    "corrected",
];

/// Writes the names of the columns of [`write_tsv_line`].
///
/// # Errors
/// If writing fails.
pub fn write_tsv_header(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join("\t"))
}

/// Writes an entry as tab-separated values. Tabs and line ends in a text become spaces. An apostrophe is put before a text that a
/// spreadsheet would take for a formula, as anybody who can ask could write one. Of several feedbacks, the last is written.
///
/// # Errors
/// If writing fails.
pub fn write_tsv_line(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    let feedback = entry.last_feedback();
    let text = |text: Option<&str>| {
        let text = text.unwrap_or_default().replace(['\t', '\n', '\r'], " ");
        match text.trim_start().starts_with(['=', '+', '-', '@']) {
            true => format!("'{text}"),
            false => text,
        }
    };
    let asked = &entry.asked;
    let fields = [
        entry.id.to_string(),
        Date { millis: asked.time }.to_string(),
        text(Some(&asked.question)),
        text(asked.program.as_deref()),
        text(asked.outcome.as_deref()),
        asked.confidence.map_or_else(String::new, |confidence| format!("{confidence:.4}")),
        asked.unsure.to_string(),
        text(asked.declined.as_deref()),
        text(Some(&asked.parser)),
        format!("{:.3}", asked.micros as f64 / 1000.0),
        text(feedback.map(|feedback| feedback.verdict.name())),
        text(feedback.and_then(|feedback| feedback.program.as_deref())),
    ];
    writeln!(out, "{}", fields.join("\t"))
}

/// Writes an entry as JSON on one line, with all of its feedback.
///
/// # Errors
/// If writing fails.
pub fn write_json_line(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    serde_json::to_writer(&mut *out, entry)?;
    writeln!(out)
}
