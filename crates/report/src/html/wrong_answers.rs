//! The section about wrong answers. A script filters the questions; without it all are visible.

use super::tables::table;
use crate::errors::{ErrorAnalysis, PredictionKind, WrongQuestion};
use crate::prediction::{chosen_candidate, gold_program, probability};
use crate::program_text::{counts, surplus, tokens};
use crate::tables::{self as text, percent};
use crate::{Group, Report};
use maud::{Markup, html};
use std::collections::BTreeSet;
use xpr_run::{Outcome, Prediction};

/// Returns the errors, group by group and question by question.
pub(super) fn errors(report: &Report) -> Markup {
    let analysed: Vec<(&Group, &ErrorAnalysis)> =
        report.groups.iter().filter_map(|group| Some((group, group.errors.as_ref()?))).collect();
    html! {
        (filter())
        @for (group, errors) in &analysed {
            details.panel.group open[analysed.len() == 1] { (group_errors(group, errors)) }
            "\n"
        }
    }
}

/// Returns the form by which the page's script filters questions. The script shows it.
fn filter() -> Markup {
    html! {
        form #filter hidden {
            input type="search" placeholder="Search questions, programs, answers" aria-label="Search";
            select aria-label="Kind" {
                option value="" { "all wrong answers" }
                @for kind in PredictionKind::WRONG { option value=(kind.name()) { (kind.name()) } }
            }
            output {}
        }
    }
}

fn group_errors(group: &Group, errors: &ErrorAnalysis) -> Markup {
    let right =
        errors.kinds.iter().find(|(kind, _)| *kind == PredictionKind::Right).map_or(0, |(_, count)| *count);
    let listed = errors.wrong.len();
    html! {
        summary {
            (text::group_name(group)) " "
            small { (errors.answers - right) " of " (errors.answers) " answers wrong" }
        }
        div.parts {
            @for (index, part) in text::errors(errors).iter().enumerate() {
                @if index == 1 { (ranks(&errors.places, errors.answers)) }
                div.part { h4 { (part.title) } (table(part)) }
            }
        }
        @if listed > 0 {
            h4 {
                "Questions answered wrongly"
                @if listed < errors.wrong_questions {
                    ": " (listed) " of " (errors.wrong_questions) " (--errors lists more)"
                }
            }
            @for wrong in &errors.wrong { (question(wrong)) "\n" }
        }
    }
}

/// Returns bars of how often the first correct candidate has each rank.
fn ranks(counts: &[usize], answers: usize) -> Markup {
    let in_beam: usize = counts.iter().sum();
    let named = counts.iter().enumerate().map(|(index, count)| ((index + 1).to_string(), *count));
    html! {
        div.part {
            h4 { "Rank of the first correct candidate" }
            div.wide {
                table.bars {
                    tbody {
                        @for (name, count) in named.chain([("none".to_owned(), answers - in_beam)]) {
                            tr {
                                th scope="row" { (name) }
                                td.n { (count) }
                                td.bar { (bar(count as f64 / answers.max(1) as f64)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bar(share: f64) -> Markup {
    html! {
        svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(percent(share)) height="8" {}
        }
    }
}

fn question(wrong: &WrongQuestion) -> Markup {
    let prediction = &wrong.prediction;
    html! {
        details.q data-kind=(wrong.kind.name()) {
            summary {
                span { (prediction.utterance) } " "
                small {
                    @match (wrong.kind, prediction.right_at) {
                        (PredictionKind::FurtherDown, Some(index)) => { "correct at rank " (index + 1) }
                        (kind, _) => { (kind.name()) }
                    }
                    @if wrong.runs > 1 { ", wrong in " (wrong.wrong_in) " of " (wrong.runs) " runs" }
                }
            }
            (label_and_prediction(prediction))
            (candidates(prediction))
        }
    }
}

/// Returns the labeled and the chosen program with their answers. Tokens in which they differ are marked.
fn label_and_prediction(prediction: &Prediction) -> Markup {
    let gold = gold_program(prediction);
    let chosen = chosen_candidate(prediction);
    let (gold_tokens, chosen_tokens) = (tokens(gold), tokens(chosen.map_or("", |chosen| &chosen.program)));
    let (gold_counts, chosen_counts) = (counts(&gold_tokens), counts(&chosen_tokens));
    html! {
        dl {
            dt { "label" }
            dd { code { (marked(gold, &surplus(&gold_counts, &chosen_counts))) } }
            dt { "answer" }
            dd { (outcome(&prediction.gold_outcome)) }
            dt { "prediction" }
            @if let Some(chosen) = chosen {
                dd {
                    code { (marked(&chosen.program, &surplus(&chosen_counts, &gold_counts))) } " "
                    small { (percent(probability(chosen))) " %" }
                }
                dt { "answer" }
                dd { (outcome(&chosen.outcome)) }
            } @else {
                dd { "none: the beam is empty" }
            }
        }
    }
}

/// The number of candidates listed for each question, not counting the chosen and the first correct one.
const CANDIDATES: usize = 4;

/// Returns the list of candidates, if there are several.
fn candidates(prediction: &Prediction) -> Markup {
    let is_listed = |index: &usize| {
        *index < CANDIDATES || Some(*index) == prediction.right_at || *index == prediction.chosen
    };
    let listed: Vec<usize> = (0..prediction.candidates.len()).filter(is_listed).collect();
    html! {
        @if listed.len() > 1 {
            ol.beam {
                @for index in listed {
                    @let candidate = &prediction.candidates[index];
                    li.right[Some(index) == prediction.right_at] value=(index + 1) {
                        code { (candidate.program) } " "
                        small { (percent(probability(candidate))) " %, " (candidate.outcome.grade()) }
                    }
                }
            }
        }
    }
}

fn outcome(outcome: &Outcome) -> Markup {
    html! { span.grade { (outcome.grade()) } " " (outcome.text()) }
}

/// Returns a program in which the tokens with some normal forms are marked.
fn marked(program: &str, normal_forms: &BTreeSet<&str>) -> Markup {
    let mut end = 0;
    let mut pieces: Vec<(&str, bool)> = Vec::new();
    for token in tokens(program) {
        if token.normal.as_deref().is_some_and(|normal| normal_forms.contains(normal)) {
            pieces.extend([(&program[end..token.span.start], false), (&program[token.span.clone()], true)]);
            end = token.span.end;
        }
    }
    pieces.push((&program[end..], false));
    html! {
        @for (piece, is_marked) in pieces {
            @if is_marked { mark { (piece) } } @else { (piece) }
        }
    }
}
