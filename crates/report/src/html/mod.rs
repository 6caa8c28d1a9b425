//! A report as one HTML page: no script is needed to read it, no font, no network.
//!
//! Everything that comes from a run goes through [`escaped`].

mod wrong_answers;

use crate::bootstrap::Interval;
use crate::comparison::GEOQUERY;
use crate::figures::{Panel, panels};
use crate::svg::{Chart, DASHES, draw};
use crate::tables::{self, NOTHING, Table};
use crate::{Comparison, ComparisonCell, Group, Report};
use std::fmt::Write;

/// Text that cannot be taken for markup, in an element or in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

pub(crate) fn write(report: &Report) -> String {
    let mut page = String::with_capacity(1 << 20);
    page.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>xpr report</title>\n<style>\n",
    );
    page.push_str(include_str!("page.css"));
    page.push_str("</style>\n</head>\n<body>\n");
    let panels = panels(report);
    let training = tables::training(report);
    let confidence = tables::confidence(report);
    let has_errors = report.groups.iter().any(|group| group.errors.is_some());
    let sections = [
        ("paper", "Beside the paper", !report.comparisons.is_empty()),
        ("accuracy", "Accuracy", true),
        ("training", "Training", report.groups.iter().any(|group| !group.curves.loss.is_empty())),
        ("confidence", "Confidence", confidence.is_some()),
        ("errors", "Errors", has_errors),
        ("absent", "Absent", !report.absent.is_empty()),
    ];
    let _ = write!(
        page,
        "<header>\n<p class=\"brand\">xpr report</p>\n<h1>What the runs came to</h1>\n<p class=\"subject\">{}</p>\n<nav>",
        escaped(&tables::subject(report))
    );
    for (id, title, _) in sections.iter().filter(|(_, _, is_there)| *is_there) {
        let _ = write!(page, "<a href=\"#{id}\">{title}</a>");
    }
    page.push_str("</nav>\n</header>\n<main>\n");
    for (id, title, _) in sections.iter().filter(|(_, _, is_there)| *is_there) {
        let _ = write!(page, "<section id=\"{id}\">\n<h2>{title}</h2>\n");
        match *id {
            "accuracy" => results(&mut page, report),
            "paper" => report.comparisons.iter().for_each(|table| comparison(&mut page, table)),
            "training" => {
                if let Some(table) = &training {
                    folded_table(&mut page, table);
                }
                figures(&mut page, &panels, Panel::training);
                let window = report.groups.iter().map(|group| group.curves.window).max().unwrap_or(0);
                let _ = writeln!(
                    page,
                    "<p class=\"note\">Lines are means over the runs of a group and over a sliding window of {window} steps.</p>"
                );
            }
            "confidence" => {
                if let Some(table) = &confidence {
                    folded_table(&mut page, table);
                }
                figures(&mut page, &panels, Panel::confidence);
            }
            "errors" => wrong_answers::errors(&mut page, report),
            _ => {
                page.push_str("<ul class=\"absent\">\n");
                for message in &report.absent {
                    let _ = writeln!(page, "<li>{}</li>", escaped(message));
                }
                page.push_str("</ul>\n");
            }
        }
        page.push_str("</section>\n");
    }
    page.push_str("</main>\n<script>\n");
    page.push_str(include_str!("page.js"));
    page.push_str("</script>\n</body>\n</html>\n");
    page
}

fn notes(page: &mut String, notes: &[String]) {
    for note in notes {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escaped(note));
    }
}

fn head(page: &mut String, headings: &[&str], left: usize) {
    page.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
    for (column, heading) in headings.iter().enumerate() {
        let class = if column < left { "" } else { " class=\"n\"" };
        let _ = write!(page, "<th scope=\"col\"{class}>{}</th>", escaped(heading));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
}

/// A row of cells. Words of the first columns that are those of the row before step back.
fn row(page: &mut String, cells: &[String], left: usize, before: Option<&[String]>) {
    let mut goes_on = true;
    for (column, cell) in cells.iter().enumerate() {
        let text = match cell.split_once(tables::BELOW) {
            Some((above, below)) => {
                format!("{}<small class=\"below\">{}</small>", escaped(above), escaped(below))
            }
            None => escaped(cell),
        };
        goes_on &= column + 1 < left && before.and_then(|before| before.get(column)) == Some(cell);
        let text = if goes_on { format!("<span class=\"again\">{text}</span>") } else { text };
        let _ = match column {
            0 => write!(page, "<th scope=\"row\">{text}</th>"),
            column if column < left => write!(page, "<td>{text}</td>"),
            _ => write!(page, "<td class=\"n\">{text}</td>"),
        };
    }
}

fn plain_table(page: &mut String, table: &Table) {
    head(page, &table.headings, table.left);
    let mut before = None;
    for cells in &table.rows {
        page.push_str("<tr>");
        row(page, cells, table.left, before);
        page.push_str("</tr>\n");
        before = Some(cells.as_slice());
    }
    page.push_str("</tbody></table></div>\n");
    notes(page, &table.notes);
}

/// Longer tables are folded.
const LONG: usize = 12;

fn folded_table(page: &mut String, table: &Table) {
    if table.rows.len() <= LONG {
        return plain_table(page, table);
    }
    page.push_str("<details class=\"panel\"><summary>In numbers</summary>\n");
    plain_table(page, table);
    page.push_str("</details>\n");
}

/// The table of groups, with the intervals drawn.
fn results(page: &mut String, report: &Report) {
    let mut table = tables::results(report);
    let intervals =
        || report.groups.iter().filter_map(|group| group.over_labels_only).map(|over| over.interval);
    let scale = Scale {
        low: intervals().map(|interval| interval.low).fold(0.0, f64::min),
        high: intervals().map(|interval| interval.high).fold(0.0, f64::max),
    };
    let has_differences = intervals().next().is_some();
    // After the interval in words, the third of the columns on the right.
    let drawn_at = table.left + 3;
    if has_differences {
        table.headings.insert(drawn_at, "");
    }
    head(page, &table.headings, table.left);
    let mut before: Option<(&[String], &Group)> = None;
    for (cells, group) in table.rows.iter().zip(&report.groups) {
        // A line where another topic begins, if some have several rows.
        let is_new = has_differences && before.is_some_and(|(_, before)| before.topic != group.topic);
        page.push_str(if is_new { "<tr class=\"new\">" } else { "<tr>" });
        let above = before.map(|(cells, _)| cells);
        if has_differences {
            row(page, &cells[..drawn_at], table.left, above);
            let drawn = group.over_labels_only.map(|over| scale.draw(over.interval));
            let _ = write!(page, "<td>{}</td>", drawn.unwrap_or_default());
            for cell in &cells[drawn_at..] {
                let _ = write!(page, "<td class=\"n\">{}</td>", escaped(cell));
            }
        } else {
            row(page, cells, table.left, above);
        }
        page.push_str("</tr>\n");
        before = Some((cells, group));
    }
    page.push_str("</tbody></table></div>\n");
    notes(page, &table.notes);
}

/// Where intervals are drawn: all of them, and zero.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn draw(&self, interval: Interval) -> String {
        let x = |value: f64| 6.0 + 128.0 * (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        format!(
            "<svg class=\"forest\" viewBox=\"0 0 140 16\" aria-hidden=\"true\"><path class=\"zero\" d=\"M{:.1} 0V16\"/>\
             <path class=\"range\" d=\"M{:.1} 8H{:.1}\"/><circle cx=\"{:.1}\" cy=\"8\" r=\"3.5\"/></svg>",
            x(0.0),
            x(interval.low),
            x(interval.high),
            x(interval.difference)
        )
    }
}

/// A table of the paper: in each cell ours, and theirs below it.
fn comparison(page: &mut String, comparison: &Comparison) {
    let _ = writeln!(page, "<h3>{}</h3>", escaped(&tables::labels_of(comparison)));
    let has_average = comparison.rows.iter().any(|row| row.average.is_some());
    let domains = comparison.columns.iter().filter(|column| **column != GEOQUERY).count();
    let mut headings = vec![""];
    headings.extend(&comparison.columns);
    if has_average {
        headings.insert(1 + domains, "average");
    }
    let has_gain = comparison.has_gain();
    if has_gain {
        headings.push("over lower bound");
    }
    head(page, &headings, 1);
    for row in &comparison.rows {
        let _ = write!(page, "<tr><th scope=\"row\">{}", escaped(&row.method));
        if !row.settings.is_empty() {
            let _ = write!(page, "<small>{}</small>", escaped(&row.settings));
        }
        page.push_str("</th>");
        for (column, cell) in row.cells.iter().enumerate() {
            if has_average && column == domains {
                comparison_cell(page, row.average.as_ref());
            }
            comparison_cell(page, cell.as_ref());
        }
        if has_average && row.cells.len() == domains {
            comparison_cell(page, row.average.as_ref());
        }
        if has_gain {
            let gain = row.gain().map_or_else(String::new, |gain| {
                let range = tables::interval(gain.low, gain.high);
                format!("<b>{}</b><small>{range}</small>", tables::signed(gain.difference))
            });
            let _ = write!(page, "<td class=\"n\">{gain}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n<p class=\"note\">Ours (± standard deviation over runs); below it the paper’s, and ours less theirs.</p>\n");
    notes(page, &comparison.notes);
}

fn comparison_cell(page: &mut String, cell: Option<&ComparisonCell>) {
    let Some(cell) = cell else {
        let _ = write!(page, "<td class=\"n none\">{NOTHING}</td>");
        return;
    };
    let _ = write!(page, "<td class=\"n\"><b>{:.1}</b>", cell.ours.mean);
    if let Some(deviation) = cell.ours.deviation {
        let _ = write!(page, "<i> ±{deviation:.1}</i>");
    }
    if let (Some(paper), Some(difference)) = (cell.paper, cell.difference) {
        let class = if difference > 0.05 {
            "up"
        } else if difference < -0.05 {
            "down"
        } else {
            "same"
        };
        let _ = write!(
            page,
            "<small>{paper:.1} <span class=\"{class}\">{}</span></small>",
            tables::signed(difference)
        );
    }
    page.push_str("</td>");
}

/// The charts of every panel; that with most lines is open.
fn figures<'a>(page: &mut String, panels: &[Panel<'a>], charts: impl Fn(&Panel<'a>) -> Vec<Chart>) {
    let fullest = panels.iter().map(|panel| panel.members.len()).max();
    let to_open = panels.iter().position(|panel| Some(panel.members.len()) == fullest);
    for (index, panel) in panels.iter().enumerate() {
        let drawn: Vec<String> = charts(panel).iter().filter_map(draw).collect();
        if drawn.is_empty() {
            continue;
        }
        let open = if to_open == Some(index) { " open" } else { "" };
        let _ = writeln!(page, "<details class=\"panel\"{open}><summary>{}</summary>", escaped(&panel.title));
        if panel.needs_legend() {
            page.push_str("<ul class=\"legend\">");
            for member in &panel.members {
                let _ = write!(
                    page,
                    "<li><svg viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"line c{}\" stroke-dasharray=\"{}\" d=\"M0 4H28\"/></svg>{} <small>{}</small></li>",
                    member.colour,
                    DASHES[member.dash % DASHES.len()],
                    escaped(&member.label),
                    escaped(&member.group.variant())
                );
            }
            page.push_str("</ul>\n");
        }
        page.push_str("<div class=\"charts\">\n");
        for chart in drawn {
            let _ = writeln!(page, "<figure>{chart}</figure>");
        }
        page.push_str("</div>\n</details>\n");
    }
}
