//! The pages for people.
//!
//! A page is complete without scripts as far as asking goes: a form, and the answer in the page that comes back. Scripts add the rest.
//! All text is escaped by its type ([`maud`]).

mod answer;
mod layout;
mod text;

use crate::access::COOKIE;
use crate::api::{RunQuery, blocking, is_of_type, query};
use crate::problem::Problem;
use crate::schema::SchemaView;
use crate::server::App;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use layout::{Layout, encoded, html_response};
use maud::{Markup, html};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use text::visible;

/// The paths of pages, which other sites may link to.
const PAGES: [&str; 5] = ["/", "/history", "/label", "/progress", LOGIN];
/// The path of the page that asks for the token.
const LOGIN: &str = "/login";

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(ask_page).post(ask_form))
        .route("/history", get(history_page))
        .route("/label", get(label_page))
        .route("/progress", get(progress_page))
        .route(LOGIN, get(login_page).post(login_form))
}

/// Returns whether a path is that of a page.
pub(crate) fn is_page(path: &str) -> bool {
    PAGES.contains(&path)
}

/// Returns the page of a problem.
pub(crate) fn problem(problem: &Problem) -> Response {
    let body = html! {
        section.notice role="alert" {
            h1 { (problem.title) }
            p.sentence { (problem.detail) "." }
            p { a href="/" { "Back to asking" } }
        }
    };
    let page =
        Layout { title: &problem.title, current: "", run: None, runs: vec![], script: None }.page(&body);
    let mut response = html_response(page);
    *response.status_mut() = problem.status_code();
    if let Some(seconds) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Returns a page, or that of the problem.
fn show(page: Result<Markup, Problem>) -> Response {
    match page {
        Ok(page) => html_response(page),
        Err(error) => problem(&error),
    }
}

fn layout<'a>(app: &'a App, run: &'a str, title: &'a str, current: &'a str, script: &'a str) -> Layout<'a> {
    let runs = app.runs.iter().map(|run| run.name()).collect();
    Layout { title, current, run: Some(run), runs, script: Some(script) }
}

async fn ask_page(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let page = async {
        let RunQuery { run } = query(&uri)?;
        ask_markup(&app, run, "", None).await
    };
    show(page.await)
}

/// A question that was sent without scripts.
#[derive(Deserialize)]
struct QuestionForm {
    question: String,
    run: Option<String>,
}

async fn ask_form(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let page = async {
        let QuestionForm { question, run } = form(&headers, &body)?;
        let answer = match app.run(run.as_deref())?.ask(question.clone()).await {
            Ok(answer) => answer::answer(&answer),
            Err(problem) if problem.status == 422 => answer::refused(&problem),
            Err(problem) => return Err(problem),
        };
        ask_markup(&app, run, &question, Some(answer)).await
    };
    show(page.await)
}

/// Returns the page on which people ask, with a question and its answer, or with questions to begin with.
async fn ask_markup(
    app: &Arc<App>,
    run: Option<String>,
    question: &str,
    answer: Option<Markup>,
) -> Result<Markup, Problem> {
    let (name, has_log, schema) =
        blocking(app, run, |run| Ok((run.name().to_owned(), run.has_log(), run.schema()))).await?;
    let body = html! {
        div.columns {
            div.main-column {
                form #ask-form .ask-form method="post" action="/" autocomplete="off" data-run=(name) data-log=(has_log) {
                    h1 { label for="question" { "Ask about " (name) } }
                    div.ask-line {
                        input #question type="text" name="question" value=(question) required maxlength="2000" autofocus
                            placeholder="Type a question in your own words" enterkeyhint="search";
                        input type="hidden" name="run" value=(name);
                        button.primary type="submit" { "Ask" }
                    }
                }
                div #answer aria-busy="false" {
                    @match answer {
                        Some(answer) => (answer),
                        None => (questions_markup(&schema, &name)),
                    }
                }
            }
            aside #schema aria-labelledby="schema-title" { (schema_markup(&schema)) }
        }
    };
    Ok(layout(app, &name, "Ask", "/", "ask.js").page(&body))
}

/// Returns questions to begin with. Each is a button of a form, so that it is asked without scripts too.
fn questions_markup(schema: &SchemaView, run: &str) -> Markup {
    html! {
        @if !schema.questions.is_empty() {
            form.examples-to-ask method="post" action="/" {
                input type="hidden" name="run" value=(run);
                h2 { "For example" }
                ul {
                    @for question in &schema.questions {
                        li { button.link type="submit" name="question" value=(question) data-ask=(question) { (question) } }
                    }
                }
            }
        }
    }
}

/// Returns the tables beside the question. A script lets them be closed, and names be inserted.
fn schema_markup(schema: &SchemaView) -> Markup {
    html! {
        h2 #schema-title { "What you can ask about" }
        p.hint.scripts-only { "Click a name to insert it." }
        @for table in &schema.tables {
            section.table aria-label=(table.name) {
                h3 { span.name data-insert=(table.name) data-sql=(table.sql) { (visible(&table.name)) } " " span.count { (table.columns.len()) } }
                ul {
                    @for column in &table.columns {
                        li {
                            span.name data-insert=(column.name) data-sql=(column.sql) { (visible(&column.name)) }
                            @if column.primary_key { " " span.key title="primary key" { "key" } }
                            @if let Some(to) = &column.references { " " span.reference { "→ " (visible(to)) } }
                            span.kind { (column.kind) }
                            @if !column.examples.is_empty() {
                                span.examples {
                                    @for (index, example) in column.examples.iter().enumerate() {
                                        @if index > 0 { " " }
                                        @match &example.sql {
                                            Some(sql) => span data-insert=(example.text) data-sql=(sql) { (visible(&example.text)) },
                                            None => span { (visible(&example.text)) },
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if !schema.names.is_empty() {
            ul.names { @for name in &schema.names { li { span.name data-insert=(name) { (visible(name)) } } } }
        }
    }
}

/// Returns the page of a script, whose content the script fetches.
async fn script_page(
    app: &Arc<App>,
    uri: &Uri,
    (title, path, script): (&str, &str, &str),
    introduction: &str,
) -> Response {
    let page = async {
        let RunQuery { run } = query(uri)?;
        let (name, has_log) = blocking(app, run, |run| Ok((run.name().to_owned(), run.has_log()))).await?;
        let body = html! {
            h1 { (title) }
            p.lead { (introduction) }
            @if has_log {
                noscript { p.notice { "This page needs scripts. Asking does not." } }
                div #content data-run=(name) aria-busy="true" {}
            } @else {
                p.notice { "This server keeps no log." }
            }
        };
        Ok(layout(app, &name, title, path, script).page(&body))
    };
    show(page.await)
}

async fn history_page(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let introduction =
        "Every question, what was answered, and what people said about it. The newest come first.";
    script_page(&app, &uri, ("History", "/history", "history.js"), introduction).await
}

async fn label_page(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let introduction = "Questions whose answers the parser is least sure of, one after another. Your choice helps it most here.";
    script_page(&app, &uri, ("Label", "/label", "label.js"), introduction).await
}

async fn progress_page(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let introduction = "What was asked, how often the answers were right, and how each new parser compares with the one before.";
    script_page(&app, &uri, ("Progress", "/progress", "progress.js"), introduction).await
}

/// Where a browser goes after the login: to the page that it came from.
#[derive(Default, Deserialize)]
struct Destination {
    #[serde(default)]
    to: String,
}

impl Destination {
    /// Returns the address; that of the first page unless it is one of a page of this server.
    fn address(&self) -> &str {
        let path = self.to.split(['?', '#']).next().unwrap_or_default();
        let is_own = is_page(path) && path != LOGIN && self.to.bytes().all(|byte| byte.is_ascii_graphic());
        if is_own { &self.to } else { "/" }
    }
}

/// Returns the address of the login, after which a browser comes back to the page of a request.
pub(crate) fn login_from(uri: &Uri) -> String {
    let from = uri.path_and_query().map_or("/", |from| from.as_str());
    format!("{LOGIN}?to={}", encoded(from))
}

async fn login_page(State(app): State<Arc<App>>, headers: HeaderMap, uri: Uri) -> Response {
    let destination: Destination = query(&uri).unwrap_or_default();
    match app.access.is_authorized(&headers) {
        true => Redirect::to(destination.address()).into_response(),
        false => html_response(login_markup(&destination, "")),
    }
}

fn login_markup(destination: &Destination, message: &str) -> Markup {
    let body = html! {
        form.login method="post" action=(LOGIN) {
            input type="hidden" name="to" value=(destination.address());
            h1 { "Access" }
            p { "This server asks for its access token." }
            @if !message.is_empty() { p.notice role="alert" { (message) } }
            label for="token" { "Access token" }
            input #token type="password" name="token" required autocomplete="current-password" autofocus;
            button.primary type="submit" { "Continue" }
        }
    };
    Layout { title: "Access", current: "", run: None, runs: vec![], script: None }.page(&body)
}

/// A token that was sent by a person.
#[derive(Deserialize)]
struct LoginForm {
    token: String,
    #[serde(flatten)]
    destination: Destination,
}

async fn login_form(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(token) = &app.access.token else { return Redirect::to("/").into_response() };
    match form::<LoginForm>(&headers, &body) {
        Ok(LoginForm { token: sent, destination }) if token.is(sent.trim()) => {
            // Behind a proxy with HTTPS, the browser never sends it in the clear.
            let origin = headers.get(header::ORIGIN).map(|origin| origin.as_bytes());
            let secure =
                if origin.is_some_and(|origin| origin.starts_with(b"https://")) { "; Secure" } else { "" };
            let session = token.session();
            let cookie =
                format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}");
            let mut response = Redirect::to(destination.address()).into_response();
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Ok(LoginForm { destination, .. }) => {
            // Every guess takes a moment, and the rate of a client is limited.
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            let mut response =
                html_response(login_markup(&destination, "This is not the token of this server."));
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            response
        }
        Err(error) => problem(&error),
    }
}

/// Reads a form that a browser sent.
fn form<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    if !is_of_type(headers, "application/x-www-form-urlencoded") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(
            status,
            "not-a-form",
            "The request is not a form",
            "send the form of the page",
        ));
    }
    serde_urlencoded::from_bytes(body).map_err(|error| Problem::bad_request(error.to_string()))
}
