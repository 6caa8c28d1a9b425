//! What every request passes: host, origin, rate, token and size; and the headers that every response has.

use crate::access::Access;
use crate::api::Client;
use crate::connections::Connection;
use crate::page;
use crate::problem::Problem;
use crate::server::{App, Peer};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower_http::catch_panic::CatchPanicLayer;

/// The bytes of the body of a request.
pub(crate) const LARGEST_BODY: usize = 64 << 10;
/// How long a client has to send the body of a request.
const BODY_TIME: Duration = Duration::from_secs(10);
/// What a request without the right token costs, in requests: tokens cannot be guessed fast.
const WRONG_TOKEN: f64 = 10.0;

/// Headers of every response. Pages load nothing from elsewhere, have no scripts of their own text, and cannot be framed. Other sites do not
/// learn their addresses. With `no-referrer`, browsers would also keep the origin of the pages' own forms to themselves (`Origin: null`),
/// and [`Access::check_origin`] would refuse them.
const HEADERS: [(HeaderName, &str); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
];

/// Puts the guard around routes.
pub(crate) fn guarded(routes: Router<Arc<App>>, app: &Arc<App>) -> Router<Arc<App>> {
    routes
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            Problem::internal().into_response()
        }))
        .layer(from_fn_with_state(Arc::clone(app), guard))
}

async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let client = Client::of(request.headers());
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    let mut response = match checked(&app, request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused,
    };
    // A stream of events goes on as long as somebody listens.
    let is_stream =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    if let Some(connection) = connection.filter(|_| !is_stream) {
        connection.is_waiting(Instant::now());
    }
    // What the router itself refuses has no body, or one of text; routes answer with problems.
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_bare = kind.is_none_or(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if is_bare && status.is_client_error() {
        let what_there_is = match client {
            Client::Browser => "there is no page at this address",
            Client::Program => "see /v1/openapi.json for what there is",
        };
        let problem = match status {
            StatusCode::NOT_FOUND => Problem::not_found(what_there_is),
            StatusCode::METHOD_NOT_ALLOWED => {
                Problem::new(status, "method", "This method cannot be used here", what_there_is)
            }
            StatusCode::BAD_REQUEST => Problem::bad_request("the address cannot be read"),
            status => Problem::refusal(status, what_there_is),
        };
        let allow = response.headers().get(header::ALLOW).cloned();
        response = client.refuse(problem);
        response.headers_mut().extend(allow.map(|allow| (header::ALLOW, allow)));
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let took = start.elapsed();
    metrics::counter!("xpr_requests_total", "status" => response.status().as_u16().to_string()).increment(1);
    metrics::histogram!("xpr_request_seconds").record(took.as_secs_f64());
    tracing::debug!(%method, path, status = response.status().as_u16(), micros = took.as_micros() as u64, "request");
    response
}

/// Returns a request that may pass, with its whole body, or the response to one that may not.
async fn checked(app: &App, request: Request) -> Result<Request, Response> {
    let client = Client::of(request.headers());
    let refuse = |problem: Problem| client.refuse(problem);
    let (method, path) = (request.method(), request.uri().path());
    app.access.check_host(request.uri(), request.headers()).map_err(refuse)?;
    let is_page = page::is_page(path);
    Access::check_origin(method, request.headers(), is_page).map_err(refuse)?;
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let charge = |cost| peer.is_none_or(|peer| app.rate.charge(peer, cost, Instant::now()));
    let is_public = is_public(method, path);
    let is_authorized = is_public || app.access.is_authorized(request.headers());
    let is_guess = path == "/login" && *method == Method::POST;
    let cost = match (is_authorized && !is_guess, is_asset(path)) {
        (false, _) => WRONG_TOKEN,
        (true, true) => 0.0,
        (true, false) => 1.0,
    };
    if !charge(cost) {
        return Err(refuse(Problem::too_many("this client sends too many requests; try again in a second")));
    }
    if !is_authorized {
        return Err(match is_page && *method == Method::GET {
            true => Redirect::to(&page::login_from(request.uri())).into_response(),
            false => refuse(Problem::unauthorized()),
        });
    }
    with_body(request).await.map_err(refuse)
}

/// Returns whether a path needs no token: what the page of the login needs, and whether the server is there.
fn is_public(method: &Method, path: &str) -> bool {
    is_asset(path)
        || path == "/login"
        || (*method == Method::GET && matches!(path, "/v1/health/live" | "/v1/health/ready"))
}

fn is_asset(path: &str) -> bool {
    path.starts_with("/assets/") || path == "/favicon.ico"
}

/// Reads the body of a request. Only then is the connection one that is answered.
async fn with_body(request: Request) -> Result<Request, Problem> {
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    let (parts, body) = request.into_parts();
    if parts.headers.get_all(header::CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        let (title, detail) =
            ("The request is compressed", "send the body as it is, without `Content-Encoding`");
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "compressed", title, detail));
    }
    let bytes = match tokio::time::timeout(BODY_TIME, Limited::new(body, LARGEST_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let detail = format!("the body of a request has at most {LARGEST_BODY} bytes");
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                "The request is too large",
                detail,
            ));
        }
        Ok(Err(_)) => return Err(Problem::bad_request("the body of the request is not complete")),
        Err(_) => {
            let detail = "the body of the request did not come in time";
            return Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "too-slow",
                "The request is too slow",
                detail,
            ));
        }
    };
    if let Some(connection) = connection {
        connection.is_answering();
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}
