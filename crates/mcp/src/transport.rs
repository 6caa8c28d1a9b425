//! The two ways to the tools: standard input and output, and HTTP.

use crate::tools::ParserTools;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use thiserror::Error;
use xpr_serve::{Problem, ServedRun, require_resources};

/// The bytes of a message by which the protocol refuses a request.
const LONGEST_REFUSAL: usize = 4096;

/// An error of serving tools.
#[derive(Debug, Error)]
pub enum McpError {
    /// The runtime cannot be started.
    #[error("starting the threads: {0}")]
    Runtime(std::io::Error),
    /// The connection cannot be made, or broke.
    #[error("the connection failed: {0}")]
    Connection(String),
}

/// Serves tools on standard input and output until the input ends.
///
/// # Errors
/// If the connection cannot be made, or breaks.
pub fn serve_stdio(tools: ParserTools) -> Result<(), McpError> {
    require_resources().map_err(McpError::Runtime)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(McpError::Runtime)?;
    runtime.block_on(async {
        let failed = |error: &dyn std::fmt::Display| McpError::Connection(error.to_string());
        let service = tools.serve(stdio()).await.map_err(|error| failed(&error))?;
        service.waiting().await.map_err(|error| failed(&error))?;
        Ok(())
    })
}

/// A run by its name, and the service that answers for it.
type NamedService = (String, StreamableHttpService<ParserTools, NeverSessionManager>);

/// Returns the routes of the protocol over HTTP: `/mcp` for the first run, and `/mcp/NAME` for each. A request is answered with one JSON
/// message, and nothing is remembered between requests, so that a client needs no session and a server that starts again loses none.
pub fn http_routes(runs: &[Arc<ServedRun>], allows_feedback: bool) -> Router {
    // Hosts and origins were checked before a request comes here.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    let service = |run: &Arc<ServedRun>| {
        let tools = ParserTools::new(Arc::clone(run), allows_feedback);
        let sessions = Arc::new(NeverSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, config.clone());
        (run.name().to_owned(), service)
    };
    let services: Arc<[NamedService]> = runs.iter().map(service).collect();
    Router::new().route("/mcp", any(ask_first)).route("/mcp/{run}", any(ask_named)).with_state(services)
}

async fn ask_first(State(services): State<Arc<[NamedService]>>, request: Request) -> Response {
    answer(services.first(), request).await
}

async fn ask_named(
    State(services): State<Arc<[NamedService]>>,
    Path(run): Path<String>,
    request: Request,
) -> Response {
    answer(services.iter().find(|(name, _)| *name == run), request).await
}

/// Answers a request. What the protocol refuses as text becomes problem details, as all other errors of the server are.
async fn answer(service: Option<&NamedService>, request: Request) -> Response {
    let Some((_, service)) = service else {
        return Problem::refusal(StatusCode::NOT_FOUND, "there is no run of this name; see /v1/runs")
            .into_response();
    };
    let response = service.handle(request).await.map(Body::new);
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if response.status().as_u16() < 400 || is_json {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, LONGEST_REFUSAL).await.unwrap_or_default();
    let mut refusal = Problem::refusal(parts.status, String::from_utf8_lossy(&text)).into_response();
    refusal.headers_mut().extend(parts.headers.get(ALLOW).map(|allow| (ALLOW, allow.clone())));
    refusal
}
