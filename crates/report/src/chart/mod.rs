//! Line charts as SVG, in a page or alone. Colours are variables of a style sheet, so that charts follow light and dark mode.

use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The title, which names the vertical axis.
    pub title: &'static str,
    /// The name of the horizontal axis.
    pub x_label: &'static str,
    /// The lines.
    pub lines: Vec<ChartLine>,
    /// The scale of the horizontal axis.
    pub x_scale: AxisScale,
    /// The scale of the vertical axis.
    pub y_scale: AxisScale,
    /// Whether the line on which both axes are equal is drawn.
    pub has_diagonal: bool,
    /// Whether points are marked.
    pub has_dots: bool,
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct ChartLine {
    /// The text at the end of the line.
    pub label: String,
    /// The number of the colour in the style sheet, from 0 to 7.
    pub colour: usize,
    /// The number of the dash pattern, from 0 (none) to 4.
    pub dash: usize,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default)]
pub enum AxisScale {
    /// From the least to the greatest value.
    #[default]
    Fitted,
    /// From one number to another.
    Fixed(f64, f64),
    /// As `Fitted`, where values are decimal logarithms. Supported by the vertical axis.
    PowersOfTen,
}

/// The dash patterns of lines.
pub(crate) const DASHES: [&str; 5] = ["none", "6 3", "2 3", "8 3 2 3", "12 4"];

/// The most series that are labeled at their ends.
pub(crate) const MOST_LABELS: usize = 8;

/// The style sheet of charts.
pub(crate) const STYLE: &str = include_str!("style.css");

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 250.0;
const VIEW_BOX: &str = "0 0 400 250";
/// The same with a margin, for a chart that is not in a page.
const VIEW_BOX_ALONE: &str = "-12 -6 424 264";
const LEFT: f64 = 40.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 38.0;
/// The height of a label.
const LABEL_HEIGHT: f64 = 14.0;

impl Chart {
    /// Draws the chart for a page with the style sheet. Returns nothing if no line has points.
    pub(crate) fn draw(&self) -> Option<Markup> {
        let (content, description) = self.content()?;
        Some(html! {
            svg.chart viewBox=(VIEW_BOX) role="img" aria-label=(description) { (content) }
        })
    }

    /// Returns the chart as an SVG file, or nothing if no line has points.
    pub fn to_svg(&self) -> Option<String> {
        let (content, description) = self.content()?;
        let svg = html! {
            svg.chart
                xmlns="http://www.w3.org/2000/svg"
                viewBox=(VIEW_BOX_ALONE)
                role="img"
                aria-label=(description)
                font-family="system-ui, sans-serif"
            {
                style { (PreEscaped(STYLE)) }
                rect x="-12" y="-6" width="100%" height="100%" fill="var(--ground)" {}
                (content)
            }
        };
        Some(svg.into_string())
    }

    /// Draws what is in the chart. Returns it with a description, or nothing if no line has points.
    fn content(&self) -> Option<(Markup, String)> {
        let series: Vec<&ChartLine> = self.lines.iter().filter(|series| !series.points.is_empty()).collect();
        if series.is_empty() {
            return None;
        }
        let labels: Vec<&str> = series.iter().map(|series| series.label.as_str()).collect();
        let has_labels = series.len() <= MOST_LABELS;
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let right = if has_labels { WIDTH - 10.0 - (6.4 * longest as f64).min(130.0) } else { WIDTH - 12.0 };
        let plot = Plot { x: self.x_axis(&series, right), y: self.y_axis(&series), right };
        let content = html! {
            text.title x="0" y="14" { (self.title) }
            (plot.grid())
            (plot.x_ticks(self.x_label))
            @if self.has_diagonal { (plot.diagonal()) }
            @for series in &series { (plot.line(series, self.has_dots)) }
            @if has_labels { (plot.labels(&series)) }
        };
        Some((content, format!("{} over {}: {}", self.title, self.x_label, labels.join(", "))))
    }

    /// Returns the horizontal axis, which ends where the values do: a line ends where training did.
    fn x_axis(&self, series: &[&ChartLine], right: f64) -> Axis {
        let (low, high) =
            self.x_scale.range(series.iter().flat_map(|series| &series.points).map(|point| point.0));
        let high = if high > low { high } else { low + 1.0 };
        let ticks = number_ticks(ticks((low, high), 4.0));
        let ticks = ticks.into_iter().filter(|(tick, _)| *tick >= low - 1e-9 && *tick <= high + 1e-9);
        Axis { low, high, from: LEFT, to: right, ticks: ticks.collect() }
    }

    /// Returns the vertical axis, which is rounded to ticks.
    fn y_axis(&self, series: &[&ChartLine]) -> Axis {
        let range = self.y_scale.range(series.iter().flat_map(|series| &series.points).map(|point| point.1));
        let ticks = match self.y_scale {
            AxisScale::PowersOfTen => {
                let (first, last) = (range.0.floor() as i32, range.1.ceil() as i32);
                let powers = (first..=last.max(first + 1)).map(f64::from);
                powers.map(|power| (power, 10f64.powf(power).to_string())).collect()
            }
            AxisScale::Fitted | AxisScale::Fixed(..) => number_ticks(ticks(range, 5.0)),
        };
        let (low, high) = (ticks[0].0, ticks[ticks.len() - 1].0);
        Axis { low, high, from: BOTTOM, to: TOP, ticks }
    }
}

impl AxisScale {
    fn range(self, values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        match self {
            AxisScale::Fixed(low, high) => (low, high),
            AxisScale::Fitted | AxisScale::PowersOfTen => {
                (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }
}

/// An axis: values from `low` to `high` are drawn between the coordinates `from` and `to`.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Values with their labels.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns the coordinate of a value.
    fn position(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        self.from + share * (self.to - self.from)
    }
}

/// The area between the axes of a chart.
struct Plot {
    x: Axis,
    y: Axis,
    /// The coordinate of the right end, where labels begin.
    right: f64,
}

impl Plot {
    /// Returns a point as SVG paths have it.
    fn point(&self, (x, y): (f64, f64)) -> String {
        format!("{:.1} {:.1}", self.x.position(x), self.y.position(y))
    }

    fn grid(&self) -> Markup {
        html! {
            @for (tick, label) in &self.y.ticks {
                @let y = self.y.position(*tick);
                path.grid d=(format_args!("M{LEFT} {y:.1}H{:.1}", self.right)) {}
                text.tick.end x=(coordinate(LEFT - 6.0)) y=(coordinate(y + 4.0)) { (label) }
            }
        }
    }

    fn x_ticks(&self, axis_label: &str) -> Markup {
        html! {
            @for (tick, label) in &self.x.ticks {
                text.tick.middle x=(coordinate(self.x.position(*tick))) y=(coordinate(BOTTOM + 16.0)) { (label) }
            }
            text.axis.middle x=(coordinate((LEFT + self.right) / 2.0)) y=(coordinate(HEIGHT - 5.0)) { (axis_label) }
        }
    }

    fn diagonal(&self) -> Markup {
        let (low, high) = (self.x.low.max(self.y.low), self.x.high.min(self.y.high));
        let path = format!("M{}L{}", self.point((low, low)), self.point((high, high)));
        html! { path.diagonal d=(path) {} }
    }

    fn line(&self, series: &ChartLine, has_dots: bool) -> Markup {
        let mut path = String::new();
        for (index, point) in series.points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{}", self.point(*point));
        }
        html! {
            path class={ "line c" (series.colour) } stroke-dasharray=(DASHES[series.dash]) d=(path) {
                title { (series.label) }
            }
            @if has_dots {
                @for (x, y) in &series.points {
                    circle
                        class={ "dot c" (series.colour) }
                        cx=(coordinate(self.x.position(*x)))
                        cy=(coordinate(self.y.position(*y)))
                        r="2.5" {}
                }
            }
        }
    }

    /// Returns the labels at the ends of the lines. A label that had to be moved is connected with its line.
    fn labels(&self, series: &[&ChartLine]) -> Markup {
        let end = |series: &&ChartLine| {
            let (x, y) = series.points[series.points.len() - 1];
            (self.x.position(x), self.y.position(y))
        };
        let ends: Vec<(f64, f64)> = series.iter().map(end).collect();
        let moved = spread(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), TOP, BOTTOM);
        let label_x = self.right + 8.0;
        html! {
            @for ((series, (x, y)), label_y) in series.iter().zip(ends).zip(moved) {
                @if (label_y - y).abs() > 3.0 {
                    path.leader d=(format_args!("M{:.1} {y:.1}L{:.1} {label_y:.1}", x + 1.0, label_x - 2.0)) {}
                }
                text class={ "label c" (series.colour) } x=(coordinate(label_x)) y=(coordinate(label_y + 4.0)) {
                    (series.label)
                }
            }
        }
    }
}

fn coordinate(value: f64) -> String {
    format!("{value:.1}")
}

/// Moves labels apart so that none overlap, within bounds if possible.
fn spread(positions: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|left, right| positions[*left].total_cmp(&positions[*right]));
    let mut moved = positions.to_vec();
    let mut free_from = top;
    for &index in &order {
        moved[index] = moved[index].max(free_from);
        free_from = moved[index] + LABEL_HEIGHT;
    }
    let mut free_to = bottom;
    for &index in order.iter().rev() {
        moved[index] = moved[index].min(free_to);
        free_to = moved[index] - LABEL_HEIGHT;
    }
    moved
}

/// Returns at least two round numbers that enclose a range, about `wanted` of them.
fn ticks((low, high): (f64, f64), wanted: f64) -> Vec<f64> {
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let rough = span / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 2.5, 5.0, 10.0].map(|size| size * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(power);
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil().max(first + 1.0);
    (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect()
}

/// Returns ticks with their labels, which have as many digits as the distance between ticks needs.
fn number_ticks(ticks: Vec<f64>) -> Vec<(f64, String)> {
    let step = ticks[1] - ticks[0];
    let digits = (0..4).find(|digits| {
        let scaled = step * 10f64.powi(*digits);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
    });
    let digits = digits.unwrap_or(4) as usize;
    let label = |tick: f64| (tick, format!("{tick:.digits$}").replace('-', "−"));
    ticks.into_iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_the_range() {
        for (range, expected) in [
            ((0.0, 1.0), vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            ((1.52, 2.1), vec!["1.4", "1.6", "1.8", "2.0", "2.2"]),
            ((0.0, 13.7), vec!["0", "5", "10", "15"]),
            ((-1.0, 1.0), vec!["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
            // The step of a range without extent comes from its value.
            ((3.0, 3.0), vec!["3", "4"]),
        ] {
            let ticks = number_ticks(ticks(range, 5.0));
            assert!(ticks[0].0 <= range.0 && ticks[ticks.len() - 1].0 >= range.1, "{ticks:?}");
            let labels: Vec<&str> = ticks.iter().map(|(_, label)| label.as_str()).collect();
            assert_eq!(labels, expected);
        }
    }

    #[test]
    fn labels_do_not_overlap() {
        let moved = spread(&[100.0, 101.0, 99.0, 210.0, 211.0], 34.0, 212.0);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= LABEL_HEIGHT - 1e-9), "{sorted:?}");
        assert!(sorted[4] <= 212.0 && moved[2] < moved[0] && moved[0] < moved[1]);
    }

    #[test]
    fn a_chart_is_drawn_only_if_it_has_points() {
        let line = |points| ChartLine { label: "<b>".to_owned(), colour: 0, dash: 0, points };
        let chart =
            |points| Chart { title: "loss", x_label: "step", lines: vec![line(points)], ..Chart::default() };
        assert!(chart(vec![]).draw().is_none());
        let drawn = chart(vec![(10.0, 1.0)]).draw().unwrap().into_string();
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        assert!(chart(vec![]).to_svg().is_none());
        let alone = chart(vec![(10.0, 1.0)]).to_svg().unwrap();
        assert!(
            alone.starts_with("<svg") && alone.contains(".chart text") && alone.contains("&lt;b&gt;"),
            "{alone}"
        );
    }
}
