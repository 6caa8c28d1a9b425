//! The figures of a report. Groups that can be compared share a panel of charts.

use crate::chart::{AxisScale, Chart, ChartLine, DASHES, MOST_LABELS};
use crate::groups::objective_rank;
use crate::{Curve, Group, Method, Report};
use maud::{Markup, html};

/// Groups with the same data, share of labels and evaluation examples.
pub(super) struct Panel<'a> {
    title: String,
    members: Vec<PanelMember<'a>>,
}

/// A group in a panel.
struct PanelMember<'a> {
    group: &'a Group,
    /// The objective, and the method if there are both, followed by a letter if several groups have the same.
    label: String,
    /// The number of the colour in the style sheet.
    colour: usize,
    /// The index into [`DASHES`].
    dash: usize,
}

/// Returns the panels of a report.
pub(super) fn panels<'a>(report: &'a Report) -> Vec<Panel<'a>> {
    let mut panels: Vec<Vec<&'a Group>> = Vec::new();
    for group in &report.groups {
        match panels.iter_mut().find(|panel| panel[0].is_comparable_with(group)) {
            Some(panel) => panel.push(group),
            None => panels.push(vec![group]),
        }
    }
    let panel = |groups: Vec<&'a Group>| {
        let first = groups[0];
        let examples = if first.held_out > 0 { ", held-out examples" } else { "" };
        let title = format!("{}, {} labels{examples}", first.topic, first.labels());
        Panel { title, members: members(&groups) }
    };
    panels.into_iter().map(panel).collect()
}

/// The number of colours that objectives have.
const COLOURS: usize = 7;

/// Returns the groups with their labels and colours. An objective has the same colour in every panel. If several groups have
/// the same objective, all but the first take colours that are free in this panel; if none is free, they are dashed.
fn members<'a>(groups: &[&'a Group]) -> Vec<PanelMember<'a>> {
    let taken: Vec<usize> = groups.iter().map(|group| objective_rank(&group.objective)).collect();
    let mut free = (0..COLOURS).filter(|colour| !taken.contains(colour)).rev().collect::<Vec<_>>();
    let learning = || groups.iter().filter(|group| !group.is_labels_only());
    let has_both_methods = learning().any(|group| group.method == Method::Paper)
        && learning().any(|group| group.method == Method::Ours);
    let name = |group: &Group| match has_both_methods {
        true => format!("{}, {}", group.objective_name(), group.method.name()),
        false => group.objective_name().to_owned(),
    };
    let member = |(index, group): (usize, &&'a Group)| {
        let (same_objective, own) = (|other: &&&Group| other.objective == group.objective, name(group));
        let earlier = groups[..index].iter().filter(same_objective).count();
        let same_name = |groups: &[&Group]| groups.iter().filter(|other| name(other) == own).count();
        let label = match same_name(groups) {
            1 => own,
            _ => format!("{own} {}", letter(same_name(&groups[..index]))),
        };
        let (colour, dash) = match earlier {
            0 => (taken[index], 0),
            earlier => free.pop().map_or((taken[index], earlier), |colour| (colour, 0)),
        };
        PanelMember { group, label, colour, dash: dash % DASHES.len() }
    };
    groups.iter().enumerate().map(member).collect()
}

/// Returns a letter from `a` to `z`, or a number if there are more.
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index) if index < 26 => char::from(b'a' + index).to_string(),
        _ => (index + 1).to_string(),
    }
}

/// Returns the charts of every panel. The panel with most groups is unfolded.
pub(super) fn figures<'a>(panels: &[Panel<'a>], charts: impl Fn(&Panel<'a>) -> Vec<Chart>) -> Markup {
    let most = panels.iter().map(|panel| panel.members.len()).max();
    let unfolded = panels.iter().position(|panel| Some(panel.members.len()) == most);
    html! {
        @for (index, panel) in panels.iter().enumerate() {
            @let drawn: Vec<Markup> = charts(panel).iter().filter_map(Chart::draw).collect();
            @if !drawn.is_empty() {
                details.panel open[unfolded == Some(index)] {
                    summary { (panel.title) }
                    @if panel.needs_legend() { (panel.legend()) }
                    div.charts { @for chart in &drawn { figure { (chart) } "\n" } }
                }
            }
        }
    }
}

impl Panel<'_> {
    fn lines(&self, points: impl Fn(&Group) -> Curve) -> Vec<ChartLine> {
        let line = |member: &PanelMember<'_>| ChartLine {
            label: member.label.clone(),
            colour: member.colour,
            dash: member.dash,
            points: points(member.group),
        };
        self.members.iter().map(line).collect()
    }

    fn over_steps(&self, title: &'static str, points: impl Fn(&Group) -> Curve) -> Chart {
        Chart { title, x_label: "step", lines: self.lines(points), ..Chart::default() }
    }

    /// Returns the gold ratio as a horizontal line over the steps of the length ratio, if groups have it: the mean of theirs.
    fn gold_ratio(&self) -> Option<ChartLine> {
        let curves = || self.members.iter().map(|member| &member.group.curves);
        let ratios: Vec<f64> = curves().filter_map(|curves| curves.gold_ratio).collect();
        let steps = || curves().flat_map(|curves| &curves.length_ratio).map(|point| point.0);
        let (first, last) = (steps().reduce(f64::min)?, steps().reduce(f64::max)?);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        (!ratios.is_empty()).then(|| ChartLine {
            label: format!("gold {mean:.2}"),
            colour: COLOURS,
            dash: 1,
            points: vec![(first, mean), (last, mean)],
        })
    }

    /// Returns the charts of training: first the two figures of section 5.3 of the paper.
    pub(super) fn training(&self) -> Vec<Chart> {
        let log_loss = |group: &Group| {
            let positive = group.curves.loss.iter().filter(|point| point.1 > 0.0);
            positive.map(|(step, loss)| (*step, loss.log10())).collect()
        };
        let mut length_ratio =
            self.over_steps("length ratio, cumulative mean", |group| group.curves.length_ratio.clone());
        length_ratio.lines.extend(self.gold_ratio());
        vec![
            length_ratio,
            self.over_steps("coverage of correct programs, cumulative mean", |group| {
                group.curves.coverage.clone()
            }),
            Chart {
                y_scale: AxisScale::PowersOfTen,
                ..self.over_steps("loss on labeled examples", log_loss)
            },
            self.over_steps("loss on unlabeled questions", |group| group.curves.unlabeled_loss.clone()),
            self.over_steps("share of candidates rewarded", |group| group.curves.rewarded.clone()),
            self.over_steps("total probability of the candidates", |group| group.curves.mass.clone()),
        ]
    }

    /// Returns the charts of calibration.
    pub(super) fn calibration(&self) -> Vec<Chart> {
        let bins = |group: &Group| {
            let bins = group.calibration.iter().flat_map(|calibration| &calibration.bins);
            bins.map(|bin| (100.0 * bin.confidence, 100.0 * bin.accuracy)).collect()
        };
        let abstaining = |group: &Group| {
            let points = group.calibration.iter().flat_map(|calibration| &calibration.abstaining);
            points.map(|(coverage, accuracy)| (100.0 * coverage, 100.0 * accuracy)).collect()
        };
        let percent = AxisScale::Fixed(0.0, 100.0);
        vec![
            Chart {
                title: "accuracy, % (dotted: perfect calibration)",
                x_label: "confidence, %",
                lines: self.lines(bins),
                x_scale: percent,
                y_scale: percent,
                has_diagonal: true,
                has_dots: true,
            },
            Chart {
                title: "accuracy, %",
                x_label: "questions answered, most confident first, %",
                lines: self.lines(abstaining),
                x_scale: percent,
                ..Chart::default()
            },
        ]
    }

    /// Returns whether the labels of the series need an explanation, or may be missing from the charts.
    fn needs_legend(&self) -> bool {
        // The gold ratio is one more line.
        self.members.len() >= MOST_LABELS
            || self.members.iter().any(|member| !member.group.settings.is_empty())
    }

    fn legend(&self) -> Markup {
        let entry = |colour: usize, dash: usize, label: &str, settings: &str| {
            html! {
                li {
                    svg viewBox="0 0 28 8" aria-hidden="true" {
                        path class={ "line c" (colour) } stroke-dasharray=(DASHES[dash]) d="M0 4H28" {}
                    }
                    (label) " " small { (settings) }
                }
            }
        };
        html! {
            ul.legend {
                @for member in &self.members {
                    (entry(member.colour, member.dash, &member.label, &member.group.variant()))
                }
                @if let Some(gold) = self.gold_ratio() {
                    (entry(gold.colour, gold.dash, &gold.label, "the length ratio of the labeled programs"))
                }
            }
        }
    }
}
