//! An answer in a page, for browsers without scripts.

use super::text::visible;
use crate::answer::{AnswerView, AskResponse, DeclinedView};
use crate::problem::Problem;
use maud::{Markup, html};
use serde_json::Value;

/// The number of rows of an answer.
const MAX_ROWS: usize = 200;
/// The number of rows of each of several answers.
const ALTERNATIVE_ROWS: usize = 5;

/// Returns the answer to a question.
pub(super) fn answer(answer: &AskResponse) -> Markup {
    if let Some(declined) = &answer.declined {
        return not_answered(declined);
    }
    html! {
        article.answer {
            @if answer.unsure {
                p.notice { (unsure(answer)) }
                div.choices { @for alternative in &answer.answers { (one_of_several(alternative)) } }
            } @else {
                (explanation(answer.explanation.as_deref()))
                (table(&answer.columns, &answer.rows, answer.message.as_deref(), MAX_ROWS, answer.rows.len()))
                (query(answer.sql.as_deref()))
                @if let Some(confidence) = answer.confidence {
                    p.hint { "The parser is " (percent(confidence)) " sure." }
                }
            }
        }
    }
}

fn unsure(answer: &AskResponse) -> String {
    let confidence =
        answer.confidence.map_or_else(String::new, |confidence| format!(" ({})", percent(confidence)));
    match answer.answers.len() {
        0 => format!("The parser is not sure{confidence}, and no query that it found runs."),
        1 => format!("The parser is not sure{confidence}. This is the only answer that it found."),
        _ => format!("The parser is not sure{confidence}. It may be one of these."),
    }
}

/// Returns why a text is no question.
pub(super) fn refused(problem: &Problem) -> Markup {
    html! { p.notice role="alert" { (problem.title) ": " (problem.detail) "." } }
}

fn not_answered(declined: &DeclinedView) -> Markup {
    html! {
        article.answer {
            p.notice { "Not answered: " (declined.reason) "." }
            @if let Some(nearest) = &declined.nearest { p { "A question it can answer: " em { (nearest) } } }
        }
    }
}

fn one_of_several(answer: &AnswerView) -> Markup {
    html! {
        section.choice {
            (explanation(answer.explanation.as_deref()))
            (table(&answer.columns, &answer.rows, answer.message.as_deref(), ALTERNATIVE_ROWS, answer.row_count))
            (query(Some(&answer.sql)))
        }
    }
}

fn explanation(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { p.explanation { (visible(text)) "." } } }
}

fn query(sql: Option<&str>) -> Markup {
    html! { @if let Some(sql) = sql { details.query { summary { "Query" } pre { code { (visible(sql)) } } } } }
}

/// Returns a share as the script `dom.js` writes it.
fn percent(share: f64) -> String {
    let whole = (100.0 * share + 1e-9).floor();
    if whole == 0.0 && share > 0.0 { "under 1 %".to_owned() } else { format!("{whole:.0} %") }
}

fn table(
    columns: &[String],
    rows: &[Vec<Value>],
    message: Option<&str>,
    max_rows: usize,
    row_count: usize,
) -> Markup {
    if let Some(message) = message {
        return html! { p.text-answer { (message) } };
    }
    html! {
        div.table-wrap tabindex="0" role="group" aria-label="Rows" {
            table {
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody {
                    @for row in rows.iter().take(max_rows) { tr { @for value in row { (cell(value)) } } }
                }
            }
        }
        p.hint {
            @match (row_count, row_count > max_rows) {
                (0, _) => "No rows.",
                (1, _) => "1 row.",
                (count, false) => { (count) " rows." },
                (count, true) => { "The first " (max_rows) " of " (count) " rows." },
            }
        }
    }
}

fn cell(value: &Value) -> Markup {
    match value {
        Value::Null => html! { td.null { "null" } },
        Value::Number(number) => html! { td.number { (number) } },
        Value::String(text) => html! { td { (text) } },
        other => html! { td { (other.to_string()) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_share_is_neither_certain_nor_impossible_if_it_is_not() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.004, "under 1 %"),
            (0.01, "1 %"),
            (0.29, "29 %"),
            (0.999, "99 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    /// Issue 19: a character of a cell reversed the query that was shown.
    #[test]
    fn characters_that_reverse_a_query_are_shown_by_their_codes() {
        let shown = query(Some("SELECT 'a\u{202e}b' <\u{200b}")).into_string();
        let expected = "SELECT 'a<span class=\"code-point\" data-code=\"\\u202e\">\u{202e}</span>b' &lt;\
                        <span class=\"code-point\" data-code=\"\\u200b\">\u{200b}</span></code>";
        assert!(shown.contains(expected), "{shown}");
        assert!(explanation(Some("a\u{202e}b")).into_string().contains("data-code"));
    }

    #[test]
    fn what_comes_from_data_is_escaped() {
        let hostile = "<script>alert(1)</script>\"'";
        let view = AskResponse {
            question: hostile.to_owned(),
            sql: Some(hostile.to_owned()),
            explanation: Some(hostile.to_owned()),
            columns: vec![hostile.to_owned()],
            rows: vec![vec![json!(hostile)], vec![json!(null)], vec![json!(1.5)]],
            ..AskResponse::default()
        };
        let shown = answer(&view).into_string();
        assert!(!shown.contains("<script>") && shown.contains("&lt;script&gt;"), "{shown}");
        let alternative = AnswerView {
            sql: hostile.to_owned(),
            explanation: None,
            probability: 0.5,
            candidates: 1,
            columns: vec![hostile.to_owned()],
            rows: vec![vec![json!(hostile)]],
            row_count: 1,
            message: None,
        };
        let view = AskResponse { unsure: true, answers: vec![alternative], ..view };
        let declined = DeclinedView { reason: hostile.to_owned(), nearest: Some(hostile.to_owned()) };
        for shown in [answer(&view), not_answered(&declined), refused(&Problem::bad_question(hostile))] {
            let shown = shown.into_string();
            assert!(!shown.contains("<script>") && shown.contains("&lt;script&gt;"), "{shown}");
        }
    }
}
