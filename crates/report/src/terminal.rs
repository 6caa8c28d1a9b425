//! A report as text for a terminal.

use crate::Report;
use crate::tables::{self, TextTable};
use std::fmt::Write;

/// The most groups whose errors are written.
const MOST_GROUPS: usize = 2;
/// The width to which notes are wrapped.
const WIDTH: usize = 100;

pub(crate) fn write(report: &Report) -> String {
    let mut text = format!("{}\n", tables::summary(report));
    write_table(&mut text, &tables::accuracies(report));
    for table in tables::after_accuracies(report) {
        write_table(&mut text, &table);
    }
    let analysed: Vec<_> =
        report.groups.iter().filter_map(|group| Some((group, group.errors.as_ref()?))).collect();
    if analysed.len() <= MOST_GROUPS {
        for (group, errors) in analysed {
            let _ = write!(text, "\nErrors: {}\n", printable(&tables::group_name(group)));
            for table in tables::errors(errors) {
                write_table(&mut text, &table);
            }
        }
    } else {
        text.push_str("\nErrors of each group, question by question: --html FILE\n");
    }
    if !report.absent.is_empty() {
        text.push_str("\nMissing or unreadable\n");
        for message in &report.absent {
            let _ = writeln!(text, "  {}", printable(message));
        }
    }
    text
}

/// Returns tables as text.
pub(crate) fn write_tables(tables: &[TextTable]) -> String {
    let mut text = String::new();
    for table in tables {
        write_table(&mut text, table);
    }
    text.trim_start().to_owned()
}

fn write_table(text: &mut String, table: &TextTable) {
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| printable(&cell.on_one_line())).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([table.headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.headings.len()).map(width).collect();
    let headings: Vec<String> = table.headings.iter().map(|heading| printable(heading)).collect();
    let _ = write!(text, "\n{}\n", table.title);
    for row in std::iter::once(&headings).chain(&rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column < table.text_columns {
                true => write!(line, "  {cell:width$}"),
                false => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for note in &table.notes {
        write_wrapped(text, note);
    }
}

/// Writes indented lines of at most [`WIDTH`] characters.
fn write_wrapped(text: &mut String, note: &str) {
    let mut line = String::new();
    for word in note.split(' ') {
        if line.chars().count() + word.chars().count() >= WIDTH {
            let _ = writeln!(text, "  {}", line.trim_end());
            line.clear();
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(text, "  {}", line.trim_end());
}

/// Replaces control characters, with which a text could move the cursor.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "�")
}
