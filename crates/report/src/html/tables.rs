//! Tables as HTML.

use crate::bootstrap::Interval;
use crate::tables::{self as text, TableCell, TextTable};
use crate::{Group, Report};
use maud::{Markup, html};

/// Returns a table with its notes.
pub(super) fn table(table: &TextTable) -> Markup {
    let row = |cells: Vec<Markup>| html! { tr { @for cell in &cells { (cell) } } };
    let rows: Vec<Markup> = rows(table).into_iter().map(row).collect();
    html! { (frame(&table.headings, table.text_columns, &rows)) (notes(&table.notes)) }
}

/// The most rows of a table that is not folded.
const MOST_ROWS: usize = 12;

/// Returns a table that is folded if it is long.
pub(super) fn folded(table: &TextTable) -> Markup {
    let whole = self::table(table);
    html! {
        @if table.rows.len() <= MOST_ROWS { (whole) }
        @else { details.panel { summary { "Table" } (whole) } }
    }
}

/// Returns a table with headings and rows. Its first `text_columns` are text, the others numbers.
fn frame(headings: &[String], text_columns: usize, rows: &[Markup]) -> Markup {
    html! {
        div.wide tabindex="0" {
            table {
                thead {
                    tr {
                        @for (column, heading) in headings.iter().enumerate() {
                            th.n[column >= text_columns] scope="col" { (heading) }
                        }
                    }
                }
                tbody { @for row in rows { (row) "\n" } }
            }
        }
    }
}

fn notes(notes: &[String]) -> Markup {
    html! { @for note in notes { p.note { (note) } } }
}

/// Returns the cells of the rows. The leading text cells that repeat those of the row above are hidden; the last text cell
/// is always visible.
fn rows(table: &TextTable) -> Vec<Vec<Markup>> {
    let mut above: &[TableCell] = &[];
    let mut rows = Vec::with_capacity(table.rows.len());
    for cells in &table.rows {
        let mut is_repeated = true;
        let cell = |(column, cell): (usize, &TableCell)| {
            is_repeated &= column + 1 < table.text_columns && above.get(column) == Some(cell);
            let content = html! {
                (cell.text) @if let Some(detail) = &cell.detail { small.below { (detail) } }
            };
            let content = html! { @if is_repeated { span.again { (content) } } @else { (content) } };
            match column {
                0 => html! { th scope="row" { (content) } },
                _ => html! { td.n[column >= table.text_columns] { (content) } },
            }
        };
        rows.push(cells.iter().enumerate().map(cell).collect());
        above = cells;
    }
    rows
}

/// Returns the table of accuracies, in which the intervals are drawn.
pub(super) fn accuracies<'a>(report: &'a Report) -> Markup {
    let table = text::accuracies(report);
    let intervals: Vec<Interval> =
        report.groups.iter().filter_map(|group| group.over_lower_bound).map(|gain| gain.interval).collect();
    if intervals.is_empty() {
        return self::table(&table);
    }
    let scale = IntervalScale::of(&intervals);
    // After accuracy, gain and interval.
    let drawn_column = table.text_columns + 3;
    let mut headings = table.headings.clone();
    headings.insert(drawn_column, String::new());
    let mut above: Option<&Group> = None;
    let row = |(mut cells, group): (Vec<Markup>, &'a Group)| {
        let interval = group.over_lower_bound.map(|gain| scale.draw(gain.interval));
        cells.insert(drawn_column, html! { td { @if let Some(interval) = interval { (interval) } } });
        let is_new = above.replace(group).is_some_and(|above| above.topic != group.topic);
        html! { tr.new[is_new] { @for cell in &cells { (cell) } } }
    };
    let rows: Vec<Markup> = rows(&table).into_iter().zip(&report.groups).map(row).collect();
    html! { (frame(&headings, table.text_columns, &rows)) (notes(&table.notes)) }
}

/// The horizontal scale on which intervals are drawn. It contains all of them, and zero.
struct IntervalScale {
    low: f64,
    high: f64,
}

impl IntervalScale {
    fn of(intervals: &[Interval]) -> IntervalScale {
        IntervalScale {
            low: intervals.iter().map(|interval| interval.low).fold(0.0, f64::min),
            high: intervals.iter().map(|interval| interval.high).fold(0.0, f64::max),
        }
    }

    fn x(&self, value: f64) -> f64 {
        6.0 + 128.0 * (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE)
    }

    fn draw(&self, interval: Interval) -> Markup {
        let [zero, low, high, middle] =
            [0.0, interval.low, interval.high, interval.difference].map(|value| self.x(value));
        html! {
            svg.forest viewBox="0 0 140 16" aria-hidden="true" {
                path.zero d=(format_args!("M{zero:.1} 0V16")) {}
                path.range d=(format_args!("M{low:.1} 8H{high:.1}")) {}
                circle cx=(format_args!("{middle:.1}")) cy="8" r="3.5" {}
            }
        }
    }
}

/// Returns a comparison with the paper. A row of the paper has several lines, and a rule above the first.
pub(super) fn comparison(table: &TextTable) -> Markup {
    let mut is_first = true;
    let row = |(cells, texts): (Vec<Markup>, &Vec<TableCell>)| {
        let is_new = !is_first && !texts[0].text.is_empty();
        is_first = false;
        html! { tr.new[is_new] { @for cell in &cells { (cell) } } }
    };
    let rows: Vec<Markup> = rows(table).into_iter().zip(&table.rows).map(row).collect();
    html! {
        h3 { (table.title) }
        (frame(&table.headings, table.text_columns, &rows))
        (notes(&table.notes))
    }
}
