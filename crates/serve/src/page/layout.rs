//! What all pages have in common.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

/// A page without its content.
pub(super) struct Layout<'a> {
    pub(super) title: &'a str,
    /// The path of the page.
    pub(super) current: &'a str,
    /// The name of the run that the page is about.
    pub(super) run: Option<&'a str>,
    /// The names of all runs.
    pub(super) runs: Vec<&'a str>,
    /// The script of the page.
    pub(super) script: Option<&'a str>,
}

impl Layout<'_> {
    pub(super) fn page(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · xpr" }
                    link rel="stylesheet" href="/assets/style.css";
                    link rel="icon" type="image/svg+xml" href="/assets/icon.svg";
                    @if let Some(script) = self.script {
                        script type="module" src={ "/assets/" (script) } {}
                    }
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    @if self.run.is_some() { (self.heading()) }
                    main #main tabindex="-1" { (content) }
                    div #status .status role="status" aria-live="polite" {}
                    div #announcement .hidden role="status" aria-live="polite" {}
                }
            }
        }
    }

    fn heading(&self) -> Markup {
        let link = |path: &str| match self.run {
            Some(run) if self.runs.len() > 1 => format!("{path}?run={}", encoded(run)),
            _ => path.to_owned(),
        };
        html! {
            header.site {
                a.brand href=(link("/")) { "xpr" }
                nav aria-label="Pages" {
                    @for (path, name) in [("/", "Ask"), ("/history", "History"), ("/label", "Label"), ("/progress", "Progress")] {
                        a href=(link(path)) aria-current=[(path == self.current).then_some("page")] { (name) }
                    }
                }
                @if self.runs.len() > 1 {
                    form.runs method="get" action=(self.current) {
                        label for="run" { "Data" }
                        select #run name="run" {
                            @for run in &self.runs {
                                option value=(run) selected[Some(*run) == self.run] { (run) }
                            }
                        }
                        button type="submit" { "Go" }
                    }
                }
            }
        }
    }
}

/// Returns a text as part of an address.
pub(super) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns a page as a response.
pub(super) fn html_response(page: Markup) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], page.into_string()).into_response()
}
