//! A report as Markdown.

use crate::Report;
use crate::tables::{self, TextTable};
use std::fmt::Write;

/// The most groups whose errors are written.
const MOST_GROUPS: usize = 16;

pub(crate) fn write(report: &Report) -> String {
    let mut text = format!("# Results\n\n{}.\n", tables::summary(report));
    write_table(&mut text, &tables::accuracies(report), 2);
    for table in tables::after_accuracies(report) {
        write_table(&mut text, &table, 2);
    }
    let analysed = report.groups.iter().filter_map(|group| Some((group, group.errors.as_ref()?)));
    if analysed.clone().count() <= MOST_GROUPS {
        for (group, errors) in analysed {
            let _ = write!(text, "\n## Errors: {}\n", escaped(&tables::group_name(group)));
            for table in tables::errors(errors) {
                write_table(&mut text, &table, 3);
            }
        }
    }
    if !report.absent.is_empty() {
        text.push_str("\n## Missing or unreadable\n\n");
        for message in &report.absent {
            let _ = writeln!(text, "- {}", escaped(message));
        }
    }
    text
}

/// Writes a table below a heading of a level.
fn write_table(text: &mut String, table: &TextTable, level: usize) {
    let _ = write!(text, "\n{} {}\n\n", "#".repeat(level), escaped(&table.title));
    let headings: Vec<String> = table.headings.iter().map(|heading| escaped(heading)).collect();
    let _ = writeln!(text, "| {} |", headings.join(" | "));
    let alignment = |column| if column < table.text_columns { "---" } else { "---:" };
    let ruler: Vec<&str> = (0..table.headings.len()).map(alignment).collect();
    let _ = writeln!(text, "| {} |", ruler.join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(&cell.on_one_line())).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    for note in &table.notes {
        let _ = write!(text, "\n{}\n", escaped(note));
    }
}

/// Returns text in which nothing is Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => safe.extend(['\\', c]),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
