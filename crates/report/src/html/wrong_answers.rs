//! The part of the page about wrong answers. It is found by looking, or by searching where there is script.

use super::{escaped, plain_table};
use crate::errors::Wrong;
use crate::shape::{beyond, counts, tokens};
use crate::{Group, Report, tables};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writes what goes wrong, group by group and question by question.
pub(super) fn errors(page: &mut String, report: &Report) {
    page.push_str(
        "<form id=\"filter\" hidden><input type=\"search\" placeholder=\"Search questions, programs, answers\" aria-label=\"Search\">\
         <select aria-label=\"Kind\"><option value=\"\">all wrong answers</option>\
         <option value=\"FurtherDown\">right one further down</option><option value=\"NotFound\">no candidate is right</option>\
         <option value=\"Fails\">no candidate executes</option></select><output></output></form>\n",
    );
    let with_errors: Vec<&Group> = report.groups.iter().filter(|group| group.errors.is_some()).collect();
    for group in &with_errors {
        let Some(errors) = &group.errors else { continue };
        let open = if with_errors.len() == 1 { " open" } else { "" };
        let right =
            errors.kinds.iter().find(|(kind, _)| *kind == crate::Kind::Right).map_or(0, |found| found.1);
        let _ = write!(
            page,
            "<details class=\"panel group\"{open}><summary>{} <small>{} of {} answers wrong</small></summary>\n<div class=\"parts\">\n",
            escaped(&tables::group_name(group)),
            errors.answers - right,
            errors.answers
        );
        for (index, table) in tables::errors(group).iter().enumerate() {
            if index == 1 {
                places(page, &errors.places, errors.answers);
            }
            let _ = writeln!(page, "<div class=\"part\"><h4>{}</h4>", escaped(&table.title));
            plain_table(page, table);
            page.push_str("</div>\n");
        }
        page.push_str("</div>\n");
        let shown = errors.wrong.len();
        if shown > 0 {
            let _ = writeln!(
                page,
                "<h4>Questions answered wrongly{}</h4>",
                match shown < errors.wrong_questions {
                    true => format!(": {shown} of {} (--errors shows more)", errors.wrong_questions),
                    false => String::new(),
                }
            );
            for wrong in &errors.wrong {
                question(page, wrong);
            }
        }
        page.push_str("</details>\n");
    }
}

/// Where in the beam the right answer is, as bars.
fn places(page: &mut String, places: &[usize], answers: usize) {
    page.push_str("<div class=\"part\"><h4>Place of the right answer</h4>\n<div class=\"wide\"><table class=\"bars\"><tbody>\n");
    let found: usize = places.iter().sum();
    let named = places.iter().enumerate().map(|(place, count)| ((place + 1).to_string(), *count));
    for (name, count) in named.chain([("nowhere".to_owned(), answers - found)]) {
        let share = 100.0 * count as f64 / answers.max(1) as f64;
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{name}</th><td class=\"n\">{count}</td>\
             <td class=\"bar\"><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect width=\"{share:.1}\" height=\"8\"/></svg></td></tr>"
        );
    }
    page.push_str("</tbody></table></div></div>\n");
}

/// Candidates shown of a question.
const CANDIDATES: usize = 4;

fn question(page: &mut String, wrong: &Wrong) {
    let answer = &wrong.answer;
    let told = match (wrong.kind, answer.right_at) {
        (crate::Kind::FurtherDown, Some(place)) => format!("right at {}", place + 1),
        (kind, _) => kind.name().to_owned(),
    };
    let runs = match wrong.runs {
        1 => String::new(),
        runs => format!(", wrong in {} of {runs} runs", wrong.wrong_in),
    };
    let _ = write!(
        page,
        "<details class=\"q\" data-kind=\"{:?}\"><summary><span>{}</span> <small>{told}{runs}</small></summary>\n<dl>",
        wrong.kind,
        escaped(&answer.utterance)
    );
    let gold = answer.gold_like_candidates();
    let guess = answer.guess().map_or("", |guess| &guess.program);
    let (gold_tokens, guess_tokens) = (tokens(gold), tokens(guess));
    let (gold_counts, guess_counts) = (counts(&gold_tokens), counts(&guess_tokens));
    let mut entry = |name: &str, content: &str| {
        let _ = write!(page, "<dt>{name}</dt><dd>{content}</dd>");
    };
    entry("labeled", &format!("<code>{}</code>", marked(gold, &beyond(&gold_counts, &guess_counts))));
    entry("finds", &outcome(&answer.gold_outcome));
    if let Some(chosen) = answer.guess() {
        let confidence = tables::percent(chosen.probability);
        let marked = marked(guess, &beyond(&guess_counts, &gold_counts));
        entry("chosen", &format!("<code>{marked}</code> <small>{confidence} %</small>"));
        entry("finds", &outcome(&chosen.outcome));
    } else {
        entry("chosen", "nothing: there was no candidate");
    }
    page.push_str("</dl>\n");
    let listed =
        |place: &usize| *place < CANDIDATES || Some(*place) == answer.right_at || *place == answer.chosen;
    let places: Vec<usize> = (0..answer.candidates.len()).filter(listed).collect();
    if places.len() > 1 {
        page.push_str("<ol class=\"beam\">");
        for place in places {
            let candidate = &answer.candidates[place];
            let class = if Some(place) == answer.right_at { " class=\"right\"" } else { "" };
            let (grade, _) = candidate.outcome.split_once('\t').unwrap_or((&candidate.outcome, ""));
            let _ = write!(
                page,
                "<li value=\"{}\"{class}><code>{}</code> <small>{} %, {}</small></li>",
                place + 1,
                escaped(&candidate.program),
                tables::percent(candidate.probability),
                escaped(grade)
            );
        }
        page.push_str("</ol>\n");
    }
    page.push_str("</details>\n");
}

fn outcome(text: &str) -> String {
    let (grade, rest) = text.split_once('\t').unwrap_or((text, ""));
    format!("<span class=\"grade\">{}</span> {}", escaped(grade), escaped(rest))
}

/// A program with some of its words marked.
fn marked(program: &str, words: &BTreeSet<&str>) -> String {
    let mut text = String::new();
    let mut done = 0;
    for token in tokens(program) {
        if token.meaning.as_deref().is_some_and(|meaning| words.contains(meaning)) {
            text.push_str(&escaped(&program[done..token.place.start]));
            let _ = write!(text, "<mark>{}</mark>", escaped(&program[token.place.clone()]));
            done = token.place.end;
        }
    }
    text.push_str(&escaped(&program[done..]));
    text
}
