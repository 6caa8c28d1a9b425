//! Line charts as inline SVG: sharp at any size, coloured by the page's own variables, so that they follow light and dark.

use crate::html::escaped;
use std::fmt::Write;

/// A chart.
pub(crate) struct Chart {
    /// What it shows: the vertical axis' name.
    pub(crate) title: String,
    /// The horizontal axis' name.
    pub(crate) x_label: &'static str,
    /// The lines, and their places in the palette.
    pub(crate) lines: Vec<Line>,
    /// The axes, where they are not to be found from the lines.
    pub(crate) x_range: Option<(f64, f64)>,
    pub(crate) y_range: Option<(f64, f64)>,
    /// Whether vertical places are powers of ten.
    pub(crate) is_logarithmic: bool,
    /// Whether there is a line from corner to corner, where both axes are the same.
    pub(crate) has_diagonal: bool,
    /// Whether points are marked: where they are few.
    pub(crate) has_dots: bool,
}

/// A line of a chart.
#[derive(Clone)]
pub(crate) struct Line {
    /// What stands at its end.
    pub(crate) label: String,
    /// Its colour.
    pub(crate) colour: usize,
    /// Which of several of its colour it is: they are dashed differently.
    pub(crate) dash: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Ways to dash a line.
pub(crate) const DASHES: [&str; 5] = ["none", "6 3", "2 3", "8 3 2 3", "12 4"];

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 38.0;
/// More lines than that cannot be labeled at their ends.
const MOST_LABELS: usize = 8;
/// The height of a label.
const LABEL: f64 = 14.0;

/// Draws a chart; nothing if no line has points.
pub(crate) fn draw(chart: &Chart) -> Option<String> {
    let lines: Vec<&Line> = chart.lines.iter().filter(|line| !line.points.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let range = |given: Option<(f64, f64)>, value: fn(&(f64, f64)) -> f64| {
        given.unwrap_or_else(|| {
            let values = || lines.iter().flat_map(|line| line.points.iter().map(value));
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        })
    };
    let (x_low, x_high) = range(chart.x_range, |point| point.0);
    let x_ends = (x_low, if x_high > x_low { x_high } else { x_low + 1.0 });
    // Steps are not rounded up: a line ends where training did.
    let within = |tick: &f64| *tick >= x_ends.0 - 1e-9 && *tick <= x_ends.1 + 1e-9;
    let all_x_ticks = ticks(x_ends, 4.0);
    let x_ticks: Vec<f64> = all_x_ticks.iter().copied().filter(within).collect();
    let y_range = range(chart.y_range, |point| point.1);
    let y_ticks = if chart.is_logarithmic {
        let (first, last) = (y_range.0.floor() as i32, y_range.1.ceil() as i32);
        (first..=last.max(first + 1)).map(f64::from).collect()
    } else {
        ticks(y_range, 5.0)
    };
    let has_labels = lines.len() <= MOST_LABELS;
    let longest = lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
    let right = if has_labels { WIDTH - 10.0 - (6.4 * longest as f64).min(130.0) } else { WIDTH - 12.0 };
    let y_ends = (y_ticks[0], y_ticks[y_ticks.len() - 1]);
    let place = |value: f64, (low, high): (f64, f64), from: f64, to: f64| {
        from + (value - low) / (high - low).max(f64::MIN_POSITIVE) * (to - from)
    };
    let x = |value: f64| place(value, x_ends, LEFT, right);
    let y = |value: f64| place(value, y_ends, HEIGHT - BOTTOM, TOP);

    let mut svg = String::new();
    let named = lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>().join(", ");
    let _ = write!(
        svg,
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} over {}: {}\">",
        escaped(&chart.title),
        escaped(chart.x_label),
        escaped(&named)
    );
    let _ = write!(svg, "<text class=\"title\" x=\"0\" y=\"14\">{}</text>", escaped(&chart.title));
    for tick in &y_ticks {
        let text = match chart.is_logarithmic {
            true => format!("{}", 10f64.powf(*tick)),
            false => number(*tick, &y_ticks),
        };
        let at = y(*tick);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right:.1}\"/>\
             <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    for tick in &x_ticks {
        let (at, text) = (x(*tick), number(*tick, &all_x_ticks));
        let _ = write!(
            svg,
            "<text class=\"tick middle\" x=\"{at:.1}\" y=\"{:.1}\">{text}</text>",
            HEIGHT - BOTTOM + 16.0
        );
    }
    let _ = write!(
        svg,
        "<text class=\"axis middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        (LEFT + right) / 2.0,
        HEIGHT - 5.0,
        escaped(chart.x_label)
    );
    if chart.has_diagonal {
        let (low, high) = (x_ends.0.max(y_ends.0), x_ends.1.min(y_ends.1));
        let _ = write!(
            svg,
            "<path class=\"diagonal\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
            x(low),
            y(low),
            x(high),
            y(high)
        );
    }
    for line in &lines {
        let colour = line.colour;
        let dash = DASHES[line.dash % DASHES.len()];
        let mut path = String::new();
        for (index, point) in line.points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", x(point.0), y(point.1));
        }
        let _ = write!(
            svg,
            "<path class=\"line c{colour}\" stroke-dasharray=\"{dash}\" d=\"{path}\"><title>{}</title></path>",
            escaped(&line.label)
        );
        if chart.has_dots {
            for point in &line.points {
                let _ = write!(
                    svg,
                    "<circle class=\"dot c{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
                    x(point.0),
                    y(point.1)
                );
            }
        }
    }
    if has_labels {
        let ends: Vec<(f64, f64)> = lines
            .iter()
            .map(|line| line.points[line.points.len() - 1])
            .map(|end| (x(end.0), y(end.1)))
            .collect();
        let spread = apart(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), TOP, HEIGHT - BOTTOM);
        for ((line, end), at) in lines.iter().zip(ends).zip(spread) {
            if (at - end.1).abs() > 3.0 {
                let _ = write!(
                    svg,
                    "<path class=\"leader\" d=\"M{:.1} {:.1}L{:.1} {at:.1}\"/>",
                    end.0 + 1.0,
                    end.1,
                    right + 6.0
                );
            }
            let _ = write!(
                svg,
                "<text class=\"label c{}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                line.colour,
                right + 8.0,
                at + 4.0,
                escaped(&line.label)
            );
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// Moves places apart until each has its height, within bounds where that is possible.
fn apart(places: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|left, right| places[*left].total_cmp(&places[*right]));
    let mut moved = places.to_vec();
    let mut free_from = top;
    for &index in &order {
        moved[index] = moved[index].max(free_from);
        free_from = moved[index] + LABEL;
    }
    let mut free_to = bottom;
    for &index in order.iter().rev() {
        moved[index] = moved[index].min(free_to);
        free_to = moved[index] - LABEL;
    }
    moved
}

/// Round numbers that hold a range, about so many.
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

/// A tick with as many digits as its neighbours need.
fn number(value: f64, ticks: &[f64]) -> String {
    let step = ticks[1] - ticks[0];
    let digits = (0..4).find(|digits| {
        let scaled = step * 10f64.powi(*digits);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
    });
    let text = format!("{value:.*}", digits.unwrap_or(4) as usize);
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_range() {
        for (range, expected) in [
            ((0.0, 1.0), vec!["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            ((1.52, 2.1), vec!["1.4", "1.6", "1.8", "2.0", "2.2"]),
            ((0.0, 13.7), vec!["0", "5", "10", "15"]),
            ((3.0, 3.0), vec!["3", "4"]),
        ] {
            let found = ticks(range, 5.0);
            let told: Vec<String> = found.iter().map(|tick| number(*tick, &found)).collect();
            assert!(found[0] <= range.0 && found[found.len() - 1] >= range.1, "{told:?}");
            if range != (3.0, 3.0) {
                assert_eq!(told, expected);
            }
        }
    }

    #[test]
    fn labels_do_not_overlap() {
        let moved = apart(&[100.0, 101.0, 99.0, 210.0, 211.0], 34.0, 212.0);
        let mut sorted = moved.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= LABEL - 1e-9), "{sorted:?}");
        assert!(sorted[4] <= 212.0 && moved[2] < moved[0] && moved[0] < moved[1]);
    }

    #[test]
    fn a_chart_without_points_is_not_drawn() {
        let line = Line { label: "<b>".to_owned(), colour: 0, dash: 0, points: vec![] };
        let mut chart = Chart {
            title: "loss".to_owned(),
            x_label: "step",
            lines: vec![line],
            x_range: None,
            y_range: None,
            is_logarithmic: false,
            has_diagonal: false,
            has_dots: false,
        };
        assert_eq!(draw(&chart), None);
        chart.lines[0].points = vec![(10.0, 1.0)];
        let drawn = draw(&chart).unwrap();
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }
}
