//! The routes, and the interface for programs.

use crate::answer::{
    AnswerView, AskRequest, AskResponse, DeclinedView, FeedbackRequest, FeedbackResponse, RunRequest,
    RunResponse,
};
use crate::listeners::Place;
use crate::log_views::{
    DayView, LabelView, LogQuery, LogView, ParserView, ProgressView, ShownView, ask_again, most_helpful,
    outdated, read_labels, read_log, read_progress,
};
use crate::problem::Problem;
use crate::schema::{ColumnView, SchemaView, TableView};
use crate::served_run::{RunStatus, ServedRun};
use crate::server::{App, Peer, ended};
use crate::{assets, page};
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
use utoipa::{IntoParams, Modify, OpenApi, ToSchema};

/// The description of the interface.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "xpr",
        description = "Ask a trained parser questions about a database, run queries, and say whether answers are right. Errors are problem \
                       details (RFC 9457).",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(ask, run, feedback, schema, log, labels, progress, runs, events, live, ready),
    modifiers(&Everywhere),
    components(schemas(
        AskRequest,
        AskResponse,
        AnswerView,
        DeclinedView,
        RunRequest,
        RunResponse,
        FeedbackRequest,
        FeedbackResponse,
        SchemaView,
        TableView,
        ColumnView,
        LogView,
        ShownView,
        LabelView,
        ProgressView,
        DayView,
        ParserView,
        RunView,
        Problem
    ))
)]
struct Description;

/// What holds for every path: any request can be refused, and a server may need a token.
struct Everywhere;

impl Modify for Everywhere {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        const SCHEME: &str = "token";
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let refused = ResponseBuilder::new()
            .description("The request is refused, or the server cannot answer it now")
            .content("application/problem+json", problem)
            .build();
        for path in description.paths.paths.values_mut() {
            for operation in [&mut path.get, &mut path.post].into_iter().flatten() {
                operation.responses.responses.insert("default".to_owned(), refused.clone().into());
            }
        }
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("The access token, if the server was started with one"))
            .build();
        let components = description.components.get_or_insert_default();
        components.add_security_scheme(SCHEME, SecurityScheme::Http(token));
        // Without the token, or with it.
        let with_token = SecurityRequirement::new(SCHEME, Vec::<String>::new());
        description.security = Some(vec![SecurityRequirement::default(), with_token]);
    }
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/ask", post(ask))
        .route("/v1/run", post(run))
        .route("/v1/feedback", post(feedback))
        .route("/v1/schema", get(schema))
        .route("/v1/log", get(log))
        .route("/v1/labels", get(labels))
        .route("/v1/progress", get(progress))
        .route("/v1/runs", get(runs))
        .route("/v1/events", get(events))
        .route("/v1/openapi.json", get(openapi))
        .route("/v1/health/live", get(live))
        .route("/v1/health/ready", get(ready))
        .route("/metrics", get(metrics_page))
        .merge(page::routes())
        .route("/assets/{name}", get(assets::asset))
        .route("/favicon.ico", get(assets::icon))
}

/// Whether a client is a browser that shows pages, or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Browser,
    Program,
}

impl Client {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
        match accepted.is_some_and(|accepted| accepted.contains("text/html")) {
            true => Client::Browser,
            false => Client::Program,
        }
    }

    /// Returns the response of a problem: a page for people, and problem details for programs.
    pub(crate) fn refuse(self, problem: Problem) -> Response {
        match self {
            Client::Browser => page::problem(&problem),
            Client::Program => problem.into_response(),
        }
    }
}

impl App {
    /// Returns the run with a name, or the first one.
    pub(crate) fn run(&self, name: Option<&str>) -> Result<&ServedRun, Problem> {
        let first = self.runs.first().ok_or_else(Problem::internal)?;
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(first) };
        self.runs.iter().map(|run| &**run).find(|run| run.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.runs.iter().map(|run| run.name()).collect();
            Problem::not_found(format!("there is no run of this name; there are {}", names.join(", ")))
        })
    }
}

/// Runs a function that reads files on a thread where that is allowed.
pub(crate) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    run: Option<String>,
    work: impl FnOnce(&ServedRun) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let app = Arc::clone(app);
    let work = move || work(app.run(run.as_deref())?);
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Problem::internal()))
}

/// Runs a function that reads the log of a run. Few run at the same time, and some wait.
async fn reading_log<T: Send + 'static>(
    app: &Arc<App>,
    run: Option<String>,
    work: impl FnOnce(&ServedRun) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let _turn = app.log_reads.turn().await?;
    blocking(app, run, work).await
}

/// Returns whether the body of a request has a media type, whatever its parameters are.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// Reads the JSON body of a request.
fn json<T: DeserializeOwned>(headers: &HeaderMap, body: &Bytes) -> Result<T, Problem> {
    if !is_of_type(headers, "application/json") {
        let detail = "send JSON, with the header `Content-Type: application/json`";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "not-json", "The request is not JSON", detail));
    }
    // A list would be read as the fields in their order.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::bad_request("send a JSON object"));
    }
    serde_json::from_slice(body).map_err(|error| Problem::bad_request(error.to_string()))
}

/// Reads the query of an address.
pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    match Query::try_from_uri(uri) {
        Ok(Query(query)) => Ok(query),
        Err(error) => Err(Problem::bad_request(error.body_text())),
    }
}

/// Returns a value as JSON.
pub(crate) fn json_response(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => {
            ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
        }
        Err(_) => Problem::internal().into_response(),
    }
}

fn respond<T: Serialize>(result: Result<T, Problem>) -> Response {
    match result {
        Ok(value) => json_response(&value),
        Err(problem) => problem.into_response(),
    }
}

/// Answers a question.
#[utoipa::path(post, path = "/v1/ask", request_body = AskRequest, responses(
    (status = 200, body = AskResponse, description = "The answer; `declined` says why there is none"),
    (status = 422, body = Problem, content_type = "application/problem+json", description = "This cannot be a question"),
    (status = 429, body = Problem, content_type = "application/problem+json", description = "Too many questions wait"),
))]
async fn ask(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        let AskRequest { question, run } = json(&headers, &body)?;
        app.run(run.as_deref())?.ask(question).await
    };
    respond(answer.await)
}

/// Runs a query within the limits of the parser's own. It can only read.
#[utoipa::path(post, path = "/v1/run", request_body = RunRequest, responses(
    (status = 200, body = RunResponse),
    (status = 422, body = Problem, content_type = "application/problem+json", description = "The query is refused or fails"),
    (status = 429, body = Problem, content_type = "application/problem+json", description = "Too many queries wait"),
))]
async fn run(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let answer = async {
        let RunRequest { sql, run } = json(&headers, &body)?;
        app.run(run.as_deref())?.run(sql, None).await
    };
    respond(answer.await)
}

/// Keeps what somebody says about an answer.
#[utoipa::path(post, path = "/v1/feedback", request_body = FeedbackRequest, responses(
    (status = 201, body = FeedbackResponse, description = "It is kept"),
    (status = 404, body = Problem, content_type = "application/problem+json", description = "There is no such question"),
    (status = 422, body = Problem, content_type = "application/problem+json", description = "The query does not run"),
))]
async fn feedback(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let kept = async {
        let said: FeedbackRequest = json(&headers, &body)?;
        let run = said.run.clone();
        app.run(run.as_deref())?.feedback(said).await
    };
    match kept.await {
        Ok(kept) => (StatusCode::CREATED, json_response(&kept)).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The run of a request.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
pub(crate) struct RunQuery {
    /// The name of a run, if the server has several; its first one if not given.
    pub(crate) run: Option<String>,
}

/// Returns what questions can be about.
#[utoipa::path(get, path = "/v1/schema", params(RunQuery), responses((status = 200, body = SchemaView)))]
async fn schema(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let read = async {
        let RunQuery { run } = query(&uri)?;
        blocking(&app, run, |run| Ok(run.schema())).await
    };
    respond(read.await)
}

/// Returns questions of the log, the newest first.
#[utoipa::path(get, path = "/v1/log", params(LogQuery), responses((status = 200, body = LogView)))]
async fn log(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let read = async {
        let query: LogQuery = query(&uri)?;
        reading_log(&app, query.run.clone(), move |run| read_log(run, &query)).await
    };
    respond(read.await)
}

/// Returns the questions whose labels would help most: those whose candidates disagree most, and about which nobody said anything. Of these, the
/// current parser answers those again that an earlier one answered. The log has these answers too, and counts them if somebody judges them.
#[utoipa::path(get, path = "/v1/labels", params(RunQuery), responses((status = 200, body = Vec<LabelView>)))]
async fn labels(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let labels = async {
        let RunQuery { run } = query(&uri)?;
        let mut entries = reading_log(&app, run.clone(), most_helpful).await?;
        let served = app.run(run.as_deref())?;
        if !outdated(served, &entries).is_empty() {
            // Of several browsers, the first asks, and the others find the answers.
            let _turn = served.turn_to_ask_again().await;
            entries = reading_log(&app, run.clone(), most_helpful).await?;
            if ask_again(served, &entries).await {
                entries = reading_log(&app, run.clone(), most_helpful).await?;
            }
        }
        read_labels(served, entries).await
    };
    respond(labels.await)
}

/// Returns what happened over time: questions a day, what people said, and the accuracy of each parser.
#[utoipa::path(get, path = "/v1/progress", params(RunQuery), responses((status = 200, body = ProgressView)))]
async fn progress(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let read = async {
        let RunQuery { run } = query(&uri)?;
        reading_log(&app, run, read_progress).await
    };
    respond(read.await)
}

/// A run of the server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunView {
    /// The name.
    name: String,
    /// The fingerprint of the parser that answers.
    parser: String,
    /// Its number: 0 is the one that training wrote, and later ones were promoted.
    number: usize,
    /// Whether questions and feedback are kept.
    log: bool,
}

/// Returns the runs of the server.
#[utoipa::path(get, path = "/v1/runs", responses((status = 200, body = Vec<RunView>)))]
async fn runs(State(app): State<Arc<App>>) -> Response {
    let view = |run: &Arc<ServedRun>| {
        let status = run.status();
        let RunStatus { parser, number, .. } = &*status.borrow();
        RunView { name: run.name().to_owned(), parser: parser.clone(), number: *number, log: run.has_log() }
    };
    json_response(&app.runs.iter().map(view).collect::<Vec<_>>())
}

/// Returns the description of the interface.
async fn openapi() -> Response {
    json_response(&Description::openapi())
}

/// Says that the server runs.
#[utoipa::path(get, path = "/v1/health/live", responses((status = 200, description = "The server runs")))]
async fn live() -> &'static str {
    "live\n"
}

/// Says that the server can answer.
#[utoipa::path(get, path = "/v1/health/ready", responses(
    (status = 200, description = "The server can answer"),
    (status = 503, body = Problem, content_type = "application/problem+json", description = "The server ends, the data or the parser of a run cannot be opened any more, or its log cannot be written"),
))]
async fn ready(State(app): State<Arc<App>>) -> Response {
    if *app.ends.borrow() {
        return Problem::unavailable("the server ends").into_response();
    }
    for run in &app.runs {
        if let Err(problem) = run.check_ready() {
            return problem.into_response();
        }
        if let Err(problem) = run.check_log().await {
            return problem.into_response();
        }
    }
    "ready\n".into_response()
}

async fn metrics_page(State(app): State<Arc<App>>) -> Response {
    metrics::gauge!("xpr_connections").set(app.connections.count() as f64);
    for run in &app.runs {
        metrics::gauge!("xpr_questions_waiting", "run" => run.name().to_owned()).set(run.waiting() as f64);
    }
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    ([(header::CONTENT_TYPE, kind)], app.metrics.render()).into_response()
}

/// An event for the page.
#[derive(Serialize)]
struct Event<'s> {
    run: &'s str,
    parser: &'s str,
    number: usize,
    improving: Option<&'s crate::parser::Improving>,
}

/// Sends an event whenever the parser of a run changes, or its next one is trained further (server-sent events).
#[utoipa::path(get, path = "/v1/events", params(RunQuery), responses(
    (status = 200, body = String, content_type = "text/event-stream", description = "A stream that goes on until the client closes it"),
    (status = 429, body = Problem, content_type = "application/problem+json", description = "Too many clients listen"),
))]
async fn events(State(app): State<Arc<App>>, Extension(Peer(client)): Extension<Peer>, uri: Uri) -> Response {
    let named = query::<RunQuery>(&uri).and_then(|query| app.run(query.run.as_deref()));
    let run = match named {
        Ok(run) => run,
        Err(problem) => return problem.into_response(),
    };
    let Some(place) = app.listeners.place(client) else {
        return Problem::too_many("too many browsers listen, or too many of this client").into_response();
    };
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send_events(run.name().to_owned(), run.status(), app.ends.clone(), sender));
    let kind = HeaderValue::from_static("text/event-stream");
    // A proxy passes events on at once.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([(header::CONTENT_TYPE, kind), unbuffered], Body::new(EventBody { receiver, _place: place }))
        .into_response()
}

async fn send_events(
    run: String,
    mut status: watch::Receiver<RunStatus>,
    mut ends: watch::Receiver<bool>,
    sender: mpsc::Sender<Bytes>,
) {
    /// A line without meaning is sent so often, by which it is noticed that nobody listens.
    const HEARTBEAT: Duration = Duration::from_secs(10);
    loop {
        let text = {
            let RunStatus { parser, number, improving } = &*status.borrow_and_update();
            let event = Event { run: &run, parser, number: *number, improving: improving.as_ref() };
            format!("data: {}\n\n", serde_json::to_string(&event).unwrap_or_default())
        };
        if sender.send(text.into()).await.is_err() {
            return;
        }
        loop {
            tokio::select! {
                changed = status.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                () = ended(&mut ends) => return,
                () = tokio::time::sleep(HEARTBEAT) => {
                    if sender.send(Bytes::from_static(b": \n\n")).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// A body that consists of events.
struct EventBody {
    receiver: mpsc::Receiver<Bytes>,
    /// The place among those who listen, until the body is dropped.
    _place: Place,
}

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(hyper::body::Frame::data(bytes))))
    }
}
