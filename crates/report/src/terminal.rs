//! A report as text.

use crate::tables::{self, Table};
use crate::{Group, Report};
use std::fmt::Write;

/// More groups than that, and their errors are better read elsewhere.
const MOST_GROUPS: usize = 2;
/// Notes are wrapped.
const WIDTH: usize = 100;

pub(crate) fn write(report: &Report) -> String {
    let mut text = format!("{}\n", tables::subject(report));
    table(&mut text, &tables::results(report));
    for comparison in &report.comparisons {
        table(&mut text, &tables::comparison(comparison));
    }
    for found in [tables::training(report), tables::confidence(report)].into_iter().flatten() {
        table(&mut text, &found);
    }
    let with_errors: Vec<&Group> = report.groups.iter().filter(|group| group.errors.is_some()).collect();
    if with_errors.len() <= MOST_GROUPS {
        for group in with_errors {
            let _ = write!(text, "\nWhere it goes wrong: {}\n", tables::group_name(group));
            for found in tables::errors(group) {
                table(&mut text, &found);
            }
        }
    } else {
        text.push_str("\nWhere each goes wrong, question by question: --html FILE\n");
    }
    if !report.absent.is_empty() {
        text.push_str("\nAbsent\n");
        for message in &report.absent {
            let _ = writeln!(text, "  {}", printable(message));
        }
    }
    text
}

fn table(text: &mut String, table: &Table) {
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| printable(&tables::on_one_line(cell))).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([table.headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.headings.len()).map(width).collect();
    let headings: Vec<String> = table.headings.iter().map(|&heading| heading.to_owned()).collect();
    let _ = write!(text, "\n{}\n", table.title);
    for row in std::iter::once(&headings).chain(&rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match column < table.left {
                true => write!(line, "  {cell:width$}"),
                false => write!(line, "  {cell:>width$}"),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for note in &table.notes {
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
}

/// What somebody else wrote, without what would move a cursor.
fn printable(text: &str) -> String {
    text.replace(char::is_control, "�")
}
