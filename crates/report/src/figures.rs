//! Which charts a report has: groups that are asked the same share a panel.

use crate::groups::place_of;
use crate::svg::{Chart, Line};
use crate::{Curve, Group, Report};

/// Groups about the same, with as many labels: they can be compared.
pub(crate) struct Panel<'a> {
    /// What they are about.
    pub(crate) title: String,
    /// Each with its name in figures, its colour and its dash.
    pub(crate) members: Vec<Member<'a>>,
}

/// A group in a figure.
pub(crate) struct Member<'a> {
    pub(crate) group: &'a Group,
    /// What stands at its lines: its objective, with a letter if there are several.
    pub(crate) label: String,
    pub(crate) colour: usize,
    pub(crate) dash: usize,
}

/// The panels of a report.
pub(crate) fn panels<'a>(report: &'a Report) -> Vec<Panel<'a>> {
    let mut panels: Vec<Vec<&'a Group>> = Vec::new();
    for group in &report.groups {
        match panels.iter_mut().find(|panel| panel[0].is_beside(group)) {
            Some(panel) => panel.push(group),
            None => panels.push(vec![group]),
        }
    }
    let panel = |groups: Vec<&'a Group>| {
        let first = groups[0];
        let on = if first.held_out > 0 { ", held-out examples" } else { "" };
        Panel { title: format!("{}, {} labels{on}", first.topic, first.labels()), members: members(&groups) }
    };
    panels.into_iter().map(panel).collect()
}

/// Colours of the palette.
const COLOURS: usize = 7;

/// An objective has its colour in every figure; where there are several of it, the others take colours that are free in
/// this panel, and then are dashed.
fn members<'a>(groups: &[&'a Group]) -> Vec<Member<'a>> {
    let taken: Vec<usize> = groups.iter().map(|group| place_of(&group.objective)).collect();
    let mut free = (0..COLOURS).filter(|colour| !taken.contains(colour)).rev().collect::<Vec<_>>();
    let member = |(index, group): (usize, &&'a Group)| {
        let alike = |other: &&&Group| other.objective == group.objective;
        let (all, earlier) =
            (groups.iter().filter(alike).count(), groups[..index].iter().filter(alike).count());
        let label = match all {
            1 => group.method().to_owned(),
            _ => format!("{} {}", group.method(), letter(earlier)),
        };
        let own = taken[index];
        let (colour, dash) = match earlier {
            0 => (own, 0),
            earlier => free.pop().map_or((own, earlier), |colour| (colour, 0)),
        };
        Member { group, label, colour, dash }
    };
    groups.iter().enumerate().map(member).collect()
}

fn letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(|| (index + 1).to_string(), |index| char::from(b'a' + index).to_string())
}

impl Panel<'_> {
    fn lines(&self, points: impl Fn(&Group) -> Curve) -> Vec<Line> {
        let line = |member: &Member<'_>| Line {
            label: member.label.clone(),
            colour: member.colour,
            dash: member.dash,
            points: points(member.group),
        };
        self.members.iter().map(line).collect()
    }

    fn over_steps(&self, title: &str, points: impl Fn(&Group) -> Curve) -> Chart {
        Chart {
            title: title.to_owned(),
            x_label: "step",
            lines: self.lines(points),
            x_range: None,
            y_range: None,
            is_logarithmic: false,
            has_diagonal: false,
            has_dots: false,
        }
    }

    /// The two figures of the paper's section 5.3, and how learning went.
    pub(crate) fn training(&self) -> Vec<Chart> {
        vec![
            self.over_steps("length ratio", |group| group.curves.length_ratio.clone()),
            self.over_steps("coverage of right programs", |group| group.curves.coverage.clone()),
            Chart {
                is_logarithmic: true,
                ..self.over_steps("loss of labeled examples", |group| {
                    let positive = group.curves.loss.iter().filter(|point| point.1 > 0.0);
                    positive.map(|(step, loss)| (*step, loss.log10())).collect()
                })
            },
            self.over_steps("loss of unlabeled questions", |group| group.curves.unlabeled_loss.clone()),
            self.over_steps("share of candidates rewarded", |group| group.curves.rewarded.clone()),
            self.over_steps("probability of all candidates", |group| group.curves.mass.clone()),
        ]
    }

    /// Whether parsers know when they are wrong.
    pub(crate) fn confidence(&self) -> Vec<Chart> {
        let bins = |group: &Group| {
            let bins = group.calibration.iter().flat_map(|found| &found.bins);
            bins.map(|bin| (100.0 * bin.confidence, 100.0 * bin.accuracy)).collect()
        };
        let abstaining = |group: &Group| {
            let points = group.calibration.iter().flat_map(|found| &found.abstaining);
            points.map(|(covered, right)| (100.0 * covered, 100.0 * right)).collect()
        };
        let whole = Some((0.0, 100.0));
        vec![
            Chart {
                title: "right answers, % (dotted: as confident as right)".to_owned(),
                x_label: "confidence, %",
                lines: self.lines(bins),
                x_range: whole,
                y_range: whole,
                is_logarithmic: false,
                has_diagonal: true,
                has_dots: true,
            },
            Chart {
                title: "right answers, %".to_owned(),
                x_label: "questions answered, the surest first, %",
                lines: self.lines(abstaining),
                x_range: whole,
                y_range: None,
                is_logarithmic: false,
                has_diagonal: false,
                has_dots: false,
            },
        ]
    }

    /// Whether names at lines need to be explained.
    pub(crate) fn needs_legend(&self) -> bool {
        self.members.len() > 8 || self.members.iter().any(|member| !member.group.settings.is_empty())
    }
}
