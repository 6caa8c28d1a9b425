//! A report as Markdown.

use crate::Report;
use crate::tables::{self, Table};
use std::fmt::Write;

/// More groups than that, and their errors are better read as HTML.
const MOST_GROUPS: usize = 16;

pub(crate) fn write(report: &Report) -> String {
    let mut text = format!("# What the runs came to\n\n{}.\n", tables::subject(report));
    table(&mut text, &tables::results(report), 2);
    for comparison in &report.comparisons {
        table(&mut text, &tables::comparison(comparison), 2);
    }
    for found in [tables::training(report), tables::confidence(report)].into_iter().flatten() {
        table(&mut text, &found, 2);
    }
    let with_errors = report.groups.iter().filter(|group| group.errors.is_some());
    if with_errors.clone().count() <= MOST_GROUPS {
        for group in with_errors {
            let _ = write!(text, "\n## Where it goes wrong: {}\n", escaped(&tables::group_name(group)));
            for found in tables::errors(group) {
                table(&mut text, &found, 3);
            }
        }
    }
    if !report.absent.is_empty() {
        text.push_str("\n## Absent\n\n");
        for message in &report.absent {
            let _ = writeln!(text, "- {}", escaped(message));
        }
    }
    text
}

fn table(text: &mut String, table: &Table, level: usize) {
    let _ = write!(text, "\n{} {}\n\n", "#".repeat(level), escaped(&table.title));
    let _ = writeln!(text, "| {} |", table.headings.join(" | "));
    let ruler = (0..table.headings.len()).map(|column| if column < table.left { "---" } else { "---:" });
    let _ = writeln!(text, "| {} |", ruler.collect::<Vec<_>>().join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(&tables::on_one_line(cell))).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    for note in &table.notes {
        let _ = write!(text, "\n{}\n", escaped(note));
    }
}

/// What somebody else wrote, as the text it is.
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
