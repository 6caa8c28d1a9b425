//! A report as one HTML page, which is readable without scripts, fonts or network.
//!
//! Text from a run is untrusted. Markup is built with `maud`, so that a text becomes markup only by being escaped:
//! [`PreEscaped`] is written twice, for the style sheet and the script below, which are ours.

mod panels;
mod tables;
mod wrong_answers;

use crate::Report;
use crate::chart::STYLE;
use crate::tables as text;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use panels::{Panel, panels};

/// A section of the page.
struct PageSection {
    id: &'static str,
    title: &'static str,
    content: Markup,
}

pub(crate) fn write(report: &Report) -> String {
    let sections = sections(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta
                    http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                title { "xpr report" }
                style { (PreEscaped(STYLE)) (PreEscaped(include_str!("page.css"))) }
            }
            "\n"
            body {
                header {
                    p.brand { "xpr report" }
                    h1 { "Results" }
                    p.subject { (text::summary(report)) }
                    nav {
                        @for section in &sections { a href={ "#" (section.id) } { (section.title) } }
                    }
                }
                main {
                    @for section in &sections {
                        "\n"
                        section id=(section.id) { h2 { (section.title) } (section.content) }
                    }
                }
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
        "\n"
    };
    page.into_string()
}

fn sections(report: &Report) -> Vec<PageSection> {
    let section = |id, title, content| PageSection { id, title, content };
    let panels = panels(report);
    let mut sections = Vec::new();
    let with_titles =
        |tables: &[text::TextTable]| html! { @for table in tables { (tables::comparison(table)) } };
    let beside_paper: Vec<text::TextTable> = text::beside_the_paper(report);
    if !beside_paper.is_empty() {
        sections.push(section("paper", text::COMPARISON, with_titles(&beside_paper)));
    }
    sections.push(section("accuracy", "Accuracy", tables::accuracies(report)));
    if !report.differences.is_empty() {
        let differences: Vec<text::TextTable> = report.differences.iter().map(text::differences).collect();
        sections.push(section("differences", text::DIFFERENCES, with_titles(&differences)));
    }
    if report.groups.iter().any(|group| !group.curves.loss.is_empty()) {
        sections.push(section("training", "Training", training(report, &panels)));
    }
    if let Some(table) = text::execution(report) {
        sections.push(section("execution", text::EXECUTION, tables::folded(&table)));
    }
    if let Some(table) = text::calibration(report) {
        let content = html! { (tables::folded(&table)) (panels::figures(&panels, Panel::calibration)) };
        sections.push(section("calibration", "Calibration", content));
    }
    if report.groups.iter().any(|group| group.errors.is_some()) {
        sections.push(section("errors", "Errors", wrong_answers::errors(report)));
    }
    if !report.absent.is_empty() {
        let content = html! { ul.absent { @for message in &report.absent { li { (message) } } } };
        sections.push(section("absent", "Missing or unreadable", content));
    }
    sections
}

fn training(report: &Report, panels: &[Panel<'_>]) -> Markup {
    let window = report.groups.iter().map(|group| group.curves.window).max().unwrap_or(0);
    html! {
        @if let Some(table) = text::training(report) { (tables::folded(&table)) }
        (panels::figures(panels, Panel::training))
        p.note {
            "Lines are means over the runs of a group. Length ratio and coverage are cumulative means over the recorded \
             steps, as in the paper’s section 5.3; other lines are means over a sliding window of " (window) " steps."
        }
    }
}
